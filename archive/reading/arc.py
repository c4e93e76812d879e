"""ARC files (the Internet Archive's format before WARC, versions 1 and 2) as if their records were WARC records.

Source: "Arc File Format" (Burner and Kahle, 1996). An ARC header line becomes a header of the usual names, so that all
code that reads records reads these; the type is ``arc_header`` for the first record and ``response`` for all others.
"""

from __future__ import annotations

import re

from archive.messages.headers import Headers

LINE = re.compile(rb"[a-zA-Z][a-zA-Z0-9+.-]*:[^\n]* \S+[ ]*\r?\n")
NEXT = re.compile(rb"\n(?=[a-z]{2,12}:[^\n]*+\n)(?=[^\n]* \d{8,}+ )")
_DATE = re.compile(r"[0-9]{8,14}")
_ODD = re.compile(r"(.*) ([0-9a-fA-F:.]*+|-) ([0-9]{8,}+\S*+) (.*)", re.DOTALL)
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_DATE_DIGITS = 14
_LENGTH_DIGITS = 18
_FIELDS_V1, _FIELDS_V2 = 5, 10


def begins(buffer: bytes, start: int, *, any_record: bool) -> bool:
    """Does an ARC file begin here? ``any_record``: or, where one was asked for by its place, any record of one; else
    only the first tells it from other text."""
    line = LINE.match(buffer, start)
    if line is None or buffer.startswith(b"filedesc:", start):
        return line is not None
    return any_record and parse_line(line[0])[2]


def parse_line(line: bytes) -> tuple[Headers, int, bool]:
    """Header fields, block length, and whether the line is sound. The URL may contain spaces: fields count from the
    end, but for lines whose media type has some, too (``text/html; charset=x``: Alexa's). Address and date may have
    changed places; a date that is none (old lines have one in base 16) is left out where the address is one.
    """
    text = line.decode("utf-8", "surrogateescape").strip()
    words = text.split(" ")
    count = _FIELDS_V2 if len(words) >= _FIELDS_V2 and words[-1].isdigit() and words[-2:-1] != [""] else _FIELDS_V1
    if len(words) >= _FIELDS_V2 and not (words[-_FIELDS_V2 + 2].isdigit() and _is_date(words[-_FIELDS_V2 + 2])):
        count = _FIELDS_V1
    if len(words) < count:
        return Headers([("WARC-Type", "response"), ("WARC-Target-URI", words[0])]), 0, False
    url = " ".join(words[: len(words) - count + 1])
    address, date, media = words[len(words) - count + 1 : len(words) - count + 4]
    if not _is_date(date):
        if odd := _ODD.fullmatch(text.rpartition(" ")[0]):
            url, address, date, media = odd.groups()
        elif _is_date(address):
            address, date = date, address
    length = int(words[-1]) if words[-1].isdecimal() and len(words[-1]) <= _LENGTH_DIGITS else -1
    kind = "arc_header" if url.startswith("filedesc:") else "response"
    pairs = [("WARC-Type", kind), ("WARC-Date", _iso(date)), ("WARC-Target-URI", url), ("WARC-IP-Address", address)]
    if kind == "response" and url.lower().startswith("http"):
        pairs.append(("Content-Type", "application/http;msgtype=response"))
    elif kind == "response":
        pairs.append(("Content-Type", media))
    pairs.append(("Content-Length", str(max(length, 0))))
    return Headers(pairs), max(length, 0), length >= 0 and (_is_date(date) or _ADDRESS.fullmatch(address) is not None)


def _is_date(word: str) -> bool:
    return _DATE.match(word) is not None


def _iso(date: str) -> str:
    """Of a date with more behind it (more digits, letters) the beginning."""
    digits = _DATE.match(date)
    if digits is None:
        return ""
    padded = (digits[0] + "0" * _DATE_DIGITS)[:_DATE_DIGITS]
    return f"{padded[:4]}-{padded[4:6]}-{padded[6:8]}T{padded[8:10]}:{padded[10:12]}:{padded[12:14]}Z"
