"""Ports of services that are no web servers, from SMTP to X11, to which no browser sends a request either, as what a
URL has in it could be commands to them. Source: https://fetch.spec.whatwg.org/#port-blocking; port 0 is none at all.
"""

from __future__ import annotations

import re

# fmt: off
BAD_PORTS = frozenset({
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
})
# fmt: on
_PORT = re.compile(r"https?://[^/?#]*:([0-9]{1,5})(?=[/?#]|$)")


def bad_port(url: str) -> int | None:
    """The port of an absolute URL, as parsed, when it is that of another service; None when it may be asked."""
    found = _PORT.match(url)
    return int(found[1]) if found is not None and int(found[1]) in BAD_PORTS else None
