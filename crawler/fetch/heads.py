"""Heads of answers that the parser refuses and everybody else reads: lines without a name, blanks before a colon or
behind the status line, one length said twice, a coding that is none.

Browsers pass over such lines (RFC 9112 2.2 and 5.1 let a user agent), and a host's every page may have them. Two
different lengths stay what they are: nobody can say where that answer ends.
"""

from __future__ import annotations

import re

_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_END = re.compile(rb"\n\r?\n")
_BLANKS = (b" ", b"\t")
_LINE_END_TWICE = b"\r\r\n"
_FOLD = re.compile(rb"\r?\n[ \t]+")
_NO_CODING = b"identity"
_SAYS_NO_CODING = re.compile(rb"\ntransfer-encoding[ \t]*:(?:[^\n]|\n[ \t])*" + _NO_CODING, re.IGNORECASE)


def end_of(received: bytes | bytearray, start: int = 0) -> int:
    """Length of the head at the start of `received`, its empty line included; 0 when it has not come whole.

    `start`: where to look from, when the end was looked for before.
    """
    found = _END.search(received, start)
    return found.end() if found else 0


def is_misread(head: bytes) -> bool:
    """May the parser understand something else by this whole head than everybody? It takes for the empty line blanks
    behind the status line, which are no line at all (RFC 9112 2.2), and the second CR behind a name without a value;
    and it waits for the end of the connection where "identity", which leaves a body as it is (RFC 2616 3.6), is said
    beside its length, or behind "chunked"."""
    second = head.find(b"\n") + 1
    return _LINE_END_TWICE in head or head.startswith(_BLANKS, second) or _SAYS_NO_CODING.search(head) is not None


def mended(head: bytes | bytearray) -> bytes:
    """A whole head without the lines that are none (those that begin with blanks and go on none among them) or say
    nothing, and with plain ends of lines."""
    first, _, rest = bytes(head).rstrip(b"\r\n").partition(b"\n")
    kept = [first.rstrip(b"\r")]
    lengths = set()
    for line in _FOLD.sub(b" ", rest).split(b"\n"):
        name, colon, value = line.partition(b":")
        name, value = name.strip(), value.replace(b"\r", b" ").strip()
        if not colon or line.startswith(_BLANKS) or not _NAME.fullmatch(name):
            continue
        if name.lower() == b"content-length":
            said = {length.strip() for length in value.split(b",")}
            value = said.pop() if len(said) == 1 else value  # "5, 5": two lines in one (RFC 9112 6.3)
            if value in lengths:
                continue
            lengths.add(value)
        if name.lower() == b"transfer-encoding":
            codings = [coding.strip() for coding in value.split(b",")]
            if not (value := b", ".join(coding for coding in codings if coding.lower() not in (b"", _NO_CODING))):
                continue
        kept.append(name + b": " + value)
    return b"\r\n".join([*kept, b"", b""])
