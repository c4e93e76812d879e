"""``python -m bench.sieve.plot growth.jsonl OUT.svg``: cost a URL as the store grows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt


def main(source: Path, target: Path) -> None:
    """Draw the lines that ``python -m bench.sieve growth`` printed."""
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    sizes = [row["store"] for row in rows]
    figure, left = plt.subplots(figsize=(7, 4), layout="constrained")
    left.plot(sizes, [row["cpu_us"] for row in rows], "o-", color="tab:blue")
    left.set_xscale("log")
    left.set_ylim(0)
    left.set_xlabel("URLs in the store")
    left.set_ylabel("CPU, microseconds a URL put in", color="tab:blue")
    right = left.twinx()
    right.plot(sizes, [row["p99_ms"] for row in rows], "s--", color="tab:orange", label="99 % of calls")
    right.plot(sizes, [row["worst_ms"] for row in rows], "^:", color="tab:red", label="longest call")
    right.set_ylim(0)
    right.set_ylabel("milliseconds a call of 1,000 URLs")
    right.legend(loc="upper left")
    left.set_title("mercator: as its store grows")
    figure.savefig(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
