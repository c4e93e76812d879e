"""What a page says of itself in JSON-LD: its article, by whom and when, and its text.

The terms are those of schema.org: any kind of Article (NewsArticle, BlogPosting, …), else the WebPage; at the top of a
script, in a list there, in `@graph`, or the `mainEntity` of such. What lies deeper (related articles, parts, comments)
is not the page's. Of several articles it is the one with the page's own address; where none has it, and they are of
several days, the page is a list of articles, which is none, as is a CollectionPage. An article of two days is of none.

Guarantees: any text and any types of values are read without an error; at most :data:`MOST_LETTERS` of a page's scripts
are parsed and :data:`MOST_NODES` of their objects looked at; the walk does not recurse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from relevance.pages.instants import days_apart, instant

MOST_LETTERS = 1 << 19
MOST_NODES = 2000
_MOST_DEPTH = 8
_MOST_NAMES = 50
BODY, FREE = "articleBody", "isAccessibleForFree"
_BEGINNING = 40
"""Letters by which two texts are told apart; one of them may be cut."""
_FALSE = frozenset(("false", "no", "0"))
_TELLING = ("datePublished", "dateCreated", '"author"', '"license"', '"publisher"', '"CollectionPage"', BODY, FREE)
_WITHIN = ("@graph", "mainEntity", "mainEntityOfPage")
_POSTINGS = frozenset(("blogposting", "socialmediaposting", "discussionforumposting", "liveblogposting", "report"))
_ARTICLES = _POSTINGS | {"recipe", "howto"}
_PAGES = frozenset(("webpage", "itempage", "aboutpage", "faqpage", "qapage", "medicalwebpage"))
_LISTINGS = frozenset(("collectionpage", "searchresultspage", "profilepage"))
_LAST_COMMA = re.compile(r",(?=\s*+[}\]])")
"""As programs leave it that write JSON by hand."""
_DECODER = json.JSONDecoder(strict=False)
_Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LinkedData:
    """Strings as the page has them, dates as :func:`relevance.pages.instants.instant` gives them, "" or empty: not
    told. `listing`: the page is a list of others. `modified`: when the article was last changed. `text`: that of the
    article, unless it, or a part of it, is for money, as `for_money` says of the page."""

    published: str = ""
    created: str = ""
    modified: str = ""
    of_page: str = ""
    authors: tuple[str, ...] = ()
    publisher: str = ""
    licence: str = ""
    listing: bool = False
    text: str = ""
    for_money: bool = False


@dataclass(slots=True)
class _Found:
    articles: list[_Node] = field(default_factory=list)
    pages: list[_Node] = field(default_factory=list)
    sites: list[_Node] = field(default_factory=list)
    named: dict[str, _Node] = field(default_factory=dict)
    listing: bool = False


def is_article(kind: str) -> bool:
    """Is this (in small letters, without its vocabulary) a kind of article?"""
    return kind.endswith("article") or kind in _ARTICLES


def kind_of(written: str) -> str:
    """A type's own name in small letters: `https://schema.org/NewsArticle` is `newsarticle`."""
    return written.strip().rstrip("/#").replace("#", "/").replace(":", "/").rpartition("/")[2].lower()


def read_linked_data(scripts: Iterable[str], addresses: frozenset[str]) -> LinkedData:
    """`scripts`: texts of a page's JSON-LD elements; `addresses`: those of the page itself, as
    :func:`plain_address` gives them."""
    found = _Found()
    room = MOST_LETTERS
    nodes = 0
    for script in scripts:
        if not any(mark in script for mark in _TELLING):
            continue
        room -= len(script)
        if room < 0:
            break
        for node in _nodes(_parsed(script)):
            nodes += 1
            if nodes > MOST_NODES:
                break
            _sort(node, found)
    return _told(found, addresses)


def plain_address(url: str) -> str:
    """An address without what pages write one way here and another there: scheme, `www.`, fragment, last slash."""
    rest = url.strip().partition("#")[0]
    rest = rest.partition("://")[2] or rest.removeprefix("//")
    return rest.removeprefix("www.").rstrip("/").lower()


def _parsed(script: str) -> Any:
    """What stands in a script, comments and the like around it left aside; None: nothing that can be read."""
    script = script.lstrip()
    start = 0 if script.startswith("[") else script.find("{")
    if start < 0:
        return None
    try:
        return _DECODER.raw_decode(script, start)[0]
    except RecursionError:
        return None
    except ValueError:
        pass
    try:
        return _DECODER.raw_decode(_LAST_COMMA.sub("", script[start:]))[0]
    except (ValueError, RecursionError):
        return None


