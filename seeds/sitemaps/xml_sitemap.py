"""Sitemaps and indexes in XML, with the news and hreflang extensions, however broken."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lxml import etree

from seeds.feeds.dates import instant, said
from seeds.markup.encodings import undeclared
from seeds.markup.references import mended
from seeds.sitemaps.addresses import join
from seeds.sitemaps.types import News, Sitemap, SitemapEntry

__all__ = ["parse_xml"]

_MAX_FIELD = 1000
_MAX_ALTERNATES = 200
_STRAY_AMPERSAND = re.compile(rb"&(?!(?:[A-Za-z_][\w.-]{0,60}|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_BEGIN = re.compile(rb"<(?:\?xml\s|(?:[\w.-]+:)?(?:urlset|sitemapindex|url|sitemap)[\s>/])", re.IGNORECASE)


def parse_xml(text: bytes, url: str) -> Sitemap:
    """What is in a document in UTF-8 or as its declaration says; kind "index" when its root says so."""
    text = mended(_with_ampersands_escaped(undeclared(_from_its_begin(text))))
    target = _Target(url)
    parser = etree.XMLParser(
        target=target, recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        # Whole: fed in pieces, a tag without end is looked through anew with each piece behind it.
        etree.fromstring(text, parser)
    except etree.XMLSyntaxError:
        target.broken = True
    target.finish(text)
    rescued = target.broken or len(parser.error_log) > 0
    return Sitemap(target.kind, "INDEX" if target.kind == "index" else "XML", tuple(target.found), rescued)


def _from_its_begin(text: bytes) -> bytes:
    """XML from its declaration or root element on."""
    begin = _BEGIN.search(text)
    return text[begin.start() :] if begin else text


def _with_ampersands_escaped(text: bytes) -> bytes:
    """`&` that begins no reference as `&amp;`, but not in CDATA sections, where it is right."""
    if not _STRAY_AMPERSAND.search(text):
        return text
    first, *rest = text.split(b"<![CDATA[")
    parts = [_STRAY_AMPERSAND.sub(b"&amp;", first)]
    for part in rest:
        section, end, after = part.partition(b"]]>")
        parts.append(section + end + _STRAY_AMPERSAND.sub(b"&amp;", after))
    return b"<![CDATA[".join(parts)


class _Target:
    """Receives the events of one XML document; keeps no tree, so memory is that of the entries found."""

    def __init__(self, url: str) -> None:
        self.kind = "urlset"
        self.found: list[SitemapEntry] = []
        self.broken = False
        self._url = url
        self._fields: dict[str, str] = {}
        self._alternates: list[tuple[str, str]] = []
        self._open = ""
        self._text: list[str] = []
        self._inside = False
        self._in_image = False

    def start(self, tag: str | bytes, attrib: Mapping[str | bytes, str | bytes]) -> None:
        """An element opens; `tag` is "{namespace}name"."""
        namespace, _, name = str(tag).lower().rpartition("}")
        if name == "sitemapindex":
            self.kind = "index"
        elif name in ("url", "sitemap"):
            self._complete()
            self._inside = True
        elif name == "link" and self._inside:
            self._alternate({str(key).lower(): str(value) for key, value in attrib.items()})
        elif self._inside:
            # An image's address is no page's. Of a prefix that is not declared lxml says nothing, the namespace least.
            self._in_image = self._in_image or name == "image"
            if self._in_image or "image" in namespace or "video" in namespace:
                name = ""
            elif "news" in namespace:
                name = f"news:{name}"
            self._open, self._text = name, []

    def data(self, data: str | bytes) -> None:
        """Text, in pieces."""
        if self._open:
            self._text.append(str(data))

    def end(self, tag: str | bytes) -> None:
        """An element closes."""
        name = str(tag).rpartition("}")[2].lower()
        if self._open and self._open.rpartition(":")[2] == name:
            self._fields.setdefault(self._open, "".join(self._text).strip())
            self._open = ""
        elif name in ("url", "sitemap"):
            self._complete()
        elif name == "image":
            self._in_image = False

    def comment(self, text: str | bytes) -> None:
        """Comments say nothing."""

    def close(self) -> None:
        """lxml's sign that the document ended."""

    def finish(self, text: bytes) -> None:
        """Take what a document cut short left open, unless the address itself may be cut."""
        if self._open == "loc":
            loc = "".join(self._text).strip()
            if not text.rstrip().endswith(loc[-20:].encode()):
                self._fields.setdefault("loc", loc)
        self._complete()

    def _alternate(self, attributes: Mapping[str, str]) -> None:
        if attributes.get("rel", "").strip().lower() != "alternate" or len(self._alternates) >= _MAX_ALTERNATES:
            return
        if address := join(self._url, attributes.get("href", "")):
            self._alternates.append((attributes.get("hreflang", "").strip().lower(), address))

    def _complete(self) -> None:
        fields, self._fields = self._fields, {}
        alternates, self._alternates = tuple(self._alternates), []
        self._inside, self._in_image, self._open = False, False, ""
        loc = join(self._url, fields.get("loc", ""))
        if not loc:
            return
        news = None
        if any(key.startswith("news:") for key in fields):
            published = instant(fields.get("news:publication_date", ""))
            news = News(
                publication=_cut(fields, "news:name"),
                language=_cut(fields, "news:language").lower(),
                title=_cut(fields, "news:title"),
                published_ms=published,
                published=said(fields.get("news:publication_date", "")),
            )
        self.found.append(
            SitemapEntry(
                loc=loc,
                lastmod_ms=instant(fields.get("lastmod", "")),
                changefreq=_cut(fields, "changefreq").lower(),
                priority=_number(fields.get("priority", "")),
                alternates=alternates,
                news=news,
            )
        )


def _cut(fields: Mapping[str, str], key: str) -> str:
    return fields.get(key, "")[:_MAX_FIELD]


def _number(text: str) -> float | None:
    try:
        return min(1.0, max(0.0, float(text))) if text else None
    except ValueError:
        return None
