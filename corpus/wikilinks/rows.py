"""Mentions as lines: eleven columns with tabs between, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from corpus.outputs import plain_suffix
from corpus.wikilinks.mentions import Mention

COLUMNS = (
    "address",
    "article",
    "anchor",
    "markup",
    "before",
    "after",
    "charset",
    "address_at",
    "anchor_at",
    "place",
    "document",
)


def cells(mention: Mention) -> dict[str, Any]:
    """The eleven columns."""
    source, document = mention.source, mention.document
    return {
        "address": source.href,
        "article": mention.target.address,
        "anchor": mention.anchor,
        "markup": source.markup,
        "before": mention.before,
        "after": mention.after,
        "charset": document.charset,
        "address_at": source.address_at,
        "anchor_at": source.anchor_at,
        "place": document.place,
        "document": document.url,
    }


def tsv(mention: Mention) -> str:
    """White space in values is one space; an offset that is not known is empty."""
    values = (" ".join(str(value).split()) if value != -1 else "" for value in cells(mention).values())
    return "\t".join(values) + "\n"


def jsonl(mention: Mention) -> str:
    """The columns by name, and what there is no column for; an offset that is not known is null."""
    target, document = mention.target, mention.document
    known = {name: None if value == -1 else value for name, value in cells(mention).items()}
    more = {
        "edition": target.edition,
        "title": target.title,
        "fragment": target.fragment,
        "language": mention.paragraph.language,
        "kind": mention.paragraph.kind,
        "id": document.id,
        "date": document.date,
    }
    return json.dumps({**known, **more}, ensure_ascii=False) + "\n"


HEADER = "\t".join(COLUMNS) + "\n"
FORMS: Mapping[str, Callable[[Mention], str]] = {"tsv": tsv, "jsonl": jsonl}


SUFFIXES = frozenset((".tsv", ".txt", ".jsonl", ".json"))
"""Of the names that a form suits."""


def form_of(name: str) -> str:
    """The form that a file name asks for, compression left aside; "tsv" when it asks for none."""
    return "jsonl" if plain_suffix(name) in (".jsonl", ".json") else "tsv"
