"""The command ``python -m relevance``: train, adapt, eval, identify, words, export-arpa.

Exit codes: 0 all good; 1 some input could not be read as it should (the rest was done); 2 wrong usage, a file that
cannot be used, nothing done.
"""

from __future__ import annotations

import argparse
import codecs
import errno
import io
import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import cast

from rich.console import Console
from rich.logging import RichHandler
from rich.table import Column, Table

from relevance.arguments import DESCRIPTION, STDIN, parser, training_command
from relevance.errors import ModelError, RelevanceError, TrainingError, UnknownLanguageError
from relevance.language import arpa, storage
from relevance.language.identification import identify, probabilities
from relevance.language.mixed import labels_by_word
from relevance.language.model import SHIPPED, Model, load
from relevance.learning import evaluation, held_out, training
from relevance.learning.adapting import adapted
from relevance.learning.card import card
from relevance.learning.described import read_description
from relevance.learning.making import make_to_size
from relevance.outputs import STDOUT, expect_target, tell, write

GOOD, FAULTS, USAGE, INTERRUPTED = 0, 1, 2, 130
_SHOWN = 100
"""Letters of a line that are printed behind its language."""
_PIECE_BYTES = 1 << 16
_log = logging.getLogger("relevance")

Measured = Mapping[str, Mapping[str, evaluation.Figures]]
"""Set of texts -> kind of strings -> figures."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    try:
        given = parser().parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    if sys.stdout is None:
        _say(f"{given.command}: standard output is closed")
        return USAGE
    if isinstance(sys.stdout, io.TextIOWrapper):  # a letter that the locale's encoding lacks ends nothing
        sys.stdout.reconfigure(errors="backslashreplace")
    run = {
        "train": _train,
        "adapt": _adapt,
        "eval": _eval,
        "identify": _identify,
        "words": _words,
        "export-arpa": _export,
    }
    try:
        code = run[given.command](given)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except KeyboardInterrupt:
        _say(f"{given.command}: interrupted")
        return INTERRUPTED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _say(f"{given.command}: {place}{error.strerror or error}")
    except RelevanceError as error:
        _say(f"{given.command}: {error}")
    return USAGE


def _say(line: str) -> None:
    """A line on standard error; where that is closed or broken the work goes on (print would write to the output)."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"relevance {line}\n")
            sys.stderr.flush()


@contextmanager
def _steps_told(quiet: bool) -> Iterator[None]:
    """Long work says what it is at, on standard error: on a terminal below a spinner, elsewhere in plain lines."""
    if quiet or sys.stderr is None:
        yield
        return
    console = Console(stderr=True, highlight=False)
    handler: logging.Handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S"))
    spinner: AbstractContextManager[object] = nullcontext()  # rich would end the run where the reader has gone
    if console.is_terminal:
        handler, spinner = RichHandler(console=console, show_level=False, show_path=False), console.status("working")
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    try:
        with spinner:
            yield
    finally:
        _log.removeHandler(handler)


def _train(given: argparse.Namespace) -> int:
    description = read_description(given.description)
    if given.min_count is not None:
        description = replace(description, settings=replace(description.settings, min_count=given.min_count))
    out = given.output or given.description.with_suffix(".model")
    _check_training(given, description, out)
    try:
        corpus = training.read_corpus(given.data, description.sources)
    except TrainingError as error:
        if given.description != DESCRIPTION:
            raise
        raise TrainingError(f"{error} (that of the shipped model, as no --description names another)") from error
    if given.leave_out:
        held_out.to_leave_out(description, given.data, given.leave_out)
    if given.parts:
        held_out.to_part(description, given.data)
    with _steps_told(given.quiet):
        data = make_to_size(description, corpus, out, given.max_bytes or description.settings.max_bytes)
        write(out, data)
        if given.card:
            measured = _measured_for_card(given, description, corpus, out)
            written = card(storage.header_of(out), len(data), measured, training_command(given))
            write(given.card, written.encode())
    tell(f"{out}: {len(data):,} bytes", out, given.card)
    return GOOD


def _check_training(given: argparse.Namespace, description: training.Description, out: Path) -> None:
    """Before work that takes minutes: what is asked for goes together, the sources are there, and what is to be
    written can be."""
    if (given.dev or given.leave_out or given.parts) and not given.card:
        raise RelevanceError("--dev, --leave-out and --parts say what the card is to tell: name it with --card")
    _check_sources(given.data, [*given.dev, *given.leave_out])
    texts = [training.text_files(given.data / source.name) for source in description.sources]
    files = [file for languages in texts for some in languages.values() for file in some]
    for target in filter(None, (out, given.card)):
        expect_target(target, [given.description, *files])
    if given.card and given.card != STDOUT and given.card.resolve() == out.resolve():
        raise RelevanceError(f"{out}: is both model and card")
    if given.card and (out == STDOUT or (out.exists() and not out.is_file())):
        raise RelevanceError(f"{out}: is no file, and the card tells how good the model in it is")


