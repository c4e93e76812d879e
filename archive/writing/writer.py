"""Writes what was fetched into WARC files so that a crash at any instant loses nothing that was reported.

The order of a caller: :meth:`WarcWriter.write` each exchange with the token of its lease; :meth:`~WarcWriter.sync`:
they are durable in the journal; report the leases; :meth:`~WarcWriter.settle` with the frontier's answer. Only accepted
exchanges enter packs. After kill -9, :func:`archive.writing.recovery.recover` finishes the dead writer's files.

Guarantees
* An accepted exchange is in a finished file exactly once, whatever instant the process dies at: packs are noted in the
  journal after they are durable in the ``.open`` file, and recovery cuts off what was not noted and packs it again.
* ``write`` only copies bytes (compression, digests and the search for repeats run in the compressing threads).
* A file has its final name only when it is whole; its index ``NAME.cdxj`` is there first.
* Memory: ``open_packs + threads + 2`` packs and what is not settled.
* Device full: :class:`ArchiveFull`; files and journal stay valid; call ``sync`` again when there is room.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from archive.errors import ArchiveError, ArchiveFull, WriterClosed
from archive.index.cdxj import SUFFIX, IndexBuilder
from archive.reading.reader import Reader
from archive.storage.codecs import SUFFIXES, Codec, make_codec, train_dictionary
from archive.storage.disk import sync_names
from archive.storage.warcfile import OPEN, OpenFile, file_name
from archive.writing.bins import Bins
from archive.writing.config import WriterConfig
from archive.writing.exchange import Exchange
from archive.writing.journal import FILE_CLOSED, FILE_OPENED, PACK_WRITTEN, SETTLED, Frame, Group, Journal, State
from archive.writing.packing import Job, freeze
from archive.writing.records import warcinfo
from archive.writing.seen import SeenPayloads

DEFAULT_MAX_BYTES = 1 << 30
_RECORD_OVERHEAD = 1200


def _owner() -> str:
    host = re.sub(r"[^A-Za-z0-9.]+", "_", socket.gethostname()) or "localhost"
    return f"{host}-{os.getpid()}"


class WarcWriter:
    """One process's writer into one folder. Methods may be called from any one thread at a time."""

    def __init__(
        self,
        folder: str | Path,
        prefix: str,
        compression: str = "xz",
        max_bytes: int = DEFAULT_MAX_BYTES,
        config: WriterConfig | None = None,
    ) -> None:
        """``max_bytes``: a file is closed when it has grown to this (stored bytes); 0: no limit."""
        config = config or WriterConfig()
        make_codec(compression, config.level)
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        stem = file_name(prefix, config.clock(), 0, _owner(), "").removesuffix(".warc")
        settings = {"prefix": prefix, "compression": compression, "max_bytes": max_bytes, **config.persisted()}
        self._setup(path, config, Journal.create(path / f"{stem}.journal", settings), State(config=settings))

    def _setup(self, folder: Path, config: WriterConfig, journal: Journal, state: State) -> None:
        self.folder = folder
        self.config = config
        self._settings: dict[str, Any] = state.config
        self._journal = journal
        self._lock = threading.RLock()
        self._file_lock = threading.Lock()
        self._next_ident = state.next_ident
        self._unsettled: dict[str, list[Group]] = {}
        self._accepted: dict[int, Group] = {}
        self._bins = Bins(config.pack_bytes, config.pack_bytes * config.open_packs)
        self._seen = SeenPayloads(config.seen_capacity, config.seen, config.remember)
        self._codec: Codec | None = None
        self._file: OpenFile | None = None
        self._since_s: float | None = None  # since when anything has been accepted that no finished file need have
        self._noted = (state.open_name, state.good_bytes)
        self._serial = 0
        self._index = IndexBuilder()
        self._pool = ThreadPoolExecutor(config.threads, thread_name_prefix="archive")
        self._running: set[Future[None]] = set()
        self._stuck: list[Job] = []
        self._error: BaseException | None = None
        self._closed = False
        self.finished: list[Path] = []
        self.written_bytes = 0

    @classmethod
    def resume(cls, journal: Journal, state: State, config: WriterConfig) -> WarcWriter:
        """Go on where a dead writer stopped; ``journal`` and ``state`` from :meth:`Journal.take_over`."""
        writer = cls.__new__(cls)
        writer._setup(journal.path.parent, config, journal, state)
        if state.open_name and state.good_bytes:
            path = writer.folder / (state.open_name + OPEN)
            if path.exists():
                writer._file = OpenFile.resume(writer.folder, state.open_name, state.good_bytes)
                writer._go_on_with(path, state.open_name)
        elif state.open_name:
            (writer.folder / (state.open_name + OPEN)).unlink(missing_ok=True)
        for group in state.groups.values():
            if group.ident in state.accepted or not group.token:
                writer._accept([group])
            else:
                writer._unsettled.setdefault(group.token, []).append(group)
        return writer

    # -- what the crawler calls ------------------------------------------------------------------------------------

    def write(self, exchange: Exchange, token: str = "") -> None:
        """Take an exchange on; it is durable after the next :meth:`sync`. ``token`` "": accepted already.

        Never raises ArchiveFull: :meth:`sync` does, and the caller must not go on before that has succeeded.
        """
        self._check()
        body = freeze(exchange)
        with self._lock:
            group = Group(self._next_ident, token, exchange.host, body, len(body) + _RECORD_OVERHEAD)
            self._next_ident += 1
            self._journal.add(*group.frame())
            if token:
                self._unsettled.setdefault(token, []).append(group)
            else:
                self._accept([group])

    def sync(self) -> None:
        """Make everything written durable. ArchiveFull: no room now; nothing is lost, call again later."""
        self._check()
        with self._lock:
            self._check_reserve()
            self.config.step("journal-commit")
            self._journal.commit()
        self._retry()
        with self._lock:
            live = sum(len(group.body) for groups in self._unsettled.values() for group in groups)
            live += sum(len(group.body) for group in self._accepted.values())
            if self._journal.size > self.config.journal_bytes + 2 * live:
                self.config.step("journal-rewrite")
                self._rewrite_journal()
        # Here and not when a pack is full: where little is fetched that takes days.
        if self._since_s is not None and 0 < self.config.max_age_s <= self._now_s() - self._since_s:
            self._pack_all()

    def settle(self, accepted: Collection[str], rejected: Collection[str] = ()) -> None:
        """The frontier's answer: exchanges of accepted tokens go into packs, those of rejected ones are dropped.

        Does not raise ArchiveFull: the next :meth:`sync` does. May wait for the compressing threads.
        """
        self._check()
        with self._lock:
            taken = [group for token in accepted for group in self._unsettled.pop(token, ())]
            dropped = [group for token in rejected for group in self._unsettled.pop(token, ())]
            self._journal.add(SETTLED, ([group.ident for group in taken], [group.ident for group in dropped]))
            self._accept(taken)
            self.config.step("settle-commit")
            with contextlib.suppress(ArchiveFull):
                self._journal.commit(durable=False)
        self._throttle()

    def close(self) -> None:
        """Pack what was accepted and finish the file; what was not settled stays in the journal for ``recover``.

        ArchiveFull: the ``.open`` file and the journal stay, to be finished by ``recover`` when there is room.
        """
        if self._closed:
            return
        try:
            self._pack_all()
        except BaseException:
            self._abandon()
            raise
        self._closed = True
        self._pool.shutdown()
        self.config.step("journal-remove")
        # Accepted, and in no pack: what was to put it there could not begin.
        self._journal.close(remove=not (self._unsettled or self._accepted))

    def __enter__(self) -> WarcWriter:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _go_on_with(self, path: Path, name: str) -> None:
        """Index what stands in the file already, and take its dictionary for what is added."""
        with Reader(path) as reader:
            self._index.add_file(reader, name)
            dictionary = reader.dictionary
        compression = self._settings["compression"]
        self._codec = make_codec(compression, self.config.level, dictionary, self.config.pack_bytes)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _pack_all(self) -> None:
        with self._lock:
            self._journal.commit()
            for groups in self._bins.flush():
                self._submit(Job(groups))
        # A thread may not have told yet what `wait` has seen the end of.
        for future in wait(set(self._running)).done:
            self._done(future)
        self._retry()
        if self._error is not None:
            raise self._error
        with self._file_lock:
            self._finish_file()
        self._since_s = None
        if self._unsettled:
            self._rewrite_journal()

    def _abandon(self) -> None:
        self._closed = True
        self._pool.shutdown()
        if self._file is not None:
            self._file.close()
        self._journal.close(remove=False)

    def _check(self) -> None:
        if self._closed:
            raise WriterClosed(str(self.folder))
        if self._error is not None and not isinstance(self._error, ArchiveFull):
            raise self._error

    def _check_reserve(self) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < self.config.reserve_bytes:
            raise ArchiveFull(str(self.folder), self.config.reserve_bytes, free, "less than the reserve is free")

    def _now_s(self) -> float:
        return self.config.clock().timestamp()

    def _accept(self, groups: Sequence[Group]) -> None:
        self._accepted.update((group.ident, group) for group in groups)  # first: a journal that is rewritten has them
        if groups and self._since_s is None:
            self._since_s = self._now_s()
        for group in groups:
            due = self._bins.add(group)
            if due:
                self._submit(Job(due))

    def _submit(self, job: Job) -> None:
        future = self._pool.submit(self._run, job)
        self._running.add(future)
        future.add_done_callback(self._done)

    def _done(self, future: Future[None]) -> None:
        error = future.exception()
        if error is not None:
            self._fail(error)
        self._running.discard(future)

    def _fail(self, error: BaseException) -> None:
        """A full device hides no other fault: it is forgotten when there is room."""
        with self._lock:
            if self._error is None or isinstance(self._error, ArchiveFull):
                self._error = error

    def _throttle(self) -> None:
        while len(self._running) > self.config.threads + 2 and self._error is None:
            wait(set(self._running), timeout=1, return_when="FIRST_COMPLETED")

    def _retry(self) -> None:
        """Give packs that found no room another try, here and now."""
        with self._lock:
            stuck, self._stuck = self._stuck, []
            if isinstance(self._error, ArchiveFull):
                self._error = None
        for job in stuck:
            try:
                self._run(job)
            except BaseException as error:  # it and those behind it stand in the journal only
                self._fail(error)
                raise
        if self._error is not None:
            raise self._error

    def _run(self, job: Job) -> None:
        try:
            if job.encoded is None:
                job.build(self.config, self._seen)
                job.encode(self._codec_for(job))
            with self._file_lock:
                self._append(job)
        except (OSError, ArchiveError) as error:
            with self._lock:
                self._stuck.append(job)
            self._fail(error)
            return
        self._rotate()

    def _codec_for(self, job: Job) -> Codec:
        with self._file_lock:
            if self._codec is None:
                dictionary = self.config.dictionary
                compression = self._settings["compression"]
                if compression == "zst" and not dictionary:
                    dictionary = train_dictionary(job.records)
                self._codec = make_codec(compression, self.config.level, dictionary, self.config.pack_bytes)
            return self._codec

    def _append(self, job: Job) -> None:
        assert job.encoded is not None
        file = self._file or self._open_file()
        self.config.step("pack-append")
        start = file.append(job.encoded.blob)
        self.written_bytes += len(job.encoded.blob)
        for entry in job.index_lines(file.name, start, self._settings["compression"] == "xz"):
            self._index.add(entry)
        self.config.step("pack-note")
        self._note(file, [group.ident for group in job.groups])
        # What a recovery does not find noted it writes anew, with other ids than others would have been told.
        try:
            with self._lock:
                self._journal.commit()
        except (OSError, ArchiveError):
            return  # the next sync says so
        job.remember(self._seen)

    def _rotate(self) -> None:
        """Finish the file when it is due. When that fails the file stays open, and it is tried again later."""
        with self._file_lock:
            if self._file is None or not 0 < self._settings["max_bytes"] <= self._file.size:
                return
            try:
                self._finish_file()
            except (OSError, ArchiveError) as error:
                self._fail(error)

    def _note(self, file: OpenFile, idents: list[int]) -> None:
        with self._lock:
            self._noted = (file.name, file.size)
            self._journal.add(PACK_WRITTEN, (file.name, file.size, idents))
            for ident in idents:
                self._accepted.pop(ident, None)

    def _open_file(self) -> OpenFile:
        assert self._codec is not None
        now = self.config.clock()
        self._serial += 1
        settings = self._settings
        name = file_name(settings["prefix"], now, self._serial, _owner(), SUFFIXES[settings["compression"]])
        first = warcinfo(name, now, self.config.warcinfo, self.config.style)
        self.config.step("file-note")
        sync_names(self.folder)  # the last file's has not found room, it may be: no note would lead to that file
        with self._lock:
            self._noted = (name, 0)
            self._journal.add(FILE_OPENED, self._noted)
            self._journal.commit()
        self.config.step("file-create")
        file = OpenFile.create(self.folder, name)
        try:
            file.append(self._codec.preamble() + self._codec.encode([first]).blob)
            sync_names(self.folder)  # what is in the file is soon nowhere else
        except (OSError, ArchiveError):
            file.close()
            file.path.unlink()
            raise
        self._file = file
        self._note(file, [])
        return file

    def _finish_file(self) -> None:
        file = self._file
        if file is None:
            return
        self.config.step("finish-commit")
        with self._lock:
            self._journal.commit()
        self.config.step("finish-index")
        final = self.folder / file.name
        self._index.write(final.with_name(final.name + SUFFIX))
        self.config.step("finish-rename")
        self.finished.append(file.rename())
        self._index.close()  # not before: a rename that fails is tried again, with the index
        self._file = None
        file.close()
        sync_names(self.folder)  # until it has, the journal goes by the name that the file had
        self.config.step("finish-note")
        with self._lock:
            self._noted = ("", 0)
            self._journal.add(FILE_CLOSED, (file.name,))

    def _rewrite_journal(self) -> None:
        with self._lock:
            self._journal.commit()
            frames: list[Frame] = [(FILE_OPENED, self._noted)] if self._noted[0] else []
            frames += [group.frame() for groups in self._unsettled.values() for group in groups]
            frames += [group.frame() for group in self._accepted.values()]
            frames.append((SETTLED, (list(self._accepted), [])))
            self._journal.rewrite(self._settings, frames)
