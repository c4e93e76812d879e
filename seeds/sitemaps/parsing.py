"""Sitemaps: XML, indexes, gzip, plain text, RSS and Atom as sitemaps; news and hreflang extensions.

Source: sitemaps.org protocol 0.9 with its limits (50 MiB unpacked, 50,000 entries), Google's news and hreflang
extensions. Read leniently: any namespace or prefix, stray ampersands, whatever stands before the declaration (as a
server's warnings do), UTF-16, a declaration of another encoding than the bytes are in, documents cut short (an address
that may itself be cut is dropped). Never resolved: entities, DTDs, the network. What is left out is counted in
`Sitemap.dropped` by reason.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import SplitResult, urljoin, urlsplit

from lxml import etree

from seeds import feeds
from seeds.errors import SeedsError
from seeds.feeds.xml_feed import DECLARATION, WIDE
from seeds.markup.references import mended

__all__ = ["News", "Sitemap", "SitemapEntry", "SitemapError", "in_robots", "parse", "unpack", "well_known"]

MAX_BYTES = 50 << 20
MAX_ENTRIES = 50_000
_MAX_LOC = 4096
_MAX_FIELD = 1000
_MAX_ALTERNATES = 200
_LAYERS = 2

_STRAY_AMPERSAND = re.compile(rb"&(?!(?:[A-Za-z_][\w.-]{0,60}|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_ROOT = re.compile(rb"<(?:[\w.-]+:)?(urlset|sitemapindex|url|sitemap|rss|feed|rdf)[\s>/]", re.IGNORECASE)
_BEGIN = re.compile(rb"<(?:\?xml\s|(?:[\w.-]+:)?(?:urlset|sitemapindex|url|sitemap)[\s>/])", re.IGNORECASE)
_HTML = re.compile(rb"<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)


class SitemapError(SeedsError):
    """A document that is no sitemap; `reason` is too_large, gzip, html, feed or not_a_sitemap."""

    def __init__(self, reason: str, detail: str = "") -> None:
        self.reason = reason
        super().__init__(f"{reason}: {detail}" if detail else reason)


@dataclass(frozen=True, slots=True)
class News:
    """Google's news extension of one entry."""

    publication: str = ""
    language: str = ""
    title: str = ""
    published_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One address. `alternates` maps hreflang to the same page in other languages; `lastmod_ms` None when unknown."""

    loc: str
    lastmod_ms: int | None = None
    changefreq: str = ""
    priority: float | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    news: News | None = None

    @property
    def dated_ms(self) -> int | None:
        """When the page is from: its publication in a news sitemap, else its lastmod."""
        return self.news.published_ms if self.news and self.news.published_ms is not None else self.lastmod_ms


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap of pages (kind "urlset") or of sitemaps ("index"); `format` is XML, INDEX, TEXT, RSS or ATOM."""

    kind: str
    format: str
    entries: tuple[SitemapEntry, ...] = ()
    rescued: bool = False
    dropped: Mapping[str, int] = field(default_factory=dict)

    @property
    def locs(self) -> list[str]:
        """The addresses alone."""
        return [entry.loc for entry in self.entries]


def parse(
    body: bytes,
    url: str = "",
    *,
    content_type: str | None = None,
    newer_than_ms: int | None = None,
    own_place: bool = False,
) -> Sitemap:
    """The sitemap in `body`, plain or gzip; raises SitemapError.

    With `newer_than_ms` entries known to be older are left out (those without a date stay). With `own_place` only
    addresses on the sitemap's own host and below its own folder are kept, as the protocol demands of a sitemap nobody
    vouches for; by default they may lead anywhere and the crawl's scope decides.
    """
    text = _narrow(unpack(body)).lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    root = _ROOT.search(text[:65536])
    if root is None:
        if _HTML.search(text[:4096]):
            raise SitemapError("html", "a page, not a sitemap")
        kind, form, found, rescued = _plain(text, url)
    elif root[1].lower() in (b"rss", b"feed", b"rdf"):
        kind, form, found, rescued = _feed(text, url, content_type)
    else:
        kind, form, found, rescued = _xml(text, url)
    if not found and kind == "urlset" and form == "TEXT":
        raise SitemapError("not_a_sitemap", "neither a known root element nor a list of addresses")
    dropped: Counter[str] = Counter()
    entries = _sifted(found, url if own_place else "", newer_than_ms, dropped)
    return Sitemap(kind, form, tuple(entries), rescued, dict(dropped))


