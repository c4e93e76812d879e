"""What is wrong with the settings that are Scrapy's own: each fault is a line, where Scrapy would have a traceback amid
a start, or fetch around what keeps a crawl polite without a word."""

from __future__ import annotations

import errno
import logging
import math
import os
import re
import socket
import tempfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from scrapy.settings import BaseSettings, default_settings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.versions import get_versions
from w3lib.url import file_uri_to_path

from crawler.addon import path_of

_FETCHED_BY = "crawler.fetch.handler.FetchHandler"
_ROBOTS_READ_BY = ("crawler.robots.RobotsMiddleware", "crawler.console.robots_by_hand.RobotsByHand")
_NEEDED = {
    "EXTENSIONS": "crawler.work.worker.Worker",
    "SPIDER_MIDDLEWARES": "crawler.focus.FocusMiddleware",
}
_BY_THE_FRONTIER = {
    "SCHEDULER": "crawler.scheduler.FrontierScheduler",
    "DOWNLOADER": "crawler.downloader.FrontierDownloader",
}
_IN_PARTS = frozenset(("DNS_TIMEOUT", "DOWNLOAD_DELAY"))
"""Seconds, which Scrapy reads as such, though their defaults are whole."""
_ELSEWHERE = frozenset(("DOWNLOAD_MAXSIZE", "DOWNLOAD_TIMEOUT", "LOGSTATS_INTERVAL"))
"""Have bounds of their own: crawler/preflight.py."""
_NEEDS_NO_CLASS = frozenset(("DUPEFILTER_CLASS", "REFERRER_POLICY", "SCHEDULER"))
"""By default a class, but: has no effect here; may be the name of a policy; is refused by :func:`crawl_faults`."""
_HIGHEST_PORT = 65_535
_NOT_BELOW_0 = ("CLOSESPIDER_", "MEMUSAGE_", "REACTOR_THREADPOOL_")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def value_faults(settings: BaseSettings) -> Iterator[str]:
    """Values that Scrapy cannot read. What kind each is its default says."""
    for name, default in vars(default_settings).items():
        if not name.isupper() or not isinstance(default, int | float) or name in _ELSEWHERE:
            continue
        value = settings.get(name)
        if isinstance(default, bool) or name == "TELNETCONSOLE_ENABLED":
            try:
                settings.getbool(name)
            except (TypeError, ValueError):
                yield f"{name}={value!r} is neither True nor False"
        elif value is not None:
            whole = isinstance(default, int) and name not in _IN_PARTS
            if not _is_number(value, whole=whole):
                yield f"{name}={value!r} is no {'whole ' if whole else ''}number"
            elif name.startswith(_NOT_BELOW_0) and float(value) < 0:
                yield f"{name}={value!r} must not be below 0"
    every = settings.get("MEMUSAGE_CHECK_INTERVAL_SECONDS")
    if _is_number(every, whole=False) and float(every) == 0:
        yield f"MEMUSAGE_CHECK_INTERVAL_SECONDS={every!r} must be above 0"
    yield from _line_faults(settings)
    yield from _telnet_faults(settings)
    yield from _feed_faults(settings)
    if (settings.get("HTTPAUTH_USER") or settings.get("HTTPAUTH_PASS")) and not settings.getpriority("HTTPAUTH_DOMAIN"):
        yield "HTTPAUTH_USER and HTTPAUTH_PASS need HTTPAUTH_DOMAIN, whose hosts alone are told them"
    yield from class_faults(settings)


def loader_faults(settings: BaseSettings) -> Iterator[str]:
    """Why no spiders can be looked for; what a module of them that is there ends with is raised."""
    if not _is_there(loader := settings.get("SPIDER_LOADER_CLASS")):
        yield f"SPIDER_LOADER_CLASS={loader!r}: there is no such class"
    try:
        wanted = [] if settings.getbool("SPIDER_LOADER_WARN_ONLY") else settings.getlist("SPIDER_MODULES")
    except (TypeError, ValueError):
        yield "SPIDER_MODULES is no list of names, or SPIDER_LOADER_WARN_ONLY neither True nor False"
        return
    for module in wanted:
        if _module(str(module)) is None:
            yield f"SPIDER_MODULES: there is no module {module!r}"


