"""One feed document read, whatever its format: RSS 0.9x/1.0/2.0, Atom 0.3/1.0, CDF, JSON Feed, RSS written as JSON.

Broken ones are read, too. Nothing is fetched, and what would cost too much is refused (`FeedError`, with a reason):
time and memory are bounded by the size of the document, and that by `guard.MAX_BYTES`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from seeds.feeds.dates import without_doubted
from seeds.feeds.guard import MAX_BYTES
from seeds.feeds.json_feed import looks_like_json, parse_json
from seeds.feeds.types import Feed, FeedEntry, FeedError
from seeds.feeds.xml_feed import parse_xml
from seeds.markup.packed import PackedError, unpacked

__all__ = ["entries", "parse"]

_HTML = re.compile(rb"<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)
_FEED = re.compile(rb"<(?:[\w.-]+:)?(?:rss|feed|rdf|channel)[\s>]", re.IGNORECASE)


def parse(body: bytes, url: str, content_type: str | None = None) -> Feed:
    """A feed document, its links made absolute by `url` ("" leaves them as they are).

    A document that is none has format "" and no entries; FeedError when it is a page, too large or hostile.
    """
    body = _unpacked(body)
    if not body.strip():
        return Feed("")
    if looks_like_json(body):
        return _believed(parse_json(body, url))
    head = body[:4096]
    if _HTML.search(head) and not _FEED.search(head):
        raise FeedError("html", "a page, not a feed")
    return _believed(parse_xml(body, url, content_type))


def _unpacked(body: bytes) -> bytes:
    """Refuse what is too long before anything else is done with it."""
    try:
        return unpacked(body, MAX_BYTES)
    except PackedError as error:
        raise FeedError(error.reason, error.detail) from error


def _believed(feed: Feed) -> Feed:
    return replace(feed, entries=without_doubted(feed.entries))


def entries(body: bytes, url: str, content_type: str | None = None) -> list[FeedEntry]:
    """The items of a feed in the order of the document; empty when it is no feed, FeedError as of `parse`."""
    return list(parse(body, url, content_type).entries)
