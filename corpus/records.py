"""From a record of an archive to a document, or to the reason why it is none.

In three steps, so that who needs less can stop or choose in between: :func:`capture_of`, :func:`page_of`,
:func:`document_of`; :func:`read_record` is all of them.

Read are answers with status 200 (``response``), ``resource`` and ``conversion`` records (WET) that hold HTML, XHTML,
plain text or, with a reader for them, PDF. Transfer- and content-codings (gzip, deflate, br, zstd) are taken off, at
most :data:`MAX_BODY` bytes of a page are looked at (of a PDF document: :data:`relevance.pdf.MAX_BODY`). Encodings: byte
order mark, HTTP, meta, then UTF-8 or windows-1252
(:mod:`relevance.pages.encoding`).
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from archive import ArchiveError, Record
from corpus.anchors import place_links
from corpus.document import Document, Link, Paragraph, main_language
from corpus.languages import paragraph_languages
from corpus.selection import main_blocks, without_markup
from relevance import Page, PdfError, RelevanceError, read_page
from relevance.language.identification import Identifier
from relevance.pages.media_type import media_type
from relevance.pages.page import MAX_BODY
from relevance.pages.robots_tag import robots_tag
from relevance.pdf import MAX_BODY as MAX_PDF
from relevance.pdf import PDF, PdfReader, is_pdf, may_be_pdf

_CAPTURES = frozenset(("response", "resource", "conversion"))
_HTML = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_TEXT = frozenset(("text/plain",))
_LOOKS_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta)\b", re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OF_A_CRAWLER = re.compile(r"metadata:|urn:X-wpull:|whois:", re.I)
"""Logs and settings that wget, NetarchiveSuite (``metadata:``) and wpull keep beside what they have captured, and whom
a host belongs to, as Heritrix asks."""
_RENDERED = re.compile(r"urn:text(?:Final)?:", re.I)
"""The text of a page as Browsertrix and ArchiveWeb.page have seen it, menus and all, beside its capture."""
_ROBOTS_TXT = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/?#]*)?/robots\.txt(?:[?#]|\Z)")
_BINARY_SHARE = 0.05
_NOT_KEPT = frozenset(("noindex", "none", "noarchive"))
_NOT_MODIFIED = 304
_CODING = "coding"
"""Of :attr:`corpus.document.Document.truncated`: a transfer- or content-coding that breaks off or has a fault."""
_OURS = "ulwembu"


@dataclass(frozen=True, slots=True)
class Read:
    """What became of a record: a ``document``, or a ``reason`` of :data:`corpus.tally.RECORD_REASONS` why not.

    ``why``: of "failed" and "unreadable", in words. ``asides``: blocks that are no main text. ``notes``: names of
    :attr:`corpus.tally.Tally.notes`.
    """

    document: Document | None = None
    reason: str = ""
    why: str = ""
    asides: int = 0
    notes: tuple[str, ...] = ()


ReadRecord = Callable[[Record], Read]
"""A way to read records, which may be as bad as they like; it can be sent to another process."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How records are read, see :func:`read_record`."""

    identifier: Identifier | None = None
    links: bool = False
    whole: bool = False
    pdf: PdfReader | None = None

    def __call__(self, record: Record) -> Read:
        return never_failing(lambda: read_record(record, self))


def never_failing(read: Callable[[], Read]) -> Read:
    """What is read; "failed" where that cannot be."""
    try:
        return read()
    except (RelevanceError, ArchiveError, ValueError) as error:
        return Read(reason="failed", why=str(error))


def read_record(record: Record, how: Reading = Reading()) -> Read:
    """``how``: ``identifier`` names the languages (None: the shipped model); ``links``: also find where the links stand
    in the text (as much work again); ``whole``: also what stands apart from the page's main part; ``pdf``: reads PDF
    documents (None: they are not read)."""
    capture = capture_of(record, pdf=how.pdf is not None)
    if isinstance(capture, Read):
        return capture
    page = page_of(record, capture, dated=True, pdf=how.pdf)
    if isinstance(page, Read):
        return page
    chosen = main_blocks(page.blocks, whole=how.whole)
    placing = how.links and capture.is_html and bool(page.links)
    places = place_links(capture.body, capture.content_type, page, frozenset(chosen)) if placing else None
    read = of_capture(document_of(record, page, chosen, places, how.identifier), capture)
    return replace(read, notes=(*read.notes, "links")) if placing and places is None else read


@dataclass(frozen=True, slots=True)
class Capture:
    """The content of a record that may be a page. ``notes``: as of :class:`Read`; ``whole``: whether its codings came
    to their end."""

    body: bytes
    media: str
    content_type: str | None
    notes: tuple[str, ...]
    whole: bool

    @property
    def is_html(self) -> bool:
        return self.media in _HTML


def capture_of(record: Record, *, pdf: bool = False) -> Capture | Read:
    """What a record captured, its codings taken off, or why it is no page. ``pdf``: a PDF document is one, too."""
    reason = _unfit(record, pdf)
    if reason:
        return Read(reason=reason, why="no HTTP head" if reason == "failed" else "")
    media, content_type = media_type(record.content_type), record.content_type or None
    most = MAX_PDF if pdf and may_be_pdf(media) else MAX_BODY
    body, whole = record.unpacked(most + 1)
    if pdf and is_pdf(media, body):
        media = PDF
    elif not media and _LOOKS_HTML.search(body, 0, 1024):
        media = "text/html"
    if media not in _HTML | _TEXT and not (pdf and media == PDF):
        return Read(reason="media_type")
    if not record.in_memory and not record.whole():
        return Read(reason="damaged")
    notes = ("cut",) if len(body) > (most if media == PDF else MAX_BODY) else ()
    return Capture(body, media, content_type, notes, whole)


