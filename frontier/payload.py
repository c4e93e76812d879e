"""How a waiting URL is kept: a few bytes in front of the part of the URL behind its authority.

The same header travels as the payload of the sieve's entries (:func:`pack`, :func:`unpack`) and stands in front of
each element of the frontier's queues (:func:`element`, :func:`read_element`), so that moving a URL from the one to
the other is a concatenation. Layout, also known to ``lua/_queues.lua``:

    byte 0   kind (bits 0-1), URL kept whole (bit 2), memo (bit 3), source (bits 4-5: none, seed, page, feed),
             not before (bit 6; payloads only)
    byte 1   tries that failed: answers (bits 0-3), leases that ran out (bits 4-7)
    byte 2   score in 1/255 (its three highest bits are the priority band: 7 -> band 0, the best)
    byte 3   depth, at most 255
    8 bytes  fingerprint of the source's canonical URL, if the source is a page or feed (zeros: a feed without URL)
    2 bytes  length of the memo, big-endian, and the memo, if there is one
    6 bytes  not before, epoch milliseconds, big-endian (payloads only)
    rest     the URL, or what follows its authority

Without memo that is 12 bytes for a link and 4 for a seed, while the authority, 20 bytes or so, is saved. A candidate's
memo has up to 8,192 bytes (a link's 16), what a report leaves up to 65,535.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from functools import lru_cache

import xxhash

from frontier.outcomes import EXPIRY
from frontier.types import BANDS, LONGEST_MEMO_BYTES, Candidate, Kind
from sieve.urls import canonicalize

KINDS = (Kind.PAGE, Kind.ROBOTS, Kind.FEED, Kind.SITEMAP)
_KIND_BITS = {kind: bits for bits, kind in enumerate(KINDS)}
_WHOLE, _MEMO, _NOT_BEFORE = 4, 8, 64
_NO_SOURCE, _SEED, _PAGE, _FEED = 0, 16, 32, 48
_FROM_URL = 32
"""The bit that page and feed have in common: a fingerprint follows."""
_NO_URL = bytes(8)
_AUTHORITY = re.compile(rb"[a-zA-Z][\w+.-]*://[^/?#]*")
SECTION_BYTES = 32
REQUISITE_MARK = b"\xff\xff+"
"""Begins the memo of what a page embeds (crawler/pages/requisites.py), and no other; one byte follows, and what
crawler/pages/detour.py adds."""
SECOND_BAND = 0xDF
"""The best score in 1/255 that is not of the best band."""
_TIME_BYTES = 6


@dataclass(frozen=True, slots=True)
class Element:
    """A decoded queue element."""

    url: str
    kind: Kind
    attempt: int
    expiries: int
    score: float
    depth: int
    source: str
    memo: bytes


def pack(candidate: Candidate) -> bytes:
    """Header of `candidate`, to travel beside its URL; ValueError when its memo is too long or it is a robots.txt's."""
    if candidate.memo and (len(candidate.memo) > LONGEST_MEMO_BYTES or candidate.kind is Kind.ROBOTS):
        raise ValueError(f"no memo of {len(candidate.memo)} bytes for a {candidate.kind} candidate: {candidate.url}")
    bits, fingerprint = _source_bits(candidate.source)
    bits |= _KIND_BITS[candidate.kind]
    moment = memo = b""
    if candidate.memo:
        bits |= _MEMO
        memo = len(candidate.memo).to_bytes(2, "big") + candidate.memo
    if candidate.not_before_ms > 0:
        bits |= _NOT_BEFORE
        moment = candidate.not_before_ms.to_bytes(_TIME_BYTES, "big")
    return (
        bytes((bits, 0, score_byte(candidate.score), min(255, max(0, candidate.depth)))) + fingerprint + memo + moment
    )


def score_byte(score: float) -> int:
    """A score as an element keeps it."""
    return round(min(1.0, max(0.0, score)) * 255)


def unpack(url: str, payload: bytes) -> Candidate:
    """Inverse of :func:`pack`, but that a source URL comes back as its tag. An empty payload is a plain page;
    ValueError on one that is cut short."""
    if not payload:
        return Candidate(url)
    header, not_before_ms = split_payload(payload)
    found = read_element("", header + url.encode())
    return Candidate(url, found.kind, found.source, found.depth, found.score, not_before_ms, found.memo)


def split_payload(payload: bytes) -> tuple[bytes, int]:
    """(element header, not_before_ms) of a payload; ValueError when cut short."""
    if not payload:
        return bytes(4), 0
    bits = payload[0]
    _, end = _memo_places(payload)
    if len(payload) != end + (_TIME_BYTES if bits & _NOT_BEFORE else 0):
        raise ValueError(f"not a frontier payload: {payload.hex()}")
    if not bits & _NOT_BEFORE:
        return payload, 0
    return bytes((bits & ~_NOT_BEFORE,)) + payload[1:end], int.from_bytes(payload[end:], "big")


def element(authority: str, url: str, header: bytes) -> bytes:
    """Queue element of `url`; the authority is left out when the URL begins with it as it is."""
    if url.startswith(authority) and url[len(authority) : len(authority) + 1] in ("/", "?", "#", ""):
        return header + url[len(authority) :].encode("utf-8", "surrogatepass")
    return bytes((header[0] | _WHOLE,)) + header[1:] + url.encode("utf-8", "surrogatepass")


