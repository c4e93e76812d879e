"""The layout of a crawl's state in Redis has a number, so that no program misreads what another version left there."""

from __future__ import annotations

import contextlib
import logging
import time

import redis

from crawler.errors import PreflightError
from crawler.state.redis_link import client, forbidden, refuse_eviction
from frontier.answering import answering
from frontier.errors import FrontierElsewhere, FrontierUnavailable
from frontier.keys import Keys
from sieve.fleet.keys import RedisKeys

logger = logging.getLogger(__name__)

FORMAT = 6
"""One more at each change after which the keys of frontier and sieve mean something else."""
_LOADING_PAUSE_S = 2.0


class StateFormatError(PreflightError):
    """The state of `crawl` is of format `found` (0: of a version that did not number it)."""

    def __init__(self, crawl: str, found: int) -> None:
        super().__init__(
            f"the state of crawl {crawl!r} in Redis has {f'format {found}' if found else 'no format number'}, this "
            f"program's is {FORMAT}: end that crawl with the version that began it, or begin anew with another "
            "DATA_DIR or Redis"
        )
        self.crawl = crawl
        self.found = found


class StateGoneError(Exception):
    """Redis was emptied, or came back without its data, while `crawl` ran."""

    def __init__(self, crawl: str) -> None:
        super().__init__(
            f"the state of crawl {crawl!r} is gone from Redis, which was emptied or came back without its data: "
            "stop all workers, restore a back-up or empty that Redis (then the crawl begins at its seeds), start again"
        )
        self.crawl = crawl


class StateWatch:
    """Checks that the state that a worker found when it began is still there.

    Without it no delay is known, and a crawl that has lost all its URLs looks like one that is done. Also that the
    server has not been told meanwhile to throw keys away, by which the state would go bit by bit.
    """

    def __init__(self, url: str, crawl: str) -> None:
        self._client = client(url)
        self._url = url
        self._crawl = crawl
        self._checked = time.monotonic()

    def check(self, every_s: float = 0.0) -> None:
        """:class:`StateGoneError`, RedisUnreachableError, FrontierUnavailable. Costs nothing when it was checked within
        `every_s`."""
        if time.monotonic() < self._checked + every_s:
            return
        with answering(self._crawl):
            number = self._client.get(_key(self._crawl))
            with contextlib.suppress(redis.ResponseError):  # an ACL: one that does not tell is taken as it is
                refuse_eviction(self._url, self._client.info("memory"))
        if number is None:
            raise StateGoneError(self._crawl)
        self._checked = time.monotonic()

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


class NoStateError(PreflightError):
    """`crawl` has no state in the Redis that was asked for it."""

    def __init__(self, crawl: str) -> None:
        super().__init__(f"crawl {crawl!r} has no state in this Redis")
        self.crawl = crawl


def ensure_format(url: str, crawl: str, *, patient: bool = True, begin: bool = True) -> None:
    """Return when the state of `crawl` in the Redis at `url` is of this program's format, or is none and now is; not to
    `begin` one, for whoever only looks: NoStateError.

    StateFormatError when it is of another; PreflightError when Redis refuses. One that still reads its data is waited
    for: after a power cut that may take minutes, and workers that gave up would have to be started by hand. Not
    `patient`, for a thread that no signal can interrupt: FrontierUnavailable, then and when Redis has gone away.
    """
    with contextlib.closing(client(url)) as server:
        while True:
            try:
                if not begin and not has_state(server, crawl):
                    raise NoStateError(crawl)
                if begin:
                    # An ACL may forbid scripts, which first matters when a lock is held that only one of them ends.
                    server.register_script("return 1")()
                found = _format(server, crawl)
                break
            except redis.BusyLoadingError as error:
                if not patient:
                    raise FrontierUnavailable(crawl, str(error)) from None
                logger.warning("Waiting for Redis: %s", error)
                time.sleep(_LOADING_PAUSE_S)
            except redis.exceptions.AskError as error:
                raise PreflightError(str(FrontierElsewhere(crawl, f"{error.host}:{error.port}"))) from None
            except redis.RedisError as error:
                gone = isinstance(error, redis.ConnectionError | redis.TimeoutError)
                if gone and not isinstance(error, redis.AuthenticationError):
                    unavailable = FrontierUnavailable(crawl, str(error))
                    raise (PreflightError(str(unavailable)) if patient else unavailable) from None
                if isinstance(error, redis.OutOfMemoryError):
                    full = f"crawl {crawl!r} cannot begin, its Redis is at its memory limit (raise maxmemory): {error}"
                    raise PreflightError(full) from None
                cause = forbidden(error) or error
                raise PreflightError(f"the Redis of crawl {crawl!r} does not do as asked: {cause}") from None
    if found != FORMAT:
        raise StateFormatError(crawl, found)


def has_state(server: redis.Redis, crawl: str) -> bool:
    """Whether a crawl of that name was ever begun there. RedisError."""
    return server.get(_key(crawl)) is not None or bool(server.exists(Keys(crawl).meta, RedisKeys(crawl).state))


def _format(server: redis.Redis, crawl: str) -> int:
    key = _key(crawl)
    if not has_state(server, crawl):
        server.set(key, FORMAT, nx=True)
    # Asked again: another worker may have begun the crawl in between.
    with contextlib.suppress(ValueError):
        return int(server.get(key) or 0)
    return 0


def _key(crawl: str) -> str:
    return f"{{{crawl}}}:format"
