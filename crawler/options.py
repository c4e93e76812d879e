"""Every setting that is Ulwembu's own: its name, default, type and meaning, in one table.

A setting with one of our prefixes that is not in the table stops start-up, with the nearest name as a suggestion, and
so does a name that ``-s`` gives nearly as one of ours: a misspelt politeness setting must never be ignored.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from seeds.crawl.model import MOST_STEPS

_MOST = 10**12
"""Of any number; what becomes milliseconds must still be a whole number in Redis' scripts."""
_MOST_TIMES = 10**6
"""Of what multiplies a day of them."""
PREFIXES = ("SIEVE_", "FRONTIER_", "RELEVANCE_", "WARC_", "ROBOTS_", "HARVEST_", "FETCH_")


@dataclass(frozen=True, slots=True)
class Option:
    """One setting; `default` also fixes the type (bool, int, float, str or list of str), `most` is a number's bound."""

    name: str
    default: bool | int | float | str | list[str]
    meaning: str
    most: int = _MOST


OPTIONS: tuple[Option, ...] = (
    Option(
        "DATA_DIR", "data/{crawl}", "Folder of all that one crawl writes (warc/, state/, reports/); {crawl}: its name."
    ),
    Option("SEEDS_DIR", "", "Folder of the crawls, one <name>.toml each; empty: the project's own seeds/."),
    Option(
        "REDIS_URL",
        "",
        "redis://, rediss:// or unix:// URL of the fleet's Redis (or the environment's); empty: private, in DATA_DIR.",
    ),
    Option("CONTACT", "", "Web page or mail address that site owners can turn to; part of the user agent. Required."),
    Option(
        "METRICS_PORT",
        0,
        "Figures for Prometheus are served on this port, or the first free of the nine after it; 0: nowhere.",
        65_535,
    ),
    Option("METRICS_HOST", "127.0.0.1", "Address of this machine on which they are served (0.0.0.0: on all)."),
    Option("FETCH_ALLOWED_NETWORKS", [], "Networks beyond the public Internet that may be fetched (CIDR, comma list)."),
    Option("FETCH_HOSTS_FILE", "", "File in the form of hosts(5), asked before DNS."),
    Option("FETCH_CA_FILE", "", "PEM file of a further certificate authority to trust."),
    Option("FETCH_CONNECT_TIMEOUT_S", 15.0, "Seconds for a name to be looked up, and as many for TCP and TLS."),
    Option("FRONTIER_DELAY_S", 5.0, "Least seconds from the end of an answer to the next request to that authority."),
    Option("FRONTIER_IP_DELAY_S", 1.0, "The same for an IP address, whatever hosts share it."),
    Option("FRONTIER_DELAY_FACTOR", 2.0, "The delay is also at least this many times the last fetch time."),
    Option("FRONTIER_MAX_DELAY_S", 60.0, "Upper bound of the delay that follows from the last fetch time."),
    Option("FRONTIER_MAX_CRAWL_DELAY_S", 120.0, "A host whose robots.txt asks for more than this is skipped."),
    Option(
        "FRONTIER_RETRY_FACTOR",
        1.0,
        "Multiplies all waits before retries (frontier/outcomes.py), not Retry-After; where it makes less than "
        "FRONTIER_IDLE_CLOSE_S of a day, a crawl with a host whose robots.txt cannot be had ends by a budget alone.",
        _MOST_TIMES,
    ),
    Option(
        "FRONTIER_MAX_RETRIES",
        14,
        "A URL is tried again at most so often after failures (1 or more; by frontier/outcomes.py for two days).",
    ),
    Option("FRONTIER_LEASE_S", 120.0, "Seconds after which a URL handed to a worker that went silent goes to another."),
    Option("FRONTIER_IDLE_CLOSE_S", 60.0, "The crawl ends when nothing is due within so many seconds, no poll either."),
    Option("FRONTIER_BUFFER", 64, "Most leases that one worker holds at a time."),
    # At most a second: nobody else has the host, or its address, meanwhile.
    Option(
        "FRONTIER_AHEAD_MS",
        100,
        "A lease may be handed out this long before it may be used, and what a round of leasing takes (1000 at most).",
        1000,
    ),
    Option(
        "FRONTIER_MAX_DEPTH",
        20,
        f"Links further than this from a seed are refused (trap defence; {MOST_STEPS} at most); 0: no limit.",
        MOST_STEPS,
    ),
    Option("FRONTIER_MAX_HOST_URLS", 200_000, "Most URLs taken in for one authority (trap defence); 0: no limit."),
    Option(
        "FRONTIER_MAX_EQUAL_PAGES",
        100,
        "A host rests for a day after about so many near-identical pages; after a fifth of them the URLs of least "
        "worth in that section of it do, as those of a trap are; 0: never.",
    ),
    Option(
        "FRONTIER_LEAST_SHARE",
        0.1,
        "Share of the fetches that URLs of least worth may take while better ones are to be had; 1: no bound.",
        1,
    ),
    Option("FRONTIER_AUDIT", False, "Write every grant and outcome to an audit log for `scrapy politeness verify`."),
    Option("FRONTIER_OPT_OUT_FILE", "", "File of hosts and URL prefixes, one a line, never to be fetched."),
    Option(
        "SIEVE_STORE", "", "Where seen URLs are kept: `redis` (default with REDIS_URL) or `disk` (default without)."
    ),
    Option(
        "SIEVE_FLUSH_MS",
        20,
        "Pause between two rounds of deciding which URLs are new (60000 at most); 100 more while none come.",
        60_000,
    ),
    Option("ROBOTS_USER_AGENT", "Ulwembu", "Product token looked for in robots.txt."),
    Option(
        "ROBOTS_MAX_AGE_S", 86400.0, "Longest time that a robots.txt read from now on is relied on (a day at most)."
    ),
    Option(
        "RELEVANCE_POLICY",
        "",
        "Which pages are kept and which links go first: yield (default), threshold, afriweb, all.",
    ),
    Option(
        "RELEVANCE_MODEL",
        "",
        "File of a language model (docs/relevance.md); default: the seed file's, or the shipped one.",
    ),
    Option("RELEVANCE_OPTIONS", "", "Options of the policy as a comma list of name=value."),
    Option("RELEVANCE_PDF", True, "Read the text of PDF documents; off: they are archived and not judged."),
    Option(
        "RELEVANCE_CAPPED",
        ["machine", "near_duplicate"],
        "Flags that RELEVANCE_CAP counts: machine, religious, list, near_duplicate (docs/relevance.md).",
    ),
    Option("RELEVANCE_CAP", 0, "Most pages with one capped flag that the fleet keeps of a host; 0: no cap."),
    Option("HARVEST_MIN_POLL_S", 45.0, "A feed is polled no oftener than this, whatever its schedule has learnt."),
    Option("HARVEST_MAX_POLL_S", 86400.0, "A feed that answers is polled at least this often."),
    Option("HARVEST_SITEMAP_MIN_POLL_S", 3600.0, "A sitemap is polled no oftener than this."),
    Option("HARVEST_SITEMAP_MAX_POLL_S", 604800.0, "A sitemap that answers is polled at least this often."),
    Option("HARVEST_SPREAD_S", 600.0, "First polls of many feeds are spread over this time (0.1 s a feed at most)."),
    Option("HARVEST_REVISIT", False, "Fetch kept items of feeds again, to archive how they changed."),
    Option(
        "HARVEST_REVISIT_AFTER_S",
        ["3600", "21600", "86400", "345600", "1382400"],
        "When: so many seconds after the last fetch; a changed item starts again with the first.",
    ),
    Option("WARC_COMPRESSION", "xz", "xz, gz, zst or none."),
    Option("WARC_VERSION", "1.1", "1.1 or 1.0."),
    Option("WARC_DIGEST", "sha1", "sha1 (base32, as archives use it) or sha256 (base16)."),
    Option("WARC_MAX_BYTES", 1_000_000_000, "A WARC file is closed when it has grown to this size; 0: no limit."),
    Option(
        "WARC_MAX_AGE_S",
        3600.0,
        "With the first answer after so long, all that was fetched goes into a closed file; 0: when it is full.",
    ),
    Option("WARC_PREFIX", "{crawl}", "First part of the WARC files' names; {crawl}: the crawl's name."),
    Option(
        "WARC_KEEP",
        "fetched",
        "Which answers are archived: fetched (all) or kept (relevant pages and what they embed, feeds, sitemaps, "
        "robots.txt).",
    ),
    Option(
        "WARC_EARLIER",
        [],
        "Earlier crawls, as sorted .cdxj files or folders of WARC files with theirs (comma list): what these have of "
        "the same URL is not stored again, but referred to (docs/archive.md).",
    ),
)

