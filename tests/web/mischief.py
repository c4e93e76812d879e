"""Hostile answers and traps: what a crawler must survive, and the regions without end that it must leave."""

from __future__ import annotations

import zlib
from functools import lru_cache

from tests.web.answer import HTML, Answer
from tests.web.hashing import draw, draws
from tests.web.paths import Resource
from tests.web.sites import Site
from tests.web.text import POOL_PARAGRAPHS, pool

LARGE_BYTES = 12 * 1024 * 1024
BOMB_BYTES = 1024 * 1024 * 1024
_MIB = 1024 * 1024
_TYPE = (("Content-Type", HTML),)


def bad(resource: Resource, page: bytes) -> Answer:
    """A broken answer of kind `resource.how`; `page` is what a sound one would have as its body."""
    match resource.how:
        case "hang" | "silence" | "reset" | "endless":
            return Answer(200, headers=_TYPE, delivery=resource.how)
        case "cut" | "short" | "long":
            return Answer(200, page, _TYPE, resource.how)
        case "drip":
            return Answer(200, page[:4096], _TYPE, "drip")
        case "bomb":
            return Answer(200, bomb(), (*_TYPE, ("Content-Encoding", "gzip")))
        case "large":
            return Answer(200, _large(), _TYPE)
        case "headers":
            return Answer(200, page, (*_TYPE, *((f"X-Flood-{n}", "ulwembu" * 8) for n in range(20_000))))
        case "badgzip":
            return Answer(200, page, (*_TYPE, ("Content-Encoding", "gzip")))
        case _:
            return Answer(200, b"SSH-2.0-OpenSSH_9.6\r\n" + bytes(range(256)) * 4, delivery="raw")


@lru_cache(maxsize=1)
def bomb() -> bytes:
    """A gzip stream of 1 MB that opens to 1 GiB of paragraphs (its checksum, at the very end, is false)."""
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = coder.compress(b"<!DOCTYPE html><html><body>") + coder.flush(zlib.Z_FULL_FLUSH)
    piece = coder.compress(b"<p>aaaaaaaaa</p>" * (_MIB // 16)) + coder.flush(zlib.Z_FULL_FLUSH)
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return header + first + piece * (BOMB_BYTES // _MIB) + coder.flush(zlib.Z_FINISH) + bytes(8)


@lru_cache(maxsize=1)
def _large() -> bytes:
    return (
        b"<!DOCTYPE html><html><body>" + b"<p>izindaba ezinde kakhulu</p>\n" * (LARGE_BYTES // 31) + b"</body></html>"
    )


def trap(site: Site, resource: Resource, seed: int) -> Answer:
    """A page of a trap: sound to look at, and it leads only deeper into the trap (and home)."""
    how, _, target = resource.how.partition(":")
    stock = pool(site.language, seed)
    # Near-identical pages: the text hangs on the host and trap alone, but for the heading.
    d = draws(12, seed, "trap", site.index, how)
    text = b"".join(stock.paragraphs[n % POOL_PARAGRAPHS] for n in d)
    links = "".join(f'<li><a href="{href}">{label}</a></li>\n' for href, label in _deeper(how, target, seed))
    page = (
        f'<!DOCTYPE html>\n<html lang="{site.language[:2]}"><head><meta charset="utf-8"><title>{how}</title></head>\n'
        f'<body><nav><a href="/">Ekhaya</a></nav>\n<h1>{how} {len(target)}</h1>\n<ul>{links}</ul>\n'
    )
    return Answer(200, page.encode() + text + b"</body></html>\n", _TYPE)


def _deeper(how: str, target: str, seed: int) -> list[tuple[str, str]]:
    """(href, label) of the links of a trap page."""
    path, _, query = target.partition("?")
    match how:
        case "calendar":
            return _months(path)
        case "visit":
            return [(f"/visit/{n}?v={draw(seed, target, n):08x}", f"udaba {n}") for n in range(20)]
        case "deeper":
            return [(f"{path.rstrip('/')}/{letter}/", letter) for letter in "abcdef"]
        case "shop":
            chosen = [p for p in query.split("&") if p]
            more = [f"{name}={n}" for name in ("colour", "size", "sort", "page", "view") for n in range(4)]
            return [(f"/shop?{'&amp;'.join([*chosen, extra])}", extra) for extra in more if extra not in chosen]
        case _:
            return [(f"/lost/page-that-never-was-{draw(seed, target, n)}", f"bona futhi {n}") for n in range(10)]


def _months(path: str) -> list[tuple[str, str]]:
    parts = [int(part) for part in path.split("/")[2:] if part.isdigit()]
    year, month = (parts + [2026, 1][len(parts) :])[:2]
    ahead, back = year * 12 + month, year * 12 + month - 2
    links = [(f"/calendar/{n // 12}/{n % 12 + 1:02d}", f"{n // 12}-{n % 12 + 1:02d}") for n in (ahead, back)]
    return links + [(f"/calendar/{year}/{month:02d}/{day:02d}", str(day)) for day in range(1, 29)]
