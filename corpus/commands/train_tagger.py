"""``corpus train-tagger``: text that people have tagged to a model for ``corpus tag``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from corpus.commands.common import GOOD, expect_target, named
from corpus.errors import FormatError, UsageFault
from corpus.inputs import expand
from corpus.outputs import COMPRESSED, STDOUT, expect_stdout, open_output
from corpus.report import Report
from corpus.sources import sound_lines
from corpus.tagging.training import Sentence, accuracy, tagged_sentences, train

HELP = "a model for tag, from text that people have tagged"
EPILOG = """examples:
  python -m corpus train-tagger zul/train.txt -o zulu.udpipe --heldout zul/dev.txt
  python -m corpus train-tagger en_ewt-ud-train.conllu -o english.udpipe

FILE: CoNLL-U, or a word and its tag a line with empty lines between sentences (as MasakhaPOS has it). A model may be
used and given away as the licence of its text says.
Exit code: 0 all good, 2 wrong usage, or a line that is no word (nothing is written).
"""
_SUFFIXES = tuple(kind + stored for kind in (".conllu", ".txt") for stored in ("", *COMPRESSED))


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="MODEL", help="file to write")
    sub.add_argument(
        "--heldout", type=named, metavar="FILE", help="text that is not trained on: measure the model on it"
    )


def run(options: argparse.Namespace) -> int:
    files = expand(options.files, _SUFFIXES)
    heldout = expand([options.heldout], _SUFFIXES) if options.heldout else []
    expect_target(options.output, [*files, *heldout])
    if options.output.endswith(COMPRESSED):
        raise UsageFault(f"{options.output}: a model is packed already, and cannot be read when packed again")
    if heldout:
        expect_stdout()
    if heldout and options.output == STDOUT:
        raise UsageFault("--heldout: not when the model goes to standard output")
    report = Report(quiet=options.quiet)
    text, apart = _read(files), _read(heldout)
    if not text or (heldout and not apart):
        raise UsageFault(f"{' '.join(heldout if text else files)}: no words")
    report.ok(f"training on {len(text):,} sentences, {sum(map(len, text)):,} words; Ctrl-C ends it")
    with _ended_by_signals(), _silent(options.quiet):
        model = train(text)
    with open_output(options.output) as out:
        out.write(model)
    report.ok(f"{options.output}: {len(model):,} bytes")
    for column, share, words in accuracy(model, apart):
        print(f"{column}\t{share:.4f}\t{words}")
    return GOOD


def _read(files: Sequence[str]) -> list[Sentence]:
    found: list[Sentence] = []
    for name in files:
        found += tagged_sentences([_text(row, name, number) for number, row in sound_lines(name)], name)
    return found


def _text(row: bytes, name: str, number: int) -> str:
    try:
        return row.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\r")
    except UnicodeDecodeError:
        raise FormatError(name, number, "is no UTF-8") from None


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """The library does not come back before it is done: signals end the process at once, as nothing is written yet."""
    kept = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


@contextmanager
def _silent(quiet: bool) -> Iterator[None]:
    """What the library writes to standard error goes nowhere."""
    if not quiet or sys.stderr is None:
        yield
        return
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
