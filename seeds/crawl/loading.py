"""Reading a crawl's seed file.

`load_crawl` reads `seeds/<name>.toml` into frozen values, or raises `SeedError` with every fault of the file at its
line. A crawl is data: nothing here opens a connection or reads a setting.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from seeds.crawl.model import Crawl
from seeds.crawl.reader import Reader, check_name
from seeds.crawl.toml_lines import LineMap
from seeds.errors import Problem, SeedError

__all__ = ["crawls", "load_crawl", "parse_crawl"]

_MOST_PARTS = 32
_LONG_KEY = re.compile(
    rf"""(?m)^[ \t]*\[{{0,2}}(?:[ \t]*+(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.){{{_MOST_PARTS}}}"""
)


def load_crawl(path: str | Path) -> Crawl:
    """The crawl of one seed file; SeedError tells all that is wrong with it."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SeedError(str(path), [Problem(0, f"not UTF-8 ({error.reason} at byte {error.start})")]) from error
    except OSError as error:
        raise SeedError(str(path), [Problem(0, error.strerror or str(error))]) from error
    return parse_crawl(text, str(path))


def crawls(folder: str | Path) -> dict[str, Path]:
    """The crawls of a folder by name, sorted. A file that cannot be read is listed by its stem."""
    found: dict[str, Path] = {}
    for path in sorted(Path(folder).glob("*.toml")):
        name = _name_of(path)
        if name in found:
            raise SeedError(str(path), [Problem(0, f"the crawl {name!r} is already defined in {found[name]}")])
        found[name] = path
    return dict(sorted(found.items()))


def parse_crawl(text: str, path: str = "<text>") -> Crawl:
    """As `load_crawl`, of a text; `path` is used in errors only."""
    try:
        data = _loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SeedError(path, [_syntax_problem(error, text)]) from error
    except RecursionError:
        raise SeedError(path, [Problem(0, "nested too deeply")]) from None
    except ValueError:  # Python reads thousands of digits at most
        raise SeedError(path, [Problem(0, "a number has too many digits")]) from None
    problems: list[Problem] = []
    crawl = Reader(data, LineMap(text), problems).crawl(path)
    if problems or crawl is None:
        raise SeedError(path, problems)
    return crawl


def _loads(text: str) -> dict[str, Any]:
    """As tomllib, which takes a square of its parts for a key, and so do errors that name it."""
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(f"a key of more than {_MOST_PARTS} parts (at line {line}, column 1)")
    return tomllib.loads(text)


def _name_of(path: Path) -> str:
    try:
        name = _loads(path.read_text(encoding="utf-8-sig"))["crawl"]["name"]
        return check_name(name) if isinstance(name, str) else path.stem
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return path.stem


def _syntax_problem(error: tomllib.TOMLDecodeError, text: str) -> Problem:
    message = str(error)
    match = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if match:
        return Problem(int(match[1]), f"{message[: match.start()]} (column {match[2]})")
    line = text.count("\n") + 1 if message.endswith("(at end of document)") else 0
    return Problem(line, message)