def class_faults(settings: BaseSettings) -> Iterator[str]:
    """Classes that are set, but nowhere to be found. Which settings are of classes their defaults say. Whatever else a
    module of a project ends with as it is imported is raised: its traceback says where."""
    defaults = vars(default_settings)
    for name, default in defaults.items():
        if not name.isupper() or not settings.getpriority(name) or name in _NEEDS_NO_CLASS:
            continue  # of no setting, or its default
        if name == "ASYNCIO_EVENT_LOOP" or (isinstance(default, str) and default.startswith("scrapy.")):
            if not _is_there(value := settings.get(name)):
                yield f"{name}={value!r}: there is no such class"
        elif name == "ADDONS" or name.endswith("_BASE") or f"{name}_BASE" in defaults:
            of_names = any(
                isinstance(one, str) for one in defaults.get(f"{name.removesuffix('_BASE')}_BASE", {}).values()
            )
            try:
                classes = settings.getdict(name).values() if of_names else build_component_list(settings.getdict(name))
            except ValueError as error:  # what stands in the place of an order
                yield f"{name}: {error}"
                continue
            for one in classes:
                if one is not None and not _is_there(one):
                    yield f"{name}: there is no class {one!r}"


def _is_there(component: Any) -> bool:
    """Whether it is a class, or the path of one, or of a function that makes one."""
    if not isinstance(component, str):
        return callable(component)
    path, _, name = component.rpartition(".")
    return name.isidentifier() and (module := _module(path)) is not None and callable(getattr(module, name, None))


def _module(path: str) -> ModuleType | None:
    """None where there is none of that name."""
    if not all(map(str.isidentifier, path.split("."))):
        return None
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if f"{path}.".startswith(f"{error.name}."):
            return None
        raise  # it is there, and misses another


def _is_number(value: Any, *, whole: bool) -> bool:
    try:
        return math.isfinite(int(value) if whole else float(value))
    except (OverflowError, TypeError, ValueError):
        return False


def _line_faults(settings: BaseSettings) -> Iterator[str]:
    """What lines of the log are made by; each of them would be a traceback."""
    line = logging.getLogger(__name__).makeRecord(__name__, logging.INFO, __file__, 0, "", (), None)
    try:
        logging.Formatter(settings.get("LOG_FORMAT"), settings.get("LOG_DATEFORMAT")).format(line)
    except (TypeError, ValueError) as error:
        yield f"LOG_FORMAT={settings.get('LOG_FORMAT')!r}: {error}"
    if (packages := settings.getlist("LOG_VERSIONS")) != default_settings.LOG_VERSIONS:
        try:
            get_versions(packages)
        except (PackageNotFoundError, ValueError) as error:
            yield f"LOG_VERSIONS={','.join(packages)}: {error}"


def _telnet_faults(settings: BaseSettings) -> Iterator[str]:
    try:
        ports = [int(port) for port in settings.getlist("TELNETCONSOLE_PORT")]
    except (TypeError, ValueError):
        ports = [-1]
    if len(ports) > 2 or ports != sorted(ports) or not all(0 <= port <= _HIGHEST_PORT for port in ports):
        yield f"TELNETCONSOLE_PORT={settings.get('TELNETCONSOLE_PORT')!r}: neither a port nor the first and last"
    if str(settings.get("TELNETCONSOLE_ENABLED")).lower() in ("1", "true"):
        host = str(settings.get("TELNETCONSOLE_HOST") or "")
        try:
            host.encode("idna")  # else a TypeError, and a socket that nobody closes
            socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
        except (OSError, UnicodeError) as error:
            yield f"TELNETCONSOLE_HOST={host!r} cannot be listened at: {getattr(error, 'strerror', None) or error}"


def _feed_faults(settings: BaseSettings) -> Iterator[str]:
    """Exports of items that Scrapy would leave out, with a traceback or a line amid the start, and crawl all the same.
    What `%(name)s` in an address stands for only the spider knows."""
    formats, storages = (
        [name for name, kind in settings.getwithbase(setting).items() if kind is not None]
        for setting in ("FEED_EXPORTERS", "FEED_STORAGES")
    )
    if (called := settings.get("FEED_URI_PARAMS")) and not _is_there(called):
        yield f"FEED_URI_PARAMS={called!r}: there is no such function"
    for uri, options in settings.getdict("FEEDS").items():
        if not isinstance(options, Mapping):
            yield f"FEEDS: {uri}: {options!r} is no table of options"
            continue
        if (kind := options.get("format", Path(uri).suffix.removeprefix("."))) not in formats:
            yield f"FEEDS: {uri}: format {kind!r} is none of {', '.join(formats)}"
        if (scheme := urlsplit(str(uri)).scheme) not in storages:
            yield f"FEEDS: {uri}: scheme {scheme!r} is none of {', '.join(filter(None, storages))}"
        elif scheme in ("", "file") and (why := _unwritable(str(uri))):
            yield f"FEEDS: {uri} cannot be written: {why}"
        for called in filter(None, map(options.get, ("uri_params", "item_filter"))):
            if not _is_there(called):
                yield f"FEEDS: {uri}: there is no {called!r}"


