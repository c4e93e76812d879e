"""A folder for what need not outlive its process, in the machine's folder for temporary files.

Guarantees: a process that is killed leaves its folder to the next one that makes one, which removes it: each folder is
locked (``flock``) for as long as its process lives, and has its name only once it is. Nothing else is ever removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX, _UNLOCKED = "ulwembu-sieve-", "ulwembu-new-"


class Scratch:
    """See the module. `folder` is empty at first."""

    def __init__(self) -> None:
        made = Path(tempfile.mkdtemp(prefix=_UNLOCKED))
        self.folder = made.with_name(_PREFIX + made.name.removeprefix(_UNLOCKED))
        self._lock = _locked(made)
        made.rename(self.folder)
        for other in self.folder.parent.glob(f"{_PREFIX}*"):
            # In use, already gone, somebody else's, or no folder: none of our business.
            with contextlib.suppress(OSError):
                lock = _locked(other)
                shutil.rmtree(other, ignore_errors=True)
                os.close(lock)

    def remove(self) -> None:
        """Remove the folder and all in it; may be called again."""
        if self._lock >= 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def _locked(folder: Path) -> int:
    """A descriptor that holds the folder; OSError when another does."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        raise
    return number
