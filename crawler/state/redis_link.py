"""The one Redis of a crawl: the fleet's by ``REDIS_URL``, else the private one in the crawl's folder."""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy.settings import BaseSettings

from crawler.state.embedded_redis import EmbeddedRedis, EmbeddedRedisError
from frontier.answering import check_database

logger = logging.getLogger(__name__)

_REACH_TIMEOUT_S = 10.0


class RedisUnreachableError(Exception):
    """The crawl's Redis cannot be used; `str()` is one line that names it (without its password) and the reason."""


@dataclass(frozen=True, slots=True)
class RedisHome:
    """Where the crawl's shared state lives; `server` when it is this machine's private one."""

    url: str
    server: EmbeddedRedis | None = None

    @property
    def embedded(self) -> bool:
        """Whether it is this machine's private server."""
        return self.server is not None

    def revive(self) -> None:
        """Start a private server again that was killed; a fleet's Redis is its operator's."""
        if self.server is not None:
            try:
                self.server.revive()
            except (EmbeddedRedisError, OSError) as error:
                logger.warning("%s", error)


@contextlib.contextmanager
def redis_home(settings: BaseSettings, folder: Path) -> Iterator[RedisHome]:
    """The crawl's Redis, reachable on entry; a private one runs for as long as any process is inside.

    `folder` is the crawl's data folder. :class:`RedisUnreachableError` when it cannot be had.
    """
    if url := str(settings.get("REDIS_URL") or ""):
        ping(url)
        yield RedisHome(url)
        return
    try:
        server = EmbeddedRedis(folder / "state" / "redis").enter()
    except EmbeddedRedisError as error:
        raise RedisUnreachableError(str(error)) from None
    except OSError as error:
        raise RedisUnreachableError(f"cannot keep a private Redis in {folder}: {error.strerror}") from None
    try:
        yield RedisHome(server.url, server)
    finally:
        with _undisturbed():
            server.leave()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Whoever presses Ctrl-C again as the last process leaves a private server does not leave that behind."""
    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = [(number, signal.signal(number, signal.SIG_IGN)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def private_neighbours(folder: Path) -> list[Path]:
    """The data folders beside `folder` whose crawls run now, each on a private server of its own."""

    def runs(other: Path) -> bool:
        with contextlib.suppress(OSError):  # another user's
            return EmbeddedRedis(other / "state" / "redis").server_pid() != 0
        return False

    beside = (path.parents[2] for path in folder.parent.glob("*/state/redis/redis.sock"))
    return sorted(other for other in beside if other.resolve() != folder.resolve() and runs(other))


def client(url: str, within_s: float = _REACH_TIMEOUT_S) -> redis.Redis:
    """A connection that gives up after a while and repeats nothing by itself."""
    return redis.Redis.from_url(
        url, socket_connect_timeout=within_s, socket_timeout=within_s, retry=Retry(NoBackoff(), 0)
    )


def ping(url: str) -> None:
    """Return when the server at `url` answers; :class:`RedisUnreachableError` else."""
    if re.match(r"rediss?://[^/?#]*[/?#].*@", url):
        raise RedisUnreachableError(f"REDIS_URL {without_password(url)}: its password must be percent-encoded")
    try:
        check_database(url)
        server = client(url)
    except ValueError as error:
        raise RedisUnreachableError(f"REDIS_URL {without_password(url)}: {error}") from None
    try:
        if server.get_encoder().decode_responses:
            raise RedisUnreachableError(f"REDIS_URL {without_password(url)}: decode_responses cannot be used")
        server.ping()
    except redis.BusyLoadingError:
        pass
    except TypeError as error:  # an option after "?" that its client does not have
        raise RedisUnreachableError(f"REDIS_URL {without_password(url)}: {error}") from None
    except (redis.RedisError, OSError) as error:
        raise RedisUnreachableError(f"no Redis at REDIS_URL {without_password(url)}: {_cause(url, error)}") from None
    finally:
        server.close()


def _cause(url: str, error: Exception) -> str:
    if isinstance(error, redis.AuthenticationError) and "@" not in url:  # Redis speaks of HELLO
        return "it wants a password (redis://default:PASSWORD@HOST/0)"
    return str(error)


_NEARLY = 0.98
_OF_A_SCRIPT = ("ACL failure", "The user executing the script can't")
"""What Redis 7 and 6.2 say of a script that may not do something."""
_OF_A_COMMAND = re.compile("(?:to|can't) run ")
"""What they say of a command, not of a key, that is refused, to whomever."""


def forbidden(error: BaseException) -> str:
    """What an ACL has to allow, when that is why Redis refused; "" when it is not."""
    if not isinstance(error, redis.exceptions.NoPermissionError) and all(
        word not in str(error) for word in _OF_A_SCRIPT
    ):
        return ""
    commands, keys = "the commands +@all -@dangerous +info", "the keys {ulwembu}:* and {NAME}:* of its crawls"
    needed = commands if _OF_A_COMMAND.search(str(error)) else keys
    return f"{error}: the ACL of this Redis must allow its user {needed}"


def refuse_eviction(url: str, memory: Mapping[str, Any]) -> None:
    """:class:`RedisUnreachableError` when the server throws keys away at its memory limit: a host's delay, or what has
    been seen. `memory` is what it says of it (:func:`memory_facts`); one that does not tell is taken as it is."""
    policy = memory.get("maxmemory_policy", "noeviction")
    if memory.get("maxmemory") and policy != "noeviction":
        raise RedisUnreachableError(
            f"the Redis at {without_password(url)} throws keys away when it is full (maxmemory-policy {policy}): "
            "hosts' delays could be forgotten; config set maxmemory-policy noeviction"
        )


def fullness(url: str) -> str:
    """What to say of a server that is at its memory limit, or so near that it goes to and fro; "" of another."""
    memory = memory_facts(url)
    most = memory.get("maxmemory", 0)
    used = memory.get("used_memory", 0) - memory.get("mem_not_counted_for_evict", 0)
    if not most or used < _NEARLY * most:
        return ""
    return (
        f"Redis is at its memory limit ({used >> 20:,} of {most >> 20:,} MiB): crawls stand until maxmemory is raised"
    )


def memory_facts(url: str) -> dict[str, Any]:
    """What the server at `url` says of its memory (INFO); nothing when it does not tell."""
    try:
        with contextlib.closing(client(url)) as server:
            facts: dict[str, Any] = server.info("memory")
            return facts
    except redis.RedisError:
        return {}


def is_cluster(server: redis.Redis) -> bool:
    """Whether it is a node of a Redis Cluster; of one that does not tell, no."""
    with contextlib.suppress(redis.RedisError):
        return bool(server.info("cluster").get("cluster_enabled"))
    return False


def without_password(url: str) -> str:
    """`url` fit for logs, also where a password that was not percent-encoded makes it another URL than was meant."""
    scheme, slashes, rest = url.partition("://")
    if not slashes:
        return f"***@{url.rpartition('@')[2]}" if "@" in url else url
    rest = re.sub(r"(?<=[?&]password=)[^&]*", "***", rest)
    user, found, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}:***@{place}" if found else f"{scheme}://{rest}"
