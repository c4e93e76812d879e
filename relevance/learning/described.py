"""A training description as it is written: one TOML (models/southern.toml is the shipped one).

Guarantees: what is misspelt, of another type, out of bounds or speaks of classes that there are not is refused by name.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relevance.errors import TrainingError, line_of
from relevance.language.alphabet import LATIN_LETTERS, words
from relevance.language.storage import MOST
from relevance.learning.letters import is_latin
from relevance.learning.training import ClassSpec, Description, Settings, Source

CODE = re.compile("[a-z]{3}")
"""How ISO 639-3 writes a language."""
_BOUNDS: Mapping[str, tuple[float, float]] = {
    "order": (1, 10), "word_share": (0.001, MOST["word_share"]), "clip": (0.1, MOST["clip"]),
    "step": (0.001, MOST["step"]), "min_count": (0, 1e9),
    "frequent_words": (0, 1e7), "max_bytes": (1, 1e12), "clean_rounds": (0, 100), "contrast": (0, 10),
    "matched": (0, 1), "unmarked": (0, 1),
}  # fmt: skip
"""Least and most of each setting: n-grams must fit in keys of 64 bits, evidence in bytes of model.STEP."""
_MOST_WORDS = 10**9
"""Of a source with `words`: in so many wordfreq's rarest word of English comes ten times."""


def read_description(path: Path) -> Description:
    """The description in a TOML file; TrainingError for what does not belong there or is missing."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        _only(raw, "name family second_stage siblings wanted letters settings source class", "name source class")
        classes = _tables(raw, "class", "name label languages called")
        sources = _tables(raw, "source", "name licence languages words")
        description = Description(
            name=_name("name", raw["name"]),
            classes=tuple(
                ClassSpec(
                    c["name"],
                    c.get("label", c["name"]),
                    _names("languages", c.get("languages", [c["name"]])),
                    _called(c.get("called", [])),
                )
                for c in classes
            ),
            sources=tuple(
                Source(
                    s["name"],
                    _name("licence", s["licence"]) if s.get("licence") else "",
                    _names("languages", s.get("languages", [])),
                    _amounts(s),
                )
                for s in sources
            ),
            family=_names("family", raw.get("family", [])),
            second_stage=_stages(raw.get("second_stage", {})),
            siblings=_groups(raw.get("siblings", [])),
            wanted=_name("wanted", raw["wanted"]) if raw.get("wanted") else "",
            letters=_letters(raw.get("letters", "")),
            settings=_settings(raw.get("settings", {})),
        )
        _check_names(description)
        return description
    except OSError as error:
        raise TrainingError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise TrainingError(f"{path}:{line_of(error)}: not UTF-8") from error
    except (ValueError, TypeError, TrainingError) as error:
        raise TrainingError(f"{path}: {error}") from error


def _only(table: Mapping[str, Any], names: str, needed: str, where: str = "") -> None:
    if unknown := set(table).difference(names.split()):
        raise TrainingError(f"unknown: {', '.join(sorted(unknown))}; there are {names}")
    if missing := set(needed.split()).difference(table):
        raise TrainingError(f"no {', '.join(sorted(missing))}{where}")


def _tables(raw: Mapping[str, Any], key: str, names: str) -> list[Mapping[str, Any]]:
    tables = raw[key]
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise TrainingError(f"{key} = {tables!r} is no list of tables, each of which begins with [[{key}]]")
    for table in tables:
        _only(table, names, "name", f" in a [[{key}]]")
        _name(f"name of a [[{key}]]", table["name"])
    return tables


def _name(key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TrainingError(f"{key} = {value!r} is no name")
    return value


def _stages(value: object) -> Mapping[str, str]:
    if not isinstance(value, dict) or not all(isinstance(first, str) for first in value.values()):
        raise TrainingError(f'second_stage = {value!r} is no table of classes, as {{ nde = "zul" }}')
    return value


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
    if many := [language for language, n in amounts.items() if n > _MOST_WORDS]:
        raise TrainingError(f"source {source['name']}: words of {many[0]} are more than {_MOST_WORDS:,}")
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


def _settings(raw: object) -> Settings:
    if not isinstance(raw, dict):
        raise TrainingError(f"settings = {raw!r} is no table, which begins with [settings]")
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
    together = Counter(name for group in description.siblings for name in group)
    stages = description.second_stage
    if unknown := {*together, *description.family, *stages, *stages.values()}.difference(names):
        raise TrainingError(f"no class {', '.join(sorted(unknown))}")
    if twice := [name for name, count in names.items() if count > 1]:
        raise TrainingError(f"class {', '.join(twice)} twice")
    if twice := [name for name, count in together.items() if count > 1]:
        raise TrainingError(f"siblings: {', '.join(twice)} twice")
    if both := set(stages).intersection(stages.values()):
        raise TrainingError(f"second_stage: {', '.join(sorted(both))} is split from another class and has one itself")
    if wrong := [spec.label for spec in description.classes if not CODE.fullmatch(str(spec.label))]:
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