def hop_element(authority: str, url: str, origin: str, hops: int) -> bytes:
    """Element of a redirected robots.txt of `origin`; its memo says for whom and after how many redirects."""
    memo = bytes((hops,)) + origin.encode()
    header = bytes((_KIND_BITS[Kind.ROBOTS] | _MEMO, 0, 255, 0)) + len(memo).to_bytes(2, "big") + memo
    return element(authority, url, header)


def read_hop(memo: bytes) -> tuple[str, int]:
    """(origin, hops) of a hop's memo."""
    return memo[1:].decode(), memo[0]


def read_element(authority: str, data: bytes) -> Element:
    """Decode a queue element of `authority`."""
    bits, tries, score, depth = data[0], data[1], data[2], data[3]
    begin, end = _memo_places(data)
    source = _tag(bits & _FEED, data[4:12])
    memo = data[begin + 2 : end]
    rest = data[end:].decode("utf-8", "surrogatepass")
    url = rest if bits & _WHOLE else authority + rest
    return Element(url, KINDS[bits & 3], tries % EXPIRY, tries // EXPIRY, score / 255, depth, source, memo)


def revised(data: bytes, tries: int, memo: bytes | None) -> bytes:
    """The element with another byte of tries and, unless None, another memo."""
    begin, end = _memo_places(data)
    kept = data[begin:end]
    if memo is not None:
        kept = len(memo).to_bytes(2, "big") + memo if memo else b""
    bits = data[0] | _MEMO if kept else data[0] & ~_MEMO
    return bytes((bits, min(255, tries))) + data[2:begin] + kept + data[end:]


def section(data: bytes) -> bytes:
    """The part of its site that an element's URL belongs to: the first path segment where another follows, at most
    :data:`SECTION_BYTES` of it, and "?" where there is a query."""
    path, mark, _ = behind_authority(data).partition(b"?")
    first, slash, _ = path.removeprefix(b"/").partition(b"/")
    return (first[:SECTION_BYTES] if slash else b"") + mark


def _memo_places(data: bytes) -> tuple[int, int]:
    """Where the memo of an element or payload begins, with its length in front, and where it ends; one place without
    a memo."""
    begin = end = 12 if data[0] & _FROM_URL else 4
    if data[0] & _MEMO:
        end += 2 + int.from_bytes(data[begin : begin + 2], "big")
    return begin, end


def behind_authority(data: bytes) -> bytes:
    """What follows the authority in an element's URL, however that is spelled."""
    _, place = _memo_places(data)
    if not data[0] & _WHOLE:
        return data[place:]
    found = _AUTHORITY.match(data, place)
    return data[found.end() :] if found else b""


def band(data: bytes) -> int:
    """Priority band of an element, 0 (best) to 7."""
    return BANDS - 1 - (data[2] >> 5)


def has_failed(data: bytes) -> bool:
    """Whether it is a page that is tried again since an answer to it failed."""
    return KINDS[data[0] & 3] is Kind.PAGE and data[1] % EXPIRY > 0


def is_requisite(data: bytes) -> bool:
    """Whether it is of the best band, and of what a page embeds."""
    begin, end = _memo_places(data)
    return is_embedded(KINDS[data[0] & 3], data[2] / 255, data[begin + 2 : end])


def is_embedded(kind: Kind, score: float, memo: bytes) -> bool:
    """As :func:`is_requisite`, by its parts."""
    return kind is Kind.PAGE and score_byte(score) > SECOND_BAND and memo.startswith(REQUISITE_MARK)


def put_behind(data: bytes) -> bytes:
    """An element of the best band as it is in the second."""
    return data[:2] + bytes((SECOND_BAND,)) + data[3:]


def is_least(score: float) -> bool:
    """Whether URLs of this score lie in the last band."""
    return score_byte(score) >> 5 == 0


def source_tag(source: str) -> str:
    """What remains of a `source`: "", "seed", "feed", "#" or "feed:#" and the 16 hex digits of its URL's
    fingerprint."""
    return _tag(*_source_bits(source))


@lru_cache(maxsize=4096)
def _source_bits(source: str) -> tuple[int, bytes]:
    if source == "":
        return _NO_SOURCE, b""
    if source == "seed":
        return _SEED, b""
    if source == "feed":
        return _FEED, _NO_URL
    bits, url = (_FEED, source[5:]) if source.startswith("feed:") else (_PAGE, source)
    if len(url) == 17 and url[0] == "#":
        return bits, bytes.fromhex(url[1:])
    with contextlib.suppress(ValueError):
        url = canonicalize(url)
    return bits, xxhash.xxh3_64_digest(url.encode("utf-8", "surrogatepass"))


def _tag(bits: int, fingerprint: bytes) -> str:
    """`fingerprint` is that of a page or feed; anything of a source that has none."""
    if bits == _FEED:
        return "feed" if fingerprint == _NO_URL else f"feed:#{fingerprint.hex()}"
    if bits == _PAGE:
        return f"#{fingerprint.hex()}"
    return "seed" if bits == _SEED else ""
