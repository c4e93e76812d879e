"""A whole crawl on a virtual clock: workers fetch, die, hang, report late; an account apart checks the promises."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from frontier import Candidate, Frontier, FrontierConfig, Kind, Lease, Outcome, RobotsRecord
from frontier.outcomes import OUTCOMES
from tests.contract.frontier.conftest import Clock

STEP_MS = 250
BUSY_MS = 9_000
"""What a server that is busy asks for."""
SLOW_MS = 4_500
"""Crawl-delay of every third host, where there is one at all."""


@dataclass
class World:
    """What a simulation is made of; shares of leases that end badly in `faults`. Hosts change their addresses each
    `moves_s` seconds (0: never); every third one's robots.txt has a Crawl-delay when there are `crawl_delays`."""

    hosts: int = 20
    pages: int = 5
    addresses: int = 7
    seconds: int = 120
    batch: int = 16
    moves_s: int = 0
    crawl_delays: bool = False
    faults: dict[str, float] = field(default_factory=dict)


class Simulation:
    """Run with :meth:`run`; raises AssertionError at the first broken promise."""

    def __init__(self, frontier: Frontier, config: FrontierConfig, clock: Clock, world: World, seed: int) -> None:
        self.frontier, self.config, self.clock, self.world = frontier, config, clock, world
        self.rng = random.Random(seed)
        self.open: list[tuple[int, Lease, str, str, int]] = []  # end, lease, its address, fate, fetch time
        self.holders: dict[str, tuple[str, int, int]] = {}  # authority or address -> token, expiry, delay after that
        self.free_ms: dict[str, int] = {}
        self.delays_ms: dict[str, int] = {}  # what this crawl has read in robots.txt
        self.fetch_ms: dict[str, int] = {}  # of the last answer
        self.urls = {f"http://h{h}.example/{p}" for h in range(world.hosts) for p in range(world.pages)}
        self.finished: Counter[str] = Counter()
        self.grants = 0

    def run(self) -> None:
        """All of it."""
        run_together([self])

    def start(self) -> None:
        """Take the URLs in."""
        self.frontier.take_in([Candidate(url, score=self.rng.random()) for url in sorted(self.urls)])

    def step(self) -> None:
        """Report what has ended, and begin all that may be begun."""
        self.finish_due()
        while leases := self.frontier.lease(self.world.batch, ahead_ms=100).leases:
            for lease in leases:
                self.begin(lease)

    def address_of(self, lease: Lease) -> str:
        """Where the lease's host lives now."""
        home = 0 if not self.world.moves_s else self.clock.now_ms // (1000 * self.world.moves_s)
        return f"192.0.2.{zlib.crc32(f'{lease.authority} {home}'.encode()) % self.world.addresses}"

    def begin(self, lease: Lease) -> None:
        """Check a grant, bind it, and draw its fate."""
        self.grants += 1
        self.check(lease.authority, lease.due_ms, lease)
        due_ms = lease.due_ms
        address = lease.address or self.address_of(lease)
        if not lease.address:
            bound = self.frontier.bind(lease.token, address)
            if not bound.granted:
                del self.holders[lease.authority]
                return
            due_ms = bound.due_ms
        self.check("@" + address, due_ms, lease)
        fate = "ok"
        for name, share in self.world.faults.items():
            if self.rng.random() < share:
                fate = name
        fetch_ms = self.rng.choice((20, 150, 700, 4000))
        if fate == "release":
            assert self.frontier.release([lease.token]) == 1
            self.let_go(lease, address, None)
            return
        self.open.append((due_ms + fetch_ms, lease, address, fate, fetch_ms))

    def check(self, name: str, due_ms: int, lease: Lease) -> None:
        """Nobody else holds it, and it has rested."""
        holder, expires_ms, delay_ms = self.holders.get(name, ("", 0, 0))
        assert not holder or expires_ms <= self.clock.now_ms, (name, holder, lease)
        own_ms = self.delay_ms(name, lease)
        if holder:  # expired: it rests from then, a host as long as either crawl knows that it must
            delay_ms = delay_ms if name[0] == "@" else max(delay_ms, own_ms)
            self.free_ms[name] = max(self.free_ms.get(name, 0), expires_ms + delay_ms)
        assert due_ms >= self.free_ms.get(name, 0), (name, lease)
        self.holders[name] = (lease.token, lease.expires_ms, own_ms)

    def delay_ms(self, name: str, lease: Lease) -> int:
        """What this crawl has to keep after an answer of the lease's host, at the host or at its address."""
        adaptive_ms = int(self.config.delay_factor * self.fetch_ms.get(lease.authority, 0))
        if name[0] == "@":
            return max(self.config.address_delay_ms, adaptive_ms)
        return max(self.config.delay_ms, self.delays_ms.get(name, 0), adaptive_ms)

    def finish_due(self) -> None:
        """Report what has ended, as its fate wills."""
        ended = [entry for entry in self.open if entry[0] <= self.clock.now_ms]
        self.open = [entry for entry in self.open if entry[0] > self.clock.now_ms]
        for end_ms, lease, address, fate, fetch_ms in ended:
            if fate == "killed":
                continue
            if fate == "late":
                self.open.append((lease.expires_ms + 5000, lease, address, "too late", fetch_ms))
                continue
            if self.report(lease, fate, end_ms, fetch_ms):
                self.let_go(lease, address, end_ms if fate not in OUTCOMES or OUTCOMES[fate].sent else None)

    def report(self, lease: Lease, fate: str, end_ms: int, fetch_ms: int) -> bool:
        """Whether it was accepted."""
        result = "http_503" if fate == "busy" else fate if fate in OUTCOMES else "ok"
        robots = self.rules_of(lease) if lease.kind is Kind.ROBOTS and result == "ok" else None
        ago_ms = self.clock.now_ms - end_ms
        after_ms = BUSY_MS if fate == "busy" else None
        outcome = Outcome(
            lease.token, result, fetch_ms=fetch_ms, ended_ago_ms=ago_ms, robots=robots, retry_after_ms=after_ms
        )
        accepted = self.frontier.report([outcome])
        assert accepted == [fate != "too late"], (fate, lease)
        if accepted == [True] and OUTCOMES[result].sent:
            self.fetch_ms[lease.authority] = fetch_ms
            if robots and robots.body:
                self.delays_ms[lease.authority] = SLOW_MS
        if fate == "busy":
            self.free_ms[lease.authority] = max(self.free_ms.get(lease.authority, 0), end_ms + BUSY_MS)
        if accepted == [True] and lease.kind is Kind.PAGE and result in ("ok", "robots_denied"):
            self.finished[lease.url] += 1
        return accepted == [True]

    def rules_of(self, lease: Lease) -> RobotsRecord:
        """The robots.txt of its host."""
        if not self.world.crawl_delays or zlib.crc32(lease.authority.encode()) % 3:
            return RobotsRecord("allow")
        return RobotsRecord("rules", f"User-agent: *\nCrawl-delay: {SLOW_MS / 1000}\n".encode())

    def let_go(self, lease: Lease, address: str, end_ms: int | None) -> None:
        for name in (lease.authority, "@" + address):
            del self.holders[name]
            if end_ms is not None:
                self.free_ms[name] = max(self.free_ms.get(name, 0), end_ms + self.delay_ms(name, lease))

    def account(self) -> None:
        """Each URL is done once, or still here, or given up."""
        assert set(self.finished.values()) <= {1}
        status = self.frontier.status()
        # robots leases hold no URL, so those that are out may make the right side larger
        gave_up = sum(number for name, number in status.results.items() if name.startswith("gave_up:"))
        here = status.queued + status.parked
        missing = len(self.urls) - len(self.finished) - gave_up - here
        assert 0 <= missing <= status.leased


def run_together(simulations: Sequence[Simulation]) -> None:
    """Crawls of one world, which ask the same hosts; the first one's seconds, draws and account of these count."""
    first = simulations[0]
    for simulation in simulations:
        simulation.holders, simulation.free_ms = first.holders, first.free_ms
        simulation.start()
    end_ms = first.clock.now_ms + first.world.seconds * 1000
    while first.clock.now_ms < end_ms:
        for simulation in first.rng.sample(simulations, len(simulations)) if len(simulations) > 1 else simulations:
            simulation.step()
        first.clock.forward(STEP_MS)
    for simulation in simulations:
        simulation.account()
