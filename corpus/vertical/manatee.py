"""Vertical text as Manatee compiles it (Sketch Engine, NoSketch Engine), and the configuration to compile it by.

Differs from ours in what Manatee has no room for: a link stands around its tokens as ``<a href="URL">`` … ``</a>``
(one that goes on in another sentence is one in each), ``<h1>`` to ``<h5>`` are ``<p heading="1">``, an image is
``<img src="URL"/>``. The configuration names the columns and every structure and attribute that was written. Source:
Sketch Engine, "Preparing corpus text", "Corpus configuration file: all features".
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from corpus.errors import CorpusError, UsageFault
from corpus.vertical.rows import HEADINGS, PARAGRAPHS, Columns, Tag, columns_of, image_of, tag_of
from corpus.vertical.writing import escape_value

_NAME = re.compile(r"[A-Za-z_]\w*\Z", re.A)
_UNPACK = {".xz": "xzcat", ".gz": "zcat", ".zst": "zstdcat"}


class ManateeWriter:
    """Turns documents, and remembers what they have: ``structures``, with the attributes of each, and ``width``, how
    many columns stand after the word (None: no token yet). ``columns``: their names, where there are any."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.structures: dict[str, set[str]] = {}
        self.width: int | None = None
        self.columns = columns

    def check(self, rows: Sequence[str]) -> str:
        """Why a document cannot stand beside those before it, "" when it can. CorpusError when it is the first: then it
        is not the document."""
        width = self.width
        for row in rows:
            if (width is not None and row.count("\t") <= width) or tag_of(row) is not None:  # nearly all rows
                continue
            columns = columns_of(row)
            if image_of(columns.form) is not None:  # has none, in tagged text either
                continue
            if width is None:
                width = len(self.columns) if columns.others else 0
            if len(columns.others) > width:
                found = f"columns after the word {columns.form!r}: {len(columns.others)}, but {width} are expected"
                if self.width is None:
                    raise CorpusError(f"{found}; name them by --columns, and have all text tagged alike")
                return f"{found}, as in the first document"
        self.width = width
        return ""

    def __call__(self, rows: Sequence[str]) -> Iterator[str]:
        """A document that has been checked, in Manatee's form."""
        made = _Turning()
        for row in rows:
            tag = tag_of(row)
            if tag is None:
                columns = columns_of(row)
                missing = (self.width or 0) - len(columns.others)
                made.token(columns, "\t".join((columns.form, *columns.others, *("" for _ in range(missing)))))
            else:
                made.tag(row, tag)
        for row in made.done():
            if tag := tag_of(row):
                self.structures.setdefault(tag.name, set()).update(tag.attributes)
            yield row


class _Turning:
    """A document on its way."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._sentence = 0
        self._tokens: list[tuple[int, int]] = []  # of the paragraph, since the last link: sentence, place in the rows
        self._opening: dict[int, str] = {}
        self._closing: set[int] = set()

    def tag(self, row: str, tag: Tag) -> None:
        if tag.name in PARAGRAPHS:
            self._tokens = []
        if tag.name in HEADINGS:
            row = "</p>" if tag.closing else f'<p{tag.text.rstrip()} heading="1">'
        self._sentence += tag.name == "s"
        self._rows.append(row)

    def token(self, columns: Columns, row: str) -> None:
        image = image_of(columns.form)
        if image is not None:
            self._rows.append(f'<img src="{escape_value(image)}"/>')
            return
        self._tokens.append((self._sentence, len(self._rows)))
        self._rows.append(row)
        if columns.link:
            self._link(f'<a href="{escape_value(columns.link)}">', max(1, columns.length))

    def _link(self, opening: str, length: int) -> None:
        for _, places in groupby(self._tokens[-length:], key=itemgetter(0)):
            first, *others = (place for _, place in places)
            self._opening[first] = opening
            self._closing.add(others[-1] if others else first)
        self._tokens = []

    def done(self) -> Iterator[str]:
        for place, row in enumerate(self._rows):
            if place in self._opening:
                yield self._opening[place]
            yield row
            if place in self._closing:
                yield "</a>"


def registry(writer: ManateeWriter, vertical: Path | None, data: Path, language: str) -> str:
    """The configuration of what was written to ``vertical`` (None: it will be read from standard input). ``data``: the
    folder of the compiled corpus; ``language``: a name that Manatee knows, "" for none. UsageFault when a path cannot
    be written in it."""
    rows = [f"PATH {_quoted(str(data))}"]
    if vertical is not None:
        unpack = _UNPACK.get(vertical.suffix)
        rows.append(f"VERTICAL {_quoted(f'| {unpack} {shlex.quote(str(vertical))}' if unpack else str(vertical))}")
    rows.append('ENCODING "UTF-8"')
    if language:
        rows.append(f"LANGUAGE {_quoted(language)}")
    rows += [f"ATTRIBUTE {name}" for name in ("word", *writer.columns[: writer.width or 0])]
    structures = ((name, attributes) for name, attributes in writer.structures.items() if _NAME.match(name))
    for name, attributes in structures:
        inner = [f"    ATTRIBUTE {attribute}" for attribute in sorted(attributes) if _NAME.match(attribute)]
        if name == "g":  # shown as nothing: no space where it stands
            inner = ["    DISPLAYTAG 0", '    DISPLAYBEGIN "_EMPTY_"']
        rows += [f"STRUCTURE {name} {{", *inner, "}"] if inner else [f"STRUCTURE {name}"]
    return "".join(f"{row}\n" for row in rows)


def _quoted(value: str) -> str:
    if '"' in value or "\n" in value:
        raise UsageFault(f"{value}: a quote or line end cannot stand in a configuration of Manatee")
    return f'"{value}"'
