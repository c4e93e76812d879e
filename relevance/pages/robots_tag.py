"""``X-Robots-Tag``: what a header of an answer says to robots, as the crawl and the corpus read it."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Directives with a colon of their own, which no name of a crawler is (Google's, Bing's and Yandex' lists).
_WITH_A_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview", "max_snippet", "revisit-after"}
)
_EVERYONE = ("*", "robots")
"""As robots.txt and meta tags name them: no list has these for headers, but who writes them means us, too."""
_NO_PREVIEW = re.compile(r"max-image-preview\s*+:\s*+none\b")
"""The one value that is a directive by itself."""


def directives_in(text: str) -> list[str]:
    """Of a robots meta tag, or behind a crawler's name in a header, in lower case. Blanks part directives as commas do,
    and also from their values."""
    return [part for part in re.split(r"[,\s]+", _NO_PREVIEW.sub("max-image-preview:none", text.lower())) if part]


def robots_tag(values: Iterable[str], robot: str) -> frozenset[str]:
    """Lower-case directives for `robot` in the values of all such headers.

    A value may name the crawler that it speaks to ("otherbot: noindex, nofollow"), and after it another one; what
    follows a name is ours only when it is our name or everyone's.
    """
    found: set[str] = set()
    for value in values:
        ours = True
        for said in value.lower().split(","):
            part = said.strip()
            whom, colon, rest = part.partition(":")
            if colon and " " not in whom.strip() and whom.strip() not in _WITH_A_VALUE:
                ours, part = whom.strip() in {robot.lower(), *_EVERYONE}, rest.strip()
            if ours:
                found.update(directives_in(part))
    return frozenset(found)
