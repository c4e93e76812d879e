"""Feeds of every format: read (`parse`, `entries`) and found (`discover`, `likely_feeds`); nothing here fetches."""

from seeds.feeds.autodiscovery import discover, likely_feeds
from seeds.feeds.guard import MAX_BYTES
from seeds.feeds.parsing import entries, parse
from seeds.feeds.types import Feed, FeedEntry, FeedError, FeedHints

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