def page_of(record: Record, capture: Capture, *, dated: bool = False, pdf: PdfReader | None = None) -> Page | Read:
    """The page that was captured, or why it is not to be read. ``dated``: with what it says of its publication; a PDF
    document needs its reader."""
    captured = record.date if dated else None
    url = _valid_utf8(record.url)
    if capture.media == PDF:
        assert pdf is not None
        try:
            page = pdf.read(capture.body, url)
        except PdfError as error:
            return Read(reason="unreadable", why=error.reason, notes=capture.notes)
        except OSError as error:  # as for want of memory; no fault of the archive, which is read on
            return Read(reason="failed", why=f"no process to read it can be started: {error}", notes=capture.notes)
    else:
        page = read_page(capture.body, url, capture.content_type, _OURS, captured)
    if _is_binary(page):
        return Read(reason="binary", notes=capture.notes)
    if record.type == "conversion" and capture.media in _TEXT:
        page = replace(page, blocks=without_markup([block.text for block in page.blocks]))
    if _NOT_KEPT & (page.robots_meta | _robots_tag(record)):
        return Read(reason="robots_meta", notes=capture.notes)
    return page


def _unfit(record: Record, pdf: bool) -> str:
    kind = record.type
    if kind == "revisit":
        return _unfit_again(record, pdf) or "revisit"
    if kind not in _CAPTURES or _OF_A_CRAWLER.match(record.url):
        return "record_type"
    if _RENDERED.match(record.url):
        return "rendered"
    if record.damage is not None:
        return "damaged"
    http = record.http
    if http is None and record.is_http:
        return "failed"
    if http is not None and http.status != 200:
        return "status"
    return "robots_txt" if _ROBOTS_TXT.match(record.url) else ""


def _unfit_again(revisit: Record, pdf: bool) -> str:
    """Why the answer of a revisit makes no document, whatever its content is: it has a head of its own."""
    http = revisit.http
    if http is None or http.status == _NOT_MODIFIED:
        media = ""
    elif http.status != 200:
        return "status"
    else:
        media = media_type(revisit.content_type)
    if media and media not in _HTML | _TEXT and not (pdf and may_be_pdf(media)):
        return "media_type"
    return "robots_meta" if _NOT_KEPT & _robots_tag(revisit) else ""


def _robots_tag(record: Record) -> frozenset[str]:
    return robots_tag(record.http.headers.get_all("x-robots-tag") if record.http is not None else (), _OURS)


def _is_binary(page: Page) -> bool:
    text = "".join(block.text for block in page.blocks[:50])[:4096]
    return len(_CONTROL.findall(text)) > _BINARY_SHARE * len(text)


def document_of(
    record: Record,
    page: Page,
    chosen: Sequence[int],
    places: list[tuple[Link, ...]] | None,
    identifier: Identifier | None,
) -> Read:
    """The document of the ``chosen`` blocks of a page, with the links that are in these ``places`` of all blocks."""
    asides = len(page.blocks) - len(chosen)
    if not chosen:
        return Read(reason="no_text", asides=asides)
    texts = [page.blocks[place].text for place in chosen]
    paragraphs = tuple(
        Paragraph(_one_line(text), page.blocks[place].kind, language, places[place] if places else ())
        for text, place, language in zip(texts, chosen, paragraph_languages(texts, identifier), strict=True)
    )
    said, captured = page.publication, captured_as(record)
    document = Document(
        id=captured.id,
        url=captured.url,
        title=said.title or page.title,
        date=captured.date,
        language=main_language(paragraphs),
        paragraphs=paragraphs,
        charset=page.charset,
        place=captured.place,
        truncated=_valid_utf8(record.truncated),
        published=said.published,
        author=said.author,
        site=said.site,
        licence=said.licence,
        published_from=said.published_from,
    )
    return Read(document, asides=asides)


def of_capture(read: Read, capture: Capture) -> Read:
    """What is read of a page, with what is known of its capture."""
    document = read.document
    if document is None:
        return replace(read, notes=capture.notes)
    if not capture.whole and not document.truncated:
        document = replace(document, truncated=_CODING)
    return replace(read, document=document, notes=capture.notes + (("truncated",) if document.truncated else ()))


class Captured(NamedTuple):
    """What a document says of its capture."""

    id: str
    url: str
    date: str
    place: str


def captured_as(record: Record) -> Captured:
    place = f"{record.path}:{record.offset}+{record.inner}"
    return Captured(_identity(record), _valid_utf8(record.url), _valid_utf8(record.date), _valid_utf8(place))


def _one_line(text: str) -> str:
    """Lines of plain text may have odd white space inside; blocks of HTML are folded already and stay as they are."""
    return " ".join(text.split())


def _valid_utf8(text: str) -> str:
    """Header bytes that are no UTF-8 become U+FFFD: the output is always UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _identity(record: Record) -> str:
    """The record's UUID; of records without one (ARC) a UUID from URL and date, the same at each run."""
    found = _UUID.search(record.id)
    if found:
        return found[0].lower()
    # uuid5 takes text that is UTF-8; bytes of an address that are none must stay apart.
    name = f"{record.url} {record.date} {record.id}".encode("utf-8", "backslashreplace").decode("utf-8")
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))
