"""One WARC file that becomes whole under its name, though the runs that fill it are killed: ``page_downloader``'s.

Guarantees: what is kept is durable, with every answer on the way to an address or with none; a run for the same path as
one that was killed (in whose folder ``.NAME.parts`` its pages lie) knows what that one had kept, so that nothing is
downloaded again and nothing is in the archive twice; a file that exists is not overwritten. Each page's metadata record
says for which address it was asked (``asked``), and what was wrong with the answer (``problem``).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from archive import Reader, WarcWriter, WriterConfig, recover
from archive.index.cdxj import index_file
from archive.messages.fields import clean, pairs_of
from archive.tools.convert import join
from crawler.fetch.handler import Capture
from crawler.version import VERSION
from crawler.work.committer import exchange_of

SUFFIXES = {".warc": "none", ".warc.xz": "xz", ".warc.gz": "gz", ".warc.zst": "zst"}
"""How an archive's name may end, and how the writer calls that."""


class OneArchiveError(Exception):
    """Why an archive cannot be written; `str()` says it."""


@dataclass(frozen=True, slots=True)
class OneArchive:
    """See the module; :func:`one_archive` opens it."""

    writer: WarcWriter
    _before: Mapping[str, str] = field(default_factory=dict)

    def found(self, url: str) -> str | None:
        """What was wrong with the answer for `url` that an earlier run has kept, "" if nothing was; None: it has kept
        none."""
        return self._before.get(_name(url))

    def keep(self, url: str, captures: Sequence[Capture], problem: str) -> None:
        """Make all answers for `url` durable, its redirects' too. ArchiveError."""
        if not captures:
            return
        told = {"asked": url} | ({"problem": problem} if problem else {})
        for capture in captures:
            self.writer.write(exchange_of(capture, "page", told), token=url)
        self.writer.settle([url])  # all or none: of those that were not settled a recovery keeps nothing
        self.writer.sync()


@contextlib.contextmanager
def one_archive(path: Path, suffix: str) -> Iterator[OneArchive]:
    """What is kept becomes `path` in the end, with its index beside it; first comes what a run for the same `path` had
    kept when it was killed. OneArchiveError, ArchiveError."""
    config = WriterConfig(max_age_s=0, warcinfo={"software": f"Ulwembu/{VERSION}", "robots": "obey (RFC 9309)"})
    with own_folder(path) as folder:
        damage = recover(folder, lambda _tokens: (), config).damage
        if damage:
            raise OneArchiveError(f"-o {path}: of an earlier run: {damage[0]}")
        before = _kept(sorted(folder.glob(f"*{suffix}")))
        archive = WarcWriter(folder, "pages", SUFFIXES[suffix], 0, config)
        try:
            yield OneArchive(archive, before)
        finally:  # interrupted too: what was downloaded stays
            archive.sync()
            archive.close()
            _publish(sorted(folder.glob(f"*{suffix}")), path)
            shutil.rmtree(folder)


def finish(path: Path) -> None:
    """Finish the work of a run that was killed after it had given the archive its name."""
    folder = _parts_folder(path)
    if any(part.samefile(path) for part in folder.rglob("*.warc*")):
        with contextlib.suppress(OneArchiveError), own_folder(path):
            index_file(path)
            shutil.rmtree(folder)


@contextlib.contextmanager
def own_folder(path: Path) -> Iterator[Path]:
    """Where the pages for `path` are kept meanwhile, locked; the lock ends with the process."""
    folder = _parts_folder(path)
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OneArchiveError(f"-o {path}: another page_downloader is writing it") from None
        yield folder
    finally:
        os.close(descriptor)


def _parts_folder(path: Path) -> Path:
    """The same in each run: the next one finds what a run that was killed left there."""
    return path.with_name(f".{path.name}.parts")


def _publish(parts: Sequence[Path], path: Path) -> None:
    """Give the archive its name, and its index."""
    if len(parts) > 1:
        whole = parts[0].parent / "whole" / path.name  # not among the parts, should this run be killed, too
        whole.parent.mkdir(exist_ok=True)
        parts = [join(parts, whole)]
    for part in parts:
        try:
            path.hardlink_to(part)  # unlike a rename, this never takes the place of another's archive
        except FileExistsError:
            raise OneArchiveError(f"-o {path}: exists by now; what was downloaded is in {part}") from None
        except OSError:  # a file system without links
            part.replace(path)
        index_file(path)


def _kept(parts: Sequence[Path]) -> dict[str, str]:
    """The addresses whose answers are there, each with what was wrong with it."""
    found: dict[str, str] = {}
    for part in parts:
        with Reader(part) as reader:
            told = (pairs_of(record.block()) for record in reader if record.type == "metadata")
            found |= {it["asked"]: it.get("problem", "") for it in told if "asked" in it}
    return found


def _name(url: str) -> str:
    """An address as it comes back from a metadata record."""
    return clean(url).strip()
