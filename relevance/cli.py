"""`python -m relevance`: train, eval, identify, words, export-arpa."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from relevance import arpa, evaluation, storage, training
from relevance.card import card
from relevance.errors import RelevanceError, TrainingError
from relevance.identification import identify
from relevance.making import make_to_size
from relevance.mixed import labels_by_word
from relevance.model import SHIPPED, Model, load, shipped

DESCRIPTION = SHIPPED.with_suffix(".toml")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m relevance", description="Language models for focused crawling.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    train = commands.add_parser("train", help="make a model from folders of plain text")
    train.add_argument("data", type=Path, help="folder with <source>/<language>.txt, one sentence or paragraph a line")
    train.add_argument("--description", type=Path, default=DESCRIPTION, help="TOML: classes, sources, settings")
    train.add_argument("--out", type=Path, default=SHIPPED, help="model file to write (default: the shipped one)")
    train.add_argument("--max-bytes", type=int, help="prune until the file is no larger")
    train.add_argument("--min-count", type=float, help="keep n-grams of order 3 and up seen so often (1: all)")
    train.add_argument("--card", type=Path, help="write a model card: figures on --dev and --leave-out")
    train.add_argument("--dev", action="append", default=[], metavar="SOURCE", help="folder of data to measure on")
    train.add_argument("--leave-out", action="append", default=[], metavar="SOURCE", help="measure without this source")
    check = commands.add_parser("eval", help="measure a model on labelled text, or by leaving sources out")
    check.add_argument("data", type=Path, help="folder with <source>/<language>.txt")
    check.add_argument("--model", type=Path, default=SHIPPED)
    check.add_argument("--source", action="append", default=[], help="folder of data (repeatable; default: dev-*)")
    check.add_argument("--leave-out", action="append", default=[], help="train without this source, measure on it")
    check.add_argument("--description", type=Path, default=DESCRIPTION)
    name = commands.add_parser("identify", help="say what language each line of the input is in")
    name.add_argument("files", nargs="*", type=Path, help="text files (default: standard input)")
    name.add_argument("--model", default="southern", help="southern, afriweb (the thesis' method) or a model file")
    name.add_argument("--languages", nargs="+", help="choose among these only")
    name.add_argument("--by-word", action="store_true", help="label every word")
    words = commands.add_parser("words", help="the frequent words of a language; with --stop the stop list")
    words.add_argument("language")
    words.add_argument("--count", type=_positive, default=1000)
    words.add_argument("--stop", action="store_true", help="only words so frequent and even that they carry no topic")
    words.add_argument("--model", type=Path, default=SHIPPED)
    export = commands.add_parser("export-arpa", help="write a language's letter model as an ARPA file")
    export.add_argument("language")
    export.add_argument("out", type=Path)
    export.add_argument("--order", type=_positive, default=3, help="up to the model's own (default: 3)")
    export.add_argument("--model", type=Path, default=SHIPPED)
    return top


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is below 1")
    return value


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; 0, or 1 with one line of what is wrong."""
    given = parser().parse_args(arguments)
    run = {"train": _train, "eval": _eval, "identify": _identify, "words": _words, "export-arpa": _export}
    try:
        run[given.command](given)
    except (RelevanceError, OSError) as error:
        print(f"relevance {given.command}: {error}", file=sys.stderr)
        return 1
    return 0


def _train(given: argparse.Namespace) -> None:
    description = training.read_description(given.description)
    corpus = training.read_corpus(given.data, description.sources)
    if given.min_count is not None:
        settings = replace(description.settings, min_count=given.min_count)
        description = replace(description, settings=settings)
    size = make_to_size(description, corpus, given.out, given.max_bytes or description.settings.max_bytes)
    print(f"{given.out}: {size:,} bytes")
    if given.card:
        measured = _measured(evaluation.deciding(load(given.out)), given.data, given.dev, _names(given.out))
        left_out = evaluation.leave_one_out(description, given.data, given.leave_out)
        measured |= {f"{source}, trained without it": kinds for source, kinds in left_out.items()}
        command = f"python -m relevance train DATA --description {given.description.name}"
        given.card.write_text(card(storage.header_of(given.out), size, measured, command), encoding="utf-8")


def _names(model: Path) -> list[str]:
    meta = storage.header_of(model)
    return [c["name"] for c in meta["classes"] if c["name"] == c["label"] and c["name"] not in meta["second_stage"]]


def _measured(
    decide: evaluation.Decide, data: Path, sources: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, evaluation.Figures]]:
    out: dict[str, dict[str, evaluation.Figures]] = {}
    for source in sources:
        texts = {kind: evaluation.folder_texts(data / source, names, kind) for kind in evaluation.KINDS}
        out[source] = {kind: evaluation.figures(decide, some) for kind, some in texts.items() if some}
        if not out[source]:
            raise TrainingError(f"{data / source}: no <language>.txt of the model's languages: {' '.join(names)}")
    return out


def _eval(given: argparse.Namespace) -> None:
    if given.leave_out:
        description = training.read_description(given.description)
        measured = evaluation.leave_one_out(description, given.data, given.leave_out)
    else:
        sources = given.source or sorted(folder.name for folder in given.data.glob("dev-*"))
        if not sources:
            raise TrainingError(f"{given.data}: no folder dev-*; name one with --source")
        measured = _measured(evaluation.deciding(load(given.model)), given.data, sources, _names(given.model))
    for source, kinds in measured.items():
        for kind, one in kinds.items():
            each = "  ".join(f"{language} {value:.1f}" for language, value in one.f1.items())
            print(f"{source:14} {kind:9} {one.texts:6} texts  macro-F1 {one.macro:5.1f}  {each}")


def _model(name: str) -> str | Model:
    return name if name in ("southern", "afriweb") else load(Path(name))


def _identify(given: argparse.Namespace) -> None:
    model = _model(given.model)
    texts = [file.read_bytes() for file in given.files] or [sys.stdin.buffer.read()]
    lines = [line for text in texts for line in text.decode("utf-8", "replace").splitlines()]
    if given.by_word:
        used = model if isinstance(model, Model) else shipped()
        for line in lines:
            print(" ".join(f"{word}/{label}" for word, label in labels_by_word(line, given.languages, used)))
        return
    for line, found in zip(lines, identify(lines, given.languages, model), strict=True):
        print(f"{found.language}\t{found.score:.3f}\t{found.margin:.2f}\t{found.family_share:.2f}\t{line[:100]}")


def _words(given: argparse.Namespace) -> None:
    words, shares = load(given.model).vocabulary(given.language)
    ranked = sorted(zip(shares, words, strict=True), reverse=True)
    if given.stop:
        ranked = [(share, word) for share, word in ranked if share >= 0.001]
    for share, word in ranked[: given.count]:
        print(f"{word}\t{share * 1e6:.0f}")


def _export(given: argparse.Namespace) -> None:
    made = arpa.export(storage.read(given.model), given.language, given.order)
    arpa.write_arpa(given.out, made)
    print(f"{given.out}: order {made.order}")
