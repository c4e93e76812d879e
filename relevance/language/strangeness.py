"""How little a word looks like any of a group of languages: names, loans, misprints, words of languages never met.

Strangeness is -log p a letter (the word's end counts as one) under that class of the group that likes the word best;
of true Nguni strings of 1-4 words it is 1.3 in the middle and above 2.1 in one of twenty, of strings in other African
languages that pass for them 2.0 in the middle. Letters are counted by their codes (relevance.language.alphabet): a rare
one of a syllabary has two and says as much, and the code of a script is one more. It is used twice:
- what a strange word says of close siblings against one another is mostly chance, so it counts less;
- a text whose words are together strange to the family needs more of a lead over what is not family
  (relevance.language.identification).
Both lie in the words' rows of evidence, so they cost nothing more when a word is met again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

PLAIN = 1.0
"""Nats a letter up to which a word counts in full."""
SLOPE = 0.4
LEAST = 0.4
"""What is left of the strangest words."""
ENOUGH = 50_000
"""Words of text of the sibling that has least, from which on strange words are known to be."""
USUAL = 2.0
"""Nats a letter that a text may cost a family without harm."""
UNIT = 0.1
"""Nats of one step of what words cost the family."""
USUAL_STEPS = 100
"""Steps of a word that costs the family just what is usual; those with fewer make up for others of the text."""

Columns = slice | list[int]
Nats = npt.NDArray[np.floating[Any]]
Rows = npt.NDArray[np.uint8]


def columns(places: Sequence[int]) -> Columns:
    """Columns as a slice where they can be: much faster to look up."""
    whole = range(places[0], places[-1] + 1) if places else range(0)
    return slice(whole.start, whole.stop) if list(places) == list(whole) else list(places)


def told_by(words: int) -> float:
    """How much of what tells siblings apart by models of parts of their text holds where the sibling that has least
    text has so many words of it. With little text all words are strange."""
    return min(1.0, words / ENOUGH)


def _starts(groups: Sequence[Sequence[int]]) -> npt.NDArray[np.intp]:
    """Where groups start among their columns one after the other."""
    return np.cumsum([0, *map(len, groups)], dtype=np.intp)[:-1]


class Strangeness:
    """Weighs what words say to a family and to groups of siblings (columns of the rows of evidence), all at once: it is
    done for every new word."""

    def __init__(self, family: Sequence[int], groups: Sequence[Sequence[int]], told: Sequence[float]) -> None:
        """Columns of the family and of groups of siblings; told: how sure it is that a word is strange to each group,
        0 to 1, by how much text there was of it (:func:`told_by`)."""
        self._judged = np.array([place for group in (family, *groups) for place in group], dtype=np.intp)
        self._judged_starts = _starts([family, *groups])
        self._siblings = columns([place for group in groups for place in group])
        self._starts = _starts(groups)
        self._sizes = np.array([len(group) for group in groups], dtype=np.float32)[:, np.newaxis]
        self._told = np.array(told, dtype=np.float32)[:, np.newaxis]
        self._group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])

    def lowest(self, costs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """-log p by word and class -> by group (the family first) and word, under the best class of the group."""
        return np.minimum.reduceat(costs.T.take(self._judged, axis=0), self._judged_starts, axis=0)

    def weigh(self, evidence: Rows, lowest: Nats, lengths: npt.NDArray[np.int64]) -> Rows:
        """Brings evidence for siblings nearer to its mean over their group where the word is strange to it, in place;
        gives what the words cost the family more than usual. lowest: in nats; lengths: of the words in codes.

        Nearer to the mean and not to the best of the group, as then a text whose words each look a little like another
        sibling would cost the group less than before: eight times as many foreign sentences were called isiZulu.
        """
        lengths = lengths.astype(np.float32)
        lost = lowest[1:] * (SLOPE / lengths)
        lost -= SLOPE * PLAIN
        lost = np.minimum(np.maximum(lost, 0), 1 - LEAST)
        lost *= self._told
        some = evidence[:, self._siblings].T.astype(np.float32, order="C")
        mean = np.add.reduceat(some, self._starts, axis=0) / self._sizes
        some -= (some - mean.take(self._group, axis=0)) * lost.take(self._group, axis=0)
        evidence[:, self._siblings] = np.rint(some, out=some).T
        excess = (lowest[0] - USUAL * lengths) * (1 / UNIT) + (USUAL_STEPS + 0.5)
        steps: Rows = np.minimum(np.maximum(excess, 0), 255).astype(np.uint8)
        return steps
