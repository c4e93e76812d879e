"""What is remembered of a feed between two polls: everything the schedule learns from, in one small bounded value.

It travels as bytes (`pack`, `unpack`) with the feed's entry in the frontier, so it survives a crash and moves between
processes with the entry, and nobody keeps a table of feeds. At most about 3 KiB: 380 fingerprints of 4 bytes, 64
sums of such, 120 names of 8 bytes where they are needed, and some figures. Instants are epoch seconds, 0 means never.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Set
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any

import msgpack
import xxhash

from seeds.errors import SeedsError
from seeds.harvest.validators import sendable

__all__ = ["MAX_SEEN", "CatchUp", "FeedHistory", "HistoryError", "Sentinel", "fingerprint", "recalled"]

VERSION = 2  # 1 had other numbers for the same items
MAX_SEEN = 380
MAX_TIMES = 24
MAX_SENTINELS = 8
MAX_ANCHORS = 12
_GROUPS = 64


class HistoryError(SeedsError):
    """Bytes that are no history; the feed starts anew."""


def fingerprint(text: str) -> int:
    """Four bytes of an item's address: among 380 seen items a new one is taken for seen once in ten million."""
    return xxhash.xxh3_64_intdigest(text.encode()) & 0xFFFFFFFF


@dataclass(slots=True)
class Sentinel:
    """One item watched for as long as the feed shows it: how long that is says how long items live."""

    item: int
    first_s: int
    last_s: int


@dataclass(slots=True)
class CatchUp:
    """Paging back after a gap: `url` is the page to ask for now, `steps` what comes when it leads nowhere.
    `owed`: the feed itself was asked last, so it is the page's turn even if the feed is due again."""

    url: str
    step: str
    page: int
    since_s: int
    anchors: list[int]
    steps: list[str]
    pages: int = 0
    recovered: int = 0
    lost: int = 1
    owed: bool = False


