"""When to fetch an article again: soon after it appeared, then ever more rarely, and no more once it has settled.

Pure functions on a memo of 34 bytes and the answer's validators that travels with the article's entry in the frontier,
as a feed's does. A change starts the series over (a correction is often followed by another), an unchanged article
moves on in it. The memo also says what to ask with, so that a server may answer "not modified" (RFC 9110 13.1), when
the content was fetched that is then still valid, and when the feed says that the article was published.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from seeds.harvest.validators import sendable

__all__ = ["AGES_S", "Look", "Revisit", "conditions", "is_revisit", "published", "revisit", "stored_us"]

HOUR_S = 3600
AGES_S = (HOUR_S, 6 * HOUR_S, 24 * HOUR_S, 4 * 24 * HOUR_S, 16 * 24 * HOUR_S)
MOST_CHANGES = 8
_FORM = struct.Struct("<BB16s8sQ")


@dataclass(frozen=True, slots=True)
class Look:
    """An article as it was answered: digests of its text (16 bytes) and of its body (8 bytes), when it was fetched
    (epoch microseconds, 0 = not known), and the validators, "" without. `published`: when, as its feed says; the first
    look counts."""

    text: bytes
    body: bytes = b""
    fetched_us: int = 0
    etag: str = ""
    modified: str = ""
    published: str = ""


@dataclass(frozen=True, slots=True)
class Revisit:
    """`again_in_ms` None: settled."""

    memo: bytes
    again_in_ms: int | None


def is_revisit(memo: bytes) -> bool:
    """Whether a memo was left by :func:`revisit`."""
    return len(memo) >= _FORM.size


def revisit(memo: bytes, look: Look | None, ages_s: tuple[float, ...] = AGES_S) -> Revisit:
    """Judge a fetch of an article; `look` None: it answered "not modified"."""
    first = not is_revisit(memo)
    step, changes, text, body, fetched_us = (0, 0, b"", b"", 0) if first else _FORM.unpack_from(memo)
    if not first and look is not None and look.text.ljust(16, b"\0") != text:
        step, changes = 0, min(changes + 1, 255)
    elif not first:
        step = min(step + 1, 255)
    validators, said = memo[_FORM.size :], published(memo)
    if first:
        validators, said = b"", look.published if look is not None else ""
    if look is not None:
        if first or look.body.ljust(8, b"\0") != body:  # else what was fetched then is what stands in the archive
            fetched_us = look.fetched_us
        text, body = look.text, look.body
        validators = b"\n".join(
            sendable(value).encode("latin-1", "ignore") for value in (look.etag, look.modified, said)
        )
    again = None if step >= len(ages_s) or changes > MOST_CHANGES else round(ages_s[step] * 1000)
    return Revisit(_FORM.pack(step, changes, text, body, fetched_us) + validators, again)


def conditions(memo: bytes) -> dict[str, str]:
    """The header fields that ask for the article only if it has changed; none for what was never fetched."""
    if not is_revisit(memo):
        return {}
    etag, modified, _ = _lines(memo)
    return {name: value for name, value in (("If-None-Match", etag), ("If-Modified-Since", modified)) if value}


def published(memo: bytes) -> str:
    """When the article was published, as :class:`Look` had it; "" = not known."""
    return _lines(memo)[2] if is_revisit(memo) else ""


def _lines(memo: bytes) -> tuple[str, str, str]:
    etag, modified, said, *_ = [*memo[_FORM.size :].decode("latin-1").split("\n"), "", "", ""]
    return etag, modified, said


def stored_us(memo: bytes) -> int:
    """When the content was fetched that "not modified" says is still valid; epoch microseconds, 0 = not known."""
    return int(_FORM.unpack_from(memo)[4]) if is_revisit(memo) else 0
