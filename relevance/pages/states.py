"""What the scripts of a page go on from, as values: the state of a framework, which may have the page's text.

It stands in elements of their own (`<script type="application/json">`: Next's `__NEXT_DATA__`; Nuxt, where it is a flat
list, :func:`unflattened`; SvelteKit, where the answers that it has fetched are JSON once more), or is assigned in plain
scripts (`window.__INITIAL_STATE__ = {…}`, `Fusion.globalContent={…}` as Arc has it, `JSON.parse("…")`), or comes in
rows that Next's app router pushes (:func:`joined`). No script is run: what is found is JSON that stands behind a `=`,
or in the literal that `JSON.parse` is given.

Guarantees: any text is read without an error, at the cost of its length; at most :data:`MOST_LETTERS` of a page's
elements of JSON are parsed, and as many of its plain scripts; values are trees that are no larger, and nothing recurses
through them. What nests too deeply for a parser of JSON is left out.

Sources: the pages of Next 15, Nuxt 3 and SvelteKit 2; https://github.com/Rich-Harris/devalue (its `stringify`);
ReactFlightClient.js of React 19 (`processBinaryChunk`).
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from relevance.pages.head import Told
from relevance.pages.media_type import media_type

MOST_LETTERS = 1 << 21
LITTLE = 500
"""Letters: a page that shows no more of full paragraphs may have its text in what its scripts go on from; there, what
is no longer is no text."""
MOST_TRIES = 1000
"""Places in a page's plain scripts where a value seems to begin that is no JSON: for each, Python counts all lines."""
MOST_ROWS = 20_000
_ASSIGNED = re.compile(r"=\s*+(?=[\[{][\[{\s]*+\")")
"""Before an object or list with a string in it; others have no text. One literal first: places are found by memchr."""
_PARSED = re.compile(r"JSON\.parse\(\s*+(?:\"((?:[^\"\\]++|\\.)*+)\"|'((?:[^'\\]++|\\.)*+)')", re.S)
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))|\"", re.S)
_PUSHED = re.compile(r"\b__next_f\.push\((?=\[)")
_ROW = re.compile(rb"([0-9a-f]{0,16}):(?:T([0-9a-f]{1,8}),)?")
_REFERENCE = re.compile(r"\$[L@]?([0-9a-f]{1,16})")
_DECODER = json.JSONDecoder(strict=False)


class Script(NamedTuple):
    """An element's text. `kind`: "json", "nuxt" (a flat list) or "" (code)."""

    text: str
    kind: str = ""


def scripts(told: Told) -> list[Script]:
    """Those that may have a state. `told`: in a page's head; its tree must be whole yet."""
    found = [Script(node.text()) for node in told.code]
    for node in told.scripts:
        attributes = node.attributes
        if media_type(attributes.get("type") or "") == "application/json":
            flat = attributes.get("id") == "__NUXT_DATA__" or "data-nuxt-data" in attributes
            found.append(Script(node.text(), "nuxt" if flat else "json"))
    return found


def values(found: Iterable[Script]) -> Iterator[Any]:
    """The values that they have, one at a time; those in elements of their own first."""
    found = list(found)
    room = MOST_LETTERS
    for script in found:
        if script.kind:
            room -= len(script.text)
            if room < 0:
                break
            yield from _of_element(script)
    yield from _Code().values(script.text for script in found if not script.kind)


def _of_element(script: Script) -> Iterator[Any]:
    top = _parsed(script.text)
    yield unflattened(top) if script.kind == "nuxt" and isinstance(top, list) else top
    if isinstance(top, dict) and isinstance(body := top.get("body"), str):
        yield _parsed(body)


def _parsed(text: str) -> Any:
    """None: it is no JSON."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


class _Code:
    """Reads plain scripts. What is tried counts against the page's room, whether it is JSON or not."""

    def __init__(self) -> None:
        self._room = MOST_LETTERS
        self._tries = MOST_TRIES

    def values(self, texts: Iterable[str]) -> Iterator[Any]:
        pushed: list[str] = []
        for text in texts:
            if "__next_f" in text:
                pushed += (one[1] for one, _ in self._behind(_PUSHED, text) if _is_chunk(one))
                continue
            yield from (value for value, letters in self._behind(_ASSIGNED, text) if letters > LITTLE)
            if "JSON.parse(" in text:
                yield from self._literals(text)
        if pushed:
            yield from joined("".join(pushed))

    def _literals(self, text: str) -> Iterator[Any]:
        for literal in _PARSED.finditer(text):
            self._room -= len(literal[0])
            if self._room < 0:
                break
            if len(literal[0]) > LITTLE:
                yield _parsed(_written(literal[1] if literal[2] is None else literal[2]))

    def _behind(self, mark: re.Pattern[str], text: str) -> Iterator[tuple[Any, int]]:
        """The values behind such marks, but those within others, and their letters."""
        end = 0
        for place in mark.finditer(text):
            start = place.end()
            if start < end:
                continue
            if self._room < 0 or self._tries < 0:
                break
            try:
                value, end = _DECODER.raw_decode(text, start)
            except json.JSONDecodeError as error:
                self._room -= error.pos - start
                self._tries -= 1
            except (ValueError, RecursionError):  # a number, or nesting, beyond bounds: somewhere
                self._room -= len(text) - start
                break
            else:
                self._room -= end - start
                yield value, end - start


