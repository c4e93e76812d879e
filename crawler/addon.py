"""The Scrapy add-on: sieve, frontier, guarded fetching, relevance and WARC output for any Scrapy project.

    ADDONS = {"crawler.addon.Ulwembu": 100}

Everything is set at add-on priority, so a project's own settings and the command line still win; what must not be
weakened by accident (robots.txt, the address guard, certificates) has no switch or a plainly named one. What a project
has set of Scrapy's pace and retries has no effect, which is said (:func:`overruled`). docs/scrapy.md is for its users.
"""

from __future__ import annotations

from typing import Any

from scrapy.settings import BaseSettings, Settings, get_settings_priority

from crawler.options import DEFAULTS
from crawler.version import VERSION

_SAFE_DEFAULTS: dict[str, Any] = {
    # Scrapy follows environment proxies, which would fetch around the address guard.
    "HTTPPROXY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "DOWNLOAD_VERIFY_CERTIFICATES": True,
    "DOWNLOAD_MAXSIZE": 10 * 1024 * 1024,
    "DOWNLOAD_WARNSIZE": 0,
    "DOWNLOAD_TIMEOUT": 60,
    "COOKIES_ENABLED": False,
    "REFERER_ENABLED": False,
}

_FRONTIER_DECIDES: dict[str, Any] = {
    "SCHEDULER": "crawler.scheduler.FrontierScheduler",
    "DOWNLOADER": "crawler.downloader.FrontierDownloader",
    # Pace, retries, redirects and robots.txt are the frontier's: a second opinion in Scrapy could only be less polite.
    "CONCURRENT_REQUESTS": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1000,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_SLOTS": {"frontier": {"concurrency": 1000, "delay": 0}},
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    # Scrapy starts this many tasks for each answer, whatever comes out of it; ours gives one item at most.
    "CONCURRENT_ITEMS": 1,
    "AUTOTHROTTLE_ENABLED": False,
}

_HANDLERS: dict[str, Any] = {
    "http": "crawler.fetch.handler.FetchHandler",
    "https": "crawler.fetch.handler.FetchHandler",
    "file": None,
    "ftp": None,
    "s3": None,
    "data": None,
}

_COMPONENTS: dict[str, dict[str, Any]] = {
    "EXTENSIONS": {
        "crawler.work.worker.Worker": 10,
        "crawler.watch.progress.Progress": 500,
    },
    "DOWNLOADER_MIDDLEWARES": {
        "crawler.poll_reader.PollReader": 50,
        "crawler.pdf_documents.PdfDocuments": 60,
        "crawler.robots.RobotsMiddleware": 100,
        "crawler.fetch.unpacking.Unpacking": 590,
    },
    "SPIDER_MIDDLEWARES": {
        # The last of all to see what a callback gives: nobody's fault or filter is to come behind the end of the lease.
        "crawler.focus.FocusMiddleware": -1000,
    },
}

# Scrapy's own that have no place here, or none while their switch is off. What is set to None, or finds its switch off,
# is imported all the same, and with it aiohttp, requests and more: a fifth of a start.
_LEFT_OUT: dict[str, tuple[str, ...]] = {
    "EXTENSIONS": ("scrapy.extensions.throttle.AutoThrottle",),
    "DOWNLOADER_MIDDLEWARES": (
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware",
        # What they would send again goes around the frontier, and the page's lease would never be done.
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware",
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware",
        "scrapy.downloadermiddlewares.retry.RetryMiddleware",
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
    ),
    "SPIDER_MIDDLEWARES": (
        "scrapy.spidermiddlewares.depth.DepthMiddleware",
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
    ),
}
_SWITCHED: dict[str, dict[str, str]] = {
    "EXTENSIONS": {
        "REMOTE_CONTROL_ENABLED": "scrapy.extensions.remote_control.RemoteControl",
        "TELNETCONSOLE_ENABLED": "scrapy.extensions.telnet.TelnetConsole",
    },
    "DOWNLOADER_MIDDLEWARES": {"COOKIES_ENABLED": "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"},
}

# Of Scrapy's, those that a project may have set and that nothing here goes by; the value that asks for nothing else.
_UNHEEDED: dict[str, Any] = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1000,
    "DEPTH_LIMIT": 0,
    "DOWNLOAD_DELAY": 0,
    "DUPEFILTER_CLASS": "",
    "JOBDIR": "",
    "METAREFRESH_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": True,
}

_FIGURES: dict[str, Any] = {"crawler.watch.metrics.Metrics": 510}


class Ulwembu:
    """The add-on; its only work is to put settings in place before the crawler reads them."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        for name, value in DEFAULTS.items():
            settings.set(name, value, priority="addon")

    def update_settings(self, settings: Settings) -> None:
        """Set everything at add-on priority."""
        for name, value in {**DEFAULTS, **_SAFE_DEFAULTS, **_FRONTIER_DECIDES}.items():
            settings.set(name, value, priority="addon")
        settings.set("USER_AGENT", user_agent(settings), priority="addon")
        # Where nobody asks for figures, what serves them is not even imported.
        more = {"EXTENSIONS": _FIGURES} if str(settings.get("METRICS_PORT")) != "0" else {}
        for setting, components in {"DOWNLOAD_HANDLERS": _HANDLERS, **_COMPONENTS}.items():
            # What the project says about a component of ours wins, whatever else it has stays.
            merged = {**components, **more.get(setting, {}), **settings.getdict(setting)}
            settings.set(setting, merged, priority=settings.getpriority(setting) or 0)
        for setting, names in _LEFT_OUT.items():
            switched = _SWITCHED.get(setting, {}).items()
            left_out = {*names, *(name for switch, name in switched if _is_off(settings, switch))}
            # Also where a project has set the base itself.
            base = f"{setting}_BASE"
            priority = max(get_settings_priority("addon"), settings.getpriority(base) or 0)
            kept = {name: order for name, order in settings.getdict(base).items() if path_of(name) not in left_out}
            settings.set(base, kept, priority)


def _is_off(settings: BaseSettings, switch: str) -> bool:
    try:
        return not settings.getbool(switch)
    except ValueError:  # neither on nor off: refused before the crawl begins, in a line
        return False


def path_of(component: str | type) -> str:
    """As Scrapy writes it; a project may name the class itself."""
    return component if isinstance(component, str) else f"{component.__module__}.{component.__qualname__}"


def user_agent(settings: BaseSettings) -> str:
    """Names the project, its version, whom to write to, and what it does."""
    contact = settings.get("CONTACT")
    return f"{settings.get('ROBOTS_USER_AGENT')}/{VERSION} (+{contact}; polite crawler for low-resource languages)"


def overruled(settings: BaseSettings) -> list[str]:
    """What a project, spider or command line has set of Scrapy's pace, retries and duplicates, which the frontier
    decides here."""
    ours = get_settings_priority("addon")
    return [
        f"{name}={settings.get(name)}"
        for name, same in _UNHEEDED.items()
        if (settings.getpriority(name) or 0) > ours and settings.get(name) != same
    ]
