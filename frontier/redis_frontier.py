"""The fleet's frontier: all state in one Redis (6.2 or later, Valkey, a Cluster's slot), a Lua script a transition.

Guarantees: the contract of :mod:`frontier.types` for any number of workers on any number of machines. Time is Redis'
own, less what it was set by (lua/_clock.lua), so no clocks matter. What Redis answered is never taken back when a
process is killed; what it loses itself (a machine without power, ``appendfsync everysec``) is at most its last second.

Here only this module, `answering`, `turns` and `redis_opt_outs` import redis. Errors: FrontierUnavailable when Redis
does not answer (also while it loads or takes no writes), FrontierFull from the intake at its limit; others as is."""

from __future__ import annotations

import itertools
import random
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import redis

from frontier import admin, intake, opt_outs, payload, reports, rescoring, scripts, wire
from frontier.answering import answering, connected, text_of
from frontier.audit import AuditRow
from frontier.clock_line import ClockLine, TellsTime, uptime_ms
from frontier.config import FrontierConfig
from frontier.errors import OptOutsDamaged
from frontier.keys import Keys
from frontier.redis_opt_outs import RedisOptOuts, paths_at
from frontier.types import (
    BANDS,
    Bound,
    Candidate,
    Counts,
    Explanation,
    FrontierStatus,
    Grant,
    HostPolicy,
    HostState,
    Once,
    Outcome,
    Queued,
    RobotsRecord,
    Totals,
    Waiting,
)

MOST_LEASES = 1000
INTAKE_BATCH = 2000
_READY_BATCHES = 256
_HOSTS_A_LOOK = 16  # hosts whose queues are read in one call: a long queue is long in all bands, and everybody waits


