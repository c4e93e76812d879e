"""One parse of a page for all who need something of it: text blocks, links, languages, robots directives.

Guarantees: any bytes give a Page; scripts, styles, templates, form controls, what stands in for media and comments are
never text; text is not glued over element borders, two line breaks are one; text is in NFC without signs that cannot be
seen; links are given as found (raw href, white space trimmed), in document order. A page that a script draws has the
text that it carries for that (:mod:`relevance.pages.carried`).

Source: the clean-up list of the thesis (section 3.3) without its faults; block weights after Kohlschütter, Fankhauser
and Nejdl, Boilerplate detection using shallow text features (2010): link density and length. Parser: lexbor through
selectolax, the fastest of three measured (docs/relevance.md).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from relevance.language.alphabet import composed
from relevance.pages.carried import MOST_COMPARED, in_state, is_shown, markup, squeezed
from relevance.pages.encoding import decode
from relevance.pages.flattened import INLINE_NAMES, NEVER_TEXT, flattened, is_usual
from relevance.pages.head import read_head
from relevance.pages.licences import LICENCES
from relevance.pages.linked_data import BODY, FREE, LinkedData
from relevance.pages.media_type import media_type
from relevance.pages.navigation import Navigation, navigation
from relevance.pages.noscript import without_open_noscript
from relevance.pages.outline import HEADINGS, Outline
from relevance.pages.publication import NOTHING_SAID, Linked, Origin, Publication, read_data, read_publication
from relevance.pages.states import LITTLE, scripts
from relevance.pages.teasers import MARKS, ends_cut

MAX_BODY = 8 * 1024 * 1024
MAX_LINKS = 10_000
MOST_LINES = 100_000
"""Blocks of a plain text: of one with more lines that are not blank, as a list of words has, several make a block."""
FULL = 80
"""Letters of a paragraph that is taken for a full one however it ends."""
LINKED = 0.8
"""Of the letters of a paragraph, from which in links it is links: with less, what is around is said, too. Of an entry
of a list (a title and its date) two thirds, as of other elements, and of short ones of these a third: teasers, menus.
(91 article pages, precision and recall: all alike 0.945 and 0.985, 0.8: 0.943 and 0.988, 0.9: 0.940 and 0.989.)"""
KINDS = {"main": 1.0, "heading": 1.0, "short": 0.5, "list": 0.3, "links": 0.2, "nav": 0.1}
"""Weight of a block's words by its kind."""
APART = 0.3
"""What is left of the weight of a block that stands apart. (Weighed words of 91 article pages differ from those of the
articles by 16 % in the median and 24 % in the mean; by 26 and 37 % where such blocks weigh as others.)"""

_OPTIONS = LexborDocumentOptions.WO_EVENTS  # else each option that is chosen is copied, with all there is in it
_LIST_ITEMS = frozenset(("li", "td", "th", "dt", "option"))
_INLINE = frozenset((*INLINE_NAMES.split(), "-comment", None))  # None: an instruction
_TEXT, _BREAK, _INSIDE, _BLOCK = range(4)
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]+")
"""Soft hyphens, breaks and joints of no width, marks of direction: within words they would make others of them."""
_BODY, _FREE = BODY.encode(), FREE.encode()
_ENDS = frozenset(".!?:;\"'”’“…。！？।॥؟؛۔።។")


class Block(NamedTuple):
    """A piece of running text; kind is a key of KINDS. apart: no navigation, but in an aside, such as a caption, or
    outside of the part that the page's text stands in."""

    text: str
    kind: str
    apart: bool = False

    @property
    def weight(self) -> float:
        return KINDS[self.kind] * (APART if self.apart else 1.0)


class Link(NamedTuple):
    """An <a> or <area> with a href, or a frame or embedded document, with its title as text. context: main or nav. rel
    and hreflang in lower case."""

    href: str
    text: str
    rel: str = ""
    context: str = "main"
    hreflang: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """What a page says about itself, and its text and links."""

    url: str
    title: str = ""
    html_lang: str = ""
    content_language: str = ""
    og_locale: str = ""
    hreflangs: tuple[tuple[str, str], ...] = ()  # (language, href) of <link rel=alternate>
    charset: str = "utf-8"
    charset_source: str = "utf8"
    base: str | None = None
    robots_meta: frozenset[str] = frozenset()
    canonical: str | None = None
    refresh: str | None = None
    feeds: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    description: str = ""
    publication: Publication = NOTHING_SAID
    flat: bool = False  # it was made so before it was parsed (relevance.pages.flattened)

    def text(self, least: float = 0.3) -> str:
        """The blocks of at least this weight, a line each."""
        return "\n".join(block.text for block in self.blocks if block.weight >= least)


