"""Is an archive what it should be? Structure, lengths, digests, dates, ids, packs, and the index beside it.

Every fault is a :class:`Problem` with its place; ``error``: the file breaks the WARC standard or its own digests, or
cannot be read there; ``warning``: lawful, but something is missing or odd.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from archive.errors import Damage
from archive.index.cdxj import SUFFIX, IndexBuilder, parse
from archive.messages.digests import DigestCheck, digest_holds, split_digest
from archive.messages.http import dechunk
from archive.reading.reader import NO_RECORD, Reader
from archive.reading.record import SEGMENT, Record
from archive.storage.unpack import Unit
from archive.storage.warcfile import OPEN
from archive.tools.convert import lacks_index

_DAY, _TIME = r"-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])", r"T([01]\d|2[0-3]):[0-5]\d"
_DATE = re.compile(rf"\d{{4}}({_DAY}({_TIME}(:([0-5]\d|60)(\.\d{{1,9}})?)?Z)?)?)?")
"""Of WARC 1.1: as much of it as is known, down to the year."""
_FULL_DATE = len("YYYY-MM-DDThh:mm:ssZ")
_ID = re.compile(r"<[a-zA-Z][a-zA-Z0-9+.-]*:[^<>\s]+>")
_TYPES = {"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"}
_WITH_URL = {"response", "resource", "request", "revisit", "conversion", "continuation"}
_BODILESS = {204, 304}


@dataclass(frozen=True, slots=True)
class Problem:
    """``code``: a fixed word for programs; ``message``: for people. ``inner`` -1: the unit, not a record in it."""

    path: str
    offset: int
    inner: int
    level: str
    code: str
    message: str

    def __str__(self) -> str:
        inner = f"+{self.inner}" if self.inner > 0 else ""
        return f"{self.path}:{self.offset}{inner}: {self.level}: {self.message} [{self.code}]"


@dataclass(slots=True)
class Summary:
    """What a whole check came to."""

    records: int = 0
    errors: int = 0
    warnings: int = 0


class Verifier:
    """Checks one file. ``report`` is called with each problem as it is found; memory: about 80 bytes a record id."""

    def __init__(self, path: Path, report: Callable[[Problem], None]) -> None:
        self.path = path
        self.summary = Summary()
        self._report = report
        self._ids: set[int] = set()
        self._unit: Unit | None = None
        self._told = 0

    def run(self, *, index: bool = True, tick: Callable[[Record], None] | None = None) -> Summary:
        """Check everything; ``index``: also against ``NAME.cdxj`` when there is one (a second reading)."""
        if self.path.name.endswith(OPEN):
            self._say(0, -1, "warning", "unfinished", "the file is unfinished: its writer is at work or died")
        with Reader(self.path) as reader:
            for record in reader:
                self._damages(reader.damages)
                self._check(record, reader.stored_as)
                self.summary.records += 1
                if tick is not None:
                    tick(record)
            self._damages(reader.damages)
        if index:
            self._compare(self.path.with_name(self.path.name + SUFFIX))
        return self.summary

    def _say(self, offset: int, inner: int, level: str, code: str, message: str) -> None:
        if level == "error":
            self.summary.errors += 1
        else:
            self.summary.warnings += 1
        self._report(Problem(str(self.path), offset, inner, level, code, message))

    def _damages(self, damages: list[Damage]) -> None:
        for damage in damages[self._told :]:
            code = "empty" if damage.reason == NO_RECORD else "damage"
            self._say(damage.offset, damage.inner, "error", code, damage.reason)
        self._told = len(damages)

    def _check(self, record: Record, stored_as: str) -> None:
        first = record.unit is not self._unit
        if first and record.inner and stored_as == "xz":
            self._at(record, "error", "split", "the record before it spans two packs")
        self._unit = record.unit
        if record.version == "arc" or record.damage is not None:
            return
        if not self.summary.records and record.type != "warcinfo":
            self._at(record, "warning", "no-warcinfo", "the file does not begin with a warcinfo record")
        self._check_header(record)
        self._check_block(record)

    def _at(self, record: Record, level: str, code: str, message: str) -> None:
        self._say(record.offset, record.inner, level, code, message)

    def _check_header(self, record: Record) -> None:
        kind = record.type
        if record.version not in ("1.0", "1.1"):
            self._at(record, "warning", "version", f"WARC version {record.version}")
        if kind not in _TYPES:
            self._at(record, "warning" if kind else "error", "type", f"record type {kind!r}")
        if not _ID.fullmatch(record.id):
            self._at(record, "error", "id", f"WARC-Record-ID {record.id!r} is no URI in angle brackets")
        else:
            key = hash(record.id)
            if key in self._ids:
                self._at(record, "error", "id", f"WARC-Record-ID {record.id} occurs twice")
            self._ids.add(key)
        if not _DATE.fullmatch(record.date):
            self._at(record, "error", "date", f"WARC-Date {record.date!r}")
        elif record.version == "1.0" and len(record.date) != _FULL_DATE:
            self._at(record, "error", "date", "WARC 1.0 has dates to the second, neither more nor less")
        if kind in _WITH_URL and not record.url:
            self._at(record, "error", "uri", "no WARC-Target-URI")
        if kind == "revisit" and not record.field("WARC-Profile"):
            self._at(record, "error", "profile", "a revisit without WARC-Profile")
        if record.length and not record.field("Content-Type") and kind != "continuation":
            self._at(record, "warning", "content-type", "no Content-Type")

    def _check_block(self, record: Record) -> None:
        block_digest = record.headers.get("WARC-Block-Digest")
        elsewhere = record.type == "revisit" or record.truncated == SEGMENT  # not all that it is of is in this record
        payload_digest = "" if elsewhere else record.headers.get("WARC-Payload-Digest")
        for name, value in (("block", block_digest), ("payload", payload_digest)):
            if value and split_digest(value) is None:
                self._at(record, "warning", "digest", f"{name} digest of an unknown kind: {value}")
        head = record.http
        if record.in_memory:
            block_holds = digest_holds(block_digest, record.block())
            payload_holds = self._payload_holds(record, payload_digest)
            size = record.length - (head.size if head else 0)
        else:
            block_holds, payload_holds, size = self._stream_holds(record, block_digest, payload_digest)
        if block_holds is False:
            self._at(record, "error", "digest", "the block digest does not hold")
        if payload_holds is False:
            self._at(record, "error", "digest", "the payload digest does not hold")
        if head is not None and head.status and record.type == "response":
            self._check_length(record, size)
        elif head is None and record.type in ("response", "request") and record.is_http:
            self._at(record, "warning", "http", "the block does not begin with an HTTP head")

    def _payload_holds(self, record: Record, digest: str) -> bool | None:
        """Archives differ in whether chunks, and what follows an interim answer's head, belong to the payload: either
        will do."""
        if not digest:
            return None
        payload = record.payload()
        holds = digest_holds(digest, payload)
        if holds is False and _is_chunked(record):
            holds = digest_holds(digest, dechunk(payload))
        if holds is False and record.http is not None and record.http.interim:
            holds = digest_holds(digest, record.block()[record.http.interim :])
        return holds

    def _stream_holds(self, record: Record, block: str, payload: str) -> tuple[bool | None, bool | None, int]:
        """Do the digests hold, and how long is the payload?"""
        skip = record.http.size if record.http is not None else 0
        of_block, of_payload = DigestCheck(block), DigestCheck(payload)
        size = 0
        for piece in record.pieces():
            of_block.feed(piece)
            of_payload.feed(piece[max(0, skip - size) :])
            size += len(piece)
        payload_holds = of_payload.holds()
        if payload_holds is False and _is_chunked(record):
            payload_holds = None  # it may be of what is in the chunks, which is too much to be put together
        return of_block.holds(), payload_holds, size - skip

    def _check_length(self, record: Record, size: int) -> None:
        head = record.http
        if head is None or record.truncated or head.status in _BODILESS or head.status < 200:
            return
        length = head.headers.get("content-length")
        coded = bool(head.headers.get("transfer-encoding"))
        is_number = length.isascii() and length.isdigit()  # of any length: too many digits for an int
        if is_number and (length.lstrip("0") or "0") != str(size) and size and not coded:
            self._at(record, "warning", "http-length", f"HTTP Content-Length {length}, but {size} bytes of payload")

    def _compare(self, cdxj: Path) -> None:
        if not cdxj.exists():
            if lacks_index(self.path):
                message = f"no {cdxj.name}: what was to write it was killed; python -m archive index makes it"
                self._say(0, -1, "warning", "no-index", message)
            return
        other = 0
        with Reader(self.path) as reader, cdxj.open("rb") as file, closing(IndexBuilder()) as builder:
            builder.add_file(reader, self.path.name)
            for number, (ours, theirs) in enumerate(zip_longest(builder.lines(), file), 1):
                if ours == theirs:
                    continue
                if not _agree(ours, theirs):
                    message = f"line {number} of {cdxj.name} does not match the file"
                    self._say(0, -1, "error", "index", message)
                    break
                other = other or number
        if other:
            message = (
                f"line {other} of {cdxj.name} says less or more than ours would (another version's, another tool's)"
            )
            self._say(0, -1, "warning", "index", message)


def _is_chunked(record: Record) -> bool:
    head = record.http
    return head is not None and head.is_chunked


def _agree(ours: bytes | None, theirs: bytes | None) -> bool:
    """Do two index lines differ only in keys that one of them has not got? Places must be in both."""
    if ours is None or theirs is None:
        return False
    try:
        one, two = parse(ours), parse(theirs)
    except ValueError:
        return False
    common = one.keys() & two.keys()
    return common >= {"url", "offset", "filename"} and all(one[key] == two[key] for key in common)


def verify(path: Path) -> list[Problem]:
    """All problems of a file, in its order."""
    problems: list[Problem] = []
    Verifier(path, problems.append).run()
    return problems
