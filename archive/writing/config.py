"""Settings of a writer, with their units and what zero means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from archive.writing.earlier import Find
from archive.writing.records import Style
from archive.writing.seen import Lookup, Remember

PERSISTED = (
    "pack_bytes",
    "open_packs",
    "level",
    "version",
    "digest",
    "max_age_s",
    "threads",
    "journal_bytes",
    "revisit_min_bytes",
)


def utc_now() -> datetime:
    return datetime.now(UTC)


def no_step(_name: str) -> None:
    """The default of :attr:`WriterConfig.step`."""


@dataclass(frozen=True, slots=True)
class WriterConfig:
    """How a :class:`archive.writing.writer.WarcWriter` writes.

    * ``pack_bytes``: unpacked bytes of a pack; a record larger than that is a pack by itself.
    * ``open_packs``: how many packs' worth of accepted pages wait in memory for others of their host.
    * ``level``: of the compressor; None: the default of the kind (xz 1, gz 6, zst 3).
    * ``version``: "1.1" or "1.0"; ``digest``: "sha1" or "sha256".
    * ``max_age_s``: :meth:`sync` puts what has waited for so long, with all else, into a file and closes it; 0: never.
    * ``threads``: compressing threads. ``dictionary``: for zst; ``b""``: learnt from the first pack of the writer.
    * ``journal_bytes``: the journal is rewritten when it has grown by this beyond twice what is live in it.
    * ``reserve_bytes``: :meth:`sync` raises ArchiveFull when less is free, so that what is waiting can still be packed.
    * ``revisit_min_bytes``: payloads smaller than this are always stored.
    * ``seen_capacity``: see :mod:`archive.writing.seen`.
    * ``earlier``: asked once a pack for records of earlier crawls, by URL and digest of what is not known otherwise
      (:class:`archive.writing.earlier.Earlier`).
    * ``warcinfo``: fields of the first record of each file: software, configuration, contact, robots policy, commit.
    * ``step``: called with the name of each step that changes something on disk, before it is done (for tests).
    """

    pack_bytes: int = 1 << 20
    open_packs: int = 8
    level: int | None = None
    version: str = "1.1"
    digest: str = "sha1"
    max_age_s: float = 0
    threads: int = 1
    dictionary: bytes = b""
    journal_bytes: int = 32 << 20
    reserve_bytes: int = 32 << 20
    revisit_min_bytes: int = 256
    seen_capacity: int = 20_000
    seen: Lookup | None = None
    remember: Remember | None = None
    earlier: Find | None = None
    warcinfo: Mapping[str, Any] = field(default_factory=dict)
    clock: Callable[[], datetime] = utc_now
    step: Callable[[str], None] = no_step

    def __post_init__(self) -> None:
        if self.version not in ("1.0", "1.1"):
            raise ValueError(f"WARC version {self.version!r}: 1.1 or 1.0")
        if self.digest not in ("sha1", "sha256"):
            raise ValueError(f"digest {self.digest!r}: sha1 or sha256")
        if min(self.pack_bytes, self.open_packs, self.threads) < 1:
            raise ValueError("pack_bytes, open_packs and threads must be at least 1")

    @property
    def style(self) -> Style:
        return Style(self.version, self.digest)

    def persisted(self) -> dict[str, Any]:
        """What a journal keeps, so that another process can finish the work alike."""
        kept = {name: getattr(self, name) for name in PERSISTED}
        return {**kept, "dictionary": self.dictionary, "warcinfo": {str(k): v for k, v in self.warcinfo.items()}}
