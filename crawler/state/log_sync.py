"""The log of a private Redis on its way to the disk.

Redis itself can sync its log each second (``appendfsync everysec``). But while a sync is under way it puts off writing,
for up to two seconds, and answers all the same: killed then, it has lost what it answered (seen: 355 commands, beside
a process that wrote 300 MB at a time). So the private server writes its log before it answers and leaves the syncs to
its members: a killed server loses nothing, a machine that loses its power a second or two.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

_EVERY_S = 1.0
_LOGS = ("*.aof", "appendonlydir/*.aof")  # of Redis 6; of Redis 7 and Valkey


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
        for path in (path for pattern in _LOGS for path in self._folder.glob(pattern)):
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
