"""When a feed says that an item was published, as far as what it writes can be believed: to the second, or its day.

Read are the forms that feeds are to have, ISO 8601 and RFC 2822, and of others days alone that can be read in one way
only: `May 31, 2024`, `31st May, 2024`, `2024/05/31`, in English. The parsers of the formats guess at more, each its own
way, which is good enough to poll by, but not to be told on. As of pages (:mod:`relevance.pages.instants`), a time
without a zone that all know is no instant, and midnight is what programs write that know only the day.
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
_TIME = r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?(?P<zone>\D.*)?"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Other languages' names begin as the English do, but marraskuu, November in Finnish.
_NAMED = rf"(?!marras)(?P<name>{'|'.join(_MONTHS)})"
_ENGLISH = rf"{_NAMED}(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\.?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_DAY = r"(?P<day>\d\d?)(?:st|nd|rd|th)?"
_FORMS = [
    re.compile(form, re.A | re.I)
    for form in (
        rf"(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)(?:[T ]{_TIME})?",
        rf"(?:[a-z]{{3,9}}\.?,?\s*)?(?P<day>\d\d?)[ -]{_NAMED}[a-z]{{0,6}}\.?[ -](?P<year>\d{{4}})"
        rf"(?:,?\s{_TIME})?",
        rf"{_WEEKDAY}{_ENGLISH}\s+{_DAY}(?:,\s*|\s+)(?P<year>\d{{4}})",
        rf"{_WEEKDAY}{_DAY}\s+{_ENGLISH}(?:,\s*|\s+)(?P<year>\d{{4}})",
        r"(?P<year>\d{4})/(?P<month>\d\d)/(?P<day>\d\d)",
    )
]
_ZONE = re.compile(
    r"(?P<name>Z|UTC?|GMT)|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)(?:\s*\([^()]*\))?", re.A | re.I
)
_MOST_HOURS = 14
_SEVERAL = 3
_AT_ONCE_MS = 60_000
_HALF_HOUR_MS = 1_800_000


def instant(written: str) -> int | None:
    """Epoch milliseconds of a date as ISO 8601 (a year, or year and month, too) or RFC 2822 has it, to poll by: without
    a zone it is UTC; None for what says nothing."""
    text = written.strip()
    if re.fullmatch(r"\d{4}(-\d{2})?", text):
        text = f"{text}-01" if len(text) == 7 else f"{text}-01-01"
    for read in (datetime.fromisoformat, parsedate_to_datetime) if 0 < len(text) <= _LONGEST else ():
        with suppress(ValueError, IndexError, TypeError, OverflowError):
            when = read(text)
            return int((when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)
    return None


def said(written: str) -> str:
    """The instant in UTC, `YYYY-MM-DDTHH:MM:SSZ`, or the day as it is written; "" for what says neither."""
    text = written.strip()
    match = next((match for form in _FORMS if (match := form.fullmatch(text))), None) if len(text) <= _LONGEST else None
    if match is None:
        return ""
    parts = match.groupdict()
    month = int(parts["month"]) if parts.get("month") else _MONTHS.index(parts["name"].lower()) + 1
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    zone = _ZONE.fullmatch((parts.get("zone") or "").strip())
    try:
        when = datetime(int(parts["year"]), month, int(parts["day"]), hour, minute, second)
        if zone is None or not (hour or minute or second):
            return when.date().isoformat()
        return when.replace(tzinfo=_offset(zone)).astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return ""


def _offset(zone: re.Match[str]) -> timezone:
    if zone["name"]:
        return UTC
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
