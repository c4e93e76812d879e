"""Siblings judged by equally much text of the same sources, too.

A language of which there is more text, or news besides the government's pages, knows more words and longer n-grams:
what its siblings have as well, but have not shown, looks like its own. So what all text says of siblings against one
another (the differences of their log p) is averaged, by `matched` of the description's settings, with what models say
that know equally much of all of them: of each source that has them all, as many words as of the one that has least
there; drawn DRAWS times, as what is left out by chance should not count. Counts are to the power of FLAT: how often a
word comes depends on what a source is about.

Only the group of the language that is wanted is matched: Sepedi, Sesotho and Setswana, of which there is about as much
text each, lost by it (docs/relevance-experiments.md). What is added adds up to 0 over the siblings, so what is not of
the group sees the same group. A listed word stays absent in a language that does not have it. Deterministic: words are
drawn with a fixed seed.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from relevance.language import storage
from relevance.language.alphabet import Alphabet
from relevance.learning.kneserney import Floats, KneserNey
from relevance.learning.training import Corpus, Description, Settings, WordCounts, moved, word_counts

_log = logging.getLogger(__name__)

DRAWS = 4
FLAT = 0.7

Sources = Mapping[str, WordCounts]
"""source -> frequencies of its words."""


def matched(model: storage.Parameters, corpus: Corpus, description: Description) -> storage.Parameters:
    """The model with the wanted language and its siblings matched; a second-stage class moves with the one it is split
    from."""
    group = next((group for group in description.siblings if description.wanted in group), ())
    specs = {spec.name: spec for spec in description.classes}
    siblings = [by_source(corpus, specs[name].languages) for name in group]
    if not siblings or not set.intersection(*map(set, siblings)):
        if siblings:
            _log.info("not matched, as no source has text of all of them: %s", " ".join(group))
        return model
    word_rows, names, settings = model.word_rows.copy(), list(specs), description.settings
    change = differences(siblings, model, settings) * (settings.matched / settings.step)
    letters, listed = change[: len(model.rows)], change[len(model.rows) :]
    for place, column in enumerate(map(names.index, group)):
        there = word_rows[:, column] != storage.ABSENT
        word_rows[there, column] = storage.in_steps(word_rows[there, column] - listed[there, place])
    return replace(model, rows=moved(model.rows, description, group, letters), word_rows=word_rows)


def by_source(corpus: Corpus, languages: Sequence[str]) -> dict[str, WordCounts]:
    """Word frequencies of the sources that have any of these languages."""
    out: dict[str, WordCounts] = {}
    for language in languages:
        for source, lines in corpus.get(language, {}).items():
            if counts := word_counts(lines):
                out.setdefault(source, Counter()).update(counts)
    return out


def differences(siblings: Sequence[Sources], model: storage.Parameters, settings: Settings) -> Floats:
    """What matched text says of siblings against one another, less what all text says, in log p: n-grams and then
    listed words x sibling."""
    shared = sorted(set.intersection(*map(set, siblings)))
    sizes = {source: min(some[source].total() for some in siblings) for source in shared}
    rng = np.random.default_rng(5)

    def gained(sources: Sources) -> Floats:
        draws = [_logs(part(sources, sizes, rng), FLAT, model, settings) for _ in range(DRAWS)]
        return sum(draws) / DRAWS - _logs(sum(sources.values(), Counter()), 1.0, model, settings)

    change = np.stack([gained(sources) for sources in siblings], axis=1)
    centred: Floats = change - change.mean(axis=1, keepdims=True)
    return centred


def part(sources: Sources, sizes: Mapping[str, int], rng: np.random.Generator) -> WordCounts:
    """So many words of each source, drawn at random."""
    out: WordCounts = Counter()
    for source, size in sizes.items():
        counts = np.fromiter(sources[source].values(), np.int64, len(sources[source]))
        taken = rng.multivariate_hypergeometric(counts, size).tolist()
        out.update({word: count for word, count in zip(sources[source], taken, strict=True) if count})
    return out


def _logs(counts: WordCounts, power: float, model: storage.Parameters, settings: Settings) -> Floats:
    """log p of the model's n-grams by letters, and of its listed words by letters and frequencies (a word met once goes
    by its letters)."""
    flat = {word: count**power for word, count in counts.items()}
    letters = KneserNey.of(flat, settings.order, Alphabet.of(model.meta))
    ngrams = [np.log(letters.probabilities(keys, size)) for size, keys in enumerate(model.keys, start=1)]
    known = np.array([counts[word] if counts[word] > 1 else 0 for word in model.words]) / counts.total()
    spelt = letters.word_logs(list(model.words)) if model.words else np.zeros(0)
    share = settings.word_share
    return np.concatenate([*ngrams, np.logaddexp(np.log1p(-share) + spelt, np.log(share * np.maximum(known, 1e-300)))])
