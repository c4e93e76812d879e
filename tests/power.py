"""A disk that loses power: of a folder there is left what was made durable, the least that a file system may keep."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest


class Disk:
    """Notes each fsync from now on. A file's bytes are durable as its last fsync found them, its name as the last one
    of its folder did."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._fsync = os.fsync
        self._lock = threading.Lock()
        self._bytes: dict[int, bytes] = {}
        self._names: dict[Path, dict[str, int]] = {}
        self._held: dict[int, int] = {}
        monkeypatch.setattr(os, "fsync", self._sync)

    def _sync(self, number: int) -> None:
        self._fsync(number)
        facts = os.fstat(number)
        here = Path(f"/proc/self/fd/{number}")
        with self._lock:
            if stat.S_ISDIR(facts.st_mode):
                self._names[here.readlink()] = self._listed(here.readlink())
                return
            self._hold(here, facts.st_ino)
            self._bytes[facts.st_ino] = here.read_bytes()

    def _listed(self, folder: Path) -> dict[str, int]:
        found = {path.name: path.stat().st_ino for path in folder.iterdir() if path.is_file()}
        for name, inode in found.items():
            self._hold(folder / name, inode)
        return found

    def _hold(self, path: Path, inode: int) -> None:
        """Keep it open, so that no other file gets its number."""
        if inode not in self._held:
            self._held[inode] = os.open(path, os.O_RDONLY)

    def cut(self, folder: Path, after: Path, *, names_last: bool) -> Path:
        """Make `after` what is left of `folder`; `names_last`: all names have reached the disk by themselves."""
        after.mkdir()
        with self._lock:
            names = self._listed(folder) if names_last else self._names.get(folder, {})
            for name, inode in names.items():
                (after / name).write_bytes(self._bytes.get(inode, b""))
        return after

    def close(self) -> None:
        """Let go of the files."""
        for number in self._held.values():
            os.close(number)
