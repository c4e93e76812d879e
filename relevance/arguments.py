"""What may be asked of ``python -m relevance``: its commands, their arguments and their help."""

from __future__ import annotations

import argparse
from contextlib import suppress
from math import inf
from pathlib import Path

from relevance.language.model import SHIPPED

DESCRIPTION = SHIPPED.with_suffix(".toml")
STDIN = Path("-")

_EPILOG = """examples:
  python -m relevance identify news.txt
  python -m relevance words zul --stop
  python -m relevance train my-text --description my-language.toml
Each command has more: python -m relevance COMMAND --help
"""
_TRAIN = """examples:
  python -m relevance train my-text --description my-language.toml --dev held-out --card my-language.md
  python -m relevance train ../shared/data/langid --max-bytes 2000000 -o small.model

Takes from seconds to some minutes, and as long again for each source left out. The model is written when it is done:
until then an older one stays.
"""
_ADAPT = """examples:
  python -m relevance adapt crawled.txt -o seeds/zulu.model
  python -m corpus extract data/zulu/warc --format text -o - --quiet | python -m relevance adapt -o crawl.model

The text needs no labels: what lines are told for sure teaches what the others need. One sentence or paragraph a line,
some thousand lines; twice the same line counts once, but not what a model has been adapted to before: with more text,
adapt the first one anew to all of it. The model takes its place wherever a model file is asked for (`model` of a seed
file's [relevance], RELEVANCE_MODEL, --model). How much it may gain: eval --leave-out SOURCE --adapt.

A line of the output: language, lines that it has learnt from; a tab between. Of close siblings (isiZulu, isiXhosa,
isiNdebele, siSwati) each learns from as many lines as the one of them that has least, and one alone hardly anything
against the others. Exit code: 0 all good, 1 a file could not be read or has lines that are no UTF-8 (the rest was
done), 2 wrong usage or no line told for sure: nothing is written.
"""
_EVAL = """examples:
  python -m relevance eval ../shared/data/langid
  python -m relevance eval my-text --model my-language.model --source held-out
  python -m relevance eval my-text --description my-language.toml --leave-out newspaper
  python -m relevance eval my-text --description my-language.toml --leave-out newspaper --clean
  python -m relevance eval my-text --description my-language.toml --leave-out newspaper --adapt
  python -m relevance eval my-text --description my-language.toml --parts 5

A line of the output: folder; strings (document: twenty lines, paragraph: five, sentence: one of five words or more, and
parts of lines: long, headline, utterance of 5-8 words, short of 1-4, chars of 15 letters); how many; macro-F1 in per
cent; the same where an answer is right, too, whose language has the very words in a row (with --leave-out and --parts:
"Khetha" is of several languages); F1 by language. Tabs between, a table on a terminal.
"""
_IDENTIFY = """examples:
  python -m relevance identify news.txt
  zcat lines.txt.gz | python -m relevance identify --languages zul xho nbl ssw
  python -m relevance identify --by-word chat.txt
  echo 'Khetha konke' | python -m relevance identify --likely

A line of the input is a line of the output: language (ISO 639-3, und: none of those known), probability, margin (nats a
word to the next language), part of the words that fit the model's family, the first 100 letters; tabs between. With
--likely: all languages that the line may be in, each with its probability, likeliest first; the first 100 letters.
Exit code: 0 all good, 1 a file could not be read or has lines that are no UTF-8 (the rest was done), 2 wrong usage.
"""
_WORDS = """examples:
  python -m relevance words zul --count 50
  python -m relevance words xho --stop > stop.txt

A word a line with how often it comes in a million; a tab between. Of an adapted model ask for a language that has
learnt (adapt prints which): what a sibling without text is given only tells it from the others.
"""
_EXPORT = """example:
  python -m relevance export-arpa zul zul.arpa --order 6

At the model's own order it is as good as the model; at a lower one it is less good than a model trained at that one,
as n-grams below the longest are weighed by how many letters they follow.
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    raw = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        prog="python -m relevance",
        description="Tell what language text is in; make, measure and look into the models that do.",
        epilog=_EPILOG,
        formatter_class=raw,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, text, epilog, add in (
        ("train", "make a model from folders of plain text", _TRAIN, _train_arguments),
        ("adapt", "make a model that knows a kind of text better, from text without labels", _ADAPT, _adapt_arguments),
        ("eval", "measure a model on labelled text, or by leaving sources out", _EVAL, _eval_arguments),
        ("identify", "say what language each line of the input is in", _IDENTIFY, _identify_arguments),
        ("words", "the frequent words of a language; with --stop the stop list", _WORDS, _words_arguments),
        ("export-arpa", "write a language's letter model as an ARPA file", _EXPORT, _export_arguments),
    ):
        add(commands.add_parser(name, help=text, description=text, epilog=epilog, formatter_class=raw))
    return top


def training_command(given: argparse.Namespace) -> str:
    """What makes the same model."""
    asked = (
        ("--description", given.description.name),
        ("--min-count", given.min_count),
        ("--max-bytes", given.max_bytes),
    )
    return " ".join(
        ["python -m relevance train DATA", *(f"{name} {value}" for name, value in asked if value is not None)]
    )


def _named(text: str) -> str:
    """What names a file or folder: an empty name, as of a variable that is not set, is not the folder where one is."""
    if not text:
        raise argparse.ArgumentTypeError("an empty name")
    return text


def _path(text: str) -> Path:
    path = Path(_named(text))
    return path.absolute() if path == STDIN and text != "-" else path  # ./- is a file


def _train_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("data", type=_path, help="folder with <source>/<language>.txt, one sentence or paragraph a line")
    sub.add_argument(
        "--description",
        type=_path,
        default=DESCRIPTION,
        help="TOML: classes, sources, settings (default: that of the shipped model)",
    )
    sub.add_argument(
        "-o",
        "--output",
        type=_path,
        metavar="FILE",
        help="model file to write; - is standard output (default: beside the description, .model)",
    )
    sub.add_argument("--max-bytes", type=_positive, metavar="N", help="prune until the file is no larger")
    sub.add_argument(
        "--min-count", type=_times, metavar="N", help="keep n-grams of order 3 and up seen so often (1: all)"
    )
    sub.add_argument(
        "--card", type=_path, help="write a model card: figures on --dev and --leave-out; - is standard output"
    )
    _sources(sub, "--dev", "folder of data that --card measures on")
    _sources(sub, "--leave-out", "measure without it for --card")
    sub.add_argument(
        "--parts", type=_parts, metavar="N", help="measure without one part of N, each in turn, for --card"
    )
    sub.add_argument("--quiet", "-q", action="store_true", help="no progress")


def _adapt_arguments(sub: argparse.ArgumentParser) -> None:
    _file_arguments(sub)
    sub.add_argument(
        "-o", "--output", type=_path, metavar="FILE", required=True, help="model file to write; - is standard output"
    )
    sub.add_argument(
        "--model", type=_path, default=SHIPPED, metavar="FILE", help="model file to adapt (default: the shipped one)"
    )
    sub.add_argument("--quiet", "-q", action="store_true", help="no progress")


def _file_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("files", nargs="*", type=_path, default=[STDIN], help="text files; - or none: standard input")


def _eval_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("data", type=_path, help="folder with <source>/<language>.txt")
    sub.add_argument("--model", type=_path, help="model file (default: the shipped one)")
    _sources(sub, "--source", "folder of data (may be repeated; default: all dev-*)")
    _sources(sub, "--leave-out", "train without it, measure on it")
    sub.add_argument(
        "--parts",
        type=_parts,
        metavar="N",
        help="train without one part of N of all lines, measure on it, each in turn: text of the same sources",
    )
    sub.add_argument(
        "--clean",
        action="store_true",
        help="with --leave-out: not on lines that lie in the wrong file, as a model made with these very lines gives "
        "them to another language",
    )
    sub.add_argument(
        "--adapt",
        action="store_true",
        help="with --leave-out: also on each half of its lines by the model adapted to the other half, without labels",
    )
    sub.add_argument(
        "--description", type=_path, help="what --leave-out and --parts train by (default: as the shipped model)"
    )
    sub.add_argument("--json", action="store_true", help="one JSON object a line")
    sub.add_argument("--quiet", "-q", action="store_true", help="no progress")


def _sources(sub: argparse.ArgumentParser, option: str, told: str) -> None:
    sub.add_argument(option, type=_named, action="append", default=[], metavar="SOURCE", help=told)


def _identify_arguments(sub: argparse.ArgumentParser) -> None:
    _file_arguments(sub)
    sub.add_argument(
        "--model", type=_named, default="southern", help="southern, afriweb (the thesis' method) or a model file"
    )
    sub.add_argument(
        "--languages", nargs="+", metavar="CODE", help="choose among these only (ISO 639-3, not und); behind the files"
    )
    each = sub.add_mutually_exclusive_group()
    each.add_argument("--by-word", action="store_true", help="label every word instead")
    each.add_argument("--likely", action="store_true", help="all languages with a probability of 0.01 or more instead")
    sub.add_argument("--json", action="store_true", help="one JSON object a line")


def _words_arguments(sub: argparse.ArgumentParser) -> None:
    _model_arguments(sub)
    sub.add_argument("--count", type=_positive, default=1000, metavar="N", help="most words (default 1000)")
    sub.add_argument("--stop", action="store_true", help="only words that are a thousandth of all text or more")


def _export_arguments(sub: argparse.ArgumentParser) -> None:
    _model_arguments(sub)
    sub.add_argument("out", type=_path, help="file to write; - is standard output")
    sub.add_argument("--order", type=_positive, default=3, metavar="N", help="1 to the model's own (default: 3)")


def _model_arguments(sub: argparse.ArgumentParser) -> None:
    """Of commands that look into a model."""
    sub.add_argument("language", help="one that the model has (ISO 639-3)")
    sub.add_argument(
        "--model", type=_path, default=SHIPPED, metavar="FILE", help="model file (default: the shipped one)"
    )


def _times(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (value := float(text)) < inf:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no number from 0 on")


def _parts(text: str) -> int:
    if (value := _positive(text)) > 1:
        return value
    raise argparse.ArgumentTypeError("one part is all the text: nothing is left to train from")


def _positive(text: str) -> int:
    with suppress(ValueError):
        if (value := int(text)) > 0:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no whole number from 1 on")
