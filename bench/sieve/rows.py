"""The rows: each takes batches of canonical URLs and gives the new ones, fingerprint included."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lmdb
import redis
from rocksdict import Options, Rdict, WriteBatch
from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.request import RequestFingerprinter
from scrapy_redis.dupefilter import RFPDupeFilter as RedisDupeFilter

from crawler.state.embedded_redis import EmbeddedRedis
from sieve import open_sieve
from sieve.fingerprint import fingerprints


class Row:
    """One way to sieve. `server` is a process whose CPU and memory count as well."""

    server: EmbeddedRedis | None = None
    folder: Path
    # Rows that are too slow are measured on this many URLs at most.
    most: int = 1 << 40

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bench-"))

    def take(self, urls: list[str]) -> Sequence[Any]:
        """Put a batch in; gives what is out."""
        raise NotImplementedError

    def end(self) -> Sequence[Any]:
        """Everything that is still inside."""
        return []

    def taken(self) -> Sequence[Any]:
        """What is out, where somebody else fetches it: the client's part of that is not measured."""
        return []

    def rest(self) -> Sequence[Any]:
        """What is out at the end, where somebody else fetches it."""
        return []

    def close(self) -> None:
        """Close."""


class Set(Row):
    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def take(self, urls: list[str]) -> Sequence[Any]:
        new = [url for url in dict.fromkeys(urls) if url not in self._seen]
        self._seen.update(new)
        return new


class Scrapy(Row):
    most = 1_000_000

    def __init__(self) -> None:
        super().__init__()
        self._filter = RFPDupeFilter(None, fingerprinter=RequestFingerprinter())

    def take(self, urls: list[str]) -> Sequence[Any]:
        return [url for url in urls if not self._filter.request_seen(Request(url))]


class Server(Row):
    def __init__(self) -> None:
        super().__init__()
        self.server = EmbeddedRedis(self.folder / "redis").enter()
        self.client: Any = redis.Redis(unix_socket_path=self.server.socket_path)

    def close(self) -> None:
        self.client.close()
        assert self.server is not None
        self.server.leave()


class ScrapyRedis(Server):
    most = 100_000

    def __init__(self) -> None:
        super().__init__()
        self._filter = RedisDupeFilter(self.client, "dupefilter")

    def take(self, urls: list[str]) -> Sequence[Any]:
        return [url for url in urls if not self._filter.request_seen(Request(url))]


class PipelinedSadd(Server):
    def take(self, urls: list[str]) -> Sequence[Any]:
        pipe = self.client.pipeline(transaction=False)
        packed = fingerprints(urls).tobytes()
        for start in range(0, len(packed), 8):
            pipe.sadd("seen", packed[start : start + 8])
        return [url for url, added in zip(urls, pipe.execute(), strict=True) if added]


class Rocks(Row):
    def __init__(self) -> None:
        super().__init__()
        options = Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_write_buffer_size(64 << 20)
        self._db = Rdict(str(self.folder / "db"), options)

    def take(self, urls: list[str]) -> Sequence[Any]:
        packed = fingerprints(urls).astype(">u8").tobytes()
        keys = {packed[8 * place : 8 * place + 8]: url for place, url in reversed(list(enumerate(urls)))}
        found: Any = self._db.get(list(keys))
        new, batch = [], WriteBatch(raw_mode=True)
        for (key, url), value in zip(keys.items(), found, strict=True):
            if value is None:
                batch.put(key, b"")
                new.append(url)
        self._db.write(batch)
        return new

    def close(self) -> None:
        self._db.close()


class Lmdb(Row):
    def __init__(self) -> None:
        super().__init__()
        self._env: Any = lmdb.open(str(self.folder), map_size=1 << 36, sync=False, writemap=True)

    def take(self, urls: list[str]) -> Sequence[Any]:
        packed = fingerprints(urls).astype(">u8").tobytes()
        with self._env.begin(write=True, buffers=True) as transaction:
            put = transaction.put
            return [
                url for place, url in enumerate(urls) if put(packed[8 * place : 8 * place + 8], b"", overwrite=False)
            ]

    def close(self) -> None:
        self._env.close()


