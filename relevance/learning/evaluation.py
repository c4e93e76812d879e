"""How good a model is: by source, length and language, and what it confuses.

Figures are at equal priors: every language counts alike, whatever the number of its lines. Strings are cut from the
lines with a fixed seed: `document` and `paragraph` 20 and 5 lines together, `sentence` the line itself (5 words or
more), `long` and `headline` whole words of 100-140 and 50-80 letters (what a sentence of news and a headline have),
`utterance` 5-8 words, `short` 1-4 words, `chars` 15 characters. A line differs by source, in interface texts it is
hardly longer than an utterance; a number of letters is the same everywhere.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from relevance.errors import TrainingError
from relevance.language.alphabet import words
from relevance.language.identification import Identifier
from relevance.language.model import Model
from relevance.learning import training
from relevance.learning.making import in_memory, make

Texts = Mapping[str, Sequence[str]]
"""language -> texts."""
Decide = Callable[[Sequence[str]], list[str]]
KINDS = ("document", "paragraph", "sentence", "long", "headline", "utterance", "short", "chars")
_log = logging.getLogger(__name__)
_TOGETHER = {"document": 20, "paragraph": 5}
"""Lines of a string."""
_LETTERS = {"long": (100, 140), "headline": (50, 80)}
_WORDS = {"utterance": (5, 8), "short": (1, 4)}


@dataclass(frozen=True, slots=True)
class Figures:
    """Per cent. f1: by language; macro: their mean; confused: (truth, answer) -> share of the truth's texts."""

    f1: Mapping[str, float]
    macro: float
    confused: Mapping[tuple[str, str], float]
    texts: int


def cut(lines: Sequence[str], kind: str, most: int = 1000, seed: int = 1) -> list[str]:
    """Test strings of a kind from lines; `most`: strings, but no line is used twice."""
    rng = random.Random(seed)
    together = _TOGETHER.get(kind, 1)
    lines = rng.sample(list(lines), min(most * together, len(lines)))
    if together > 1:
        return ["\n".join(lines[at : at + together]) for at in range(0, len(lines) - together + 1, together)]
    return [text for line in lines if (text := _cut_line(line, kind, rng))]


def _cut_line(line: str, kind: str, rng: random.Random) -> str:
    """A string of the kind from the line; empty where it is too short for one."""
    tokens = words(line)
    if kind == "sentence":
        return line if len(tokens) >= 5 else ""
    if kind == "chars":
        text = " ".join(tokens)
        if len(text) <= 15:
            return ""
        start = rng.randint(0, len(text) - 15)
        return text[start : start + 15]
    if kind in _LETTERS:
        return _of_letters(tokens, *_LETTERS[kind], rng)
    least, largest = _WORDS[kind]
    if len(tokens) < least:
        return ""
    size = rng.randint(least, min(largest, len(tokens)))
    start = rng.randint(0, len(tokens) - size)
    text = " ".join(tokens[start : start + size])
    return text if len(text) > 3 else ""


def _of_letters(tokens: Sequence[str], least: int, largest: int, rng: random.Random) -> str:
    """Words from one on, as many as fit; empty where the line ends before that."""
    text = " ".join(tokens[rng.randint(0, max(0, len(tokens) - 1)) :])
    text = text if len(text) <= largest else text[: largest + 1].rpartition(" ")[0]
    return text if len(text) >= least else ""


def figures(decide: Decide, texts: Texts, among: Sequence[str] | None = None) -> Figures:
    """Measures answers on labelled texts; `among`: the languages that F1 is wanted of (default: all given)."""
    answers = {language: Counter(decide(some)) for language, some in texts.items() if some}
    shares = {language: {a: n / c.total() for a, n in c.items()} for language, c in answers.items()}
    f1 = {}
    for language in among or list(shares):
        right = shares[language].get(language, 0.0)
        wrong = sum(share.get(language, 0.0) for other, share in shares.items() if other != language)
        f1[language] = 100 * 2 * right / (right + 1 + wrong) if right else 0.0
    confused = {
        (truth, answer): 100 * share
        for truth, some in shares.items()
        for answer, share in some.items()
        if answer != truth and share >= 0.002
    }
    return Figures(f1, sum(f1.values()) / len(f1), confused, sum(c.total() for c in answers.values()))


def deciding(model: Model) -> Decide:
    identifier = Identifier(model)
    return lambda texts: [found.language for found in identifier(texts)]


def folder_texts(folder: Path, languages: Sequence[str], kind: str) -> dict[str, list[str]]:
    """Test strings from `<folder>/<language>.txt`; no language without any."""
    out = {}
    files = training.text_files(folder)
    for language in languages:
        lines = [line for file in files.get(language, ()) for line in training.lines_of(file)]
        if texts := cut(lines, kind):
            out[language] = texts
    return out


def leave_one_out(
    description: training.Description, data: Path, sources: Sequence[str]
) -> dict[str, dict[str, Figures]]:
    """For each source: a model of all others, measured on it. source -> kind -> figures. TrainingError, before any
    training, where that cannot be."""
    texts = {source: _texts_left_out(description, data, source) for source in sources}
    out: dict[str, dict[str, Figures]] = {}
    for source, kinds in texts.items():
        _log.info("without %s", source)
        rest = _all_but(source, description)
        model = in_memory(make(replace(description, sources=rest), training.read_corpus(data, rest)))
        out[source] = {kind: figures(deciding(model), some) for kind, some in kinds.items()}
    return out


def _all_but(source: str, description: training.Description) -> tuple[training.Source, ...]:
    return tuple(one for one in description.sources if one.name != source)


def _texts_left_out(description: training.Description, data: Path, source: str) -> dict[str, Texts]:
    """Test strings by kind, of which two languages or more have some."""
    if not _all_but(source, description):
        raise TrainingError(f"{source} is the only source: without it there is nothing to train from")
    languages = [c.name for c in description.classes if c.label == c.name and c.name not in description.second_stage]
    allowed = next((s.languages for s in description.sources if s.name == source), ()) or languages
    names = [name for name in languages if name in allowed]
    every = {kind: folder_texts(data / source, names, kind) for kind in KINDS}
    told: dict[str, Texts] = {kind: texts for kind, texts in every.items() if len(texts) > 1}
    if not told:
        raise TrainingError(f"{data / source}: no text of two of the languages told apart: {' '.join(names)}")
    return told
