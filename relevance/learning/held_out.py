"""How good a description makes models, by models of its own that lack some of the text and are measured on it.

:func:`leave_one_out` keeps a whole source back: what to expect of text from elsewhere. :func:`by_parts` keeps parts of
all sources back: what more text of the same sources would get, so the most that can be asked for of the first, and all
that a single source allows.
"""

from __future__ import annotations

import logging
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from relevance.errors import TrainingError
from relevance.language.storage import Parameters
from relevance.learning import training
from relevance.learning.adapting import adapted
from relevance.learning.evaluation import (
    KINDS,
    Answered,
    Figures,
    Said,
    answered,
    deciding,
    figures_of,
    strings,
)
from relevance.learning.making import in_memory, make, without_mislabelled

ALL = "all sources"
_log = logging.getLogger(__name__)


def leave_one_out(
    description: training.Description, data: Path, sources: Sequence[str], clean: bool = False, adapt: bool = False
) -> dict[str, dict[str, Figures]]:
    """For each source: a model of all others, measured on it. source -> kind -> figures. TrainingError, before any
    training, where that cannot be.

    clean: not measured on lines that lie in the wrong file: of six words or more, and given to another language by a
    model trained with these very lines (:mod:`relevance.learning.cleaning`). No answer to them could be right.
    adapt: as "SOURCE, adapted" also on each half of the source's lines by the model adapted to the other half, all
    languages together and without their names (:mod:`relevance.learning.adapting`): what a model may know of a crawl's
    own text. Both on the same strings, up to a thousand of each half.
    """
    corpus, told = to_leave_out(description, data, sources)
    said = Said(corpus, description.classes)
    measured = corpus
    if clean and sources:
        _log.info("looking for lines that lie in the wrong file")
        # Also where models are made with such lines in: that says nothing of what may be measured on.
        rounds = max(1, description.settings.clean_rounds)
        looking = replace(description, settings=replace(description.settings, clean_rounds=rounds))
        _, measured, _ = without_mislabelled(training.train(looking, corpus), looking, corpus)
    out: dict[str, dict[str, Figures]] = {}
    for source, languages in told.items():
        _log.info("without %s", source)
        rest = _all_but(source, description)
        try:
            made = make(replace(description, sources=rest), training.read_corpus(data, rest))
        except TrainingError as error:
            raise TrainingError(f"without {source}: {error}") from error
        lines: training.Corpus = {language: {source: measured[language][source]} for language in languages}
        halves = [_without(half, 2, lines) for half in range(2)] if adapt else [({}, lines)]
        out[source] = _measured(source, [(made, held) for _, held in halves], said)
        if adapt:
            learnt = [(_adapted(made, source, rest), held) for rest, held in halves]
            out[f"{source}, adapted"] = _measured(source, learnt, said)
    return out


def to_leave_out(
    description: training.Description, data: Path, sources: Sequence[str]
) -> tuple[training.Corpus, dict[str, list[str]]]:
    """All text, and of each source that is to be left out the languages that it can be measured on; TrainingError for
    one that cannot be. A described source is known by its folder, however that is written (``news/``)."""
    described = {(data / one.name).resolve(): one.name for one in description.sources}
    names = [described.get((data / one).resolve(), one) for one in sources]
    others = (training.Source(one) for one in names if one not in described.values())
    corpus = training.read_corpus(data, (*description.sources, *others))
    return corpus, {source: _languages_left_out(description, data, source, corpus) for source in names}


def _measured(source: str, each: Iterable[tuple[Parameters, training.Corpus]], said: Said) -> dict[str, Figures]:
    """kind -> figures of models, each on strings of some of the source's lines, together."""
    every: dict[str, dict[str, list[Answered]]] = defaultdict(lambda: defaultdict(list))
    for made, held in each:
        decide = deciding(in_memory(made))
        lines = {language: some[source] for language, some in held.items()}
        for kind in KINDS:
            for language, texts in strings(lines, kind).items():
                every[kind][language] += answered(decide, texts)
    return {kind: figures_of(some, said) for kind, some in every.items() if len(some) > 1}


def _adapted(made: Parameters, source: str, lines: training.Corpus) -> Parameters:
    try:
        return adapted(made, [line for some in lines.values() for line in some[source]])
    except TrainingError as error:
        raise TrainingError(f"half of {source}: {error}") from error


def _all_but(source: str, description: training.Description) -> tuple[training.Source, ...]:
    return tuple(one for one in description.sources if one.name != source)


def _languages_left_out(
    description: training.Description, data: Path, source: str, corpus: training.Corpus
) -> list[str]:
    """Those told apart that the source has text of: two or more."""
    if all(one.words for one in _all_but(source, description)):
        raise TrainingError(
            f"{source} is the only source with text: without it there is nothing to train from; "
            "--parts leaves parts of it out"
        )
    names = _told_apart(description)
    there = [name for name in names if any(corpus.get(name, {}).get(source, ()))]
    if len(there) < 2:
        raise TrainingError(f"{data / source}: no text of two of the languages told apart: {' '.join(names)}")
    return there


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
    corpus, names = to_part(description, data)
    publications = [one.name for one in description.sources if not one.words]
    every: dict[str, dict[str, dict[str, list[Answered]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for part in range(parts):
        _log.info("without part %d of %d", part + 1, parts)
        rest, held = _without(part, parts, corpus)
        try:
            made = make(description, rest, again=part > 0)
        except TrainingError as error:
            raise TrainingError(f"without part {part + 1} of {parts}: {error}") from error
        decide = deciding(in_memory(made))
        for source in publications:
            lines = {name: held[name][source] for name in names if source in held[name]}
            for kind in KINDS:
                for language, texts in strings(lines, kind).items():
                    told = answered(decide, texts)
                    for name in (source, ALL) if len(publications) > 1 else (source,):
                        every[name][kind][language] += told
    said = Said(corpus, description.classes)
    return {
        name: {kind: figures_of(told, said) for kind, told in every[name].items() if len(told) > 1}
        for name in (*publications, ALL)
        if name in every
    }


def to_part(description: training.Description, data: Path) -> tuple[training.Corpus, list[str]]:
    """All text, and the languages that parts of it can be measured on; TrainingError for fewer than two."""
    corpus = training.read_corpus(data, description.sources)
    if len(names := [name for name in _told_apart(description) if name in corpus]) < 2:
        raise TrainingError(f"{data}: no text of two of the languages told apart: {' '.join(names)}")
    return corpus, names


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
