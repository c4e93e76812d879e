"""What commands write: refused before the work where it cannot be, there whole or not at all; ``-`` is standard output.

What a command says of its output goes to standard error where that output is standard output itself.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from relevance.errors import RelevanceError
from relevance.language.storage import replace_file

STDOUT = Path("-")


def expect_target(target: Path, read: Iterable[Path]) -> None:
    """Before the work: what is to be written can be, and takes the place of nothing that is ``read``."""
    if target == STDOUT:
        return
    if not target.parent.is_dir():
        raise RelevanceError(f"{target}: no such folder")
    if target.is_dir():
        raise RelevanceError(f"{target}: is a folder")
    if target.exists() and any(target.samefile(name) for name in read):
        raise RelevanceError(f"{target}: is one of the files to read")
    if target.is_file() or not target.exists():
        try:
            with tempfile.TemporaryFile(dir=Path(os.path.realpath(target)).parent):
                pass
        except OSError as error:
            raise RelevanceError(f"{target}: cannot be written: {error.strerror}") from error


def write(target: Path, data: bytes) -> None:
    if target == STDOUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        replace_file(target, data)


def tell(line: str, *targets: Path | None) -> None:
    """A line about what was written to `targets`."""
    if STDOUT not in targets:
        sys.stdout.write(f"{line}\n")
    elif sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
