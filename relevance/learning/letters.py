"""Which letters a model is to know: those of its languages.

There are codes for so many Latin letters besides a to z (`alphabet.LATIN_LETTERS`) and so many of each other script
(`alphabet.SCRIPT_LETTERS`). What is most frequent in any of the languages gets one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache

from relevance.language.alphabet import LATIN_LETTERS, SCRIPT_LETTERS, Alphabet

WRITTEN_IN = 0.1
"""Share of a language's letters from which on it is written in their script: less are foreign words and signs."""
_LEAST = 1e-4
"""Share of a language's letters from which on a Latin one comes before those of languages that are not named."""
_LATIN = "LATIN"
_TOGETHER = frozenset(
    ("AHOM", "BALINESE", "CJK", "HIRAGANA", "JAVANESE", "KATAKANA", "KHMER", "LAO", "MYANMAR", "NEW", "TAI", "THAI")
)
"""Scripts without blanks between words (Unicode, annex 14: classes SA, ID and AK); NEW is New Tai Lue."""
_NOT_A_TO_Z = re.compile("[^a-z]")

Shares = dict[str, float]
"""letter -> the largest share that it has of the letters of any class."""


def alphabet_of(counted: Mapping[str, Counter[str]], named: Iterable[str], latin: str = "") -> Alphabet:
    """The alphabet of classes by their words; named: those that are languages and no pools; latin: the Latin letters
    besides a to z, where they are given."""
    names = set(named)
    by_class = {name: _shares(counts) for name, counts in counted.items()}
    every, own = _largest(by_class.values()), _largest(by_class[name] for name in names)
    written_in: set[str] = set()
    for name in names:
        scripts: defaultdict[str, float] = defaultdict(float)
        for letter, share in by_class[name].items():
            scripts[_script(letter)] += share
        written_in |= {one for one, share in scripts.items() if share >= WRITTEN_IN}
    letters: defaultdict[str, list[str]] = defaultdict(list)
    for letter in sorted(every, key=lambda one: (-every[one], one)):
        letters[_script(letter)].append(letter)
    known = sorted(filter(is_latin, letters[_LATIN]), key=lambda letter: own.get(letter, 0.0) < _LEAST)
    latin = latin or "".join(known[:LATIN_LETTERS])
    return Alphabet(latin, ["".join(letters[one][:SCRIPT_LETTERS]) for one in sorted(written_in - {_LATIN, ""})])


def written_together(counts: Counter[str]) -> bool:
    """Whether words of a language stand without blanks between them, by what it is mostly written in."""
    return sum(share for letter, share in _shares(counts).items() if _script(letter) in _TOGETHER) > 0.5


def is_latin(letter: str) -> bool:
    """Whether it is a Latin letter that an alphabet can have."""
    return letter <= "\uffff" and _script(letter) == _LATIN


def _shares(counts: Counter[str]) -> Shares:
    """Of the letters of a class, those that are not a to z."""
    found: Counter[str] = Counter()
    total = 0
    for word, count in counts.items():
        total += len(word) * count
        if not word.isascii():
            for letter in _NOT_A_TO_Z.findall(word):
                found[letter] += count
    return {letter: count / total for letter, count in found.items()}


def _largest(every: Iterable[Shares]) -> Shares:
    out: Shares = {}
    for shares in every:
        for letter, share in shares.items():
            out[letter] = max(share, out.get(letter, 0.0))
    return out


@lru_cache(maxsize=1 << 15)
def _script(letter: str) -> str:
    """The first word of a letter's name in Unicode, which is its script: LATIN, CYRILLIC, ETHIOPIC."""
    return unicodedata.name(letter, "").partition(" ")[0]
