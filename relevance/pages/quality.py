"""Flags on the quality of a page's text, so that a crawl can cap what it takes of a source.

Flags are suspicions with their terms, never verdicts:
  machine   translated by machine or generated: the page offers itself in many languages, or its text repeats itself
  religious at least 2 % of 50 words or more are of that field (the largest single domain of the web in small languages)
  list      most words stand in lists, menus and links, not in sentences
Duplicates: `simhash` of the main text, to be compared by who keeps it; of a longer one of its first MOST_LETTERS.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from relevance.language.alphabet import words
from relevance.pages.page import Page
from relevance.pages.simhash import simhash

_RELIGIOUS = (
    "nkulunkulu jehova yehova jesu yesu jesus jezu krist christ krest bhayib bible bibele thixo modimo ngcwel vangeli "
    "gospel profeth prophet phostoli apost thandaz rapel izono isono nsindis salvation hubo psalm testament"
)
RELIGIOUS = tuple(_RELIGIOUS.split())
"""Beginnings or cores of words; see `_religious`."""
_PREFIX = 4
_OF_THE_FIELD = re.compile(f".{{0,{_PREFIX}}}?(?:{'|'.join(RELIGIOUS)})", re.S)
_LOOKED_AT = _PREFIX + max(map(len, RELIGIOUS))
"""Letters of a word that tell: what is remembered of words stays small, also of one that fills a page."""
MOST_LETTERS = 1 << 20
"""Of the main text, whose words are looked at: each takes some 150 bytes of memory meanwhile."""
FLAGS = ("machine", "religious", "list")
MANY_LANGUAGES = 12
"""Alternate languages from which a small site is hardly translated by people."""
_RELIGIOUS_SHARE, _LIST_SHARE, _REPEATED_SHARE = 0.02, 0.6, 0.3
_LISTS = frozenset(("list", "links", "nav", "short"))


@dataclass(frozen=True, slots=True)
class Quality:
    """flags, the figures behind them, and the SimHash of the main text."""

    flags: frozenset[str] = frozenset()
    terms: Mapping[str, float] = field(default_factory=dict)
    simhash: int = 0


def quality(page: Page) -> Quality:
    """Judges a page's text."""
    main = "\n".join(block.text for block in page.blocks if block.weight >= 0.9)
    tokens = words(main[:MOST_LETTERS])
    terms = {
        "religious": _religious(tokens),
        "list": _listed(page),
        "repeated": _repeated(page),
        "languages": float(len({tag.replace("_", "-").split("-")[0] for tag, _ in page.hreflangs} - {"x"})),
    }
    flags = set()
    if terms["religious"] >= _RELIGIOUS_SHARE and len(tokens) >= 50:
        flags.add("religious")
    if terms["list"] >= _LIST_SHARE:
        flags.add("list")
    if terms["languages"] >= MANY_LANGUAGES or terms["repeated"] >= _REPEATED_SHARE:
        flags.add("machine")
    rounded = {name: round(value, 3) for name, value in terms.items()}
    return Quality(frozenset(flags), rounded, simhash(tokens))


def _religious(tokens: list[str]) -> float:
    """Part of the words that begin with a word of the field, or hold it behind a prefix of up to four letters."""
    found = {word for word in set(tokens) if _of_the_field(word[:_LOOKED_AT])}
    return sum(map(found.__contains__, tokens)) / len(tokens) if found else 0.0


@lru_cache(maxsize=1 << 16)
def _of_the_field(beginning: str) -> bool:
    return _OF_THE_FIELD.match(beginning) is not None


def _listed(page: Page) -> float:
    listed = total = 0
    for block in page.blocks:
        size = len(block.text)
        total += size
        if block.kind in _LISTS:
            listed += size
    return listed / total if total else 0.0


def _repeated(page: Page) -> float:
    """Part of the main blocks of 40 letters or more that stood there before."""
    texts = [block.text for block in page.blocks if block.kind == "main" and len(block.text) >= 40]
    return 1 - len(set(texts)) / len(texts) if len(texts) >= 4 else 0.0
