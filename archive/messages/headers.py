"""Named fields in order, with repeats, names without case: of WARC records and of HTTP messages."""

from __future__ import annotations

from collections.abc import Iterator


class Headers:
    """Immutable. Values are text: UTF-8, other bytes as surrogates, so that encoding gives the bytes again."""

    __slots__ = ("_first", "pairs")

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.pairs = pairs
        self._first: dict[str, str] | None = None

    @classmethod
    def parse(cls, lines: bytes) -> Headers:
        """Header lines (CRLF or LF); a line beginning with white space goes on the one before; others are left out."""
        fields: list[tuple[str, list[str]]] = []
        for line in lines.decode("utf-8", "surrogateescape").split("\n"):
            if not line or line == "\r":
                continue
            if line[0] in " \t":
                if fields:
                    fields[-1][1].append(line.strip())
                continue
            name, colon, value = line.partition(":")
            if colon:
                fields.append((name.strip(), [value.strip()]))
        return cls([(name, " ".join(filter(None, pieces))) for name, pieces in fields])

    def get(self, name: str) -> str:
        """The first value of that name, "" without."""
        if self._first is None:
            first: dict[str, str] = {}
            for key, value in self.pairs:
                first.setdefault(key.lower(), value)
            self._first = first
        return self._first.get(name.lower(), "")

    def get_all(self, name: str) -> list[str]:
        wanted = name.lower()
        return [value for key, value in self.pairs if key.lower() == wanted]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(key.lower() == name.lower() for key, _ in self.pairs)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"Headers({self.pairs!r})"
