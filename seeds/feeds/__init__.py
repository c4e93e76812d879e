"""Feeds of every format: read (`parse`, `entries`) and found (`discover`, `likely_feeds`); nothing here fetches."""

from seeds.feeds.parsing import (
    MAX_BYTES,
    Feed,
    FeedEntry,
    FeedError,
    FeedHints,
    discover,
    entries,
    likely_feeds,
    parse,
)

__all__ = [
    "MAX_BYTES",
    "Feed",
    "FeedEntry",
    "FeedError",
    "FeedHints",
    "discover",
    "entries",
    "likely_feeds",
    "parse",
]
