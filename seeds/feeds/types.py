"""What a feed is read into, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass

from seeds.errors import SeedsError

__all__ = ["Feed", "FeedEntry", "FeedError", "FeedHints"]


class FeedError(SeedsError):
    """A document that is not parsed, since doing so would cost too much or mean nothing.

    `reason` is one of too_large, too_many_tags, too_deep, too_many_attributes, broken_markup, entity_expansion, html,
    binary, gzip, not_a_feed; `detail` says it with figures.
    """

    def __init__(self, reason: str, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One item of a feed.

    `link` is what the feed says, made absolute (None when the item has no page, as a podcast's may not have); `url` is
    what to fetch: the publisher's own address where the link leads through a click counter, without tracking
    parameters; "" without a link. Instants are epoch milliseconds, None when absent or unreadable; `published` is what
    can be believed of the first (:func:`seeds.feeds.dates.said`), "" where it may be the time of a change or of the
    document; `language` is a lower-case BCP 47 tag, the feed's own where the item says nothing, or "".
    `content` is HTML as found, unsafe.
    """

    link: str | None
    id: str = ""
    title: str = ""
    url: str = ""
    published_ms: int | None = None
    published: str = ""
    updated_ms: int | None = None
    language: str = ""
    content: str = ""
    enclosures: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What tells this item from the others of its feed: its id, else its link, else its title."""
        return self.id or self.link or self.title


@dataclass(frozen=True, slots=True)
class FeedHints:
    """What a feed says of how often to ask for it; None or empty where it says nothing."""

    ttl_s: int | None = None
    update_period_s: int | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()  # Monday is 0


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed document. `format` is feedparser's short name (rss20, atom10, …) or json, "" when it is none known.

    `rescued` tells that the document was not well-formed and read all the same. `next_archive` is the page of older
    items by RFC 5005 or JSON Feed's `next_url`, "" when none.
    """

    format: str
    entries: tuple[FeedEntry, ...] = ()
    title: str = ""
    link: str = ""
    language: str = ""
    generator: str = ""
    next_archive: str = ""
    hints: FeedHints = FeedHints()
    rescued: bool = False
    encoding: str = ""
