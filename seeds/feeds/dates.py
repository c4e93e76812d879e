"""When a feed says that an item was published, as far as what it writes can be believed: to the second, or its day.

Read are the forms that feeds are to have, ISO 8601 (with slashes, too) and RFC 2822, with the names of Africa's zones,
and of others days alone that can be read in one way only: `May 31, 2024`, `31st May, 2024`, in English. To poll by,
what is read so comes first, too, and then more that the parsers of the formats guess at. As of pages
(:mod:`relevance.pages.instants`), a time without a zone that all know is no instant, and midnight is what programs
write that know only the day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

from seeds.feeds.types import FeedEntry

__all__ = ["instant", "said", "without_doubted"]

_LONGEST = 64
_TIME = r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d?)(?:[.,]\d{1,9})?)?(?P<zone>\D.*)?"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Other languages' names begin as the English do, but marraskuu, November in Finnish.
_NAMED = rf"(?!marras)(?P<name>{'|'.join(_MONTHS)})"
_ENGLISH = rf"{_NAMED}(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\.?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_DAY = r"(?P<day>\d\d?)(?:st|nd|rd|th)?"
_FORMS = [
    re.compile(form, re.A | re.I)
    for form in (
        rf"(?P<year>\d{{4}})(?P<sign>[-/])(?P<month>\d\d)(?P=sign)(?P<day>\d\d)(?:[T ]{_TIME})?",
        rf"(?:[a-z]{{3,9}}\.?,?\s*)?(?P<day>\d\d?)[ -]{_NAMED}[a-z]{{0,6}}\.?[ -](?P<year>\d{{4}})"
        rf"(?:,?\s{_TIME})?",
        rf"{_WEEKDAY}{_ENGLISH}\s+{_DAY}(?:,\s*|\s+)(?P<year>\d{{4}})",
        rf"{_WEEKDAY}{_DAY}\s+{_ENGLISH}(?:,\s*|\s+)(?P<year>\d{{4}})",
    )
]
_ZONE = re.compile(
    r"(?P<name>Z|UTC?|GMT|SAST|[CEW]AT)|(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)(?:\s*\([^()]*\))?",
    re.A | re.I,
)
_EAST_H = {"WAT": 1, "CAT": 2, "SAST": 2, "EAT": 3}
_MOST_HOURS = 14
_SEVERAL = 3
_AT_ONCE_MS = 60_000
_HALF_HOUR_MS = 1_800_000


def instant(written: str, guessed_ms: int | None = None) -> int | None:
    """Epoch milliseconds of a date as :func:`said` reads it, or else as ISO 8601 (a year, or year and month, too) or
    RFC 2822 may have it, to poll by: without a zone it is UTC; None for what says nothing. `guessed_ms` is what the
    parser of a format makes of it."""
    text = written.strip()
    if re.fullmatch(r"\d{4}(-\d{2})?", text):
        text = f"{text}-01" if len(text) == 7 else f"{text}-01-01"
    with suppress(ValueError, OverflowError):  # as most have it, and read so in a fifth of the time
        return _ms(datetime.fromisoformat(text))
    told, zone = _told(text)
    if told is not None and (told.tzinfo is not None or not zone):
        return _ms(told)
    if 0 < len(text) <= _LONGEST:
        with suppress(ValueError, IndexError, TypeError, OverflowError):
            return _ms(parsedate_to_datetime(text))
    return _ms(told) if told is not None and guessed_ms is None else guessed_ms


def _ms(when: datetime) -> int:
    return int((when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


def said(written: str) -> str:
    """The instant in UTC, `YYYY-MM-DDTHH:MM:SSZ`, or the day as it is written; "" for what says neither."""
    told, _ = _told(written.strip())
    if told is None:
        return ""
    if told.tzinfo is None or not (told.hour or told.minute or told.second):
        return told.date().isoformat()
    return told.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _told(text: str) -> tuple[datetime | None, str]:
    """The date as it is written, in its zone where that is known, and the zone as it is written; None for none that can
    be, in all zones."""
    match = next((match for form in _FORMS if (match := form.fullmatch(text))), None) if len(text) <= _LONGEST else None
    if match is None:
        return None, ""
    parts = match.groupdict()
    month = int(parts["month"]) if parts.get("month") else _MONTHS.index(parts["name"].lower()) + 1
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    written = (parts.get("zone") or "").strip()
    zone = _ZONE.fullmatch(written)
    try:
        when = datetime(int(parts["year"]), month, int(parts["day"]), hour, minute, second)
        if zone is not None:
            when = when.replace(tzinfo=_offset(zone))
            when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None, ""
    return when, written


def _offset(zone: re.Match[str]) -> timezone:
    if zone["name"]:
        return timezone(timedelta(hours=_EAST_H.get(zone["name"].upper(), 0)))
    hours, minutes = int(zone["hours"]), int(zone["minutes"])
    if hours > _MOST_HOURS or minutes > 59:
        raise ValueError("no such zone")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if zone["sign"] == "-" else offset)


def without_doubted(entries: Sequence[FeedEntry]) -> tuple[FeedEntry, ...]:
    """The same, undated where all dates are of one minute: they tell when the document was made, which may take some
    seconds, and not when its items were published. (Days written as such a time are of half an hour's.) Undated, too,
    are items of one address that are not of one day."""
    when = [
        entry.published_ms
        for entry in entries
        if entry.published and entry.published_ms and ("T" in entry.published or entry.published_ms % _HALF_HOUR_MS)
    ]
    at_once = len(when) >= _SEVERAL and max(when) - min(when) < _AT_ONCE_MS
    days: dict[str, set[str]] = {}
    for entry in entries:
        days.setdefault(_address(entry), set()).add(entry.published[:10])
    return tuple(
        replace(entry, published="") if entry.published and (at_once or len(days[_address(entry)]) > 1) else entry
        for entry in entries
    )


def _address(entry: FeedEntry) -> str:
    return entry.url.partition("#")[0]
