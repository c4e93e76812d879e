"""A model adapted to text that nobody has labelled: of a crawl, a site, a kind of writing that it was not made from.

What a model lacks on text from elsewhere is words, not another formula (docs/relevance-experiments.md), and that text
has them: most of its lines are told for sure, and what they say is learnt for the strings that are not. Letters and
words of each language become a mixture of what the model says and what its sure lines say, the latter's share growing
with their words: `MOST words / (words + HALF)`. A second look at siblings (:mod:`relevance.learning.contrasting`) is
learnt from the sure lines, too, and added to the model's own. The adapted model then says anew which lines are sure,
ROUNDS times.
This is unsupervised adaptation of language models by interpolation (Bacchiani and Roark 2003; of language
identification: Jauhiainen, Linden and Jauhiainen 2018), but kept as a model: an answer depends on no text beside it.

What it keeps to:
- A line counts once, and only where one language has SURE of the probability.
- Siblings learn from equally many lines. One with more text would know more words that all of them have, and take
  the others' strings. For the same reason a sibling of which there is no text follows the mean of those that have some:
  what the text says of the family is no evidence against it. But a word gets no likelier in it than in those.
- Pools ("und") stay as they are; a second-stage language follows the one that it is split from.

Deterministic: lines are left out with a fixed seed; which ones, and so the model, depends on the order of the texts. A
word is counted as it is written and as far as it is looked at (relevance.language.alphabet.MAX_WORD), as in training.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

import numpy as np

from relevance.errors import ModelError, TrainingError
from relevance.language import storage
from relevance.language.alphabet import Alphabet
from relevance.language.contrast import Table
from relevance.language.identification import Identifier, all_texts
from relevance.language.model import Model, chosen
from relevance.learning import contrasting
from relevance.learning.kneserney import Floats, KneserNey
from relevance.learning.making import in_memory
from relevance.learning.training import WordCounts, word_counts
from relevance.types import UNDETERMINED

ROUNDS = 2
SURE = 0.7
THERE = 0.05
"""Of the lines of the sibling that has most: with fewer, a sibling is taken for mistakes."""
MOST = 0.9
HALF = 20_000
"""Words of text that get half of MOST."""
LISTED = 40_000
"""New words that are listed: those that come most often."""
SECOND_LOOK = 0.4

_log = logging.getLogger(__name__)

Lines = Mapping[str, Sequence[str]]
"""class -> its lines."""


def adapt(texts: Iterable[str], model: str | Model = "southern") -> Model:
    """The model adapted to the texts, best given line by line; `model`: the shipped one or another loaded one.

    TrainingError where no text is of a language for sure. Cost, for the shipped model: ten seconds; two minutes and
    800 MB where there are thousands of lines of each sibling (it grows little beyond), and the memory of the texts.
    """
    texts = all_texts(texts)
    if model == "afriweb":
        raise ModelError(model, "has nothing that text adapts")
    given = chosen(model)
    if given.path is None:
        raise ModelError("a model that is no file", "adapt what it was made from")
    return in_memory(adapted(storage.read(given.path), texts))


def adapted(made: storage.Parameters, texts: Iterable[str]) -> storage.Parameters:
    """As :func:`adapt`; meta["adapted"] has the lines that each language has learnt from."""
    different, siblings, now = [*dict.fromkeys(texts)], made.meta.get("siblings", ()), made
    for _ in range(ROUNDS):
        lines = equally_many(sure(now, different), siblings)
        if not lines:
            raise TrainingError("nothing to adapt to: no text is for sure of a language that the model knows")
        _log.info("learning from %s lines", f"{sum(map(len, lines.values())):,}")
        now = _learnt(made, lines)
    return now


def _learnt(made: storage.Parameters, lines: Lines) -> storage.Parameters:
    counts = {language: word_counts(some) for language, some in lines.items()}
    columns = _columns(made, lines)
    made = _with_words(made, _with_letters(made, counts, columns), counts, columns)
    made = replace(made, contrasts=tuple(_second_looks(made, lines, counts)))
    meta = {**made.meta, "adapted": {language: len(some) for language, some in lines.items()}}
    return replace(made, meta=meta, evidence=in_memory(made).listed_evidence())


def sure(made: storage.Parameters, texts: Sequence[str]) -> dict[str, list[str]]:
    """The texts that are of one class for sure; none of those that are answered alike."""
    classes, seconds = made.meta["classes"], made.meta.get("second_stage", {})
    named = Counter(c["label"] for c in classes)
    names = {c["label"]: c["name"] for c in classes if named[c["label"]] == 1 and c["name"] not in seconds}
    names.pop(UNDETERMINED, None)
    out: dict[str, list[str]] = {}
    for text, likely in zip(texts, Identifier(in_memory(made)).probabilities(texts, SURE), strict=True):
        for label in names.keys() & likely.keys():
            out.setdefault(names[label], []).append(text)
    return out


def equally_many(lines: Lines, groups: Iterable[Sequence[str]]) -> dict[str, Sequence[str]]:
    """As many lines of each sibling that is there as of the one of them that has least, drawn at random; all of other
    languages."""
    out = dict(lines)
    rng = random.Random(5)
    for group in groups:
        there = {language: out.pop(language) for language in group if language in out}
        most = max(map(len, there.values()), default=0)
        there = {language: some for language, some in there.items() if len(some) >= THERE * most}
        least = min(map(len, there.values()), default=0)
        out |= {language: rng.sample(some, least) for language, some in there.items()}
    return out


def _weight(counts: WordCounts) -> float:
    """Of so much text: 0 to 1."""
    return counts.total() / (counts.total() + HALF)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Of classes that learn from text, and of those without text that follow: whose mean change each takes."""

    learn: dict[str, int]
    follow: dict[int, list[int]]