class Sqlite(Row):
    def __init__(self) -> None:
        super().__init__()
        self._db = sqlite3.connect(self.folder / "db", isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "cache_size=-262144"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute("CREATE TABLE seen (key INTEGER PRIMARY KEY) WITHOUT ROWID")

    def take(self, urls: list[str]) -> Sequence[Any]:
        keys = fingerprints(urls).view("int64").tolist()
        self._db.execute("BEGIN")
        insert = "INSERT OR IGNORE INTO seen VALUES (?)"
        new = [url for url, key in zip(urls, keys, strict=True) if self._db.execute(insert, (key,)).rowcount]
        self._db.execute("COMMIT")
        return new

    def close(self) -> None:
        self._db.close()


class Ours(Row):
    """A local kind; drains after every batch."""

    spec = ""

    def __init__(self) -> None:
        super().__init__()
        self.sieve = open_sieve(self.spec.format(self.folder / "s"))

    def take(self, urls: list[str]) -> Sequence[Any]:
        self.sieve.enqueue(urls)
        return self.sieve.drain()

    def end(self) -> Sequence[Any]:
        self.sieve.flush()
        return self.sieve.drain()

    def close(self) -> None:
        self.sieve.close()


class Memory(Ours):
    spec = "memory:?canonical=yes"


class Mercator(Ours):
    spec = "mercator:{}?canonical=yes&sync=no"


class MercatorSync(Ours):
    spec = "mercator:{}?canonical=yes"


class Bloom(Ours):
    spec = "bloom:{}?canonical=yes&sync=no&capacity=1e7&error=1e-6"


class Lsm(Ours):
    spec = "lsm:{}?canonical=yes&sync=no"


class Offline(Ours):
    spec = "offline:{}?canonical=yes&sync=no"

    def take(self, urls: list[str]) -> Sequence[Any]:
        # Asking for anything is a flush here: it fills up first.
        self.sieve.enqueue(urls)
        return []


class OursRedis(Server):
    """Store in Redis; one process appends and decides."""

    options = ""
    every = 32

    def __init__(self) -> None:
        super().__init__()
        assert self.server is not None
        options = self.options.format(self.folder / "s")
        self.sieve: Any = open_sieve(f"{self.server.url}&crawl=bench&canonical=yes{options}")
        self._batches = 0

    def take(self, urls: list[str]) -> Sequence[Any]:
        self.sieve.enqueue(urls)
        self._batches += 1
        if not self._batches % self.every:
            self.sieve.decide()
        return []

    def end(self) -> Sequence[Any]:
        self.sieve.flush()
        return []

    def taken(self) -> Sequence[Any]:
        """The frontier takes what is ready; so no list of millions piles up in Redis."""
        return [] if self._batches % self.every else self.rest()

    def rest(self) -> Sequence[Any]:
        """All that is ready, acknowledged."""
        out: Sequence[Any] = self.sieve.drain()
        self.sieve.drain(0)
        return out

    def close(self) -> None:
        self.sieve.close()
        super().close()


class OursRedisDisk(OursRedis):
    options = "&dir={}"


ROWS: dict[str, Callable[[], Row]] = {
    "set of str": Set,
    "Scrapy RFPDupeFilter": Scrapy,
    "scrapy-redis": ScrapyRedis,
    "pipelined SADD": PipelinedSadd,
    "RocksDB": Rocks,
    "LMDB": Lmdb,
    "SQLite": Sqlite,
    "memory:": Memory,
    "bloom:": Bloom,
    "lsm:": Lsm,
    "offline:": Offline,
    "mercator:": Mercator,
    "mercator: sync": MercatorSync,
    "redis:": OursRedis,
    "redis:?dir=": OursRedisDisk,
}