def _measured_for_card(
    given: argparse.Namespace, description: training.Description, corpus: training.Corpus, out: Path
) -> Measured:
    said = evaluation.Said(corpus, description.classes)
    measured = _measured(evaluation.deciding(load(out)), given.data, given.dev, _names(out), said)
    left_out = held_out.leave_one_out(description, given.data, given.leave_out)
    measured |= {f"{source}, trained without it": kinds for source, kinds in left_out.items()}
    if given.parts:
        by_parts = held_out.by_parts(description, given.data, given.parts)
        measured |= {f"{s}, trained without one part in {given.parts}": each for s, each in by_parts.items()}
    return measured


def _adapt(given: argparse.Namespace) -> int:
    read = [Path("/dev/stdin") if file == STDIN else file for file in given.files]
    expect_target(given.output, [given.model, *(file for file in read if file.is_file())])
    made, lines = storage.read(given.model), _Lines("adapt", given.files)
    with _steps_told(given.quiet):
        found = adapted(made, (line for some in lines for line in some))
        write(given.output, storage.packed(found))
    for language, learnt in found.meta["adapted"].items():
        tell(f"{language}\t{learnt}", given.output)
    return FAULTS if lines.faults else GOOD


def _check_sources(data: Path, names: Sequence[str]) -> None:
    """Before work that takes minutes."""
    for name in names:
        if not (data / name).is_dir():
            raise TrainingError(f"{data / name}: no such folder of <language>.txt")


def _names(model: Path) -> list[str]:
    meta = storage.header_of(model)
    return [c["name"] for c in meta["classes"] if c["name"] == c["label"] and c["name"] not in meta["second_stage"]]


def _measured(
    decide: evaluation.Decide,
    data: Path,
    sources: Sequence[str],
    names: Sequence[str],
    said: evaluation.Said | None = None,
) -> dict[str, Mapping[str, evaluation.Figures]]:
    out: dict[str, Mapping[str, evaluation.Figures]] = {}
    for source in sources:
        _log.info("measuring on %s", source)
        texts = {kind: evaluation.folder_texts(data / source, names, kind) for kind in evaluation.KINDS}
        out[source] = {kind: evaluation.figures(decide, some, said) for kind, some in texts.items() if some}
        if not out[source]:
            raise TrainingError(f"{data / source}: no <language>.txt of the model's languages: {' '.join(names)}")
    return out


def _eval(given: argparse.Namespace) -> int:
    own = "--parts" if given.parts else "--leave-out"
    asked = {"--source": given.source, "--model": given.model, "--leave-out": given.parts and given.leave_out}
    if beside := next((name for name, value in asked.items() if value and (given.leave_out or given.parts)), None):
        raise RelevanceError(f"{beside} beside {own}, which measures models of its own on what they lack")
    if given.clean and not given.leave_out:
        raise RelevanceError("--clean says which lines --leave-out measures on: name a source")
    if given.adapt and not given.leave_out:
        raise RelevanceError("--adapt says what --leave-out measures: name a source")
    if given.description and not (given.leave_out or given.parts):
        raise RelevanceError("--description says what --leave-out and --parts train by: name one, or a --model")
    with _steps_told(given.quiet):
        measured = _held_out(given) if given.leave_out or given.parts else _on_sources(given)
    if given.json:
        for source, kinds in measured.items():
            for kind, one in kinds.items():
                row = {"source": source, "strings": kind, "texts": one.texts, "macro_f1": one.macro}
                print(json.dumps({**row, "macro_f1_either": one.either, "f1": one.f1}))
    else:
        _print_figures(measured)
    return GOOD


def _held_out(given: argparse.Namespace) -> Measured:
    description = read_description(given.description or DESCRIPTION)
    if given.parts:
        return held_out.by_parts(description, given.data, given.parts)
    _check_sources(given.data, given.leave_out)
    return held_out.leave_one_out(description, given.data, given.leave_out, given.clean, given.adapt)


def _on_sources(given: argparse.Namespace) -> Measured:
    model: Path = given.model or SHIPPED
    sources = given.source or sorted(folder.name for folder in given.data.glob("dev-*") if folder.is_dir())
    if not sources:
        there = " ".join(sorted(folder.name for folder in given.data.glob("*") if any(folder.glob("*.txt"))))
        raise TrainingError(f"{given.data}: no folder dev-*; name one with --source (there are: {there or 'none'})")
    _check_sources(given.data, sources)
    return _measured(evaluation.deciding(load(model)), given.data, sources, _names(model))


def _print_figures(measured: Measured) -> None:
    """A table on a terminal; elsewhere lines of the same, tabs between."""
    names = ("source", "strings", "texts", "macro-F1", "either", "F1 by language")
    table = Table(*(Column(name, overflow="fold") for name in names))
    for source, kinds in measured.items():
        for kind, one in kinds.items():
            each = "  ".join(f"{language} {value:.1f}" for language, value in one.f1.items())
            either = "-" if one.either is None else f"{one.either:.1f}"
            row = (source, kind, str(one.texts), f"{one.macro:.1f}", either, each)
            table.add_row(*row)
            if not sys.stdout.isatty():
                print(*row, sep="\t")
        table.add_section()
    if sys.stdout.isatty():
        Console(markup=False, highlight=False).print(table)


