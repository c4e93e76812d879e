"""Why a worker cannot go on, or not even begin: what was foreseen is one line for people, all else a fault of ours."""

from __future__ import annotations

from crawler.errors import PreflightError
from crawler.state.redis_link import RedisUnreachableError, forbidden
from crawler.state.state_format import StateGoneError
from frontier.errors import FrontierUnavailable, OptOutsDamaged
from sieve.errors import SieveError

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
