"""RSS 0.9x/1.0/2.0, Atom 0.3/1.0 and CDF by feedparser, with its dangers taken out.

feedparser is given bytes to read, never a string (which it would take for a file name or an address to open), its own
fetching, sanitising and URL rewriting of content are off, and every document passes `seeds.feeds.guard` first.

The encoding is decided here before feedparser follows RFC 3023 to the letter: bytes that are UTF-8 and not ASCII, but
for a few as where a program has cut a text within a letter, are UTF-8 whatever a header says, and where nothing is
declared and UTF-8 fails, the bytes are guessed from. feedparser
gets UTF-8 behind a declaration that says so, on a line of its own: where a declaration says several things, or goes on,
it takes time that grows with the cube of it. A comment begins the next line: of a DOCTYPE that does, feedparser takes
off what stands before the first ">", be that an entity's.
"""

from __future__ import annotations

import calendar
import codecs
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import feedparser
from resiliparse.parse.encoding import detect_encoding

from seeds.feeds.dates import instant, said
from seeds.feeds.guard import check_text
from seeds.feeds.links import absolute, clean_link
from seeds.feeds.types import Feed, FeedEntry, FeedError, FeedHints
from seeds.markup.encodings import DECLARATION, WIDE
from seeds.markup.references import mended

__all__ = ["parse_xml"]

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_UTF8 = b"<?xml version='1.0' encoding='utf-8'?>\n<!---->"
_ENCODING = re.compile(rb"\sencoding\s*+=\s*+[\"']([\w.:-]{1,40}+)[\"']", re.IGNORECASE)
_OF_WIDE = re.compile(r"u(?:tf)?[-_]?(?:16|32)", re.IGNORECASE)
_OF_NAMES = frozenset({"punycode", "idna"})
"""No encodings of text, but of host names: reading takes time that grows with the square of the length."""
_STUMBLES = (AttributeError, LookupError, TypeError, ValueError)  # of feedparser, over elements where none may stand
_SKIP = re.compile(rb"<skip(Hours|Days)\b[^>]{0,100}>(.{0,4000}?)</skip\1", re.IGNORECASE | re.DOTALL)
_ASCII = re.compile(r"[\x00-\x7f]+")
_RIGHT = 4  # signs beyond ASCII for each that is wrong: of other encodings nearly all are (as of pages)
_BLANKS = re.compile(rb"\s{100,}+")
# What nobody asks for here and feedparser does in time that grows with the square: it looks for mail addresses in the
# names of authors, and compares each category with all before it. Under another name it lets them be.
_UNASKED = re.compile(
    rb"(</?(?:[\w.-]+:)?)(?=(?:author|contributor|creator|managingeditor|owner|publisher|webmaster|category|keywords|"
    rb"subject|tags)[\s/>])",
    re.IGNORECASE,
)
_DAYS = {day: number for number, day in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_PERIODS_S = {"hourly": 3600, "daily": 86400, "weekly": 604800, "monthly": 2592000, "yearly": 31536000}


def parse_xml(body: bytes, url: str, content_type: str | None) -> Feed:
    """The feed; format "" when the document is XML or text of another kind. Raises FeedError."""
    text, encoding = _as_utf8(body, content_type)
    text = _unburdened(text)
    check_text(text)
    headers = {"content-location": url, "content-type": "application/xml; charset=utf-8"}
    try:
        parsed = feedparser.parse(
            io.BytesIO(text), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
        )
    except _STUMBLES as error:
        raise FeedError("broken_markup", f"no parser makes sense of it ({type(error).__name__}: {error})") from error
    feed = parsed["feed"]
    language = _text(feed, "language").lower()
    links = _parts(feed, "links")
    form = parsed.get("version") or ""
    # The dc:date of RSS, as feedparser calls it: when an item is from, if not when it was published.
    dates = ("published", "created", "updated") if form.startswith("rss") else ("published", "created")
    return Feed(
        format=form,
        entries=tuple(_entry(entry, url, language, dates) for entry in parsed["entries"]),
        title=_text(feed, "title"),
        link=_text(feed, "link"),
        language=language,
        generator=_text(feed, "generator"),
        next_archive=_linked(links, url, "prev-archive") or _linked(links, url, "next"),
        hints=_hints(feed, text),
        rescued=bool(parsed.get("bozo")),
        encoding=encoding,
    )


def _unburdened(text: bytes) -> bytes:
    """Without what costs feedparser most: long blanks before the first element, elements that nobody asks for."""
    first = re.search(rb"<\w", text)
    start = first.start() if first else 0
    rest = mended(_UNASKED.sub(rb"\1x-", text[start:]))
    return _BLANKS.sub(b"\n", text[:start]) + rest


def _as_utf8(body: bytes, content_type: str | None) -> tuple[bytes, str]:
    """The body in UTF-8 with its declaration changed to match, and the name of the encoding it had."""
    body = body.removeprefix(codecs.BOM_UTF8)  # which may stand before anything
    for label in _labels(body, content_type):
        with suppress(LookupError, ValueError):  # no encoding of that name, or the body is not in it
            if codecs.lookup(label).name not in _OF_NAMES:
                text = _decoded(body, label).removeprefix("\ufeff").encode()
                return _UTF8 + DECLARATION.sub(b"", text, count=1), label
    raise FeedError("binary", "no encoding makes text of it")


def _decoded(body: bytes, label: str) -> str:
    """ValueError when the body is not in it; in UTF-8 a few signs may be wrong."""
    try:
        return body.decode(label)
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace") if label == "utf-8" else ""
        signs, wrong = len(_ASCII.sub("", text)), text.count("\ufffd")
        if signs - wrong < max(1, _RIGHT * wrong):
            raise
        return text


def _labels(body: bytes, content_type: str | None) -> Iterator[str]:
    """What the encoding may be, the likeliest first."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    charset = _CHARSET.search(content_type or "")
    declaration = DECLARATION.match(body)
    declared = _ENCODING.search(declaration[0]) if declaration else None
    said = [*([charset[1]] if charset else ()), *([declared[1].decode("ascii")] if declared else ())]
    # What is in one of the wide ones begins as such: of other bytes it would make signs without sense.
    said = [label for label in said if not _OF_WIDE.match(label)]
    yield from (encoding for start, encoding in WIDE if body.startswith(start))
    of_ascii = not charset and kind.startswith("text/") and kind.endswith("xml")  # RFC 3023
    if of_ascii or not said or not body.isascii():
        yield "utf-8"
    yield from ("gb18030" if label.lower() == "gb2312" else label for label in said)
    if not said:
        yield detect_encoding(body[:65536]) or "utf-8"
    yield from ("utf-8", "windows-1252", "iso-8859-2")


def _entry(entry: Any, url: str, feed_language: str, dates: Sequence[str]) -> FeedEntry:
    link = absolute(url, _text(entry, "link"))
    contents = _parts(entry, "content")
    return FeedEntry(
        link=link,
        id=_text(entry, "id"),
        title=_text(entry, "title"),
        url=clean_link(_original(entry) or link or ""),
        published_ms=next((when for key in dates if (when := _dated(entry, key))), None),
        published=said(_text(entry, "published")),
        updated_ms=_dated(entry, "updated"),
        language=_spoken(entry, contents) or feed_language,
        content=max((_text(part, "value") for part in contents), key=len, default="") or _text(entry, "summary"),
        enclosures=_enclosures(entry, url),
    )


def _original(entry: Any) -> str:
    """The address that a service which counts readers has replaced by its own; "" when none has."""
    original = _text(entry, "feedburner_origlink") or _text(entry, "pheedo_origlink")
    return original if original.startswith(("http://", "https://")) else ""


def _spoken(entry: Any, contents: list[Any]) -> str:
    """The first language that an item names of itself, its parts or its title."""
    said_of = (entry, *contents, dict.get(entry, "title_detail") or {})
    return next((tag.lower() for part in said_of if (tag := _text(part, "language"))), "")


def _enclosures(entry: Any, url: str) -> tuple[str, ...]:
    hrefs = (_text(part, "href") for part in _parts(entry, "links") if part.get("rel") == "enclosure")
    return tuple(joined for href in hrefs if (joined := absolute(url, href)))


def _hints(feed: Any, text: bytes) -> FeedHints:
    hours: set[int] = set()
    days: set[int] = set()
    for match in _SKIP.finditer(text[:262_144]):
        values = re.findall(rb">\s*([\w]+)\s*<", b">" + match[2].replace(b"<", b" <").replace(b">", b"> ") + b"<")
        for value in (word.decode("ascii", "replace").lower() for word in values):
            if value.isdigit() and int(value) <= 24:
                hours.add(int(value) % 24)
            elif value[:3] in _DAYS:
                days.add(_DAYS[value[:3]])
    ttl = _text(feed, "ttl")
    period = _PERIODS_S.get(_text(feed, "sy_updateperiod").lower())
    frequency = _text(feed, "sy_updatefrequency")
    times = _number(frequency) if 0 < _number(frequency) < 10_000 else 1
    return FeedHints(
        ttl_s=_number(ttl) * 60 or None,
        update_period_s=period // times if period else None,
        skip_hours=frozenset(hours) if len(hours) < 24 else frozenset(),
        skip_days=frozenset(days) if len(days) < 7 else frozenset(),
    )


def _number(text: str) -> int:
    """A number below a million, 0 for anything else."""
    return int(text) if len(text) <= 6 and text.isdecimal() else 0


def _linked(links: list[Any], url: str, relation: str) -> str:
    for link in links:
        if link.get("rel") == relation and link.get("href"):
            return absolute(url, str(link["href"])) or ""
    return ""


def _parts(data: Any, key: str) -> list[Any]:
    """The tables in a field."""
    return [part for part in dict.get(data, key) or () if isinstance(part, dict)]


def _text(data: Any, key: str) -> str:
    """A field's text; feedparser's own fall-backs between fields are not wanted."""
    value = dict.get(data, key)
    return value.strip() if isinstance(value, str) else ""


def _dated(entry: Any, key: str) -> int | None:
    """Epoch milliseconds of a date; what feedparser makes of it counts last, which reads `2024/05/31` as the first of
    November."""
    parsed = dict.get(entry, f"{key}_parsed")
    try:
        guessed_ms = calendar.timegm(parsed) * 1000 if parsed else None
    except (ValueError, OverflowError, TypeError):
        guessed_ms = None
    return instant(_text(entry, key), guessed_ms)
