"""Dates as pages write them, made ISO 8601: the day, with the time where the page also says its zone.

Read are ISO 8601 and its neighbours (a blank for the T, slashes, no signs at all), RFC 2822, what programs print
(`Tue Nov 19 10:20:30 UTC 2019`), English months, and days of which the digits tell the order: `31.5.2024`,
`5/31/2024`; of `5/6/2024` and `5-6-2024` nothing can be said. A time without a zone is no instant, and midnight is what
programs write that know only the day: both give the day alone.

Guarantee: what is given is a day that there is, of 1990 or later, so none of the dates that stand for none (0000-00-00,
0001-01-01, 1970-01-01). At most 64 characters are looked at.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache

FIRST_YEAR = 1990
"""There was no web before."""
_LONGEST = 64
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,:]\d{1,9})?)?(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
_ZONE = r"(?:\s?(?P<zone>Z|UTC|GMT|(?:UTC|GMT)?[+-]\d\d:?(?:\d\d)?|[A-Z]{2,5}|\([A-Z]{2,5}\)))?(?:\s?\([^()]*\))?"
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}\.?,?\s)?"
# Other languages' names begin as the English do, but marraskuu, November in Finnish.
_MONTH = r"(?!Marras)(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_YEAR, _DAY = r"(?P<year>\d{4})", r"(?P<day>\d{1,2})"
_AT = rf"(?:,?\s(?:at\s)?{_TIME}{_ZONE})?"
_FORMS = [
    re.compile(form, re.A)
    for form in (
        rf"{_YEAR}(?P<sign>[-/.])(?P<month>\d{{1,2}})(?P=sign)(?P<day>\d{{1,2}})(?:(?:T|,?\s)\s?{_TIME}{_ZONE})?",
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)"
        rf"(?:T?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d){_ZONE})?",
        rf"{_WEEKDAY}{_DAY}(?:st|nd|rd|th)?[ -]{_MONTH},?[ -]{_YEAR}{_AT}",
        rf"{_WEEKDAY}{_MONTH}\s{_DAY}(?:st|nd|rd|th)?,?\s{_YEAR}{_AT}",
        rf"{_WEEKDAY}{_MONTH}\s{_DAY}\s{_TIME}{_ZONE}\s{_YEAR}",
        rf"(?P<one>\d{{1,2}})(?P<sign>[/.-])(?P<two>\d{{1,2}})(?P=sign)(?P<year>\d{{4}})(?:,?\s{_TIME}{_ZONE})?",
    )
]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d\d):?(\d\d)?", re.A)


def instant(text: str) -> str:
    """`YYYY-MM-DD`, or with `THH:MM:SS` and `Z` or `+HH:MM` behind it; "" for what is no date or none that can be."""
    return _instant(text) if text and len(text) <= _LONGEST else ""


@lru_cache(maxsize=1 << 8)  # a page says it in several places
def _instant(text: str) -> str:
    text = text.strip()
    if text[4:5] == text[7:8] == "-" and text.isascii() and (plain := _plain(text)) is not None:
        return plain
    match = next((match for form in _FORMS if (match := form.fullmatch(text))), None)
    if match is None:
        return ""
    parts = match.groupdict()
    try:
        day = _day(parts)
        if day is None or day.year < FIRST_YEAR:
            return ""
        return _with_time(day, parts)
    except ValueError:
        return ""


def _plain(text: str) -> str | None:
    """As nearly all are written, the quick way; None: it is to be looked at."""
    try:
        told = datetime.fromisoformat(text)
    except ValueError:
        return None
    zone = told.utcoffset()
    if told.year < FIRST_YEAR:
        return ""
    if zone is not None and (abs(zone) >= timedelta(hours=15) or zone % timedelta(minutes=1)):
        return ""
    if zone is None or not (told.hour or told.minute or told.second):
        return text[:10]
    return told.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _day(parts: dict[str, str | None]) -> date | None:
    year = int(parts["year"] or 0)
    if parts.get("one"):
        one, two = int(parts["one"] or 0), int(parts["two"] or 0)
        if parts["sign"] != "." and one != two and max(one, two) <= 12:
            return None  # of the day first or the month, who knows
        day, month = (two, one) if two > 12 and parts["sign"] != "." else (one, two)
    else:
        name = (parts.get("name") or "").lower()
        day, month = int(parts["day"] or 0), _MONTHS.index(name) + 1 if name else int(parts["month"] or 0)
    return date(year, month, day)


def _with_time(day: date, parts: dict[str, str | None]) -> str:
    if not parts.get("hour"):
        return day.isoformat()
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    half = (parts.get("half") or "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError("no such hour")
    hour = hour % 12 + 12 * (half == "p") if half else hour
    told = datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=_zone(parts.get("zone") or ""))
    if told.tzinfo is None or not (hour or minute or second):
        return day.isoformat()
    return told.isoformat().replace("+00:00", "Z")


def _zone(name: str) -> timezone | None:
    """Of names of zones only those of Greenwich are the same everywhere."""
    if name in ("Z", "UTC", "GMT"):
        return UTC
    match = _OFFSET.fullmatch(name)
    if match is None:
        return None
    hours, minutes = int(match[2]), int(match[3] or 0)
    if hours > 14 or minutes > 59:
        raise ValueError("no such zone")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if match[1] == "-" else offset)


def days_apart(one: str, other: str) -> int:
    """Between two of :func:`instant`, as the days are written."""
    return abs((date.fromisoformat(one[:10]) - date.fromisoformat(other[:10])).days)


def is_after(one: str, other: str) -> bool:
    """Is a day that :func:`instant` gave behind the other and the day after it? (They may be of different zones.)"""
    return date.fromisoformat(one[:10]) - date.fromisoformat(other[:10]) > timedelta(days=1)
