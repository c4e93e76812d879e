"""Do repeats lead anywhere? Whether the content that ``revisit`` records refer to is in these files.

A revisit of profile identical-payload-digest leads to an answer of the URL that it refers to with its payload digest;
one of profile server-not-modified to a capture of that URL at the date that it refers to, as far as it says one. What
files have is read from their indexes (``archive verify`` compares these with the files), of a file without one from the
file itself. Memory: some 400 bytes a revisit, however large the files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from archive.errors import ArchiveError
from archive.index.cdxj import SUFFIX, file_lines, parse, timestamp
from archive.index.surt import surt
from archive.messages.digests import split_digest
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.tools.verify import Problem

_IDENTICAL, _NOT_MODIFIED = "/revisit/identical-payload-digest", "/revisit/server-not-modified"
_REVISIT = "warc/revisit"

Content = tuple[str, object]
"""The key of a URL, and what a capture of it must have: a digest, a date, or None for nothing more."""


def sought(record: Record) -> Content | None:
    """What a revisit refers to; None of another record, and of profiles of which nobody knows what they refer to."""
    if record.type != "revisit" or record.damage is not None:
        return None
    url, date = _refers_to(record)
    profile = record.field("WARC-Profile")
    if _NOT_MODIFIED in profile:
        return surt(url), timestamp(date) if date else None
    has = split_digest(record.field("WARC-Payload-Digest"))
    return (surt(url), has) if has is not None and _IDENTICAL in profile else None


def had(record: Record) -> set[Content]:
    """All that revisits to this response may seek."""
    return _had(surt(record.url), record.field("WARC-Payload-Digest"), timestamp(record.date))


def _had(key: str, checksum: str, stamp: str) -> set[Content]:
    return {(key, split_digest(checksum)), (key, stamp), (key, None)}


def _refers_to(record: Record) -> tuple[str, str]:
    """URL and date."""
    return record.field("WARC-Refers-To-Target-URI") or record.url, record.field("WARC-Refers-To-Date")


class Revisits:
    """Told of all records, then of the files that may have what the revisits among them refer to."""

    def __init__(self) -> None:
        self.count = 0
        self._sought: defaultdict[Content, list[Problem]] = defaultdict(list)
        self._found: set[Content] = set()

    def add(self, record: Record, name: str) -> None:
        """A record of the file of that name."""
        content = sought(record)
        if content is None:
            return
        self.count += 1
        url, date = _refers_to(record)
        when = f" at {date}" if date else ""
        message = f"the content of {record.url} is that of {url}{when}, which is in none of these files"
        problem = Problem(name, record.offset, record.inner, "error", "revisit", message)
        self._sought[content].append(problem)

    def look_into(self, file: Path) -> None:
        """Find what a file has, or what an index (``.cdxj``) names. ArchiveError: the index is none; OSError."""
        for row in _captures(file):
            if row.get("mime") == _REVISIT:
                continue
            text = row.get("digest", "")
            checksum = text if ":" in text else f"sha1:{text}"
            self._found |= _had(row["urlkey"], checksum, row["timestamp"]) & self._sought.keys()

    def unresolved(self) -> Iterator[Problem]:
        """The revisits whose content is nowhere, those of one content together."""
        for content, problems in self._sought.items():
            if content not in self._found:
                yield from problems


def _captures(file: Path) -> Iterator[dict[str, str]]:
    index = file if file.suffix == SUFFIX else file.with_name(file.name + SUFFIX)
    if index.exists():
        with index.open("rb") as lines:
            yield from _parsed(lines, index)
        return
    with Reader(file) as reader:
        yield from _parsed(file_lines(reader, file.name), file)


def _parsed(lines: Iterable[bytes], path: Path) -> Iterator[dict[str, str]]:
    for number, line in enumerate(lines, 1):
        try:
            yield parse(line)
        except ValueError as error:
            raise ArchiveError(f"{path}:{number}: no line of an index: {error}") from None
