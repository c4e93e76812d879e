"""Which item of a feed is which: remembered is the address that it was first met at.

An item has the same number by http and https, with and without `www.` or a last slash, and whatever names a visit in
its link: a feed that moves to https shows nothing new. Some servers write another link into the feed each time they are
asked (a session, a counter). Others show new items under the titles of the last ones (the news of each hour, a list of
programmes), or correct a link. So links are thought to change where most names that are remembered of the last document
are shown under another link, and more than there are known links; a name is what one item alone has, both times:

* items with the same title (or text, or id) and instant of publication say nothing of the pace from then on. All others
  do, so that a feed is polled often enough for what comes under the same titles;
* where five documents running have other links, polled at most six hours apart and none the same for half an hour,
  items with the same title, and the same instant or id, are the same. Those with the same title alone are still handed
  out, but say nothing of the pace. An id that is a link is none.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from seeds.crawl.scope import seed_key
from seeds.feeds.types import FeedEntry
from seeds.harvest.history import FeedHistory, fingerprint

__all__ = ["Item", "item_mark", "items_of", "note_names", "note_unchanged"]

_OFTEN = 5  # documents running with other links
_CLOSE_S = 6 * 3600  # of polls further apart any items may be others
_LONG_S = 1800  # servers keep a document for some minutes
_LOOKED_AT = 5  # names of the newest items, to find out whether links change
_MOST_NAMES = 120  # where they do; 8 bytes each
_INSTANT, _ID = "instant", "id"
_PAIR = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry and the number it is remembered by. `relinked`: it most likely had another link before; `again`: so it
    says nothing of the pace, but is to be handed out."""

    entry: FeedEntry
    mark: int
    relinked: bool = False
    again: bool = False


def item_mark(entry: FeedEntry) -> int:
    """The number of an item by itself: of what would be fetched."""
    return fingerprint(seed_key(entry.url) if entry.url else entry.key)


def items_of(entries: Sequence[FeedEntry], history: FeedHistory) -> list[Item]:
    """The items that a document shows, in its order; `history` is as of the last one."""
    items = [Item(entry, item_mark(entry)) for entry in entries]
    known = set(history.seen)
    before = dict(_PAIR.iter_unpack(history.names))
    if not before or all(item.mark in known for item in items):
        return items
    names = _names(items)
    moved = [item.mark not in known and name in before for item, (name, _) in zip(items, names, strict=True)]
    if sum(moved) <= max(len(before) / 2, sum(item.mark in known for item in items)):
        return items
    often, found = history.relinked >= _OFTEN, []
    for item, (name, told_by), has_moved in zip(items, names, moved, strict=True):
        if has_moved:
            is_same = often or told_by == _INSTANT
            mark = before[name] if is_same else item.mark
            item = Item(item.entry, mark, relinked=True, again=is_same and not (often and told_by))
        found.append(item)
    return found


def note_names(items: Sequence[Item], history: FeedHistory, now_s: int) -> None:
    """Remember what the items (the newest first) are called: of a few, or of all where links were found to change."""
    if not any(item.relinked for item in items):
        history.relinked = 0
    elif not history.relinked or now_s - history.last_s <= _CLOSE_S:
        history.relinked += 1
        if history.relinked == _OFTEN:  # no items came so often, nor lived so short
            history.times, history.sentinels, history.life_s = [], [], 0
    named = zip(items, _names(items), strict=True)
    pairs = [(name, item.mark) for item, (name, _) in named if name]
    history.names = b"".join(_PAIR.pack(*pair) for pair in pairs[: _MOST_NAMES if history.relinked else _LOOKED_AT])


def note_unchanged(history: FeedHistory, now_s: int) -> None:
    """The document is the last one: links that stay for long do not change with each poll."""
    if history.relinked < _OFTEN and now_s - max(history.times, default=0) > _LONG_S:
        history.relinked = 0


def _names(items: Sequence[Item]) -> list[tuple[int, str]]:
    """The name of each as a number, 0 for none that it has alone, and what else than its title tells it."""
    called = [_called(item.entry) for item in items]
    how_many = Counter(called)
    return [(fingerprint(name) if name and how_many[name, by] == 1 else 0, by) for name, by in called]


def _called(entry: FeedEntry) -> tuple[str, str]:
    own_id = "" if entry.id.startswith(("http://", "https://")) or entry.id == entry.link else entry.id
    text = entry.title or own_id or entry.content
    if text and "T" in entry.published:
        return f"{text}\n{entry.published}", _INSTANT
    if entry.title and own_id:
        return f"{entry.title}\n{own_id}", _ID
    return text, ""