def read_page(
    body: bytes, url: str, content_type: str | None = None, robot: str = "", captured: str | None = None
) -> Page:
    """Reads an HTML page, or plain text where the content type says so. `robot`: a name that its robots meta tags may
    have instead of "robots". `captured`: when ("": not known), to have the publication of a page, None: without it."""
    decoded = decode(body[:MAX_BODY], content_type)
    if content_type and media_type(content_type) == "text/plain":
        blocks = tuple(Block(text, "main") for text in _plain_texts(decoded.text))
        return Page(url, blocks=blocks, charset=decoded.charset, charset_source=decoded.source)
    plain = decoded.charset == "utf-8" and decoded.source != "bom" and "\ufffd" not in decoded.text
    html = body[:MAX_BODY] if plain else decoded.text.encode("utf-8", "replace")
    usual = is_usual(html)
    tree = tree_of(html, usual)
    head = read_head(tree, ("robots", robot.lower() or "robots"))
    nav = navigation(tree)
    links, linking = _links(tree, nav)
    publication, data, states = NOTHING_SAID, LinkedData(), scripts(head.told)
    if captured is not None or _BODY in html or (states and _FREE in html):
        origin = Origin(url, captured or "", head.facts["base"], head.facts.get("canonical"))
        data = read_data(head.told, origin)
        if captured is not None:
            rels = chain.from_iterable(map(str.split, {link.rel for link in links}))
            linked = Linked(frozenset(rels), any(LICENCES in link.href.lower() for link in links))
            publication = read_publication(tree, head.told, data, linked, origin)
    carried = data.text
    main, aside = _gathered(tree, nav, linking)
    blocks = (*_judged(main, html), *(Block(text, "nav") for text in aside.texts))
    if (
        states
        and not (carried or data.for_money)
        and sum(len(block.text) for block in blocks if block.kind == "main") <= LITTLE
    ):
        site = next((content for name, content in head.told.metas if name == "og:site_name"), "")
        carried = in_state(states, head.facts["title"], site)
    if carried:
        texts, more = texts_and_links(markup(carried).encode("utf-8", "replace"))
        if sum(map(len, texts)) >= FULL and not is_shown(texts, [block.text for block in blocks]):
            blocks, links = _with_carried(blocks, texts), (links + more)[:MAX_LINKS]
    return Page(
        url=url,
        charset=decoded.charset,
        charset_source=decoded.source,
        blocks=blocks,
        links=tuple(links),
        publication=publication,
        flat=not usual,
        **head.facts,
    )


def texts_and_links(html: bytes, *, usual: bool = False) -> tuple[list[str], list[Link]]:
    """Of a page in UTF-8 the texts of its blocks and its links alone, as :func:`read_page` has them. ``usual``: it is
    known to be parsed as it is."""
    tree = tree_of(html, usual or is_usual(html))
    nav = navigation(tree)
    links, linking = _links(tree, nav)
    main, aside = _gathered(tree, nav, linking)
    return main.texts + aside.texts, links