def _written(literal: str) -> str:
    """What a literal of a script says; "": nothing that JSON could say."""
    text = _parsed(f'"{_ESCAPE.sub(_as_json, literal)}"')
    return text if isinstance(text, str) else ""


def _as_json(escape: re.Match[str]) -> str:
    """An escape as JSON has it: of JSON's own all others are the sign itself, and a quotation mark needs one."""
    if escape[1]:
        return f"\\u00{escape[1]}"
    if escape[2] is None:
        return '\\"'
    return escape[0] if escape[2] in '"\\/bfnrtu' else escape[2]


def unflattened(flat: list[Any]) -> Any:
    """The value that devalue has made a list of: its first element, in which, as in all objects and lists of the list,
    numbers are the places of what is there. A list that begins with a name is of that type, and is a list here.

    An object that is at several places comes at the first of them alone, so that none is in itself, and texts that are
    at several come as often as there is room (:data:`MOST_LETTERS`).
    """
    made = [type(one)() if isinstance(one, dict | list) else one for one in flat]
    waiting = deque([0] if made and isinstance(made[0], dict | list) else ())
    reached = set(waiting)
    room = MOST_LETTERS
    while waiting:
        at = waiting.popleft()
        raw, whole = flat[at], made[at]
        for key, place in _parts(raw):
            if type(place) is not int or not 0 <= place < len(made):
                continue
            part = made[place]
            if isinstance(part, str):
                room -= len(part)
            elif isinstance(part, dict | list):
                if place in reached:
                    continue
                reached.add(place)
                waiting.append(place)
            if room < 0:
                return made[0]
            if isinstance(whole, dict):
                whole[key] = part
            else:
                whole.append(part)
    return made[0] if made else None


def _is_chunk(pushed: Any) -> bool:
    return isinstance(pushed, list) and len(pushed) > 1 and pushed[0] == 1 and isinstance(pushed[1], str)


def joined(stream: str) -> Iterator[Any]:
    """The values of React's rows, each with those that it names (`$1f`) in their places; the page's own first.

    A row that is named at several places comes at the first alone, and texts as often as there is room. What is named
    by a way into a row (`$1f:props:post`) is there, and is left as it is.
    """
    rows = _rows(stream.encode("utf-8", "replace"))
    reached: set[str] = set()
    room = MOST_LETTERS
    for name in ("0", *rows):
        if name not in rows or name in reached:
            continue
        reached.add(name)
        waiting = [rows[name]]
        while waiting:
            whole = waiting.pop()
            for key, part in _parts(whole):
                named = _REFERENCE.fullmatch(part) if isinstance(part, str) else None
                if named and (row := named[1]) in rows:
                    part = rows[row]
                    if isinstance(part, str):
                        room -= len(part)
                    whole[key] = part = None if room < 0 or (row in reached and not isinstance(part, str)) else part
                    reached.add(row)
                if isinstance(part, dict | list):
                    waiting.append(part)
        yield rows[name]


def _rows(stream: bytes) -> dict[str, Any]:
    """By their names (hexadecimal numbers) those that are texts, of which their length is told, or JSON."""
    rows: dict[str, Any] = {}
    at = 0
    for _ in range(MOST_ROWS):
        if at >= len(stream):
            break
        row = _ROW.match(stream, at)
        if row and row[2]:
            at = row.end() + int(row[2], 16)
            rows[row[1].decode()] = stream[row.end() : at].decode("utf-8", "replace")
            continue
        end = stream.find(b"\n", at)
        end = end if end >= 0 else len(stream)
        if row and (value := _parsed(stream[row.end() : end].decode("utf-8", "replace"))) is not None:
            rows[row[1].decode()] = value
        at = end + 1
    return rows


def _parts(whole: Any) -> Iterable[tuple[Any, Any]]:
    """Of an object or list what is where; of anything else nothing."""
    return whole.items() if isinstance(whole, dict) else enumerate(whole) if isinstance(whole, list) else ()
