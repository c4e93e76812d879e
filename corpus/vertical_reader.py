"""Vertical text: one token a line, structure in tags. Reading.

Reads what :mod:`corpus.vertical` writes, and the spellings that older files have: ``<link="U">`` and ``<link="U"/>``,
``<length=N>``, ``<length="N">`` and ``<lenght=N>``; further positional columns (lemma, tag) before the links; ``h1`` to
``h5`` as paragraphs with a heading; images; line ends of CR and LF, a byte order mark, ``>`` in values. Unknown
structures are passed over. A file that breaks off inside a document, or closes what is not open, is a
:class:`corpus.errors.FormatError` with its line.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from corpus.errors import FormatError
from corpus.vertical import unescape_token

_TAG = re.compile(r"""<(/?)([a-zA-Z][\w]*)(\s(?>[^>"]|"[^"]*")*+|\s[^>]*|)(/?)>\Z""")
_ATTRIBUTE = re.compile(r'(?<![\w:-])([\w:-]++)="([^"]*)"')
_LINK = re.compile(r'<link="([^"]*)"\s*/?>\Z')
_LENGTH = re.compile(r'<len(?:gth|ght)="?(\d{1,9})"?\s*/?>\Z')
_IMAGE = re.compile(r'<img="([^"]*)"\s*/?>\Z')
_NO_CHARACTER = re.compile(r"&#\d{10,}+;?")  # html.unescape makes an int of it, however long
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5"))


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
        """The source text, white space folded."""
        return " ".join(sentence_text(sentence) for sentence in self.sentences)


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
    return "".join(token.form if token.glued else " " + token.form for token in sentence).strip()


def read_vertical(rows: Iterable[str], path: str = "<vertical>") -> Iterator[VerticalDocument]:
    """The documents of a file's lines (with or without line ends), one in memory at a time."""
    reader, number = _Reading(path), 0
    for number, row in enumerate(rows, 1):
        document = reader.take(number, (row.removeprefix("\ufeff") if number == 1 else row).rstrip("\r\n"))
        if document is not None:
            yield document
    if reader.document is not None:
        raise FormatError(path, number, "the file ends inside a document")


class _Reading:
    """Where in a document the reading stands."""

    def __init__(self, path: str) -> None:
        self.document: VerticalDocument | None = None
        self._path = path
        self._open: VerticalParagraph | None = None
        self._sentence: list[Token] | None = None
        self._glue = False

    def take(self, number: int, row: str) -> VerticalDocument | None:
        """One line more; the document that it ends."""
        match = _TAG.match(row)
        if match is None:
            if row:
                self._token(number, row)
            return None
        closing, name, attributes = bool(match[1]), match[2].lower(), match[3]
        if name == "doc":
            return self._doc(number, closing, attributes)
        if self.document is None:
            raise FormatError(self._path, number, f"<{name}> outside of a document")
        if name == "g":
            self._glue = True
        elif name == "s":
            self._sentence_tag(number, closing)
        elif name in ("p", "head") or name in _HEADINGS:
            self._paragraph_tag(number, name, closing, attributes)
        return None

    def _doc(self, number: int, closing: bool, attributes: str) -> VerticalDocument | None:
        if closing == (self.document is None):
            raise FormatError(self._path, number, "</doc> without <doc>" if closing else "<doc> inside a document")
        if not closing:
            self.document = VerticalDocument(_attributes(attributes))
            return None
        if self._open is not None:
            raise FormatError(self._path, number, "</doc> inside a paragraph")
        done, self.document = self.document, None
        return done

    def _paragraph_tag(self, number: int, name: str, closing: bool, attributes: str) -> None:
        assert self.document is not None
        if closing != (self._open is not None):
            raise FormatError(self._path, number, f"</{name}> without its beginning" if closing else f"<{name}> nested")
        self._sentence, self._glue = None, False
        if self._open is not None:
            self._open.last, self._open = number, None
            return
        heading = int(name[1]) if name in _HEADINGS else 0
        self._open = VerticalParagraph(_attributes(attributes).get("lang", ""), heading, first=number)
        if name == "head":
            self.document.head = self._open
        else:
            self.document.paragraphs.append(self._open)

    def _sentence_tag(self, number: int, closing: bool) -> None:
        if self._open is None or closing != (self._sentence is not None):
            raise FormatError(self._path, number, "</s> without <s>" if closing else "<s> where none may begin")
        self._glue = False
        self._sentence = None if closing else []
        if self._sentence is not None:
            self._open.sentences.append(self._sentence)

    def _token(self, number: int, row: str) -> None:
        if self._open is None:
            raise FormatError(self._path, number, "a token outside of a paragraph")
        if self._sentence is None:
            self._sentence = []
            self._open.sentences.append(self._sentence)
        token = _parse(row)
        token.glued, self._glue = self._glue and bool(self._sentence), False
        token.line = number
        self._sentence.append(token)


def _attributes(text: str) -> dict[str, str]:
    return {name: _unescaped(value) for name, value in _ATTRIBUTE.findall(text)}


def _unescaped(written: str) -> str:
    return html.unescape(_NO_CHARACTER.sub("\ufffd", written))


def _parse(row: str) -> Token:
    first, *rest = row.split("\t")
    image = _IMAGE.match(first)
    token = Token("", image=_unescaped(image[1])) if image else Token(unescape_token(first))
    columns = []
    for column in rest:
        link, length = _LINK.match(column), _LENGTH.match(column)
        if link:
            token.link = _unescaped(link[1])
        elif length:
            token.length = int(length[1])
        else:
            columns.append(column)
    token.columns = tuple(columns)
    return token
