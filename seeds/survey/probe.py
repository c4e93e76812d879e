"""The one thing this package asks of the outside: fetch an address politely and say what came.

`seeds check`, `seeds discover` and the walk over a site's sitemaps are written against `Fetch`; the crawler passes a
function that obeys robots.txt, delays and limits. Nothing here opens a connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sieve.urls import UrlError, as_parsed

__all__ = ["Fetch", "Fetched", "reach"]

# A host with a dot or a port in it, and no "//" behind what might be a scheme.
_WITHOUT_SCHEME = re.compile(r"(?!\w+://)(?://)?(?=[^/?#]*[.:][^/?#])[^/?#@\s]+(?:[/?#]|$)")
_NO_HTTPS = ("connect", "tls", "timeout", "cut", "protocol")


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


def reach(written: str, fetch: Fetch) -> tuple[str, Fetched]:
    """The address that somebody means, and what came of fetching it: without a scheme by https, and by http where a
    host cannot be had by that, be it for its certificate; by https where it answers by neither."""
    tried: list[tuple[str, Fetched]] = []
    for url in _meant(written):
        answer = fetch(url)
        tried.append((url, answer))
        if answer.status or answer.problem not in _NO_HTTPS:
            return tried[-1]
    return tried[0]


def _meant(written: str) -> list[str]:
    if not _WITHOUT_SCHEME.match(written):
        return [written]
    bare = written.removeprefix("//")
    try:
        return [as_parsed(f"{scheme}://{bare}") for scheme in ("https", "http")]
    except UrlError:
        return [written]
