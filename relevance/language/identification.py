"""Which language a text is in.

In this order, for each text:

1. Its words; of a long text those of SAMPLE_SLICES slices, together SAMPLE_LETTERS letters, so its cost is bounded.
2. The evidence of its different words against each language is summed (relevance.language.model). A word that comes
   again, as a name does in a list, says no more than at first.
3. A second-stage language (Zimbabwean Ndebele) may only be the answer for SECOND_STAGE_WORDS words or more, and only by
   a margin: as an equal class it takes 5-10 % of out-of-domain isiZulu sentences.
4. A language of the model's family (Nguni) is the answer only when it leads all that are not of the family by
   FAMILY_LEAD nats a word, and by what its words cost the family more than is usual (relevance.language.strangeness),
   up to MOST_STRANGENESS: names and loans in thousands of languages look like isiZulu, while true text leads by seven.
   (African languages never seen in training called isiZulu: 0.01 % of sentences, 0.22 % of 1-4 words.)
5. Close siblings whose sums hardly differ are told apart by n-grams across words, words and pairs of words
   (relevance.language.contrast).
6. The language that is wanted (a crawl's target, else the one that the model is made for) is the answer, too, where a
   sibling is likelier but it is likely enough (relevance.language.calibration).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress
from math import exp, inf
from typing import Any

import numpy as np
import numpy.typing as npt

from relevance.errors import ModelError, UnknownLanguageError
from relevance.language import contrast, strangeness
from relevance.language.alphabet import words
from relevance.language.calibration import temperature, threshold
from relevance.language.model import STEP, Model, chosen
from relevance.language.thesis import thesis_model
from relevance.types import UNDETERMINED, Identification

Costs = npt.NDArray[np.floating[Any]]

SAMPLE_LETTERS = 1000
SAMPLE_SLICES = 4
LONG = SAMPLE_LETTERS + SAMPLE_LETTERS // 4
"""Letters beyond which a text is sampled."""
SECOND_STAGE_WORDS = 25
SECOND_STAGE_MARGIN = 0.1
"""Nats a word by which a second-stage language must be ahead of the one it was split from."""
FAMILY_LEAD = 0.2
"""Nats a word, of at most FAMILY_LEAD_WORDS words."""
MOST_STRANGENESS = 8.0
"""Nats a text; with the lead of FAMILY_LEAD_WORDS words it is the most that mixed text has to make up for."""
BATCH = 256
"""Texts worked on at a time: bounds the memory of a call."""
FOREIGN = (4.0, 6.0)
"""Nats by which another language is ahead of all siblings for a word: from the first on it says less of one sibling
against another, from the second on nothing, as an English word in an isiZulu tweet."""
FAMILY_LEAD_WORDS = 8
"""Words after which the lead grows no more: mixed text keeps its chance."""

NO_WORDS = Identification(UNDETERMINED, 0.0, 0.0, 0.0, 0)


def sampled(text: str) -> str:
    """The text, or SAMPLE_SLICES pieces of it where it is long: from the middle of each of its equal parts, as its
    beginning and end are often of another language (letterheads, imprints). Pieces begin and end at white space."""
    if len(text) <= LONG:
        return text
    piece, stride = SAMPLE_LETTERS // SAMPLE_SLICES, len(text) // SAMPLE_SLICES
    parts = []
    for start in range((stride - piece) // 2, SAMPLE_SLICES * stride, stride):
        part = text[start : start + piece]
        parts.append(" ".join(part.split()[1:-1]) or part)
    return " ".join(parts)


def _sample_words(text: str) -> list[str]:
    """The words of a sample of the text; its first ones where the slices happen to have none, as in tables of
    numbers."""
    return words(sampled(text)) or words(text)[: SAMPLE_LETTERS // 5]


class Identifier:
    """A model with its rules: second stage, family, pools that answer "und".

    languages: those that may be answered (default: all). wanted: the language that a text is called by where it is
    likely enough, though a sibling is likelier (default: the one that the model is made for). `repeated`: answers that
    who asks keeps, for texts that are known to come again.
    """

    def __init__(self, model: Model, languages: Collection[str] | None = None, wanted: str | None = None) -> None:
        self.model = model
        self.repeated: dict[str, Identification] = {}
        columns = answerable(model, languages)
        self._columns = None if len(columns) == len(model.labels) else columns
        self._labels = [model.labels[i] for i in columns]
        names = [model.classes[i] for i in columns]
        family = model.meta.get("family", ())
        self._family = np.array([name in family for name in names])
        self._needs_lead = languages is None and bool(self._family.any() and not self._family.all())
        self._outside = strangeness.columns(np.flatnonzero(~self._family).tolist())
        wanted, siblings = wanted or model.meta.get("wanted", ""), model.meta.get("siblings", ())
        self._wanted = names.index(wanted) if wanted in names else 0
        self._rivals = _rivals(names, wanted, siblings)
        self._second_best = min(1, len(names) - 1)
        self._contrasts = list(self._narrow_contrasts(columns))
        stages = model.meta.get("second_stage", {}).items()
        self._second = [(names.index(two), names.index(one)) for two, one in stages if two in names and one in names]

    def __call__(self, texts: Sequence[str]) -> list[Identification]:
        parts = (texts[at : at + BATCH] for at in range(0, len(texts), BATCH))
        return [found for part in parts for found in self.of_words([_sample_words(text) for text in part])]

    def of_words(self, tokens: Sequence[list[str]]) -> list[Identification]:
        """The language of texts whose words (relevance.language.alphabet.words) are known, all of them together."""
        full = [some for some in tokens if some]
        if not full:
            return [NO_WORDS] * len(tokens)
        decided = self._decide(*self._weigh(full), [*map(len, full)])
        if len(full) == len(tokens):
            return decided
        rest = iter(decided)
        return [next(rest) if some else NO_WORDS for some in tokens]

    def probabilities(self, texts: Sequence[str], least: float) -> Iterator[dict[str, float]]:
        """Of each text, the languages that it may be, likeliest first."""
        for at in range(0, len(texts), BATCH):
            tokens = [_sample_words(text) for text in texts[at : at + BATCH]]
            full = [some for some in tokens if some]
            rows = iter(self._probabilities(full) if full else ())
            yield from (_likely(self._labels, next(rows), least) if some else {} for some in tokens)

    def _probabilities(self, tokens: Sequence[list[str]]) -> list[list[float]]:
        """Text x class."""
        costs, _, counts = self._weigh(tokens)
        weights = np.exp((costs.min(axis=1, keepdims=True) - costs) / temperature(counts)[:, np.newaxis])
        shares: list[list[float]] = (weights / weights.sum(axis=1, keepdims=True)).tolist()
        return shares

    def _weigh(self, tokens: Sequence[list[str]]) -> tuple[Costs, list[float], list[int]]:
        """Of texts that have words: the nats that speak against each class, the share of their words that fits the
        family, how many different ones they have."""
        different = [list(dict.fromkeys(some)) for some in tokens]
        evidence = self.model.evidence([*chain.from_iterable(different)])
        if self._columns is not None:
            evidence = self._narrowed(evidence)
        counts = [*map(len, different)]
        bounds = [0, *accumulate(counts)]
        sums = np.add.reduceat(evidence, bounds[:-1], axis=0, dtype=np.int32)
        costs = self._costs(sums, counts)
        self._tell_siblings_apart(costs, tokens, evidence, bounds)
        return costs, (sums[:, len(self._labels)] / counts).tolist(), counts

    def _narrow_contrasts(self, columns: Sequence[int]) -> Iterator[tuple[list[int], contrast.Table]]:
        """The second looks at siblings of which two or more may be answered; places of those, columns of the table."""
        for group, table in self.model.contrasts:
            places = [(columns.index(column), n) for n, column in enumerate(group) if column in columns]
            if len(places) > 1:
                whole = len(places) == len(group)
                yield [at for at, _ in places], table if whole else table[:, [n for _, n in places]]

    def _tell_siblings_apart(
        self, costs: Costs, tokens: Sequence[list[str]], evidence: npt.NDArray[np.uint8], bounds: Sequence[int]
    ) -> None:
        """Texts whose best two are siblings hardly apart are decided without words of other languages, and with a
        table, too; what the best of the siblings has ahead of all other languages stays. bounds: of the texts' words in
        `evidence`."""
        best = costs.argmin(axis=1).tolist()
        for group, table in self._contrasts:
            if rows := _hardly_apart(costs, group, [row for row, place in enumerate(best) if place in group]):
                among = costs.take(rows, axis=0).take(group, axis=1)
                by_word = [evidence[bounds[row] : bounds[row + 1], group] for row in rows]
                meant = self.model.meant([tokens[row] for row in rows])
                seen = among - _foreign_word_costs(by_word) - contrast.scores(table, meant, self.model.alphabet)
                seen += (among.min(axis=1) - seen.min(axis=1))[:, np.newaxis]
                costs[np.array(rows)[:, np.newaxis], group] = seen

    def _narrowed(self, evidence: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """The columns of the languages that may be answered, and whether the family's are among the best of them."""
        columns = evidence[:, self._columns]
        family, others = columns[:, self._family], columns[:, ~self._family]
        fits = family.min(axis=1, initial=255) <= others.min(axis=1, initial=255)
        return np.column_stack([columns, fits])

    def _costs(self, sums: npt.NDArray[np.int32], counts: Sequence[int]) -> Costs:
        """Nats that speak against each class, from `sums`: evidence of a text's words, by class."""
        costs: Costs = sums[:, : len(self._labels)] * STEP
        for second, first in self._second:
            self._apply_second_stage(costs, second, first, counts)
        if self._needs_lead:
            leads = _needed_leads(sums[:, len(self._labels) + 1], np.array(counts))
            costs[:, self._outside] -= leads[:, np.newaxis]
        return costs

    def _decide(
        self, costs: Costs, shares: Sequence[float], counts: Sequence[int], lengths: Sequence[int]
    ) -> list[Identification]:
        """One answer a row of `costs`. shares: of words that fit the family; lengths: words; counts: different ones."""
        leading = costs.copy()
        leading.partition(self._second_best, axis=1)
        low, after = leading[:, 0], leading[:, self._second_best]
        behind = (low[:, np.newaxis] - costs) / temperature(counts)[:, np.newaxis]
        weights = np.add.reduce(np.exp(behind), axis=1)
        margins = np.where(after < inf, (after - low) / lengths, 0.0)
        best = costs.argmin(axis=1).tolist()
        labels = [self._labels[place] for place in best]
        found = [*map(Identification, labels, (1.0 / weights).tolist(), margins.tolist(), shares, lengths)]
        for row, place in enumerate(best):
            if place in self._rivals:
                likely = exp(behind[row, self._wanted]) / float(weights[row])
                if likely >= threshold(counts[row]):
                    label = self._labels[self._wanted]
                    found[row] = Identification(label, likely, 0.0, shares[row], lengths[row])
        return found

    @staticmethod
    def _apply_second_stage(costs: Costs, second: int, first: int, counts: Sequence[int]) -> None:
        """Where the language split from another one does not stand, it is out; if only for its margin, its words count
        for the first."""
        own = costs[:, second].tolist()
        costs[:, second] = inf
        for row, count in enumerate(counts):
            if count >= SECOND_STAGE_WORDS:
                cost, other = own[row], costs.item(row, first)
                if cost + SECOND_STAGE_MARGIN * count > other:
                    costs[row, first] = min(cost, other)
                else:
                    costs[row, second] = cost