CHOICES: dict[str, tuple[str, ...]] = {
    "WARC_COMPRESSION": ("xz", "gz", "zst", "none"),
    "WARC_VERSION": ("1.1", "1.0"),
    "WARC_DIGEST": ("sha1", "sha256"),
    "WARC_KEEP": ("fetched", "kept"),
    "RELEVANCE_POLICY": ("", "yield", "threshold", "afriweb", "all"),
    "SIEVE_STORE": ("", "redis", "disk"),
}

_HEAD = """\
# Settings

Every setting that is Ulwembu's own: `-s NAME=VALUE`, or in a project's `settings.py`. Of Scrapy's, those of pace,
depth, retries, redirects, robots.txt and proxies are switched off (`crawler/addon.py`), since the frontier decides; an
answer may have 10 MiB (`DOWNLOAD_MAXSIZE`) and take 60 s (`DOWNLOAD_TIMEOUT`). The others work as ever;
what differs for spiders of your own is in [scrapy.md](scrapy.md).
"""

DEFAULTS: dict[str, Any] = {
    option.name: os.environ.get("REDIS_URL", "") if option.name == "REDIS_URL" else option.default for option in OPTIONS
}


def problems(settings: BaseSettings) -> Iterator[str]:
    """One line for each setting of ours that is unknown or has an unusable value."""
    known = {option.name: option for option in OPTIONS}
    for name in settings:
        if not isinstance(name, str) or not name.startswith(PREFIXES):
            continue
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            yield f"unknown setting {name}" + (f" (did you mean {close[0]}?)" if close else "")
    yield from _mistyped(settings, known)
    for option in OPTIONS:
        try:
            typed(settings, option)
        except (OverflowError, TypeError, ValueError):  # a project's settings may have float("inf")
            yield f"setting {option.name}={settings.get(option.name)!r} must be {_wanted(option)}"


