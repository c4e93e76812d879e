"""Digests of blocks and payloads: made as IIPC recommends, read in every spelling that archives have."""

from __future__ import annotations

import base64
import hashlib
import re

_BASE16 = re.compile(r"[0-9a-fA-F]+")
_SIZES = {"sha1": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64, "md5": 16}


def digest(algorithm: str, *parts: bytes) -> str:
    """``sha1:BASE32`` or ``sha256:base16`` of the parts in a row; releases the interpreter lock on long parts.

    What base 32 has to pad with ``=`` is not a token, which the standard asks for; IIPC recommends base 16 there.
    """
    state = hashlib.new(algorithm, usedforsecurity=False)
    for part in parts:
        state.update(part)
    raw = state.digest()
    return f"{algorithm}:{raw.hex() if len(raw) % 5 else base64.b32encode(raw).decode('ascii')}"


def split_digest(text: str) -> tuple[str, bytes] | None:
    """``sha1:BASE32`` (or base 16, base 64 of either alphabet) -> (algorithm, digest); None: an unknown algorithm.

    A value that is no digest of the algorithm's length gives ``b""``, which nothing matches.
    """
    name, _, value = text.partition(":")
    algorithm = name.strip().lower().replace("-", "")
    size = _SIZES.get(algorithm)
    if size is None:
        return None
    value = value.strip()
    if len(value) == 2 * size and _BASE16.fullmatch(value):
        return algorithm, bytes.fromhex(value)
    bare = value.rstrip("=")
    for decode_value in (_base32, _base64):
        raw = decode_value(bare)
        if len(raw) == size:
            return algorithm, raw
    return algorithm, b""


def same_digest(one: str, other: str) -> bool:
    """Do both say the same, however they spell it? Of what cannot be read here: in the same letters."""
    parsed = split_digest(one)
    return parsed == split_digest(other) if parsed is not None and parsed[1] else one == other


def split_indexed(text: str) -> tuple[str, bytes] | None:
    """As :func:`split_digest`, of a digest as indexes have it: one without a name is of SHA-1."""
    return split_digest(text if ":" in text else f"sha1:{text}")


def _base32(text: str) -> bytes:
    try:
        return base64.b32decode(text.upper() + "=" * (-len(text) % 8))
    except ValueError:
        return b""


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        return b""


class DigestCheck:
    """Is ``text`` the digest of what it is fed?"""

    def __init__(self, text: str) -> None:
        parsed = split_digest(text)
        self._state = hashlib.new(parsed[0], usedforsecurity=False) if parsed is not None else None
        self._wanted = parsed[1] if parsed is not None else b""

    def feed(self, data: bytes) -> None:
        if self._state is not None:
            self._state.update(data)

    def holds(self) -> bool | None:
        """None: not a digest we can check."""
        return self._state.digest() == self._wanted if self._state is not None else None


def digest_holds(text: str, data: bytes) -> bool | None:
    """Is this the digest of ``data``? None: not a digest we can check."""
    check = DigestCheck(text)
    check.feed(data)
    return check.holds()