def _columns(made: storage.Parameters, learning: Collection[str]) -> _Columns:
    names = [c["name"] for c in made.meta["classes"]]
    follow: dict[int, list[int]] = {}
    for group in made.meta.get("siblings", ()):
        there = [names.index(language) for language in group if language in learning]
        follow |= {names.index(language): there for language in group if there and language not in learning}
    for second, first in made.meta.get("second_stage", {}).items():
        at = names.index(first)
        if first in learning or at in follow:
            follow[names.index(second)] = follow.get(at, [at])
    return _Columns({language: names.index(language) for language in learning}, follow)


def _with_letters(made: storage.Parameters, counts: Mapping[str, WordCounts], columns: _Columns) -> storage.Parameters:
    """The n-grams' values mixed with those of the text."""
    step, order, alphabet = made.meta["step"], made.meta["order"], Alphabet.of(made.meta)
    change = np.zeros(made.rows.shape)
    for language, some in counts.items():
        column, share = columns.learn[language], MOST * _weight(some)
        letters = KneserNey.of(some, order, alphabet)
        said = np.concatenate([letters.probabilities(keys, size) for size, keys in enumerate(made.keys, start=1)])
        change[:, column] = np.log(1 - share + share * said * np.exp(made.rows[:, column] * step))
    for column, those in columns.follow.items():
        change[:, column] = change[:, those].mean(axis=1)
    return replace(made, rows=storage.in_steps(made.rows - change / step), evidence=None)


def _with_words(
    made: storage.Parameters, spelt: storage.Parameters, counts: Mapping[str, WordCounts], columns: _Columns
) -> storage.Parameters:
    """The listed words' values mixed with those of the text, and the words listed that it has besides. spelt: the model
    with its letters mixed."""
    step, listed_share = made.meta["step"], made.meta["word_share"]
    known, together = set(made.words), sum(counts.values(), Counter[str]())
    new = nlargest(LISTED, (w for w, n in together.items() if n > 1 and w not in known), key=together.__getitem__)
    words = sorted((*made.words, *new))
    if not words:
        return spelt
    before, letters = in_memory(made).word_logs(words), in_memory(spelt).letter_logs(words)
    rows = np.full((len(words), made.rows.shape[1]), storage.ABSENT, dtype=np.uint8)
    places = {word: at for at, word in enumerate(words)}
    rows[[places[word] for word in made.words]] = made.word_rows
    change = np.zeros(before.shape)
    for language, some in counts.items():
        column, share = columns.learn[language], MOST * _weight(some)
        listed = rows[:, column]
        own = np.where(listed == storage.ABSENT, 0.0, np.exp(listed * -step))
        found = np.array([some[word] for word in words]) / some.total()
        mixed = (1 - share) * own + share * found
        rows[:, column] = _listed(mixed, step)
        spelt_logs = np.log1p(-listed_share) + letters[:, column]
        listed_logs = np.log(listed_share * np.maximum(mixed, 1e-300))
        change[:, column] = np.logaddexp(spelt_logs, listed_logs) - before[:, column]
    for column, those in columns.follow.items():
        most = np.maximum(before[:, column], (before[:, those] + change[:, those]).max(axis=1))
        whole = np.exp(np.minimum(before[:, column] + change[:, those].mean(axis=1), most))
        rows[:, column] = _listed((whole - (1 - listed_share) * np.exp(letters[:, column])) / listed_share, step)
    return replace(spelt, words=tuple(words), word_rows=rows)


def _listed(p: Floats, step: float) -> storage.Rows:
    """Values of listed words; those that hardly come are not in the list."""
    steps = storage.in_steps(-np.log(np.maximum(p, 1e-300)) / step)
    rows: storage.Rows = np.where(p > np.exp((1 - storage.ABSENT) * step), steps, storage.ABSENT)
    return rows


def _second_looks(made: storage.Parameters, lines: Lines, counts: Mapping[str, WordCounts]) -> Iterator[Table]:
    """Of each group of siblings the model's own table with what the text says of those that are there added to it."""
    alphabet = Alphabet.of(made.meta)
    for group, own in zip(made.meta.get("siblings", ()), made.contrasts, strict=False):
        there = [language for language in group if language in lines]
        if len(there) < 2:
            yield own
            continue
        strings = contrasting.drawn({one: {"": [*lines[one]]} for one in there}, [[one] for one in there])
        share = SECOND_LOOK * min(_weight(counts[one]) for one in there)
        steps = own.astype(np.float64)
        steps[:, [group.index(one) for one in there]] += contrasting.learnt(strings, alphabet) * share
        yield contrasting.table(steps)
