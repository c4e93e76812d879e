"""Paging back: what to ask for when items have passed through a feed's window unseen.

Steps, in order: the older pages the feed itself names (RFC 5005 `prev-archive`, `next`; JSON Feed `next_url`), the
pages WordPress has by convention (`?paged=`), then the site's sitemaps (news sitemaps first) for what was published
since. A step leads on as long as its pages show something new, or only what is newer than the gap: what the feed itself
showed is on an older page later. It ends the search when an item seen before the gap turns up, or only items older than
the gap. Another gap meanwhile begins it anew, down to where the first one ends. Only addresses on the feed's own host
are asked for: the feed's lease covers that host's politeness, no other's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from seeds.feeds.types import Feed
from seeds.harvest.history import MAX_ANCHORS, CatchUp, FeedHistory, recalled
from seeds.harvest.items import item_mark
from seeds.sitemaps import well_known
from sieve.urls import as_parsed, authority

__all__ = ["advance", "as_what", "begin", "same_authority"]

ARCHIVE, PAGED, SITEMAP = "archive", "paged", "sitemap"
_MOST_SITEMAPS = 5
_WORDPRESS = re.compile(r"wordpress", re.IGNORECASE)


def as_what(kind: str, memo: bytes, asked: str) -> str:
    """As what the answer for an entry of this kind is to be read: an older page may be looked for in a sitemap."""
    up = recalled(memo)[0].catch_up
    return "sitemap" if up and up.step == SITEMAP and up.url == asked else kind


def begin(history: FeedHistory, feed: Feed, url: str, sitemaps: Sequence[str], lost: int) -> CatchUp | None:
    """The search for what was missed, None when there is nowhere to look. `history` is as before the gap's poll."""
    steps: list[str] = []
    if feed.next_archive:
        steps.append(f"{ARCHIVE} {feed.next_archive}")
    if _WORDPRESS.search(feed.generator) or re.search(r"/feed/?$|[?&]feed=", url):
        steps.append(f"{PAGED} {_paged(url, 2)}")
    named = sorted(sitemaps, key=lambda address: "news" not in address)[:_MOST_SITEMAPS]
    steps += [f"{SITEMAP} {address}" for address in named or [well_known(url)[4], *well_known(url)[:2]]]
    up = CatchUp("", "", 1, history.newest_s or history.last_s, history.seen[:MAX_ANCHORS], [], lost=lost)
    if was := history.catch_up:  # its bound holds for both
        up.since_s, up.anchors = was.since_s, was.anchors
        up.pages, up.recovered, up.lost = was.pages, was.recovered, was.lost + lost
    up.steps = [step for step in steps if same_authority(step.partition(" ")[2], url)]
    return up if _next_step(up) else None


def advance(history: FeedHistory, up: CatchUp, feed: Feed, new: int, most_pages: int) -> str:
    """Judge the page just read (`new` of its items were unknown): "closed", "on" (`up.url` is next) or "open" when
    the search ends without having reached what was known."""
    up.pages += 1
    up.recovered += new
    marks = {item_mark(entry) for entry in feed.entries}
    dates = [entry.published_ms // 1000 for entry in feed.entries if entry.published_ms]
    if up.step != SITEMAP and (marks & set(up.anchors) or (dates and max(dates) < up.since_s)):
        return "closed"
    if up.step == SITEMAP and new:
        return "closed"
    if up.pages >= most_pages:
        return "open"
    following = feed.next_archive if up.step == ARCHIVE else _paged(up.url, up.page + 1) if up.step == PAGED else ""
    newer = bool(dates) and min(dates) > up.since_s
    goes_on = new or (newer and _is_older(history, up, marks))
    if goes_on and following and following != up.url and same_authority(following, up.url):
        up.url, up.page = following, up.page + 1
        return "on"
    return "on" if _next_step(up) else "open"


def skip(up: CatchUp, *, again: bool = False) -> bool:
    """Leave a step whose page could not be had, to come back to it behind the others where it may be had `again`;
    whether there is another step."""
    up.pages += 1
    if again:
        up.steps.append(f"{up.step} {up.url}")
    return _next_step(up)


def add_sitemaps(up: CatchUp, addresses: Iterable[str]) -> None:
    """Put sitemaps that an index names first in line."""
    new = [f"{SITEMAP} {address}" for address in addresses if same_authority(address, up.url)]
    up.steps = new[:_MOST_SITEMAPS] + up.steps[:_MOST_SITEMAPS]


def same_authority(one: str, other: str) -> bool:
    """Whether two addresses can be asked for, and are on one scheme, host and port."""
    try:
        return authority(as_parsed(one)) == authority(as_parsed(other))
    except ValueError:
        return False


def _is_older(history: FeedHistory, up: CatchUp, marks: set[int]) -> bool:
    """Whether a page of known items may be an older one. A server that was not told to page by its feed may not know
    how to, and shows what the feed shows."""
    return up.step == ARCHIVE or not marks.intersection(history.seen[: history.window])


def _next_step(up: CatchUp) -> bool:
    if not up.steps:
        return False
    up.step, _, up.url = up.steps.pop(0).partition(" ")
    up.page = int(dict(parse_qsl(urlsplit(up.url).query)).get("paged", 2)) if up.step == PAGED else 1
    return True


def _paged(url: str, page: int) -> str:
    parts = urlsplit(url)
    query = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if key != "paged"]
    return urlunsplit(parts._replace(query=urlencode([*query, ("paged", str(page))]), fragment=""))