def _with_carried(blocks: tuple[Block, ...], texts: list[str]) -> tuple[Block, ...]:
    """The blocks of a page with these of the text that it carries. What else it shows stands apart, for the page itself
    says what its text is."""
    letters = squeezed(texts)
    own = dict.fromkeys(block.text for block in blocks if block.kind in ("main", "short", "list"))
    compared = islice(own, MOST_COMPARED // max(1, len(letters)))
    again = {text for text in compared if squeezed([text]) in letters}
    shown = [
        block._replace(apart=True) if block.kind == "main" else block
        for block in blocks
        if block.kind not in ("main", "short", "list") or block.text not in again
    ]
    behind = next((place + 1 for place, block in enumerate(shown) if block.kind == "heading"), 0)  # the title
    new = (Block(text, "main" if is_running(text) else "short") for text in texts)
    return (*shown[:behind], *new, *shown[behind:])


def _plain_texts(text: str) -> Iterator[str]:
    """The texts of the blocks of a plain text."""
    lines = [line for line in text.splitlines() if line and not line.isspace()]
    together = max(1, -(-len(lines) // MOST_LINES))
    for at in range(0, len(lines), together):
        if found := running(" ".join(lines[at : at + together])):
            yield found


def tree_of(html: bytes, usual: bool) -> LexborHTMLParser:
    """The parse of a page in UTF-8; of one that is not `usual`, as it is flattened."""
    tree = LexborHTMLParser(flattened(html, usual), options=_OPTIONS)
    if tree.css_first("noscript") is not None and (closed := without_open_noscript(html)) is not None:
        tree = LexborHTMLParser(flattened(closed, is_usual(closed)), options=_OPTIONS)
    return tree


def running(text: str) -> str:
    """The text with a space for all white space, composed (NFC), without signs that cannot be seen."""
    found = " ".join(text.split())
    if found.isascii() or (found.isprintable() and unicodedata.is_normalized("NFC", found)):
        return found  # no such sign is printable
    return " ".join(composed(_UNSEEN.sub("", text)).split())


def is_running(text: str) -> bool:
    """Does it look like a full paragraph?"""
    return len(text) >= FULL or text[-1] in _ENDS


def _role(tag: str | None) -> int:
    return _TEXT if tag == "-text" else _BREAK if tag == "br" else _INSIDE if tag in _INLINE else _BLOCK


_Owner = tuple[int, LexborNode | None, bool]
"""The block element around text in an element (0, None: there is none), and whether a link lies between."""


class _Gatherer:
    """Collects the blocks of subtrees in document order. `links`: the elements that are links."""

    def __init__(self, links: Collection[int]) -> None:
        self._links = links
        self.texts: list[str] = []
        self.linked: list[int] = []  # letters of each text in links
        self.elements: list[LexborNode | None] = []  # around each text the innermost block element
        self._parts: list[str] = []
        self._linked = 0
        self._ending = 0  # the first part of the link that the block ends with
        self._broken = False  # nothing but white space since a line break
        self._block: int = 0
        self._element: LexborNode | None = None
        self._owners: dict[int, _Owner] = {}
        self._roles: dict[int, int] = {}  # by the document's number of the tag

    def walk(self, root: LexborNode) -> None:
        roles, parts = self._roles, self._parts
        for node in root.traverse(include_text=True):
            role = roles.get(node.tag_id)
            if role is None:
                role = roles[node.tag_id] = _role(node.tag)
            if role == _TEXT:
                text = node.text_content
                if text and not text.isspace():
                    self._text(text, node.parent)
                elif parts:
                    parts.append(" ")
            elif role == _BREAK:
                self._break()
            elif role == _BLOCK and parts:
                self._flush()
        self._flush()

    def _break(self) -> None:
        """A line ends; with two, the block."""
        if self._broken:
            self._flush()
        elif self._parts:
            self._parts.append(" ")
            self._broken = True

    def _text(self, text: str, parent: LexborNode | None) -> None:
        assert parent is not None  # of text
        identity, element, linked = self._owners.get(parent.mem_id) or self._owner(parent)
        if identity != self._block:
            if self._parts:
                self._flush()
            self._block, self._element = identity, element
        self._parts.append(text)
        says = text.isascii() or MARKS.fullmatch(text) is None
        self._broken = self._broken and not says
        if linked:
            self._linked += len(text)
        elif says:
            self._ending = len(self._parts)

    def _owner(self, node: LexborNode | None) -> _Owner:
        """Each element is passed once, however deep they nest."""
        chain: list[int] = []
        found: _Owner = (0, None, False)
        while node is not None:
            identity = node.mem_id
            if known := self._owners.get(identity):
                found = known
                break
            if node.tag not in _INLINE:
                found = self._owners[identity] = (identity, node, False)
                break
            chain.append(identity)
            node = node.parent
        for identity in reversed(chain):
            if identity in self._links:
                found = (found[0], found[1], True)
            self._owners[identity] = found
        return found

    def _flush(self) -> None:
        if text := running("".join(self._parts)):
            linked = self._linked
            if linked and ends_cut(self._parts, self._ending):
                linked = len(text)
            self.texts.append(text)
            self.linked.append(linked)
            self.elements.append(self._element)
        self._linked = self._ending = 0
        self._parts.clear()
        self._broken = False


def _kind(text: str, linked: int, element: LexborNode | None) -> str:
    """Of a block that is no navigation; `linked`: its letters in links. A full paragraph may have more of them."""
    tag = element.tag if element is not None else ""
    beside = len(text) - linked
    if tag == "p":
        links = linked > LINKED * len(text)
    else:
        links = linked > 2 * beside or (2 * linked > beside and len(text) < FULL and tag != "li")
    if links:
        return "links"
    if tag in HEADINGS:
        return "heading"
    if is_running(text):
        return "main"
    return "list" if tag in _LIST_ITEMS else "short"


def _links(tree: LexborHTMLParser, nav: Navigation) -> tuple[list[Link], frozenset[int]]:
    """The page's links, and their elements (those of more than MAX_LINKS, too; not a heading's link to itself)."""
    inside = nav.links
    nodes = tree.css("a[href],area[href]")
    identities = [node.mem_id for node in nodes]
    links = []
    room = 2 * MAX_BODY  # links inside one another share their text
    for identity, node in zip(identities[:MAX_LINKS], nodes, strict=False):
        attributes = node.attributes
        whole = node.text() if room > 0 else ""
        room -= len(whole)
        text = " ".join(whole.split())[:300]
        rel, language = attributes.get("rel") or "", attributes.get("hreflang") or ""
        context = "nav" if identity in inside else "main"
        href = (attributes.get("href") or "").strip()
        links.append(Link(href, text, rel.lower().strip(), context, language.lower().strip()))
    links += _frames(tree)[: MAX_LINKS - len(links)]
    return links, frozenset(identity for identity, node in zip(identities, nodes, strict=True) if not _is_own(node))


def _frames(tree: LexborHTMLParser) -> list[Link]:
    found = (node.attributes for node in tree.css("frame[src],iframe[src],embed[src],object[data]"))
    return [Link((one.get("src") or one.get("data") or "").strip(), one.get("title") or "") for one in found]


def _is_own(link: LexborNode) -> bool:
    """A heading's link to itself or to another place of the page: what it is the text of is no teaser's."""
    href = (link.attributes.get("href") or "").lstrip()
    return link.parent is not None and link.parent.tag in HEADINGS and len(href) > 1 and href[0] == "#"


def _gathered(tree: LexborHTMLParser, found: Navigation, links: Collection[int]) -> tuple[_Gatherer, _Gatherer]:
    """The texts of the page's main part and those of its navigation; what else there is goes from the tree. `found`:
    its navigation as it was; `links`: the elements that are links."""
    tree.strip_tags(list(NEVER_TEXT))
    main, nav = _Gatherer(links), _Gatherer(links)
    aside = (found if found.is_whole() else navigation(tree)).outermost
    for node in aside:
        nav.walk(node)
    for node in aside:
        node.decompose()
    if tree.body is not None:
        main.walk(tree.body)
    return main, nav


def _judged(found: _Gatherer, html: bytes) -> list[Block]:
    sizes = [len(text) for text in found.texts]
    outline = Outline(found.elements, sizes)
    full = [size if is_running(text) else 0 for text, size in zip(found.texts, sizes, strict=True)]
    parts = zip(
        found.texts,
        sizes,
        outline.in_links(),
        outline.in_notices(full, html),
        found.linked,
        found.elements,
        strict=True,
    )
    kinds = [
        "nav" if notice else _kind(text, size if teaser else linked, element)
        for text, size, teaser, notice, linked, element in parts
    ]
    kinds = ["main" if among else kind for kind, among in zip(kinds, outline.among_full(kinds), strict=True)]
    outside = outline.apart([size if kind == "main" else 0 for size, kind in zip(sizes, kinds, strict=True)])
    return [
        Block(text, kind, away and kind != "nav") for text, kind, away in zip(found.texts, kinds, outside, strict=True)
    ]