@dataclass(slots=True)
class FeedHistory:
    """The memory of one feed.

    `seen`: fingerprints, newest first. `times`: when the latest items appeared, ascending. `hours`: items by UTC hour.
    `window_age_s`: age of all but the oldest fifth of the items shown; `life_s`: the shortest time an item was lately
    seen to live before it vanished, 0 when none did. `same`: polls since something changed. `stored_us`: when what the
    validators speak of was fetched (epoch microseconds). `spelled`: how its server wants the address spelled, "":
    as it is. `problem`: what the last poll failed of, while the feed fails. `groups`: of a document that shows more
    than is remembered, what tells whether it shows the same items (:meth:`regroup`). `left_out`: of what the last
    document named, how many were beyond the limit. `doubted`: it may have been said to be unchanged when it was not,
    and no condition has been answered with what is new since; `untrue`: twice running, so conditions are of no use.
    `names`: of items shown last what they are called, and their fingerprints (:mod:`seeds.harvest.items`); `relinked`:
    how many documents running had them under other links.
    """

    polls: int = 0
    first_s: int = 0
    last_s: int = 0
    due_s: int = 0
    interval_s: int = 0
    errors: int = 0
    failing_since_s: int = 0
    same: int = 0
    etag: str = ""
    modified: str = ""
    digest: bytes = b""
    window: int = 0
    widest: int = 0
    window_age_s: int = 0
    life_s: int = 0
    life_at_s: int = 0
    newest_s: int = 0
    dated_s: int = 0
    ttl_s: int = 0
    period_s: int = 0
    max_age_s: int = 0
    skip_hours: int = 0
    skip_days: int = 0
    stored_us: int = 0
    spelled: str = ""
    problem: str = ""
    groups: bytes = b""
    left_out: int = 0
    untrue: bool = False
    doubted: bool = False
    names: bytes = b""
    relinked: int = 0
    seen: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    hours: list[int] = field(default_factory=lambda: [0] * 24)
    sentinels: list[Sentinel] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    catch_up: CatchUp | None = None

    def pack(self) -> bytes:
        """As bytes, within the bounds above."""
        up = self.catch_up
        values = [getattr(self, name) for name in _PLAIN]
        packed = msgpack.packb(
            [
                VERSION,
                values,
                _numbers(self.seen[:MAX_SEEN]),
                _numbers(self.times[-MAX_TIMES:]),
                _numbers(self.hours),
                [(mark.item, mark.first_s, mark.last_s) for mark in self.sentinels[-MAX_SENTINELS:]],
                list(self.places.items())[:MAX_TIMES],
                [getattr(up, name) for name in _CATCH_UP] if up else None,
            ]
        )
        return bytes(packed)

    @classmethod
    def unpack(cls, memo: bytes) -> FeedHistory:
        """The history in `memo`; a new one of b"". Raises HistoryError."""
        history = cls()
        if not memo:
            return history
        try:
            version, values, seen, times, hours, sentinels, places, up = msgpack.unpackb(memo)
            if version != VERSION:
                raise HistoryError(f"version {version}")
            values += [getattr(history, name) for name in _PLAIN[len(values) :]]  # what was added since
            for name, value in zip(_PLAIN, values, strict=True):
                setattr(history, name, _fitting(value, getattr(history, name)))
            if len(history.groups) not in (0, 4 * _GROUPS):
                raise ValueError(f"{len(history.groups)} bytes of groups")
            if len(history.names) % 8:
                raise ValueError(f"{len(history.names)} bytes of names")
            history.seen, history.times = _listed(seen), _listed(times)
            history.hours = (_listed(hours) + [0] * 24)[:24]
            _fitting([*chain(*sentinels, *places)], [0])
            history.sentinels = [Sentinel(*mark) for mark in sentinels]
            history.places = dict(places)
            parts = zip(up or (), _A_CATCH_UP[: len(up or ())], strict=True)
            history.catch_up = CatchUp(*(_fitting(value, like) for value, like in parts)) if up else None
        except (ValueError, TypeError, OverflowError, struct.error, msgpack.UnpackException) as error:
            raise HistoryError(f"unreadable: {error}") from error
        return history

    @property
    def room(self) -> int:
        """How many fingerprints this feed's history keeps."""
        return min(MAX_SEEN, max(60, 4 * self.widest))

    def put_back(self, now_s: int) -> None:
        """Move what is remembered back where the clock has been since the last poll, so that all is as long ago as it
        was: what lies in times to come would look like a flood of items until they are there."""
        ahead_s = self.last_s - now_s
        if ahead_s <= 0:
            return
        for name in ("first_s", "last_s", "due_s", "failing_since_s", "life_at_s", "dated_s"):
            if at_s := getattr(self, name):
                setattr(self, name, max(1, at_s - ahead_s))
        self.newest_s = min(self.newest_s, now_s)  # by the publisher's clock
        self.times = [max(1, at_s - ahead_s) for at_s in self.times]
        self.sentinels = [Sentinel(mark.item, mark.first_s - ahead_s, mark.last_s - ahead_s) for mark in self.sentinels]

    def keep_validators(self, etag: str, modified: str) -> None:
        """Remember what to ask with next time, where it can be sent."""
        self.etag, self.modified = sendable(etag), sendable(modified)

    def respell(self, url: str) -> None:
        """Ask for it by another spelling of its address, "": by its own; what was said of one does not hold there."""
        self.spelled, self.digest, self.stored_us = url, b"", 0
        self.keep_validators("", "")

    def handed_on(self) -> bytes:
        """What is known of the items, for the place that the feed has moved to."""
        return FeedHistory(seen=self.seen, names=self.names, relinked=self.relinked).pack() if self.seen else b""

    def remember(self, items: Iterable[int]) -> None:
        """Put fingerprints, newest first, before those seen so far; four windows of them are kept, 60 at least."""
        fresh = list(dict.fromkeys(items))
        known = set(fresh)
        self.seen = (fresh + [item for item in self.seen if item not in known])[: self.room]

    def regroup(self, marks: Set[int]) -> dict[int, bool]:
        """Of all fingerprints shown those that may be new: they are in one of 64 groups the sum (XOR) of which is
        another than at the last poll; and of each whether it is likely to be: one that alone makes the difference is,
        and the others of its group are not. None, and nothing is kept, while all of them can be remembered."""
        before = struct.unpack(f"<{len(self.groups) // 4}I", self.groups) or (None,) * _GROUPS
        sums = [0] * _GROUPS
        for mark in marks:
            sums[mark % _GROUPS] ^= mark
        self.groups = _numbers(sums) if len(marks) > MAX_SEEN else b""
        if not self.groups:
            return {}
        moved = [None if then is None else now ^ then for now, then in zip(sums, before, strict=True)]
        ways = ((mark, moved[mark % _GROUPS]) for mark in marks)
        return {mark: way == mark or way not in marks for mark, way in ways if way != 0}


def recalled(memo: bytes) -> tuple[FeedHistory, str]:
    """The history in a memo, and what is wrong with the memo when it had to be given up."""
    try:
        return FeedHistory.unpack(memo), ""
    except HistoryError as error:
        return FeedHistory(), str(error)


_LISTS = ("seen", "times", "hours", "sentinels", "places", "catch_up")
_PLAIN = tuple(part.name for part in fields(FeedHistory) if part.name not in _LISTS)
_CATCH_UP = tuple(part.name for part in fields(CatchUp))
_A_CATCH_UP = ("", "", 0, 0, [0], [""], 0, 0, 0, False)
_LARGEST = 1 << 53


def _fitting(value: Any, like: Any) -> Any:
    """A value of the type that it has to have; TypeError, ValueError or OverflowError when it is of another, since
    nothing behind here asks again."""
    if type(value) is type(like) is int and -_LARGEST < value < _LARGEST:  # as nearly always
        return value
    if isinstance(like, list):
        if not isinstance(value, list):
            raise TypeError(f"no list: {value!r:.40}")
        return [_fitting(part, like[0]) for part in value]
    if isinstance(like, int) and isinstance(value, int | float):
        if not -_LARGEST < int(value) < _LARGEST:
            raise ValueError(f"no usable number: {value!r:.40}")
        return type(like)(value)
    if type(value) is not type(like):
        raise TypeError(f"no {type(like).__name__}: {value!r:.40}")
    return value


def _numbers(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *(min(max(number, 0), 0xFFFFFFFF) for number in numbers))


def _listed(packed: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(packed) // 4}I", packed))
