"""Why a worker ends: that all is done, or what keeps it from going on, or even beginning; as a line for people."""

from __future__ import annotations

from datetime import UTC, datetime

from scrapy.statscollectors import StatsCollector

from crawler.errors import PreflightError
from crawler.state.redis_link import RedisUnreachableError, forbidden
from crawler.state.state_format import StateGoneError
from frontier.errors import FrontierUnavailable, OptOutsDamaged
from frontier.types import Grant
from sieve.errors import SieveError

FAULT = "fault"
"""Why a crawl was closed that could not go on; ``scrapy crawl`` then exits with 1."""
_FORESEEN = (
    PreflightError,  # found before the crawl is opened, and not there any more
    RedisUnreachableError,
    FrontierUnavailable,
    StateGoneError,  # Redis was emptied
    OptOutsDamaged,
    SieveError,  # the seen URLs are another store's, or damaged
    OSError,  # a disk or the folder fails
)


def foreseen(error: Exception) -> str:
    """The line that says what ended the crawl; "" where it is a fault of this program."""
    return str(error) if isinstance(error, _FORESEEN) else forbidden(error)


def why_over(grant: Grant, stats: StatsCollector | None) -> str:
    """Why a crawl ends with this grant, as a line of the log; `stats`: whether this run has asked for anything."""
    if grant.closed:
        return f"The crawl's budget of {grant.closed} is spent"
    back = _back(grant)
    if grant.narrowed:
        waits = f"; of what they embed something waits, until {back} at least: start it again then" if back else ""
        return f"The crawl's budget of pages is spent{waits}"
    if back:
        return (
            f"The crawl ends, but some URLs wait, until {back} at least: start it again then. "
            "`scrapy frontier hosts` and `parked` say why (`again`: fetched already, as a feed or sitemap is); "
            "`scrapy frontier release HOST` ends the wait"
        )
    if stats is None or stats.get_value("downloader/request_count"):
        return "Nothing is left to fetch"
    return (
        "Nothing is left to fetch, paused hosts apart: a URL is fetched once, also over several runs. "
        "Another DATA_DIR begins anew, with REDIS_URL also another crawl name (an emptied Redis forgets opt-outs)"
    )


def _back(grant: Grant) -> str:
    """The minute in which something is due again, by the clock that people look at; "" when nothing waits."""
    if grant.next_due_ms is None:
        return ""
    back_ms = grant.next_due_ms - grant.clock_ahead_ms
    back = datetime.fromtimestamp(-(-back_ms // 60_000) * 60, UTC)  # the minute after it: it is due then
    return f"{back:%Y-%m-%d %H:%MZ}"
