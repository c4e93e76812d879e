"""How good the text of kept pages is, and how much of one kind is taken from a host.

Flags are those of relevance.pages.quality, and "near_duplicate": its main text is nearly that of another page of the
host that was kept. A crawl can cap the flags it names (``RELEVANCE_CAPPED``, ``RELEVANCE_CAP``): what comes beyond is
left with the reason "capped_FLAG". A page that differs from a kept one in numbers only is left as "near_identical".

What was kept is shared by the fleet (kept_log), across restarts too. A page is judged twice: when it was fetched, by
what this worker knows (`look`), and when it is stored (`settle`), which is final: first its counts are claimed in Redis
and the entries of other workers are read. So a fleet never keeps more of a host than the cap says. A page that only
`settle` finds to be one too many has had its links ranked as a kept page's. A worker that is killed between claim and
report leaves the cap so many pages short. While Redis is away pages are judged by what the worker knows and stored when
it is back, like all pages; while it is full other workers do not learn what is kept.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from crawler.pages.findings import Finished
from crawler.pages.kept_log import KeptLog, LogUpdate
from crawler.pages.known_texts import KnownTexts, Likeness, log_entry
from frontier.types import Lease
from relevance.pages.page import Page
from relevance.pages.quality import FLAGS, Quality, quality
from relevance.steering.policy import Verdict

NEAR_DUPLICATE = "near_duplicate"
NEAR_IDENTICAL = "near_identical"
"""Reason for which a page is left that differs from another in numbers only."""
ALL_FLAGS = (*FLAGS, NEAR_DUPLICATE)
_MOST_COUNTS = 1 << 16
_Claim = tuple[Finished, str]
Patiently = Callable[[Callable[[], LogUpdate | None]], LogUpdate | None]


class QualityCaps:
    """See the module. `most` 0: nothing is capped. `look` may run beside `settle` in another thread."""

    def __init__(self, log: KeptLog, capped: Collection[str], most: int) -> None:
        self._log = log
        self._capped = frozenset(capped)
        self._most = most
        self._texts = KnownTexts()
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)  # of what is published

    def look(self, lease: Lease, page: Page, verdict: Verdict, fetched_before: bool) -> tuple[Verdict, Quality | None]:
        """The verdict on a page, which is now to leave it if it is known to be one too many of its host; and its
        quality, None when `verdict` does not keep it. A page that was `fetched_before` is not capped any more."""
        if not verdict.keep:
            return verdict, None
        found = quality(page)
        with self._lock:
            found = _with_likeness(found, self._texts.likeness(log_entry(lease, found.simhash, b"")))
            fields = {flag: _field(flag, lease.authority) for flag in sorted(found.flags & self._capped)}
            over = [flag for flag, field in fields.items() if self._counts.get(field, 0) >= self._most > 0]
        return _left(verdict, f"capped_{over[0]}") if over and not fetched_before else verdict, found

    def repeats(self, lease: Lease, mark: bytes, *, met: bool = False) -> bool:
        """Whether another page of the host with this mark was kept; or was `met` by this worker, unless it is this page
        that the fleet keeps of those."""
        if not mark:
            return False
        with self._lock:
            alike = self._texts.likeness(log_entry(lease, 0, mark))
        return alike.equal or (met and not alike.own)

    def settle(self, batch: Sequence[Finished], patiently: Patiently) -> None:
        """The final verdict on pages that are to be stored: claims what they count for, and changes the findings of
        those that are one too many. At most three round trips, mostly one; none without a page that is kept.
        `patiently` makes a call, and makes it again while it raises FrontierUnavailable."""
        kept = [done for done in batch if _quality(done)]
        if not kept:
            return
        claims = [(done, flag) for done in kept if (found := _quality(done)) for flag in sorted(found.flags)]
        self._claim(claims, patiently, b"".join(map(_entry, kept)))
        if late := self._compare(kept):
            self._claim(late, patiently)
        self.give_back([done for done in kept if not _quality(done)], patiently)

    def give_back(self, pages: Iterable[Finished], patiently: Patiently) -> None:
        """Take back what was claimed for pages that are not kept after all, or whose report the frontier has not
        accepted: another worker will fetch them, and count them."""
        if counts := {field: -number for field, number in Counter(_unclaim(pages)).items()}:
            self._apply(self._publish(b"", counts, patiently), counts)

    def _publish(self, entries: bytes, counts: Mapping[str, int], patiently: Patiently) -> LogUpdate | None:
        number = next(self._numbers)
        return patiently(lambda: self._log.publish(entries, counts, number))

    def close(self) -> None:
        """Give the connection back."""
        self._log.close()

    def _claim(self, claims: Sequence[_Claim], patiently: Patiently, entries: bytes = b"") -> None:
        """Count for each page its flag, and leave those that are too many."""
        counts = Counter(_field(flag, done.lease.authority) for done, flag in claims)
        update = self._publish(entries, counts, patiently)
        totals = self._apply(update, counts)
        number = {field: totals[field] - count for field, count in counts.items()}
        for done, flag in claims:
            field = _field(flag, done.lease.authority)
            number[field] += 1
            if update is not None:
                done.finding.claimed += (field,)
            if number[field] > self._most > 0 and flag in self._capped and _quality(done):
                _leave(done, f"capped_{flag}")

    def _apply(self, update: LogUpdate | None, counts: Mapping[str, int]) -> dict[str, int]:
        """The fleet's totals after adding `counts`; this worker's own where Redis was full."""
        with self._lock:
            if update is not None:
                self._texts.apply(update)
            totals = {
                field: update.counts[field] if update else self._counts.get(field, 0) + number
                for field, number in counts.items()
            }
            for field, total in totals.items():
                self._counts[field] = total
                self._counts.move_to_end(field)
            while len(self._counts) > _MOST_COUNTS:
                self._counts.popitem(last=False)
            return totals

    def _compare(self, kept: Sequence[Finished]) -> list[_Claim]:
        """Compare pages with those that other workers have kept meanwhile, and add them to what is known. Those that
        differ from another in numbers only are left; returned are the claims of those that only now turn out to be
        near-duplicates."""
        late = []
        with self._lock:
            for done in kept:
                alike, before = self._texts.likeness(_entry(done)), _quality(done)
                if before is None:
                    continue
                if alike.equal:
                    _leave(done, NEAR_IDENTICAL)
                    continue
                self._texts.add(_entry(done))
                if (found := _with_likeness(before, alike)).flags != before.flags:
                    done.finding.quality = found
                    done.finding.metadata = {**done.finding.metadata, **quality_fields(found)}
                    late.append((done, NEAR_DUPLICATE))
        return late


def _with_likeness(found: Quality, alike: Likeness) -> Quality:
    """With the flag near_duplicate, when it is one."""
    if alike.bits is None:
        return found
    return replace(found, flags=found.flags | {NEAR_DUPLICATE}, terms={**found.terms, "differing_bits": alike.bits})


def quality_fields(found: Quality) -> dict[str, object]:
    """What a page's metadata record says of its quality."""
    return {
        "quality": sorted(found.flags),
        "quality-terms": dict(found.terms),
        "simhash": f"{found.simhash:016x}",
    }


def _field(flag: str, authority: str) -> str:
    return f"{flag} {authority}"


def _unclaim(pages: Iterable[Finished]) -> Iterator[str]:
    for done in pages:
        yield from done.finding.claimed
        done.finding.claimed = ()


def _entry(done: Finished) -> bytes:
    found = done.finding.quality
    return log_entry(done.lease, found.simhash if found else 0, done.finding.page_mark)


def _quality(done: Finished) -> Quality | None:
    """Of a page that is kept, and is so for the first time; else None."""
    finding = done.finding
    return finding.quality if finding.verdict is not None and finding.verdict.keep else None


def _left(verdict: Verdict, reason: str) -> Verdict:
    return replace(verdict, keep=False, reason=reason, words=0)


def _leave(done: Finished, reason: str) -> None:
    finding = done.finding
    assert finding.verdict is not None
    finding.verdict = verdict = _left(finding.verdict, reason)
    said = {"verdict": "leave", "verdict-reason": verdict.reason, "target-words": verdict.words}
    finding.metadata = {**finding.metadata, **said}
