"""The command ``python -m archive``: look into WARC files, check them, mend them, store them another way.

Exit codes: 0 all good; 1 damage, problems, or nothing found; 2 wrong usage or a file that cannot be opened.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from archive import cdxj
from archive.access import record_at
from archive.codecs import SUFFIXES
from archive.convert import compression_of, convert, renamed, repair
from archive.errors import ArchiveError, ArchiveNotFound, Damage
from archive.reader import Reader
from archive.record import Record
from archive.stats import GROUPS, Stats
from archive.surt import surt
from archive.verify import Problem, Verifier

_EPILOG = """examples:
  python -m archive ls crawl.warc.xz
  python -m archive ls --type response --json data/warc/*.warc.xz
  zcat crawl.warc.gz | python -m archive ls -
  python -m archive get crawl.warc.xz https://example.org/ > page.html
  python -m archive get --record crawl.warc.xz 81245+3071
  python -m archive verify data/warc/*.warc.xz
  python -m archive repair broken.warc.gz -o mended.warc.gz
  python -m archive index crawl.warc.gz
  python -m archive index --merge all.cdxj data/warc/*.cdxj
  python -m archive convert --to gz crawl.warc.xz
  python -m archive stats --top 10 data/warc/*.warc.xz
"""
GOOD, FAULTS, USAGE = 0, 1, 2
Tick = Callable[[Record], None]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m archive",
        description=(__doc__ or "").splitlines()[0],
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, help_text, add in (
        ("ls", "list the records of files", _ls_arguments),
        ("get", "write one capture to standard output", _get_arguments),
        ("verify", "check structure, lengths, digests, dates, packs and index", _verify_arguments),
        ("repair", "copy what is sound of a damaged file", _repair_arguments),
        ("index", "write FILE.cdxj beside each file, or merge indexes", _index_arguments),
        ("convert", "store files another way (xz, gz, zst, none), byte for byte the same inside", _convert_arguments),
        ("stats", "captures and bytes by host, language, type, year and status", _stats_arguments),
    ):
        sub = commands.add_parser(name, help=help_text, description=help_text)
        add(sub)
        sub.add_argument("--json", action="store_true", help="one JSON object a line")
        sub.add_argument("--quiet", "-q", action="store_true", help="no progress")
    return top


def _files(sub: argparse.ArgumentParser, help_text: str = "WARC or ARC files; - for standard input") -> None:
    sub.add_argument("files", nargs="+", metavar="FILE", help=help_text)


def _ls_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub)
    sub.add_argument("--type", action="append", metavar="TYPE", help="only these record types (may be repeated)")


def _get_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("file", metavar="FILE", help="a WARC file, or a folder of files with their indexes")
    sub.add_argument(
        "what", metavar="URL|OFFSET[+INNER]", help="the URL (its latest capture), or the place of a record"
    )
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--record", action="store_true", help="the whole record with its header")
    form.add_argument("--http", action="store_true", help="HTTP head and payload as archived")
    form.add_argument("--payload", action="store_true", help="payload as archived (default: content-coding taken off)")


def _verify_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub, "WARC files")
    sub.add_argument("--no-index", action="store_true", help="do not compare with FILE.cdxj")
    sub.add_argument("--strict", action="store_true", help="warnings count as faults")


def _repair_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("file", metavar="FILE")
    sub.add_argument("-o", "--output", metavar="FILE", help="default: FILE with .repaired before .warc")


def _index_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub, "WARC files (with --merge: .cdxj files); - for standard input, indexed to standard output")
    sub.add_argument("--merge", metavar="OUTPUT", help="merge sorted indexes into one; - for standard output")


def _convert_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub, "WARC files")
    sub.add_argument("--to", required=True, choices=list(SUFFIXES), help="kind of file")
    sub.add_argument("-o", "--output", metavar="FILE", help="default: beside the original, with the suffix of its kind")
    sub.add_argument("--level", type=int, help="of the compressor (defaults: xz 1, gz 6, zst 3)")
    sub.add_argument("--pack-bytes", type=int, default=1 << 20, help="unpacked bytes of an xz pack (default 1 MiB)")


def _stats_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub)
    sub.add_argument("--top", type=int, default=20, help="rows of each table (default 20; 0: all)")


# -- running -----------------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    logging.getLogger("archive").addHandler(logging.NullHandler())
    logging.getLogger("archive").propagate = False
    try:
        return _COMMANDS[options.command](options)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except OSError as error:
        print(f"archive: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return USAGE
    except ArchiveError as error:
        print(f"archive: {error}", file=sys.stderr)
        return FAULTS


@contextmanager
def _input(name: str) -> Iterator[Reader]:
    with Reader(sys.stdin.buffer if name == "-" else name) as reader:
        yield reader


@contextmanager
def _progress(options: argparse.Namespace, path: Path | None) -> Iterator[Tick | None]:
    """A bar on standard error by stored bytes, when that is a terminal."""
    if options.quiet or path is None or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(path.name, total=path.stat().st_size)
        yield lambda record: progress.update(task, completed=record.offset)


def _report(damages: list[Damage], as_json: bool) -> int:
    for damage in damages:
        print(json.dumps(asdict(damage)) if as_json else f"damage: {damage}", file=sys.stderr)
    return FAULTS if damages else GOOD


def _facts(record: Record) -> dict[str, Any]:
    http = record.http
    media = http.headers.get("content-type") if http is not None else record.field("Content-Type")
    return {
        "file": record.path,
        "offset": record.offset,
        "inner": record.inner,
        "type": record.type,
        "date": record.date,
        "url": record.url,
        "status": http.status if http is not None and http.status else None,
        "mime": media.partition(";")[0].strip(),
        "length": record.length,
        "id": record.id,
        "damage": record.damage.reason if record.damage else None,
    }


def _ls(options: argparse.Namespace) -> int:
    code = GOOD
    for name in options.files:
        with _input(name) as reader:
            for record in reader:
                facts = _facts(record)
                if options.type and facts["type"] not in options.type:
                    continue
                if options.json:
                    print(json.dumps(facts, ensure_ascii=True))
                else:
                    place = f"{record.offset}+{record.inner}"
                    mark = "  DAMAGED" if record.damage else ""
                    row = f"{place:>16}  {facts['date']:<27}  {facts['type']:<9} {facts['status'] or '-':>3}"
                    print(_printable(f"{row} {record.length:>9}  {facts['url']}{mark}"))
            code = max(code, _report(reader.damages, options.json))
    return code


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _get(options: argparse.Namespace) -> int:
    path, offset, inner = _find(Path(options.file), options.what)
    reader, record = record_at(path, offset, inner)
    out = sys.stdout.buffer
    with reader:
        if options.json:
            http = record.http
            fields = {"warc": record.headers.pairs, "http": http.headers.pairs if http is not None else None}
            print(json.dumps({**_facts(record), **fields}))
        elif options.record or options.http:
            if options.record:
                out.write(record.raw_head)
            for piece in record.pieces():
                out.write(piece)
            if options.record:
                out.write(b"\r\n\r\n")
        else:
            out.write(record.payload() if options.payload else record.body())
        out.flush()
        return _report(reader.damages, options.json)


def _find(path: Path, what: str) -> tuple[Path, int, int]:
    """The place of what is wanted: by an index where there is one, else by reading."""
    offset, _, inner = what.partition("+")
    if offset.isdigit() and (not inner or inner.isdigit()):
        return path, int(offset), int(inner or 0)
    files = sorted(path.glob("*.warc*")) if path.is_dir() else [path]
    found: list[tuple[str, Path, int, int]] = []
    for file in files:
        if file.suffix in (cdxj.SUFFIX, ".open", ".journal"):
            continue
        index = file.with_name(file.name + cdxj.SUFFIX)
        if index.exists():
            for row in cdxj.lookup(index, what):
                found.append((row["timestamp"], file, int(row["offset"]), int(row.get("inner_offset", 0))))  # noqa: PERF401
        else:
            found += _scan(file, what)
    if not found:
        raise ArchiveNotFound(f"{path}: no capture of {what}")
    return max(found, key=lambda row: row[0])[1:]


def _scan(file: Path, url: str) -> Iterator[tuple[str, Path, int, int]]:
    key = surt(url)
    with Reader(file, types=cdxj.INDEXED) as reader:
        for record in reader:
            if record.url == url or surt(record.url) == key:
                yield cdxj.timestamp(record.date), file, record.offset, record.inner


def _verify(options: argparse.Namespace) -> int:
    code = GOOD

    def say(problem: Problem) -> None:
        print(_printable(json.dumps(asdict(problem)) if options.json else str(problem)))

    for name in options.files:
        path = Path(name)
        with _spooled(path) as file, _progress(options, file) as tick:
            summary = Verifier(file, say).run(index=not options.no_index, tick=tick)
        if options.json:
            print(json.dumps({"file": name, **asdict(summary)}))
        else:
            print(f"{name}: {summary.records} records, {summary.errors} errors, {summary.warnings} warnings")
        if summary.errors or (options.strict and summary.warnings):
            code = FAULTS
    return code


@contextmanager
def _spooled(path: Path) -> Iterator[Path]:
    """Standard input as a file."""
    if str(path) != "-":
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "stdin"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


def _repair(options: argparse.Namespace) -> int:
    path = Path(options.file)
    if options.output:
        target = Path(options.output)
    else:
        plain = renamed(path, compression_of(Path(path.name.removesuffix(".open"))))
        stem, warc, rest = plain.name.partition(".warc")
        target = path.with_name(f"{stem}.repaired{warc}{rest}")
    with _progress(options, path) as tick:
        report = repair(path, target, tick=tick)
    _report(report.damages, options.json)
    if options.json:
        print(json.dumps({"file": str(path), "output": str(target), "kept": report.kept, "dropped": report.dropped}))
    else:
        print(f"{target}: {report.kept} records kept, {report.dropped} dropped, {len(report.damages)} damages")
    return FAULTS if report.damages else GOOD


def _index(options: argparse.Namespace) -> int:
    if options.merge:
        lines = cdxj.merge(Path(name) for name in options.files)
        if options.merge == "-":
            sys.stdout.buffer.writelines(lines)
        else:
            with Path(options.merge).open("wb") as out:
                out.writelines(lines)
        return GOOD
    code = GOOD
    for name in options.files:
        if name == "-":
            with _input(name) as reader:
                sys.stdout.buffer.writelines(sorted(cdxj.file_lines(reader, "-")))
                damages = reader.damages
        else:
            damages = cdxj.index_file(Path(name))
        code = max(code, _report(damages, options.json))
    return code


def _convert(options: argparse.Namespace) -> int:
    if options.output and len(options.files) > 1:
        print("archive: --output is for one file", file=sys.stderr)
        return USAGE
    for name in options.files:
        path = Path(name)
        target = Path(options.output) if options.output else renamed(path, options.to)
        if target == path or (options.output and compression_of(target) != options.to):
            print(f"archive: {target}: not a name for a {options.to} copy of {path}", file=sys.stderr)
            return USAGE
        with _progress(options, path) as tick:
            convert(path, target, level=options.level, pack_bytes=options.pack_bytes, tick=tick)
        sizes = {"bytes": path.stat().st_size, "output_bytes": target.stat().st_size}
        if options.json:
            print(json.dumps({"file": name, "output": str(target), **sizes}))
        else:
            print(f"{target}: {sizes['output_bytes']} bytes ({sizes['output_bytes'] / sizes['bytes']:.0%} of {name})")
    return GOOD


def _stats(options: argparse.Namespace) -> int:
    stats, code = Stats(), GOOD
    for name in options.files:
        with _input(name) as reader, _progress(options, None if name == "-" else Path(name)) as tick:
            for record in reader:
                stats.add(record)
                if tick is not None:
                    tick(record)
            code = max(code, _report(reader.damages, options.json))
    if options.json:
        print(json.dumps(stats.plain()))
        return code
    console = Console()
    console.print(f"{stats.records} records, {stats.payload_bytes} bytes of payload")
    console.print(", ".join(f"{kind} {count}" for kind, count in stats.kinds.most_common()))
    for group in GROUPS:
        table = Table(group, "captures", "bytes", title=f"by {group}")
        for value, count in stats.captures[group].most_common(options.top or None):
            table.add_row(_printable(value), str(count), str(stats.bytes[group][value]))
        console.print(table)
    return code


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "ls": _ls,
    "get": _get,
    "verify": _verify,
    "repair": _repair,
    "index": _index,
    "convert": _convert,
    "stats": _stats,
}
