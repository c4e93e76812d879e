"""Who published a page, when, where and under which licence, as far as the page says so.

A date or name that is wrong does more harm in a corpus than one that is missing: what is said twice and differently,
what cannot be, and what may be another's is left out. Sources, best first: JSON-LD
(:mod:`relevance.pages.linked_data`), `<meta>` by name, microdata and `<time>` (:mod:`relevance.pages.marked`), the date
in the address, and what is printed above the text (:mod:`relevance.pages.printed`); of licences also a sentence with a
link (:mod:`relevance.pages.licences`). Nothing else is taken from running text. Start pages and lists of articles have
neither date nor author.
Source: the names in use as htmldate and trafilatura know them; differs from both: no guesses from text or years.

Guarantees: any page is read at the cost of its length; values are one line without control characters.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from relevance.pages.blocks import Block
from relevance.pages.head import Told
from relevance.pages.instants import days_apart, instant, is_after
from relevance.pages.licences import LICENCES, said_of_the_page
from relevance.pages.linked_data import LinkedData, plain_address, read_linked_data
from relevance.pages.marked import MOST_LOOKED_AT, Marked, is_of_article, read_microdata, read_times
from relevance.pages.printed import printed_authors, printed_day
from relevance.pages.titles import letters_of, own_title

MOST_LETTERS = 300
"""Of a value: what is longer is no name and no address of a licence."""
_PUBLISHED = """
article:published_time og:article:published_time article:published article.published article:publicationdate
article_date_original og:published_time og:pubdate parsely-pub-date sailthru.date citation_publication_date
citation_online_date citation_date datepublished rnews:datepublished originalpublicationdate publicationdate
publication_date publication-date publishdate publish-date publish_date publishtime publish_time pubdate pub_date
published_at published_time published-date published_date date_published bt:pubdate sn-post-date
cxenseparse:recs:publishtime cxenseparse:publishtime dcsext.articlefirstpublished dcterms.issued dc.date.issued
dc.date.publication dcterms.available
"""
_DATED = "dc.date dcterms.date dc:date date dcterms.created dc.date.created dc:date.created dc.created datecreated"
"""What may also be the day of a change."""
_CHANGED = """
article:modified_time og:updated_time og:article:modified_time last-modified dcterms.modified dc.date.modified
"""
_AUTHOR = """
parsely-author sailthru.author citation_author article:author article_author og:article:author author:name
cxenseparse:author dc.creator dcterms.creator dc:creator dc.author byl
"""
_PERHAPS_AUTHOR = "author content-creator creator"
"""Often the site's owner, or who made it."""
_TITLE = "og:title twitter:title"
_SITE = "og:site_name og:site"
_PERHAPS_SITE = "application-name dc.publisher dcterms.publisher citation_publisher site_name"
_LICENCE = "dcterms.license dc.rights dcterms.rights dc:rights rights license copyright"
_KINDS = (_PUBLISHED, _DATED, _CHANGED, _AUTHOR, _PERHAPS_AUTHOR, _TITLE, _SITE, _PERHAPS_SITE, _LICENCE)
_BY_KIND = {kind: tuple(kind.split()) for kind in _KINDS}
_NAMES = frozenset(chain.from_iterable(_BY_KIND.values()))
_SCRIPT = re.compile(r"\s*application/(?:[a-z]+\+)?ld\+json", re.I)
_FOLDERS = re.compile(
    r"/(?P<year>(?:19|20)\d\d)[/-](?P<month>\d\d?|[a-z]{3})[/-](?P<day>\d\d?)[/-][^/?#]*[^\W\d_]", re.A
)
_START = re.compile(r"/?(?:(?:index|home|default)(?:\.\w{2,5})?)?/?\Z", re.I)
_LIST = re.compile(r"/(?:tags?|categor(?:y|ies)|authors?|search)/[^/]*/?\Z|/page/\d+/?\Z", re.I)
_BY = re.compile(r"(?:by|von|par|por|door|autor|author|text)(?:\s*:\s*|\s+)(?=\S)", re.I)
_ACCOUNTS = "admin administrator author webmaster root user editor none null undefined unknown anonymous noauthor"
_NOBODY = frozenset(_ACCOUNTS.split())
_FIRM = re.compile(r"\b(?:gmbh|ag|kg|ohg|e\. ?v|ltd|inc|llc|pty|s\.a|s\.r\.l|b\.v|agentur|agency|webdesign)\W*\Z", re.I)
_LONGEST_LINKED = 60
_NO_NAME = re.compile("[@→»›>|]")
_ADDRESS = re.compile(r"://|www\.|\A[/@]\S*\Z|@\S+\.|\.[a-z]{2,4}/", re.I)
_LICENCE_NAME = re.compile(r"(?:CC[- ](?:BY|0|ZERO)|Creative Commons)\b", re.I)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffd]+")
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class Publication:
    """`published`: ISO 8601, a day, or with time and zone; `author`: names, `; ` between them; `site`: its name;
    `licence`: an address, or as the page names it; `title`: of the text itself (:mod:`relevance.pages.titles`). ""
    where the page does not say. `published_from`: :data:`PRINTED` where readers alone are told `published`, else ""."""

    published: str = ""
    author: str = ""
    site: str = ""
    licence: str = ""
    title: str = ""
    published_from: str = ""


