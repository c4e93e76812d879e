"""What a page's own markup says of its article, by whom and when: microdata (schema.org) and `<time datetime>`.

Of microdata only what belongs to an article counts, and to the outermost: not the dates of comments and of articles in
the article. Of `<time>` only those of the one article that the page has (of several the one with its heading), which
name one day, and are of no comment, navigation, link, or later change; those that are marked as the date of publishing
go before others. Where it is not so, nothing is said: the first of many dates is mostly that of a teaser.

Guarantee: at most :data:`MOST_LOOKED_AT` elements are looked at, and of each at most :data:`MOST_AROUND` around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from selectolax.lexbor import LexborNode

from relevance.pages.instants import instant
from relevance.pages.linked_data import is_article, kind_of

MOST_LOOKED_AT = 300
MOST_AROUND = 100
_PROPERTIES = frozenset(("datepublished", "datecreated", "author"))
_BESIDE_TAGS = frozenset(("nav", "footer", "aside", "li", "a", "table", "figure", "blockquote"))
_BESIDE = re.compile(
    r"comment|respond(?!\w)|repl(?:y|ies)|related|sidebar|widget|(?<!post-)(?<!entry-)footer|teaser|promo|recommend|popular",
    re.I,
)
_CHANGED = re.compile(r"updat|modif|revis|chang", re.I)
_PUBLISHED = re.compile(r"publish|entry-date|pubdate|post-?date|posted|date-?line|post__date|date_published", re.I)
_NAME = 200
_Attributes = dict[str, str | None]


@dataclass(slots=True)
class Marked:
    """What microdata say; empty: not told."""

    published: str = ""
    created: str = ""
    authors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Time:
    told: str
    article: int  # the article around it, else the main part of the page, 0: neither
    published: bool


def read_times(times: Sequence[LexborNode], headings: Callable[[], Sequence[LexborNode]]) -> str:
    """The day, by `<time>`, and `<abbr class=published>` with its `title` (hAtom). `headings`: gives the `<h1>`, when
    they are needed."""
    return _day_of([time for node in times[:MOST_LOOKED_AT] if (time := _time(node)) is not None], headings)


def read_microdata(properties: Sequence[LexborNode]) -> Marked:
    """`properties`: elements with an `itemprop`."""
    scopes = _of_articles(properties)
    dates = {scope: day for scope, own in scopes.items() if (day := _date(own.get("datepublished", [])))}
    marked = Marked()
    if len({day[:10] for day in dates.values()}) > 1:
        return marked  # a list of articles
    for scope in [scope for scope in scopes if scope in dates] or list(scopes)[:1]:
        own = scopes[scope]
        marked.published = marked.published or dates.get(scope, "")
        marked.created = marked.created or _date(own.get("datecreated", []))
        marked.authors = marked.authors or [name for one in own.get("author", ()) if (name := _name(one))]
    return marked


def _of_articles(properties: Sequence[LexborNode]) -> dict[int, dict[str, list[LexborNode]]]:
    """Those that tell of publishing, by their scope and name."""
    scopes: dict[int, dict[str, list[LexborNode]]] = {}
    looked_at = 0
    for node in properties:
        names = _PROPERTIES & set((node.attributes.get("itemprop") or "").lower().split())
        if not names:
            continue
        looked_at += 1
        if looked_at > MOST_LOOKED_AT:
            break
        scope = _scope(node)
        if scope is not None:
            for name in names:
                scopes.setdefault(scope, {}).setdefault(name, []).append(node)
    return scopes


def _around(node: LexborNode) -> Iterator[LexborNode]:
    parent = node.parent
    for _ in range(MOST_AROUND):
        if parent is None:
            return
        yield parent
        parent = parent.parent


def _scope(node: LexborNode) -> int | None:
    """The outermost article that a property is one of, 0: of no item; None: of something else, or of an article in
    another."""
    around = _around(node)
    own = next((parent for parent in around if "itemscope" in parent.attributes), None)
    if own is None:
        return 0
    kind = _kind(own.attributes)
    if not (is_article(kind) or kind in ("creativework", "webpage")):
        return None
    for parent in around:
        attributes = parent.attributes
        if "itemscope" in attributes and is_article(_kind(attributes)):
            return None
    return own.mem_id


def _kind(attributes: _Attributes) -> str:
    """What an item is: the first of its types."""
    return kind_of(next(iter((attributes.get("itemtype") or "").split()), ""))


def _value(node: LexborNode) -> str:
    attributes = node.attributes
    for name in ("content", "datetime", "href", "title"):
        if value := attributes.get(name):
            return value
    return node.text()[:1000]


def _date(nodes: list[LexborNode]) -> str:
    """The one day that these say; "" where they do not agree."""
    told = [day for node in nodes if (day := instant(_value(node)))]
    return told[0] if len({day[:10] for day in told}) == 1 else ""


def _name(node: LexborNode) -> str:
    """Of an author: what is called its name, else all of its text."""
    attributes = node.attributes
    if content := attributes.get("content"):
        return content
    inner = node.css_first("[itemprop~=name]")
    if inner is not None:
        return inner.attributes.get("content") or inner.text()[:1000]
    return node.text()[:1000]


def _time(node: LexborNode) -> _Time | None:
    attributes = node.attributes
    told = instant(attributes.get("datetime" if node.tag == "time" else "title") or "")
    name = _named(attributes)
    if not told or (_CHANGED.search(name) and not _PUBLISHED.search(name)):
        return None
    article = main = 0
    marked = "pubdate" in attributes or _PUBLISHED.search(name) is not None
    for place, parent in enumerate(_around(node)):
        if parent.tag == "article":
            if article:
                return None  # an article in the article
            article = parent.mem_id
        elif parent.tag == "main":
            main = parent.mem_id
        if not article and place < 3 and is_of_change(_named(parent.attributes)):
            return None
        # A link around the date alone leads to the article itself; one around more is a teaser.
        if not article and is_beside(parent) and not (parent.tag == "a" and place < 2):
            return None
    return _Time(told, article or main, marked)


def is_beside(node: LexborNode) -> bool:
    """Is what stands in it none of the page's article: navigation, comments, teasers?"""
    name = _named(node.attributes)
    tagged = node.tag in _BESIDE_TAGS and not ("entry-footer" in name or "post-footer" in name)
    return tagged or (node.tag != "body" and is_named_beside(name))


