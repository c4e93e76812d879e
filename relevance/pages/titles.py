"""The title of a page's text: what its `<title>` says, without the name of the site that most have before or behind it.

Nothing is made up: the result is the `<title>`, or the part of it that the page also names as its title (`og:title`, a
first-level heading) where a mark stands between that and the rest, or what is left of it without the site's name. Where
the `<title>` is nothing but that name, as on sites that have one for all pages, it is what else the page names.

Guarantee: linear in the title, and in what is named beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

_QUOTES = "«»‹›"
_MARKS = "|｜·•—–>：" + _QUOTES
_SPACED = "-:/\\"
"""Marks where white space is beside them; else they stand within words."""
_UNSEEN = "\u200e\u200f"
LONGEST = 1000
"""Letters of a title in which a site's name is looked for; each name is held against all of it."""
LEAST = 4
"""Letters of a title that a page names; a shorter one may stand in others by chance."""


def own_title(
    title: str, named: Iterable[str], headings: Iterable[str], sites: Iterable[str], lesser: Iterable[str] = ()
) -> str:
    """`title`: one line; `named`: what else the page says its title is, best first; `headings`: of the first level,
    some of which may be the site's name; `sites`: names of the site, as far as known; `lesser`: headings of other
    levels: where the rest of the title is one of them, that of the first level may be a site's name all the same."""
    names, heads, owners = _lines(named), _lines(headings), _lines(sites)
    low, own = title.lower(), set(map(letters_of, owners))
    if not title or letters_of(title) in own:
        alone = heads if len(heads) == 1 or not title else []  # several may be of several texts
        told = (text for text in chain(names, alone) if letters_of(text) not in own)
        return next(told, title or next(chain(names, heads), ""))
    if len(low) != len(title) or len(title) > LONGEST:
        return title
    for name in map(str.lower, names):
        if len(name) >= LEAST and letters_of(name) not in own:
            if _is_before(low, name):
                return title[: len(name)]
            if _end(low, name):
                return title[-len(name) :]
    for head in map(str.lower, heads):
        if head == low:
            return title
        if len(head) >= LEAST and letters_of(head) not in own and _is_before(low, head):
            rest = letters_of(low[len(head) :])
            return title if rest not in own and rest in map(letters_of, lesser) else title[: len(head)]
    for owner in map(str.lower, owners):
        if start := _start(low, owner):
            return title[start:]
        if end := _end(low, owner):
            return title[:end]
    return title


def _lines(texts: Iterable[str]) -> list[str]:
    return [line for text in texts if (line := " ".join(text.split()))]


def _is_before(low: str, name: str) -> bool:
    """Does the title begin with this name, and a mark or bracket stand behind it?"""
    return _start(low, name) > 0 or (low.startswith(name) and low[len(name) :].lstrip().startswith(("(", "[")))


def _start(low: str, name: str) -> int:
    """Where what stands behind this name and a mark begins; 0: the title does not begin so, or ends there."""
    if not low.startswith(name):
        return 0
    start = len(low) - len(low[len(name) :].lstrip(_between(low)))
    return start if start < len(low) and _has_mark(low[len(name) : start]) else 0


def _end(low: str, name: str) -> int:
    """Where what stands before a mark and this name ends; 0: the title does not end so, or begins there."""
    if not low.endswith(name):
        return 0
    last = len(low) - len(name)
    end = len(low[:last].rstrip(_between(low)))
    return end if _has_mark(low[end:last]) else 0


def _between(low: str) -> str:
    """What may part a title from a name: of quotation marks one of a kind alone."""
    quotes = "".join(mark for mark, other in zip("«»‹›", "»«›‹", strict=True) if other not in low)
    return _MARKS[: -len(_QUOTES)] + quotes + _SPACED + _UNSEEN + " "


def _has_mark(between: str) -> bool:
    return any(map(_MARKS.__contains__, between)) or (" " in between and any(map(_SPACED.__contains__, between)))


def letters_of(text: str) -> str:
    """Its letters and digits, in lower case: titles and names are the same however they are set."""
    return "".join(filter(str.isalnum, text.casefold()))
