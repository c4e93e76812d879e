"""Which item of a feed is which: remembered is the address that it was first met at.

An item has the same number by http and https, with and without `www.` or a last slash, and whatever names a visit in
its link: a feed that moves to https shows nothing new. Some servers write another link into the feed each time they are
asked (a session, a counter), so an item whose link is not known has the number of one that the last document showed
under the same name, where one alone has that name there and here:

* its title (or id, or text) and the instant of publication, or title and id, are enough; an id that is a link is none;
* of items that have no more than one of these, as those of index pages, the same is believed where no link at all
  is known and several names are. They may be others all the same, as in a list of the day's programmes. So they are
  still handed out, but say nothing of the pace.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from seeds.crawl.scope import seed_key
from seeds.feeds.types import FeedEntry
from seeds.harvest.history import FeedHistory, fingerprint

__all__ = ["Item", "item_mark", "items_of", "note_names"]

_SEVERAL = 3
_LOOKED_AT = 5  # names of the newest items, to find out whether links change
_MOST_NAMES = 120  # where they do; 8 bytes each
_PAIR = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry and the number it is remembered by. `relinked`: it had another link before; `again`: most likely so."""

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
    strange = not any(item.mark in known for item in items)
    strange = strange and sum(name in before for name, _ in names) >= _SEVERAL
    found = []
    for item, (name, sure) in zip(items, names, strict=True):
        was = before.get(name, item.mark)
        if item.mark not in known and was != item.mark and (sure or strange):
            item = Item(item.entry, was, relinked=True, again=not sure)
        found.append(item)
    return found


def note_names(items: Sequence[Item], history: FeedHistory) -> None:
    """Remember what the items (the newest first) are called: of a few, or of all where links were found to change."""
    history.relinked |= any(item.relinked for item in items)
    named = zip(items, _names(items), strict=True)
    pairs = [(name, item.mark) for item, (name, _) in named if name]
    history.names = b"".join(_PAIR.pack(*pair) for pair in pairs[: _MOST_NAMES if history.relinked else _LOOKED_AT])


def _names(items: Sequence[Item]) -> list[tuple[int, bool]]:
    """The name of each as a number, 0 for none that it has alone, and whether that is enough to know it by."""
    called = [_called(item.entry) for item in items]
    how_many = Counter(called)
    return [(fingerprint(name) if name and how_many[name, sure] == 1 else 0, sure) for name, sure in called]


def _called(entry: FeedEntry) -> tuple[str, bool]:
    own_id = "" if entry.id.startswith(("http://", "https://")) or entry.id == entry.link else entry.id
    text = entry.title or own_id or entry.content
    if text and "T" in entry.published:
        return f"{text}\n{entry.published}", True
    if entry.title and own_id:
        return f"{entry.title}\n{own_id}", True
    return text, False
