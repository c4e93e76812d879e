"""HTML of the plain pages: five site templates with the boilerplate, meta data and link blocks of real sites; some with
their text as JSON for a script to draw, of some PDF instead.

Document order of the links is that of `Graph.links`. A page is put together from pieces drawn once (paragraphs, link
blocks, a host's head and foot), so it costs some 30 us and is the same bytes whenever it is drawn.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from tests.web.drawn import drawn
from tests.web.graph import BlockKey, Graph, Link, Traits
from tests.web.hashing import draws, share
from tests.web.paths import Paths, Resource, section_of
from tests.web.pdf import Piece, Style, document
from tests.web.sites import BRANCHING, Site, short_code
from tests.web.spec import WebSpec
from tests.web.text import POOL_PARAGRAPHS, pool

_PARAGRAPH_BYTES = 330
_MOST_PARAGRAPHS = 130
_FURNITURE_BYTES = 5600
_INLINE = 3
_DRAWS = 8
_TAG = re.compile(r"<[^>]*>|\n")
_NEWSPAPER = Style(columns=2, size=9, justified=True, broken=True, indent=10)
_REPORT = Style(head="Umbiko")


class Skin(NamedTuple):
    """What all pages of a host share."""

    head: bytes
    top: bytes
    foot: bytes


class Pages:
    """Draws plain pages as UTF-8; other charsets and headers are the answer's business."""

    def __init__(self, spec: WebSpec, paths: Paths, graph: Graph) -> None:
        self.spec = spec
        self.paths = paths
        self.graph = graph
        self.feeds: dict[int, tuple[tuple[str, str], ...]] = {}  # host -> (media type, path) of feeds that pages name
        self._skins: dict[int, Skin] = {}
        self._blocks: dict[BlockKey, bytes] = {}

    def html(self, site: Site, i: int) -> bytes:
        """The page in UTF-8 (whatever its meta element claims)."""
        traits = self.graph.traits(site, i)
        language = self.graph.language(site, i)
        stock = pool(language, self.spec.seed)
        own, blocks = self.graph.parts(site, i)
        anchors = [self._anchor(site, link) for link in own]
        text, d = self._text(site, i)
        count = len(text)
        inline = 0 if traits.drawn else _INLINE
        for place, anchor in enumerate(anchors[:inline]):
            said = stock.sentences[d[2 + place] % len(stock.sentences)]
            text.insert((2 * place + 1) * count // 8, f"<p>{said} {anchor}</p>\n".encode())
        skin = self._skins.get(site.index) or self._skin(site)
        title = self._title(language, i, d[0])
        related = "\n".join([f"<li>{anchor}</li>" for anchor in anchors[inline:]])
        if traits.drawn:
            text = [drawn(i, title, text)]
        return b"".join((
            self._head(site, i, traits, language, title).encode(), skin.head, self._robots_meta(traits), skin.top,
            f'<main><article><h1>{title}</h1>\n<p class="meta"><time>{2000 + d[7] % 26}-05-17</time></p>\n'.encode(),
            *text, b'<ul class="related">', related.encode(), b"</ul></article></main>\n<aside>",
            *[self._blocks.get(key) or self._block(key) for key in blocks], b"</aside>\n", skin.foot,
        ))  # fmt: skip

    def pdf(self, site: Site, i: int) -> bytes:
        """The same text as a PDF document, newspapers in two columns, with the links that the page would have."""
        language = self.graph.language(site, i)
        text, d = self._text(site, i)
        title = self._title(language, i, d[0])
        pieces = [Piece(title, "h"), *(Piece(_TAG.sub("", paragraph.decode())) for paragraph in text)]
        links = [self.href(link) for link in self.graph.links(site, i) if link.resource and not link.nofollow]
        claimed = self.graph.traits(site, i).lang
        said = short_code(language) if claimed == "" else claimed or ""
        style = _NEWSPAPER if site.template == "news" else _REPORT
        return document(pieces, style, title=title, language=said, links=links)

    def _text(self, site: Site, i: int) -> tuple[list[bytes], tuple[int, ...]]:
        """The page's paragraphs, and the draws that they and its title come from."""
        model = self._model(site, i)
        d = draws(_DRAWS + _MOST_PARAGRAPHS // 2, self.spec.seed, "text", site.index, model)
        owned, sides = self.graph.parts(site, model)
        stock = pool(self.graph.language(site, i), self.spec.seed).paragraphs
        count = self._paragraphs(d[1], len(owned) + 8 * len(sides))
        half = -(-count // 2)
        text = [stock[n % POOL_PARAGRAPHS] for n in d[_DRAWS : _DRAWS + half]]
        return text + [stock[(n >> 16) % POOL_PARAGRAPHS] for n in d[_DRAWS : _DRAWS + count - half]], d

    def _title(self, language: str, i: int, number: int) -> str:
        anchors = pool(language, self.spec.seed).anchors
        return anchors[number % len(anchors)] + f" {i}" * (i > 0)

    def href(self, link: Link) -> str:
        """The link's absolute URL as found (odd spelling included)."""
        if link.resource is None:
            return link.href
        if link.spelling:
            return self.paths.spelled(link.resource, link.spelling, link.number)
        return self.paths.url(link.resource)

    def _model(self, site: Site, i: int) -> int:
        """The page whose text page `i` has: itself, or where texts are copied one with a smaller number."""
        rate = self.spec.rates.copied
        if not rate or share(draws(1, self.spec.seed, "copied", site.index, i)[0]) >= rate:
            return i
        model = i // 4
        return model if self.graph.language(site, model) == self.graph.language(site, i) else i

    def _paragraphs(self, number: int, links: int) -> int:
        """Sizes from about half to two and a half times the median, small ones more often."""
        wanted = self.spec.page_bytes * (0.6 + 1.9 * share(number) ** 2) - _FURNITURE_BYTES - 95 * links
        return max(5, min(_MOST_PARAGRAPHS, int(wanted / _PARAGRAPH_BYTES)))

    def _anchor(self, site: Site, link: Link) -> str:
        """The link as an element: with the path alone within the host, else absolute."""
        resource = link.resource
        rel = ' rel="nofollow"' if link.nofollow else ""
        if resource is None:
            return f'<a href="{link.href}"{rel}>{link.href[:16]}</a>'
        if link.spelling or resource.site != site.index:
            href = self.href(link)
        else:
            href = self.paths.path(resource)
        return f'<a href="{href.replace("&", "&amp;")}"{rel}>{self._label(resource)}</a>'

    def _label(self, resource: Resource) -> str:
        tongue = self.paths.sites[resource.site].languages[section_of(resource.n)]
        anchors = pool(tongue, self.spec.seed).anchors
        return anchors[(resource.n * 2654435761 >> 7) % len(anchors)]

    def _block(self, key: BlockKey) -> bytes:
        site = self.paths.sites[key[0]]
        links = "\n".join(f"<li>{self._anchor(site, link)}</li>" for link in self.graph.block(*key))
        heading = pool(site.languages[key[1]], self.spec.seed).anchors[key[2]]
        self._blocks[key] = f"<h3>{heading}</h3><ul>{links}</ul>\n".encode()
        return self._blocks[key]

    def _head(self, site: Site, i: int, traits: Traits, language: str, title: str) -> str:
        short = short_code(language)
        claimed = short if traits.lang == "" else traits.lang
        lang = f' lang="{claimed}"' if claimed is not None else ""
        charset = _CHARSETS[traits.charset]
        meta = f'<meta charset="{charset}">' if charset else ""
        canonical = self.paths.url(Resource(site.index, "page", i)).replace("&", "&amp;")
        locale = f'<meta property="og:locale" content="{short}_ZA">' if i % 3 else ""
        return (
            f"<!DOCTYPE html>\n<html{lang}>\n<head>\n{meta}<title>{title} | {site.name}</title>\n"
            f'<link rel="canonical" href="{canonical}">\n{locale}{self._alternate(site, i)}\n'
        )

    def _alternate(self, site: Site, i: int) -> str:
        """hreflang from a section head of a mixed host to its neighbour in the other language."""
        if site.role != "mixed" or not 0 < i <= BRANCHING:
            return ""
        twin = i + 1 if i % 2 else i - 1
        if twin >= min(site.pages, BRANCHING):
            return ""
        language = self.graph.language(site, twin)
        there = self.paths.url(Resource(site.index, "page", twin))
        return f'<link rel="alternate" hreflang="{short_code(language)}" href="{there}">'

    @staticmethod
    def _robots_meta(traits: Traits) -> bytes:
        where, _, what = traits.robots.partition(" ")
        return f'<meta name="robots" content="{what}">\n'.encode() if where == "meta" else b""

    def _skin(self, site: Site) -> Skin:
        words = pool(site.language, self.spec.seed)
        d = draws(16, self.spec.seed, "skin", site.index)
        named = "".join(
            f'<link rel="alternate" type="{media}" title="{site.name}" href="{path}">\n'
            for media, path in self.feeds.get(site.index, ())
        )
        said = " ".join(words.sentences[n % len(words.sentences)] for n in d[:4])
        navigation = "".join(f"<li>{self._anchor(site, link)}</li>" for link in self.graph.navigation(site))
        head = f'<meta name="viewport" content="width=device-width">\n{named}<style>{_style(site.template)}</style>\n'
        top = (
            f'</head>\n<body class="{site.template}">\n<header><div class="logo">{site.name}</div>'
            f'<form action="/search" method="post"><input name="q" placeholder="{words.anchors[0]}"></form></header>\n'
            f'<div class="cookies" role="dialog">{words.sentences[d[5] % 99]} <button>OK</button></div>\n'
            f"<nav><ul>{navigation}</ul></nav>\n"
        )
        foot = (
            f"<footer><p>&copy; {site.name}. {said}</p><p>{words.sentences[d[6] % 99]}</p></footer>\n"
            f"<script>{_script(site.template)}</script>\n</body>\n</html>\n"
        )
        self._skins[site.index] = Skin(head.encode(), top.encode(), foot.encode())
        return self._skins[site.index]


#: What the meta element claims, by charset trait.
_CHARSETS = {
    "": "utf-8", "utf-16": "", "missing": "", "header-only": "", "windows-1252": "windows-1252",
    "latin-1-as-utf-8": "utf-8", "utf-8-as-latin-1": "iso-8859-1",
}  # fmt: skip


@lru_cache(maxsize=8)
def _style(template: str) -> str:
    names = ("header", "nav", "main", "article", "aside", "footer", "h1", "h2", "p", "li", "a", ".meta", ".related")
    return "".join(
        f".{template} {name}{':hover' if n >= len(names) else ''}{{margin:{n}px;padding:{n % 5}px;"
        f"color:#{n * 997 % 4096:03x};font-size:{12 + n % 9}px;line-height:1.{n % 9}}}\n"
        for n, name in enumerate(names * 2)
    )


def _script(template: str) -> str:
    return "".join(
        f"function {template}_{n}(e){{if(e.target.href){{window.dataLayer.push({{'event':'{template}{n}'}})}}}}\n"
        for n in range(8)
    )
