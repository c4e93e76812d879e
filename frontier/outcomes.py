"""The one table that says what each outcome of a fetch means: is the URL tried again, when, how often; does the host
rest.

The frontier has no other rule about failures: both implementations read these rows (the Lua scripts get the rows they
need with each call). Columns:

* `sent`: the host was, or may have been, asked: its politeness delay runs from the end of the answer. Where False
  nothing was sent, and the outcome costs the host no delay.
* `retries`: how often the URL is tried again before it is given up; it is parked meanwhile, with the result as
  reason, for `base_ms` times four with each attempt, at most `cap_ms`, of which a random half is spared (equal jitter).
* `rest_base_ms`, `rest_cap_ms`: the whole authority rests, the first doubled with each failure of the host that has not
  been forgiven, or as long as a Retry-After says; 0 = it does not rest, but for a Retry-After, which any answer may
  have: then it rests for so long, and has neither failed nor is a failure of it forgiven.
* `heals`: an answer that speaks for the host: one failure is forgiven. Time forgives too, one each
  :data:`FORGIVE_MS` after the rest.
* `page`: counts as a fetched page in budgets and yields.
* `unit`: what one more try adds to the byte of the URL that counts them: :data:`ANSWER`, :data:`EXPIRY` (apart, so that
  workers that die take no retry from what the host answers, nor the other way round), 0: it is not counted.
* `forgets_address`: the host's name is looked up anew before the next try, since it may have moved to another address.

Sources: RFC 9110 10.2.3 (Retry-After), RFC 9309 2.3.1 (robots.txt), Heritrix 3 ``FetchStatusCodes`` and its retry
rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from frontier.errors import UnknownOutcome

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

FORGIVE_MS = 10 * MINUTE
RETRY_AFTER_CAP_MS = 30 * DAY
MOST_DOUBLINGS = 20
ANSWER, EXPIRY = 1, 16


@dataclass(frozen=True, slots=True)
class Row:
    """One row; see the module's text for the columns."""

    sent: bool = True
    retries: int = 0
    unit: int = ANSWER
    base_ms: int = 0
    cap_ms: int = 0
    rest_base_ms: int = 0
    rest_cap_ms: int = 0
    heals: bool = False
    page: bool = False
    forgets_address: bool = False

    def tried(self, tries: int) -> int:
        """How many of a URL's `tries` count against the retries of this row."""
        return tries // self.unit % EXPIRY if self.unit else 0


_DONE = Row(heals=True, page=True)
REQUISITE = "requisite"
"""The result of what a page embeds that was answered; :data:`OUTCOMES` has the others behind it and a colon."""
_NOT_SENT = Row(sent=False)

OUTCOMES: dict[str, Row] = {
    # answers
    "ok": _DONE,
    "not_modified": _DONE,
    "redirect": _DONE,
    "http_404": _DONE,
    "http_410": _DONE,
    "http_4xx": _DONE,
    "http_other": _DONE,
    "unwanted": _DONE,
    "too_large": _DONE,
    "part": _DONE,  # a 206 that nobody asked for: archived, and else of no use
    "http_429": Row(retries=14, base_ms=MINUTE, cap_ms=DAY, rest_base_ms=MINUTE, rest_cap_ms=DAY),
    "http_503": Row(retries=14, base_ms=MINUTE, cap_ms=DAY, rest_base_ms=MINUTE, rest_cap_ms=DAY),
    # a page's fault or, where all fail, the host's, which then rests longer and longer; an hour at most, since a part
    # of a site that is broken for good looks like a site that is away
    "http_5xx": Row(retries=8, base_ms=10 * MINUTE, cap_ms=DAY, rest_base_ms=5 * SECOND, rest_cap_ms=HOUR),
    # no (whole) answer
    "dns": Row(sent=False, retries=14, base_ms=5 * MINUTE, cap_ms=DAY, rest_base_ms=5 * MINUTE, rest_cap_ms=DAY),
    "connect": Row(
        retries=14, base_ms=MINUTE, cap_ms=DAY, rest_base_ms=MINUTE, rest_cap_ms=6 * HOUR, forgets_address=True
    ),
    "tls": Row(
        retries=8, base_ms=10 * MINUTE, cap_ms=DAY, rest_base_ms=10 * MINUTE, rest_cap_ms=DAY, forgets_address=True
    ),
    "timeout": Row(retries=9, base_ms=2 * MINUTE, cap_ms=DAY, rest_base_ms=30 * SECOND, rest_cap_ms=HOUR),
    "cut": Row(retries=10, base_ms=MINUTE, cap_ms=DAY, rest_base_ms=5 * SECOND, rest_cap_ms=HOUR),
    "protocol": Row(retries=2, base_ms=10 * MINUTE, cap_ms=HOUR),
    # the lease ran out: its worker died or hung (reported by nobody); the URL goes back at once
    "expired": Row(retries=5, unit=EXPIRY),
    # its worker was told to stop while it waited for the answer, and hung up; the URL goes back at once
    "aborted": Row(retries=1, unit=0),
    # robots.txt: kept apart, because its failures stop all pages of the host
    "robots_redirect": Row(heals=True),
    "robots_unreachable": Row(sent=False, rest_base_ms=5 * MINUTE, rest_cap_ms=DAY),
    # nothing was sent
    "robots_denied": _NOT_SENT,
    "refused_address": _NOT_SENT,
    "bad_url": _NOT_SENT,
    "replaced": _NOT_SENT,  # a middleware of the project's asked for another URL
    "opted_out": _NOT_SENT,
}


def of_requisite(result: str) -> str:
    """The result for what a page embeds: whatever comes of it, it is no page of budgets and yields."""
    if not OUTCOMES[result].page:
        return result
    return REQUISITE if result == "ok" else f"{REQUISITE}:{result}"


OUTCOMES |= {of_requisite(result): replace(found, page=False) for result, found in OUTCOMES.items() if found.page}

MOST_RETRIES = max(found.retries for found in OUTCOMES.values())


@cache
def row(result: str, factor: float = 1.0, most: int = MOST_RETRIES) -> Row:
    """The row of `result`, its waits multiplied by `factor`, at most `most` retries after what a host answers;
    UnknownOutcome when the table has none."""
    if result not in OUTCOMES:
        raise UnknownOutcome(result)
    found = OUTCOMES[result]
    waits = {
        name: round(getattr(found, name) * factor) for name in ("base_ms", "cap_ms", "rest_base_ms", "rest_cap_ms")
    }
    return replace(found, **waits, retries=min(found.retries, most) if found.unit == ANSWER else found.retries)


def backoff_ms(base_ms: int, cap_ms: int, doublings: int, jitter: float) -> int:
    """`base_ms` doubled `doublings` times, at most `cap_ms`, less up to half of it (`jitter` 0..1: all of the half to
    none)."""
    whole = min(cap_ms, base_ms * 2 ** min(doublings, MOST_DOUBLINGS)) if cap_ms else base_ms
    return int(whole / 2 + whole / 2 * jitter)


def forgiven(failures: int, since_ms: int, now_ms: int) -> int:
    """What is left at `now_ms` of `failures`; the rest after the last of them ended at `since_ms`."""
    return max(0, failures - max(0, now_ms - since_ms) // FORGIVE_MS)
