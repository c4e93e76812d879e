"""Pages in which an element is left open in a `<noscript>`, made to end where browsers end it."""

from __future__ import annotations

import re

_NOSCRIPT = re.compile(rb"(</?noscript(?=[\s/>])[^>]*+>?)", re.I)
_BLOCK_TAG = re.compile(rb"<(/?)(?:article|center|div|dl|form|h[1-6]|li|main|ol|p|section|table|ul)(?=[\s/>])", re.I)


def without_open_noscript(html: bytes) -> bytes | None:
    """The page without the `<noscript>` in which something is left open; None when there is none.

    Browsers, which run scripts, end it at its end tag, whatever is open: `<noscript><div></noscript>`. A parser that
    reads what is in it passes that end tag over, and the rest of the page is in it.
    """
    kept: list[bytes] = []
    start, cut = -1, False
    for piece in _NOSCRIPT.split(html):
        kept.append(piece)
        if piece[:9].lower() == b"<noscript":
            start = len(kept) - 1
        elif piece[:10].lower() == b"</noscript" and start >= 0:
            within = b"".join(kept[start + 1 : -1])
            # With the end of another element in it, it began in a script or a comment.
            if _is_left_open(within) and b"</script" not in within.lower() and b"-->" not in within:
                del kept[start:]
                cut = True
            start = -1
    return b"".join(kept) if cut else None


def _is_left_open(html: bytes) -> bool:
    ends = _BLOCK_TAG.findall(html)
    return len(ends) != 2 * ends.count(b"/")
