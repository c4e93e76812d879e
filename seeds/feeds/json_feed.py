"""JSON Feed 1.0 and 1.1 (jsonfeed.org), and RSS written as JSON.

Read leniently, as its readers do: a `version` that is not jsonfeed.org's, numbers as ids and missing fields are
accepted; what is not an object with a list of items is no feed.
"""

from __future__ import annotations

import json
from typing import Any

from seeds.feeds.dates import instant, said
from seeds.feeds.guard import check_items
from seeds.feeds.links import absolute, clean_link
from seeds.feeds.types import Feed, FeedEntry

__all__ = ["looks_like_json", "parse_json"]


def looks_like_json(body: bytes) -> bool:
    """Whether a body can only be JSON."""
    return body[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"


def parse_json(body: bytes, url: str) -> Feed:
    """The feed; one of format "" without entries when it is JSON of another kind or broken. Raises FeedError."""
    try:
        data = json.loads(body.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return Feed("")
    if not isinstance(data, dict):
        return Feed("")
    rss = data.get("rss")
    if isinstance(rss, dict) and isinstance(rss.get("channel"), dict):
        return _rss_as_json(rss["channel"], url)
    items = data.get("items")
    if not isinstance(items, list) or not ("version" in data or "feed_url" in data or "home_page_url" in data):
        return Feed("")
    check_items(len(items))
    language = _text(data, "language").lower()
    return Feed(
        format="json",
        entries=tuple(_entry(item, url, language) for item in items if isinstance(item, dict)),
        title=_text(data, "title"),
        link=absolute(url, _text(data, "home_page_url")) or "",
        language=language,
        next_archive=absolute(url, _text(data, "next_url")) or "",
        encoding="utf-8",
    )


def _entry(item: dict[str, Any], url: str, language: str) -> FeedEntry:
    link = absolute(url, _text(item, "url"))
    identity = _text(item, "id")
    if link is None and identity.startswith(("http://", "https://")):
        link = identity
    if link is None:  # an item may have no page here, only the one elsewhere that it speaks of
        link = absolute(url, _text(item, "external_url"))
    attached = item.get("attachments")
    return FeedEntry(
        link=link,
        id=identity,
        title=_text(item, "title"),
        url=clean_link(link or ""),
        published_ms=instant(_text(item, "date_published")),
        published=said(_text(item, "date_published")),
        updated_ms=instant(_text(item, "date_modified")),
        language=_text(item, "language").lower() or language,
        content=_text(item, "content_html") or _text(item, "content_text") or _text(item, "summary"),
        enclosures=tuple(
            address
            for part in (attached if isinstance(attached, list) else [])
            if isinstance(part, dict) and (address := absolute(url, _text(part, "url")))
        ),
    )


def _rss_as_json(channel: dict[str, Any], url: str) -> Feed:
    found = channel.get("item")
    items = found if isinstance(found, list) else [found]
    check_items(len(items))
    language = _text(channel, "language").lower()
    entries = []
    for item in items:
        if isinstance(item, dict):
            link = absolute(url, _text(item, "link"))
            guid = item.get("guid")
            entries.append(
                FeedEntry(
                    link=link,
                    id=_text(guid, "#value") if isinstance(guid, dict) else _text(item, "guid"),
                    title=_text(item, "title"),
                    url=clean_link(link or ""),
                    published_ms=instant(_text(item, "pubDate")),
                    published=said(_text(item, "pubDate")),
                    language=language,
                    content=_text(item, "description"),
                )
            )
    return Feed(
        "json", tuple(entries), _text(channel, "title"), _text(channel, "link"), language=language, encoding="utf-8"
    )


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if isinstance(value, bool):
        return ""
    if isinstance(value, str):
        # JSON can name half a character ("\\ud800"), which nothing behind here could store.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    return str(value) if isinstance(value, int | float) else ""
