"""``archive get``: one capture to standard output."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from archive.commands.common import (
    FAULTS,
    GOOD,
    UsageFault,
    earlier_argument,
    facts_of,
    file_name,
    spooled,
    tell_damages,
)
from archive.errors import Damage
from archive.index.access import IDENTICAL, content_of, find, record_at
from archive.messages.http import MAX_BODY_BYTES, is_coded
from archive.reading.record import SEGMENT, Record
from archive.reading.segments import joined
from archive.storage.warcfile import finished_in

HELP = "write one capture to standard output"


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "file", type=file_name, metavar="FILE", help="a WARC file, a folder of files with their indexes, or -"
    )
    sub.add_argument(
        "what", metavar="URL|OFFSET[+INNER]", help="the URL (its latest capture), or the place of a record"
    )
    earlier_argument(sub, "where else the content of a repeat (a revisit record) may lie: an earlier crawl's files")
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--record", action="store_true", help="the whole record with its header")
    form.add_argument("--http", action="store_true", help="HTTP head and payload as archived")
    form.add_argument("--payload", action="store_true", help="payload as archived (default: content-coding taken off)")


def run(options: argparse.Namespace) -> int:
    for folder in map(Path, options.earlier):
        if folder.is_dir() and not finished_in(folder):
            raise UsageFault(f"--earlier {folder}: no WARC files in this folder (ARC files are named by themselves)")
    with spooled(Path(options.file)) as given:
        return _get_from(given, options)


def _get_from(given: Path, options: argparse.Namespace) -> int:
    damages: list[Damage] = []

    def tell(damage: Damage) -> None:
        damages.append(damage)
        tell_damages([damage], options.json)

    path, offset, inner = find(given, options.what, tell)
    reader, record = record_at(path, offset, inner)
    if not (options.json or options.record or options.http) and IDENTICAL in record.field("WARC-Profile"):
        where = [given, *([given.parent] if given.is_file() else []), *map(Path, options.earlier)]
        found = content_of(record, where, tell)
        if found is None:
            url, date = record.refers_to
            content = f"that of {url} at {date}" if date else f"an earlier one of {url}"
            reason = f"a repeat: the content is {content}, which is not here; --earlier names where it is"
            tell(Damage(record.path, offset, inner, reason))
        else:
            reader.close()
            reader, record = found
    if record.truncated == SEGMENT and not (options.json or options.record):
        record = next(joined(chain([record], reader)))
    with reader:
        if options.json:
            http = record.http
            fields = {"warc": record.headers.pairs, "http": http.headers.pairs if http is not None else None}
            print(json.dumps({**facts_of(record), **fields}))
        else:
            sys.stdout.buffer.writelines(_wanted_of(record, options, tell))
        sys.stdout.buffer.flush()
        return max(tell_damages(reader.damages, options.json), FAULTS if damages else GOOD)


def _wanted_of(record: Record, options: argparse.Namespace, tell: Callable[[Damage], None]) -> Iterator[bytes]:
    """The record, its HTTP message, its payload as archived, or (by default) the payload without its coding."""
    if record.truncated == SEGMENT and not options.record:
        tell(Damage(record.path, record.offset, record.inner, "only its first segment: the rest is elsewhere"))
    if options.record:
        yield record.raw_head
        yield from record.pieces()
        yield b"\r\n\r\n"
    elif options.http:
        yield from record.pieces()
    elif options.payload or record.http is None or not is_coded(record.http):
        yield from record.payload_pieces()
    else:
        body, whole = record.unpacked(MAX_BODY_BYTES + 1)
        yield body[:MAX_BODY_BYTES]
        if len(body) > MAX_BODY_BYTES:
            reason = f"cut: longer than {MAX_BODY_BYTES} bytes without its coding"
            tell(Damage(record.path, record.offset, record.inner, reason))
        elif not whole:
            reason = "its transfer- or content-coding breaks off or has a fault: it is read as far as it goes"
            tell(Damage(record.path, record.offset, record.inner, reason))
