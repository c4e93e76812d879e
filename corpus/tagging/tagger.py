"""Parts of speech and lemmas for vertical text, by models of UDPipe 1 (Straka and Straková, 2017).

Guarantees: a document keeps its rows, each at its place; structures stay as they are, and of a token's row its form and
its link. Between these stand the columns asked for, in every row equally many. Sentences are those of the text, with
its own tokens: the model divides nothing anew. One of more than :data:`MAX_SENTENCE` tokens is given to it in pieces,
since its memory and the time until a run can be stopped grow with a sentence; tokens beside a cut lack what was before.

Which model: that of the language of the paragraph (``<p lang="zu">``). A title has none of its own, it goes with the
language of most tokens of the document. Where there is no model, the columns are empty, unless the row has as many
already: so a file can be tagged language by language.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from corpus.errors import CorpusError, UsageFault
from corpus.languages import html_tag
from corpus.vertical.rows import PARAGRAPHS, columns_of, image_of, tag_of
from corpus.vertical.writing import escape_token, unescape_token

MAX_SENTENCE = 1000
"""Tokens. (The tagger takes 4 KB and 60 microseconds each, of a model trained from 13,000 tokens.)"""
COLUMNS = {"lemma": "lemma", "tag": "upostag", "xpos": "xpostag", "feats": "feats"}
"""Columns and what UDPipe calls them: lemma, universal part of speech, the treebank's own tag, features."""
DEFAULT_COLUMNS = "lemma,tag"
NO_LANGUAGE = ""
_MODEL_START = b"\x12morphodita_parsito"
_FORMS = ("word", "form")
_NOTHING = "_"
_SIGNS = ("<", "&", "\t")
"""Of rows that are not just a form as it is."""
_NO_TEXT = re.compile("[\ud800-\udfff]")


def columns_named(text: str) -> list[str]:
    """The columns after the word, which may be named as the first. UsageFault when there are none such."""
    names = text.split(",")
    if names[0] in _FORMS:
        del names[0]
    if not names or len(set(names)) < len(names) or not set(names) <= COLUMNS.keys():
        raise UsageFault(f"--columns {text}: some of {', '.join(COLUMNS)}, each once, with commas between")
    return names


def udpipe() -> ModuleType:
    """The library. UsageFault when it is not installed."""
    try:
        return importlib.import_module("ufal.udpipe")
    except ImportError:
        raise UsageFault("tagging needs the package ufal.udpipe: pip install ufal.udpipe") from None


