"""The request log: one JSON object a line, written within 50 ms, so that a killed server loses next to nothing.

Fields: `start_us` (monotonic; the request's head had arrived), `end_us` (monotonic; taken just before the last bytes
went to the kernel; of a client that left, and after the server stood still, the last look that saw nothing of it, which
may be before `start_us`), `epoch_us` (wall clock at start), `host` (Host header, lower case),
`address`, `port`, `method`, `path` (request target as sent), `status` (0: none was sent), `whole` (the answer was sent
completely), `sent_bytes`, `due_us` (monotonic; until when the answer asked to be left alone; 0: it did not), `agent`,
`conn` (number of the connection).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

FLUSH_S = 0.05


class LogEntry(NamedTuple):
    """One request and what became of it."""

    start_us: int
    end_us: int
    epoch_us: int
    host: str
    address: str
    port: int
    path: str
    status: int
    whole: bool = True
    sent_bytes: int = 0
    due_us: int = 0
    agent: str = ""
    conn: int = 0
    method: str = "GET"

    @property
    def authority(self) -> str:
        """``http://host:port`` as asked for."""
        return f"http://{self.host}"

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Inverse of a log line."""
        return cls(**values)


@lru_cache(maxsize=4096)
def _quoted(text: str) -> str:
    return json.dumps(text)


class LogWriter:
    """Appends lines; `flush` is called by the server's clock. Not thread-safe: one server, one writer."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._lines: list[str] = []

    def add(self, entry: LogEntry) -> None:
        """Note one request."""
        e = entry
        self._lines.append(
            f'{{"start_us":{e.start_us},"end_us":{e.end_us},"epoch_us":{e.epoch_us},"host":{_quoted(e.host)},'
            f'"address":"{e.address}","port":{e.port},"method":{_quoted(e.method)},"path":{json.dumps(e.path)},'
            f'"status":{e.status},"whole":{"true" if e.whole else "false"},"sent_bytes":{e.sent_bytes},'
            f'"due_us":{e.due_us},"agent":{_quoted(e.agent)},"conn":{e.conn}}}\n'
        )

    def flush(self) -> None:
        """Write what has been noted."""
        if self._lines:
            os.write(self._fd, "".join(self._lines).encode())
            self._lines.clear()

    def close(self) -> None:
        """Flush and close."""
        self.flush()
        os.close(self._fd)


def read_log(path: Path) -> Iterator[LogEntry]:
    """Entries of a log file in the order written (by end); a cut last line is left out."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("}\n"):
                yield LogEntry.from_json(json.loads(line))
