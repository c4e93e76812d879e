"""Does the text of a link name the page that it leads to?

Both are compared in NFKC, without case, punctuation and a last "(…)": they are alike when the words of one are among
those of the other, or when four fifths of their letters match in order (the ratio of difflib). So *eGoli* is like
*Goli*, *Johannesburg* is not.
"""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

LEAST_RATIO = 0.8
_LAST_BRACKETS = re.compile(r"\([^()]*\)\s*\Z")
_SIGNS = re.compile(r"[\W_]+")


def alike(anchor: str, title: str) -> bool:
    one, other = _plain(anchor), _plain(title)
    if not one or not other:
        return False
    words, others = set(one.split()), set(other.split())
    if words <= others or others <= words:
        return True
    # What could not be alike by its length is not compared letter by letter.
    if 2 * min(len(one), len(other)) < LEAST_RATIO * (len(one) + len(other)):
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= LEAST_RATIO


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SIGNS.sub(" ", _LAST_BRACKETS.sub("", folded)).strip()
