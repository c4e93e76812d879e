"""What is in an archive: captures and bytes by host, language, media type, year and status."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from archive.reading.record import CAPTURES, Record

GROUPS = ("host", "language", "type", "year", "status")
_HOST_ENDS = re.compile(r"[/?#]")


@dataclass(slots=True)
class Stats:
    """``captures[group][value]`` and ``bytes[group][value]``; ``kinds``: all records by WARC-Type."""

    records: int = 0
    payload_bytes: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    captures: dict[str, Counter[str]] = field(default_factory=lambda: {group: Counter() for group in GROUPS})
    bytes: dict[str, Counter[str]] = field(default_factory=lambda: {group: Counter() for group in GROUPS})

    def add(self, record: Record) -> None:
        self.records += 1
        self.kinds[record.type or "unknown"] += 1
        if record.type not in CAPTURES:
            return
        http = record.http
        size = record.length - (http.size if http else 0)
        self.payload_bytes += size
        values = {
            "host": _HOST_ENDS.split(record.url.partition("://")[2], maxsplit=1)[0].rpartition("@")[2].lower(),
            "language": record.field("WARC-Identified-Content-Language").partition(",")[0].strip() or "-",
            "type": record.media_type or "-",
            "year": record.date[:4] or "-",
            "status": str(http.status) if http and http.status else "-",
        }
        for group, value in values.items():
            self.captures[group][value] += 1
            self.bytes[group][value] += size

    def as_json(self) -> dict[str, object]:
        return {
            "records": self.records,
            "payload_bytes": self.payload_bytes,
            "kinds": dict(self.kinds),
            "captures": {group: dict(counts) for group, counts in self.captures.items()},
            "bytes": {group: dict(counts) for group, counts in self.bytes.items()},
        }
