"""The log of a private Redis on its way to the disk.

Redis itself can sync its log each second (``appendfsync everysec``). But while a sync is under way it puts off writing,
for up to two seconds, and answers all the same: killed then, it has lost what it answered (seen: 355 commands, beside
a process that wrote 300 MB at a time). So the private server writes its log before it answers and leaves the syncs to
its members: a killed server loses nothing, a machine that loses its power a second or two.

A file system that stopped in the midst may have made the log longer and not written what was to be there: it ends in
zeros then, as no log does, and Redis, which goes on behind a log that was cut short, will not read it. :func:`mend`
cuts them off.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_EVERY_S = 1.0
_LOGS = ("*.aof", "appendonlydir/*.aof")  # of Redis 6; of Redis 7 and Valkey
_SNAPSHOT = b"REDIS"
_MOST_ZEROS = 8
"""That a log may end in which begins with a snapshot: the checksum of one that nothing has followed yet. Any other ends
with a command, and that with a line."""
_BLOCK = 1 << 16
logger = logging.getLogger(__name__)


def mend(folder: Path) -> None:
    """Cut off the zeros at the end of the logs in `folder`, which no server has open. OSError."""
    for path in _logs(folder):
        with path.open("rb+") as file:
            size = file.seek(0, os.SEEK_END)
            written = _without_zeros(file, size)
            file.seek(0)
            if size - written > (_MOST_ZEROS if file.read(len(_SNAPSHOT)) == _SNAPSHOT else 0):
                logger.warning("%s: the %d zeros at its end, never written by Redis, are cut off", path, size - written)
                file.truncate(written)
                os.fsync(file.fileno())


def _without_zeros(file: IO[bytes], size: int) -> int:
    """The size without the zeros at the end."""
    while size:
        start = max(0, size - _BLOCK)
        file.seek(start)
        if some := file.read(size - start).rstrip(b"\0"):
            return start + len(some)
        size = start
    return 0


def _logs(folder: Path) -> Iterator[Path]:
    for pattern in _LOGS:
        yield from folder.glob(pattern)


class LogSync:
    """Syncs the logs in `folder` once a second, in a thread, from :meth:`start` to :meth:`stop`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._synced: dict[Path, tuple[int, int]] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log-sync", daemon=True)

    def start(self) -> None:
        """Once."""
        self._thread.start()

    def stop(self) -> None:
        """Returns when the thread has ended."""
        self._stop.set()
        self._thread.join()

    def sync(self) -> list[Path]:
        """The logs that have grown, or are new, since the last time, now on the disk. What fails is Redis' to tell."""
        done = []
        for path in _logs(self._folder):
            with contextlib.suppress(OSError), path.open("rb") as file:
                facts = os.fstat(file.fileno())
                if self._synced.get(path) != (facts.st_ino, facts.st_size):
                    os.fdatasync(file.fileno())
                    self._synced[path] = (facts.st_ino, facts.st_size)
                    done.append(path)
        return done

    def _run(self) -> None:
        while not self._stop.wait(_EVERY_S):
            self.sync()
