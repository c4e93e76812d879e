"""Lists of addresses from elsewhere: OPML and plain text, a URL a line (the layout of the old collector's
`rss_sources/*.txt`), made into the tables of a seed file."""

from __future__ import annotations

import lzma
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from seeds.crawl.reader import check_url
from seeds.crawl.scope import seed_key
from seeds.errors import SeedsError
from seeds.markup.encodings import narrowed, undeclared
from seeds.markup.references import mended

__all__ = ["ListError", "Listed", "import_files", "quoted", "read_list", "read_some", "to_toml"]

_MAX_BYTES = 8 << 20
_XZ = b"\xfd7zXZ\0"
_OPML, _OPML_END = (re.compile(mark, re.IGNORECASE) for mark in (rb"<opml[\s>]", rb"</opml\s*>"))
_MOST_ATTRIBUTES = 2000  # an element's cost the parser their square


class ListError(SeedsError):
    """A list that cannot be read, or a line of it; says which and why."""


Tell = Callable[[ListError], None]
"""Hears of what is left out."""


def _refuse(error: ListError) -> None:
    raise error


@dataclass(frozen=True, slots=True)
class Listed:
    """One address of a list, with the title and group it stands under ("" when none)."""

    url: str
    title: str = ""
    group: str = ""


def read_list(body: bytes, name: str = "list", tell: Tell = _refuse) -> list[Listed]:
    """The feeds of an OPML document, or the addresses of a plain list (`#` begins a comment), each once; either may be
    packed with xz. `tell`: of each line or outline with what is no address, and of OPML that was cut short; by default
    the first is raised. ListError: none can be read."""
    if body.startswith(_XZ):
        body = _unpacked(body, name)
    if len(body) > _MAX_BYTES:
        raise ListError(f"{name}: more than {_MAX_BYTES} bytes")
    body = narrowed(body)
    found = _opml(body, name, tell) if _OPML.search(body, 0, 4096) else _plain(body, name, tell)
    unique: dict[str, Listed] = {}
    for listed in found:
        unique.setdefault(listed.url, listed)
    return list(unique.values())


def import_files(paths: Iterable[Path], tell: Tell = _refuse) -> list[Listed]:
    """All lists together; of addresses that are one seed the first counts. A plain list's group is its name.
    `tell`: also of each list that cannot be read or has no address."""
    found: dict[str, Listed] = {}
    for path in paths:
        try:
            listed = read_list(read_some(path), str(path), tell)
        except OSError as error:
            tell(ListError(f"{path}: {error.strerror or error}"))
            continue
        except ListError as error:
            tell(error)
            continue
        if not listed:
            tell(ListError(f"{path}: no address in it"))
        stem = Path(path.name.removesuffix(".xz")).stem
        name = os.fsencode(stem).decode("utf-8", "replace")  # TOML has no other bytes
        for one in listed:
            group = one.group or name
            found.setdefault(seed_key(one.url), Listed(one.url, one.title, group))
    return list(found.values())


def read_some(path: Path) -> bytes:
    """A file as far as it matters: of one that is too long a byte more than a list may have."""
    with path.open("rb") as file:
        return file.read(_MAX_BYTES + 1)


def to_toml(listed: Iterable[Listed], table: str = "feed") -> str:
    """`[[feed]]` (or other) tables, one a group, to be put into a seed file."""
    groups: dict[str, list[Listed]] = {}
    for entry in listed:
        groups.setdefault(entry.group, []).append(entry)
    parts = []
    for group, entries in groups.items():
        lines = [
            f"    {quoted(entry.url)},{f'  # {_one_line(entry.title)}' if entry.title else ''}" for entry in entries
        ]
        tags = f"tags = [{quoted(group)}]\n" if group else ""
        parts.append(f"[[{table}]]\nurl = [\n" + "\n".join(lines) + f"\n]\n{tags}")
    return "\n".join(parts)


def _unpacked(body: bytes, name: str) -> bytes:
    """What is in all xz streams, as far as it matters."""
    parts: list[bytes] = []
    size = 0
    try:
        while body and size <= _MAX_BYTES:
            stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
            parts.append(stream.decompress(body, _MAX_BYTES + 1))
            size += len(parts[-1])
            if not stream.eof and size <= _MAX_BYTES:
                raise ListError(f"{name}: ends within its xz stream")
            body = stream.unused_data.lstrip(b"\0")
    except lzma.LZMAError as error:
        raise ListError(f"{name}: {error}") from error
    return b"".join(parts)


def _opml(body: bytes, name: str, tell: Tell) -> list[Listed]:
    if any(tag.count(b"=") > _MOST_ATTRIBUTES for tag in body.split(b"<")):
        raise ListError(f"{name}: OPML with more than {_MOST_ATTRIBUTES} attributes in an element")
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(mended(undeclared(body.lstrip())), parser)
    except etree.XMLSyntaxError:  # there is nothing at all to recover
        root = None
    if root is None:
        raise ListError(f"{name}: OPML that cannot be read")
    if not _OPML_END.search(body):
        tell(ListError(f"{name}: OPML that ends before </opml>"))
    found = []
    groups: dict[etree._Element | None, str] = {None: ""}  # a long name may stand above thousands
    for outline in root.iter("outline", "OUTLINE", "Outline"):
        fields = _fields(outline)
        url = re.sub(
            r"^feed:(?://)?(?=http)|^feed(?=://)",
            lambda match: "" if match[0] != "feed" else "http",
            fields.get("xmlurl", ""),
        )
        parent = outline.getparent()
        if url and not _is_address(url):
            tell(ListError(f"{name}:{outline.sourceline}: not an address: {url[:80]!r}"))
        elif url:
            if parent is not None and parent not in groups:
                above = _fields(parent)
                groups[parent] = above.get("text") or above.get("title", "")
            found.append(Listed(url, fields.get("title") or fields.get("text", ""), groups[parent]))
    return found


def _fields(element: etree._Element) -> dict[str, str]:
    return {str(key).lower(): str(value).strip() for key, value in element.attrib.items()}


def _plain(body: bytes, name: str, tell: Tell) -> list[Listed]:
    found = []
    for number, line in enumerate(body.decode("utf-8-sig", "replace").splitlines(), start=1):
        word = re.sub(r"(?:^|\s)#.*", "", line).strip()
        if not word:
            continue
        if not _is_address(word) or re.search(r"[\s\x00-\x1f\x7f\ufffd]", word):
            tell(ListError(f"{name}:{number}: not an address: {word[:80]!r}"))
            continue
        found.append(Listed(word))
    return found


def _is_address(text: str) -> bool:
    """To a seed file, which would be refused whole for one that is none."""
    with suppress(ValueError):
        return bool(check_url(text))
    return False


def quoted(text: str) -> str:
    """As a basic string of TOML; control characters are left out."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", "", escaped) + '"'


def _one_line(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())[:80]
