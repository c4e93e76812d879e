"""Pages that would take a parser of HTML minutes or gigabytes, made flat before it sees them.

A parser that goes by the standard needs time that grows with the square of the nesting and of the attributes of an
element, and for each paragraph opens anew whatever formatting elements (`<font …>`) were not closed: 100 KB of those
become gigabytes. Browsers cap nesting (512 in WebKit and Blink); lexbor does not.

`flattened` returns usual pages as they are, judged by counts alone: up to 10,000 elements or so, without heaps of
formatting elements with attributes. Of others it leaves what cannot nest: paragraphs, headings, list entries, links
and what the head says; other block elements become paragraphs, inline ones are left out, likewise what is never text.
So text and links stay; what is lost is what navigation is. Linear in the page, whatever it holds.
Source: WHATWG HTML 13.2.5 (tags).
"""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["INLINE_NAMES", "NEVER_TEXT", "flattened"]

MOST_TAGS = 20_000
"""`<` in a page that is parsed as it is, end tags too."""
MOST_COPIED = 500_000_000
"""Bytes, at most, of the formatting elements that the parser may open anew."""
MOST_PARTS = 20_000
"""White space, slashes and equals signs of a page whose tags are not looked at one by one."""
_PART_CHARS = 4
"""Of an attribute and what is before it, at least in the mean: few different names are shorter than three letters."""
MOST_ATTRIBUTES = 1000
"""Of an element in a page that is parsed as it is."""
NEVER_TEXT = (
    *("script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "math"),
    *("select", "textarea", "button"),
)
INLINE_NAMES = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike "
    "strong sub sup time tt u var wbr"
)
_NODE_BYTES = 350
_EQUAL = 3  # formatting elements with equal attributes that the standard opens anew, of thirteen names
_PLAIN_BYTES = 13 * _EQUAL * _NODE_BYTES
_MOST_FLAT = 100
_FORMATTING = re.compile(r"<(a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*+", re.I)
_ROOT = re.compile(r"<(?:html|body)[\s/>]", re.I)
_MOST_ROOTS = 10  # the attributes of all are brought together
_BLANK = r"[ \t\n\f\r]"
_ONE = rf"[^\s/>][^\s/>=]*+{_BLANK}*+(?:={_BLANK}*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^\s>]*+))?+"
_TOKEN = re.compile(
    rf"""
      <!--(?:-?>|.*?(?:--!?>|\Z)) | <[!?][^>]*+>?
    | <(?P<never>script|style|noscript|template|iframe|object|svg|math|select|textarea|button|xmp|noembed|noframes)
      (?=[\s/>]).*?(?:</(?P=never)(?=[\s/>])[^>]*+>?|\Z)
    | <title(?=[\s/>])[^>]*+>(?P<title>.*?)(?:</title(?=[\s/>])[^>]*+>?|\Z)
    | <(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)
      (?P<rest>(?:[\s/]++|{_ONE})*+)
      (?:>|(?P<unended>.*))
    """,
    re.X | re.I | re.S,
)
_FOREIGN = re.compile(r"<(svg|math)(?=[\s/>]).*?(?:</\1(?=[\s/>])|\Z)", re.I | re.S)
_ATTRIBUTES = rf"(?:[\s/]*+{_ONE}){{0,{MOST_ATTRIBUTES}}}+[\s/]*+(?:>|\Z)"
_RAW = ("script", "style", "iframe", "xmp", "noembed", "noframes", "textarea", "title")
# A name at a time: Python's re may fail with groups that are remembered within what never goes back (cpython 101955).
_RAW_ELEMENTS = " | ".join(rf"<{name}(?=[\s/>]){_ATTRIBUTES}(?:[^<]++|<(?!/{name}[\s/>]))*+" for name in _RAW)
_CALM = re.compile(
    rf"""
    (?: [^<]++ | <!--(?:-?>|.*?(?:--!?>|\Z)) | <[!?][^>]*+>?
      | {_RAW_ELEMENTS} | </?(?!(?:{"|".join(_RAW)})[\s/>])[a-zA-Z][^\s/>]*+{_ATTRIBUTES} | </(?={"|".join(_RAW)})
      | <(?!/?[a-zA-Z])
    )*+
    """,
    re.X | re.I | re.S,
)
"""As much of a page as comes before the first element with too many attributes."""
_KEPT = frozenset(("html", "meta", "link", "base", "a", "area", "br", "h1", "h2", "h3", "h4", "h5", "h6", "li"))
_LISTED = frozenset(("td", "th", "dt"))
_LEFT_OUT = frozenset((*INLINE_NAMES.split(), "head", "body", "img", "input", "embed", "source", "param", "track"))


