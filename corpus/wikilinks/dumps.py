"""The tables of MediaWiki's database as Wikimedia publishes them (``zuwiki-…-page.sql.gz``), read row by row.

Sources: MediaWiki's manual, pages "Page table", "Redirect table", "Page props table"; the MySQL manual, "String
Literals". Columns are found by their names in ``CREATE TABLE`` (their order has changed over the years), rows by
``INSERT INTO``: many to a line, or one a line. Memory is that of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from corpus.errors import FormatError

_CREATE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?`?(\w+)`?")
_COLUMN = re.compile(rb"\s+`(\w+)`\s")
_INSERT = re.compile(rb"INSERT (?:IGNORE )?INTO `?(\w+)`?\s*(?:\(([^)]*)\)\s*)?VALUES\s*")
_VALUE = rb"(?:_binary )?(?:'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'|[^,'()\s]++)"
_BETWEEN = re.compile(rb"\s*[,;]?\s*")
_HEX = re.compile(rb"0x(?:[0-9A-Fa-f]{2})+")
_ESCAPE = re.compile(rb"\\(.)|''", re.S)
_ESCAPED = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a", b"%": rb"\%", b"_": rb"\_"}

Values = tuple[str, ...]


def rows(lines: Iterable[bytes], table: str, columns: Sequence[str], path: str = "<dump>") -> Iterator[Values]:
    """Of each row of a table these columns; numbers as they are written, NULL as "NULL", bytes that are no UTF-8 as
    U+FFFD. FormatError where the dump has no such column, or a row does not fit."""
    names: list[str] = []
    row: re.Pattern[bytes] | None = None
    defining = inserting = False
    number = 0
    for number, line in enumerate(lines, 1):
        at = 0
        if not inserting:
            if create := _CREATE.match(line):
                defining, names = create[1].decode() == table, []
            elif defining and (column := _COLUMN.match(line)):
                names.append(column[1].decode("utf-8", "replace"))
            elif (insert := _INSERT.match(line)) and insert[1].decode() == table:
                listed = (insert[2] or b"").decode("utf-8", "replace").split(",")
                given = [name.strip(" `") for name in listed if name]
                row = _row(given or names, columns, path, number)
                inserting, at = True, insert.end()
            defining = defining and not line.startswith(b")")
        if inserting and row is not None:
            for found in _within(line, at, row, path, number):
                yield tuple(_text(found[column]) for column in columns)
            inserting = not line.rstrip().endswith(b";")
    if inserting:
        raise FormatError(path, number, "the dump ends inside a statement")


def table_of(lines: Iterable[bytes]) -> tuple[str, Iterator[bytes]]:
    """The first table that a dump makes or fills, "" when there is none in its first hundred lines; and its lines."""
    rest, table = iter(lines), ""
    looked: list[bytes] = []
    for line in islice(rest, 100):
        looked.append(line)
        if found := _CREATE.match(line) or _INSERT.match(line):
            table = found[1].decode()
            break
    return table, chain(looked, rest)


def _row(names: Sequence[str], columns: Sequence[str], path: str, number: int) -> re.Pattern[bytes]:
    missing = [column for column in columns if names.count(column) != 1]
    if missing:
        raise FormatError(path, number, f"no column {missing[0]} in this table, or several")
    parts = (rb"(?P<%s>%s)" % (name.encode(), _VALUE) if name in columns else _VALUE for name in names)
    return re.compile(rb"\(\s*" + rb"\s*,\s*".join(parts) + rb"\s*\)", re.S)


def _within(line: bytes, at: int, row: re.Pattern[bytes], path: str, number: int) -> Iterator[re.Match[bytes]]:
    while at < len(line):
        found = row.match(line, at)
        if found is None:
            raise FormatError(path, number, "a row that does not fit its table")
        yield found
        between = _BETWEEN.match(line, found.end())
        assert between is not None  # of anything
        at = between.end()


def _text(written: bytes) -> str:
    value = written.removeprefix(b"_binary ")
    if value.startswith(b"'"):
        value = value[1:-1]
        if b"\\" in value or b"''" in value:
            value = _ESCAPE.sub(lambda escape: b"'" if escape[1] is None else _ESCAPED.get(escape[1], escape[1]), value)
    elif _HEX.fullmatch(value):
        value = bytes.fromhex(value[2:].decode())
    return value.decode("utf-8", "replace")
