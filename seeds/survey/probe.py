"""The one thing this package asks of the outside: fetch an address politely and say what came.

`seeds check`, `seeds discover` and the walk over a site's sitemaps are written against `Fetch`; the crawler passes a
function that obeys robots.txt, delays and limits. Nothing here opens a connection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Fetch", "Fetched"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of fetching one address: `url` after redirects; status 0 when no answer came, `problem` says why.

    `problem` is also set when the answer was not taken: robots_denied, robots_unreachable, opted_out, too_large,
    part, refused_address.
    """

    url: str
    status: int
    body: bytes = b""
    content_type: str = ""
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is a body to read."""
        return 200 <= self.status < 300 and not self.problem


Fetch = Callable[[str], Fetched]
