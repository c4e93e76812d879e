"""What the head of a page says: its title, languages and relations, and what it asks of robots.

Such elements count wherever they stand, as broken pages have them in their bodies. All are found in one pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from relevance.pages.robots_tag import directives_in

_REFRESH = re.compile(
    r"\s*+[\d.]++(?>\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?+(?:\"([^\"]*+)|'([^']*+)|(.++))", re.IGNORECASE | re.DOTALL
)

_TELLING = "meta[content],link[href][rel],script,time[datetime],[itemprop],abbr.published[title]"
_Attributes = dict[str, str | None]
Meta = tuple[str, str]
"""Of a `<meta>` its name (or property) in small letters, and its content."""


@dataclass(frozen=True, slots=True)
class Told:
    """What may tell of a page's publication: its `title`, `metas`, `scripts` of JSON, `times`, and `others`: elements
    with an `itemprop` or of hAtom's class `published`, in the order of the page, but metas last; `licences`: addresses,
    as written. `code`: scripts that browsers run, in the page."""

    title: str
    metas: list[Meta]
    scripts: list[LexborNode]
    licences: list[str]
    times: list[LexborNode]
    others: list[LexborNode]
    code: list[LexborNode]


@dataclass(frozen=True, slots=True)
class Head:
    """`facts`: fields of :class:`relevance.pages.page.Page`."""

    facts: dict[str, Any]
    told: Told


def _value(attributes: _Attributes, name: str) -> str:
    value = attributes.get(name)
    return value.strip() if value else ""


def read_head(tree: LexborHTMLParser, robots_names: tuple[str, ...]) -> Head:
    """`robots_names`: of meta elements that tell robots something."""
    nodes: dict[str, list[LexborNode]] = {"meta": [], "link": [], "script": [], "time": [], "": []}
    # What two selectors find is given twice.
    for node in {node.mem_id: node for node in tree.css(_TELLING)}.values():
        nodes.get(node.tag or "", nodes[""]).append(node)
    links = [link.attributes for link in nodes["link"]]
    metas: list[Meta] = []
    pragmas: list[str] = []
    for meta in nodes["meta"]:
        attributes = meta.attributes
        content = (attributes.get("content") or "").strip()
        metas.append(((attributes.get("name") or attributes.get("property") or "").strip().lower(), content))
        pragmas.append((attributes.get("http-equiv") or "").strip().lower())
        if "itemprop" in attributes:
            nodes[""].append(meta)
    facts = {**_outline(tree), **_of_metas(metas, pragmas, robots_names), **_relations(links)}
    data, code = _scripts(nodes["script"])
    return Head(facts, Told(facts["title"], metas, data, _licences(links), nodes["time"], nodes[""], code))


def _scripts(nodes: list[LexborNode]) -> tuple[list[LexborNode], list[LexborNode]]:
    """Those of JSON with a text, and those that browsers run. (Rocket Loader writes its own word before a type.)"""
    data, code = [], []
    for node in nodes:
        if node.first_child is None:  # it is elsewhere
            continue
        kind = (node.attributes.get("type") or "").strip().lower()
        if not kind or kind == "module" or kind.endswith("javascript"):
            code.append(node)
        elif "json" in kind:
            data.append(node)
    return data, code


def _outline(tree: LexborHTMLParser) -> dict[str, Any]:
    """What is said by elements that a page has one of."""
    root, title, base = tree.css_first("html"), tree.css_first("title:not(svg *)"), tree.css_first("base[href]")
    languages = root.attributes if root else {}
    return {
        "title": " ".join(title.text().split()) if title else "",
        "html_lang": (_value(languages, "lang") or _value(languages, "xml:lang")).lower(),
        "base": _value(base.attributes, "href") if base else None,
    }


def _of_metas(metas: list[Meta], pragmas: list[str], robots_names: tuple[str, ...]) -> dict[str, Any]:
    """`pragmas`: the `http-equiv` of each."""
    facts: dict[str, Any] = {}
    robots: set[str] = set()
    for (name, content), pragma in zip(metas, pragmas, strict=True):
        if name in robots_names:
            robots.update(directives_in(content))
        elif name == "og:locale":
            facts.setdefault("og_locale", content.lower())
        elif pragma == "content-language":
            facts.setdefault("content_language", content.lower())
        elif pragma == "refresh" and "refresh" not in facts and (target := refresh_target(content)):
            facts["refresh"] = target
    facts["robots_meta"] = frozenset(robots)
    return facts


def refresh_target(value: str) -> str:
    """Where a refresh leads, be it a meta element's or a header's (HTML, "shared declarative refresh steps"), as
    written; "" when nowhere else."""
    found = _REFRESH.match(value)
    return (found[1] or found[2] or found[3] or "").strip() if found else ""


def _relations(links: list[_Attributes]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    hreflangs = []
    for link in links:
        rel, href = _value(link, "rel").lower().split(), _value(link, "href")
        if "canonical" in rel:
            facts.setdefault("canonical", href)
        if "alternate" in rel:
            language = _value(link, "hreflang").lower()
            if language and href:
                hreflangs.append((language, href))
    return {**facts, "hreflangs": tuple(hreflangs)}


def _licences(links: list[_Attributes]) -> list[str]:
    return [_value(link, "href") for link in links if "license" in _value(link, "rel").lower().split()]
