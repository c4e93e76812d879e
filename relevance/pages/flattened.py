"""Pages that would take a parser of HTML minutes or gigabytes, made flat before it sees them.

A parser that goes by the standard needs time that grows with the square of the nesting and of the attributes of an
element, and for each paragraph opens anew whatever formatting elements (`<font …>`) were not closed: 100 KB of those
become gigabytes. Browsers cap nesting (512 in WebKit and Blink); lexbor does not.

`flattened` returns usual pages as they are. What lexbor may have to do is bounded by counts: of tags, of what may be
attributes, and of the formatting elements, wherever in the page such a tag may begin, in scripts and comments, too: so
nothing depends on what the parser takes for text. Of pages above a bound it leaves what cannot nest: paragraphs,
headings, list entries, links and what the head says; other block elements become paragraphs, inline ones are left out,
likewise what is never text. So text and links stay, up to the 100,000th tag; what is lost is what navigation is.
Linear in the page, whatever it holds. Source: WHATWG HTML 13.2.5 (tags) and 13.2.4.3 (formatting elements).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

__all__ = ["INLINE_NAMES", "NEVER_TEXT", "flattened", "is_usual"]

MOST_TAGS = 100_000
"""`<` of a page that are looked at."""
MOST_STEPS = 125_000_000
"""Elements that lexbor may pass (5-8 ns each), when every tag makes it walk through all that may be open."""
MOST_ATTRIBUTES = 15_000
"""Of an element: each is compared with all before it (5-8 ns a pair)."""
MOST_NAMES = 40_000
"""Of tags and attributes, different ones: lexbor keeps them in a table that does not grow."""
MOST_COPIED = 400_000_000
"""Bytes, at most, of the formatting elements that lexbor may open anew."""
MOST_MOVED = 1_600_000_000
"""Bytes of text that lexbor may copy (and keep a quarter of) to add to them, as what stands between goes elsewhere."""
NEVER_TEXT = (
    *("script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "math"),
    *("audio", "video", "canvas", "applet"),
    *("select", "textarea", "button"),
)
INLINE_NAMES = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
_NODE_BYTES = 1200  # 350, and time: what a node costs whoever walks through the tree
_ATTRIBUTE_BYTES = 200  # without its value
_EQUAL = 3  # formatting elements with equal attributes that the standard opens anew, and compares with the next one
_MOST_READ = 4  # times the length of the page, where what may be tags lies within what may be tags
_SHORT = 240  # bytes of attributes that are not counted one by one
_SHORT_LINKS = 1_500_000  # the same of links, tags times bytes: 100 MB of copies
_BLANK = r"[\ \t\n\f\r]"
_NAME = r"[a-zA-Z][^\ \t\n\f\r/><]*+"
_WORD = r"[^\ \t\n\f\r/>][^\ \t\n\f\r/>=]*+"
_VALUE = rf"{_BLANK}*+(?:={_BLANK}*+(?:\"[^\"]*+\"?+|'[^']*+'?+|[^\"'\ \t\n\f\r>]?+[^\ \t\n\f\r>]*+))?+"
# What is usual first: that is faster.
_REST = rf"(?:\ [a-zA-Z-]++=\"[^\"]*+\")*+(?:[\ \t\n\f\r/]*+{_WORD}{_VALUE})*+[\ \t\n\f\r/]*+"
_ATTRIBUTE = re.compile(f"{_WORD}{_VALUE}".encode())
_PARTED_ATTRIBUTE = re.compile(f"({_WORD})({_VALUE})".encode())
_ELEMENT = re.compile(rf"</?({_NAME})(?!>)({_REST})".encode())
_FORMATTING_NAMES = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
_PLAIN_NAMES = frozenset(b"div li p span ul".split())
"""Most elements are of these, which are neither."""
_FORMATTING = re.compile(
    r"<(?=[abcefinstuABCEFINSTU])((?i:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u))"
    rf"(?=[\s/>])({_REST})".encode()
)
_TOKEN = re.compile(
    rf"""
      <!--(?:-?>|.*?(?:--!?>|\Z)) | <[!?][^>]*+>?
    | <(?P<never>script|style|noscript|template|iframe|object|svg|math|select|textarea|button|xmp|noembed|noframes)
      (?=[\s/>]).*?(?:</(?P=never)(?=[\s/>])[^>]*+>?|\Z)
    | <title(?=[\s/>])[^>]*+>(?P<title>.*?)(?:</title(?=[\s/>])[^>]*+>?|\Z)
    | <(?P<end>/?)(?P<name>{_NAME})(?P<rest>{_REST})(?:>|(?P<unended>.*))
    """.encode(),
    re.X | re.I | re.S,
)
_PARTING = re.compile(rb"<(?:[!?]|/[^a-zA-Z>]|[iI][nN][pP][uU][tT])")  # of text in tables and behind the body
_LONGER = re.compile(rb"&n[GL]t;")
"""What they mean is longer than what they are written as, as with no others: lexbor writes it over what follows in
memory."""
_MEANT = {b"&nGt;": "\u226b\u20d2".encode(), b"&nLt;": "\u226a\u20d2".encode()}
_Elements = list[tuple[bytes, bytes]]
_BEFORE_ATTRIBUTES = bytes(code in b" \t\n\f\r/" for code in range(256))
_BETWEEN_ATTRIBUTES = bytes(code in b" \t\n\f\r/=" for code in range(256))
_KEPT = frozenset(b"html meta link base a area br h1 h2 h3 h4 h5 h6 li".split())
_READ = frozenset(b"content href hreflang http-equiv lang name property rel type xml:lang".split())
_CLOSED = frozenset(b"h1 h2 h3 h4 h5 h6 li".split())
_LISTED = frozenset((b"td", b"th", b"dt"))
_LEFT_OUT = frozenset(f"{INLINE_NAMES} head body img input embed source param track".encode().split()) - _KEPT


def flattened(page: bytes, usual: bool | None = None) -> bytes:
    """`page` (UTF-8) when it can be parsed at its length's cost, else what is left of it when nothing nests. `usual`:
    whether it can, None: not known."""
    page = _LONGER.sub(lambda found: _MEANT[found[0]], page)
    return page if (is_usual(page) if usual is None else usual) else _Flat().made_of(page)


def is_usual(page: bytes) -> bool:
    """Can this page be parsed at its length's cost?"""
    tags = int(np.count_nonzero(np.frombuffer(page, np.uint8) == ord("<")))  # a third of the time of bytes.count
    if tags > MOST_NAMES or (tags**2 // 2 > MOST_STEPS and _steps(page, tags) > MOST_STEPS):
        return False
    if tags * len(page) > MOST_MOVED and len(_PARTING.findall(page)) * len(page) > MOST_MOVED:
        return False
    parts = _parts(page)
    elements = _found(_ELEMENT, page) if parts > MOST_ATTRIBUTES else []
    if elements is None or all(_pairs(elements, count) > MOST_ATTRIBUTES**2 for count in (_at_most, _attributes)):
        return False
    if parts > MOST_NAMES and _names(elements) > MOST_NAMES:
        return False
    formatting = _found(_FORMATTING, page)
    return formatting is not None and tags * _copied(formatting, _SHORT_LINKS // (tags + 1)) <= MOST_COPIED


def _steps(page: bytes, tags: int) -> int:
    """Open elements, at most, that lexbor passes when each tag makes it look for one that is not there."""
    ends = page.count(b"</")
    starts = tags - ends
    return starts * (starts // 2 + ends)


def _parts(page: bytes) -> int:
    """At least as many as there are attributes: each comes after a blank or slash, or else after a quoted value."""
    before = np.frombuffer(page.translate(_BEFORE_ATTRIBUTES), np.uint8)
    values = np.count_nonzero(np.frombuffer(page, np.uint8) == ord("="))
    return int(np.count_nonzero(before[:-1] > before[1:]) + values)


def _found(pattern: re.Pattern[bytes], page: bytes) -> _Elements | None:
    """Names and attributes of what may be tags, also within one another; None where they are so too often."""
    found: _Elements = pattern.findall(page)
    if b"<" not in b"".join(chain.from_iterable(found)):
        return found
    # Without a quote what is within ends with it.
    around = {place for place, (_, rest) in enumerate(found) if b"<" in rest and (b'"' in rest or b"'" in rest)}
    outers = (outer for place, outer in enumerate(pattern.finditer(page)) if place in around)
    room = _MOST_READ * len(page)
    for outer in outers if around else ():
        for inner in _within(pattern, page, outer.start() + 1, outer.end()):
            found.append(inner)
            room -= len(inner[1])
            if room < 0:
                return None
    return found


def _within(pattern: re.Pattern[bytes], page: bytes, at: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    while (at := page.find(b"<", at, end)) >= 0:
        if match := pattern.match(page, at):
            yield match[1], match[2]
        at += 1


def _pairs(elements: _Elements, attributes: Callable[[bytes], int]) -> int:
    """Pairs of attributes, at most, that lexbor compares."""
    rooted = pairs = 0
    for written, rest in elements:
        count = attributes(rest)
        if written in _PLAIN_NAMES:
            pairs += count**2
            continue
        name = written.lower()
        if name in (b"html", b"body"):
            rooted += count  # those of all are brought together
        pairs += count**2 * (1 + _EQUAL if name in _FORMATTING_NAMES else 1)
    return rooted**2 + pairs


def _names(elements: _Elements) -> int:
    return len({word.lower() for _, rest in elements for word, _ in _PARTED_ATTRIBUTE.findall(rest)})


def _copied(elements: _Elements, short: int) -> int:
    """Bytes, at most, that lexbor may open anew in a paragraph: three of those that are equal, of links one at all.
    Of links that are shorter the attributes are not counted."""
    links = {rest for name, rest in elements if len(rest) > short and name in b"aA"}
    others = Counter(element for element in elements if element[0] not in b"aA")
    link = max((len(rest) + _ATTRIBUTE_BYTES * len(_ATTRIBUTE.findall(rest)) for rest in links), default=0)
    several = sum(
        (_NODE_BYTES + len(rest) + _ATTRIBUTE_BYTES * len(_ATTRIBUTE.findall(rest))) * min(times, _EQUAL)
        for (_, rest), times in others.items()
    )
    return _NODE_BYTES + max(link, short + _ATTRIBUTE_BYTES * _room_for_attributes(short)) + several


def _at_most(rest: bytes) -> int:
    """Soon counted: before each attribute is a blank, a slash or the quoted value of another one."""
    if len(rest) <= _SHORT:
        return _room_for_attributes(len(rest))
    return 1 + int(np.count_nonzero(np.frombuffer(rest.translate(_BETWEEN_ATTRIBUTES), np.bool_)))


def _attributes(rest: bytes) -> int:
    """Exactly in long tags, in short ones at most."""
    return len(_ATTRIBUTE.findall(rest)) if len(rest) > _SHORT else _room_for_attributes(len(rest))


def _room_for_attributes(length: int) -> int:
    """Some dozens of names have one letter, the others two or more, and before each is a blank."""
    return length // 3 + 20


class _Flat:
    """The parts of one page that is made flat."""

    def __init__(self) -> None:
        self._out: list[bytes] = []
        self._open = b""  # a heading or an entry of a list
        self._blocks_in_link = -1  # none is open
        self._rooted = False

    def made_of(self, page: bytes) -> bytes:
        done = 0
        for number, token in enumerate(_TOKEN.finditer(page)):
            if number == MOST_TAGS:
                return b"".join(self._out)
            self._out.append(page[done : token.start()].replace(b"<", b"&lt;"))
            done = token.end()
            if token["title"] is not None:
                self._out.append(b"<title>%b</title>" % token["title"])
            elif token["name"] and token["unended"] is None:
                self._tag(token["name"].lower(), bool(token["end"]), token["rest"])
        self._out.append(page[done:].replace(b"<", b"&lt;"))
        return b"".join(self._out)

    def _tag(self, name: bytes, ends: bool, rest: bytes) -> None:
        if name in _LEFT_OUT or (name == b"html" and self._rooted):
            return
        self._rooted = self._rooted or name == b"html"
        name = name if name in _KEPT else b"li" if name in _LISTED else b"p"
        if name == b"a":
            self._blocks_in_link = -1 if ends else 0
        elif name == b"p" or name in _CLOSED:
            self._close_blocks()
            self._open = b"" if ends or name == b"p" else name
        if ends:
            self._out.append(b"</%b>" % (b"p" if name in _CLOSED else name))
        else:
            read = (word + value for word, value in _PARTED_ATTRIBUTE.findall(rest) if word.lower() in _READ)
            self._out.append(b"<%b %b>" % (name, b" ".join(read) if name != b"p" else b""))

    def _close_blocks(self) -> None:
        """Headings and list entries would nest; a link that is not closed would be opened anew in each paragraph."""
        if self._open:
            self._out.append(b"</%b>" % self._open)
        if self._blocks_in_link >= 0:
            self._blocks_in_link += 1
            if self._blocks_in_link > 2:
                self._out.append(b"</a>")
                self._blocks_in_link = -1
