"""What the compressing thread does with the groups of a pack: build their records, find repeats, compress, index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgpack

from archive.index.cdxj import Entry, entry_of, memory_record
from archive.messages.digests import digest
from archive.storage.codecs import Codec, Encoded, Place
from archive.writing.config import WriterConfig
from archive.writing.exchange import Exchange, RevisitTarget
from archive.writing.journal import Group
from archive.writing.records import Built, build, entity
from archive.writing.seen import SeenPayloads

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def freeze(exchange: Exchange) -> bytes:
    """The exchange as bytes, for the journal; metadata values that msgpack does not know become strings."""
    target = exchange.not_modified
    values: tuple[Any, ...] = (
        exchange.url,
        exchange.ip,
        (exchange.started - _EPOCH) // _MICROSECOND,
        exchange.request_bytes,
        exchange.response_head,
        exchange.payload,
        exchange.protocol,
        exchange.cipher,
        exchange.truncated,
        dict(exchange.metadata),
        exchange.fetch_ms,
        exchange.kind,
        exchange.dechunked,
        exchange.payload_type,
        (target.url, target.date, target.record_id) if target else None,
    )
    packed: bytes = msgpack.packb(values, default=str, unicode_errors="surrogatepass")
    return packed


def thaw(body: bytes) -> Exchange:
    """The reverse of :func:`freeze`."""
    values = msgpack.unpackb(body, unicode_errors="surrogatepass", strict_map_key=False)
    values[2] = _EPOCH + timedelta(microseconds=values[2])
    values[14] = RevisitTarget(*values[14]) if values[14] else None
    return Exchange(*values)


@dataclass(slots=True)
class Job:
    """A pack on its way into a file. ``encoded`` is kept when the device is full, so that work is not done twice."""

    groups: Sequence[Group]
    built: list[Built] = field(default_factory=list)
    earlier: dict[str, RevisitTarget] = field(default_factory=dict)
    encoded: Encoded | None = None

    @property
    def records(self) -> list[bytes]:
        return [record for built in self.built for record in built.records]

    def build(self, config: WriterConfig, seen: SeenPayloads) -> None:
        """Make the records; a payload that is in a file already, of this crawl or an earlier one, or earlier in this
        pack, becomes a revisit."""
        exchanges = [thaw(group.body) for group in self.groups]
        read = [(one, digest(config.digest, entity(one)), _may_repeat(one, config)) for one in exchanges]
        asked = [(exchange.url, checksum) for exchange, checksum, may_repeat in read if may_repeat]
        known = seen.find({checksum for _, checksum in asked})
        if config.earlier is not None:
            self.earlier = dict(config.earlier([one for one in asked if one[1] not in known]))
            known |= self.earlier
        for exchange, checksum, may_repeat in read:
            built = build(exchange, checksum, known.get(checksum) if may_repeat else None, config.style)
            if not may_repeat:
                built = replace(built, target=None)
            elif built.target is not None:
                known[checksum] = built.target
            self.built.append(built)

    def encode(self, codec: Codec) -> None:
        self.encoded = codec.encode(self.records)

    def remember(self, seen: SeenPayloads) -> None:
        """Called when the pack stands in a file. What an earlier crawl has may come from another URL, too."""
        stored = {built.payload_digest: built.target for built in self.built if built.target is not None}
        seen.add(self.earlier | stored)

    def index_lines(self, file_name: str, start: int, shared: bool) -> Iterator[bytes]:
        """The index lines of the pack, which begins at ``start`` in the file; ``shared``: records share units."""
        assert self.encoded is not None
        lines: list[tuple[Entry, Place]] = []
        for data, place in zip(self.records, self.encoded.places, strict=True):
            record = memory_record(data)
            if (entry := entry_of(record)) is not None:
                entry.inner = place.inner
                lines.append((entry, place))
            elif lines:
                lines[-1][0].add_metadata(record)
        for entry, place in lines:
            yield entry.line(file_name, start + place.offset, place.length, shared=shared)


def _may_repeat(exchange: Exchange, config: WriterConfig) -> bool:
    return len(exchange.payload) >= config.revisit_min_bytes and exchange.truncated is None
