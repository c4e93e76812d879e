"""Where in a TOML text a key or table stands.

`tomllib` tells the line of a syntax error but of nothing it has read, and an error about a value is useless without its
line. This scan runs over text that `tomllib` has already accepted, so it needs no error handling of its own: it follows
strings, comments and brackets, and notes the line of every table header, every key and every string of an array.

Paths are tuples as in the parsed data: `("site", 2, "delay_s")` is the key of the third `[[site]]`,
`("site", 2, "url", 1)` the second string of that key's array. Inline tables are noted by the line of their key only.
"""

from __future__ import annotations

import re
import tomllib

__all__ = ["LineMap", "TomlPath"]

TomlPath = tuple[str | int, ...]

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*|\n|[\[\]{}=]|[^\s\"'#\[\]{}=]+",
    re.DOTALL,
)
_HEADER = re.compile(r"^[ \t]*(\[\[?)([^\n]*?)\]\]?[ \t]*(?:#[^\n]*)?$", re.MULTILINE)


class LineMap:
    """The line (from 1) of each table, key and array string of one TOML text."""

    def __init__(self, text: str) -> None:
        self._lines: dict[TomlPath, int] = {}
        self._first: dict[TomlPath, int] = {}  # of what stands inside a path
        self._counts: dict[str, int] = {}
        self._scan(text.replace("\r\n", "\n"))

    def line(self, *path: str | int) -> int:
        """The line of `path`, or of what first stands inside it, or of what encloses it; 1 when nothing has one."""
        for end in range(len(path), 0, -1):
            line = self._lines.get(path[:end]) or self._first.get(path[:end])
            if line is not None:
                return line
        return 1

    def _note(self, path: TomlPath, line: int) -> None:
        self._lines.setdefault(path, line)
        for end in range(1, len(path)):
            self._first.setdefault(path[:end], line)

    def _scan(self, text: str) -> None:
        table: TomlPath = ()
        line, position = 1, 0
        while position < len(text):
            header = _HEADER.match(text, position)
            if header:
                table = self._enter(header[1], header[2], line)
                position = header.end()
            else:
                position, line = self._statement(text, position, line, table)
            if text.startswith("\n", position):
                position, line = position + 1, line + 1

    def _enter(self, brackets: str, name: str, line: int) -> TomlPath:
        parts = _key_parts(name)
        path: TomlPath = parts
        if brackets == "[[":
            name = ".".join(parts)
            index = self._counts.get(name, 0)
            self._counts[name] = index + 1
            path = (*parts, index)
        elif parts[0] in self._counts and len(parts) > 1:  # [site.x] belongs to the latest [[site]]
            path = (parts[0], self._counts[parts[0]] - 1, *parts[1:])
        self._note(path, line)
        return path

    def _statement(self, text: str, position: int, line: int, table: TomlPath) -> tuple[int, int]:
        """Read `key = value` (or an empty line) up to, not including, the newline that ends it."""
        depth, element = 0, 0
        key_text, path = "", None
        for token in _TOKEN.finditer(text, position):
            piece = token[0]
            if piece == "\n" and depth <= 0:
                return token.start(), line
            if piece in "[{":
                depth += 1
            elif piece in "]}":
                depth -= 1
            elif piece == "=" and path is None:
                path = (*table, *_key_parts(key_text))
                self._note(path, line)
            elif path is None and piece[0] != "#":
                key_text += piece
            elif path is not None and depth == 1 and piece[0] in "\"'":
                self._note((*path, element), line)
                element += 1
            line += piece.count("\n")
        return len(text), line


def _key_parts(text: str) -> tuple[str, ...]:
    """The parts of a dotted, perhaps quoted key: `a."b.c"` is ("a", "b.c")."""
    parts: list[str] = []
    parsed: object = tomllib.loads(f"{text} = 0")
    while isinstance(parsed, dict):
        ((part, parsed),) = parsed.items()
        parts.append(part)
    return tuple(parts)
