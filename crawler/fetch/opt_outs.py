"""The file of hosts and URL prefixes that must never be fetched (``FRONTIER_OPT_OUT_FILE``): one a line, ``#`` begins a
comment.

A start asks for it several times: when it is checked, and by each part that goes by it. It is read once for as long as
nobody writes to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from frontier.opt_outs import Table, add, opt_out_rules

_State = tuple[int, ...]


def read_opt_outs(path: Path) -> tuple[str, ...]:
    """Hosts and prefixes in a file; ValueError with file and line on a line that is none, OSError."""
    return _read(path, _state(path))


def opt_outs_in(path: Path) -> Mapping[str, list[str]]:
    """The same as a table; errors as above."""
    return _table(path, _state(path))


def _state(path: Path) -> _State:
    """What is another after each change of a file."""
    facts = path.stat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


@lru_cache(maxsize=1)
def _read(path: Path, _: _State) -> tuple[str, ...]:
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if prefix := line.partition("#")[0].strip():
            try:
                list(opt_out_rules([prefix]))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
            found.append(prefix)
    return tuple(found)


@lru_cache(maxsize=1)
def _table(path: Path, state: _State) -> Table:
    table: Table = {}
    add(table, opt_out_rules(_read(path, state)))
    return table
