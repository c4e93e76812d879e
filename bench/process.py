"""What processes have used, by /proc."""

from __future__ import annotations

import os
from pathlib import Path


def cpu_s(pid: int, *, children: bool = False) -> float:
    """User and system time of a process so far; `children`: and of those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")
