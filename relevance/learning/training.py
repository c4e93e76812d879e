"""From plain text to a model: count, smooth, prune to a size, quantise.

A training description is one TOML (models/southern.toml is the shipped one); text lies in
`<data>/<source>/<language>.txt` or in files `<data>/<source>/<language>/*.txt`, or is replaced by how often words come
(:mod:`relevance.learning.frequencies`). Only parameters leave this module, never a sentence.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from relevance.errors import TrainingError
from relevance.language import storage
from relevance.language.alphabet import BITS, LATIN_LETTERS, MAX_WORD, unmarked, words
from relevance.learning.frequencies import frequencies
from relevance.learning.kneserney import Keys, KneserNey, Ngrams, count_ngrams, grouped
from relevance.learning.letters import alphabet_of, is_latin
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


_CODE = re.compile("[a-z]{3}")
_BOUNDS: Mapping[str, tuple[float, float]] = {
    "order": (1, 10), "word_share": (0.001, 0.999), "clip": (0.1, 12.75), "step": (0.001, 1), "min_count": (0, 1e9),
    "frequent_words": (0, 1e7), "max_bytes": (1, 1e12), "clean_rounds": (0, 100), "contrast": (0, 10),
    "matched": (0, 1), "unmarked": (0, 1),
}  # fmt: skip
"""Least and most of each setting: n-grams must fit in keys of 64 bits, evidence in bytes of model.STEP."""


def read_description(path: Path) -> Description:
    """The description in a TOML file; TrainingError for what does not belong there or is missing."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        _only(raw, "name family second_stage siblings wanted letters settings source class", "name source class")
        for table in raw["class"]:
            _only(table, "name label languages called", "name", " in a [[class]]")
        for table in raw["source"]:
            _only(table, "name licence languages words", "name", " in a [[source]]")
        description = Description(
            name=str(raw["name"]),
            classes=tuple(
                ClassSpec(
                    c["name"],
                    c.get("label", c["name"]),
                    _names("languages", c.get("languages", [c["name"]])),
                    _called(c.get("called", [])),
                )
                for c in raw["class"]
            ),
            sources=tuple(
                Source(s["name"], s.get("licence", ""), _names("languages", s.get("languages", [])), _amounts(s))
                for s in raw["source"]
            ),
            family=_names("family", raw.get("family", [])),
            second_stage=dict(raw.get("second_stage", {})),
            siblings=_groups(raw.get("siblings", [])),
            wanted=raw.get("wanted", ""),
            letters=_letters(raw.get("letters", "")),
            settings=_settings(raw.get("settings", {})),
        )
        _check_names(description)
        return description
    except OSError as error:
        raise TrainingError(f"{path}: {error.strerror or error}") from error
    except (ValueError, TypeError, TrainingError) as error:
        raise TrainingError(f"{path}: {error}") from error


def _only(table: Mapping[str, Any], names: str, needed: str, where: str = "") -> None:
    if unknown := set(table).difference(names.split()):
        raise TrainingError(f"unknown: {', '.join(sorted(unknown))}; there are {names}")
    if missing := set(needed.split()).difference(table):
        raise TrainingError(f"no {', '.join(sorted(missing))}{where}")


def _names(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TrainingError(f"{key} = {value!r} is no list of names")
    return tuple(value)


def _called(value: object) -> tuple[str, ...]:
    found = _names("called", value)
    if several := [name for name in found if len(words(name)) != 1]:
        raise TrainingError(f"called: {several[0]!r} is not one word")
    return tuple(words(name)[0] for name in found)


def _amounts(source: Mapping[str, Any]) -> Mapping[str, int]:
    if "words" not in source:
        return {}
    amounts = source["words"]
    if not isinstance(amounts, dict) or not amounts or not all(type(n) is int and n > 0 for n in amounts.values()):
        raise TrainingError(f"words = {amounts!r} is no table of languages and how many, as {{ eng = 100_000 }}")
    if source.get("languages"):
        raise TrainingError(f"source {source['name']}: words says which languages; leave out languages")
    return amounts


def _letters(value: object) -> str:
    if not isinstance(value, str) or len(set(value)) < len(value) or len(value) > LATIN_LETTERS:
        raise TrainingError(f"letters = {value!r} is no text of up to {LATIN_LETTERS} letters, each once")
    if wrong := [c for c in value if c.isascii() or not c.islower() or not is_latin(c)]:
        raise TrainingError(f"letters: {wrong[0]!r} is no small Latin letter besides a to z")
    return value


def _groups(value: object) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(group, list) and len(group) > 1 for group in value):
        raise TrainingError(f'siblings = {value!r} is no list of groups of two or more, as [["ces", "slk"]]')
    return tuple(_names("siblings", group) for group in value)


