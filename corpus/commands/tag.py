"""``corpus tag``: vertical text to vertical text with parts of speech."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path

from corpus.commands.common import FAULTS, GOOD, expect_form, expect_target, expect_vertical, processes_of
from corpus.errors import UsageFault
from corpus.inputs import VERTICAL_SUFFIXES, expand
from corpus.outputs import open_output
from corpus.report import Report
from corpus.sources import vertical_rows
from corpus.tagging.processes import tagged
from corpus.tagging.tagger import DEFAULT_COLUMNS, NO_LANGUAGE, DocumentTagger, columns_named, language_key
from corpus.tally import Tally

HELP = "vertical text with parts of speech and lemmas, by models of UDPipe 1"
EPILOG = """examples:
  python -m corpus tag zulu.vert.xz -o zulu-tagged.vert.xz --model zu=zulu.udpipe
  python -m corpus tag a.vert b.vert -o tagged.vert.xz --model zu=zulu.udpipe --model en=en.udpipe --columns tag,lemma
  python -m corpus tag old.vert -o - --model english.udpipe --processes 2

Each paragraph is tagged by the model of its language; without one its columns are empty, or stay as they are when there
are as many. Everything else in the file stays as it is. A model of your own: python -m corpus train-tagger
Exit code: 0 all good, 1 some of the input was damaged or no vertical text (the rest is in the output), 2 wrong usage.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("-o", "--output", required=True, metavar="OUT", help="file (.xz .gz .zst: compressed), or -")
    sub.add_argument(
        "--model",
        action="append",
        required=True,
        metavar="[LANG=]FILE",
        help="model for paragraphs in a language (ISO 639-1 or -3), without LANG= for those that name none; repeatable",
    )
    sub.add_argument(
        "--columns",
        default=DEFAULT_COLUMNS,
        metavar="NAMES",
        help="what stands after the word, in order: lemma, tag (universal part of speech), xpos (the treebank's own), "
        "feats (features); default %(default)s",
    )
    sub.add_argument(
        "--processes", type=int, default=1, metavar="N", help="tag in N processes (default 1; 0: one a processor)"
    )
    sub.add_argument("--json", action="store_true", help="the summary as one JSON object on standard error")


def run(options: argparse.Namespace) -> int:
    columns, models = columns_named(options.columns), _models(options.model)
    processes = processes_of(options)
    files = expand(options.files, VERTICAL_SUFFIXES)
    expect_vertical(files)
    expect_target(options.output, [*files, *map(str, models.values())])
    expect_form(options.output, (".vert",))
    report, tally = Report(quiet=options.quiet), Tally()
    tagger = DocumentTagger(models, columns)
    if "lemma" in columns:
        for language, one in tagger.taggers.items():
            if not one.has_lemmas:
                report.warn(f"{models[language]}: this model has no lemmas, their column is empty")
    tokens: Counter[str] = Counter()
    with open_output(options.output) as out:
        for rows, counts in tagged(vertical_rows(files, report, tally), tagger, processes):
            out.write(("\n".join(rows) + "\n").encode("utf-8", "surrogateescape"))
            tokens.update(counts)
    _summary(options, report, tally, tokens, set(models))
    return FAULTS if tally.faults else GOOD


def _models(given: list[str]) -> dict[str, Path]:
    models: dict[str, Path] = {}
    for text in given:
        named = re.match(r"([A-Za-z]{2,3})=(.+)", text, re.S)
        language = language_key(named[1]) if named else NO_LANGUAGE
        if language in models:
            raise UsageFault(f"--model {text}: there is one for {_shown(language)} already")
        models[language] = path = Path(named[2] if named else text)
        before, mark, _ = text.partition("=")
        if mark and not named and not path.exists():
            raise UsageFault(f"--model {text}: {before!r} is no code of a language (as zu or zul), nor is that a file")
    return models


def _shown(language: str) -> str:
    return language or "text that names no language"


def _summary(options: argparse.Namespace, report: Report, tally: Tally, tokens: Counter[str], models: set[str]) -> None:
    without = {language: count for language, count in tokens.items() if language not in models}
    if options.json:
        facts = {"files": tally.files, "documents": tally.documents, "damages": tally.damages}
        report.line(json.dumps({"output": options.output, **facts, "tokens": tokens, "without_model": without}))
        return
    detail = [
        f"{count:>9,} tokens: {_shown(language)}" + (", without a model" if language in without else "")
        for language, count in tokens.most_common()
    ]
    report.ok(f"{options.output}: {tally.documents:,} documents, {tokens.total():,} tokens", detail)
