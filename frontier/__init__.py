"""Which admitted URL may be fetched now: politeness, leases, priorities, parking and robots.txt for a whole fleet.

Contract and guarantees: :mod:`frontier.types`. Implementations: :class:`MemoryFrontier` (reference, one process) and
:class:`frontier.redis_frontier.RedisFrontier` (fleet; not imported here, so that the pure parts need no Redis client).
"""

from frontier.budget import Budget
from frontier.config import FrontierConfig
from frontier.errors import FrontierError, FrontierFull, FrontierUnavailable, UnknownOutcome
from frontier.memory import MemoryFrontier
from frontier.traps import TrapLimits
from frontier.types import (
    Bound,
    Candidate,
    Explanation,
    Frontier,
    FrontierStatus,
    Grant,
    HostPolicy,
    HostState,
    Kind,
    Lease,
    Outcome,
    Queued,
    RobotsRecord,
    Waiting,
)

__all__ = [
    "Bound",
    "Budget",
    "Candidate",
    "Explanation",
    "Frontier",
    "FrontierConfig",
    "FrontierError",
    "FrontierFull",
    "FrontierStatus",
    "FrontierUnavailable",
    "Grant",
    "HostPolicy",
    "HostState",
    "Kind",
    "Lease",
    "MemoryFrontier",
    "Outcome",
    "Queued",
    "RobotsRecord",
    "TrapLimits",
    "UnknownOutcome",
    "Waiting",
]
