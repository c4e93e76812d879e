"""What is known of the titles of an edition: its redirects, titles, disambiguation pages and the numbers of its pages.

Files of lines, as ``python -m corpus links-tables`` makes them and the earlier tools had them; ``_`` in a title is a
space, a file may be compressed:

    titles           title
    disambiguations  title
    redirects        target⇥title|title|…
    pages            number⇥title

In memory a title of a set has 8 bytes (its hash: of 20 million titles and as many questions one is answered wrongly
with a chance of 2e-5), a redirect or number 16 and the title it leads to.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from corpus.duplicates.hashes import text_hash
from corpus.errors import Fault, FormatError
from corpus.sources import sound_lines
from corpus.wikilinks.address import may_be_title

FILES = {name: f"{name}.tsv" for name in ("titles", "disambiguations", "redirects", "pages")}
"""The tables of an edition, and what their files in its folder are called."""
_SHOWN = 60
Row = tuple[int, str]
Known = TypeVar("Known")
_Hashes = npt.NDArray[np.uint64]


class Names:
    """A set of titles."""

    def __init__(self, names: Iterable[str]) -> None:
        self._hashes = np.sort(_array(array("Q", map(text_hash, names))))

    def __contains__(self, name: str) -> bool:
        return _place(self._hashes, text_hash(name)) >= 0

    def __len__(self) -> int:
        return len(self._hashes)


class Titles:
    """Titles by number; by the hash of another title where that is what leads to them. Of a number that comes twice
    the first title counts."""

    def __init__(self, rows: Iterable[Row]) -> None:
        keys, starts, texts = array("Q"), array("Q"), bytearray()
        last = ""
        for key, title in rows:
            if title != last or not texts:
                start = len(texts)
                texts += title.encode("utf-8", "replace") + b"\n"
                last = title
            keys.append(key)
            starts.append(start)
        order = np.argsort(_array(keys), kind="stable")
        self._keys, self._starts = _array(keys)[order], _array(starts)[order]
        self._texts = bytes(texts)

    def get(self, key: int) -> str | None:
        place = _place(self._keys, key)
        if place < 0:
            return None
        start = int(self._starts[place])
        return self._texts[start : self._texts.index(b"\n", start)].decode()

    def __len__(self) -> int:
        return len(self._keys)


def _array(values: array[int]) -> _Hashes:
    return np.frombuffer(values, np.uint64) if values else np.empty(0, np.uint64)


def _place(values: _Hashes, value: int) -> int:
    """Where it stands, -1 where it does not."""
    place = int(np.searchsorted(values, np.uint64(value)))
    return place if place < len(values) and int(values[place]) == value else -1


@dataclass(frozen=True, slots=True)
class Tables:
    """Of one edition; None: not known."""

    titles: Names | None = None
    disambiguations: Names | None = None
    redirects: Titles | None = None
    pages: Titles | None = None

    def title_of_page(self, number: int) -> str:
        """ "" when it is not known."""
        return (self.pages.get(number) if self.pages is not None else None) or ""

    def followed(self, title: str) -> str:
        """Where a title leads: one redirect is followed, as Wikipedia does."""
        return (self.redirects.get(text_hash(title)) if self.redirects is not None else None) or title


def _names(path: str) -> Names:
    return Names(title for _, title in _rows(path))


def _titles(path: str, fault: Fault) -> Names:
    def titles() -> Iterator[str]:
        for number, title in _rows(path):
            if may_be_title(title):
                yield title
            else:
                fault(FormatError(path, number, f"{title[:_SHOWN]!r} can be no title; left out"))

    found = Names(titles())
    if not len(found):  # all links would be left out, as to titles that there are not
        raise FormatError(path, 1, "no titles")
    return found


def _redirects(path: str) -> Titles:
    def rows() -> Iterator[Row]:
        for number, row in _rows(path):
            target, tab, titles = row.partition("\t")
            if not tab:
                raise FormatError(path, number, "no tab between a redirect's target and its titles")
            for title in titles.split("|"):
                yield text_hash(title), target

    return Titles(rows())


def _pages(path: str) -> Titles:
    def rows() -> Iterator[Row]:
        for number, row in _rows(path):
            page, _, title = row.partition("\t")
            if not (page.isascii() and page.isdigit() and len(page) < 19 and title):
                raise FormatError(path, number, "no number, tab and title")
            yield int(page), title

    return Titles(rows())


def _rows(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a table. FormatError where it is damaged: what it lacks would be dropped or kept by mistake."""
    for number, row in sound_lines(path):
        text = row.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r")
        if text:
            yield number, text.replace("_", " ")


def load(paths: Mapping[str, str], fault: Fault) -> Tables:
    """``paths``: of files, by the names of :data:`FILES`. ``fault`` hears of lines among the titles that can be none:
    the others are a table without them. OSError and FormatError."""

    def loaded(name: str, read: Callable[[str], Known]) -> Known | None:
        return read(paths[name]) if name in paths else None

    return Tables(
        loaded("titles", lambda path: _titles(path, fault)),
        loaded("disambiguations", _names),
        loaded("redirects", _redirects),
        loaded("pages", _pages),
    )
