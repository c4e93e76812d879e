"""One record by its place."""

from __future__ import annotations

from pathlib import Path

from archive.errors import ArchiveNotFound, Damage
from archive.reader import Reader
from archive.record import Record, digest_holds

_AT_ONCE = 64 << 10


def record_at(path: str | Path, offset: int, inner: int = 0) -> tuple[Reader, Record]:
    """The record at a place an index names. The caller closes the reader. ArchiveNotFound: no record begins there.

    Costs the unpacking of one pack up to the record, no more. As the pack's own checksum is not reached, the record's
    block digest is checked instead; ``damage`` is set when it does not hold.
    """
    reader = Reader(path, offset=offset, whole_bytes=_AT_ONCE)
    for record in reader:
        if record.offset == offset and record.inner == inner:
            if record.in_memory and digest_holds(record.field("WARC-Block-Digest"), record.block()) is False:
                record.damage = Damage(str(path), offset, inner, "the block digest does not hold")
            return reader, record
        if record.offset > offset or record.inner > inner:
            break
    reader.close()
    raise ArchiveNotFound(f"{path}: no record at {offset}+{inner}")