class RedisFrontier(TellsTime):
    """See the module. `server`: a client (decode_responses off) or a URL; `now_ms` and `jitter` are for tests."""

    def __init__(
        self,
        server: redis.Redis | str,
        crawl: str,
        config: FrontierConfig | None = None,
        *,
        now_ms: Callable[[], int] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.crawl = crawl
        self.config = config or FrontierConfig()
        self.keys = Keys(crawl)
        self._owned = isinstance(server, str)
        self._redis: Any = connected(server) if isinstance(server, str) else server
        self._opt_outs = (RedisOptOuts(self._redis, crawl), RedisOptOuts(self._redis, crawl, of_all=True))
        self._now_ms = now_ms
        self._jitter = jitter
        texts = {name: scripts.script_text(name, self.config) for name in scripts.PARTS}
        self._scripts = {name: self._redis.register_script(text) for name, text in texts.items()}
        self._ready_urls = 100.0
        self._line = ClockLine()

    def close(self) -> None:
        """Close the connection, if this object opened it; leases stay until released or expired."""
        if self._owned:
            self._redis.close()

    def _run(self, name: str, arguments: object) -> Any:
        args = [wire.encode(arguments), *self._moment()]
        with answering(self.crawl):
            return wire.decode(self._scripts[name](keys=[self.keys.meta], args=args))

    # -- intake ----------------------------------------------------------------------------------------------------

    def take_in(self, candidates: Iterable[Candidate]) -> int:
        """See :class:`frontier.types.Frontier`; in batches, so a failure may leave a first part taken in."""
        arrivals, refused = intake.arrivals(candidates, self.config)
        total = 0
        for start in range(0, len(arrivals), INTAKE_BATCH):
            total += self._take(wire.intake(arrivals[start : start + INTAKE_BATCH], refused))
            refused.clear()
        if refused:
            self._take(wire.intake([], refused))
        return total

    def has_ready(self) -> bool:
        """Whether anything waits for :meth:`take_ready`."""
        with answering(self.crawl):
            return bool(self._redis.exists(self.keys.ready))

    def moves(self) -> tuple[int, int]:
        """Numbers of the fleet's last lease and last intake: where both are as before, there was none since."""
        with answering(self.crawl):
            leases, intakes = self._redis.hmget(self.keys.meta, ["seq", "intakes"])
        return int(leases or 0), int(intakes or 0)

    def take_ready(self, limit: int = INTAKE_BATCH) -> int:
        """Move about `limit` URLs from the head of the sieve's ready queue, atomically; the number moved (0: none
        there, or another worker was quicker). Whole batches, one at least. Raises FrontierFull with nothing moved."""
        with answering(self.crawl):
            # no MULTI: at its memory limit Redis refuses to queue even reads; take_in.lua sees a count that moved on
            pipe = self._redis.pipeline(transaction=False)
            last = 2 * max(1, min(_READY_BATCHES, round(2 * limit / self._ready_urls))) - 1
            taken, elements = pipe.get(self.keys.ready_taken).lrange(self.keys.ready, 0, last).execute()
        entries: list[tuple[str, bytes]] = []
        number = 0
        for places, batch in zip(elements[::2], elements[1::2], strict=True):
            if entries and len(entries) + len(places) // 2 > limit:
                break
            entries += wire.ready_entries(places, batch)
            number += 2
        if not entries:
            return 0
        # next time twice as many batches are read as are likely to hold what is asked for
        self._ready_urls = 2 * len(entries) / number
        arrivals, refused = intake.packed_arrivals(entries, self.config)
        ready = {"ready": self.keys.ready, "taken": int(taken or 0), "number": number}
        return len(entries) if self._take(wire.intake(arrivals, refused, ready)) >= 0 else 0

    def _take(self, arguments: dict[str, object]) -> int:
        return int(self._run("take_in", arguments))

    # -- leases ----------------------------------------------------------------------------------------------------

    def lease(self, limit: int, ahead_ms: int = 0) -> Grant:
        """See :class:`frontier.types.Frontier`; at most :data:`MOST_LEASES` a call."""
        return self._grant(limit, ahead_ms)[0]

    def _grant(self, limit: int, ahead_ms: int) -> tuple[Grant, list[bytes]]:
        """The grant, and the records of its leases' hosts, for :func:`frontier.wire.delays_ms`."""
        key, asked = secrets.randbits(32), uptime_ms()  # half a token: a Redis that lost a second gives none twice
        arguments = {"limit": min(limit, MOST_LEASES), "ahead": ahead_ms, "key": key}
        leases, now, next_due, closed, damaged, ahead, late = self._run("lease", arguments)
        now_ms = int(now) if self._now_ms else self._line.note(asked, int(now), int(ahead), int(late))
        records = leases[1::2]
        found = tuple(wire.lease(name, record, key) for name, record in zip(leases[::2], records, strict=True))
        if damaged:
            self.release(lease.token for lease in found)
            raise OptOutsDamaged(*map(text_of, damaged))
        due_ms = int(next_due) if next_due >= 0 else None
        narrowed = self.config.budget.narrowed(closed.decode())
        if self.config.budget.requisites:
            spent = (narrowed or wire.had_its_pages(record) for record in records)
            found = tuple(replace(lease, uncounted=uncounted) for lease, uncounted in zip(found, spent, strict=True))
        return Grant(found, now_ms, due_ms, "" if narrowed else closed.decode(), int(ahead), narrowed), records

    def bind(self, token: str, address: str) -> Bound:
        """See :class:`frontier.types.Frontier`."""
        reports.check_address(address)
        granted, due_ms, reason = self._run("bind", [*wire.token_parts(token), address])
        return Bound(bool(granted), int(due_ms), reason.decode())

    def report(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """See :class:`frontier.types.Frontier`."""
        for outcome in outcomes:
            reports.check(outcome)
        answers: list[bool] = []
        for start in range(0, len(outcomes), MOST_LEASES):
            batch = outcomes[start : start + MOST_LEASES]
            arguments = wire.outcomes(batch, [self._jitter() for _ in batch], self.config)
            answers.extend(bool(answer) for answer in self._run("report", arguments))
        return answers

    def report_first(self, outcomes: Sequence[Outcome]) -> list[bool]:
        """As :meth:`report`; what other crawls are to hear of it waits for :meth:`tell_others`, which must follow."""
        return self.report(outcomes)

    def tell_others(self) -> None:
        """See :meth:`report_first`; for one thread, which need not be the one that reports."""

    def release(self, tokens: Iterable[str]) -> int:
        """See :class:`frontier.types.Frontier`."""
        held = [wire.token_parts(token) for token in tokens]
        return int(self._run("release", held)) if held else 0

    def accepted(self, tokens: Iterable[str]) -> set[str]:
        """See :class:`frontier.types.Frontier`."""
        places = [(token, wire.done_place(token)) for token in tokens]
        with answering(self.crawl):
            pipe = self._redis.pipeline(transaction=False)
            for _, (chunk, bit) in places:
                pipe.getbit(self.keys.done(chunk), bit)
            return {token for (token, _), bit in zip(places, pipe.execute(), strict=True) if bit}

    # -- robots and rules --------------------------------------------------------------------------------------------

    def get_robots(self, authority: str) -> RobotsRecord | None:
        """See :class:`frontier.types.Frontier`."""
        with answering(self.crawl):
            data = self._redis.get(self.keys.robots(authority))
        if data is None:
            # Redis may have dropped it by a clock that was set; its host's record must not go by it any more.
            self._run("set_host", ["robots_gone", authority, []])
            return None
        kind, body, fetched_ms, expires_ms = wire.decode(data)
        left_ms = int(expires_ms) - self.now_ms()
        return RobotsRecord(kind.decode(), body, int(fetched_ms), left_ms) if left_ms > 0 else None

    def configure(self, policies: Mapping[str, HostPolicy]) -> None:
        """See :class:`frontier.types.Frontier`; a round trip for a hundred."""
        for batch in wire.policies(policies):
            self._run("configure", batch)

    def configured(self) -> list[str]:
        """See :class:`frontier.types.Frontier`."""
        with answering(self.crawl):
            return sorted(map(text_of, self._redis.smembers(self.keys.configured)))

    def opt_out(self, prefixes: Iterable[str], *, all_crawls: bool = False) -> int:
        """See :class:`frontier.types.Frontier`; OptOutsElsewhere."""
        return self._opt_outs[all_crawls].add(prefixes)

    def withdraw_opt_out(self, prefix: str, *, all_crawls: bool = False) -> int:
        """See :class:`frontier.types.Frontier`; OptOutsElsewhere."""
        return self._opt_outs[all_crawls].withdraw(prefix)

    def opted_out(self, *, all_crawls: bool = False) -> list[str]:
        """See :class:`frontier.types.Frontier`; OptOutsElsewhere."""
        return self._opt_outs[all_crawls].listed()

    def opted_out_by(self, url: str) -> str:
        """See :class:`frontier.types.Frontier`."""
        return opt_outs.against(url, lambda host: paths_at(self._opt_outs, [host])[0])

    def wholly_opted_out(self, authorities: Sequence[str]) -> set[str]:
        """Those of which either table has all; in one call each."""
        paths = paths_at(self._opt_outs, authorities)
        return {host for host, found in zip(authorities, paths, strict=True) if "" in found}

    # -- for people --------------------------------------------------------------------------------------------------

    def park(self, authority: str, reason: str, for_ms: int) -> bool:
        """See :class:`frontier.types.Frontier`."""
        return bool(self._run("set_host", ["park", authority, [reason, for_ms]]))

    def unpark(self, authority: str) -> int:
        """See :class:`frontier.types.Frontier`; in calls of INTAKE_BATCH URLs, between which Redis serves others."""
        number, more = 0, False
        while queued := int(self._run("set_host", ["unpark", authority, [INTAKE_BATCH, more]])):
            number, more = number + queued, True
        return number

    def pause(self, authority: str) -> bool:
        """See :class:`frontier.types.Frontier`."""
        return bool(self._run("set_host", ["pause", authority, []]))

    def resume(self, authority: str) -> bool:
        """See :class:`frontier.types.Frontier`."""
        return bool(self._run("set_host", ["resume", authority, []]))

    def drop(self, authority: str) -> int:
        """See :class:`frontier.types.Frontier`."""
        return int(self._run("set_host", ["drop", authority, []]))

    def status(self) -> FrontierStatus:
        """See :class:`frontier.types.Frontier`."""
        keys = self.keys
        with answering(self.crawl):
            pipe = self._redis.pipeline(transaction=False)
            pipe.hgetall(keys.meta).zcount(keys.due, wire.LEASED, "inf").zrange(keys.unparks, 0, 0, withscores=True)
            pipe.llen(keys.new).llen(keys.known).hgetall(keys.reasons).hgetall(keys.results)
            now_ms = self.now_ms()
            pipe.zcard(keys.hot).zcount(keys.hot, "-inf", f"({wire.BAND_UNIT}").zcount(keys.due, "-inf", now_ms)
            meta, leased, first, new, known, reasons, results, in_line, best, due = pipe.execute()
        status = FrontierStatus(
            queued=int(meta.get(b"queued", 0)),
            due=new + in_line + due,
            leased=leased,
            parked=int(meta.get(b"parked", 0)),
            parked_until_ms_min=int(first[0][1]) if first else None,
            authorities=new + known,
            by_reason={text_of(name): int(number) for name, number in reasons.items()},
            results={text_of(name): int(number) for name, number in results.items()},
            pages=int(meta.get(b"pages", 0)),
            fetched_bytes=int(meta.get(b"bytes", 0)),
            words=int(meta.get(b"words", 0)),
            started_ms=int(meta.get(b"started", 0)),
            now_ms=now_ms,
        )
        narrowed = self.config.budget.narrowed(status.spent(self.config.budget))
        return replace(status, due=new + best + due) if narrowed else status

    def hosts(self, limit: int = 50) -> list[HostState]:
        """See :class:`frontier.types.Frontier`."""
        keys, last = self.keys, limit - 1
        with answering(self.crawl):
            pipe = self._redis.pipeline(transaction=False)
            pipe.zrangebyscore(keys.due, wire.LEASED, "inf", start=0, num=limit)
            pipe.zrange(keys.hot, 0, last).zrange(keys.due, 0, last)
            waiters = pipe.lrange(keys.known, 0, last).lrange(keys.new, 0, last).execute()
            named = (text_of(waiter) for waiter in itertools.chain.from_iterable(waiters) if waiter[:1] != b"@")
            names = dict.fromkeys(named)
        states = [wire.host_state(name, data, self.config) for name, data, _ in self._read(names) if data]
        return admin.in_order(states)[:limit]

    def host(self, authority: str) -> HostState | None:
        """See :class:`frontier.types.Frontier`."""
        ((_, data, _),) = self._read([authority])
        return wire.host_state(authority, data, self.config) if data else None

    def peek(self, authority: str, limit: int = 20) -> list[Waiting]:
        """See :class:`frontier.types.Frontier`."""
        with answering(self.crawl):
            pipe = self._redis.pipeline(transaction=False)
            pipe.lrange(self.keys.hops(authority), 0, limit - 1)
            hops, parked = pipe.zrange(self.keys.parked(authority), 0, limit - 1, withscores=True).execute()
        ((_, queues),) = self._queues([authority], limit)
        queued = [admin.waiting(authority, element) for queue in (hops, *queues) for element in queue]
        return (queued + [admin.parked(authority, *entry) for entry in parked])[:limit]

    def _read(self, names: Iterable[str], most: int = 0) -> list[tuple[str, bytes, list[list[bytes]]]]:
        """Authority, record or b"", heads of its lists (`most` elements of each)."""
        authorities = list(names)
        found: list[list[Any]] = []
        step = _HOSTS_A_LOOK if most else MOST_LEASES
        for start in range(0, len(authorities), step):
            found += self._run("read", [most, authorities[start : start + step]])
        return [(name, record, lists) for name, (record, lists) in zip(authorities, found, strict=True)]

    def _queues(self, authorities: Sequence[str], limit: int) -> Iterator[tuple[str, list[list[bytes]]]]:
        """Of each authority the heads of its bands, best first: few URLs lie in the record, many in lists."""
        for name, record, lists in self._read(authorities, limit):
            few = wire.read_record(record)["inline"] if record else []
            inline = [[element for element in few if payload.band(element) == band][:limit] for band in range(BANDS)]
            yield name, [*inline, *lists]

    def parked(self, limit: int = 50) -> list[tuple[str, Waiting]]:
        """See :class:`frontier.types.Frontier`."""
        with answering(self.crawl):
            names = [text_of(name) for name in self._redis.zrange(self.keys.unparks, 0, limit - 1)]
            pipe = self._redis.pipeline(transaction=False)
            for name in names:
                pipe.zrange(self.keys.parked(name), 0, limit - 1, withscores=True)
            rows = pipe.execute()
        found = [(name, admin.parked(name, *entry)) for name, row in zip(names, rows, strict=True) for entry in row]
        return sorted(found, key=lambda pair: (pair[1].until_ms, pair[0]))[:limit]

    def explain(self, url: str) -> Explanation:
        """See :class:`frontier.types.Frontier`."""
        return admin.explain(self, url, self.config)

    # -- scores, counters, audit ---------------------------------------------------------------------------------------

    def heads(self, authorities: Sequence[str], limit: int) -> list[list[Queued]]:
        """See :class:`frontier.types.Frontier`."""
        chain = itertools.chain.from_iterable
        return [rescoring.queued(name, chain(queues)) for name, queues in self._queues(authorities, limit)]

    def rescore(self, scores: Mapping[str, Sequence[tuple[Queued, float]]]) -> int:
        """See :class:`frontier.types.Frontier`; one round trip for so many moves as others may wait for."""
        calls = (self._run("rescore", [rescoring.MOST_PLACES, *moves]) for moves in rescoring.calls(scores))
        return sum(map(int, calls))

    def add_counts(self, tables: Mapping[str, Counts], once: Once | None = None) -> Totals:
        """See :class:`frontier.types.Frontier`."""
        asked = [[name, *itertools.chain.from_iterable(counts.items())] for name, counts in tables.items() if counts]
        totals = iter(self._run("add_counts", [once or (), *asked]) if asked else ())
        return {
            name: {field: tuple(itertools.islice(totals, len(values))) for field, values in counts.items()}
            for name, counts in tables.items()
        }

    def get_counts(self, name: str) -> dict[str, tuple[int, ...]]:
        """See :class:`frontier.types.Frontier`; in calls of some thousand, between which Redis serves others."""
        with answering(self.crawl):
            return wire.counts(dict(self._redis.hscan_iter(self.keys.counters(name), count=INTAKE_BATCH)))

    def forget_counts(self, names: Sequence[str]) -> None:
        """See :class:`frontier.types.Frontier`."""
        if names:
            with answering(self.crawl):
                self._redis.unlink(*map(self.keys.counters, names))

    def audit(self, batch: int = 10_000) -> Iterator[AuditRow]:
        """The audit stream, oldest row first (rows older than the last `audit_rows` are gone)."""
        rows, last = self.audit_from("-", batch)
        while rows:
            yield from rows
            rows, last = self.audit_from(last, batch)

    def audit_from(self, place: str, most: int) -> tuple[list[AuditRow], str]:
        """Up to `most` rows from a place in the stream on ("-": its begin), and the place behind them."""
        with answering(self.crawl):
            rows = self._redis.xrange(self.keys.audit, place, count=most)
        return [wire.audit_row(fields[b"r"]) for _, fields in rows], f"({rows[-1][0].decode()}" if rows else place
