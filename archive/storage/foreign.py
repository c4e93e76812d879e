"""Ways of packing that are not read here, told by the first bytes of a file: their own documentation's magic numbers.

A file of such a kind is no damaged archive: one line says what it is and what to do. (A tar is not among them: it is
plain, and its records are found.)
"""

from __future__ import annotations

import re

LONGEST = 10
_KINDS = (
    (rb"BZh[1-9]1AY&SY", "bzip2"),
    (rb"PK\x03\x04", "zip"),
    (rb"7z\xbc\xaf\x27\x1c", "7z"),
    (rb"\x5d\x00\x00", "lzma"),
    (rb"LZIP\x01", "lzip"),
    (rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18", "lz4"),
    (rb"\x1f\x9d", "compress"),
    (rb"Rar!\x1a\x07", "rar"),
)


def foreign(head: bytes) -> str:
    """What a file that begins with ``head`` (:data:`LONGEST` bytes) is packed with, as words for people; "" when it is
    none of these."""
    return next((f"packed with {name}" for magic, name in _KINDS if re.match(magic, head)), "")
