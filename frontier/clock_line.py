"""What a process knows of the frontier's clock, which is Redis' TIME less all that somebody set it forward or back by.

A machine's clock of the day is set: by an NTP client, by hand, when it starts with a wrong one. The one that runs since
the machine was started (a sleeping one's too) is not. So each process keeps by that one between which two instants the
frontier's now lies, and sends both with each call; lua/_clock.lua finds there whether TIME can be right. Like two
samples of NTP, an answer that came between `asked` and `arrived` says that now was the answer's somewhere in between.

Guarantees: TIME set back at any time, and forward by more than about a second while a worker is at work, moves no
instant of the frontier: delays, rests and leases last as long as they were to (longer only by what passed while nobody
was answered for a minute, if TIME was set back then). TIME set forward by less is made up for by each process that has
been told the time before: it waits for so long with what it leases, less and less in the next five minutes. No
machine whose running clock is a little too fast or too slow moves the clock of the others.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

_DRIFT = 0.001
"""By which part two machines' clocks may differ, at most: twice what an NTP client slews them by."""
_SLOWER = 0.003
"""By which part this machine's may be slower: where that is not allowed for, it is taken for a step."""
_SMALL_STEP_MS = 1200
"""What lua/_clock.lua may take for a call that was under way for so long."""
_SLOW_MS = 500
"""A call that takes longer may be late for lua/_clock.lua, by its FORWARD_MS. By less nobody sets the frontier's clock
back: it may be a clock that is slow, and who knows better would set it forward again, and cut short what began
meanwhile."""
_MOST_SLACK_MS = 10_000
_TRUSTED_MS = 60_000
"""So long what now is at least is sent, else a clock that is too fast would set that of all others forward."""


_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def uptime_s() -> float:
    """Since this machine was started, what it slept through included where the system can say: ``time.monotonic()``
    leaves that out on Linux."""
    return time.clock_gettime(_CLOCK)


def uptime_ms() -> float:
    """The same in milliseconds."""
    return uptime_s() * 1000


class ClockLine:
    """See the module; for one thread that notes, while others may read."""

    def __init__(self) -> None:
        # least and most of the frontier's now less uptime_ms(), and when that was so
        self._known: tuple[float, float, float] | None = None
        self._mended: tuple[int, int] | None = None
        self._ahead_ms: int | None = None
        self._slack_ms = 0.0  # by how much calls may come later than they ought to

    def _at(self, uptime: float) -> tuple[float, float, float] | None:
        if self._known is None:
            return None
        least, most, noted = self._known
        since = uptime - noted
        return least - _DRIFT * since, most + _SLOWER * since, noted

    @property
    def ahead_ms(self) -> int | None:
        """By how much the frontier's clock was ahead of TIME at the last answer."""
        return self._ahead_ms

    def bounds(self) -> list[int | str]:
        """ARGV[3] to ARGV[6] of lua/_clock.lua, for a call that is sent now."""
        uptime = uptime_ms()
        known = self._at(uptime)
        if known is None:
            return ["", "", "", ""]
        least = math.floor(uptime + known[0]) if uptime - known[2] <= _TRUSTED_MS else ""
        return [least, math.ceil(uptime + known[1] + self._slack_ms), *(self._mended or ("", ""))]

    def now_ms(self) -> int | None:
        """The latest that it can be; None when nothing is known."""
        uptime = uptime_ms()
        known = self._at(uptime)
        return None if known is None else round(uptime + known[1])

    def note(self, asked: float, now_ms: int, ahead_ms: int, late_ms: int) -> int:
        """An answer to what was asked at that :func:`uptime_ms`; the frontier's now as it arrives, `now_ms` unless TIME
        was set forward: then it is earlier."""
        arrived = uptime_ms()
        self._ahead_ms = ahead_ms - late_ms
        earliest, latest = now_ms - arrived, now_ms + 1 - asked
        known = self._at(arrived)
        if known is None:
            self._known = earliest, latest, arrived
            return now_ms
        least, most, noted = known
        if late_ms:
            # Later than it can be even now that the answer is here, so it was no call that took so long.
            was_set = earliest + late_ms > most + _SLOW_MS
            forward_ms = late_ms - max(0, math.floor(asked + least) - now_ms)
            self._mended = (ahead_ms, ahead_ms - forward_ms) if was_set else None
            # else the next one may take as long: where all do none would ever be in time
            self._slack_ms = 0 if was_set else min(_MOST_SLACK_MS, arrived - asked + _SMALL_STEP_MS)
            return now_ms
        self._mended, gap = None, arrived - noted
        # others know better: this machine stood still, and its clock with it
        if earliest > most + max(_SMALL_STEP_MS, self._slack_ms - _SMALL_STEP_MS):
            least, most = earliest, latest
        if arrived - asked <= _SLOW_MS:
            self._slack_ms = min(_SMALL_STEP_MS, self._slack_ms) if earliest > most else 0
        most = min(most, latest)
        if gap <= _TRUSTED_MS:
            earliest = max(least, earliest)
        self._known = min(earliest, most), most, arrived
        return min(now_ms, math.floor(arrived + most))


class TellsTime(ABC):
    """What time a frontier in Redis has."""

    _line: ClockLine
    _now_ms: Callable[[], int] | None  # for tests

    @abstractmethod
    def _run(self, name: str, arguments: object) -> Any:
        """What that script answers."""

    def _moment(self) -> list[int | str]:
        """ARGV[2] and on of lua/_clock.lua."""
        return [self._now_ms()] if self._now_ms else ["", *self._line.bounds()]

    def now_ms(self) -> int:
        """The frontier's time, after a lease without a round trip: a worker's own clock may be wrong."""
        known = self._now_ms() if self._now_ms else self._line.now_ms()
        return int(self._run("now", [])[0]) if known is None else known

    def date_ms(self) -> int:
        """What Redis' clock says now, as somebody has set it: for dates that others have written, and for people. No
        instant of the frontier, whose clock may be another's."""
        known = self._now_ms() if self._now_ms else self._line.now_ms()
        if known is None:
            now_ms, ahead_ms = self._run("now", [])
            return int(now_ms - ahead_ms)
        return known - (self._line.ahead_ms or 0)
