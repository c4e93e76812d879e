"""A language model of two languages, trained in a moment, for tests of those who use one that is not the shipped."""

from __future__ import annotations

from pathlib import Path

from relevance.language import storage
from relevance.learning import training
from relevance.learning.making import make

CZECH = "Vláda dnes schválila nový zákon o ochraně přírody a krajiny v celé zemi a odborníci ho přivítali jako dobrý"
ENGLISH = "The government has approved a new law on nature in the whole country and experts said that it is a good one"


def write_small_model(path: Path) -> Path:
    """A model that knows Czech and English only."""
    texts = {"ces": CZECH, "eng": ENGLISH}
    specs = tuple(training.ClassSpec(name, name, (name,)) for name in texts)
    description = training.Description(
        "small", specs, (training.Source("x"),), settings=training.Settings(order=4, min_count=1)
    )
    storage.replace_file(
        path, storage.packed(make(description, {name: {"x": [text] * 20} for name, text in texts.items()}))
    )
    return path
