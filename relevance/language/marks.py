"""Signs that stand on letters or behind them: which of them a word is read without, and which are a part of it."""

from __future__ import annotations

import re
import unicodedata

MARK = (
    r"\u0300-\u036f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4"
    r"\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
"""For a set of a regular expression: marks on letters, signs that cannot be seen, and points of Hebrew and Arabic,
which are seldom written."""
_POINTS = (*range(0x370, 0xFE00), *range(0xFE10, 0x1F000))
"""Without marks of emoji; behind them are emoji and ideographs, without marks."""
_BASIC = 0xFFFF
"""Up to here a set of signs is looked up in a table, else it is gone through one by one."""


def _one_of(signs: list[str]) -> str:
    basic, others = ("".join(sign for sign in signs if (ord(sign) <= _BASIC) is here) for here in (True, False))
    return rf"(?:[{basic}]|(?=[\U00010000-\U0001efff])[{others}])"


_SIGNS = [sign for sign in map(chr, _POINTS) if unicodedata.category(sign) in ("Mn", "Mc")]
SIGN = _one_of(_SIGNS)
"""A regular expression: a mark of another script than Latin, as vowels in India, points in Arabic, tones in N'Ko. What
Unicode calls marks is no letter to Python (`str.isalpha`, `\\w`)."""
VOWEL_SIGN = _one_of([sign for sign in _SIGNS if not re.match(f"[{MARK}]", sign)])
"""One that is no less than a letter."""
