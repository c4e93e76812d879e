"""What processes have used, by /proc."""

from __future__ import annotations

import os
from pathlib import Path


def cpu_s(pid: int, *, children: bool = False) -> float:
    """User and system time of a process so far; `children`: and of those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> set[int]:
    """A process and those that descend from it."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
        children.setdefault(parent, []).append(int(folder.name))
    found, waiting = {pid}, [pid]
    while waiting:
        new = children.get(waiting.pop(), [])
        found.update(new)
        waiting += new
    return found


def pss_bytes(pid: int) -> int:
    """Memory of a process, what it shares with others by its part; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
