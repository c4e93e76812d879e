"""Vertical text: one token a line, structure in tags. Reading.

Reads what :mod:`corpus.vertical.writing` and :mod:`corpus.vertical.manatee` write, and the spellings that older files
have: ``<link="U">`` and ``<link="U"/>``, ``<length=N>``, ``<length="N">`` and ``<lenght=N>``; further positional
columns (lemma, tag) before the links; ``h1`` to ``h5`` as paragraphs with a heading; images; line ends of CR and LF, a
byte order mark, ``>`` in values, values in single quotes. Unknown structures are passed over. A file that breaks off
inside a document, or closes what is not open, is a :class:`corpus.errors.FormatError` with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from corpus.errors import FormatError
from corpus.vertical.rows import HEADINGS, PARAGRAPHS, Nesting, Tag, columns_of, image_of, tag_of, without_mark
from corpus.vertical.writing import unescape_token

_SPACES = re.compile(" {2,}")


@dataclass(slots=True)
class Token:
    """``glued``: no white space between it and the token before. ``columns``: what stands after the form, links
    excepted. ``link``: URL of the link whose text ends here, ``length`` its tokens. ``image``: it stands for this
    image (its form is ""). ``line``: of its file."""

    form: str
    glued: bool = False
    columns: tuple[str, ...] = ()
    link: str = ""
    length: int = 0
    image: str = ""
    line: int = field(default=0, compare=False)


@dataclass(slots=True)
class VerticalParagraph:
    """``lang`` as written, "" when not; ``heading`` 1 to 5, 0: none. ``first``, ``last``: the lines of its tags,
    counted from 1."""

    lang: str = ""
    heading: int = 0
    sentences: list[list[Token]] = field(default_factory=list)
    first: int = 0
    last: int = 0

    @property
    def text(self) -> str:
        """The source text, white space folded; nothing of images."""
        return " ".join(filter(None, map(sentence_text, self.sentences)))


@dataclass(slots=True)
class VerticalDocument:
    attributes: dict[str, str] = field(default_factory=dict)
    head: VerticalParagraph = field(default_factory=VerticalParagraph)
    paragraphs: list[VerticalParagraph] = field(default_factory=list)

    @property
    def text(self) -> str:
        """A paragraph a line."""
        return "\n".join(paragraph.text for paragraph in self.paragraphs)


def sentence_text(sentence: Iterable[Token]) -> str:
    """The tokens put together again."""
    text = "".join(token.form if token.glued else " " + token.form for token in sentence)
    if "  " in text:  # an image has them on either side
        text = _SPACES.sub(" ", text)
    return text.strip()


def read_vertical(rows: Iterable[str], path: str = "<vertical>") -> Iterator[VerticalDocument]:
    """The documents of a file's lines (with or without line ends), one in memory at a time."""
    reader, nesting, number = _Reading(), Nesting(path), 0
    for number, row in enumerate(without_mark(rows), 1):
        row = row.rstrip("\r\n")
        if not row:
            continue
        tag = tag_of(row)
        nesting.take(number, tag)
        if tag is None:
            reader.token(number, row)
        else:
            reader.tag(number, tag)
            if not nesting.document:
                yield reader.document
    if nesting.document:
        raise FormatError(path, number, "the file ends inside a document")


class _Reading:
    """The document that is being read, out of rows that keep to the form."""

    def __init__(self) -> None:
        self.document = VerticalDocument()
        self._open = VerticalParagraph()
        self._sentence: list[Token] | None = None
        self._glue = False
        self._anchor: tuple[str, int] | None = None  # URL of the <a> that is open, and its tokens so far

    def tag(self, number: int, tag: Tag) -> None:
        if tag.name == "g":
            self._glue = True
        elif tag.name == "s":
            self._glue = False
            self._sentence = None if tag.closing else []
            if self._sentence is not None:
                self._open.sentences.append(self._sentence)
        elif tag.name == "a":
            self._anchor_tag(tag)
        elif tag.name in PARAGRAPHS:
            self._paragraph_tag(number, tag)
        elif tag.name == "doc" and not tag.closing:
            self.document = VerticalDocument(tag.attributes)

    def _anchor_tag(self, tag: Tag) -> None:
        if tag.closing and self._anchor and self._sentence:
            self._sentence[-1].link, self._sentence[-1].length = self._anchor
        self._anchor = None if tag.closing else (tag.attributes.get("href", ""), 0)

    def _paragraph_tag(self, number: int, tag: Tag) -> None:
        self._sentence, self._glue, self._anchor = None, False, None
        if tag.closing:
            self._open.last = number
            return
        attributes = tag.attributes
        heading = tag.name[1] if tag.name in HEADINGS else attributes.get("heading", "")
        level = int(heading) if heading in ("1", "2", "3", "4", "5") else 0
        self._open = VerticalParagraph(attributes.get("lang", ""), level, first=number)
        if tag.name == "head":
            self.document.head = self._open
        else:
            self.document.paragraphs.append(self._open)

    def token(self, number: int, row: str) -> None:
        if self._sentence is None:
            self._sentence = []
            self._open.sentences.append(self._sentence)
        token = _parse(row)
        token.glued, self._glue = self._glue and bool(self._sentence), False
        token.line = number
        self._sentence.append(token)
        if self._anchor is not None:
            self._anchor = (self._anchor[0], self._anchor[1] + 1)


def _parse(row: str) -> Token:
    if "\t" not in row and not row.startswith(("<", "&")):  # as nearly all of text that is not tagged
        return Token(row)
    columns = columns_of(row)
    image = image_of(columns.form)
    return Token(
        form="" if image is not None else unescape_token(columns.form),
        columns=tuple(map(unescape_token, columns.others)),
        link=columns.link or "",
        length=columns.length,
        image=image or "",
    )
