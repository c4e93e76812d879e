"""Learning the second look (`relevance.language.contrast`): logistic regression over hashed features of strings.

Strings are cut from the lines of the siblings, SHORT of 1-4 words and one of up to LONG words a line. What keeps it
from learning the sources instead of the languages, which is how discriminative models fail on text of another kind:
- a string is only ever compared with siblings that its own source has too, so that a newspaper that is there in two
  languages says nothing against the third;
- within a source all siblings weigh alike, and a source weighs by the root of its strings;
- what fewer than LEAST strings have is left out, and of the rest the KEPT rows of greatest weight stay;
- it is learnt apart from the model proper and only added to it, by a share (`Settings.contrast`): each judges text that
  it has not met better with the other's help, whereas learnt on top of the other's scores it would learn how well
  that one knows its own training text.

Deterministic: strings are drawn with a fixed seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from relevance.errors import TrainingError
from relevance.language.alphabet import LATIN, Alphabet, words
from relevance.language.contrast import BUCKETS, STEP, WIDE, Table, features
from relevance.learning.kneserney import Floats
from relevance.learning.training import Corpus, Description
from relevance.learning.tuning import Objective, descend

SHORT = 3
LONG = 25
LINES = 2500
"""Lines taken of a language and source."""
LEAST = 3
KEPT = 60_000
PENALTY = 1e-5
STEPS = 40
_TOGETHER = 4096
"""Strings worked on at a time."""
_NEVER = -1e9


@dataclass(frozen=True, slots=True)
class Strings:
    """Labelled strings. possible: 0 where the string's source has the sibling, else _NEVER. All weights add up to 1."""

    texts: list[list[str]]
    truth: npt.NDArray[np.int64]
    possible: Floats
    weights: Floats


def contrasted(corpus: Corpus, description: Description, group: Sequence[str], alphabet: Alphabet = LATIN) -> Table:
    """The table for a group of siblings, times the share it has in the decision."""
    languages = {spec.name: spec.languages for spec in description.classes}
    strings = drawn(corpus, [languages[name] for name in group])
    return table(learnt(strings, alphabet) * description.settings.contrast)


def learnt(strings: Strings, alphabet: Alphabet = LATIN) -> Floats:
    """Steps that speak for each sibling, row of a table x sibling; as much for one as against the others."""
    found, owner = _frequent(strings.texts, alphabet)
    rows, places = np.unique(found >> (WIDE - BUCKETS), return_inverse=True)
    starts = np.searchsorted(owner, np.arange(len(strings.texts)))
    siblings = strings.possible.shape[1]
    point = descend(_objective(strings, places, starts, len(rows)), np.zeros(len(rows) * siblings), STEPS)
    weights = point.reshape(len(rows), siblings)
    weights -= weights.mean(axis=1, keepdims=True)
    size = np.abs(weights).max(axis=1)
    kept = np.argsort(-size, kind="stable")[:KEPT]
    out = np.zeros((1 << BUCKETS, siblings))
    out[rows[kept]] = weights[kept] / STEP
    return out


def table(steps: Floats) -> Table:
    """As it is stored."""
    stored: Table = np.clip(np.rint(steps), -127, 127).astype(np.int8)
    return stored


def drawn(corpus: Corpus, languages: Sequence[Sequence[str]]) -> Strings:
    """Strings of all sources that have two siblings or more; languages: those of each sibling."""
    rng = random.Random(5)
    texts: list[list[str]] = []
    truth: list[int] = []
    possible: list[Floats] = []
    weights: list[Floats] = []
    for source in sorted({source for some in languages for code in some for source in corpus.get(code, ())}):
        lines = [[line for code in some for line in corpus.get(code, {}).get(source, ())] for some in languages]
        cut = [list(_cut(rng.sample(some, min(LINES, len(some))), rng)) for some in lines]
        counts = np.array([len(some) for some in cut])
        if np.count_nonzero(counts) < 2:
            continue
        for sibling, some in enumerate(cut):
            texts += some
            truth += [sibling] * len(some)
        possible.append(np.tile(np.where(counts > 0, 0.0, _NEVER), (int(counts.sum()), 1)))
        weights.append(np.repeat(counts.sum() ** 0.5 / np.maximum(counts, 1), counts))
    if not texts:
        names = " ".join(code for some in languages for code in some)
        raise TrainingError(
            f"no source has text of two siblings ({names}) to compare, which contrast needs: 0 does without"
        )
    together = np.concatenate(weights)
    return Strings(texts, np.array(truth), np.concatenate(possible), together / together.sum())


def _cut(lines: Sequence[str], rng: random.Random) -> Iterator[list[str]]:
    for line in lines:
        tokens = words(line)
        sizes = [rng.randint(1, min(4, len(tokens))) for _ in range(SHORT)] if tokens else []
        if len(tokens) > 5:
            sizes.append(rng.randint(5, LONG))
        for size in sizes:
            start = rng.randint(0, max(0, len(tokens) - size))
            yield tokens[start : start + size]


def _frequent(texts: Sequence[list[str]], alphabet: Alphabet) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Features that LEAST texts have, and whose each is, text after text."""
    parts = []
    for at in range(0, len(texts), _TOGETHER):
        found, owner = features(texts[at : at + _TOGETHER], WIDE, alphabet)
        parts.append((found.astype(np.int32), (owner + at).astype(np.int32)))
    different, counts = np.unique(np.concatenate([found for found, _ in parts]), return_counts=True)
    kept = [np.isin(found, different[counts >= LEAST]) for found, _ in parts]
    found, owner = (
        np.concatenate([part[n][mask] for part, mask in zip(parts, kept, strict=True)], dtype=np.int64) for n in (0, 1)
    )
    return found, owner


def _objective(strings: Strings, places: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], rows: int) -> Objective:
    """Cross entropy of the strings' languages with an L2 penalty, and its gradient."""
    count, siblings = strings.possible.shape
    ends = np.append(starts[1:], len(places))
    places = places.astype(np.int32)
    truth = np.eye(siblings)[strings.truth]
    spans = [(at, min(at + _TOGETHER, count)) for at in range(0, count, _TOGETHER)]

    def objective(point: Floats) -> tuple[float, Floats]:
        weights = point.reshape(rows, siblings)
        slopes = np.zeros((siblings, rows))
        loss = 0.0
        for first, last in spans:
            used = places[starts[first] : ends[last - 1]]
            sizes = ends[first:last] - starts[first:last]
            sums = np.concatenate([weights.take(used, axis=0), np.zeros((1, siblings))])
            logs = np.add.reduceat(sums, starts[first:last] - starts[first], axis=0) * (sizes > 0)[:, np.newaxis]
            logs += strings.possible[first:last]
            logs -= logs.max(axis=1, keepdims=True)
            logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
            some = strings.weights[first:last, np.newaxis]
            loss -= float((truth[first:last] * logs * some).sum())
            slope = (np.exp(logs) - truth[first:last]) * some
            for sibling in range(siblings):
                slopes[sibling] += np.bincount(used, np.repeat(slope[:, sibling], sizes), rows)
        return loss + 0.5 * PENALTY * float(point @ point), slopes.T.ravel() + PENALTY * point

    return objective