def flattened(text: str) -> str:
    """`text` when it can be parsed at its length's cost, else what is left of it when nothing nests."""
    return text if _is_usual(text) else _Flat().made_of(text)


def _is_usual(text: str) -> bool:
    tags = text.count("<")
    if tags > MOST_TAGS:
        return False
    if tags * (tags * _NODE_BYTES // 4 + len(text)) > MOST_COPIED < tags * _copied(text):
        return False
    if len(text) <= _PART_CHARS * MOST_PARTS or _parts(text) <= MOST_PARTS:
        return True
    if len(_ROOT.findall(text)) > _MOST_ROOTS:
        return False
    if any(_parts(found[0]) > MOST_PARTS for found in _FOREIGN.finditer(text)):
        return False  # within svg and math other rules hold for what is text
    calm = _CALM.match(text)
    return calm is not None and calm.end() == len(text)


def _copied(text: str) -> int:
    """Bytes, at most, that the parser may open anew in each paragraph."""
    longest = 0
    formatting: Counter[str] = Counter()
    for found in _FORMATTING.finditer(text):
        if found[1] in ("a", "A"):  # one at a time
            longest = max(longest, found.end() - found.start())
        else:
            formatting[found[0]] += 1
    several = sum((_NODE_BYTES + len(tag)) * min(count, _EQUAL) for tag, count in formatting.items())
    return _PLAIN_BYTES + longest + several


def _parts(text: str) -> int:
    """At least as many as there may be attributes."""
    return len(text.split()) + text.count("/") + text.count("=")


class _Flat:
    """The parts of one page that is made flat."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._blocks_in_link = -1  # none is open
        self._rooted = False

    def made_of(self, text: str) -> str:
        done = 0
        for token in _TOKEN.finditer(text):
            self._out.append(text[done : token.start()].replace("<", "&lt;"))
            done = token.end()
            if token["title"] is not None:
                self._out.append(f"<title>{token['title']}</title>")
            elif token["name"] and token["unended"] is None:
                self._tag(token["name"].lower(), bool(token["end"]), token["rest"])
        self._out.append(text[done:].replace("<", "&lt;"))
        return "".join(self._out)

    def _tag(self, name: str, ends: bool, rest: str) -> None:
        if name == "a":
            self._blocks_in_link = -1 if ends else 0
        elif name in _LEFT_OUT or (name == "html" and self._rooted):
            return
        elif name not in _KEPT or name == "li":
            self._close_link()
        self._rooted = self._rooted or name == "html"
        name = name if name in _KEPT else "li" if name in _LISTED else "p"
        if ends:
            self._out.append(f"</{name}>")
        elif name == "p" or len(rest.split()) + rest.count("/") > _MOST_FLAT:
            self._out.append(f"<{name}>")
        else:
            self._out.append(f"<{name} {rest}>")

    def _close_link(self) -> None:
        """A link that is not closed would be opened anew in each paragraph."""
        if self._blocks_in_link >= 0:
            self._blocks_in_link += 1
            if self._blocks_in_link > 2:
                self._out.append("</a>")
                self._blocks_in_link = -1
