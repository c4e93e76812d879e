"""The whole way from text to a model file: train, drop mislabelled lines, train anew, tune, learn the second look at
siblings, prune to size."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from relevance import storage
from relevance.cleaning import cleaned
from relevance.contrasting import contrasted
from relevance.errors import TrainingError
from relevance.model import Model, lay_out
from relevance.training import Corpus, Description, class_words, train
from relevance.tuning import tuned


def in_memory(parameters: storage.Parameters) -> Model:
    """A model that was never written."""
    return Model(parameters.meta, lay_out(parameters))


def make(description: Description, corpus: Corpus) -> storage.Parameters:
    """A model of the corpus without its mislabelled lines; meta["dropped"] counts them by source and language."""
    dropped: Counter[str] = Counter()
    made = train(description, corpus)
    for _ in range(description.settings.clean_rounds):
        corpus, now = cleaned(corpus, description.classes, in_memory(made))
        if not now:
            break
        dropped += now
        made = train(description, corpus)
    if description.siblings:
        made = tuned(made, class_words(corpus, description.classes), description)
    if description.settings.contrast:
        contrasts = tuple(contrasted(corpus, description, group) for group in description.siblings)
        made = replace(made, contrasts=contrasts)
    evidence = in_memory(made).listed_evidence()
    return replace(made, meta={**made.meta, "dropped": dict(dropped.most_common())}, evidence=evidence)


def make_to_size(description: Description, corpus: Corpus, out: Path, most: int) -> int:
    """Makes and writes; n-grams must be seen more often until the file has at most `most` bytes. Gives its size."""
    settings = description.settings
    for _ in range(8):
        size = storage.write(out, make(replace(description, settings=settings), corpus))
        if size <= most:
            return size
        settings = replace(settings, min_count=settings.min_count * max(1.2, size / most))
    raise TrainingError(f"{out}: {size:,} bytes, over {most:,} even with n-grams seen {settings.min_count:.0f} times")
