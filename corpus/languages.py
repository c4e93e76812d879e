"""The language of each paragraph, with its neighbours' help where it is short.

A paragraph of ALONE words or more is judged by itself, as at crawl time (:mod:`relevance.pages.measure`). A shorter one
takes the language of its nearest judged neighbours when both have the same, or when there is only one; else it is
"und". (On so little text every identifier is wrong too often.) Longer ones that are "und" stay so.
"""

from __future__ import annotations

from collections.abc import Sequence

from relevance import codes
from relevance.language.identification import Identifier
from relevance.pages.measure import ALONE
from relevance.steering.languagetags import TAGS
from relevance.types import UNDETERMINED


def paragraph_languages(texts: Sequence[str], identifier: Identifier | None = None) -> list[str]:
    """ISO 639-3 or "und" for each paragraph of one document, in order; by the shipped model without an identifier."""
    judged = [place for place, text in enumerate(texts) if text.count(" ") + 1 >= ALONE]
    found: list[str | None] = [None] * len(texts)
    longer = [texts[place] for place in judged]
    named = codes(longer) if identifier is None else [one.language for one in identifier(longer)]
    for place, language in zip(judged, named, strict=True):
        found[place] = language
    before = _carried(found)
    after = _carried(found[::-1])[::-1]
    return [
        language if language is not None else _agreed(one, other)
        for language, one, other in zip(found, before, after, strict=True)
    ]


def _carried(found: Sequence[str | None]) -> list[str | None]:
    """For each place the last judged language before it."""
    last: str | None = None
    carried: list[str | None] = []
    for language in found:
        carried.append(last)
        last = language if language is not None else last
    return carried


def _agreed(before: str | None, after: str | None) -> str:
    if before is None or after is None:
        return before or after or UNDETERMINED
    return before if before == after else UNDETERMINED


_LANGUAGES = {tag: language for language, tag in TAGS.items()}


def html_tag(language: str) -> str:
    """The tag for a lang attribute: ISO 639-1 where there is one, else the ISO 639-3 code; "" for "und"."""
    return "" if language == UNDETERMINED else TAGS.get(language, language)


def of_html_tag(tag: str) -> str:
    """The language that :func:`html_tag` gave this tag."""
    return _LANGUAGES.get(tag, tag) or UNDETERMINED
