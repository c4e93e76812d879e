"""Commands are light, and explain the words that they print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LIGHT = re.compile(r"crawler(\.(errors|commands\.?.*|console(\.(by_hand|crawl_command|terms))?))?")
HEAVY = {"archive", "corpus", "frontier", "relevance", "seeds", "sieve", "numpy", "redis", "rich"}


def test_scrapy_does_not_import_the_crawler_to_list_its_commands() -> None:
    code = (
        "import sys; from scrapy.utils.misc import walk_modules_iter\n"
        "found = list(walk_modules_iter('crawler.commands')); print(*sys.modules)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "crawler.commands.why" in loaded
    assert [name for name in loaded if name.partition(".")[0] == "crawler" and not LIGHT.fullmatch(name)] == []
    assert HEAVY.intersection(loaded) == set()