def _as_they_come(file: BufferedReader) -> Iterator[list[bytes]]:
    """Lines without their end, as many at a time as are there: who types or pipes slowly gets each answer at once."""
    begun: list[bytes] = []
    while piece := file.read1(_PIECE_BYTES):
        first, *more = piece.split(b"\n")
        begun.append(first)
        if more:
            yield [b"".join(begun), *more[:-1]]
            begun = more[-1:]
    if last := b"".join(begun):
        yield [last]


class _Lines:
    """The lines of files, as they come, without a byte order mark; `faults` counts files that are not read, and those
    that have lines that are no UTF-8."""

    def __init__(self, command: str, files: Sequence[Path]) -> None:
        self._command = command
        self._files = files
        self.faults = 0

    def __iter__(self) -> Iterator[list[str]]:
        for path in self._files:
            try:
                yield from self._of(path)
            except OSError as error:
                self._say(f"{path}: {error.strerror or error}")

    def _of(self, path: Path) -> Iterator[list[str]]:
        damaged: list[int] = []
        number = count(1)
        if path == STDIN and sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        with nullcontext(cast("BufferedReader", sys.stdin.buffer)) if path == STDIN else path.open("rb") as file:
            for some in _as_they_come(file):
                yield [self._text(line, next(number), damaged) for line in some]
        if damaged:
            more = f" (and {len(damaged) - 1:,} more lines)" if len(damaged) > 1 else ""
            self._say(f"{path}:{damaged[0]}{more}: not UTF-8; what is none was read as unknown letters")

    @staticmethod
    def _text(line: bytes, number: int, damaged: list[int]) -> str:
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            text = line.decode()
        except UnicodeDecodeError:
            damaged.append(number)
            text = line.decode("utf-8", "replace")
        return text.rstrip("\r")

    def _say(self, fault: str) -> None:
        self.faults += 1
        _say(f"{self._command}: {fault}")


def _identify(given: argparse.Namespace) -> int:
    model = given.model if given.model in ("southern", "afriweb") else load(Path(given.model))
    if given.by_word and model == "afriweb":
        raise ModelError(model, "does not label words")
    try:  # what cannot be answered is told before any output
        (probabilities if given.likely else identify)([], given.languages, model)
    except UnknownLanguageError as error:
        if Path(error.language).is_file():
            raise RelevanceError(f"{error.language} is taken for a language: files come before --languages") from error
        raise
    show = _print_words if given.by_word else _print_likely if given.likely else _print_languages
    lines = _Lines("identify", given.files)
    for some in lines:
        show(some, given.languages, model, given.json)
        sys.stdout.flush()
    return FAULTS if lines.faults else GOOD


def _json(value: object) -> str:
    """Letters as they are where all can be written: what else would stand for them is no JSON."""
    return json.dumps(value, ensure_ascii=codecs.lookup(sys.stdout.encoding or "utf-8").name != "utf-8")


def _print_languages(lines: Sequence[str], languages: Sequence[str] | None, model: str | Model, as_json: bool) -> None:
    for line, found in zip(lines, identify(lines, languages, model), strict=True):
        if as_json:
            print(_json({**found._asdict(), "text": line}))
        else:
            print(f"{found.language}\t{found.score:.3f}\t{found.margin:.2f}\t{found.family_share:.2f}\t{_shown(line)}")


def _print_likely(lines: Sequence[str], languages: Sequence[str] | None, model: str | Model, as_json: bool) -> None:
    for line, likely in zip(lines, probabilities(lines, languages, model), strict=True):
        if as_json:
            print(_json({"probabilities": likely, "text": line}))
        else:
            print(" ".join(f"{language} {value:.3f}" for language, value in likely.items()), _shown(line), sep="\t")


def _shown(line: str) -> str:
    """What is printed of a line: text may hold a terminal's commands."""
    return "".join(c if c.isprintable() else " " for c in line[:_SHOWN])


def _print_words(lines: Sequence[str], languages: Sequence[str] | None, model: str | Model, as_json: bool) -> None:
    for line in lines:
        labelled = labels_by_word(line, languages, model)
        print(_json(labelled) if as_json else " ".join("/".join(pair) for pair in labelled))


def _words(given: argparse.Namespace) -> int:
    words, shares = load(given.model).vocabulary(given.language)
    ranked = sorted(zip(shares, words, strict=True), reverse=True)
    if given.stop:
        ranked = [(share, word) for share, word in ranked if share >= 0.001]
    for share, word in ranked[: given.count]:
        print(f"{word}\t{share * 1e6:.0f}")
    return GOOD


def _export(given: argparse.Namespace) -> int:
    expect_target(given.out, [given.model])
    made = arpa.export(storage.read(given.model), given.language, given.order)
    write(given.out, arpa.as_text(made).encode())
    tell(f"{given.out}: order {made.order}", given.out)
    return GOOD
