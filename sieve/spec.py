"""Specifications: ``kind:PLACE?option=value&…``, as :func:`sieve.open_sieve` takes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from sieve.errors import SpecError

_FLAGS = {"1": True, "yes": True, "true": True, "on": True, "0": False, "no": False, "false": False, "off": False}


@dataclass(frozen=True, slots=True)
class Spec:
    """A parsed specification: `kind` before the colon, `place` (a folder, or a server), `options` after ``?``."""

    text: str
    kind: str
    place: str
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Split `text`; :class:`SpecError` when it has no kind or an option without a value."""
        kind, colon, rest = text.partition(":")
        if not colon:
            raise SpecError(text, "no kind before a colon")
        place, _, query = rest.partition("?")
        try:
            pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
        except ValueError:
            raise SpecError(text, "an option without a value") from None
        return cls(text, kind, place, dict(pairs))

    def known(self, names: Collection[str]) -> None:
        """:class:`SpecError` when it has an option that is not in `names`."""
        for name in self.options:
            if name not in names:
                raise SpecError(self.text, f"unknown option {name!r} (known: {', '.join(sorted(names))})")

    def folder(self) -> str:
        """The place as a folder's path."""
        if not self.place:
            raise SpecError(self.text, "no folder")
        return unquote(self.place)

    def whole(self, name: str, default: int, least: int = 0) -> int:
        """A whole number; ``1e7`` is one."""
        return int(self.real(name, default, least))

    def real(self, name: str, default: float, least: float = 0.0) -> float:
        """A number not below `least`."""
        text = self.options.get(name)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            raise SpecError(self.text, f"{name} is no number") from None
        if not least <= value < float("inf"):
            raise SpecError(self.text, f"{name} must be a finite number of at least {least:g}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """``1 yes true on`` or ``0 no false off``."""
        text = self.options.get(name)
        if text is None:
            return default
        if text.lower() not in _FLAGS:
            raise SpecError(self.text, f"{name} must be yes or no")
        return _FLAGS[text.lower()]
