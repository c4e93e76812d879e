"""The title of a page's text: what its `<title>` says, without the name of the site that most have before or behind it.

Nothing is made up: the result is the `<title>`, or the part of it that the page also names as its title (`og:title`, a
first-level heading) where a mark stands between that and the rest, or what is left of it without the site's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

_MARK = r"(?:\s*[|»«›‹·•:/\\—–>]|\s-)"
_BEFORE = re.compile(rf"{_MARK}[-|»«›:>\s]*\Z")
_BEHIND = re.compile(rf"{_MARK}|-\s|\s*[\[(]")
LEAST = 4
"""Letters of a title that a page names; a shorter one may stand in others by chance."""


def own_title(title: str, named: Iterable[str], headings: Iterable[str], site: str) -> str:
    """`title`: one line; `named`: what else the page says its title is, best first; `headings`: of the first level,
    some of which are the site's name; `site`: that name, "": not known."""
    names, heads = list(filter(None, map(_line, named))), list(filter(None, map(_line, headings)))
    if not title:
        return next(chain(names, heads), "")
    own = _letters(site)
    for name, last in chain(((name, True) for name in names), ((head, False) for head in heads)):
        if len(name) >= LEAST and _letters(name) != own and (part := _part(title, name, last=last)):
            return part
    return _without(title, site) if site else title


def _line(text: str) -> str:
    return " ".join(text.split())


def _part(title: str, name: str, *, last: bool) -> str:
    """The title's beginning or end that is this name, where it is one with a mark before or behind it."""
    low, name = title.casefold(), name.casefold()
    if len(low) != len(title) or len(name) >= len(low):
        return ""
    if low.startswith(name) and _BEHIND.match(title, len(name)):
        return title[: len(name)]
    if last and low.endswith(name) and _BEFORE.search(title[: -len(name)]):
        return title[-len(name) :]
    return ""


def _without(title: str, site: str) -> str:
    low, name = title.casefold(), site.casefold()
    if len(low) != len(title) or len(name) >= len(low):
        return title
    if low.endswith(name) and (mark := _BEFORE.search(title[: -len(name)])):
        return title[: mark.start()].rstrip() or title
    if low.startswith(name) and (mark := _BEHIND.match(title, len(name))):
        return title[mark.end() :].lstrip() or title
    return title


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
