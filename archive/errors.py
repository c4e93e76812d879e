"""What can go wrong in the archive, as types that carry facts.

Damage found while reading is a value (:class:`Damage`), not an exception: a reader reports it and goes on.
"""

from __future__ import annotations

from dataclasses import dataclass


class ArchiveError(Exception):
    """Root of all errors of this package."""


class ArchiveFull(ArchiveError):  # noqa: N818 - the word callers and operators use
    """No room left on the device (or a quota, or a file size limit): nothing was lost, writing may go on later.

    The journal and the ``.open`` file hold complete frames and packs only. Call :meth:`WarcWriter.sync` again
    when there is room.
    """

    def __init__(self, path: str, needed_bytes: int, free_bytes: int, reason: str) -> None:
        super().__init__(f"archive is full: {path}: {reason} (needed {needed_bytes} bytes, free {free_bytes})")
        self.path = path
        self.needed_bytes = needed_bytes
        self.free_bytes = free_bytes
        self.reason = reason


class WriterClosed(ArchiveError):  # noqa: N818
    """A method of a closed writer was called."""


class JournalBusy(ArchiveError):  # noqa: N818
    """The journal is locked: its writer is alive (in this or another process)."""


class JournalUnreadable(ArchiveError):  # noqa: N818
    """A journal that this version cannot read. It is left alone: pages may stand in it."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class KindUnreadable(ArchiveError):  # noqa: N818
    """A file stored in a way that cannot be unpacked; ``str()`` says what it is and what is read."""


class ArchiveNotFound(ArchiveError):  # noqa: N818
    """No record at the given place, or for the given URL."""


@dataclass(frozen=True, slots=True)
class Damage:
    """One place where a file could not be read as its format says.

    ``offset`` is a byte offset in the file as stored (of the pack, member or frame when it is compressed),
    ``inner`` the offset within the unpacked pack (-1: the pack itself), ``lost_bytes`` how many stored bytes were
    passed over to the next sound place (0: none, or not known).
    """

    path: str
    offset: int
    inner: int
    reason: str
    lost_bytes: int = 0

    def __str__(self) -> str:
        inner = f"+{self.inner}" if self.inner >= 0 else ""
        lost = f" ({self.lost_bytes} bytes passed over)" if self.lost_bytes else ""
        return f"{self.path}:{self.offset}{inner}: {self.reason}{lost}"


class ConvertError(ArchiveError):
    """The original is damaged (``damages``), or the copy did not read back the same."""

    def __init__(self, path: str, damages: list[Damage]) -> None:
        first = f": {damages[0]}" if damages else ": the copy reads back differently"
        super().__init__(f"{path} cannot be converted{first}")
        self.path = path
        self.damages = damages
