"""WARC archives: faithful, small, seekable, and whole after a crash.

Write with :class:`WarcWriter`, finish dead writers' files with :func:`recover`, read with :class:`Reader`.
"""

from archive.errors import ArchiveError, ArchiveFull, ArchiveNotFound, Damage, JournalBusy, WriterClosed
from archive.index.access import record_at
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.writing.config import WriterConfig
from archive.writing.earlier import Earlier
from archive.writing.exchange import Exchange, RevisitTarget
from archive.writing.recovery import Recovery, recover
from archive.writing.writer import WarcWriter

__all__ = [
    "ArchiveError",
    "ArchiveFull",
    "ArchiveNotFound",
    "Damage",
    "Earlier",
    "Exchange",
    "JournalBusy",
    "Reader",
    "Record",
    "Recovery",
    "RevisitTarget",
    "WarcWriter",
    "WriterClosed",
    "WriterConfig",
    "record_at",
    "recover",
]
