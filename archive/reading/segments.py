"""Records in segments (WARC 1.1, section 7) as one, where the segments lie right behind one another.

What is put together stands where its first segment does, and has its header, but no number; the others follow as they
are. Where a segment is elsewhere, damaged, or all are more than 16 MiB, nothing is put together, and
:attr:`archive.reading.record.Record.truncated` of the first says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from archive.messages.headers import Headers
from archive.reading.record import SEGMENT, Record

_MOST_BYTES = 16 << 20
_NUMBER = b"warc-segment-number"
"""Looked for before a header is parsed, as nearly none has it."""


def joined(records: Iterable[Record]) -> Iterator[Record]:
    """The records of a file."""
    held: list[Record] = []
    size = 0
    for record in records:
        if held and _follows(held, record) and (size := size + record.length) <= _MOST_BYTES:
            held.append(record)
            if record.field("WARC-Segment-Total-Length"):
                yield from (_whole(held), *held[1:])
                held = []
            continue
        if held:
            yield from held
            held = []
        if _NUMBER in record.raw_head.lower() and record.truncated == SEGMENT and _is_sound(record):
            held, size = [record], record.length
        else:
            yield record
    yield from held


def _follows(before: list[Record], record: Record) -> bool:
    return (
        record.type == "continuation"
        and record.field("WARC-Segment-Origin-ID") == before[0].id
        and record.field("WARC-Segment-Number") == str(len(before) + 1)
        and _is_sound(record)
    )


def _is_sound(record: Record) -> bool:
    return record.in_memory and record.damage is None


def _whole(segments: list[Record]) -> Record:
    first, last = segments[0], segments[-1]
    block = b"".join(segment.block() for segment in segments)
    if last.field("WARC-Segment-Total-Length") != str(len(block)):
        return first
    whole = Record(first.path, first.unit, first.inner, first.raw_head + block, 0)
    whole.plain_offset, whole.block_start, whole.length = first.plain_offset, len(first.raw_head), len(block)
    cut = [("WARC-Truncated", last.field("WARC-Truncated"))] if last.field("WARC-Truncated") else []
    whole.preset(Headers([pair for pair in first.headers if pair[0].lower() != "warc-segment-number"] + cut))
    return whole
