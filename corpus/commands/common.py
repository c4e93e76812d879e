"""What the commands have in common: what each of their modules has, exit codes, names of files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from corpus.errors import UsageFault
from corpus.inputs import ARCHIVE_SUFFIXES, STDIN, VERTICAL_SUFFIXES, beginning, open_stored
from corpus.languages import of_html_tag
from corpus.outputs import STDOUT, check_target, plain_suffix
from corpus.report import Report
from corpus.sources import kind_of, kinds_of
from relevance.language.identification import Identifier
from relevance.language.model import load, shipped
from relevance.types import UNDETERMINED

GOOD, FAULTS, USAGE, INTERRUPTED = 0, 1, 2, 130
_MOST_PROCESSES = 1024
_TABLES = frozenset((".csv", ".ods", ".parquet", ".tsv", ".xls", ".xlsx"))
_TEXTS = frozenset((".conllu", ".doc", ".docx", ".htm", ".html", ".json", ".jsonl", ".md", ".tei", ".txt", ".xml"))
_PICTURES = frozenset((".gif", ".jpeg", ".jpg", ".pdf", ".png", ".svg", ".webp"))
_FORMS = _TABLES | _TEXTS | _PICTURES | {".prevert", ".text", ".vert", ".warc", ".wet"}
"""Names that people give to what they expect in a file."""


class Command(Protocol):
    """A module of a command. ``arguments``: adds what it takes, beside the files and ``--quiet`` that all take; ``run``
    returns the exit code."""

    HELP: str
    EPILOG: str

    def arguments(self, sub: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


def expect_target(target: str, files: Sequence[str]) -> None:
    """UsageFault when a file of this name cannot be made, or would take the place of one of the files to read."""
    check_target(target)
    if target != STDOUT and Path(target).exists() and any(_is(name, Path(target)) for name in files):
        raise UsageFault(f"{target}: is one of the files to read")


def _is(name: str, target: Path) -> bool:
    """Is the target the file of that name, or the one that is standard input?"""
    try:
        if name != STDIN:
            return target.samefile(name)
        return os.path.samestat(target.stat(), os.fstat(sys.stdin.fileno()))
    except (AttributeError, OSError, ValueError):  # standard input is closed, or no file; the file is not there
        return False


def expect_form(output: str, suffixes: Collection[str], hint: str = "") -> None:
    """UsageFault when the output is named as a form that is not written (``.csv``)."""
    suffix = plain_suffix(output)
    if suffix in _FORMS - set(suffixes):
        raise UsageFault(f"{output}: {suffix} is not written; only {', '.join(sorted(suffixes))}{hint}")


def expect_form_or_format(options: argparse.Namespace, suffixes: Collection[str]) -> None:
    """As :func:`expect_form`, unless ``--format`` says which form it is."""
    if options.format is None:
        expect_form(options.output, suffixes, ", or --format says what it is")


def expect_vertical(files: Sequence[str]) -> None:
    """UsageFault when one of the files, as far as it can be looked at before it is read, has JSON lines or is an
    archive."""
    for name, kind in kinds_of(files):
        if name.endswith(VERTICAL_SUFFIXES):
            continue
        if kind == "jsonl":
            raise UsageFault(f"{name}: JSON lines, no vertical text; extract writes that, too: -o NAME.vert.xz")
        if kind == "archive" and name.endswith(ARCHIVE_SUFFIXES):
            raise UsageFault(f"{name}: an archive, no vertical text; extract makes that of it: -o NAME.vert.xz")


def is_archive(name: str) -> bool:
    """By its first bytes, else by its name."""
    with open_stored(name) as file:
        return kind_of(name, beginning(file)[0]) == "archive"


def summarise(report: Report, text: str, left_out: Sequence[str], damages: int, failed: int = 0) -> None:
    """The end of a run in words: what there is now, what was left out and why, what was wrong with the input."""
    report.ok(f"{text}; left out:", left_out or ["nothing"])
    if damages or failed:
        report.warn(f"{damages} damaged places" + (f", {failed} records that failed" if failed else ""))


def named(text: str) -> str:
    """The type of an argument that names a file or folder: an empty name, as of a variable that is not set, is neither
    the folder where one happens to be nor that nothing was asked for."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name")
    return text


def named_path(text: str) -> Path:
    """The same as a path."""
    return Path(named(text))


def language_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--language",
        action="append",
        default=[],
        metavar="CODE",
        help="only this language (ISO 639-3; may be repeated)",
    )
    model_argument(sub)


def model_argument(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--model", type=named_path, metavar="FILE", help="language model (default: the shipped one)")


def languages_of(options: argparse.Namespace) -> tuple[frozenset[str], Identifier]:
    """The languages that were asked for, and what names them. UsageFault for one that the model does not know."""
    model = load(options.model) if options.model else shipped()
    known = sorted({label for label in model.labels if label != UNDETERMINED})
    if not all(part.strip(",") for part in options.language):
        raise UsageFault("--language: an empty code")  # as of a variable that is not set: it would be all languages
    languages = frozenset(code for part in options.language for code in part.split(",") if code)
    if UNDETERMINED in languages:
        raise UsageFault(
            f"--language {UNDETERMINED}: no language, but text in none of those known; without --language all text is "
            "kept, each paragraph of the JSON lines with its language"
        )
    for code in sorted(languages - set(known)):
        hint = "" if options.model else "; of a model of your own: --model FILE"
        meant = of_html_tag(code.lower())  # lang="zu" is in all pages and in vertical text
        hint = f' (did you mean "{meant}"?)' if meant in known else hint
        raise UsageFault(f"--language {code}: not one of {' '.join(known)}{hint}")
    # A single language is what the corpus is wanted for: text that is likely enough in it is called so.
    return languages, Identifier(model, wanted=next(iter(languages)) if len(languages) == 1 else None)


def processes_argument(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help="how many read pages at a time (default 1; 0: one a processor); the result is the same",
    )


def processes_of(options: argparse.Namespace) -> int:
    """UsageFault when it is none that can be."""
    if not 0 <= options.processes <= _MOST_PROCESSES:
        raise UsageFault(f"--processes: from 0 to {_MOST_PROCESSES}")
    found: int = options.processes
    return found or len(os.sched_getaffinity(0))
