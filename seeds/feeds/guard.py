"""Refuses a document before a feed parser can be made to work too hard on it.

feedparser reads almost anything, at a price: its time grows with the square of the nesting, of the attributes of one
element and of the stray `<` in broken markup, and it holds every element in memory. The fetcher bounds what is
transferred and unpacked; this bounds what is parsed. The scan is linear in the document whatever it contains, and sees
the same text the parser will see (after conversion to UTF-8), so no encoding hides anything from it.

Entities are the other way to make a small document large. No feed needs entities of its own beyond a few characters, so
an internal subset that defines any which refer to others, or a long one, is refused rather than expanded.
"""

from __future__ import annotations

import re

from seeds.feeds.types import FeedError

__all__ = ["MAX_BYTES", "check_items", "check_text"]

MAX_BYTES = 8 << 20
MAX_TAGS = 250_000
MAX_ENTRIES = 20_000
MAX_ATTRIBUTES = 400
MAX_STRAY = 500  # "<" that open nothing, in a document that is to be rescued
MAX_WORK = 50_000_000  # sum over all tags of the depth at which they stand
MAX_ENTITY_BYTES = 64
MAX_ENTITIES = 300
MAX_PROLOG = 32 << 10  # before the first element
MAX_PREFIXES = 200
MAX_BASE = 8 << 10  # of the tags with xml:base that stand in one another

_TAG = re.compile(rb"<([/!?]?)([^\s<>/]*+)([^<>]*+)>")
_SECTION = re.compile(rb"<!--|<!\[CDATA\[")
_PREFIX = re.compile(rb"xmlns:([^\s=<>]{1,100})")
_ENTRY = re.compile(rb"<(?:[\w.-]+:)?(?:item|entry)[\s/>]", re.IGNORECASE)
_ENTITY = re.compile(rb"<!ENTITY\s++(%\s*+[^\s>]*+|[^\s>]++)\s*+(\"[^\"]*\"|'[^']*'|[^>]*)", re.IGNORECASE)
_CHARACTER = re.compile(rb"&#\w{1,8};")
_VOID = frozenset(b"br img hr meta link input area base col embed source track wbr p li".split())


def check_items(number: int) -> None:
    """Refuse a feed of more items than anybody's has."""
    if number > MAX_ENTRIES:
        raise FeedError("too_many_tags", f"more than {MAX_ENTRIES} items")


def check_text(text: bytes) -> None:
    """Refuse a document (UTF-8) that would cost too much to parse."""
    if len(text) > MAX_BYTES:
        raise FeedError("too_large", f"{len(text)} bytes, limit {MAX_BYTES}")
    _check_entities(text)
    if text.count(b"xmlns:") > MAX_PREFIXES and len(set(_PREFIX.findall(text))) > MAX_PREFIXES:
        raise FeedError("too_many_attributes", f"more than {MAX_PREFIXES} namespace prefixes")
    for count, _ in enumerate(_ENTRY.finditer(text), start=1):
        check_items(count)
    _check_markup(_without_sections(text))


def _check_entities(text: bytes) -> None:
    first = re.search(rb"<[\w]", text)
    head = text[: first.start()] if first else text
    if first and len(head) > MAX_PROLOG:
        raise FeedError("broken_markup", f"{len(head)} bytes before the first element, limit {MAX_PROLOG}")
    if b"<!ENTITY" not in head.upper():
        return
    for number, match in enumerate(_ENTITY.finditer(head)):
        value = match[2]
        if number >= MAX_ENTITIES:
            raise FeedError("entity_expansion", f"more than {MAX_ENTITIES} entities defined")
        if len(value) > MAX_ENTITY_BYTES or b"&" in _CHARACTER.sub(b"", value) or match[1].startswith(b"%"):
            name = match[1][:40].decode("utf-8", "replace")
            raise FeedError("entity_expansion", f"the entity {name!r} is more than a character or a short text")


def _without_sections(text: bytes) -> bytes:
    """The text less its comments and CDATA sections; one that never ends takes the rest along."""
    kept, position = [], 0
    while True:
        section = _SECTION.search(text, position)
        if section is None:
            kept.append(text[position:])
            return b"".join(kept)
        kept.append(text[position : section.start()])
        end = text.find(b"-->" if section[0] == b"<!--" else b"]]>", section.start())
        if end < 0:
            return b"".join(kept)
        position = end + 3


def _check_markup(text: bytes) -> None:
    tags = depth = work = based = 0
    bases: list[tuple[int, int]] = []  # depth and size of the open tags with xml:base
    for tags, match in enumerate(_TAG.finditer(text), start=1):
        mark, name, rest = match.groups()
        if mark == b"/":
            depth -= depth > 0
        elif not mark and not rest.endswith(b"/") and name.lower() not in _VOID and match[0][-2:] != b"/>":
            depth += 1
        work += depth
        if b":base" in rest:
            while bases and bases[-1][0] >= depth:
                based -= bases.pop()[1]
            bases.append((depth, len(rest)))
            based += len(rest)
            if based > MAX_BASE:
                raise FeedError("too_many_attributes", f"more than {MAX_BASE} bytes of xml:base")
        if rest.count(b"=") > MAX_ATTRIBUTES:
            raise FeedError("too_many_attributes", f"more than {MAX_ATTRIBUTES} in one element")
        if tags > MAX_TAGS:
            raise FeedError("too_many_tags", f"more than {MAX_TAGS} tags")
        if work > MAX_WORK:
            raise FeedError("too_deep", f"elements nested {depth} deep")
    stray = text.count(b"<") - tags
    if stray > MAX_STRAY:
        raise FeedError("broken_markup", f"{stray} times < without a tag")
