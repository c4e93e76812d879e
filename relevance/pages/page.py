"""One parse of a page for all who need something of it: text blocks, links, languages, robots directives.

Guarantees: any bytes give a Page; scripts, styles, templates, form controls, what stands in for media and comments are
never text; its blocks are those of :mod:`relevance.pages.blocks`; links are given as found (raw href, white space
trimmed), in document order. A page that a script draws has the text that it carries for that
(:mod:`relevance.pages.carried`).

Source: the clean-up list of the thesis (section 3.3) without its faults. Parser: lexbor through selectolax, the fastest
of three measured (docs/relevance.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from relevance.pages.blocks import FULL, Block, Gatherer, is_running, judged, running
from relevance.pages.carried import MOST_COMPARED, in_state, is_shown, markup, squeezed
from relevance.pages.encoding import decode
from relevance.pages.flattened import NEVER_TEXT, flattened, is_usual
from relevance.pages.frames import frames
from relevance.pages.head import Head, read_head
from relevance.pages.licences import LICENCES
from relevance.pages.linked_data import BODY, FREE, LinkedData
from relevance.pages.media_type import media_type
from relevance.pages.navigation import Navigation, navigation
from relevance.pages.noscript import without_open_noscript
from relevance.pages.outline import HEADINGS
from relevance.pages.publication import (
    NOTHING_SAID,
    Linked,
    Origin,
    Publication,
    read_data,
    read_publication,
    with_what_is_printed,
)
from relevance.pages.states import LITTLE, Script, scripts
from relevance.pages.xhtml import as_html

MAX_BODY = 8 * 1024 * 1024
MAX_LINKS = 10_000
MOST_LINES = 100_000
"""Blocks of a plain text: of one with more lines that are not blank, as a list of words has, several make a block."""
_OPTIONS = LexborDocumentOptions.WO_EVENTS  # else each option that is chosen is copied, with all there is in it
_BODY, _FREE = BODY.encode(), FREE.encode()


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
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
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
    html = as_html(body[:MAX_BODY] if plain else decoded.text.encode("utf-8", "replace"), content_type)
    usual = is_usual(html)
    tree = tree_of(html, usual)
    head = read_head(tree, ("robots", robot.lower() or "robots"))
    nav = navigation(tree)
    links, linking = _links(tree, nav)
    publication, data, states = NOTHING_SAID, LinkedData(), scripts(head.told)
    origin = Origin(url, captured or "", head.facts["base"], head.facts.get("canonical"))
    if captured is not None or _BODY in html or (states and _FREE in html):
        data = read_data(head.told, origin)
        if captured is not None:
            publication = read_publication(tree, head.told, data, _linked(links), origin)
    main, aside = _gathered(tree, nav, linking)
    blocks = (*judged(main, html), *(Block(text, "nav") for text in aside.texts))
    if carried := _carried(data, states, head, blocks):
        texts, more = texts_and_links(markup(carried).encode("utf-8", "replace"))
        if sum(map(len, texts)) >= FULL and not is_shown(texts, [block.text for block in blocks]):
            blocks, links = _with_carried(blocks, texts), (links + more)[:MAX_LINKS]
    if captured is not None:
        publication = with_what_is_printed(publication, blocks, data, head.facts["title"], origin)
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


def _linked(links: Sequence[Link]) -> Linked:
    rels = chain.from_iterable(map(str.split, {link.rel for link in links}))
    return Linked(frozenset(rels), any(LICENCES in link.href.lower() for link in links))


def _carried(data: LinkedData, states: Sequence[Script], head: Head, shown: Sequence[Block]) -> str:
    """The text, in HTML or plain, that a page carries for machines or for a script to draw; "": it shows enough, or
    carries none."""
    if data.text or data.for_money or not states:
        return data.text
    if sum(len(block.text) for block in shown if block.kind == "main") > LITTLE:
        return ""
    site = next((content for name, content in head.told.metas if name == "og:site_name"), "")
    return in_state(states, head.facts["title"], site)


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
    links += [Link(address, title) for address, title in frames(tree)[: MAX_LINKS - len(links)]]
    return links, frozenset(identity for identity, node in zip(identities, nodes, strict=True) if not _is_own(node))


def _is_own(link: LexborNode) -> bool:
    """A heading's link to itself or to another place of the page: what it is the text of is no teaser's."""
    if (around := link.parent) is None or around.tag not in HEADINGS:
        return False
    href = (link.attributes.get("href") or "").lstrip()
    return len(href) > 1 and href[0] == "#"


def _gathered(tree: LexborHTMLParser, found: Navigation, links: Collection[int]) -> tuple[Gatherer, Gatherer]:
    """The texts of the page's main part and those of its navigation; what else there is goes from the tree. `found`:
    its navigation as it was; `links`: the elements that are links."""
    tree.strip_tags(list(NEVER_TEXT))
    main, nav = Gatherer(links), Gatherer(links)
    aside = (found if found.is_whole() else navigation(tree)).outermost
    for node in aside:
        nav.walk(node)
    for node in aside:
        node.decompose()
    if tree.body is not None:
        main.walk(tree.body)
    return main, nav