def _likely(labels: Sequence[str], shares: Sequence[float], least: float) -> dict[str, float]:
    """Those that have `least` or more, likeliest first; classes with one label together."""
    every: dict[str, float] = {}
    for label, share in zip(labels, shares, strict=True):
        every[label] = every.get(label, 0.0) + share
    return dict(sorted(((k, v) for k, v in every.items() if v >= least), key=lambda one: -one[1]))


def answerable(model: Model, languages: Collection[str] | None) -> list[int]:
    """The classes that may be answered; UnknownLanguageError for a language that has none."""
    known = tuple(dict.fromkeys(label for label in model.labels if label != UNDETERMINED))
    if unknown := sorted({*(languages or ())}.difference(known)):
        raise UnknownLanguageError(unknown[0], known)
    return [i for i, label in enumerate(model.labels) if languages is None or label in languages]


def _rivals(names: Sequence[str], wanted: str, groups: Sequence[Sequence[str]]) -> frozenset[int]:
    """Places of the wanted language's siblings; none where it may not be answered itself."""
    siblings = {name for group in groups if wanted in group for name in group} - {wanted}
    return frozenset(place for place, name in enumerate(names) if wanted in names and name in siblings)


def _needed_leads(steps: npt.NDArray[np.int32], counts: npt.NDArray[np.int_]) -> Costs:
    """Nats by which the family must lead in texts of so many different words; steps: what they cost the family."""
    strange = (steps - strangeness.USUAL_STEPS * counts) * strangeness.UNIT
    leads: Costs = FAMILY_LEAD * np.minimum(counts, FAMILY_LEAD_WORDS)
    leads += np.minimum(np.maximum(strange, 0.0), MOST_STRANGENESS)
    return leads


