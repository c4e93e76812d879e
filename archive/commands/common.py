"""What the commands have in common: what each of their modules has, exit codes, files to read and to write."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from rich.console import Console

from archive.errors import ConvertError, Damage
from archive.index.cdxj import index_file
from archive.reading.reader import Reader
from archive.reading.record import Record
from archive.storage.warcfile import finished_in, lost_in
from archive.terminal import bytes_bar, say
from archive.tools.convert import Tick, lacks_index

GOOD, FAULTS, USAGE, INTERRUPTED = 0, 1, 2, 130


class Command(Protocol):
    """A module of a command. ``arguments``: adds what it takes, beside ``--json`` and ``--quiet`` that all take;
    ``run`` returns the exit code."""

    HELP: str

    def arguments(self, sub: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


class UsageFault(Exception):  # noqa: N818
    """What was asked for cannot be done; `str()` says why."""


def report_error(error: Exception) -> int:
    """Say what went wrong; the exit code for it."""
    if isinstance(error, OSError):
        say(f"archive: {error.filename or 'standard output'}: {error.strerror or error}")
        return USAGE
    say(f"archive: {error}")
    return USAGE if isinstance(error, UsageFault) else FAULTS


def each(options: argparse.Namespace, work: Callable[[str], int], *, folders: bool = False) -> int:
    """Do it for each file: one that cannot be opened, read or converted does not keep the others from it. ``folders``:
    a folder stands for its WARC files."""
    code = GOOD
    for given in options.files:
        try:
            names = _inside(given) if folders else [given]
        except UsageFault as error:
            code = max(code, report_error(error))
            continue
        for name in names:
            try:
                code = max(code, work(name))
            except OSError as error:
                if error.filename is None:  # standard output: nothing more can be told
                    raise
                code = max(code, report_error(error))
            except (UsageFault, ConvertError) as error:
                code = max(code, report_error(error))
    return code


def _inside(name: str) -> list[str]:
    """The WARC files of a folder, but those still being written, in order, then links that lead to none, to be told;
    what is no such folder is itself."""
    folder = Path(name)
    if name == "-" or not folder.is_dir():
        return [name]
    fitting = [str(file) for file in finished_in(folder) + lost_in(folder)]
    if not fitting:
        still = ""
        if any(folder.glob("*.open")):
            still = ", but one that is still being written: name it, or stop the crawl"
        elif any(folder.glob("*.journal")):
            still = ", but a .journal: the crawl writes what that has when it is stopped (killed: started again)"
        raise UsageFault(f"{name}: no WARC files in this folder{still}")
    return fitting


def file_name(text: str) -> str:
    """The type of an argument that names a file or folder: an empty one, as of a variable that is not set, is not the
    folder where one happens to be."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name")
    return text


def files_argument(
    sub: argparse.ArgumentParser, help_text: str = "WARC or ARC files, or folders of WARC files; - for standard input"
) -> None:
    sub.add_argument("files", nargs="+", type=file_name, metavar="FILE", help=help_text)


def earlier_argument(sub: argparse.ArgumentParser, help_text: str) -> None:
    """Of commands that look for the content of repeats; ``help_text``: what they look for, and in what."""
    sub.add_argument(
        "--earlier",
        type=file_name,
        metavar="FOLDER",
        action="append",
        default=[],
        help=f"{help_text}; may be repeated",
    )


def force_argument(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--force", action="store_true", help="write over a file that is there already")


def at_least(least: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number from ``least`` on."""

    def number(text: str) -> int:
        if int(text) < least:
            raise ValueError(text)
        return int(text)

    number.__name__ = f"number from {least} on"
    return number


@contextmanager
def reader_of(name: str) -> Iterator[Reader]:
    """``-``: standard input."""
    with Reader(_stdin() if name == "-" else name) as reader:
        yield reader


@contextmanager
def telling_reader(name: str, as_json: bool) -> Iterator[Reader]:
    """As :func:`reader_of`; of a file that cannot be read to its end the damage before that is told."""
    with reader_of(name) as reader:
        try:
            yield reader
        except OSError as error:
            if error.filename is not None:  # else it is standard output's
                tell_damages(reader.damages, as_json)
            raise


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise UsageFault("standard input is closed")
    return sys.stdin.buffer


@contextmanager
def spooled(path: Path) -> Iterator[Path]:
    """Standard input, or a pipe by name, as a file: it may be read twice."""
    if str(path) != "-" and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        source = _stdin() if str(path) == "-" else stack.enter_context(path.open("rb"))
        copy = Path(folder) / "stdin"
        try:
            with copy.open("wb") as file:
                shutil.copyfileobj(source, file)
        except OSError as error:
            error.filename = error.filename or str(copy)  # one without a name is taken for one of standard output
            raise
        yield copy


@contextmanager
def progress(options: argparse.Namespace, path: Path | None) -> Iterator[Tick | None]:
    """A bar on standard error by stored bytes, when that is a terminal."""
    if options.quiet or path is None or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    with bytes_bar(Console(stderr=True), path.name, path.stat().st_size) as tell:
        yield lambda record: tell(record.offset)


def tell_damages(damages: list[Damage], as_json: bool) -> int:
    """On standard error; the exit code for them."""
    for damage in damages:
        say(json.dumps(asdict(damage)) if as_json else f"damage: {damage}")
    return FAULTS if damages else GOOD


def facts_of(record: Record) -> dict[str, Any]:
    """What ``--json`` says of a record."""
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


def fresh(path: Path, target: Path, options: argparse.Namespace) -> Path:
    """The target, if it may be written: archives are kept for years, and none is written over by chance."""
    if path.exists() and target.exists() and target.samefile(path):
        raise UsageFault(f"{target}: cannot be written from itself; another name: --output")
    expect_file(target)
    if target.exists() and not options.force:
        made = ""
        if lacks_index(target):
            index_file(target)
            made = ", and has its index again, which a run that was killed had not made"
        raise UsageFault(f"{target}: is there already{made}; --force writes over it")
    return target


def expect_file(target: Path) -> None:
    """What is written gets its name when it is whole: it would take the place of a device or pipe. Told before the
    work, as is that there is no folder for it."""
    if target.exists() and not target.is_file():
        raise UsageFault(f"{target}: is no regular file")
    if not target.parent.is_dir():
        raise UsageFault(f"{target.parent}: no such folder")


def output_of(options: argparse.Namespace, name: str, default: Callable[[Path], Path]) -> Path:
    """What ``--output`` says, else the default for the file of that name."""
    if not options.output and name == "-":
        raise UsageFault("standard input needs --output")
    return Path(options.output) if options.output else default(Path(name))
