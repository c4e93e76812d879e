"""Vertical text, row by row: what a row is, where it may stand, and which rows make a document.

For tools that change rows and leave all others as they are, structures that nobody knows among them;
:mod:`corpus.vertical.reading` makes documents of the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from corpus.errors import Fault, FormatError
from relevance.language.noise import unescaped

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5"))
PARAGRAPHS = HEADINGS | {"p", "head"}
_TAG = re.compile(r"""<(/?)([a-zA-Z_][\w.:-]*)(\s(?>[^>"']|"[^"]*"|'[^']*')*+|\s[^>]*|)(/?)>\Z""")
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]++)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_LINK = re.compile(r'<link="([^"]*)"\s*/?>\Z')
_LENGTH = re.compile(r'<len(?:gth|ght)="?(\d{1,9})"?\s*/?>\Z')
_IMAGE = re.compile(r'<img="([^"]*)"\s*/?>\Z')
_LIKE_DOC = re.compile(rb"(?:\xef\xbb\xbf)?</?doc[\s>/]", re.I)
_SHORT = 40


class Tag(NamedTuple):
    """A row that is no token: ``<name …>`` or ``</name>``; ``name`` in small letters, ``text`` as the row has it
    behind the name."""

    name: str
    closing: bool
    text: str

    @property
    def attributes(self) -> dict[str, str]:
        return {name: unescaped(value or other) for name, value, other in _ATTRIBUTE.findall(self.text)}


class Columns(NamedTuple):
    """A token's row. ``form`` as written; ``others``: what stands behind it, links excepted; ``link``: URL of the link
    that ends here, None when none does, ``length`` its tokens; ``links``: their columns as written."""

    form: str
    others: tuple[str, ...] = ()
    link: str | None = None
    length: int = 0
    links: tuple[str, ...] = ()


def tag_of(row: str) -> Tag | None:
    """The tag that a row is; None: it is a token."""
    if not row.startswith("<"):
        return None
    return _frequent(row) if len(row) <= _SHORT else _tag_of(row)


def _tag_of(row: str) -> Tag | None:
    match = _TAG.match(row)
    return None if match is None else Tag(match[2].lower(), bool(match[1]), match[3])


_frequent = lru_cache(1000)(_tag_of)  # of ten rows two are <s>, </s>, <g/>, <p lang="zu">, </p>


def image_of(form: str) -> str | None:
    """The URL of the image that stands in a first column in place of a form, None when none does."""
    if not form.startswith("<img"):
        return None
    match = _IMAGE.match(form)
    return None if match is None else unescaped(match[1])


def columns_of(row: str) -> Columns:
    """The columns of a token's row."""
    form, *rest = row.split("\t")
    others: list[str] = []
    links: list[str] = []
    url, count = None, 0
    for column in rest:
        link, length = _LINK.match(column), _LENGTH.match(column)
        if link:
            url = unescaped(link[1])
        elif length:
            count = int(length[1])
        (links if link or length else others).append(column)
    return Columns(form, tuple(others), url, count, tuple(links))


class Nesting:
    """Where in a document the reading of a file stands. A row that cannot stand there is a FormatError."""

    def __init__(self, path: str) -> None:
        self.document = self.paragraph = self.sentence = False
        self._path = path

    def take(self, number: int, tag: Tag | None) -> None:
        """One row more: a tag, None for a token."""
        if tag is None:
            if not self.paragraph:
                raise FormatError(self._path, number, "a token outside of a paragraph")
        elif tag.name == "doc":
            self._doc(number, tag.closing)
        elif not self.document:
            raise FormatError(self._path, number, f"<{tag.name}> outside of a document")
        elif tag.name == "s":
            if not self.paragraph or tag.closing != self.sentence:
                raise FormatError(self._path, number, "</s> without <s>" if tag.closing else "<s> where none may begin")
            self.sentence = not tag.closing
        elif tag.name in PARAGRAPHS:
            self._paragraph(number, tag.name, tag.closing)

    def _doc(self, number: int, closing: bool) -> None:
        if closing != self.document:
            raise FormatError(self._path, number, "</doc> without <doc>" if closing else "<doc> inside a document")
        if self.paragraph:
            raise FormatError(self._path, number, "</doc> inside a paragraph")
        self.document = not closing

    def _paragraph(self, number: int, name: str, closing: bool) -> None:
        if closing != self.paragraph:
            raise FormatError(self._path, number, f"</{name}> without its beginning" if closing else f"<{name}> nested")
        self.paragraph, self.sentence = not closing, False


def without_mark(rows: Iterable[str]) -> Iterator[str]:
    """The rows, the first of them without a byte order mark."""
    every = iter(rows)
    return chain((first.removeprefix("\ufeff") for first in islice(every, 1)), every)


class Raw(NamedTuple):
    """Lines of a file as they stand there: a document, or what is none. ``number`` lines and ``at`` bytes are before
    them; ``ends``: with the end of a document; ``cut``: only its beginning."""

    rows: list[bytes]
    number: int
    at: int
    ends: bool = False
    cut: bool = False


def raw_documents(lines: Iterable[bytes], most_bytes: int | None = None) -> Iterator[Raw]:
    """The lines of each document, from behind the one before: up to its end, else to where the next begins; what stands
    before it, but for blank lines, by itself, up to its first line: that is told, and a file may have nothing else. Of
    a document with more than ``most_bytes`` the beginning."""
    raw, size, begun, stray = Raw([], 0, 0), 0, False, False
    for number, line in enumerate(lines, 1):
        begins = ends = False
        # A line of text may begin so, too; before the first one may be a byte order mark.
        if (line.startswith(b"<") or number == 1) and _LIKE_DOC.match(line):
            tag = tag_of(line.decode("utf-8-sig", "replace").rstrip("\r\n"))
            begins, ends = tag is not None and not tag.closing, tag is not None and tag.closing
        if begins and (begun or stray):
            yield raw
            raw, size, stray = Raw([], number - 1, raw.at + size), 0, False
        begun = begun or begins
        size += len(line) + 1
        if not stray and (most_bytes is None or size <= most_bytes):
            raw.rows.append(line)
        elif not stray and not raw.cut:
            raw = raw._replace(cut=True)
        stray = stray or not (begun or ends or not line.strip())
        if ends:
            yield raw._replace(ends=raw.rows[-1:] == [line])
            raw, size, begun, stray = Raw([], number, raw.at + size), 0, False, False
    if begun or stray:
        yield raw


def documents_of(rows: Iterable[str], path: str, fault: Fault) -> Iterator[list[str]]:
    """The rows of each document, without line ends, one document in memory at a time. Of one that keeps not to the
    form ``fault`` hears, and of what stands outside; the next ``<doc`` goes on."""
    number, nesting = 0, Nesting(path)
    current: list[str] | None = []  # None: left out, up to the next document
    for number, row in enumerate(without_mark(rows), 1):
        row = row.rstrip("\r\n")
        if not row:
            continue
        tag = tag_of(row) if row.startswith("<") else None
        if tag is None and nesting.paragraph and current is not None:  # nearly all rows
            current.append(row)
            continue
        begins = tag is not None and tag.name == "doc" and not tag.closing
        try:
            if current is not None:
                nesting.take(number, tag)
                current.append(row)
        except FormatError as error:
            fault(FormatError(path, number, f"{error.reason}; left out up to the next document"))
            current = None
        if current is None and begins:
            nesting, current = Nesting(path), [row]
            nesting.take(number, tag)
        if current and not nesting.document:
            yield current
            current = []
    if current:
        fault(FormatError(path, number, "the file ends inside a document, which is left out"))