def unpack(body: bytes) -> bytes:
    """The body without its gzip layers (at most two); what a cut gzip still yields is given back."""
    for _ in range(_LAYERS):
        if body[:2] != b"\x1f\x8b":
            break
        unzip = zlib.decompressobj(wbits=31)
        try:
            text = unzip.decompress(body, MAX_BYTES + 1)
        except zlib.error as error:
            raise SitemapError("gzip", str(error)) from error
        if len(text) > MAX_BYTES:
            raise SitemapError("too_large", f"more than {MAX_BYTES} bytes unpacked")
        body = text
    if len(body) > MAX_BYTES:
        raise SitemapError("too_large", f"{len(body)} bytes, limit {MAX_BYTES}")
    return body


def in_robots(robots_txt: bytes, url: str) -> list[str]:
    """The sitemaps a robots.txt names, absolute, in order, each once."""
    found = re.findall(rb"^[ \t]*site-?map[ \t]*:[ \t]*(\S+)", robots_txt[:512_000], re.IGNORECASE | re.MULTILINE)
    joined = (_join(url, loc.decode("utf-8", "replace")) for loc in found)
    return list(dict.fromkeys(link for link in joined if link))


def well_known(url: str) -> list[str]:
    """Addresses where sites keep sitemaps that their robots.txt does not name, the likeliest first."""
    names = "sitemap.xml sitemap_index.xml wp-sitemap.xml sitemap-index.xml news-sitemap.xml sitemap.xml.gz sitemap.txt"
    return [link for name in names.split() if (link := _join(url, f"/{name}"))]


_Found = tuple[str, str, list[SitemapEntry], bool]


def _narrow(text: bytes) -> bytes:
    """A document in UTF-16 or UTF-32 in UTF-8; any other as it is."""
    wide = next((encoding for start, encoding in WIDE if text.startswith(start)), None)
    return text if wide is None else text.decode(wide, "replace").encode()


def _from_its_begin(text: bytes) -> bytes:
    """XML from its declaration or root element on. What is in UTF-8 is so whatever its declaration says: "utf-16" is
    common before it, and would cost the whole document."""
    begin = _BEGIN.search(text)
    text = text[begin.start() :] if begin else text
    try:
        _, whole = codecs.utf_8_decode(text)  # without the last character where that is cut
    except UnicodeDecodeError:
        return text
    return DECLARATION.sub(b"", text[:whole], count=1)


def _plain(text: bytes, url: str) -> _Found:
    found: list[SitemapEntry] = []
    for line in text.decode("utf-8", "replace").splitlines():
        word = line.strip()
        if re.match(r"(?:[\w-]+\.)+[a-z]{2,}(?:[/?#]|$)", word, re.IGNORECASE):
            word = f"http://{word}"
        if word.lower().startswith(("http://", "https://")) and not re.search(r"\s", word):
            loc = _join(url, word)
            if loc:
                found.append(SitemapEntry(loc))
    return "urlset", "TEXT", found, False


