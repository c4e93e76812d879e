"""What of an HTML page a parser can be given.

A parser that goes by the standard needs time that grows with the square of the nesting, of the attributes of an element
and of the different names in a page, and for each paragraph opens anew the formatting elements that were not closed.
The links of a site stand well before such a bound in any page that is not made to be slow, so it is cut there. What may
be a tag counts wherever it stands, in scripts and comments, too: nothing depends on what the parser takes for text. The
bounds were measured for `relevance.pages.flattened` (docs/relevance.md), which keeps the text of such pages; nothing
but links is read here.

In what is served as XHTML `<script/>` and `<title/>` are empty, where HTML would have all that follows for their text:
such elements get an end tag (as `relevance.pages.xhtml` has it; one too many does no harm to links).
"""

from __future__ import annotations

import re

from seeds.markup.encodings import narrowed

__all__ = ["parsable"]

_MOST_TAGS = 15_000
_MOST_NAMES = 40_000
_MOST_PAIRS = 200_000_000  # of attributes of one element
_MOST_COPIED = 400_000_000  # bytes that are opened anew
_MOST_MOVED = 1_600_000_000  # bytes, of which a quarter is kept
_MOST_READ = 4  # times the length of the page, where what may be tags lies within what may be tags
_NODE_BYTES = 400
_ATTRIBUTE_BYTES = 200
_EQUAL = 3  # formatting elements that may be open at a time
_BLANK = r"[ \t\n\f\r]"
_ONE = (
    rf"[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+{_BLANK}*+"
    rf"(?:={_BLANK}*+(?:\"[^\"]*+\"?+|'[^']*+'?+|[^\"' \t\n\f\r>]?+[^ \t\n\f\r>]*+))?+"
)
_ATTRIBUTE = re.compile(_ONE)
_TAG = re.compile(rf"<(?:(?=/?([a-zA-Z][^ \t\n\f\r/><]*+)((?:[ \t\n\f\r/]*+{_ONE})*+))|)")
_EMPTY = re.compile(r"<([a-zA-Z][^\s/<>]*+)((?:[^<>\"'/]++|\"[^<\"]*+\"|'[^<']*+'|/(?!>))*+)/>")
_FORMATTING = frozenset(("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"))


def parsable(page: bytes, content_type: str | None = None) -> str:
    """The page, as UTF-8 unless it is wide, up to the tag from which on it would cost too much.

    Without the two references that are longer as characters than as written: lexbor writes them over what follows.
    """
    html = narrowed(page).decode("utf-8", "replace")
    if (content_type or "").partition(";")[0].strip().lower() == "application/xhtml+xml":
        html = _EMPTY.sub(r"<\1\2></\1>", html)
    html = html.replace("&nGt;", "\u226b\u20d2").replace("&nLt;", "\u226a\u20d2")
    tags = min(html.count("<"), _MOST_TAGS)
    room = _MOST_READ * len(html)
    names = pairs = rooted = link = others = parting = 0
    opened: set[tuple[str, str]] = set()
    for number, tag in enumerate(_TAG.finditer(html)):
        name, rest = (tag[1] or "").lower(), tag[2] or ""
        count = len(_ATTRIBUTE.findall(rest))
        room -= len(rest)
        names += 1 + count
        pairs += count**2
        if name in ("html", "body"):  # the attributes of all are brought together
            pairs += 2 * count * rooted
            rooted += count
        elif name == "a":  # one at a time
            link = max(link, _cost(rest, count))
        elif name in _FORMATTING and (name, rest) not in opened:
            opened.add((name, rest))
            others += _EQUAL * _cost(rest, count)
        if number == _MOST_TAGS or room < 0 or names > _MOST_NAMES or pairs > _MOST_PAIRS:
            return html[: tag.start()]
        parting += name in ("", "input")  # text in tables and behind the body is copied to be added to
        if tags * (link + others) > _MOST_COPIED or parting * len(html) > _MOST_MOVED:
            return html[: tag.start()]
    return html


def _cost(rest: str, attributes: int) -> int:
    return _NODE_BYTES + len(rest) + _ATTRIBUTE_BYTES * attributes
