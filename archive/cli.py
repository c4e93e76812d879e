"""The command ``python -m archive``: look into WARC files, check them, mend them, store them another way.

Exit codes: 0 all good; 1 damage, problems, or nothing found; 2 wrong usage or a file that cannot be opened.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from archive.arguments import parser
from archive.errors import ArchiveError, ConvertError, Damage
from archive.index import cdxj
from archive.index.access import find, record_at
from archive.messages.http import MAX_BODY_BYTES, is_coded
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.storage.codecs import check_level
from archive.storage.warcfile import OPEN
from archive.terminal import bytes_bar, escape_what_does_not_fit, give_up_stdout, printable
from archive.tools.convert import Tick, compression_of, convert, renamed, repair
from archive.tools.stats import GROUPS, Stats
from archive.tools.verify import Problem, Verifier

GOOD, FAULTS, USAGE, INTERRUPTED = 0, 1, 2, 130


class _Usage(Exception):  # noqa: N818
    """What was asked for cannot be done; `str()` says why."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    logging.getLogger("archive").addHandler(logging.NullHandler())
    logging.getLogger("archive").propagate = False
    if sys.stdout is None:
        return _told(_Usage("standard output is closed"))
    escape_what_does_not_fit()
    try:
        code = _COMMANDS[options.command](options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        give_up_stdout()
        return GOOD
    except KeyboardInterrupt:
        print("archive: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if error.filename is None:
            give_up_stdout()
        return _told(error)
    except (_Usage, ArchiveError) as error:
        return _told(error)


def _told(error: Exception) -> int:
    """Say what went wrong; the exit code for it."""
    if isinstance(error, OSError):
        print(f"archive: {error.filename or 'standard output'}: {error.strerror or error}", file=sys.stderr)
        return USAGE
    print(f"archive: {error}", file=sys.stderr)
    return USAGE if isinstance(error, _Usage) else FAULTS


def _each(options: argparse.Namespace, work: Callable[[str], int]) -> int:
    """Do it for each file: one that cannot be opened, read or converted does not keep the others from it."""
    code = GOOD
    for name in options.files:
        try:
            code = max(code, work(name))
        except OSError as error:
            if error.filename is None:  # standard output: nothing more can be told
                raise
            code = max(code, _told(error))
        except (_Usage, ConvertError) as error:
            code = max(code, _told(error))
    return code


@contextmanager
def _input(name: str) -> Iterator[Reader]:
    with Reader(_stdin() if name == "-" else name) as reader:
        yield reader


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise _Usage("standard input is closed")
    return sys.stdin.buffer


@contextmanager
def _progress(options: argparse.Namespace, path: Path | None) -> Iterator[Tick | None]:
    """A bar on standard error by stored bytes, when that is a terminal."""
    if options.quiet or path is None or not sys.stderr.isatty():
        yield None
        return
    with bytes_bar(Console(stderr=True), path.name, path.stat().st_size) as tell:
        yield lambda record: tell(record.offset)


def _report(damages: list[Damage], as_json: bool) -> int:
    for damage in damages:
        print(json.dumps(asdict(damage)) if as_json else f"damage: {damage}", file=sys.stderr)
    return FAULTS if damages else GOOD


def _facts(record: Record) -> dict[str, Any]:
    http = record.http
    return {
        "file": record.path,
        "offset": record.offset,
        "inner": record.inner,
        "type": record.type,
        "date": record.date,
        "url": record.url,
        "status": http.status if http is not None and http.status else None,
        "mime": record.content_type.partition(";")[0].strip(),
        "length": record.length,
        "id": record.id,
        "damage": record.damage.reason if record.damage else None,
    }


def _ls(options: argparse.Namespace) -> int:
    types = {kind.lower() for kind in options.type or ()}

    def listed(name: str) -> int:
        with _input(name) as reader:
            for record in reader:
                facts = _facts(record)
                if types and facts["type"] not in types:
                    continue
                if options.json:
                    print(json.dumps(facts, ensure_ascii=True))
                else:
                    place = f"{record.offset}+{record.inner}"
                    mark = "  DAMAGED" if record.damage else ""
                    row = f"{place:>16}  {facts['date']:<27}  {facts['type']:<9} {facts['status'] or '-':>3}"
                    print(printable(f"{row} {record.length:>9}  {facts['url']}{mark}"))
            return _report(reader.damages, options.json)

    return _each(options, listed)


def _get(options: argparse.Namespace) -> int:
    with _spooled(Path(options.file)) as given:
        return _get_from(given, options)


def _get_from(given: Path, options: argparse.Namespace) -> int:
    damages: list[Damage] = []

    def tell(damage: Damage) -> None:
        damages.append(damage)
        _report([damage], options.json)

    path, offset, inner = find(given, options.what, tell)
    reader, record = record_at(path, offset, inner)
    with reader:
        if options.json:
            http = record.http
            fields = {"warc": record.headers.pairs, "http": http.headers.pairs if http is not None else None}
            print(json.dumps({**_facts(record), **fields}))
        else:
            sys.stdout.buffer.writelines(_wanted_of(record, options, tell))
        sys.stdout.buffer.flush()
        return max(_report(reader.damages, options.json), FAULTS if damages else GOOD)


def _wanted_of(record: Record, options: argparse.Namespace, tell: Callable[[Damage], None]) -> Iterator[bytes]:
    """The record, its HTTP message, its payload as archived, or (by default) the payload without its coding."""
    if options.record:
        yield record.raw_head
        yield from record.pieces()
        yield b"\r\n\r\n"
    elif options.http:
        yield from record.pieces()
    elif options.payload or record.http is None or not is_coded(record.http):
        yield from record.payload_pieces()
    else:
        body = record.body(MAX_BODY_BYTES + 1)
        yield body[:MAX_BODY_BYTES]
        if len(body) > MAX_BODY_BYTES:
            reason = f"cut: longer than {MAX_BODY_BYTES} bytes without its coding"
            tell(Damage(record.path, record.offset, record.inner, reason))


def _verify(options: argparse.Namespace) -> int:
    def verified(name: str) -> int:
        def say(problem: Problem) -> None:
            problem = replace(problem, path=name)
            print(json.dumps(asdict(problem)) if options.json else printable(str(problem)))

        with _spooled(Path(name)) as file, _progress(options, file) as tick:
            summary = Verifier(file, say).run(index=not options.no_index, tick=tick)
        if options.json:
            print(json.dumps({"file": name, **asdict(summary)}))
        else:
            counts = f"{summary.records} records, {summary.errors} errors, {summary.warnings} warnings"
            print(printable(f"{name}: {counts}"))
        return FAULTS if summary.errors or (options.strict and summary.warnings) else GOOD

    return _each(options, verified)


@contextmanager
def _spooled(path: Path) -> Iterator[Path]:
    """Standard input, or a pipe by name, as a file: it may be read twice."""
    if str(path) != "-" and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        source = _stdin() if str(path) == "-" else stack.enter_context(path.open("rb"))
        copy = Path(folder) / "stdin"
        with copy.open("wb") as file:
            shutil.copyfileobj(source, file)
        yield copy


def _fresh(path: Path, target: Path, options: argparse.Namespace) -> Path:
    """The target, if it may be written: archives are kept for years, and none is written over by chance."""
    if path.exists() and target.exists() and target.samefile(path):
        raise _Usage(f"{target}: cannot be written from itself; another name: --output")
    _expect_file(target)
    if target.exists() and not options.force:
        raise _Usage(f"{target}: is there already; --force writes over it")
    return target


def _expect_file(target: Path) -> None:
    """What is written gets its name when it is whole: it would take the place of a device or pipe."""
    if target.exists() and not target.is_file():
        raise _Usage(f"{target}: is no regular file")


def _output(options: argparse.Namespace, name: str, default: Callable[[Path], Path]) -> Path:
    if not options.output and name == "-":
        raise _Usage("standard input needs --output")
    return Path(options.output) if options.output else default(Path(name))


def _repaired(path: Path) -> Path:
    stem, warc, rest = path.name.removesuffix(OPEN).partition(".warc")
    return path.with_name(f"{stem}.repaired{warc}{rest}")


def _repair(options: argparse.Namespace) -> int:
    target = _fresh(Path(options.file), _output(options, options.file, _repaired), options)
    with _spooled(Path(options.file)) as path, _progress(options, path) as tick:
        report = repair(path, target, tick=tick)
    _report(report.damages, options.json)
    if options.json:
        output = str(target) if report.kept else None
        print(json.dumps({"file": options.file, "output": output, "kept": report.kept, "dropped": report.dropped}))
    else:
        counts = f"{report.kept} records kept, {report.dropped} dropped, {len(report.damages)} damages"
        name = str(target) if report.kept else f"{target} is not written"
        print(printable(f"{name}: {counts}"))
    return FAULTS if report.damages or not report.kept else GOOD


def _index(options: argparse.Namespace) -> int:
    if options.merge:
        lines = cdxj.merge(Path(name) for name in options.files)
        if options.merge == "-":
            sys.stdout.buffer.writelines(lines)
        else:
            _expect_file(Path(options.merge))
            cdxj.write_lines(Path(options.merge), lines)
        return GOOD

    def indexed(name: str) -> int:
        if name != "-":
            return _report(cdxj.index_file(Path(name)), options.json)
        with _input(name) as reader, closing(cdxj.IndexBuilder()) as builder:
            builder.add_file(reader, "-")
            sys.stdout.buffer.writelines(builder.lines())
            return _report(reader.damages, options.json)

    return _each(options, indexed)


def _convert(options: argparse.Namespace) -> int:
    if options.output and len(options.files) > 1:
        raise _Usage("--output is for one file")
    try:
        check_level(options.to, options.level)
    except ValueError as error:
        raise _Usage(f"--level: {error}") from None

    def converted(name: str) -> int:
        target = _output(options, name, lambda path: renamed(path, options.to))
        if compression_of(target) != options.to:
            raise _Usage(f"{target}: not a name for a {options.to} copy of {name}")
        _fresh(Path(name), target, options)
        with _spooled(Path(name)) as path, _progress(options, path) as tick:
            convert(path, target, level=options.level, pack_bytes=options.pack_bytes, tick=tick)
            sizes = {"bytes": path.stat().st_size, "output_bytes": target.stat().st_size}
        if options.json:
            print(json.dumps({"file": name, "output": str(target), **sizes}))
        else:
            share = sizes["output_bytes"] / max(sizes["bytes"], 1)
            print(printable(f"{target}: {sizes['output_bytes']} bytes ({share:.0%} of {name})"))
        return GOOD

    return _each(options, converted)


def _stats(options: argparse.Namespace) -> int:
    stats = Stats()

    def counted(name: str) -> int:
        with _input(name) as reader, _progress(options, None if name == "-" else Path(name)) as tick:
            for record in reader:
                stats.add(record)
                if tick is not None:
                    tick(record)
            return _report(reader.damages, options.json)

    code = _each(options, counted)
    if options.json:
        print(json.dumps(stats.as_json()))
        return code
    console = Console(markup=False, highlight=False)
    console.print(f"{stats.records} records, {stats.payload_bytes} bytes of payload")
    console.print(", ".join(f"{kind} {count}" for kind, count in stats.kinds.most_common()))
    for group in GROUPS:
        columns = (Column(name, overflow="fold") for name in (group, "captures", "bytes"))
        table = Table(*columns, title=f"by {group}")
        for value, count in stats.captures[group].most_common(options.top or None):
            table.add_row(Text(printable(value)), str(count), str(stats.bytes[group][value]))
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
