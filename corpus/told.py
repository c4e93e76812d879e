"""What a crawl knew of a page beyond the page, from the metadata record that stands behind its capture.

That is when the page was published, as the feed says that led to it. It counts where the page does not say so itself,
or only prints it, under the rules for what pages say (:mod:`relevance.pages.publication`). And that it is no page, but
was fetched since one embeds it (``kind: requisite``): a script that is served as plain text is no document.

Guarantees: records stay in their order; at most :data:`_MOST_HELD` are held back at a time, and only behind a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from archive import Record
from corpus.document import FEED, Document
from corpus.records import Read
from relevance.pages.instants import instant, is_after
from relevance.pages.publication import is_start_or_list

_PUBLISHED = re.compile(rb"(?:\A|\n)feed-published:[ \t]*([ -~]{1,40})\r?(?:\n|\Z)")
_REQUISITE = re.compile(rb"(?:\A|\n)kind:[ \t]*requisite[ \t]*\r?(?:\n|\Z)")
_BEHIND = frozenset(("request", "metadata"))
_MOST_HELD = 4

Found = tuple[Record, Read]


def with_what_is_told(found: Iterable[Found]) -> Iterator[Found]:
    """The same, documents with what the metadata record behind them says."""
    held: list[Found] = []
    for record, read in found:
        if held and record.type in _BEHIND and len(held) < _MOST_HELD:
            held.append((record, read))
            if record.type == "metadata" and record.field("WARC-Concurrent-To") == held[0][0].id:
                held[0] = (held[0][0], _told(held[0][1], record))
                yield from held
                held.clear()
            continue
        yield from held
        held.clear()
        if read.document is not None:
            held.append((record, read))
        else:
            yield record, read
    yield from held


def feed_published(metadata: Record) -> str:
    """When a feed says that the page was published which this record is behind; "" where it says nothing."""
    if not metadata.in_memory or metadata.damage is not None:
        return ""
    match = _PUBLISHED.search(metadata.block())
    return instant(match[1].decode("ascii").strip()) if match else ""


def dated(document: Document, day: str) -> Document:
    """The document, published when a feed says so; as it is where that cannot be."""
    captured = instant(document.date[:10]) or instant(document.date[:8])
    if not day or is_start_or_list(document.url) or (captured and is_after(day, captured)):
        return document
    return replace(document, published=day, published_from=FEED)


def _told(read: Read, metadata: Record) -> Read:
    assert read.document is not None  # only behind such something is held
    if metadata.in_memory and metadata.damage is None and _REQUISITE.search(metadata.block()):
        return Read(reason="requisite", notes=read.notes)
    if read.document.published and not read.document.published_from:
        return read
    return replace(read, document=dated(read.document, feed_published(metadata)))
