"""How good a description makes models, by models of its own that lack some of the text and are measured on it.

:func:`leave_one_out` keeps a whole source back: what to expect of text from elsewhere. :func:`by_parts` keeps parts of
all sources back: what more text of the same sources would get, so the most that can be asked for of the first, and all
that a single source allows.
"""

from __future__ import annotations

import logging
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from relevance.errors import TrainingError
from relevance.learning import training
from relevance.learning.evaluation import (
    KINDS,
    Answered,
    Figures,
    Said,
    Texts,
    answered,
    deciding,
    figures,
    figures_of,
    folder_texts,
    strings,
)
from relevance.learning.making import in_memory, make

ALL = "all sources"
_log = logging.getLogger(__name__)


def leave_one_out(
    description: training.Description, data: Path, sources: Sequence[str]
) -> dict[str, dict[str, Figures]]:
    """For each source: a model of all others, measured on it. source -> kind -> figures. TrainingError, before any
    training, where that cannot be."""
    texts = {source: _texts_left_out(description, data, source) for source in sources}
    said = Said(training.read_corpus(data, description.sources), description.classes)
    out: dict[str, dict[str, Figures]] = {}
    for source, kinds in texts.items():
        _log.info("without %s", source)
        rest = _all_but(source, description)
        decide = deciding(in_memory(make(replace(description, sources=rest), training.read_corpus(data, rest))))
        out[source] = {kind: figures(decide, some, said=said) for kind, some in kinds.items()}
    return out


def _all_but(source: str, description: training.Description) -> tuple[training.Source, ...]:
    return tuple(one for one in description.sources if one.name != source)


def _texts_left_out(description: training.Description, data: Path, source: str) -> dict[str, Texts]:
    """Test strings by kind, of which two languages or more have some."""
    if not _all_but(source, description):
        raise TrainingError(
            f"{source} is the only source: without it there is nothing to train from; --parts leaves parts of it out"
        )
    allowed = next((s.languages for s in description.sources if s.name == source), ()) or _told_apart(description)
    names = [name for name in _told_apart(description) if name in allowed]
    every = {kind: folder_texts(data / source, names, kind) for kind in KINDS}
    told: dict[str, Texts] = {kind: texts for kind, texts in every.items() if len(texts) > 1}
    if not told:
        raise TrainingError(f"{data / source}: no text of two of the languages told apart: {' '.join(names)}")
    return told


def _told_apart(description: training.Description) -> list[str]:
    """The languages that a text is called by itself, but those of a second stage."""
    return [c.name for c in description.classes if c.label == c.name and c.name not in description.second_stage]


def by_parts(description: training.Description, data: Path, parts: int) -> dict[str, dict[str, Figures]]:
    """For each of `parts` parts of the lines: a model of all others, measured on it (on up to a thousand strings of
    each kind, language and source).

    source -> kind -> figures over all parts, where two languages or more have strings; where there are several sources
    also :data:`ALL` together. TrainingError, before any training, where nothing has; and where a part is all the text
    of a class.
    """
    corpus = training.read_corpus(data, description.sources)
    if len(names := [name for name in _told_apart(description) if name in corpus]) < 2:
        raise TrainingError(f"{data}: no text of two of the languages told apart: {' '.join(names)}")
    every: dict[str, dict[str, dict[str, list[Answered]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for part in range(parts):
        _log.info("without part %d of %d", part + 1, parts)
        rest, held = _without(part, parts, corpus)
        try:
            made = make(description, rest)
        except TrainingError as error:
            raise TrainingError(f"without part {part + 1} of {parts}: {error}") from error
        decide = deciding(in_memory(made))
        for source in description.sources:
            lines = {name: held[name][source.name] for name in names if source.name in held[name]}
            for kind in KINDS:
                for language, texts in strings(lines, kind).items():
                    told = answered(decide, texts)
                    for name in (source.name, ALL) if len(description.sources) > 1 else (source.name,):
                        every[name][kind][language] += told
    said = Said(corpus, description.classes)
    return {
        name: {kind: figures_of(told, said=said) for kind, told in every[name].items() if len(told) > 1}
        for name in (*(source.name for source in description.sources), ALL)
        if name in every
    }


def _without(part: int, parts: int, corpus: training.Corpus) -> tuple[training.Corpus, training.Corpus]:
    """The lines of all other parts, and those of this one; where a line comes again it is in the same part."""
    rest: training.Corpus = defaultdict(dict)
    held: training.Corpus = defaultdict(dict)
    for language, sources in corpus.items():
        for source, lines in sources.items():
            mine = [zlib.crc32(line.encode()) % parts == part for line in lines]
            rest[language][source] = [line for line, here in zip(lines, mine, strict=True) if not here]
            held[language][source] = [line for line, here in zip(lines, mine, strict=True) if here]
    return rest, held
