"""WARC archives: faithful, small, seekable, and whole after a crash.

Write with :class:`WarcWriter`, finish dead writers' files with :func:`recover`, read with :class:`Reader`.
"""

from archive.access import record_at
from archive.config import WriterConfig
from archive.errors import ArchiveError, ArchiveFull, ArchiveNotFound, Damage, JournalBusy, WriterClosed
from archive.exchange import Exchange, RevisitTarget
from archive.reader import Reader
from archive.record import Record
from archive.recovery import Recovery, recover
from archive.writer import WarcWriter

__all__ = [
    "ArchiveError",
    "ArchiveFull",
    "ArchiveNotFound",
    "Damage",
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
