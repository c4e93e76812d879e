"""A line to a Redis server that holds back what is sent, and counts round trips by what was asked.

What a client sends before it waits for an answer comes in one piece and is one round trip, however many commands it
has; it is counted under the first: the name of a script of ours, else the command and the last part of its key's name.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from types import TracebackType
from typing import Self
from urllib.parse import unquote

_CHUNK = 1 << 20
_WORD = re.compile(rb"\$(\d+)\r\n")
_ROOMS = ("frontier", "sieve.fleet", "crawler.pages")


class RedisLine:
    """Listens on loopback from :meth:`__enter__` on; `away_s`: to the server and back."""

    def __init__(self, away_s: float) -> None:
        self._half_s = away_s / 2
        self._socket = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._trips: list[tuple[float, str]] = []
        self._scripts: dict[bytes, str] = {}
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        listening = asyncio.start_server(self._serve, "127.0.0.1", 0, limit=_CHUNK)
        server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def lead_to(self, url: str) -> None:
        """The server at this ``unix:`` URL."""
        self._socket = unquote(url.removeprefix("unix://").partition("?")[0])

    def trips_between(self, begin_s: float, end_s: float) -> Counter[str]:
        """Round trips that began between two instants of ``time.monotonic()``."""
        return Counter(name for at, name in self._trips if begin_s <= at < end_s)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(self._socket, limit=_CHUNK)
        await asyncio.gather(self._carry(reader, back, counts=True), self._carry(there, writer, counts=False))

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, counts: bool) -> None:
        """Each piece leaves the delay after it came; those behind it come meanwhile."""
        last = b"\r\n"
        while data := await source.read(_CHUNK):
            if counts and data[:1] == b"*" and last.endswith(b"\r\n"):
                self._trips.append((time.monotonic(), self._name(data)))
            last = data
            if self._half_s:
                self._loop.call_later(self._half_s, sink.write, data)
            else:
                sink.write(data)
        self._loop.call_later(self._half_s, sink.close)

    def _name(self, data: bytes) -> str:
        words = _words(data)
        command = next(words, b"").upper()
        if command in (b"EVALSHA", b"EVAL"):
            which = next(words, b"")
            return self._scripts.get(which, which[:12].decode("latin-1"))
        if command == b"SCRIPT":
            next(words, b"")
            text = next(words, b"")
            sha = hashlib.sha1(text, usedforsecurity=False).hexdigest()
            self._scripts[sha.encode()] = next((name for own, name in _own_scripts().items() if own in text), sha)
        key = next(words, b"").rpartition(b"}:")[2].partition(b":")[0]
        return f"{command.decode('latin-1')} {key.decode('latin-1')}"[:40]


@cache
def _own_scripts() -> dict[bytes, str]:
    """The text that only one script has, and its name."""
    paths = [path for room in _ROOMS for path in (files(room) / "lua").iterdir()]
    return {path.read_bytes(): path.name.removesuffix(".lua") for path in paths if not path.name.startswith("_")}


def _words(data: bytes) -> Iterator[bytes]:
    at = 0
    while (head := _WORD.search(data, at)) is not None:
        at = head.end() + int(head[1])
        yield data[head.end() : at]