NOTHING_SAID = Publication()
PRINTED = "printed"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where and when a page was captured. `captured`: begins with the day in ISO 8601 or with its eight digits; "": not
    known. `base`, `canonical`: as the page has them."""

    url: str
    captured: str = ""
    base: str | None = None
    canonical: str | None = None


@dataclass(frozen=True, slots=True)
class Linked:
    """What the links of a page tell: `rels`: what they are to it; `to_licences`: does one lead to Creative Commons?"""

    rels: frozenset[str] = frozenset()
    to_licences: bool = False


def read_data(told: Told, origin: Origin) -> LinkedData:
    """What a page says of its article for machines. `told`: in its head."""
    scripts = (node.text() for node in told.scripts if _SCRIPT.match(node.attributes.get("type") or ""))
    return read_linked_data(scripts, _addresses(told, origin))


def _addresses(told: Told, origin: Origin) -> frozenset[str]:
    """The page's own, as :func:`plain_address` gives them."""
    named = (content for names, content in told.metas if "og:url" in names.split())
    return frozenset(map(plain_address, (origin.url, origin.canonical or "", *named))) - {""}


def read_publication(
    tree: LexborHTMLParser, told: Told, data: LinkedData, linked: Linked, origin: Origin
) -> Publication:
    """What a page says. `tree` must be whole yet; `told`: in its head; `data`: by :func:`read_data`."""
    return _Reader(tree, told, data, linked, origin).publication()


def with_what_is_printed(
    said: Publication, blocks: Sequence[Block], data: LinkedData, title: str, origin: Origin
) -> Publication:
    """`said`, with date and author as they are printed in `blocks` where nothing else does. `title`: the page's."""
    if (said.published and said.author) or is_start_or_list(origin.url) or data.listing:
        return said
    title = said.title or title
    if not said.author:
        said = replace(said, author=_people(printed_authors(blocks, title), _own(said.site, origin.url)))
    if said.published:
        return said
    day = printed_day(blocks, title, _day_of(origin.captured))
    possible = _possible([day], origin.captured)
    return replace(said, published=day, published_from=PRINTED) if possible else said