def _unwritable(uri: str) -> str:
    """Why there can be no such file, as far as that shows before one is made: each item would be a traceback and lost,
    and its page not fetched again."""
    path = Path(file_uri_to_path(uri) if uri.startswith("file:") else uri).absolute()
    place = next(one for one in (path, *path.parents) if os.access(one, os.F_OK))
    if place.is_dir() == (place == path):
        return f"{place} is {'a' if place == path else 'no'} folder"
    try:  # of /proc and the like root is told that it may write there
        if place != path:
            tempfile.TemporaryFile(dir=place).close()
        elif place.is_file():  # of a pipe or a device that would be seen
            place.open("ab").close()
    except OSError:
        return f"{place} may not be written"
    return "" if os.access(place, os.W_OK) else f"{place} may not be written"


def guard_faults(settings: BaseSettings) -> Iterator[str]:
    """What would be fetched, or told to those who are asked, around the rules that are promised to them."""
    if str(settings.get("TWISTED_REACTOR_ENABLED")).lower() in ("0", "false"):
        yield "TWISTED_REACTOR_ENABLED must be on: without a reactor Scrapy fetches around the address guard"
    for scheme, handler in settings.getdict("DOWNLOAD_HANDLERS").items():
        if scheme in ("http", "https") and handler is not None and not _is_a(handler, _FETCHED_BY):
            yield f"DOWNLOAD_HANDLERS: {path_of(handler)} for {scheme} would fetch around the address guard"
    middlewares = [one for one, order in settings.getdict("DOWNLOADER_MIDDLEWARES").items() if order is not None]
    if not any(_is_a(one, path) for one in middlewares for path in _ROBOTS_READ_BY):
        yield "DOWNLOADER_MIDDLEWARES: robots.txt is always obeyed, its middleware cannot be left out"
    for given in settings.getdict("DEFAULT_REQUEST_HEADERS"):
        name = given.decode("latin-1") if isinstance(given, bytes) else str(given)
        if name.lower() == "user-agent":
            yield f"DEFAULT_REQUEST_HEADERS: {name} is the setting USER_AGENT"
        elif not _TOKEN.fullmatch(name):
            yield f"DEFAULT_REQUEST_HEADERS: {name!r} is no name of a header (RFC 9110, 5.1)"


def crawl_faults(settings: BaseSettings) -> Iterator[str]:
    """What a crawl cannot do without, though what is fetched by hand can."""
    wanted = default_settings.TWISTED_REACTOR
    if (reactor := settings.get("TWISTED_REACTOR")) != wanted:
        yield f"TWISTED_REACTOR={reactor!r} must be {wanted}"
    for setting, ours in _BY_THE_FRONTIER.items():
        if not _is_a(given := settings.get(setting), ours):
            yield f"{setting}={path_of(given)!r} must be {ours}, which fetches by the rules of the frontier"
    for setting, component in _NEEDED.items():
        if component not in _used(settings, setting):
            yield f"{setting}: {component} cannot be left out"


def _used(settings: BaseSettings, setting: str) -> set[str]:
    return {path_of(name) for name, order in settings.getdict(setting).items() if order is not None}


def _is_a(component: str | type, path: str) -> bool:
    """Whether it is the class of that path, or made of it."""
    if path_of(component) == path:
        return True
    try:
        # Scrapy's schedulers are taken for one another by `issubclass`.
        return path in map(path_of, load_object(component).__mro__)
    except (AttributeError, ImportError, NameError, TypeError, ValueError):
        return False


def log_faults(settings: BaseSettings) -> list[str]:
    """Why there can be no LOG_FILE, which Scrapy opens when a private Redis runs already. It is made where there is
    none."""
    path = settings.get("LOG_FILE")
    if not path or not settings.getbool("LOG_INSTALL_ROOT_HANDLER"):
        return []
    try:
        with Path(path).open("a", encoding=settings.get("LOG_ENCODING")) as log:
            os.write(log.fileno(), b"")  # by which a device tells that it takes nothing
            disk = os.fstatvfs(log.fileno())
            if disk.f_blocks and not disk.f_bavail:  # a pipe has no blocks at all
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        return [f"LOG_FILE {path}: {error.strerror}"]
    except LookupError as error:
        return [f"LOG_ENCODING={settings.get('LOG_ENCODING')!r}: {error}"]
    return []
