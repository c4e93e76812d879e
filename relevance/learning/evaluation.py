"""How good a model is: by source, length and language, and what it confuses.

Figures are at equal priors: every language counts alike, whatever the number of its lines. Strings are cut from the
lines with a fixed seed: `document` and `paragraph` 20 and 5 lines together, `sentence` the line itself (5 words or
more), `long` and `headline` whole words of 100-140 and 50-80 letters (what a sentence of news and a headline have),
`utterance` 5-8 words, `short` 1-4 words, `chars` 15 characters. A line differs by source, in interface texts it is
hardly longer than an utterance; a number of letters is the same everywhere.

Short strings often are of several languages at once ("Khetha" is isiZulu and isiXhosa), and only one of them counts as
right. So macro-F1 is also given with every answer right whose language has the very words in a row somewhere
(`either`): what that is above the plain one could hardly be known from the string. It is kind where one language quotes
another.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from relevance.language.alphabet import words
from relevance.language.identification import Identifier
from relevance.language.model import Model
from relevance.learning import training
from relevance.types import UNDETERMINED

Texts = Mapping[str, Sequence[str]]
"""language -> texts."""
Decide = Callable[[Sequence[str]], list[str]]
Answered = tuple[str, str]
"""A text and the answer to it."""
KINDS = ("document", "paragraph", "sentence", "long", "headline", "utterance", "short", "chars")
_TOGETHER = {"document": 20, "paragraph": 5}
"""Lines of a string."""
_LETTERS = {"long": (100, 140), "headline": (50, 80)}
_WORDS = {"utterance": (5, 8), "short": (1, 4)}


@dataclass(frozen=True, slots=True)
class Figures:
    """Per cent. f1: by language; macro: their mean; confused: (truth, answer) -> share of the truth's texts; either:
    macro where an answer is right whose language has the same words in a row (None: not known)."""

    f1: Mapping[str, float]
    macro: float
    confused: Mapping[tuple[str, str], float]
    texts: int
    either: float | None = None


class Said:
    """What is said in which language, by all text there is."""

    def __init__(self, corpus: training.Corpus, classes: Sequence[training.ClassSpec]) -> None:
        self._corpus = corpus
        self._languages: dict[str, list[str]] = {}
        for spec in classes:
            if spec.label != UNDETERMINED:
                self._languages.setdefault(spec.label, []).extend(spec.languages)
        self._texts: dict[str, str] = {}

    def by(self, language: str, text: str) -> bool:
        """Are these words there in a row, in one line? Not for a pool or a language without text."""
        if language not in self._texts:
            self._texts[language] = self._joined(language)
        return f" {' '.join(words(text))} " in self._texts[language]

    def _joined(self, language: str) -> str:
        every = (self._corpus.get(one, {}) for one in self._languages.get(language, ()))
        lines = (line for sources in every for some in sources.values() for line in some)
        return "\n".join(f" {' '.join(words(line))} " for line in lines)


def cut(lines: Sequence[str], kind: str, most: int = 1000) -> list[str]:
    """Test strings of a kind from lines; `most`: strings, but no line is used twice."""
    rng = random.Random(1)
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


def figures(decide: Decide, texts: Texts, said: Said | None = None) -> Figures:
    """Measures answers on labelled texts."""
    return figures_of({language: answered(decide, some) for language, some in texts.items()}, said)


def answered(decide: Decide, texts: Sequence[str]) -> list[Answered]:
    return list(zip(texts, decide(texts), strict=True))


def figures_of(every: Mapping[str, Sequence[Answered]], said: Said | None = None) -> Figures:
    """Of what was answered to texts of each language."""
    shares = {truth: _shares([answer for _, answer in some]) for truth, some in every.items() if some}
    f1 = _f1(shares)
    confused = {
        (truth, answer): 100 * share
        for truth, some in shares.items()
        for answer, share in some.items()
        if answer != truth and share >= 0.002
    }
    either = None
    if said is not None:
        right = {
            truth: [truth if a != truth and said.by(a, text) else a for text, a in every[truth]] for truth in shares
        }
        either = _mean(_f1({truth: _shares(some) for truth, some in right.items()}))
    return Figures(f1, _mean(f1), confused, sum(map(len, every.values())), either)


def _shares(answers: Sequence[str]) -> dict[str, float]:
    return {answer: count / len(answers) for answer, count in Counter(answers).items()}


def _f1(shares: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    f1 = {}
    for language, answers in shares.items():
        right = answers.get(language, 0.0)
        wrong = sum(share.get(language, 0.0) for other, share in shares.items() if other != language)
        f1[language] = 100 * 2 * right / (right + 1 + wrong) if right else 0.0
    return f1


def _mean(f1: Mapping[str, float]) -> float:
    return sum(f1.values()) / len(f1)


def deciding(model: Model) -> Decide:
    identifier = Identifier(model)
    return lambda texts: [found.language for found in identifier(texts)]


def folder_texts(folder: Path, languages: Sequence[str], kind: str) -> dict[str, list[str]]:
    """Test strings from `<folder>/<language>.txt`; no language without any."""
    files = training.text_files(folder)
    lines = {one: [line for file in files.get(one, ()) for line in training.lines_of(file)] for one in languages}
    return strings(lines, kind)


def strings(lines: Mapping[str, Sequence[str]], kind: str) -> dict[str, list[str]]:
    """Test strings of a kind from each language's lines; no language without any."""
    return {language: texts for language, some in lines.items() if (texts := cut(some, kind))}