def _foreign_word_costs(texts: Sequence[npt.NDArray[np.uint8]]) -> Costs:
    """Nats that words of other languages speak against each sibling, text x sibling; they mean something against one
    another only. texts: evidence, word x sibling."""
    words = np.concatenate(texts) * STEP
    ahead = words.min(axis=1, keepdims=True)
    words *= np.minimum(np.maximum(ahead - FOREIGN[0], 0) / (FOREIGN[1] - FOREIGN[0]), 1)
    starts = [0, *accumulate(map(len, texts[:-1]))]
    return np.add.reduceat(words, starts, axis=0)


def _hardly_apart(costs: Costs, siblings: Sequence[int], rows: Sequence[int]) -> list[int]:
    """Those of the rows in which the likeliest two siblings are close."""
    if not rows:
        return []
    least = np.partition(costs.take(rows, axis=0).take(siblings, axis=1), 1, axis=1)
    near = least[:, 1] - least[:, 0] < contrast.CLOSE
    return [*compress(rows, near.tolist())]


def identify(
    texts: Iterable[str], languages: Iterable[str] | None = None, model: str | Model = "southern"
) -> list[Identification]:
    """The language of each text, in order.

    `languages` limits the answer to these (ISO 639-3). `model`: the shipped one, another loaded one, or "afriweb": the
    thesis' method, which knows isiZulu and not isiZulu ("und"), whatever `languages` says.
    """
    listed, asked = all_texts(texts), limits(languages)
    if model == "afriweb":
        return thesis_model().identify(listed)
    return _identifier(chosen(model), asked)(listed)