def _nodes(top: Any) -> Iterator[_Node]:
    """The objects that are the page's own, in the order of the page."""
    waiting: list[tuple[Any, int]] = [(top, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _MOST_DEPTH:
            continue
        if isinstance(value, list):
            waiting += [(one, depth + 1) for one in reversed(value[:MOST_NODES])]
        elif isinstance(value, dict):
            yield value
            waiting += [(value[key], depth + 1) for key in reversed(_WITHIN) if key in value]


def _sort(node: _Node, found: _Found) -> None:
    if isinstance(identity := node.get("@id"), str):
        known = found.named.setdefault(identity, node)
        if "name" not in known:
            found.named[identity] = node
    kinds = {kind_of(kind) for kind in strings(node.get("@type"))}
    if any(map(is_article, kinds)):
        found.articles.append(node)
    elif kinds & _LISTINGS:
        found.listing = True
    elif kinds & _PAGES:
        found.pages.append(node)
    elif "website" in kinds:
        found.sites.append(node)


def _told(found: _Found, addresses: frozenset[str]) -> LinkedData:
    article, same, many = _own(found.articles, addresses)
    listing = many or (found.listing and article is None)
    page = found.pages[0] if found.pages and not listing else {}
    node = article or {}
    for_money = any(map(is_for_money, (*same, page)))
    published = "" if _differ(same) else _date(node, "datePublished")
    return LinkedData(
        published=published,
        created="" if published else _date(node, "dateCreated"),
        modified=_date(node, "dateModified") or _date(page, "dateModified"),
        of_page="" if _differ(found.pages) else _date(page, "datePublished"),
        authors=tuple(_names(node.get("author"), found.named) or _names(node.get("creator"), found.named)),
        publisher=_first(_names(node.get("publisher"), found.named)) or _first(_names(found.sites[:1], found.named)),
        licence=_licence(node.get("license")) or _licence(page.get("license")),
        listing=listing,
        text="" if for_money else _text(same),
        for_money=for_money,
    )


def _own(articles: list[_Node], addresses: frozenset[str]) -> tuple[_Node | None, list[_Node], bool]:
    """The page's article, all that speaks of it, and whether there are several of which none is its own."""
    if len(articles) < 2:
        return (articles[0] if articles else None), articles, False
    own = [node for node in articles if addresses & set(map(plain_address, _addresses(node)))]
    if own:
        return max(own, key=lambda node: "datePublished" in node), own, False
    if _differ(articles, most=0):
        return None, [], True
    return max(articles, key=lambda node: "datePublished" in node), articles, False


def _differ(nodes: list[_Node], most: int = 1) -> bool:
    """Are they published more days apart than that? (One that has several days is of none.)"""
    days = sorted({_date(node, "datePublished")[:10] for node in nodes} - {""})
    return len(days) > 1 and days_apart(days[0], days[-1]) > most


def _addresses(node: _Node) -> Iterator[str]:
    page = node.get("mainEntityOfPage")
    for value in (node.get("url"), node.get("@id"), page, page.get("@id") if isinstance(page, dict) else None):
        yield from strings(value)


def _text(articles: list[_Node]) -> str:
    """What these have as the text of one article; "" where they have those of several."""
    bodies = [max(strings(node.get(BODY)), key=len, default="") for node in articles]
    longest = max(bodies, key=len, default="")
    return longest if all(longest.startswith(body[:_BEGINNING]) for body in bodies) else ""


def is_for_money(node: _Node) -> bool:
    parts = node.get("hasPart")
    of_parts = parts[:_MOST_NAMES] if isinstance(parts, list) else [parts]
    said = (one.get(FREE) for one in (node, *of_parts) if isinstance(one, dict))
    return any(map(_is_false, said))


def _is_false(said: Any) -> bool:
    """`false`, as text, too, or as an address of schema.org's: it is written in all these ways."""
    values = said[:_MOST_NAMES] if isinstance(said, list) else [said]
    plain = (one.get("@value", one.get("@id")) if isinstance(one, dict) else one for one in values)
    return any(one == 0 or (isinstance(one, str) and kind_of(one) in _FALSE) for one in plain)


def _date(node: _Node, key: str) -> str:
    told = [day for text in strings(node.get(key)) if (day := instant(text))]
    return told[0] if len({day[:10] for day in told}) == 1 else ""


def strings(value: Any) -> list[str]:
    """The strings of a value: itself, those in a list, or the `@value` of an object."""
    values = value[:_MOST_NAMES] if isinstance(value, list) else [value]
    plain = (one.get("@value") if isinstance(one, dict) else one for one in values)
    return [one for one in plain if isinstance(one, str)]


def _names(value: Any, named: dict[str, _Node]) -> list[str]:
    """The names of persons and others that a value has: texts, objects, or references to objects."""
    names: list[str] = []
    for one in value[:_MOST_NAMES] if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            identity = one.get("@id")
            known = named.get(identity, {}) if isinstance(identity, str) else {}
            names += (strings(one.get("name")) or strings(known.get("name")))[:1]
        else:
            names += strings(one)
    return names


def _licence(value: Any) -> str:
    one = value[0] if isinstance(value, list) and value else value
    if isinstance(one, dict):
        one = one.get("url") or one.get("@id") or one.get("name")
    return _first(strings(one))


def _first(texts: list[str]) -> str:
    return texts[0] if texts else ""
