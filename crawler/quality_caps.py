"""How good the text of kept pages is, and how much of one kind is taken from a host.

Flags are those of relevance.quality, and "near_duplicate": its main text is nearly that of another page of the host
which this worker has kept. A crawl can cap the flags it names (``RELEVANCE_CAPPED``, ``RELEVANCE_CAP``): what comes
beyond is left with the reason "capped_FLAG". Counts are this worker's own, so a fleet takes at most so many a worker;
hosts not met for long are forgotten.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from relevance.page import Page
from relevance.policy import Verdict
from relevance.quality import FLAGS, Quality, quality
from relevance.simhash import NearDuplicates

NEAR_DUPLICATE = "near_duplicate"
ALL_FLAGS = (*FLAGS, NEAR_DUPLICATE)
_MOST_PAGES = 20_000


@dataclass(slots=True)
class _Host:
    """What was kept of one host."""

    texts: NearDuplicates = field(default_factory=NearDuplicates)
    pages: int = 0
    flagged: Counter[str] = field(default_factory=Counter)


class QualityCaps:
    """See the module. `most` 0: nothing is capped."""

    def __init__(self, capped: Collection[str], most: int) -> None:
        self._capped = frozenset(capped)
        self._most = most
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._pages = 0

    def look(self, authority: str, page: Page, verdict: Verdict, again: bool) -> tuple[Verdict, Quality | None]:
        """The verdict on a page of a host, left if it is one too many; and its quality, None when it was not kept.
        again: it was kept before, so it is no duplicate for being like itself, and not counted."""
        if not verdict.keep:
            return verdict, None
        found = quality(page)
        if again:
            return verdict, found
        host = self._host(authority)
        if found.simhash and host.texts.add(found.simhash) is not None:
            found = replace(found, flags=found.flags | {NEAR_DUPLICATE})
        over = [flag for flag in sorted(found.flags & self._capped) if host.flagged[flag] >= self._most > 0]
        if over:
            return replace(verdict, keep=False, reason=f"capped_{over[0]}", words=0), found
        host.flagged.update(found.flags)
        return verdict, found

    def _host(self, authority: str) -> _Host:
        host = self._hosts.pop(authority, None) or _Host()
        self._hosts[authority] = host
        host.pages += 1
        self._pages += 1
        while self._pages > _MOST_PAGES and len(self._hosts) > 1:
            self._pages -= self._hosts.popitem(last=False)[1].pages
        return host
