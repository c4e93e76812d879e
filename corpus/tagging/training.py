"""Taggers made from text that people have tagged: models of UDPipe 1, which ``corpus tag`` takes.

Read are CoNLL-U (of a word: form, lemma, universal part of speech, the treebank's own tag, features; the words of a
contraction count, itself does not, empty nodes neither) and lines of a word and its tag with a space or tab between
(MasakhaPOS), sentences parted by empty lines. Which of the two a file is, its first line that is no comment says. A
line that is neither is a FormatError: a model made of less than was meant would be worse without a word.

A column that the text does not have, the model does not give.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from corpus.errors import CorpusError, FormatError
from corpus.tagging.tagger import COLUMNS, Tagger, udpipe
from corpus.vertical.writing import unescape_token

_CONLLU_COLUMNS = 10
_ID = re.compile(r"\d+(-\d+|\.\d+)?\Z")
_SPACE = re.compile(r"[ \t]+")
_OPTIONAL = {"lemma": "lemma", "xpos": "xpostag", "feats": "feats"}
"""Columns that a model may go without, and the names of the options that say so."""


class Word(NamedTuple):
    """Fields are the form and the columns of :data:`corpus.tagging.tagger.COLUMNS`; "": the text does not say."""

    form: str
    tag: str
    lemma: str = ""
    xpos: str = ""
    feats: str = ""


Sentence = list[Word]


def tagged_sentences(rows: Sequence[str], path: str) -> Iterator[Sentence]:
    """The sentences of a file's lines (without line ends); none is empty. FormatError where a line is no word."""
    first = next((row for row in rows if row.strip() and not row.startswith("#")), "")
    word_of = _conllu_word if first.count("\t") == _CONLLU_COLUMNS - 1 else _pair
    sentence: Sentence = []
    for number, row in enumerate(rows, 1):
        if row.strip():
            try:
                word = word_of(row)
            except ValueError as error:
                raise FormatError(path, number, str(error)) from None
            if word is not None:
                sentence.append(word)
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _pair(row: str) -> Word:
    fields = _SPACE.split(row.strip(" \t"))
    if len(fields) != 2:
        raise ValueError(f"a word and its tag (or ten columns, of CoNLL-U) are needed, here are {len(fields)}")
    return Word(*fields)


def _conllu_word(row: str) -> Word | None:
    """None for a comment, a contraction or an empty node."""
    if row.startswith("#"):
        return None
    fields = row.split("\t")
    if len(fields) != _CONLLU_COLUMNS:
        raise ValueError(f"the ten columns of CoNLL-U are needed, here are {len(fields)}")
    number = _ID.match(fields[0])
    if number is None:
        raise ValueError(f"{fields[0]!r} is no number of a word")
    if number[1]:
        return None
    form = fields[1]
    lemma, tag, xpos, feats = ("" if field == "_" else field for field in fields[2:6])
    if not form or not tag:
        raise ValueError("a word without its form or part of speech (columns 2 and 4)")
    return Word(form, tag, "_" if form == fields[2] == "_" else lemma, xpos, feats)


def train(sentences: Sequence[Sentence]) -> bytes:
    """The model, ready to be a file. Takes about a minute for 12,000 words, and tells of its progress on standard
    error by itself."""
    library = udpipe()
    text = library.Sentences()
    for sentence in sentences:
        made = library.Sentence()
        for word in sentence:
            added = made.addWord(word.form)
            for column, name in COLUMNS.items():
                setattr(added, name, getattr(word, column))
        text.push_back(made)
    options = [
        f"use_{name}=0;provide_{name}=0"
        for column, name in _OPTIONAL.items()
        if not any(getattr(word, column) for sentence in sentences for word in sentence)
    ]
    fault, trainer = library.ProcessingError(), library.Trainer
    nothing: Any = library.Sentences()
    model = trainer.train("morphodita_parsito", text, nothing, trainer.NONE, ";".join(options), trainer.NONE, fault)
    if fault.occurred():
        raise CorpusError(f"no tagger could be trained: {fault.message}")
    return bytes(model)


def accuracy(model: bytes, sentences: Sequence[Sentence]) -> Iterator[tuple[str, float, int]]:
    """For each column that the text has: its name, the share of words where the model says the same, and their
    number."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(model)
        file.flush()
        tagger = Tagger(Path(file.name), list(COLUMNS))
    right: Counter[str] = Counter()
    known: Counter[str] = Counter()
    for sentence in sentences:
        columns = tagger([word.form for word in sentence])
        for word, *values in zip(sentence, *columns, strict=True):
            for column, value in zip(COLUMNS, values, strict=True):
                true = getattr(word, column)
                known[column] += bool(true)
                right[column] += bool(true) and unescape_token(value) == true
    for column in COLUMNS:
        if known[column]:
            yield column, right[column] / known[column], known[column]