def _settings(raw: Mapping[str, Any]) -> Settings:
    _only(raw, " ".join(_BOUNDS), "")
    for name, value in raw.items():
        least, most = _BOUNDS[name]
        whole = isinstance(getattr(Settings(), name), int)
        if type(value) not in ((int,) if whole else (int, float)) or not least <= value <= most:
            kind = "whole number" if whole else "number"
            raise TrainingError(f"{name} = {value!r} is no {kind} from {least:g} to {most:g}")
    return Settings(**raw)


def _check_names(description: Description) -> None:
    """Classes that are spoken of exist, and once; what is answered is a language; no text is of two classes."""
    names = Counter(spec.name for spec in description.classes)
    together = {name for group in description.siblings for name in group}
    stages = description.second_stage
    if unknown := {*together, *description.family, *stages, *stages.values()}.difference(names):
        raise TrainingError(f"no class {', '.join(sorted(unknown))}")
    if twice := [name for name, count in names.items() if count > 1]:
        raise TrainingError(f"class {', '.join(twice)} twice")
    if both := set(stages).intersection(stages.values()):
        raise TrainingError(f"second_stage: {', '.join(sorted(both))} is split from another class and has one itself")
    if wrong := [spec.label for spec in description.classes if not _CODE.fullmatch(str(spec.label))]:
        raise TrainingError(f"{wrong[0]} is no ISO 639-3 code of three small letters")
    texts = Counter(language for spec in description.classes for language in spec.languages)
    if twice := [language for language, count in texts.items() if count > 1]:
        raise TrainingError(f"languages: {', '.join(twice)} in more than one class")
    sources = Counter(source.name for source in description.sources)
    if twice := [source.name for source in description.sources if source.words and sources[source.name] > 1]:
        raise TrainingError(f"source {twice[0]} twice, one of them with words: name them apart")
    if description.wanted and description.wanted not in together:
        raise TrainingError(
            f"wanted {description.wanted} is in no group of siblings: name it with its siblings, or leave wanted out"
        )


def lines_of(path: Path) -> list[str]:
    """The lines of a file of text; TrainingError where it is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise TrainingError(f"{path}:{line}: not UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TrainingError(f"{path}:{line}: not UTF-8 but UTF-16 or no text: it has a NUL")
    return text.splitlines()


def text_files(folder: Path) -> dict[str, list[Path]]:
    """The files of each language in the folder of a source: `<language>.txt`, and all in `<language>/`."""
    files: dict[str, list[Path]] = {}
    for file in sorted((*folder.glob("*.txt"), *folder.glob("*/*.txt"))):
        files.setdefault(file.stem if file.parent == folder else file.parent.name, []).append(file)
    return files


WordCounts = Counter[str]
Corpus = dict[str, dict[str, list[str]]]
"""language -> source -> lines."""


def read_corpus(data: Path, sources: Iterable[Source]) -> Corpus:
    """All lines of the sources that have text; TrainingError for one that has none, or has it beside words."""
    corpus: Corpus = {}
    for source in sources:
        folder = data / source.name
        files = text_files(folder)
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
    return np.rint(np.minimum(-logs / step, 254)).astype(np.uint8)


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
        rows[seen, column] = np.rint(np.minimum(-np.log(found[seen] / total) / settings.step, 254))
    return listed, rows


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
