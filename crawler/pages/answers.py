"""What an HTTP answer, or a failure, means for the crawl: pure functions from facts to findings."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime

from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response

from archive.storage.unpack import GZ_MAGIC
from crawler.fetch.connection import ABSENT, BUSY
from crawler.fetch.errors import FetchError, NotGrantedError, OptedOutError
from crawler.fetch.unpacking import codings
from crawler.pages.findings import Finding
from frontier.errors import FrontierUnavailable, OptOutsDamaged
from frontier.outcomes import DAY, RETRY_AFTER_CAP_MS
from frontier.robots import LONGEST_BYTES
from frontier.types import Kind, Lease, RobotsRecord
from relevance.pages.head import refresh_target
from relevance.pages.robots_tag import robots_tag
from sieve.urls import resolve_many

Clock = Callable[[], int]
"""Gives epoch milliseconds."""
PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "")
"""Media types that are read as a page; "": none was told."""
_UNCLEAR_CAP_MS = DAY
_NO_CONTENT_KEPT = frozenset({"noindex", "none", "noarchive"})
_NO_LINKS_FOLLOWED = frozenset({"nofollow", "none"})
_SECONDS = re.compile(r"\d+(?:[ \t]*,[ \t]*\d+)*", re.A)
"""Also of several headers that a proxy has made one (RFC 9110 5.3)."""
_WHOLE_RANGE = re.compile(r"bytes 0+-(\d{1,18})/(\d{1,18})", re.IGNORECASE)


class RobotsDeniedError(IgnoreRequest):
    """The host's robots.txt does not allow this URL, or there is no record to ask."""


class OutsideFrontierError(IgnoreRequest):
    """A request that was given to the downloader directly, as Scrapy's pipelines for files and images do: no delay and
    no robots.txt would be held to."""


