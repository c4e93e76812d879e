"""The file of hosts and URL prefixes that must never be fetched (``FRONTIER_OPT_OUT_FILE``): one a line, ``#`` begins a
comment."""

from __future__ import annotations

from pathlib import Path

from frontier.opt_outs import opt_out_rules


def read_opt_outs(path: Path) -> list[str]:
    """Hosts and prefixes in a file; ValueError with file and line on a line that is none, OSError."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if prefix := line.partition("#")[0].strip():
            try:
                list(opt_out_rules([prefix]))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
            found.append(prefix)
    return found