def _wanted(option: Option) -> str:
    """Which values it can have, in words."""
    match option.default:
        case bool():
            return "True or False"
        case int():
            return f"a whole number from 0 to {option.most}"
        case float():
            return f"a number from 0 to {option.most}"
        case _:
            return "a comma list of seconds above 0"


def _mistyped(settings: BaseSettings, known: Container[str]) -> Iterator[str]:
    """Names given by ``-s`` that are nearly ours: with `REDIS_URI` a crawl would begin on a Redis of its own."""
    ours = [name for name in DEFAULTS if not name.startswith(PREFIXES)]
    for name in settings:
        if settings.getpriority(name) != SETTINGS_PRIORITIES["cmdline"] or not isinstance(name, str):
            continue
        if name in known or name.startswith(PREFIXES) or hasattr(default_settings, name):
            continue
        loud = name.upper()
        close = [loud] if loud in DEFAULTS else difflib.get_close_matches(loud, ours, n=1, cutoff=0.8)
        if close or loud.startswith(PREFIXES):
            yield f"unknown setting {name}" + (f" (did you mean {close[0]}?)" if close else "")


def typed(settings: BaseSettings, option: Option) -> object:
    """The value of a setting as its kind; TypeError or ValueError when it is none."""
    match option.default:
        case bool():
            return settings.getbool(option.name)
        case int() | float():
            value = type(option.default)(settings.get(option.name, option.default))
            if not 0 <= value <= option.most:
                raise ValueError(value)
            return value
        case list():
            values = settings.getlist(option.name)
            if option.name.endswith("_S") and not all(0 < float(value) <= option.most for value in values):
                raise ValueError(values)
            return values
        case _:
            return str(settings.get(option.name))


def table() -> str:
    """The settings as a Markdown table (docs/settings.md is made of it)."""
    rows = [f"| `{o.name}` | {o.default!r} | {o.meaning} |" for o in OPTIONS]
    return "\n".join(["| setting | default | meaning |", "|---|---|---|", *rows, ""])


if __name__ == "__main__":
    print(f"{_HEAD}\n{table()}", end="")
