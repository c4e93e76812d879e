"""Do repeats lead anywhere? Whether the content that ``revisit`` records refer to is in these files.

A revisit of profile identical-payload-digest leads to an answer of the URL that it refers to with its payload digest;
one of profile server-not-modified to a capture of that URL at the date that it refers to, as far as it says one; that
may be a revisit. What files have is read from their indexes (``archive verify`` compares these with
the files), of a file without one from the file itself. Memory: some 1,000 bytes a revisit, however large the files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from archive.errors import ArchiveError, Damage
from archive.index.access import IDENTICAL
from archive.index.cdxj import REVISIT, SUFFIX, file_lines, parse, payload_digest, timestamp
from archive.index.checking import begins_as_index
from archive.index.surt import surt
from archive.messages.digests import split_digest, split_indexed
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.tools.verify import Problem

_NOT_MODIFIED = "/revisit/server-not-modified"

Content = tuple[str, object]
"""The key of a URL, and what a capture of it must have: a digest, a date, or None for nothing more."""


def sought(record: Record) -> Content | None:
    """What a revisit refers to; None of another record, and of profiles of which nobody knows what they refer to."""
    if record.type != "revisit" or record.damage is not None:
        return None
    url, date = record.refers_to
    profile = record.field("WARC-Profile")
    if _NOT_MODIFIED in profile:
        return surt(url), timestamp(date) if date else None
    has = split_digest(record.field("WARC-Payload-Digest"))
    return (surt(url), has) if has is not None and IDENTICAL in profile else None


def had(record: Record) -> set[Content]:
    """All that revisits to this response may seek, as the index has it."""
    return _had(surt(record.url), payload_digest(record), timestamp(record.date))


def _had(key: str, checksum: str, stamp: str) -> set[Content]:
    has = split_indexed(checksum)
    found: set[Content] = {(key, stamp), (key, None)}
    return found | {(key, has)} if has is not None and has[1] else found


class Revisits:
    """Told of all records, then of the files that may have what the revisits among them refer to."""

    def __init__(self) -> None:
        self.count = 0
        self._sought: defaultdict[Content, list[Problem]] = defaultdict(list)
        self._same: dict[Content, Content] = {}
        self._found: set[Content] = set()

    def add(self, record: Record, name: str) -> None:
        """A record of the file of that name."""
        content = sought(record)
        if content is None:
            return
        self.count += 1
        url, date = record.refers_to
        when = f" at {date}" if date else ""
        message = f"the content of {record.url} is that of {url}{when}, which is in none of these files"
        problem = Problem(name, record.offset, record.inner, "error", "revisit", message)
        self._sought[content].append(problem)
        self._same[surt(record.url), timestamp(record.date)] = content  # an answer "not modified" may refer to this

    def look_into(self, file: Path) -> list[Damage]:
        """Find what a file has, or what an index names; returns the damage met in a file that has no index.
        ArchiveError: a line of an index is none, what all others name has been found; OSError."""
        index = _index_of(file)
        if index is None:
            with Reader(file) as reader:
                self._find(file_lines(reader, file.name), file)
                return reader.damages
        with index.open("rb") as lines:
            self._find(lines, index)
        return []

    def _find(self, lines: Iterable[bytes], path: Path) -> None:
        fault = ""
        for number, line in enumerate(lines, 1):
            try:
                row = parse(line)
            except ValueError as error:
                fault = fault or f"{path}:{number}: no line of an index: {error}"
                continue
            if row.get("mime") != REVISIT:
                self._found |= _had(row["urlkey"], row.get("digest", ""), row["timestamp"]) & self._sought.keys()
        if fault:
            raise ArchiveError(fault)

    def unresolved(self) -> Iterator[Problem]:
        """The revisits whose content is nowhere, those of one content together."""
        for content, problems in self._sought.items():
            if self._found.isdisjoint((content, self._same.get(content, content))):
                yield from problems


def _index_of(file: Path) -> Path | None:
    """The index beside a file; the file itself where it is one, whatever it is called; None where there is none."""
    beside = file.with_name(file.name + SUFFIX)
    if file.suffix == SUFFIX or not beside.exists():
        return file if file.suffix == SUFFIX or begins_as_index(file) else None
    return beside
