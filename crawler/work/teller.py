"""What a reported page leaves to be told: to other crawls that its turn has ended, to people its figures, to the fleet
what the policy has learnt of it; and what waits is scored anew by that.

None of it keeps the next pages from being stored and reported, which matters where Redis is far. A worker that is
killed in between costs a few figures; its turns end by themselves.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from crawler.pages.findings import Finding, Finished
from crawler.pages.rescoring import Rescorer
from crawler.records.provenance import Sources
from crawler.work.loops import in_thread, pause
from crawler.work.patience import Patience
from frontier.errors import FrontierFull, FrontierUnavailable
from frontier.redis_frontier import RedisFrontier
from frontier.types import Counts, Lease, Once
from relevance.steering.policy import Policy
from seeds.harvest import stats as harvest_stats

logger = logging.getLogger(__name__)
T = TypeVar("T")

_EVERY_S = 0.03
_LONGEST_WAIT_S = 0.2
_MOST_UNTOLD = 500


@dataclass(frozen=True, slots=True)
class Reported:
    """What is left of a finished lease whose report was accepted; its answer is not."""

    lease: Lease
    finding: Finding
    fetched_bytes: int

    @classmethod
    def of(cls, done: Finished) -> Reported:
        """Of a lease that the frontier took as this worker's."""
        return cls(done.lease, done.finding, fetched_bytes(done))


class Teller:
    """See the module. `policy` is asked in the thread of the loop, which teaches it; `scores`: whether links are scored
    at all."""

    def __init__(
        self, frontier: RedisFrontier, sources: Sources, policy: Policy, patiently: Patience, *, scores: bool
    ) -> None:
        self._frontier = frontier
        self._sources = sources
        self._policy = policy
        self.patiently = patiently
        self._rescorer = Rescorer(policy, frontier) if scores else None
        self._reported: list[Reported] = []
        self._to_tell = asyncio.Event()
        self._ended = False
        self._untold = 0  # pages, at a stop
        self._name, self._numbers = secrets.token_hex(8), itertools.count(1)  # of what is added up
        self._polls_of = ""  # the day that polls were last counted for

    @property
    def is_behind(self) -> bool:
        """Whether so much waits to be told, of a Redis that is full, say, that no more pages are to be reported."""
        return len(self._reported) >= _MOST_UNTOLD

    def note(self, reported: Iterable[Reported]) -> None:
        """To be told with the next round."""
        self._reported.extend(reported)
        self._to_tell.set()

    def end(self) -> None:
        """Nothing more is noted: :meth:`run` returns when all is told."""
        self._ended = True
        self._to_tell.set()

    async def run(self) -> None:
        """Tell what is noted, until :meth:`end`."""
        with ThreadPoolExecutor(1, thread_name_prefix="tell") as thread:
            while True:
                await pause(self._to_tell, _LONGEST_WAIT_S)
                is_last = self._ended
                reported, self._reported = self._reported, []
                if self._untold and reported:  # Redis is not waited for once more
                    self._untold += len(reported)
                    # But other crawls wait for what only now was reported, as for a lease.
                    await in_thread(thread, self._frontier.tell_others)
                elif reported:
                    await self._round(thread, reported)
                if is_last:
                    break
                await asyncio.sleep(_EVERY_S)
        if self._untold:
            logger.warning("Stopped with the figures of %d pages not added up", self._untold)

    async def _round(self, thread: ThreadPoolExecutor, reported: Sequence[Reported]) -> None:
        learnt = self._policy.deltas()
        try:
            totals = await in_thread(thread, lambda: self.tell(reported, learnt))
        except (FrontierUnavailable, FrontierFull):
            # Only when the worker is told to stop while it waits for them (see Patience).
            self._untold = len(reported)
            return
        self._policy.absorb(totals)
        if self._rescorer is not None:
            rescorer = self._rescorer
            await in_thread(thread, lambda: _rescore(rescorer, reported))

    def tell(self, reported: Sequence[Reported], learnt: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """Tell of these pages, and what the policy has `learnt`; the fleet's totals of the same keys."""
        tables = {**self._figures(reported), "yield": learnt}
        once = Once(self._name, next(self._numbers))
        return self._patiently(lambda: self._frontier.add_counts(tables, once))["yield"]

    def _patiently(self, action: Callable[[], T]) -> T:
        """Others hear first, at each try: a Redis that is full takes reports and ends turns, and no figures."""

        def told() -> T:
            self._frontier.tell_others()
            return action()

        return self.patiently(told)

    def _figures(self, reported: Sequence[Reported]) -> dict[str, Counts]:
        """By the names of their tables."""
        hosts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        languages: Counter[str] = Counter()
        for done in reported:
            verdict, row = done.finding.verdict, hosts[str(done.lease.authority)]
            row[0] += done.fetched_bytes > 0  # without an answer nothing was fetched
            row[2] += done.fetched_bytes
            if verdict is not None:
                row[1] += verdict.keep
                row[3] += verdict.words
                languages[f"{'kept' if verdict.keep else 'left'}:{verdict.language}"] += 1
        polls = self._by_feed(harvest_stats.together(done.finding.feed_counts for done in reported))
        outcomes = Counter(f"{done.lease.kind}:{done.finding.result}" for done in reported)
        return {
            "hosts": {host: tuple(row) for host, row in hosts.items()},
            "languages": {language: (n,) for language, n in languages.items()},
            self._day_of(polls): polls,
            "outcomes": {outcome: (n,) for outcome, n in outcomes.items()},
        }

    def _day_of(self, polls: Mapping[str, tuple[int, ...]]) -> str:
        """The table of the day's counts of feeds; with the first of a day those of long ago are forgotten."""
        now_ms = self._frontier.date_ms()  # one day for all workers, whatever their clocks say
        day = harvest_stats.counter_name(now_ms)
        if polls and day != self._polls_of:
            self._patiently(lambda: self._frontier.forget_counts(harvest_stats.stale_names(now_ms)))
            self._polls_of = day
        return day

    def _by_feed(self, counts: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """Counts under feeds' URLs; those of pages come under a tag, and of a tag whose URL is forgotten they go."""
        tags = {name for name in counts if "://" not in name}
        urls = self._sources.urls(tags)
        named = ((urls.get(name) if name in tags else name, figures) for name, figures in counts.items())
        return harvest_stats.together({name: figures} for name, figures in named if name)


def fetched_bytes(done: Finished) -> int:
    """Bytes of the answer, head and payload as transferred."""
    answer = done.capture.answer if done.capture else None
    return len(answer.head) + len(answer.body) if answer else 0


def _rescore(rescorer: Rescorer, reported: Sequence[Reported]) -> None:
    rescorer.found(link.url for done in reported for link in done.finding.links)
    rescorer.pages([done.lease.authority for done in reported if done.finding.verdict is not None])
