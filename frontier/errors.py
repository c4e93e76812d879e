"""Errors of the frontier: one root, each carrying its facts."""

from __future__ import annotations


class FrontierError(Exception):
    """Root of all errors of this package."""


class UnknownOutcome(FrontierError):  # noqa: N818 - a noun says it better than an -Error suffix
    """An outcome's `result` is no key of :data:`frontier.outcomes.OUTCOMES`."""

    def __init__(self, result: str) -> None:
        super().__init__(f"no row {result!r} in the table of outcomes")
        self.result = result


class FrontierUnavailable(FrontierError):  # noqa: N818
    """Redis did not answer (down, restarting, loading). The call may be repeated; nothing may be sent meanwhile."""

    def __init__(self, crawl: str, cause: str) -> None:
        super().__init__(f"the frontier of crawl {crawl!r} cannot be reached: {cause}")
        self.crawl = crawl
        self.cause = cause


class FrontierElsewhere(FrontierUnavailable):
    """The keys that were asked for lie on another `node` of a Redis Cluster, HOST:PORT."""

    def __init__(self, crawl: str, node: str) -> None:
        cause = f"its keys lie on another node of this Redis Cluster, {node}, which REDIS_URL must name"
        super().__init__(crawl, cause)
        self.node = node


class FrontierFull(FrontierError):  # noqa: N818
    """Redis is at its memory limit: nothing was taken in, nothing is lost, leases and reports go on.

    Raised by the intake, and by counters, which can wait. What was offered stays where it was (the ready queue, the
    caller); offer it again when room was made or the limit was raised.
    """

    def __init__(self, crawl: str, cause: str) -> None:
        super().__init__(
            f"Redis is at its memory limit, the intake of crawl {crawl!r} pauses "
            f"(raise maxmemory or drop queues of hosts): {cause}"
        )
        self.crawl = crawl
        self.cause = cause


class OptOutsDamaged(FrontierError):  # noqa: N818
    """What a table of opt-outs has of a host is not what any version has written, or the whole is no table (`host`
    None): nobody knows what must not be fetched, so nothing is leased."""

    def __init__(self, key: str, host: str | None = None) -> None:
        if host is None:
            what, remedy = f"{key!r} of Redis is no table of opt-outs", f"DEL {key!r}"
        else:
            what, remedy = f"the opt-outs of {host!r} in {key!r} of Redis are damaged", f"HDEL {key!r} {host!r}"
        super().__init__(f"{what}, and no crawl that meets them goes on: {remedy}, and opt out again what had")
        self.key = key
        self.host = host


class OptOutsElsewhere(FrontierError):  # noqa: N818
    """The opt-outs of all crawls lie on another node of a Redis Cluster than the one that was asked."""

    def __init__(self, node: str) -> None:
        super().__init__(
            "in this Redis Cluster each crawl has its own opt-outs: --crawl NAME, for each "
            f"(those of all crawls lie on its node {node})"
        )
        self.node = node
