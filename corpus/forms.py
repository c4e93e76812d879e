"""The forms that documents are written in: ``jsonl``, ``text``, ``vertical``, ``prevertical``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from corpus.document import Document, to_json
from corpus.outputs import plain_suffix
from corpus.vertical.writing import text_of

Form = Callable[[Document], str]


def jsonl(document: Document) -> str:
    """One line of JSON, see :mod:`corpus.document`."""
    return to_json(document) + "\n"


def text(document: Document) -> str:
    """A paragraph a line, an empty line after the document; nothing but text."""
    return document.text + "\n\n"


_VERTICAL: dict[str, Callable[..., str]] = {
    "vertical": text_of,
    "prevertical": partial(text_of, tokenised=False),
}
FORMS: dict[str, Form] = {"jsonl": jsonl, "text": text, **_VERTICAL}
WITH_HEADINGS: dict[str, Form] = {name: partial(form, headings=True) for name, form in _VERTICAL.items()}
"""Of the forms that can mark headings: those that do."""
_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".txt": "text",
    ".text": "text",
    ".vert": "vertical",
    ".prevert": "prevertical",
}


SUFFIXES = frozenset(_BY_SUFFIX)
"""Of the names that ask for a form."""


def form_of(name: str) -> str:
    """The form that a file name asks for, compression left aside; "jsonl" when it asks for none."""
    return _BY_SUFFIX.get(plain_suffix(name), "jsonl")