def all_texts(texts: Iterable[str]) -> list[str]:
    """The texts; TypeError for what are none."""
    if isinstance(texts, str | bytes):
        raise TypeError("texts is one string: its letters would be taken for texts; give a list")
    texts = list(texts)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts[{place}] is no string but of type {type(text).__name__}")
    return texts


def limits(languages: Iterable[str] | None) -> frozenset[str] | None:
    """The languages asked for, given as anything that gives strings; None for all. TypeError for what are none."""
    if isinstance(languages, str | bytes):
        raise TypeError("languages is one string: its letters would be taken for languages; give a list")
    asked = frozenset(() if languages is None else languages)
    if wrong := [type(one).__name__ for one in asked if not isinstance(one, str)]:
        raise TypeError(f"languages has one that is no string but of type {wrong[0]}")
    return asked or None


@lru_cache(maxsize=16)
def _identifier(model: Model, languages: frozenset[str] | None) -> Identifier:
    return Identifier(model, languages)


def codes(texts: Iterable[str], languages: Iterable[str] | None = None, model: str | Model = "southern") -> list[str]:
    """The languages alone."""
    return [found.language for found in identify(texts, languages, model)]


def probabilities(
    texts: Iterable[str],
    languages: Iterable[str] | None = None,
    model: str | Model = "southern",
    least: float = 0.01,
) -> list[dict[str, float]]:
    """The languages that each text may be in, with their probabilities at equal priors, likeliest first: those of
    `least` or more. "und" is all that the model knows as "another"; a text without words may be in none.

    Short texts are often of several languages at once. ModelError for "afriweb", which weighs none against another.
    """
    listed, asked = all_texts(texts), limits(languages)
    if model == "afriweb":
        raise ModelError(model, "knows no probabilities")
    return [*_identifier(chosen(model), asked).probabilities(listed, least)]