class _Reader:
    """One page. What costs a pass through its tree is done when it is needed."""

    def __init__(self, tree: LexborHTMLParser, told: Told, data: LinkedData, linked: Linked, origin: Origin) -> None:
        self._tree = tree
        self._told = told
        self._data = data
        self._linked = linked
        self._origin = origin
        self._metas: dict[str, list[str]] = {}
        for names, content in told.metas:
            for name in names.split():
                if content and name in _NAMES:
                    self._metas.setdefault(name, []).append(content)
        self._addresses = _addresses(told, origin)

    def publication(self) -> Publication:
        site, licence = self._site(), self._licence()
        title = self._title(site)
        if is_start_or_list(self._origin.url) or self._data.listing:
            return Publication(site=site, licence=licence, title=title)
        return Publication(self._published(), self._author(site), site, licence, title)

    def _title(self, site: str) -> str:
        named = map(clean, self._said(_TITLE)[:MOST_LOOKED_AT])
        firsts: list[str] = []
        sites = [site, *_hosts(self._origin.url)]
        for node in self._tree.css("h1")[:MOST_LOOKED_AT]:
            text, href = _heading(node)
            (sites if self._leads_up(href) else firsts).append(text)
        # A search of its own, which is done when it is needed.
        lesser = (_heading(node)[0] for level in ("h2", "h3") for node in self._tree.css(level)[:MOST_LOOKED_AT])
        return own_title(self._told.title, named, firsts, sites, lesser)

    def _leads_up(self, href: str) -> bool:
        """To a start page or list, or to what the page lies in, as the name of a site does?"""
        if not href or href.startswith("#"):
            return False
        try:
            url = urljoin(urljoin(self._origin.url, self._origin.base or ""), href)
        except ValueError:
            return False
        place = plain_address(url)
        if place in self._addresses:
            return False
        return is_start_or_list(url) or plain_address(self._origin.url).startswith(f"{place}/")

    @cached_property
    def _marked(self) -> Marked:
        return read_microdata([*self._told.others, *self._told.times])

    def _by_time(self) -> str:
        others = (node for node in self._told.others[:MOST_LOOKED_AT] if node.tag == "abbr")
        return read_times([*self._told.times, *others], lambda: self._tree.css("h1"))

    def _said(self, kind: str) -> list[str]:
        return [value for name in _BY_KIND[kind] for value in self._metas.get(name, ())]

    def _days(self, kind: str) -> list[str]:
        """What each of these names says; a name that is there with two days says nothing."""
        found = []
        for name in _BY_KIND[kind]:
            if name in self._metas:
                told = [day for value in self._metas[name][:MOST_LOOKED_AT] if (day := instant(value))]
                if len({day[:10] for day in told}) == 1:
                    found.append(told[0])
        return found

    def _possible(self, days: Iterable[str]) -> list[str]:
        return _possible(days, self._origin.captured)

    def _published(self) -> str:
        data = self._data
        by_address = next(iter(self._possible([date_in(self._origin.url)])), "")
        told = self._possible([data.published])
        if not told or "T" not in told[0] or (by_address and days_apart(told[0], by_address) > 1):
            told += _agreeing(self._possible(self._days(_PUBLISHED)))
        if not told or (by_address and days_apart(told[0], by_address) > 1):
            changed = {data.modified, *self._days(_CHANGED)}
            perhaps = (*_agreeing(self._days(_DATED)), self._by_time(), data.of_page)
            told += self._possible([self._marked.published, *(day for day in perhaps if day not in changed)])
            told += self._possible([data.created, self._marked.created])
        if not told:
            return by_address
        # An address is not changed afterwards, a date may be.
        near = [day for day in told if by_address and days_apart(day, by_address) <= 1]
        best = near[0] if near else told[0]
        with_time = (day for day in told if len(day) > len(best) and day.startswith(best))
        return best if "T" in best else next(with_time, best)

    def _author(self, site: str) -> str:
        own = _own(site, self._origin.url)
        for names in (self._data.authors, *(self._metas[name] for name in _BY_KIND[_AUTHOR] if name in self._metas)):
            if people := _people(names, own):
                return people
        if people := _people(self._marked.authors, own):
            return people
        said = self._said(_PERHAPS_AUTHOR)
        if people := _people([name for name in said if not _FIRM.search(name[:MOST_LETTERS])], own):
            return people
        links = self._tree.css("a[rel~=author i]")[:MOST_LOOKED_AT] if "author" in self._linked.rels else []
        return _linked(links)

    def _site(self) -> str:
        said = [*self._said(_SITE), self._data.publisher, *self._said(_PERHAPS_SITE)]
        return next((name for value in said if (name := clean(value)) and not _ADDRESS.search(name)), "")

    def _licence(self) -> str:
        if told := self._licence_of(self._data.licence):
            return told
        links = self._tree.css("a[rel~=license i]")[:MOST_LOOKED_AT] if "license" in self._linked.rels else []
        linked = [node.attributes.get("href") or "" for node in links]
        for hrefs in (self._told.licences[:MOST_LOOKED_AT], linked):
            found = set(map(self._licence_of, hrefs)) - {""}
            if len(found) == 1:  # of several, most are those of pictures
                return found.pop()
        metas = (told for value in self._said(_LICENCE) if (told := self._licence_of(value, link=False)))
        return next(metas, "") or self._in_a_sentence()

    def _in_a_sentence(self) -> str:
        if not self._linked.to_licences:
            return ""
        return self._licence_of(said_of_the_page(self._tree.css(f'a[href*="{LICENCES}" i]')))

    def _licence_of(self, value: str, *, link: bool = True) -> str:
        """An address, absolute, or the name of a licence; "" for other texts, and for a place in the page itself."""
        value = clean(value)
        if not value or _LICENCE_NAME.match(value):
            return value
        try:
            url = urljoin(urljoin(self._origin.url, self._origin.base or ""), value) if link else value
            parts = urlsplit(url)
        except ValueError:
            return ""
        is_own = value.startswith("#") or ("#" in value and plain_address(url) in self._addresses)
        return url if parts.scheme in ("http", "https") and parts.netloc and " " not in url and not is_own else ""


