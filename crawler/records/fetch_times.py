"""When each request of an archive began and ended, by its WARC files alone.

WARC-Date is when the request began; the metadata record beside it says how long the fetch took (fetchTimeMs). Dates
without a fraction of a second (WARC 1.0) cannot prove a delay; such records are left out, and so are those of
unreadable URLs or dates. The delay that a host asks for is read from its robots.txt where the archive has that: it
holds from that request until the next robots.txt, also where its content is stored once for several (a revisit). What
was fetched as one the metadata record says (`kind`), and of one that has moved for which host (`source`): it holds for
that from its end on. A page of that address, to which somebody linked, is none, as the crawl did not read it so.
Strangers' files say neither, and ours from before it was written no `source`: there the address decides. (None is
looked for in the files of an earlier crawl; then only the configured delay is checked.)
"""

from __future__ import annotations

import contextlib
import json
import re
from bisect import bisect_right
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from scrapy.http import Response

from archive import Damage, Reader, Record
from archive.messages.fields import pairs_of
from archive.messages.http import HttpHead, dechunk
from archive.storage.codecs import SUFFIXES
from crawler.fetch.unpacking import are_whole, codings
from crawler.pages import answers
from frontier.audit import Visit
from frontier.robots import crawl_delay_ms
from frontier.types import RobotsRecord
from sieve.urls import authority

_TYPES = ("response", "revisit", "request", "metadata")
_SUFFIXES = tuple(f".warc{suffix}" for suffix in SUFFIXES.values())
# The records of one exchange lie together; of a stranger's file, at least not far apart.
_MOST_OPEN = 1000
_MOST_DIGITS = 15
_ROBOTS_TXT = re.compile(r"[^/?#]*//[^/?#]*/robots\.txt")


def warc_files(folder: Path) -> list[Path]:
    """The closed WARC files of a folder; of one that lies there in several kinds (``archive convert``), one."""
    files = sorted(path for path in folder.glob("*.warc*") if path.name.endswith(_SUFFIXES))
    return list({path.name.partition(".warc")[0]: path for path in files}.values())


def written_with(files: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """The delays of host and address (ms) that each file says in its first record it was crawled with; those of
    strangers say none."""
    found = {}
    for path in files:
        with Reader(path, types=("warcinfo",), sound=True) as reader:
            said = next((pairs_of(record.block()).get("frontier", "") for record in reader), "")
        with contextlib.suppress(ValueError, KeyError, TypeError):
            rules = json.loads(said)
            found[path] = (int(rules["delay_ms"]), int(rules["address_delay_ms"]))
    return found


def fetch_times(
    files: Collection[Path],
    user_agent: str,
    least: Mapping[Path, tuple[int, int]] | None = None,
    tell: Callable[[Damage], None] = lambda _: None,
) -> Iterator[Visit]:
    """Each exchange that says when it began and how long it took; `user_agent` is the one robots.txt is asked for,
    `least` the delays in force of each file (:func:`written_with`). `tell`: of damage, where some may be missing."""
    asked = _asked_delays(files, user_agent)
    for path in files:
        with Reader(path, types=_TYPES, sound=True) as reader:
            for exchange, said in _exchanges(reader):
                for visit in _visit(exchange, said.get("fetchTimeMs", ""), asked):
                    yield visit._replace(least=(least or {}).get(path))
            for damage in reader.damages:
                tell(damage)


def _exchanges(reader: Reader) -> Iterator[tuple[Record, dict[str, str]]]:
    """Each exchange that has a metadata record, and the fields of that."""
    met: OrderedDict[str, Record] = OrderedDict()
    for record in reader:
        if record.type != "metadata":
            met[record.id] = record
            if len(met) > _MOST_OPEN:
                met.popitem(last=False)
        elif exchange := met.get(record.field("WARC-Concurrent-To")):
            yield exchange, pairs_of(record.block())


def _visit(exchange: Record, took_ms: str, asked: Mapping[str, list[tuple[float, int]]]) -> Iterator[Visit]:
    found = _asked_when(exchange) if "." in exchange.date else None
    if found is None or (duration_ms := _duration_ms(took_ms)) is None:
        return
    host, start_ms = found
    said = asked.get(host, [])
    number = bisect_right(said, start_ms, key=lambda one: one[0])
    asked_ms = said[number - 1][1] if number else 0
    yield Visit(host, exchange.field("WARC-IP-Address"), start_ms, start_ms + duration_ms, asked_ms, url=exchange.url)


def _duration_ms(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def _asked_delays(files: Iterable[Path], user_agent: str) -> dict[str, list[tuple[float, int]]]:
    """By authority: from when on it asked for which delay (ms; 0: none, or not known), in order of time."""
    found: list[tuple[str, float, str]] = []
    delays: dict[str, int | None] = {}  # by the digest of the rules; None: they cannot be read
    for path in files:
        with Reader(path, types=("response", "revisit", "metadata"), sound=True) as reader:
            for record, told in _exchanges(reader):
                kind = told.get("kind", "robots" if _ROBOTS_TXT.fullmatch(record.url) else "")
                if kind != "robots" or not record.in_memory or (head := record.http) is None:
                    continue
                said = _said(record, head)
                rules = (record.field("WARC-Payload-Digest") or record.id) if head.status // 100 == 2 else ""
                if record.type == "response" and rules:
                    delays[rules] = None if said.kind == "disallow" else crawl_delay_ms(said, user_agent)
                if said.kind != "disallow":  # what cannot be had changes nothing
                    found += ((home, when_ms, rules) for home, when_ms in _holds_from(record, told))
    asked: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
    for home, when_ms, rules in sorted(found):
        if (delay_ms := delays.get(rules, 0)) is not None:
            asked[home].append((when_ms, delay_ms))
    return asked


def _holds_from(record: Record, told: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """For which authorities a robots.txt holds, and from when on."""
    if (when := _asked_when(record)) is None:
        return
    home, start_ms = when
    origin = told.get("source", "")
    if origin not in ("", home):
        yield origin, start_ms + (_duration_ms(told.get("fetchTimeMs", "")) or 0)
    if origin == home or _ROBOTS_TXT.fullmatch(record.url):
        yield home, start_ms


def _said(record: Record, head: HttpHead) -> RobotsRecord:
    """What an answer for robots.txt means, by the rules that the crawl read it by."""
    names = ("Content-Range", "Content-Encoding")
    headers = {name: ",".join(head.headers.get_all(name)).encode("utf-8", "surrogateescape") for name in names}
    packed = dechunk(record.payload()) if head.is_chunked else record.payload()
    is_known = record.type == "revisit"  # that its content is left out is no cut
    answer = Response(
        record.url, head.status, headers, packed, ["truncated"] if record.truncated and not is_known else []
    )
    whole = are_whole(codings(answer), packed)
    answer.headers.pop("Content-Encoding")
    answer = answer.replace(body=record.body())
    return answers.robots_record(head.status, answer.body, whole=whole and not answers.lacks_rules(answer))


def _asked_when(record: Record) -> tuple[str, float] | None:
    """Authority and instant (ms); None: strangers' files may have other URLs, and dates that are no instant."""
    try:
        return str(authority(record.url)), datetime.fromisoformat(record.date).timestamp() * 1000
    except (ValueError, OverflowError):
        return None
