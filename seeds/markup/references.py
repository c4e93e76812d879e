"""Numeric character references that name no character, mended before any XML parser sees them.

Emoji are often written as the two halves that UTF-16 has of them ("&#55357;&#56832;"), which XML forbids (4.1, Legal
Character); so are numbers beyond Unicode. A parser that goes on all the same fails later, where its text is to be
stored: one such reference costs the whole document.
"""

from __future__ import annotations

import re

__all__ = ["mended"]

_NOTHING = b"&#65533;"
_LAST = 0x10FFFF
# From a little before the halves to a little behind them: 55000 to 57999, or D800 to DFFF.
_HALVES = re.compile(
    rb"(?:&#(?:0*+5[5-7]\d{3}(?!\d)|[xX]0*+[dD][89a-fA-F][0-9a-fA-F]{2}(?![0-9a-fA-F]));?)++",
)
_NUMBER = re.compile(rb"&#([xX]?[0-9a-fA-F]+)")
_LARGE = re.compile(rb"&#(?:(\d{7,}+)|[xX]([0-9a-fA-F]{6,}+));?")


def mended(text: bytes) -> bytes:
    """`text` (ASCII or an extension of it) with halves put together, and U+FFFD for what names no character; both again
    as references, which say the same in every encoding."""
    if b"&#" not in text:  # as in most: the patterns take 0.1 s to say so of 14 MB
        return text
    return _LARGE.sub(_if_it_is_one, _HALVES.sub(_together, text))


def _together(found: re.Match[bytes]) -> bytes:
    numbers = (number.decode() for number in _NUMBER.findall(found[0]))
    units = (int(n[1:], 16) if n[:1] in "xX" else int(n) for n in numbers)
    return (
        b"".join(unit.to_bytes(2, "little") for unit in units)
        .decode("utf-16-le", "replace")
        .encode("ascii", "xmlcharrefreplace")
    )


def _if_it_is_one(found: re.Match[bytes]) -> bytes:
    digits, base = (found[1], 10) if found[1] else (found[2], 16)
    digits = digits.lstrip(b"0")
    return found[0] if len(digits) < 9 and int(digits or b"0", base) <= _LAST else _NOTHING
