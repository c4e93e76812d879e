"""What the elements around the blocks of a page say of them: which are teasers or notices, and which part is the page's
text.

A block in a link that goes around whole blocks is a teaser. A notice is what lies over the page or asks for something,
by the name of an element: of cookies, of a newsletter; a hidden item of microdata, which is for machines, is none of
the text either. An aside is a caption, or what a name says is beside the text: related articles, a box of a sidebar.
The part that a page's text stands in is the deepest element that holds most of its other full paragraphs: of an article
its body, outside of which are teasers, comments and notices; of a page of many equal parts (a forum, a list of posts)
what holds them all. Comments have no rule of their own: where there are many, they are what the page has to say.

Guarantee: linear in the page, however its elements nest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import compress

from selectolax.lexbor import LexborNode

SHARE = 0.65
"""Of the letters of all full paragraphs, that must lie in the part. (Precision and recall of main text over 4-word
shingles of 91 article pages: 0.5: 0.938 and 0.979, 0.65: 0.938 and 0.980, 0.8: 0.932 and 0.980, no part: 0.907 and
0.980; of 45 pages that Readability is tested with 0.934 and 0.855, 0.923 and 0.905, 0.918 and 0.905, 0.901 and 0.908.)
"""
LONGEST_LINK = 1000
"""Letters of a link around blocks; a longer one was not closed."""
_CLASS = r"(?:\A|\s)(?!tag-|category-|topic-)"  # what a page is about says nothing of its parts
_NOTICE = re.compile(
    _CLASS + r"\S*?(?:cookie|consent|gdpr|modal(?!it)|pop-?up|lightbox|newsletter|subscribe(?![rd]))", re.I
)
_ASIDE = re.compile(
    # WordPress calls a box of a sidebar a widget; Blogger calls all of the text so, page builders each part (x-widget).
    _CLASS + r"(?:(?P<box>widget)(?!\S|\sBlog)|(?P<related>related)(?![a-z])|"
    r"(?:\S*?[_-])??(?P<caption>caption)s?(?![a-z]))",
    re.I,
)
_TELLING_TEXT = "cookie consent gdpr modal popup pop-up lightbox newsletter subscribe widget related caption"
_TELLING = tuple(_TELLING_TEXT.split())
"""One of these is in whatever they find."""
_HIDDEN = re.compile(r"(?:\A|[\s;])display\s*+:\s*+none", re.I)
_NAME = 200
"""Letters of an id or class that are looked at."""
_MOST, _MOST_TOGETHER = 0.5, 0.75
"""Of a page's letters, that a notice has, and all of them: an element with more is a frame around the page, and where
nearly all is in such elements their names mean something else. Of the letters of full paragraphs, that a kind of aside
has: with more the page is made of it, as a photo story is of captions, or the name means something else.
(Precision of main text of 91 article pages: 0.938, without names of notices 0.927, of asides 0.921, without what is
for machines 0.923; recall is the same. With comments and sidebars as asides, too, or with all that is hidden left out,
it is as good as the same, and sentences of readers, answers and tabs are lost.)"""
_ARTICLES = frozenset(("article", "main"))
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LISTS = frozenset(("ol", "ul", "dl", "table", "tbody", "tr", "blockquote"))
_NONE = 0


@lru_cache(maxsize=1 << 12)
def _names(name: str) -> tuple[bool, str | None]:
    """Is it the name of a notice? Of which kind of aside?"""
    if name.isascii():  # most names, and a tenth of the time
        low = name.lower()
        if not any(map(low.__contains__, _TELLING)):
            return False, None
    aside = _ASIDE.search(name)
    return _NOTICE.search(name) is not None, aside and aside.lastgroup


def _is_for_machines(attributes: dict[str, str | None]) -> bool:
    """An item of microdata that is hidden and no part of another. Else what is hidden may be text that a reader opens:
    answers, which are parts of items, tabs, the rest of an article."""
    if "itemscope" not in attributes or "itemprop" in attributes:
        return False
    return "hidden" in attributes or _HIDDEN.search(attributes.get("style") or "") is not None


class Outline:
    """The elements that blocks lie in, each looked at once. `elements`: of each block the innermost (None: none), in
    document order; `letters`: of each block; the lists given to and by the methods have an entry for each, too."""

    def __init__(self, elements: Sequence[LexborNode | None], letters: Sequence[int]) -> None:
        self._elements = elements
        self._letters = letters
        self._parents: dict[int, int] = {}  # outer ones first
        self._links: set[int] = set()
        self._notices: set[int] = set()
        self._asides: dict[str, set[int]] = {kind: set() for kind in _ASIDE.groupindex}
        self._headings: set[int] = set()
        self._articles: set[int] = set()
        self._lists: set[int] = set()
        for element in elements:
            self._climb(element)
        self._own = [element.mem_id if element is not None else _NONE for element in elements]

    def _climb(self, node: LexborNode | None) -> None:
        chain: list[int] = []
        around = _NONE
        while node is not None:
            identity = node.mem_id
            if identity in self._parents:
                around = identity
                break
            chain.append(identity)
            self._look_at(identity, node.tag, node.attributes)
            node = node.parent
        for identity in reversed(chain):
            self._parents[identity] = around
            around = identity

    def _look_at(self, identity: int, tag: str | None, attributes: dict[str, str | None]) -> None:
        if tag == "a" and "href" in attributes:
            self._links.add(identity)
        if tag in _ARTICLES:
            self._articles.add(identity)
        elif tag in _LISTS:
            self._lists.add(identity)
        notice, aside = _is_for_machines(attributes), "caption" if tag == "figcaption" else None
        if tag in HEADINGS:  # its id is what it says
            self._headings.add(identity)
        elif attributes:
            for name in (attributes.get("id"), attributes.get("class")):
                if name:
                    of_notice, of_aside = _names(name[:_NAME])
                    notice, aside = notice or of_notice, aside or of_aside
        if notice:
            self._notices.add(identity)
        elif aside:
            self._asides[aside].add(identity)

    @cached_property
    def _in(self) -> dict[int, int]:
        """Letters of blocks of any kind in each element (_NONE: in all)."""
        return self._sums(self._letters)

    def in_links(self) -> list[bool]:
        """Does a link go around it, as around a teaser?"""
        if not self._links:
            return [False] * len(self._letters)
        return self._within({link for link in self._links if self._in[link] <= LONGEST_LINK})

    def in_notices(self) -> list[bool]:
        """Does it stand in a notice, or is it for machines?"""
        if self._notices:
            most = _MOST * self._in[_NONE]
            notices = self._notices - self._around(self._articles)
            inside = self._within({notice for notice in notices if self._in[notice] <= most})
            if sum(compress(self._letters, inside)) <= _MOST_TOGETHER * self._in[_NONE]:
                return inside
        return [False] * len(self._letters)

    def apart(self, letters: Sequence[int]) -> list[bool]:
        """In an aside, or outside of the part with the page's text? `letters`: of full paragraphs; else 0.

        The last first-level heading before the part, an article's title, and full paragraphs between it and the part,
        its lead, do not.
        """
        if not any(letters):
            return [False] * len(letters)
        asides = self._in_asides(letters)
        letters = [0 if aside else count for aside, count in zip(asides, letters, strict=True)]
        sums = self._sums(letters)
        least = SHARE * sum(letters)
        # With more than half of all letters they lie in one another, and the last is the deepest.
        part = next((node for node in reversed(self._parents) if sums[node] >= least), _NONE)
        if self._own.count(part) == 1:  # one long paragraph: those beside it belong to it
            part = self._parents.get(part, _NONE)
        while part in self._lists:  # as do those beside its entries
            part = self._parents[part]
        outside = [not inside for inside in self._within({part})]
        first = outside.index(False)
        titles = (place for place in range(first - 1, -1, -1) if self._is_title(place))
        if (title := next(titles, None)) is not None:
            for place in range(title, first):
                outside[place] = place != title and not letters[place]
        return [away or aside for away, aside in zip(outside, asides, strict=True)]

    def _in_asides(self, letters: Sequence[int]) -> list[bool]:
        """Does it stand in an aside? Each kind is held against what the others before it leave."""
        found = [False] * len(letters)
        if not any(self._asides.values()):
            return found
        articles = self._within(self._articles)  # they have no sidebar: there a page builder calls parts so
        boxes = [box and not article for box, article in zip(self._within(self._asides["box"]), articles, strict=True)]
        captions = self._asides["caption"] - self._around(self._headings)  # with a heading it is the text of a card
        for inside in (boxes, self._within(self._asides["related"]), self._within(captions)):
            left = [0 if aside else count for aside, count in zip(found, letters, strict=True)]
            if sum(compress(left, inside)) <= _MOST * sum(left):
                found = [aside or new for aside, new in zip(found, inside, strict=True)]
        return found

    def _is_title(self, place: int) -> bool:
        element = self._elements[place]
        return element is not None and element.tag == "h1"

    def _around(self, nodes: set[int]) -> set[int]:
        """These elements and those that they lie in."""
        found: set[int] = set()
        for node in nodes:
            while node != _NONE and node not in found:
                found.add(node)
                node = self._parents[node]
        return found

    def _sums(self, letters: Sequence[int]) -> dict[int, int]:
        """Letters in each element."""
        sums = dict.fromkeys((_NONE, *self._parents), 0)
        for own, count in zip(self._own, letters, strict=True):
            sums[own] += count
        for node, parent in reversed(self._parents.items()):
            sums[parent] += sums[node]
        return sums

    def _within(self, roots: set[int]) -> list[bool]:
        if not roots:
            return [False] * len(self._own)
        inside = {_NONE: _NONE in roots}
        for node, parent in self._parents.items():
            inside[node] = node in roots or inside[parent]
        return [inside[own] for own in self._own]
