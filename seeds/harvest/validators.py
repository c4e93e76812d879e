"""What a server said to ask with next time (RFC 9110 8.8: ETag, Last-Modified), and whether it can be sent back.

A validator is opaque: it goes back byte for byte as it came, so it is kept as text in Latin-1, a letter for each byte.
"""

from __future__ import annotations

LONGEST = 200


def sendable(value: str) -> str:
    """The validator, or "" when it is absurdly long or has what may not stand in a header (RFC 9110 5.5)."""
    fits = len(value) <= LONGEST and all(letter == "\t" or " " <= letter != "\x7f" for letter in value)
    return value if fits else ""
