"""HTML of the plain pages: five site templates with the boilerplate, meta data and link blocks of real sites.

Document order of the links is that of `Graph.links`. A page costs about 100 us and
is the same bytes whenever it is drawn.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from tests.web.graph import Graph, Link, Traits
from tests.web.hashing import draws, pick, share
from tests.web.paths import Paths, Resource, section_of
from tests.web.sites import BRANCHING, SHORT_CODES, Site
from tests.web.spec import WebSpec
from tests.web.text import pool

_SENTENCES = 3
_PARAGRAPH_BYTES = 300
_MOST_PARAGRAPHS = 130


class Skin(NamedTuple):
    """What all pages of a host share, ready to be joined."""

    head: str
    top: str
    foot: str


class Pages:
    """Draws plain pages as text; encoding and headers are the answer's business."""

    def __init__(self, spec: WebSpec, paths: Paths, graph: Graph) -> None:
        self.spec = spec
        self.paths = paths
        self.graph = graph
        self.feeds: dict[int, str] = {}  # site -> path of the feed that its pages name
        self._skins: dict[int, Skin] = {}

    def html(self, site: Site, i: int) -> str:
        """The page as a string; its charset trait decides how the answer encodes it."""
        traits = self.graph.traits(site, i)
        language = self.graph.language(site, i)
        words = pool(language, self.spec.seed)
        d = draws(12 + _SENTENCES * _MOST_PARAGRAPHS, self.spec.seed, "text", site.index, i)
        links = self.graph.links(site, i)
        navigation = min(9, site.pages)
        middle = navigation + (len(links) - navigation) * 2 // 3
        hrefs = [self._anchor(site, link) for link in links]
        skin = self._skins.get(site.index) or self._skin(site)
        title = words.anchors[d[0] % len(words.anchors)] + f" {i}" * (i > 0)
        count = self._paragraphs(d[1], len(links))
        sentences = words.sentences
        size = len(sentences)
        places = iter(d[12:])
        text = [
            f"<p>{sentences[a % size]} {sentences[b % size]} {sentences[c % size]}</p>"
            for a, b, c, _ in zip(places, places, places, range(count), strict=False)
        ]
        inline = hrefs[navigation : navigation + 4]
        for place, anchor in enumerate(inline):
            text.insert((place + 1) * len(text) // 5, f"<p>{sentences[d[2 + place] % size]} {anchor}</p>")
        return "".join((
            self._head(site, i, traits, language, title), skin.head, self._robots_meta(traits), "</head>", skin.top,
            "<ul>", "".join([f"<li>{a}</li>" for a in hrefs[:navigation]]), "</ul></nav>\n<main><article><h1>", title,
            "</h1>\n<div class=\"meta\"><span>", str(2000 + d[9] % 26), "</span></div>\n", "\n".join(text),
            "\n<ul class=\"related\">", "\n".join([f"<li>{a}</li>" for a in hrefs[navigation + 4 : middle]]),
            "</ul></article></main>\n<aside><h3>", pick(words.words, d[8]), "</h3><ul>",
            "\n".join([f"<li>{a}</li>" for a in hrefs[middle:]]), "</ul></aside>\n", skin.foot,
        ))  # fmt: skip

    def href(self, link: Link) -> str:
        """The link's absolute URL as found (odd spelling included)."""
        if link.resource is None:
            return link.href
        if link.spelling:
            return self.paths.spelled(link.resource, link.spelling, link.number)
        return self.paths.url(link.resource)

    def _paragraphs(self, number: int, links: int) -> int:
        """Sizes from half to two and a half times the median, small ones more often."""
        wanted = self.spec.page_bytes * (0.55 + 1.9 * share(number) ** 2) - 4200 - 95 * links
        return max(5, min(_MOST_PARAGRAPHS, int(wanted / _PARAGRAPH_BYTES)))

    def _anchor(self, site: Site, link: Link) -> str:
        resource = link.resource
        rel = ' rel="nofollow"' if link.nofollow else ""
        if resource is None:
            return f'<a href="{link.href}"{rel}>{link.href[:16]}</a>'
        if link.spelling:
            href = self.paths.spelled(resource, link.spelling, link.number).replace("&", "&amp;")
        elif resource.site == site.index:
            href = self.paths.path(resource).replace("&", "&amp;")
        else:
            href = self.paths.url(resource).replace("&", "&amp;")
        return f'<a href="{href}"{rel}>{self._label(resource)}</a>'

    def _label(self, resource: Resource) -> str:
        tongue = self.paths.sites[resource.site].languages[section_of(resource.n) if resource.n else 0]
        anchors = pool(tongue, self.spec.seed).anchors
        return anchors[(resource.n * 2654435761 >> 7) % len(anchors)]

    def _head(self, site: Site, i: int, traits: Traits, language: str, title: str) -> str:
        short = SHORT_CODES.get(language, language)
        claimed = short if traits.lang == "" else traits.lang
        lang = f' lang="{claimed}"' if claimed is not None else ""
        charset = {
            "": "utf-8", "utf-16": "", "missing": "", "header-only": "", "windows-1252": "windows-1252",
            "latin-1-as-utf-8": "utf-8", "utf-8-as-latin-1": "iso-8859-1",
        }[traits.charset]  # fmt: skip
        meta = f'<meta charset="{charset}">' if charset else ""
        canonical = self.paths.url(Resource(site.index, "page", i)).replace("&", "&amp;")
        locale = f'<meta property="og:locale" content="{short}_ZA">' if i % 3 else ""
        alternate = ""
        if site.role == "mixed" and 0 < i <= BRANCHING and (i ^ 1) < min(site.pages, BRANCHING + 1) and i ^ 1:
            other = self.graph.language(site, i ^ 1)
            there = self.paths.url(Resource(site.index, "page", i ^ 1))
            alternate = f'<link rel="alternate" hreflang="{SHORT_CODES.get(other, other)}" href="{there}">'
        return (
            f"<!DOCTYPE html>\n<html{lang}>\n<head>\n{meta}<title>{title} | {site.name}</title>\n"
            f'<link rel="canonical" href="{canonical}">\n{locale}{alternate}\n'
        )

    @staticmethod
    def _robots_meta(traits: Traits) -> str:
        where, _, what = traits.robots.partition(" ")
        return f'<meta name="robots" content="{what}">\n' if where == "meta" else ""

    def _skin(self, site: Site) -> Skin:
        words = pool(site.language, self.spec.seed)
        feed = self.feeds.get(site.index, "")
        named = f'<link rel="alternate" type="application/rss+xml" title="{site.name}" href="{feed}">\n' if feed else ""
        d = draws(16, self.spec.seed, "skin", site.index)
        said = " ".join(words.sentences[n % len(words.sentences)] for n in d[:4])
        top = (
            f'\n<body class="{site.template}">\n<header><div class="logo">{site.name}</div>'
            f'<form action="/search" method="post"><input name="q" placeholder="{words.anchors[0]}"></form></header>\n'
            f'<div class="cookies" role="dialog">{words.sentences[d[5] % 99]} <button>OK</button></div>\n<nav>'
        )
        foot = (
            f"<footer><p>&copy; {site.name}. {said}</p><p>{words.sentences[d[6] % 99]}</p></footer>\n"
            f"<script>{_script(site.template)}</script>\n</body>\n</html>\n"
        )
        head = f'<meta name="viewport" content="width=device-width">\n{named}<style>{_style(site.template)}</style>\n'
        self._skins[site.index] = Skin(head, top, foot)
        return self._skins[site.index]


@lru_cache(maxsize=8)
def _style(template: str) -> str:
    names = ("header", "nav", "main", "article", "aside", "footer", "h1", "h2", "p", "li", "a", ".meta", ".related")
    rules = []
    for n, name in enumerate(names * 2):
        rules.append(f".{template} {name}{':hover' if n >= len(names) else ''}{{margin:{n}px;padding:{n % 5}px;")
        rules.append(f"color:#{n * 997 % 4096:03x};font-size:{12 + n % 9}px;line-height:1.{n % 9}}}\n")
    return "".join(rules)


def _script(template: str) -> str:
    return "".join(
        f"function {template}_{n}(e){{if(e.target.href){{window.dataLayer.push({{'event':'{template}{n}'}})}}}}\n"
        for n in range(8)
    )
