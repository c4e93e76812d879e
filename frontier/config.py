"""Settings of one crawl's frontier; every worker of a crawl must use the same."""

from __future__ import annotations

from dataclasses import dataclass, field

from frontier.budget import Budget
from frontier.outcomes import DAY, HOUR, MINUTE, MOST_RETRIES, SECOND, Row, row
from frontier.traps import TrapLimits


@dataclass(frozen=True, slots=True)
class FrontierConfig:
    """Delays run from the end of the last answer: the authority's is max(`delay_ms`, Crawl-delay, `delay_factor` x
    last fetch time), the address's max(`address_delay_ms`, `delay_factor` x last fetch time); the adaptive term is at
    most `adaptive_cap_ms`. A host whose Crawl-delay is above `crawl_delay_cap_ms` is skipped ("crawl_delay") until
    its robots.txt is read again. `lease_ms` must be longer than the longest fetch. `user_agent` is the product token
    that robots.txt is asked for. `retry_factor` multiplies the waits of the outcome table (not a Retry-After);
    `most_retries`, 1 or more, bounds its retries after what a host answers.
    `obey_robots=False` is for tests and for hosts of one's own.

    `least_share`: of the leases that share at most goes to authorities whose best URL lies in the last band, while
    others have better ones, or one each `least_every_ms` where that is more; 1: no bound. Of an authority that had a
    lease and has better URLs besides the next is waited for until `better_wait_ms` after that one was due: longer than
    its delay, and shorter than what ends a crawl that has nothing due."""

    user_agent: str = "ulwembu"
    delay_ms: int = 5 * SECOND
    address_delay_ms: int = SECOND
    delay_factor: float = 1.0
    adaptive_cap_ms: int = 30 * SECOND
    crawl_delay_cap_ms: int = 2 * MINUTE
    retry_factor: float = 1.0
    most_retries: int = MOST_RETRIES
    lease_ms: int = 3 * MINUTE
    address_ttl_ms: int = HOUR
    bind_ahead_ms: int = 500
    obey_robots: bool = True
    robots_ttl_ms: int = DAY
    robots_refresh_ms: int = HOUR
    robots_hop_wait_ms: int = 10 * MINUTE
    least_share: float = 1.0
    least_every_ms: float = 2500
    better_wait_ms: int = 11 * SECOND
    trap_park_ms: int = 30 * DAY
    audit: bool = False
    audit_rows: int = 1_000_000
    budget: Budget = field(default_factory=Budget)
    limits: TrapLimits = field(default_factory=TrapLimits)

    def __post_init__(self) -> None:
        if self.lease_ms <= 0 or self.delay_ms < 0 or self.address_delay_ms < 0:
            raise ValueError("lease_ms must be positive, delays must not be negative")
        if self.most_retries < 1:
            raise ValueError("most_retries must be 1 or more")
        if not 0 < self.robots_ttl_ms <= DAY:
            raise ValueError("robots_ttl_ms must be within 24 hours (RFC 9309, 2.4)")
        if not 0 <= self.least_share <= 1 or not self.least_every_ms > 0:
            raise ValueError("least_share must be a share, 0 to 1, and least_every_ms positive")

    def rule(self, result: str) -> Row:
        """The row of the outcome table for `result`, as this crawl has it; UnknownOutcome."""
        return row(result, self.retry_factor, self.most_retries)

    @property
    def least_credit(self) -> float | None:
        """What one of the last band has of a turn by each other lease; None without a bound."""
        return self.least_share / (1 - self.least_share) if self.least_share < 1 else None
