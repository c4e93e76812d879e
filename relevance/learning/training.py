"""From plain text to a model: count, smooth, prune to a size, quantise.

A training description is one TOML (:mod:`relevance.learning.described`); text lies in
`<data>/<source>/<language>.txt` or in files `<data>/<source>/<language>/*.txt`, or is replaced by how often words come
(:mod:`relevance.learning.frequencies`). Only parameters leave this module, never a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from relevance.errors import TrainingError, line_of
from relevance.language import storage
from relevance.language.alphabet import BITS, MAX_WORD, unmarked, words
from relevance.learning.frequencies import frequencies
from relevance.learning.kneserney import Floats, Keys, KneserNey, Ngrams, count_ngrams, grouped
from relevance.learning.letters import alphabet_of
from relevance.types import UNDETERMINED


@dataclass(frozen=True, slots=True)
class ClassSpec:
    """One class of the model: `label` is answered, `languages` are its text; called: what links to pages in it are
    called, besides what is known of some languages (relevance.steering.languagetags.NAMES)."""

    name: str
    label: str
    languages: tuple[str, ...]
    called: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One publication: which languages may be taken from it (empty: all). words: language -> how many; then it has no
    text, and each language's words count as in so long a text (:mod:`relevance.learning.frequencies`)."""

    name: str
    licence: str = ""
    languages: tuple[str, ...] = ()
    words: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that shapes a model but its text. matched: the share of equally much text in what tells the wanted
    language from its siblings; contrast: that of the second look at siblings; unmarked: that of a word's count with
    which it counts without its marks as well, as people type it (`še`: `se`); 0: none."""

    order: int = 6
    word_share: float = 0.15
    clip: float = 10.0
    step: float = 0.08
    frequent_words: int = 30000
    min_count: float = 3.0
    max_bytes: int = 4_900_000
    clean_rounds: int = 2
    matched: float = 0.0
    contrast: float = 0.0
    unmarked: float = 0.0


@dataclass(frozen=True, slots=True)
class Description:
    """A training description as read. siblings: classes that are tuned to be told apart, by group; wanted: the class
    among them that a text is called by where it is likely enough (relevance.language.calibration). letters: Latin ones
    besides a to z that the model knows; empty: the most frequent of its languages."""

    name: str
    classes: tuple[ClassSpec, ...]
    sources: tuple[Source, ...]
    family: tuple[str, ...] = ()
    second_stage: Mapping[str, str] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    siblings: tuple[tuple[str, ...], ...] = ()
    wanted: str = ""
    letters: str = ""


def lines_of(path: Path) -> list[str]:
    """The lines of a file of text; TrainingError where it is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TrainingError(f"{path}:{line_of(error)}: not UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TrainingError(f"{path}:{line}: not UTF-8 but UTF-16 or no text: it has a NUL")
    return text.splitlines()


def text_files(folder: Path) -> dict[str, list[Path]]:
    """The files of each language in the folder of a source: `<language>.txt`, and all in `<language>/`."""
    files: dict[str, list[Path]] = {}
    if folder.is_dir():
        there = [*folder.iterdir()]  # not glob, which leaves out what it may not read
        below = [file for language in there if language.is_dir() for file in language.iterdir()]
        for file in sorted(file for file in (*there, *below) if file.name.endswith(".txt")):
            files.setdefault(file.stem if file.parent == folder else file.parent.name, []).append(file)
    return files


WordCounts = Counter[str]
Corpus = dict[str, dict[str, list[str]]]
"""language -> source -> lines."""


def read_corpus(data: Path, sources: Iterable[Source]) -> Corpus:
    """All lines of the sources that have text; TrainingError for one that has none, or has it beside words. Of a source
    that is the folder of others ("."), those are no languages."""
    corpus: Corpus = {}
    sources = [*sources]
    folders = {data / source.name for source in sources}
    for source in sources:
        folder = data / source.name
        files = {one: some for one, some in text_files(folder).items() if folder / one not in folders}
        if source.words:
            if files:
                raise TrainingError(f"{folder}: has text, but the source has words in its place: name it otherwise")
            continue
        wanted = [language for language in files if not source.languages or language in source.languages]
        if not wanted:
            what = f"<language>.txt of {' '.join(source.languages)}" if source.languages else "<language>.txt"
            raise TrainingError(
                f"{folder}: no {what if folder.is_dir() else 'such folder, but the description has it'}"
            )
        for language in wanted:
            lines = [line for file in files[language] for line in lines_of(file)]
            corpus.setdefault(language, {})[source.name] = lines
    return corpus


def word_counts(lines: Iterable[str]) -> WordCounts:
    """How often words come, as far as they are looked at."""
    return Counter(word[:MAX_WORD] for line in lines for word in words(line))


def class_words(corpus: Corpus, description: Description) -> dict[str, WordCounts]:
    """Word frequencies of each class; "*" takes the languages that no class names."""
    listed = [frequencies(source.words) for source in description.sources if source.words]
    there = set(corpus).union(*listed)
    named = {language for spec in description.classes for language in spec.languages}
    out: dict[str, WordCounts] = {}
    for spec in description.classes:
        counts: WordCounts = Counter()
        for language in sorted(there - named) if "*" in spec.languages else spec.languages:
            for lines in corpus.get(language, {}).values():
                counts.update(word_counts(lines))
            for some in listed:
                counts.update(some.get(language, {}))
        if not counts:
            raise TrainingError(f"no text for class {spec.name}")
        counts.update(_without_marks(counts, description.settings.unmarked))
        out[spec.name] = counts
    return out


def _without_marks(counts: WordCounts, share: float) -> WordCounts:
    """How often words with marks are taken to come without them."""
    typed: WordCounts = Counter()
    for word, count in counts.items():
        if not word.isascii() and (plain := unmarked(word)) != word:
            typed[plain] += count
    return Counter({word: count for word, all_ in typed.items() if (count := round(all_ * share))})


def train(description: Description, corpus: Corpus) -> storage.Parameters:
    """The model of this text under these settings."""
    settings = description.settings
    counted = class_words(corpus, description)
    languages = [spec.name for spec in description.classes if spec.label != UNDETERMINED]
    alphabet = alphabet_of(counted, languages, description.letters)
    raw = {name: count_ngrams(counts, settings.order, alphabet) for name, counts in counted.items()}
    kept = select(list(raw.values()), settings.min_count)
    columns = [_column(KneserNey(grams, alphabet), kept, settings.step) for grams in raw.values()]
    listed, word_rows = word_list(list(counted.values()), settings)
    meta = {**_meta(description, counted), "letters": [alphabet.latin, *alphabet.scripts]}
    return storage.Parameters(meta, kept, np.stack(columns, axis=1), listed, word_rows)


def select(counts: list[list[Ngrams]], least: float) -> tuple[Keys, ...]:
    """The n-grams that are kept, by order: all of orders 1 and 2, above those seen often enough."""
    kept: list[Keys] = []
    for size in range(1, len(counts[0]) + 1):
        every = [c[size - 1] for c in counts]
        total = grouped(np.concatenate([e.keys for e in every]), np.concatenate([e.counts for e in every]))
        keys = total.keys if size <= 2 else total.keys[total.counts >= least]
        kept.append(closed(keys, kept, size))
    return tuple(kept)


def closed(keys: Keys, kept: list[Keys], size: int) -> Keys:
    """Those whose beginning and whose end are kept too (a word's start alone counts as kept)."""
    if size == 1:
        return np.arange(1, 64)
    shorter = kept[size - 2]
    mask = (np.int64(1) << (BITS * (size - 1))) - 1
    return keys[np.isin(keys & mask, shorter) & np.isin(keys >> BITS, shorter)]


def _column(model: KneserNey, kept: tuple[Keys, ...], step: float) -> npt.NDArray[np.uint8]:
    logs = np.concatenate([np.log(model.probabilities(keys, size)) for size, keys in enumerate(kept, start=1)])
    return storage.in_steps(-logs / step)


def word_list(counted: list[WordCounts], settings: Settings) -> tuple[tuple[str, ...], storage.Rows]:
    """The most frequent words over all classes (by their largest share in one) and -log p by class."""
    best: dict[str, float] = {}
    for counts in counted:
        total = counts.total()
        for word, count in counts.items():
            if count > 1:
                best[word] = max(best.get(word, 0.0), count / total)
    listed = tuple(sorted(nlargest(settings.frequent_words, best, key=best.__getitem__)))
    rows = np.full((len(listed), len(counted)), storage.ABSENT, dtype=np.uint8)
    for column, counts in enumerate(counted):
        total = counts.total()
        found = np.array([counts.get(word, 0) for word in listed], dtype=float)
        seen = found > 0
        rows[seen, column] = storage.in_steps(-np.log(found[seen] / total) / settings.step)
    return listed, rows


def moved(rows: storage.Rows, description: Description, group: Sequence[str], likelier: Floats) -> storage.Rows:
    """The rows of n-grams with the siblings of a group likelier by so many steps (n-gram x sibling); a second-stage
    class moves with the one it is split from."""
    out, names = rows.copy(), [spec.name for spec in description.classes]
    for place, name in enumerate(group):
        seconds = [second for second, first in description.second_stage.items() if first == name]
        for column in map(names.index, [name, *seconds]):
            out[:, column] = storage.in_steps(rows[:, column] - likelier[:, place])
    return out


def _meta(description: Description, counted: Mapping[str, WordCounts]) -> dict[str, Any]:
    settings = description.settings
    return {
        "name": description.name,
        "order": settings.order,
        "step": settings.step,
        "word_share": settings.word_share,
        "clip": settings.clip,
        "family": list(description.family),
        "second_stage": dict(description.second_stage),
        "siblings": [list(group) for group in description.siblings],
        "wanted": description.wanted,
        "classes": [
            {
                "name": c.name,
                "label": c.label,
                "words": counted[c.name].total(),
                **({"called": c.called} if c.called else {}),
            }
            for c in description.classes
        ],
        "sources": [{"name": s.name, "licence": s.licence} for s in description.sources],
    }
