"""Languages as pages declare them."""

from __future__ import annotations

from relevance.page import Page
from relevance.policy import PageContext

_PAIRS_TEXT = (
    "zul zu xho xh nbl nr ssw ss nde nd sot st tsn tn tso ts ven ve afr af eng en sna sn swa sw nya ny kin rw lug lg "
    "lin ln ces cs slk sk ita it fra fr spa es por pt deu de nld nl"
)
_PAIRS = _PAIRS_TEXT.split()
TAGS = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
"""ISO 639-3 -> the tag that HTML uses."""


def is_tag_of(tag: str, language: str) -> bool:
    """Whether an HTML language tag means a language, whatever its region."""
    return tag.lower().replace("_", "-").split("-")[0] in (language, TAGS.get(language, language))


def declared(page: Page, context: PageContext, language: str) -> int:
    """1: the page declares the language (html lang, Content-Language, og:locale), -1: only others, 0: nothing."""
    said = (page.html_lang, page.content_language, context.content_language, page.og_locale)
    tags = [tag.strip() for some in said for tag in some.split(",") if tag.strip()]
    if any(is_tag_of(tag, language) for tag in tags):
        return 1
    return -1 if tags else 0
