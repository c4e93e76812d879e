"""What a feed says of when its items were published, as it goes with their URLs: what cannot be is left out.

That a date is an instant makes it no date of publication: many programs write the time at which they are asked. So what
is of the very minute of the poll, by our clock or the server's own, is believed for its day at most, and not at all
where the item may be older than the last poll. A date goes with its item where that has moved to, but not to a list of
others, nor to what stands before it (a login, a request for consent).
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import SplitResult, unquote, urlsplit

from crawler.pages.answers import instant
from crawler.pages.link_memo import Dated, LinkMemo, read_link_memo
from frontier.outcomes import DAY
from seeds.feeds.types import FeedEntry
from seeds.harvest import Answer

_WEB_BEGAN_S = 631_152_000  # 1990: what is said to be older was not dated
_DAY_S = 86_400
_JUST_NOW_S = 60


def item_memo(entry: FeedEntry, answer: Answer, *, counted: bool) -> bytes:
    """The memo of an item: when it was published; of a date that cannot be, only what is `counted` of it."""
    published_s = (entry.published_ms or 0) // 1000
    dated, said_s = _believed(entry, published_s, answer, counted=counted)
    if dated:
        return LinkMemo(published_s=said_s, dated=dated, counted=counted and published_s > 0).pack()
    return LinkMemo(published_s=published_s, counted=True).pack() if counted and published_s else b""


def memo_elsewhere(memo: bytes, asked: str, location: str) -> bytes:
    """The memo of an item that its server sends on: to a folder above it, which is where articles are sent that are
    gone, or to a page that is to lead back to it, it takes no date along."""
    link = read_link_memo(memo)
    if link is None or not link.published_s:
        return memo
    there, here = urlsplit(location), urlsplit(asked)
    return b"" if _is_above(there, here) or _leads_back(there, here) else memo


def _leads_back(there: SplitResult, here: SplitResult) -> bool:
    path = unquote(here.path)
    return len(path) > 1 and path in unquote(there.query)


def _is_above(there: SplitResult, here: SplitResult) -> bool:
    hosts = {(parts.hostname or "").removeprefix("www.") for parts in (there, here)}
    folder = there.path.rstrip("/") + "/"
    return len(hosts) == 1 and not there.query and here.path.startswith(folder) and here.path != folder


def _believed(entry: FeedEntry, published_s: int, answer: Answer, *, counted: bool) -> tuple[Dated, int]:
    """What the date is worth, and an instant of that worth."""
    if not entry.published:
        return "", 0
    told = datetime.fromisoformat(entry.published)
    told_s = int(told.replace(tzinfo=UTC).timestamp())
    if told_s < _WEB_BEGAN_S or told_s * 1000 > answer.now_ms + DAY:
        return "", 0
    if "T" not in entry.published:
        return "day", min(max(published_s, told_s), told_s + _DAY_S - 1)  # the nearest within the day
    if any(abs(told_s - now_s) < _JUST_NOW_S for now_s in (answer.now_ms // 1000, _server_s(answer))):
        return ("day" if counted else ""), told_s
    # What is to come: a clock that is wrong, or the local time of a zone east of the one that is written.
    return ("time" if told_s * 1000 <= answer.now_ms else "day"), told_s


def _server_s(answer: Answer) -> int:
    """When the server made the answer, by its own clock, be that kept in a cache since; 0 = not known."""
    return int(instant(answer.header("date")) or 0)
