"""The forms that documents are written in: ``jsonl``, ``text``, ``vertical``."""

from __future__ import annotations

from collections.abc import Callable

from corpus import vertical
from corpus.document import Document, to_json
from corpus.outputs import COMPRESSED

Form = Callable[[Document], str]


def jsonl(document: Document) -> str:
    """One line of JSON, see :mod:`corpus.document`."""
    return to_json(document) + "\n"


def text(document: Document) -> str:
    """A paragraph a line, an empty line after the document; nothing but text."""
    return document.text + "\n\n"


FORMS: dict[str, Form] = {"jsonl": jsonl, "text": text, "vertical": vertical.text_of}
_BY_SUFFIX = {".jsonl": "jsonl", ".json": "jsonl", ".txt": "text", ".text": "text", ".vert": "vertical"}


def form_of(name: str) -> str:
    """The form that a file name asks for, compression left aside; "jsonl" when it asks for none."""
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return next((form for suffix, form in _BY_SUFFIX.items() if name.endswith(suffix)), "jsonl")
