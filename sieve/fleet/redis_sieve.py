"""``redis:`` one sieve for a fleet.

Workers append batches to a waiting log, one round trip a batch: the fingerprints in one list, the URLs in another.
Whichever process holds the flush lease decides the fingerprints and commits "decided", "stored" and "ready" in one
atomic step, under the epoch and its fencing token; the URLs move inside Redis, as whole batches with the places of the
new ones, so each is sent once and written once. A holder that dies is replaced when its lease runs out; what it had
not committed is decided again, with the same result.

Guarantees: exact, whatever worker dies; what a holder that lost its lease tries to commit changes nothing. Exact when
Redis itself dies as far as Redis is: with ``appendfsync always`` it loses nothing that it answered, with ``everysec`` a
power cut (and, under a slow disk, a kill) may take a second or two of it.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from sieve.disk.files import Step, no_step
from sieve.errors import ClosedError, DamagedError, FencedError, LinkError, LockedError, SpecError, StoreError
from sieve.fingerprint import Fingerprints
from sieve.fleet.holder import Epoch, Holder, store_id
from sieve.fleet.redis_link import RedisLink, Tally
from sieve.fleet.remaking import remake
from sieve.queues.items import Batch, Fingerprinter, chosen_items
from sieve.sets.filter import RecentTable
from sieve.sets.seen import SeenConfig
from sieve.spec import Spec
from sieve.types import Item

_OPTIONS = ("crawl", "dir", "canonical", "lease_ms", "run", "filter", "filter_bytes")
# By another path than a number of a database redis-py would take it for 0.
_ADDRESS = re.compile(r"(?:unix:.*|[^/]*//[^/]*(?:/(?:\d+/?)?)?)", re.A)
_BATCHES_AN_EPOCH = 64
_BATCH_URLS = 1000
_POLL_S = 0.005
# URLs sent lately by this process: 2 MiB.
_SENT_BITS = 18


@dataclass(frozen=True, slots=True)
class RedisConfig:
    """Settings: `folder` of the store (``None``: in Redis), time until a dead holder is replaced, bounds of memory."""

    folder: Path | None = None
    lease_ms: int = 5000
    already_canonical: bool = False
    # Small runs: until a run is on disk, its fingerprints are in Redis as well.
    seen: SeenConfig = field(default_factory=lambda: SeenConfig(run_keys=1 << 16))

    @classmethod
    def of(cls, spec: Spec) -> RedisConfig:
        """From the options ``dir lease_ms canonical run filter filter_bytes``."""
        usual = cls()
        seen = SeenConfig.of(spec, usual.seen)
        folder = Path(spec.options["dir"]) if spec.options.get("dir") else None
        return cls(folder, spec.whole("lease_ms", usual.lease_ms, 100), spec.flag("canonical"), seen)


class RedisSieve:
    """See the module. Threads may share it. `on_append` is told whenever something was sent to be decided."""

    def __init__(self, link: RedisLink, config: RedisConfig, step: Step = no_step) -> None:
        self._link = link
        self._config = config
        self._step = step
        self._home = store_id(config.folder)
        self._fingerprinter = Fingerprinter(link.seed(secrets.randbits(63)), config.already_canonical)
        self._appending = threading.Lock()
        self._sent = RecentTable(_SENT_BITS)
        self._was_away = False
        self._absences = 0
        link.on_break = self.forget_sent
        self._deciding = threading.Lock()
        self._token = 0
        self._renewed_s = 0.0
        self._holder: Holder | None = None
        self._drained: tuple[int, int, bytes] | None = None
        self._closed = False
        self.on_append: Callable[[], None] = lambda: None

    @classmethod
    def open(cls, spec: Spec) -> RedisSieve:
        """From ``redis://host/0?crawl=NAME&dir=DIR`` (``rediss://``, ``unix://``); other options go to the client."""
        address, _, query = spec.text.partition("?")
        if not _ADDRESS.fullmatch(address):
            raise SpecError(address.rpartition("@")[2], "no number of a database (redis://HOST/0)")
        pairs = parse_qsl(query)
        ours = {name: value for name, value in pairs if name in _OPTIONS}
        if not ours.get("crawl"):
            raise SpecError(spec.text, "no crawl=NAME")
        config = RedisConfig.of(Spec(spec.text, spec.kind, spec.place, ours))
        theirs = urlencode([(name, value) for name, value in pairs if name not in _OPTIONS])
        return cls(RedisLink(f"{address}?{theirs}" if theirs else address, ours["crawl"]), config)

    def enqueue(self, urls: Sequence[Item]) -> None:
        """See :class:`~sieve.types.Sieve`; one round trip, none when all were sent lately by this process."""
        self._check_open()
        batch = self._fingerprinter.batch(urls)
        with self._appending:
            try:
                self._send(batch)
                if self._was_away:  # it connected again to send this, of which some had been sent before
                    self._send(batch)
            except BaseException:
                # Perhaps not sent; and a server that comes back may have lost what it answered: send all again.
                self._sent.clear()
                raise

    def forget_sent(self) -> None:
        """Redis was away, and may be back without what it had answered last: what is found again is sent again."""
        self._was_away = True
        self._absences += 1

    def absences(self) -> int:
        """How often Redis was found to have been away, as far as can be told now. Another number than before an
        :meth:`enqueue`: Redis may have forgotten that, whatever other threads have put in since."""
        self._link.look()
        return self._absences

    def flush(self) -> None:
        """After it, everything that any process enqueued before is decided, here or by the holder of the lease."""
        self._check_open()
        put = self._link.tally().put
        while self._link.tally().decided < put:
            decided = 0
            with contextlib.suppress(FencedError):
                decided = self.decide()
            if not decided:
                time.sleep(_POLL_S)

    def drain(self, limit: int | None = None) -> list[Item]:
        """See :class:`~sieve.types.Sieve`. For one consumer; the frontier of a fleet takes from the list itself."""
        self._check_open()
        self._acknowledge()
        if limit is not None and limit <= 0:
            return []
        taken, pairs, rest = self._link.taken(), 0, b""
        out: list[Item] = []
        for places, texts in self._link.ready():
            room = len(places) if limit is None else 2 * (limit - len(out))
            out += chosen_items(places[:room], texts)
            rest = places[room:]
            pairs += not rest
            if limit is not None and len(out) >= limit:
                break
        if out:
            self._drained = (taken, pairs, rest)
        self._step("drained")
        return out

    def close(self) -> None:
        """Acknowledge, store what is fresh when the store is on disk, give the lease back, disconnect."""
        if self._closed:
            return
        try:
            self._acknowledge()
            with self._deciding:
                self._closed = True
                self._resign()
        finally:
            self._closed = True
            try:
                self._drop_holder()
            finally:
                self._link.close()

    def pending(self) -> int:
        """URLs that wait to be decided."""
        tally = self._link.tally()
        return tally.put - tally.decided

    def tally(self) -> Tally:
        """Counts of URLs ever put in, decided and admitted, and the epoch."""
        return self._link.tally()

    def sizes(self) -> dict[str, int]:
        """Lengths of the lists in Redis and the bytes they take."""
        return self._link.sizes()

    def contains(self, url: str) -> bool:
        """Whether a URL equal to `url` is known, once everything that waits is decided; takes the flush lease."""
        self.flush()
        while True:
            self.decide()
            with self._deciding:
                if self._holder is not None:
                    seen = self._holder.seen
                    return not bool(seen.unknown(seen.snapshot(), self._fingerprinter.fingerprint_of(url))[0])
            time.sleep(self.retry_s)

    def learn(self, known: Iterable[Sequence[str]]) -> int:
        """Take batches of URLs for seen, so that they come out nowhere; gives how many are seen now. Killed at any
        instant, the same call does the rest. Where the store on disk is lost, or does not go with what Redis has, it is
        made again (:mod:`sieve.fleet.remaking`).

        :class:`~sieve.errors.StoreError` when the seen URLs are elsewhere, or another process decides; DamagedError:
        that is to be repaired.
        """
        if self._out_of_step():
            return self._remake(known)
        for urls in known:
            if urls:
                self._learn(self._fingerprinter.batch(urls).keys)
        with self._as_committed():
            return len(self._held().seen)

    def _learn(self, keys: Fingerprints) -> None:
        with self._as_committed():
            holder = self._held()
            if (epoch := holder.learn(keys)) is not None:
                self._commit(holder, epoch)

    def _held(self) -> Holder:
        if (holder := self._hold()) is None:
            raise self._taken()
        return holder

    def _remake(self, known: Iterable[Sequence[str]]) -> int:
        folder = self._config.folder
        assert folder is not None
        with self._deciding:
            self._token, epoch = self._link.acquire(self._token, self._config.lease_ms, self._link.home())
            if not self._token:
                raise self._taken()
            self._home = self._link.home()
            try:
                with self._renewing():
                    return remake(self._link, epoch, folder, self._fingerprinter, known)
            finally:
                self._give_up_lease()

    def _out_of_step(self) -> bool:
        """Whether the store on disk is not the one that Redis needs; waits until a dead holder's lease has run out."""
        deadline = time.monotonic() + 2 * self._config.lease_ms / 1000
        while time.monotonic() < deadline:
            try:
                self.decide()
            except StoreError:
                if self._config.folder is None:
                    raise
                return True
            if self._holder is not None:
                return False
            time.sleep(self.retry_s)
        raise self._taken()

    def _taken(self) -> StoreError:
        return StoreError(f"a worker of {self._link.keys.crawl!r} decides; stop its workers first")

    @property
    def holds(self) -> bool:
        """Whether this process held the flush lease when it last decided."""
        return self._holder is not None

    @property
    def retry_s(self) -> float:
        """How long a process that does not hold the lease should wait before it asks again."""
        return self._config.lease_ms / 5000

    def decide(self) -> int:
        """Decide what waits, one epoch of it, when this process holds or gets the flush lease; gives URLs decided.

        :class:`~sieve.errors.FencedError` when another process has taken over; the next call starts afresh.
        """
        with self._as_committed():
            return self._epoch()

    @contextlib.contextmanager
    def _as_committed(self) -> Iterator[None]:
        """One at a time; after an error what is committed is the truth, and what is here may be ahead of it."""
        with self._deciding:
            self._check_open()
            try:
                yield
            except BaseException:
                self._drop_holder()
                raise

    def _send(self, batch: Batch) -> None:
        if self._was_away:
            self._was_away = False
            self._sent.clear()
        fresh = self._sent.unmet(batch.keys)
        if len(fresh):
            self._append(batch.at(fresh))

    def _append(self, batch: Batch) -> None:
        parts = [batch.part(start, start + _BATCH_URLS) for start in range(0, len(batch), _BATCH_URLS)]
        packed = [
            form for part in parts for form in (part.keys.astype("<u8", copy=False).tobytes(), part.packed_texts())
        ]
        self._link.append(packed, len(batch))
        self.on_append()

    def _epoch(self) -> int:
        holder = self._hold()
        if holder is None:
            return 0
        packed = self._link.waiting(_BATCHES_AN_EPOCH)
        if not packed:
            return 0
        epoch = holder.decide(packed)
        self._commit(holder, epoch)
        return epoch.commit.urls

    def _commit(self, holder: Holder, epoch: Epoch) -> None:
        self._step("decided")
        if self._hold() is not holder:
            raise FencedError("the flush lease was lost while an epoch was decided")
        number = self._link.commit(self._token, self._config.lease_ms, epoch.commit)
        self._renewed_s = time.monotonic()
        self._step("committed")
        holder.committed(epoch, number)

    def _hold(self) -> Holder | None:
        if self._holder is not None and time.monotonic() - self._renewed_s < self._config.lease_ms / 3000:
            return self._holder
        token, epoch = self._link.acquire(self._token, self._config.lease_ms, self._home)
        self._renewed_s = time.monotonic()
        self._token = token
        if self._holder is not None and (not token or self._holder.epoch != epoch):
            self._drop_holder()
        if token and self._holder is None:
            self._holder = self._take_over(epoch)
        return self._holder

    def _take_over(self, epoch: int) -> Holder | None:
        self._step("taking over")
        try:
            with self._renewing():
                return Holder(self._link, epoch, self._config.folder, self._config.seen, self._step)
        except LockedError:
            # The last holder lost its lease but lives and will notice; let it, or somebody, try.
            self._give_up_lease()
            return None
        except (DamagedError, StoreError):
            self._give_up_lease()
            raise

    def _give_up_lease(self) -> None:
        self._link.release(self._token)
        self._token = 0

    @contextlib.contextmanager
    def _renewing(self) -> Iterator[None]:
        """Keep the lease while a large store is loaded."""
        stop = threading.Event()

        def renew() -> None:
            while not stop.wait(self._config.lease_ms / 3000):
                with contextlib.suppress(LinkError):
                    self._link.acquire(self._token, self._config.lease_ms, self._home)

        thread = threading.Thread(target=renew, name="sieve-renewal", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _resign(self) -> None:
        if self._holder is not None:
            commit = self._holder.settled()
            # Whoever took the lease meanwhile has all that is committed, and nothing else is to be given up.
            with contextlib.suppress(FencedError):
                if commit is not None:
                    self._link.commit(self._token, self._config.lease_ms, commit)
            self._link.release(self._token)

    def _drop_holder(self) -> None:
        holder, self._holder = self._holder, None  # whatever fails of closing it
        if holder is not None:
            holder.close()

    def _acknowledge(self) -> None:
        if self._drained is not None:
            self._link.take(*self._drained)
            self._drained = None

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the sieve is closed")