def result_of(response: Response) -> str:
    """The outcome name of an answer, by its status."""
    status = response.status
    # What else is too large is first of all what its status says: a host that is busy rests, however much it sends.
    if 200 <= status < 300 and "truncated" in response.flags:
        return "too_large"
    if status == 206 and not _has_all(response):
        return "part"
    if 200 <= status < 300:
        return "ok"
    if status == 304:
        return "not_modified"
    if 300 <= status < 400:
        return "redirect" if response.headers.get("Location") else "http_other"
    if status in (404, 410, 429, 503):
        return f"http_{status}"
    return {4: "http_4xx", 5: "http_5xx"}.get(status // 100, "http_other")


def _has_all(response: Response) -> bool:
    """Whether a 206, which we never ask for (RFC 9110 15.3.7), has all of what was asked for all the same."""
    found = _WHOLE_RANGE.fullmatch(header(response, "Content-Range"))
    return found is not None and int(found[1]) + 1 == int(found[2])


def system_ms() -> int:
    """By this machine's clock of the day."""
    return time.time_ns() // 1_000_000


def retry_after_ms(response: Response, now_ms: Clock = system_ms) -> int | None:
    """``Retry-After`` of an answer that refuses, in milliseconds from the answer on, as it holds for its host; None
    without one that names a time to come: a server that is busy and says "now" has not said when. At most what the
    frontier waits; see :func:`of_host_ms`.

    `now_ms`: the clock that a date is held against where the server does not tell its own; a worker's may be wrong.
    """
    return of_host_ms(response.status, page_wait_ms(response, now_ms))


def of_host_ms(status: int, wait_ms: int | None) -> int | None:
    """How much of a Retry-After of `wait_ms` holds for the whole host.

    RFC 9110 10.2.3 says of what it speaks with 503 only, the service, and 429 is about the client's requests: all of
    it. That a page is missing or gone (404, 410) says nothing of others, and some servers put a Retry-After into every
    answer of their own: nothing. With any other refusal it may mean the page or the client: it is obeyed, for a day at
    most, after which one request tells more.
    """
    if wait_ms is None or status in ABSENT:
        return None
    return wait_ms if status in BUSY else min(_UNCLEAR_CAP_MS, wait_ms)


def page_wait_ms(response: Response, now_ms: Clock = system_ms) -> int | None:
    """``Retry-After`` of an answer that refuses, of whatever status, as it holds for what was asked for."""
    return _told_ms(response, now_ms) if response.status >= 400 else None


def redirect_wait_ms(response: Response, now_ms: Clock = system_ms) -> int:
    """The same of a redirect: until its target may be asked for; 0: at once."""
    return _told_ms(response, now_ms) or 0


def _told_ms(response: Response, now_ms: Clock) -> int | None:
    """Of several the longest: a server and the proxy before it may each have one of its own."""
    values = (raw.decode("latin-1").strip() for raw in response.headers.getlist("Retry-After"))
    wait_s = max((_wait_s(response, value, now_ms) for value in values), default=0.0)
    return min(RETRY_AFTER_CAP_MS, round(wait_s * 1000)) if wait_s > 0 else None


def _wait_s(response: Response, value: str, now_ms: Clock) -> float:
    if _SECONDS.fullmatch(value):
        return min(RETRY_AFTER_CAP_MS / 1000, max(map(float, value.split(","))))
    wanted = instant(value)
    if wanted is None:
        return 0.0
    # Against the server's own clock when it tells it: ours may differ.
    now = instant(header(response, "Date"))
    return wanted - (now_ms() / 1000 if now is None else now)


def instant(value: str) -> float | None:
    """A header's date as epoch seconds; None when it is none. Without a zone, as asctime's are, it is UTC (RFC 9110
    5.6.7), wherever this machine stands."""
    try:
        found = parsedate_to_datetime(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def header(response: Response, name: str) -> str:
    """A header's value as text, a letter for each byte; "" without."""
    return (response.headers.get(name) or b"").decode("latin-1").strip()


def directives(response: Response, meta: frozenset[str], user_agent: str) -> frozenset[str]:
    """Lower-case directives for us in ``X-Robots-Tag`` and in the page's own robots meta tags."""
    values = [raw.decode("latin-1") for raw in response.headers.getlist("X-Robots-Tag")]
    return meta | robots_tag(values, user_agent)


def may_keep(said: frozenset[str]) -> bool:
    """Whether the page's own directives let it be kept."""
    return not said & _NO_CONTENT_KEPT


def may_follow(said: frozenset[str]) -> bool:
    """Whether the page's own directives let its links be followed."""
    return not said & _NO_LINKS_FOLLOWED


def failure_finding(error: BaseException, lease: Lease) -> Finding | None:
    """What it means that no usable answer came; None when the frontier has the lease back already.

    A frontier that cannot be reached, or whose opt-outs cannot be read, is no fault of the host; it is asked before
    anything is sent.
    Scrapy's own middlewares refuse an answer that unpacks to more than the limit with a plain IgnoreRequest. That
    something else was sent for a page, and refused, is the fault of who sent it.
    """
    if isinstance(error, NotGrantedError):
        return None
    if isinstance(error, FrontierUnavailable | OptOutsDamaged):
        return Finding("released")
    if isinstance(error, RobotsDeniedError):
        return Finding("robots_denied")
    if isinstance(error, OptedOutError) and lease.kind is Kind.ROBOTS and not lease.hops:
        return Finding("released")  # the frontier, which has it back, forgets all that waits of the host
    if isinstance(error, FetchError):
        if lease.kind is Kind.ROBOTS and error.outcome == "refused_address":
            # Not the host's fault, and not one that passes soon.
            return Finding("robots_unreachable", retry_after_ms=DAY, metadata={"error": str(error)})
        return Finding(error.outcome, metadata={"error": str(error)})
    if isinstance(error, IgnoreRequest) and not isinstance(error, OutsideFrontierError):
        return Finding("too_large", metadata={"error": str(error)})
    return Finding("protocol", metadata={"error": f"{type(error).__name__}: {error}"})


def location_of(response: Response) -> str:
    """The absolute target of a redirect, as a browser finds it; "" when it is none that can be fetched.

    Joined to the URL that was asked (RFC 9110 10.2.2), never to a ``<base>`` of the answer's page. What is not ASCII
    is UTF-8 where it can be.
    """
    location = _address(response, "Location")
    return resolve_many([location], response.url)[0] or "" if location else ""


def refresh_of(response: Response) -> str:
    """Where a ``Refresh`` header leads, as written: what a meta element of that name says, said by a script."""
    return refresh_target(_address(response, "Refresh"))


def _address(response: Response, name: str) -> str:
    raw = (response.headers.get(name) or b"").strip()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def lease_of(request: Request) -> Lease | None:
    """The lease on which `request` runs, or of the page whose `meta` it copies; None for any other request, also one
    whose spider calls something of its own a lease."""
    lease = request.meta.get("lease")
    return lease if isinstance(lease, Lease) else None


def lacks_rules(response: Response) -> bool:
    """Whether an answer for robots.txt has less of it than is read: it is a part, was cut (``DOWNLOAD_MAXSIZE``) before
    its first 500 KiB were there, or is still packed (``COMPRESSION_ENABLED`` is off)."""
    was_cut = "truncated" in response.flags and len(response.body) <= LONGEST_BYTES
    return was_cut or bool(codings(response)) or result_of(response) == "part"


def record_of(response: Response, max_age_ms: int) -> RobotsRecord | None:
    """What an answer for robots.txt means; None for a redirect, whose target has to be asked (RFC 9309 2.3.1)."""
    if 300 <= response.status < 400 and response.headers.get("Location"):
        return None
    record = robots_record(response.status, response.body, whole=not lacks_rules(response))
    return replace(record, expires_in_ms=max_age_ms)


def robots_record(status: int, body: bytes, *, whole: bool) -> RobotsRecord:
    """The same of one that is no redirect. `whole`: it has all of its rules; what some allow, the rest may forbid.

    Of a file that is too long (RFC 9309 2.5) a byte more is kept than counts: it says that the last line may be cut.
    """
    # A packed file under the name of a plain one: read as text it has no rules, whatever its owner wrote.
    if 200 <= status < 300 and whole and not body.startswith(GZ_MAGIC):
        return RobotsRecord("rules", body[: LONGEST_BYTES + 1])
    # 429 is a refusal for now, not the absence of rules: treated as unreachable, like 5xx.
    return RobotsRecord("allow" if 400 <= status < 500 and status != 429 else "disallow")
