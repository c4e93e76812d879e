"""One TOML table, read key by key with types; faults are noted with their lines instead of raised.

A key that nobody asked for is a fault too, with the nearest known key as a suggestion: a misspelt `dealy_s` must not
silently become the default delay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from seeds.crawl.toml_lines import LineMap, TomlPath
from seeds.errors import Problem

__all__ = ["Table", "nearest"]

_MOST = 2**53
"""Of a count: up to here Redis' scripts have whole numbers exactly."""


def nearest(word: str, known: Sequence[str]) -> str:
    """` (did you mean "…"?)`, or what is known when nothing is near."""
    return _meant(word, known) or (f" (known: {', '.join(sorted(known))})" if known else "")


class Table:
    """Reads `data`, which stands at `path`; every fault goes to `problems`, the value returned is then that of a key
    that is absent: "", (), 0, None or False."""

    def __init__(self, data: Mapping[str, Any], path: TomlPath, lines: LineMap, problems: list[Problem]) -> None:
        self._data = data
        self._path = path
        self._lines = lines
        self._problems = problems
        self._known: list[str] = []

    def fault(self, message: str, *key: str | int) -> None:
        """Note a fault at `key` of this table (at the table's own line without one)."""
        self._problems.append(Problem(self._lines.line(*self._path, *key), message))

    def text(self, key: str, check: Callable[[str], str] = str, required: bool = False) -> str:
        """A string; `check` gives it back in the form wanted or raises ValueError with what is wrong."""
        value = self._take(key, str, "a string", required)
        return "" if value is None else self._checked(check, value, key)

    def texts(self, key: str, check: Callable[[str], str] = str, required: bool = False) -> tuple[str, ...]:
        """A string or a list of strings, always given back as a tuple."""
        value = self._take(key, (str, list), "a string or a list of strings", required)
        found: list[str] = []
        for index, item in enumerate([value] if isinstance(value, str) else value or []):
            where = (key,) if isinstance(value, str) else (key, index)
            if not isinstance(item, str):
                self.fault(f"{key}: expected strings, found {item!r}", *where)
                continue
            text = self._checked(check, item, *where)
            if text:
                found.append(text)
        if required and value == []:
            self.fault(f"{key}: the list is empty", key)
        return tuple(found)

    def choice(self, key: str, options: Sequence[str], default: str) -> str:
        """One of `options`."""
        value = self._take(key, str, "a string", False)
        if value is None:
            return default
        if value not in options:
            self.fault(f"{key}: {value!r} is not one of {', '.join(options)}{_meant(value, options)}", key)
            return default
        return str(value)

    def count(self, key: str, most: int = _MOST) -> int:
        """A whole number from 0 to `most`."""
        value = self._take(key, int, "a whole number", False)
        if value is None:
            return 0
        if value < 0:
            self.fault(f"{key}: {value} is negative (0 or absent means none)", key)
            return 0
        if value > most:
            self.fault(f"{key}: above {most}, the most that is counted (0 or absent means none)", key)
            return 0
        return int(value)

    def seconds(self, key: str) -> float | None:
        """A number >= 0 of seconds; None when absent."""
        value = self._take(key, (int, float), "a number of seconds", False)
        if value is None:
            return None
        if not 0 <= value < 1e9:
            self.fault(f"{key}: {value} is not a usable number of seconds", key)
            return None
        return float(value)

    def flag(self, key: str) -> bool:
        """true or false."""
        return bool(self._take(key, bool, "true or false", False))

    def rest(self) -> dict[str, Any]:
        """Every key not asked for so far; they count as known from here on."""
        found = {key: value for key, value in self._data.items() if key not in self._known}
        self._known += found
        return found

    def finish(self) -> None:
        """Note every key that no question was about."""
        for key in self._data:
            if key not in self._known:
                self.fault(f"unknown key {key!r}{nearest(key, self._known)}", key)

    def _take(self, key: str, types: type | tuple[type, ...], wanted: str, required: bool) -> Any:
        self._known.append(key)
        value = self._data.get(key)
        if value is None:
            if required:
                self.fault(f"{key} is missing")
            return None
        wrong_bool = isinstance(value, bool) and types is not bool
        if wrong_bool or not isinstance(value, types):
            self.fault(f"{key}: expected {wanted}, found {value!r}", key)
            return None
        return value

    def _checked(self, check: Callable[[str], str], value: str, *where: str | int) -> str:
        try:
            return check(value)
        except ValueError as error:
            self.fault(f"{where[0]}: {error}", *where)
            return ""


def _meant(value: str, options: Sequence[str]) -> str:
    close = get_close_matches(value, options, n=1, cutoff=0.6)
    return f' (did you mean "{close[0]}"?)' if close else ""
