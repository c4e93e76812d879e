"""Exact duplicates: documents with the same text, paragraphs that were there before.

Rules (after the vertical mode of the seeds' deduplicator): a document whose whole text was there before is dropped; of
the others, long paragraphs are dropped when they were there before, and a short one shares the lot of the long one
that follows it (a heading goes with its text), after the last long one of the one before it. A document of short
paragraphs only is judged as a whole. A document of which nothing is left is a duplicate, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from corpus.document import Document, main_language
from corpus.duplicates.hashes import HashSet, text_hash

LONG_CHARACTERS = 50
DEFAULT_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """``document`` None: it is a duplicate. ``dropped``: paragraphs left out of it, when it is none."""

    document: Document | None
    dropped: int = 0


def new_places(texts: Sequence[str], is_new: Callable[[int], bool], long_characters: int) -> list[int]:
    """The places of the paragraphs that stay, by these rules. ``is_new`` is asked of each long one, in order."""
    kept: list[int] = []
    waiting: list[int] = []
    last_was_new = True
    for place, text in enumerate(texts):
        waiting.append(place)
        if len(text) < long_characters:
            continue
        last_was_new = is_new(place)
        if last_was_new:
            kept += waiting
        waiting.clear()
    if last_was_new:
        kept += waiting
    return kept


class Deduplicator:
    """Remembers what has been kept; ``limit_bytes`` of memory, see :mod:`corpus.duplicates.hashes`. Order of input
    matters: the first stays."""

    def __init__(self, limit_bytes: int = DEFAULT_BYTES, long_characters: int = LONG_CHARACTERS) -> None:
        self._documents = HashSet(limit_bytes // 4)
        self._paragraphs = HashSet(limit_bytes // 2)
        self._long = long_characters

    @property
    def capacity(self) -> tuple[int, int]:
        """How many documents, and how many long paragraphs, are surely remembered."""
        return self._documents.capacity, self._paragraphs.capacity

    @property
    def forgotten(self) -> bool:
        """Has anything been forgotten for want of memory?"""
        return self._documents.forgotten or self._paragraphs.forgotten

    def __call__(self, document: Document) -> Deduplicated:
        if not self._documents.add(text_hash(document.text)):
            return Deduplicated(None)
        texts = [paragraph.text for paragraph in document.paragraphs]
        places = new_places(texts, lambda place: self._paragraphs.add(text_hash(texts[place])), self._long)
        if not places:
            return Deduplicated(None)
        kept = tuple(document.paragraphs[place] for place in places)
        dropped = len(document.paragraphs) - len(kept)
        if dropped:
            document = replace(document, paragraphs=kept, language=main_language(kept))
        return Deduplicated(document, dropped)
