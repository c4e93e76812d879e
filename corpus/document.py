"""A document: what the corpus is made of; and its form as one line of JSON.

The line has the document's paragraphs as ``text``, one a line, and beside it ``paragraphs``, as many entries as
``text`` has lines, with language, kind and words of each. So tools that know only ``text`` (Hugging Face datasets,
datatrove) can read it, and nothing is stored twice.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from relevance.types import UNDETERMINED

_WORD = re.compile(r"\S+")
_MANY_LETTERS = 1 << 20
PUBLICATION = ("published", "author", "site", "licence")
"""What a page says of its publication: names of a document's fields, of keys in JSON and of attributes in vertical
text."""
SAID = (*PUBLICATION, "published_from")
"""The same, and whence the date is, in all forms of a document."""
FEED = "feed"
"""Of :attr:`Document.published_from`."""


@dataclass(frozen=True, slots=True)
class Source:
    """How a link stands in what it was read from. ``href`` and ``markup`` (between its tags): as written there;
    ``address_at`` and ``anchor_at``: bytes before its address and its text, -1: not known."""

    href: str
    markup: str
    address_at: int = -1
    anchor_at: int = -1


@dataclass(frozen=True, slots=True)
class Link:
    """The letters ``start`` to ``end`` of a paragraph's text are the anchor of a link to ``url`` (absolute)."""

    start: int
    end: int
    url: str
    source: Source | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of running text without line breaks. ``language``: ISO 639-3 or "und"; ``kind``: of relevance.Block.

    ``words``: white-space separated.
    """

    text: str
    kind: str = "main"
    language: str = UNDETERMINED
    links: tuple[Link, ...] = ()

    @property
    def words(self) -> int:
        if len(self.text) < _MANY_LETTERS:
            return len(self.text.split())
        return sum(1 for _ in _WORD.finditer(self.text))  # slower, but no list of millions of words

    @property
    def size_bytes(self) -> int:
        return len(self.text.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Document:
    """``id``: unique (the WARC record's UUID); ``date``: when it was captured, as the archive writes it; ``place``:
    file and offset of its record; ``charset``: that it was read with; ``truncated``: reason when the archive has only
    its beginning. ``published``, ``author``, ``site``, ``licence``: as of
    :class:`relevance.pages.publication.Publication`, "" where the page does not say; ``published_from``: whence the
    date is where no markup says it, :data:`FEED`, :data:`relevance.pages.publication.PRINTED`, else ""."""

    id: str
    url: str
    title: str = ""
    date: str = ""
    language: str = UNDETERMINED
    paragraphs: tuple[Paragraph, ...] = ()
    charset: str = ""
    place: str = ""
    truncated: str = ""
    published: str = ""
    author: str = ""
    site: str = ""
    licence: str = ""
    published_from: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(paragraph.text for paragraph in self.paragraphs)

    @property
    def words(self) -> int:
        return sum(paragraph.words for paragraph in self.paragraphs)

    @property
    def size_bytes(self) -> int:
        """Bytes of the text in UTF-8, line ends between paragraphs not counted."""
        return sum(paragraph.size_bytes for paragraph in self.paragraphs)


def host_of(url: str) -> str:
    """Host in lower case without port, "" when the URL has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def main_language(paragraphs: tuple[Paragraph, ...]) -> str:
    """The language of most words; "und" only when no paragraph has another."""
    named = {paragraph.language for paragraph in paragraphs} - {UNDETERMINED}
    if len(named) < 2:  # as nearly always: no words have to be counted
        return next(iter(named), UNDETERMINED)
    words: Counter[str] = Counter()
    for paragraph in paragraphs:
        words[paragraph.language] += paragraph.words
    del words[UNDETERMINED]
    return words.most_common(1)[0][0]


_SOMETIMES = ("published_from", "truncated")


def to_json(document: Document) -> str:
    """One line, without its line end. Keys always in this order; ``published_from`` and ``truncated`` only when there
    is something to say."""
    row: dict[str, Any] = {
        "id": document.id,
        "url": document.url,
        "title": document.title,
        "date": document.date,
        **{name: getattr(document, name) for name in PUBLICATION},
        "language": document.language,
        "words": document.words,
        "text": document.text,
        "paragraphs": [
            {"language": paragraph.language, "kind": paragraph.kind, "words": paragraph.words}
            for paragraph in document.paragraphs
        ],
        "charset": document.charset,
        "place": document.place,
    }
    for name in _SOMETIMES:
        if value := getattr(document, name):
            row[name] = value
    return json.dumps({**row, **document.extra}, ensure_ascii=False)


_WORDS = ("id", "url", "title", "date", "charset", "place", "truncated")
_KNOWN = frozenset((*_WORDS, "language", "words", "text", "paragraphs"))


def from_json(line: str) -> Document:
    """The document of a line; fields that others have added are in ``extra``. ValueError when it is none.

    A line with ``text`` and without ``paragraphs`` (of another tool) has a paragraph a line, in the document's
    language.
    """
    return of_row(row_of(line))


def row_of(line: str) -> dict[str, Any]:
    """The fields of a line, as they are there. ValueError when it is no object."""
    try:
        row = json.loads(line)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(row, dict):
        raise ValueError("no object with a text")
    return row


def of_row(row: dict[str, Any]) -> Document:
    """As :func:`from_json`, of a line's fields."""
    paragraphs = tuple(map(paragraph_of, *parts_of_row(row)))
    words = {name: said_in(row, name) for name in _WORDS}
    # Other tools have keys of these names, too: what is no text stays what it is.
    words.update((name, row[name]) for name in SAID if isinstance(row.get(name), str))
    extra = {name: value for name, value in row.items() if name not in _KNOWN and name not in words}
    return Document(paragraphs=paragraphs, language=said_in(row, "language") or UNDETERMINED, extra=extra, **words)


def said_in(row: Mapping[str, Any], name: str) -> str:
    """A field of a line, or of one of its paragraphs, as text, "" where it has none. 0 is one: others number their
    documents from there."""
    value = row.get(name)
    return str(value) if value or (value == 0 and value is not False) else ""


def parts_of_row(row: dict[str, Any]) -> tuple[list[str], list[dict[str, Any]]]:
    """The texts of the paragraphs of a line, and the facts of each, as :func:`from_json` takes them."""
    if not isinstance(row.get("text"), str):
        raise ValueError("no object with a text")
    facts = row.get("paragraphs")
    texts = row["text"].split("\n") if row["text"] or facts else []  # one empty line is a paragraph that facts name
    if facts is None:
        facts = [{"language": said_in(row, "language") or UNDETERMINED}] * len(texts)
    if not isinstance(facts, list) or len(facts) != len(texts) or not all(isinstance(fact, dict) for fact in facts):
        raise ValueError("paragraphs do not fit the lines of text")
    return texts, facts


def paragraph_of(text: str, fact: Mapping[str, Any]) -> Paragraph:
    """A paragraph of a line, by its text and its facts."""
    return Paragraph(text, said_in(fact, "kind") or "main", said_in(fact, "language") or UNDETERMINED)