def _possible(days: Iterable[str], captured: str) -> list[str]:
    """Those that are told and were not to come when the page was captured."""
    now = _day_of(captured)
    return [day for day in days if day and not (now and is_after(day, now))]


def _day_of(captured: str) -> str:
    return instant(captured[:10]) or instant(captured[:8])


def _own(site: str, url: str) -> frozenset[str]:
    """The letters of the names of a site and of its host."""
    return frozenset(map(letters_of, (site, *_hosts(url))))


def is_start_or_list(url: str) -> bool:
    """Is it, by its address, a site's start page, or a list of what it has of something?"""
    plain, _, query = plain_address(url).partition("?")
    host, _, path = plain.partition("/")
    if not host or "://" not in url:
        return False
    return (not query and _START.match(path) is not None) or _LIST.search(f"/{path}") is not None


def date_in(url: str) -> str:
    """The day in a path like `/2024/05/31/words`, `/2024/may/31/words` or `/2024-05-31-words`; "" where none is."""
    match = _FOLDERS.search(url.partition("?")[0])
    if match is None:
        return ""
    year, month, day = match.group("year", "month", "day")
    return instant(f"{year}-{month}-{day}" if month.isdigit() else f"{day} {month.title()} {year}")


def _agreeing(days: list[str]) -> list[str]:
    """None where two are more than a day apart: what is said in different zones may be of two."""
    return days if not days or days_apart(min(days), max(days)) <= 1 else []


def clean(text: str) -> str:
    """A value as one line, without markup and references to characters; "" when it is too long to be one."""
    if len(text) > 4 * MOST_LETTERS:
        return ""
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    text = " ".join(_CONTROL.sub(" ", text).split())
    return text if len(text) <= MOST_LETTERS else ""


def _heading(node: LexborNode) -> tuple[str, str]:
    """Its text ("" of one that was not closed) and where the first link in it or right around it leads."""
    parts: list[str] = []
    links = [node.parent] if node.parent is not None and node.parent.tag == "a" else []
    for inner in islice(node.traverse(include_text=True), MOST_LETTERS):
        if inner.tag == "-text":
            parts.append((inner.text_content or "")[: 4 * MOST_LETTERS + 1])
        elif inner.tag == "a":
            links.append(inner)
    href = next((href for link in links if (href := (link.attributes.get("href") or "").strip())), "")
    return clean("".join(parts)), href


def _linked(links: Sequence[LexborNode]) -> str:
    """The one name that links to its author have, some of them with words around it ("all articles by …"). Several
    names are those of several articles."""
    found = {clean(link.text()[: 4 * MOST_LETTERS]) for link in links if is_of_article(link)} - {""}
    name = min(found, key=len, default="")
    if not all(name in other for other in found) or len(name) > _LONGEST_LINKED or _NO_NAME.search(name):
        return ""
    return _people([name])


def _hosts(url: str) -> tuple[str, str]:
    """The name of a host, and its part that is not the same for many: `tour-magazin` of www.tour-magazin.de."""
    host = plain_address(url).partition("/")[0].partition(":")[0]
    return host, max(host.split(".")[:-1], key=len, default="")


def _people(names: Sequence[str], own: frozenset[str] = frozenset()) -> str:
    """Names, each once; without addresses, accounts that are nobody's, and those of the site itself (`own`: letters of
    its names)."""
    found: dict[str, str] = {}
    for name in map(clean, names[:MOST_LOOKED_AT]):
        name = _BY.sub("", name, count=1) if _BY.match(name) else name
        name = name.strip(" ,;|-–·")
        letters = letters_of(name)
        if letters and letters not in own | _NOBODY and not letters.isdigit() and not _ADDRESS.search(name):
            found.setdefault(name.casefold(), name)
    people = "; ".join(found.values())
    return people if len(people) <= MOST_LETTERS else ""
