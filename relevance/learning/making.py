"""The whole way from text to a model file: train, drop mislabelled lines, train anew, match siblings, tune, learn the
second look at siblings, prune to size."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from math import ceil
from pathlib import Path

from relevance.errors import TrainingError
from relevance.language import storage
from relevance.language.alphabet import Alphabet
from relevance.language.model import Model, lay_out
from relevance.learning.cleaning import cleaned
from relevance.learning.contrasting import contrasted
from relevance.learning.described import CODE
from relevance.learning.letters import written_together
from relevance.learning.matching import matched
from relevance.learning.training import Corpus, Description, class_words, train
from relevance.learning.tuning import tuned
from relevance.types import UNDETERMINED

_log = logging.getLogger(__name__)

_ENOUGH_WORDS = 20_000
"""docs/relevance.md, A language of your own, has what siblings with less are worth."""


def in_memory(parameters: storage.Parameters) -> Model:
    """A model that was never written."""
    return Model(parameters.meta, lay_out(parameters))


def make(description: Description, corpus: Corpus, again: bool = False) -> storage.Parameters:
    """A model of the corpus without its mislabelled lines; meta["dropped"] counts them by source and language.

    again: it was made before, larger, and what is to be said of its text has been said.
    """
    taken = {language for spec in description.classes for language in spec.languages}
    there = set(corpus).union(*(source.words for source in description.sources))
    if not again and "*" not in taken and (spare := sorted(there - taken)):
        _log.info("left out, as no class has them: %s", " ".join(spare))
    if not again and "*" in taken and (odd := [name for name in sorted(there - taken) if not CODE.fullmatch(name)]):
        _log.warning("taken for other languages, though these are no ISO 639-3 codes: %s", " ".join(odd))
    _log.info("counting the letters and words of %d languages", len(there))
    made = train(description, corpus)
    if not again:
        _tell_of_little_text(made, description)
        _tell_of_no_others(description)
        _tell_of_no_blanks(description, corpus)
        _tell_of_words_of_some(description)
    _log.info("%s n-grams, %s listed words", f"{len(made.rows):,}", f"{len(made.words):,}")
    made, corpus, dropped = without_mislabelled(made, description, corpus)
    siblings = "; ".join(" ".join(group) for group in description.siblings)
    if description.settings.matched and description.wanted:
        _log.info("matching %s and its siblings by text of the same sources", description.wanted)
        made = matched(made, corpus, description)
    if description.siblings:
        _log.info("tuning the letters of siblings: %s", siblings)
        made = tuned(made, class_words(corpus, description), description)
    if description.settings.contrast and description.siblings:
        _log.info("learning the second look at siblings: %s", siblings)
        alphabet = Alphabet.of(made.meta)
        contrasts = tuple(contrasted(corpus, description, group, alphabet) for group in description.siblings)
        made = replace(made, contrasts=contrasts)
    made = storage.levelled(made)
    evidence = in_memory(made).listed_evidence()
    return replace(made, meta={**made.meta, "dropped": dict(dropped.most_common())}, evidence=evidence)


def without_mislabelled(
    made: storage.Parameters, description: Description, corpus: Corpus
) -> tuple[storage.Parameters, Corpus, Counter[str]]:
    """The corpus without lines that a model made of it gives to another language, the model made anew of what is left,
    and how many lines those are by source and language. made: a model of the whole corpus."""
    dropped: Counter[str] = Counter()
    for _ in range(description.settings.clean_rounds):
        corpus, now = cleaned(corpus, description.classes, in_memory(made))
        _log.info("%d lines are of another language than their file", now.total())
        if not now:
            break
        dropped += now
        made = train(description, corpus)
    return made, corpus, dropped


def _tell_of_no_others(description: Description) -> None:
    """Warns where no class is a pool: such a model has to answer one of its languages, whatever it is shown."""
    if all(spec.label != UNDETERMINED for spec in description.classes):
        _log.warning(
            'no class has label = "%s": text in a language that is none of the classes is called by one of them '
            "(docs/relevance.md, A language of your own)",
            UNDETERMINED,
        )


def _tell_of_no_blanks(description: Description, corpus: Corpus) -> None:
    """Warns of each language whose words are written together."""
    counted = class_words(corpus, description)
    for spec in description.classes:
        if spec.label != UNDETERMINED and written_together(counted[spec.name]):
            _log.warning(
                "class %s is written without blanks between its words, which makes one word of what stands between two "
                "blanks (docs/relevance.md, A language of your own)",
                spec.name,
            )


def _tell_of_words_of_some(description: Description) -> None:
    """Warns of siblings of which only some have word frequencies: what all of them say becomes those languages'."""
    listed = set().union(*(source.words for source in description.sources))
    languages = {spec.name: spec.languages for spec in description.classes}
    for group in description.siblings:
        some = [name for name in group if listed.intersection(languages[name])]
        if 0 < len(some) < len(group):
            _log.warning(
                "of the siblings %s only %s has words: give all of them as many, or none; else what is of another is "
                "often called so",
                " ".join(group),
                " ".join(some),
            )


def _tell_of_little_text(made: storage.Parameters, description: Description) -> None:
    """Warns of each class that has hardly any text: of siblings, or of all where none are named (others may be there
    just to be told from)."""
    close = {name for group in description.siblings for name in group}
    for spec in made.meta["classes"]:
        if spec["words"] < _ENOUGH_WORDS and spec["name"] in (close or {spec["name"]}):
            words = f"{spec['words']:,}"
            _log.warning(
                "class %s has %s words of text; below %s it is often mistaken",
                spec["name"],
                words,
                f"{_ENOUGH_WORDS:,}",
            )


def make_to_size(description: Description, corpus: Corpus, out: Path, most: int) -> bytes:
    """What is to be in the model file `out`; n-grams must be seen more often until that is at most `most` bytes."""
    settings, size = description.settings, 0
    for attempt in range(8):
        if attempt:
            least = max(settings.min_count * max(1.2, size / most), ceil(max(settings.min_count, 1)) + 1)
            settings = replace(settings, min_count=least)  # others than before: counts are whole, none is below 1
            seen = f"{settings.min_count:,.1f}"
            _log.info("%s bytes, over %s: anew with n-grams seen %s times", f"{size:,}", f"{most:,}", seen)
        made = make(replace(description, settings=settings), corpus, again=attempt > 0)
        data = storage.packed(made)
        if (size := len(data)) <= most:
            return data
        if not any(map(len, made.keys[2:])):
            raise TrainingError(
                f"{out}: {size:,} bytes, over {most:,} without any n-gram of 3 letters or more: let it be larger, or "
                "list fewer words (frequent_words)"
            )
    raise TrainingError(
        f"{out}: {size:,} bytes, over {most:,} even with n-grams seen {settings.min_count:,.1f} times: "
        f"let it be larger, or list fewer than its {len(made.words):,} words (frequent_words)"
    )
