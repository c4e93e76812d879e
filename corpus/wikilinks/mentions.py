"""A document with links -> mentions: what a link to Wikipedia says, and the words around it.

Words are what white space parts; a link within a word (``e<a>Goli</a>ni``) has its letters before and after as words.
Words of the context come from the whole document, over the borders of its paragraphs, in the order of its text; only
blocks of navigation, which stand for themselves, neither give to others nor take from them. Of a word longer than
:data:`LONGEST_WORD` letters a context may have a part only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from corpus.document import Document, Link, Paragraph, Source
from corpus.wikilinks.address import Target, target_of

WORDS = 10
LONGEST_WORD = 100
_APART = "nav"


@dataclass(frozen=True, slots=True)
class Mention:
    """A link in its context. ``before`` and ``after``: words parted by single spaces."""

    target: Target
    link: Link
    anchor: str
    before: str
    after: str
    paragraph: Paragraph
    document: Document

    @property
    def source(self) -> Source:
        return self.link.source or Source(self.link.url, self.anchor)


def target_of_link(link: Link) -> Target | None:
    """What a link leads to; of one that was resolved against its page although it has a host, what it means."""
    return target_of(link.url) or (target_of(link.source.href) if link.source is not None else None)


Wanted = Callable[[Target, str], Target | None]
"""From a target and the anchor's text: the target as it is to be called, None when it is not wanted."""


def mentions(document: Document, wanted: Wanted, words: int = WORDS) -> Iterator[Mention]:
    """The wanted links of a document, in order, each with at most ``words`` words before and after it."""
    running = [paragraph.text for paragraph in document.paragraphs if _runs(paragraph)]
    count = 0
    for paragraph in document.paragraphs:
        around = (count - 1, count + 1) if _runs(paragraph) else (-1, len(running))
        count += _runs(paragraph)
        for link in paragraph.links:
            anchor = paragraph.text[link.start : link.end]
            found = target_of_link(link)
            target = wanted(found, anchor) if found is not None else None
            if target is not None:
                earlier = (running[place] for place in range(around[0], -1, -1))
                later = (running[place] for place in range(around[1], len(running)))
                before = _before(paragraph.text, link.start, earlier, words)
                after = _after(paragraph.text, link.end, later, words)
                yield Mention(target, link, anchor, before, after, paragraph, document)


def _runs(paragraph: Paragraph) -> bool:
    return paragraph.kind != _APART and bool(paragraph.text)


def _before(text: str, end: int, earlier: Iterator[str], words: int) -> str:
    found = _last(text[max(0, end - words * (LONGEST_WORD + 1)) : end], words)
    while len(found) < words and (one := next(earlier, None)) is not None:
        found = _last(one[-words * (LONGEST_WORD + 1) :], words - len(found)) + found
    return " ".join(found)


def _after(text: str, start: int, later: Iterator[str], words: int) -> str:
    found = text[start : start + words * (LONGEST_WORD + 1)].split(None, words)[:words]
    while len(found) < words and (one := next(later, None)) is not None:
        missing = words - len(found)
        found += one[: words * (LONGEST_WORD + 1)].split(None, missing)[:missing]
    return " ".join(found)


def _last(text: str, words: int) -> list[str]:
    return text.rsplit(None, words)[-words:]  # of none: no text
