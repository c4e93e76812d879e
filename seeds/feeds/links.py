"""What to fetch for a link of a feed: the publisher's address, absolute, less what only counts clicks."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urljoin, urlsplit

__all__ = ["absolute", "clean_link", "tidied"]

_BREAKS = re.compile(r"[\t\n\r]+")
_SCHEME = re.compile(r"\Ahttps?(?=:)", re.IGNORECASE)
# Parameters that say where a reader came from; no site chooses a page by them.
_TRACKING = re.compile(
    r"(?<=[?&])(?:utm_[a-z_]+|fbclid|gclid|dclid|yclid|msclkid|twclid|igshid|mc_cid|mc_eid|_hsenc|_hsmi|mkt_tok|"
    r"ns_(?:campaign|mchannel|source|linkname|fee)|at_(?:medium|campaign|custom\d)|wt_(?:mc|zmc)|cmpid|xtor|"
    r"source=rss-)(?:=[^&#]*|(?<=source=rss-)[^&#]*)?(?:&|(?=#|$))",
    re.IGNORECASE,
)
# Click counters that name the page they lead to: host and path, parameter.
_COUNTERS = (
    (re.compile(r"(?:www\.)?google\.[a-z.]+/url$"), ("url", "q")),
    (re.compile(r"(?:www\.)?bing\.com/news/apiclick\.aspx$"), ("url",)),
    (re.compile(r"l\.facebook\.com/l\.php$"), ("u",)),
    (re.compile(r"(?:feeds\.)?feedproxy\.google\.com/.*$"), ("url",)),
)


def absolute(base: str, link: str) -> str | None:
    """`link` as it leads on from `base`; None for an empty one and for what cannot be read."""
    try:
        return urljoin(base, link) if link else None
    except ValueError:
        return None


def tidied(link: str) -> str:
    """An address without the ends of lines and tabs that parsers leave out, and with http or https in small letters,
    as joining leaves it only where both have the same scheme."""
    return _SCHEME.sub(lambda found: found[0].lower(), _BREAKS.sub("", link))


def clean_link(link: str) -> str:
    """The address to fetch: through known click counters to the page they name, without tracking parameters."""
    link = tidied(link)
    if "?" not in link:
        return link
    cleaned = _TRACKING.sub("", _behind_counter(link))
    head, hash_sign, fragment = cleaned.partition("#")
    return head.rstrip("&?") + hash_sign + fragment if cleaned != link else link


def _behind_counter(link: str) -> str:
    try:
        parts = urlsplit(link)
    except ValueError:
        return link
    for place, names in _COUNTERS:
        if place.fullmatch(f"{parts.hostname or ''}{parts.path}"):
            fields = parse_qs(parts.query)
            for name in names:
                for target in fields.get(name, ()):
                    if target.startswith(("http://", "https://")):
                        return target
    return link