@lru_cache(maxsize=1 << 9)  # many elements have the same ones around them
def is_named_beside(name: str) -> bool:
    """Is it of such an element, by its names?"""
    return _BESIDE.search(name) is not None


@lru_cache(maxsize=1 << 9)
def is_of_change(name: str) -> bool:
    """Do names say that a date is that of a change?"""
    return _CHANGED.search(name) is not None


def is_of_article(node: LexborNode) -> bool:
    """Does it stand in no such element, up to the article?"""
    for parent in _around(node):
        if parent.tag in ("article", "main"):
            return True
        if is_beside(parent):
            return False
    return True


def _named(attributes: _Attributes) -> str:
    parts = (attributes.get("class"), attributes.get("id"), attributes.get("itemprop"))
    return " ".join(part[:_NAME] for part in parts if part)


def _outermost(node: LexborNode) -> int:
    around = [parent for parent in reversed(list(_around(node))) if parent.tag in ("article", "main")]
    return next((parent.mem_id for parent in around if parent.tag == "article"), around[0].mem_id if around else 0)


def _day_of(times: list[_Time], headings: Callable[[], Sequence[LexborNode]]) -> str:
    """The day of publishing, where these say one."""
    articles = {time.article for time in times}
    if len(articles) > 1:
        articles &= {_outermost(node) for node in headings()[:MOST_LOOKED_AT]} - {0}
    if len(articles) != 1:
        return ""
    own = [time for time in times if time.article in articles]
    marked = [time for time in own if time.published]
    if not marked and 0 in articles:
        return ""
    found = marked or own
    return found[0].told if len({time.told[:10] for time in found}) == 1 else ""