class Tagger:
    """A model, loaded. UsageFault or OSError when the file is none. Not for several threads at once."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._udpipe = udpipe()
        with path.open("rb") as file:  # the library does not say why it cannot read one, and at some it aborts
            begins = file.read(len(_MODEL_START)) == _MODEL_START
        self._path = path
        self._model: Any = self._udpipe.Model.load(str(path)) if begins else None
        if self._model is None:
            raise UsageFault(f"{path}: is no model of UDPipe 1")
        self._names = ["lemma"]
        try:
            [[lemma]] = self._tag(["a"])
        except CorpusError:
            raise UsageFault(f"{path}: this model has no tagger") from None
        self.has_lemmas = bool(lemma)
        self._names = [COLUMNS[column] for column in columns]

    def __call__(self, forms: Sequence[str]) -> list[list[str]]:
        """The columns of a sentence, each with a value for every token."""
        if len(forms) <= MAX_SENTENCE:
            return self._tag(forms)
        pieces = (forms[start : start + MAX_SENTENCE] for start in range(0, len(forms), MAX_SENTENCE))
        return [[*chain.from_iterable(column)] for column in zip(*map(self._tag, pieces), strict=True)]

    def _tag(self, forms: Sequence[str]) -> list[list[str]]:
        sentence = self._udpipe.Sentence()
        for form in forms:
            sentence.addWord(form)
        fault = self._udpipe.ProcessingError()
        if not self._model.tag(sentence, self._model.DEFAULT, fault):
            raise CorpusError(f"{self._path}: cannot tag: {fault.message}")
        words = list(sentence.words)[1:]  # they live no longer than the sentence
        return [_values([*map(attrgetter(name), words)], forms) for name in self._names]


class DocumentTagger:
    """Tags documents by a model a language (:func:`language_key`); that of "" is for text that says no language."""

    def __init__(self, models: Mapping[str, Path], columns: Sequence[str]) -> None:
        self.models, self.columns = dict(models), tuple(columns)
        self.taggers = {language: Tagger(path, columns) for language, path in models.items()}

    def __call__(self, rows: Sequence[str]) -> tuple[list[str], Counter[str]]:
        """The rows with their columns, and the number of tokens by language."""
        tagged = list(rows)
        counts: Counter[str] = Counter()
        for language, places in _sentences(rows):
            counts[language] += len(places)
            tagger = self.taggers.get(language)
            if tagger is None:
                for place in places:
                    tagged[place] = self._untagged(rows[place])
                continue
            own = [rows[place] for place in places]
            together = "".join(own)
            plain = not any(map(together.count, _SIGNS)) and (together.isascii() or not _NO_TEXT.search(together))
            values = zip(*tagger(own if plain else [*map(_form, own)]), strict=True)
            for place, row, columns in zip(places, own, values, strict=True):
                tagged[place] = "\t".join((row, *columns)) if plain else _with_columns(row, columns)
        return tagged, counts

    def _untagged(self, row: str) -> str:
        if len(columns_of(row).others) == len(self.columns):
            return row
        return _with_columns(row, ("",) * len(self.columns))


def language_key(language: str) -> str:
    """One name for a language, however it is written: ``zul``, ``ZU``, ``zu-ZA`` are "zu"."""
    return html_tag(language.lower().partition("-")[0])


def _values(column: list[str], forms: Sequence[str]) -> list[str]:
    """A column as it is written; "_" is how UDPipe says that there is nothing."""
    told = ["" if value == _NOTHING != form else value for value, form in zip(column, forms, strict=True)]
    together = "".join(told)
    return [*map(escape_token, told)] if "<" in together or "&" in together else told


def _sentences(rows: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The language of each sentence and the places of its tokens among the rows."""
    found: list[tuple[str | None, list[int]]] = []
    language: str | None = NO_LANGUAGE  # None: a title
    places: list[int] = []
    for place, row in enumerate(rows):
        tag = tag_of(row) if row.startswith("<") else None
        if tag is None:
            if not row.startswith("<img") or image_of(row.partition("\t")[0]) is None:
                places.append(place)
        elif tag.name == "s" or tag.name in PARAGRAPHS:
            if places:
                found.append((language, places))
                places = []
            if tag.name != "s":
                language = None if tag.name == "head" else language_key(tag.attributes.get("lang", NO_LANGUAGE))
    sizes: Counter[str] = Counter()
    for name, tokens in found:
        if name:
            sizes[name] += len(tokens)
    main = sizes.most_common(1)[0][0] if sizes else NO_LANGUAGE
    return [(main if name is None else name, tokens) for name, tokens in found]


def _form(row: str) -> str:
    """A token as the library takes it: bytes that are no UTF-8 as U+FFFD."""
    form = unescape_token(row.partition("\t")[0])
    return form if form.isascii() else _NO_TEXT.sub("\ufffd", form)


def _with_columns(row: str, values: Sequence[str]) -> str:
    if not row.startswith("<") and "\t" not in row:  # nearly all rows
        return "\t".join((row, *values))
    columns = columns_of(row)
    made = "\t".join((columns.form, *values, *columns.links))
    if tag_of(made) is None:
        return made
    return "\t".join((columns.form, *("" for _ in values), *columns.links))  # "<b" and a lemma "x>" look like one
