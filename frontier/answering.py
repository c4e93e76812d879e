"""A connection to Redis, and what one that does not do as it is told means to the frontier."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from frontier.errors import FrontierElsewhere, FrontierFull, FrontierUnavailable

# A server that is there but can keep nothing now: its disk is full, its replicas or its primary are gone, a long script
# keeps it busy, its operator has ended ours as one, it forgot ours just when it had been told it anew, or keys go to
# another node of its Cluster. Looked for in the text, since a script gives them on in its own words; Valkey calls
# itself by its own name there.
_REFUSALS = (
    "MISCONF", "NOREPLICAS", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "is busy running", "Script killed by",
    "non local key",
)  # fmt: skip
_REFUSAL_TYPES = (
    redis.exceptions.ReadOnlyError,
    redis.exceptions.ClusterDownError,
    redis.exceptions.TryAgainError,
    redis.exceptions.NoScriptError,
)

ANSWER_WITHIN_S = 10.0


def connected(url: str) -> redis.Redis:
    """A client without silent repeats: the caller decides what a lost answer means for each call. ValueError."""
    check_database(url)
    return redis.Redis.from_url(url, socket_timeout=ANSWER_WITHIN_S, retry=Retry(NoBackoff(), 0))


def check_database(url: str) -> None:
    """ValueError for a URL whose path is no number of a database: redis-py would take it for 0."""
    found = re.match(r"rediss?://[^/?#]*/([^?#]*)", url)
    if found and not re.fullmatch(r"(?:\d+/?)?", found[1], re.A):
        raise ValueError(f"{found[1]!r} is no number of a database (redis://HOST/0)")


def text_of(data: bytes) -> str:
    """A name that we have stored."""
    return data.decode("utf-8", "surrogatepass")


@contextlib.contextmanager
def answering(crawl: str) -> Iterator[None]:
    """Errors of Redis as the frontier's own; what is neither absence nor fullness goes through as it is."""
    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise FrontierUnavailable(crawl, str(error)) from error
    except redis.exceptions.AskError as error:
        node = f"{error.host}:{error.port}"
        if isinstance(error, redis.exceptions.MovedError):
            raise FrontierElsewhere(crawl, node) from error
        raise FrontierUnavailable(crawl, f"its keys are being moved to another node of its Cluster, {node}") from error
    except redis.ResponseError as error:
        if "OOM" in str(error) or isinstance(error, redis.OutOfMemoryError):
            raise FrontierFull(crawl, str(error)) from error
        if isinstance(error, _REFUSAL_TYPES) or any(word in str(error) for word in _REFUSALS):
            raise FrontierUnavailable(crawl, str(error).rpartition(": -")[2]) from error
        raise