def _feed(text: bytes, url: str, content_type: str | None) -> _Found:
    try:
        feed = feeds.parse(text, url, content_type)
    except feeds.FeedError as error:
        raise SitemapError("feed", str(error)) from error
    found = []
    for entry in feed.entries:
        loc = _join(url, entry.link or (entry.id if entry.id.startswith(("http://", "https://")) else ""))
        if loc:
            news = News(language=entry.language, title=entry.title, published_ms=entry.published_ms)
            found.append(SitemapEntry(loc, entry.updated_ms or entry.published_ms, news=news))
    return "urlset", "ATOM" if feed.format.startswith("atom") else "RSS", found, feed.rescued


def _xml(text: bytes, url: str) -> _Found:
    text = mended(_with_ampersands_escaped(_from_its_begin(text)))
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
    return target.kind, "INDEX" if target.kind == "index" else "XML", target.found, rescued


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
            self._alternate({str(key): str(value) for key, value in attrib.items()})
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
        address = _join(self._url, attributes.get("href", ""))
        if attributes.get("rel", "").lower() == "alternate" and address and len(self._alternates) < _MAX_ALTERNATES:
            self._alternates.append((attributes.get("hreflang", "").lower(), address))

    def _complete(self) -> None:
        fields, self._fields = self._fields, {}
        alternates, self._alternates = tuple(self._alternates), []
        self._inside, self._in_image, self._open = False, False, ""
        loc = _join(self._url, fields.get("loc", ""))
        if not loc:
            return
        news = None
        if any(key.startswith("news:") for key in fields):
            published = _instant(fields.get("news:publication_date", ""))
            news = News(
                _cut(fields, "news:name"), _cut(fields, "news:language").lower(), _cut(fields, "news:title"), published
            )
        self.found.append(
            SitemapEntry(
                loc=loc,
                lastmod_ms=_instant(fields.get("lastmod", "")),
                changefreq=_cut(fields, "changefreq").lower(),
                priority=_number(fields.get("priority", "")),
                alternates=alternates,
                news=news,
            )
        )


def _sifted(
    found: list[SitemapEntry], place: str, newer_than_ms: int | None, dropped: Counter[str]
) -> list[SitemapEntry]:
    kept: list[SitemapEntry] = []
    seen: set[str] = set()
    own = urlsplit(place)
    folder = own.path.rpartition("/")[0] + "/"
    for entry in found:
        dated = entry.dated_ms
        if len(kept) >= MAX_ENTRIES:
            dropped["over_limit"] += 1
        elif entry.loc in seen:
            dropped["repeated"] += 1
        elif place and not _is_below(entry.loc, own, folder):
            dropped["elsewhere"] += 1
        elif newer_than_ms is not None and dated is not None and dated < newer_than_ms:
            dropped["older"] += 1
        else:
            seen.add(entry.loc)
            kept.append(entry)
    return kept


def _is_below(loc: str, own: SplitResult, folder: str) -> bool:
    parts = urlsplit(loc)
    return parts.netloc.lower() == own.netloc.lower() and (parts.path or "/").startswith(folder)


def _join(base: str, loc: str) -> str:
    """Absolute and without fragment, "" for what is no http(s) address; joined only when it has to be."""
    loc = loc.strip()
    if not loc or len(loc) > _MAX_LOC:
        return ""
    try:
        if not loc.lower().startswith(("http://", "https://")):
            loc = urljoin(base, loc)
        parts = urlsplit(loc)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ""
    return parts.scheme + loc.split("#", 1)[0][len(parts.scheme) :]


def _cut(fields: Mapping[str, str], key: str) -> str:
    return fields.get(key, "")[:_MAX_FIELD]


def _number(text: str) -> float | None:
    try:
        return min(1.0, max(0.0, float(text))) if text else None
    except ValueError:
        return None


def _instant(text: str) -> int | None:
    """A W3C date and time (year alone, year and month too) in epoch milliseconds; without zone it is UTC."""
    text = text.strip()
    if re.fullmatch(r"\d{4}(-\d{2})?", text):
        text = f"{text}-01" if len(text) == 7 else f"{text}-01-01"
    try:
        when = datetime.fromisoformat(text)
        return int((when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
