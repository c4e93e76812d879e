"""What a spider's own request says beyond its URL: it waits in the frontier with the URL, as the memo of its page.

So the answer comes to the callback that was named, in whatever process the URL is leased, and a crawl that goes on
loses nothing. Callbacks are kept by name and the rest as JSON, not pickled as Scrapy does: whoever may write to the
Redis must not thereby run code here. What cannot be kept is an error, so that no callback gets half of its request.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.http import Request
from scrapy.utils.request import request_from_dict

from crawler.pages.link_memo import OWN_MARK
from frontier.types import LONGEST_MEMO_BYTES, Lease

# Of no other request, but copied by `meta=response.meta`; a time-out of its own could outlast the lease.
_OF_ONE_FETCH = frozenset(
    {
        *("lease", "grant", "capture", "finding", "detours", "robots", "depth", "is_start_request"),
        *("download_slot", "download_latency", "download_timeout"),
    }
)
_KEPT = ("callback", "errback", "cb_kwargs", "cookies", "flags")


def pack(request: Request, spider: Spider | None) -> bytes:
    """The memo of a request; b"" for one that is only a URL. ValueError says what cannot be kept."""
    said = request.to_dict(spider=spider)
    kept = {name: said[name] for name in _KEPT if said[name]}
    if meta := {name: value for name, value in request.meta.items() if name not in _OF_ONE_FETCH}:
        kept["meta"] = meta
    if request.headers:
        kept["headers"] = {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in request.headers.items()
        }
    if not kept:
        return b""
    for name, value in kept.items():
        try:
            same = json.loads(json.dumps(value)) == value
        except (TypeError, ValueError, RecursionError):
            same = False
        if not same:
            raise ValueError(f"{name} of its request has what JSON cannot keep: {value!r:.200}")
    memo = OWN_MARK + json.dumps(kept, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(memo) > LONGEST_MEMO_BYTES:
        raise ValueError(f"its request has {len(memo)} bytes beside the URL, and {LONGEST_MEMO_BYTES} can be kept")
    return memo


def is_on_site(spider: Spider | None, url: str) -> bool:
    """Whether a URL is of a spider's ``allowed_domains``, when it has any."""
    domains = getattr(spider, "allowed_domains", None)
    host = f".{urlsplit(url).hostname or ''}"
    return not domains or any(host.endswith(f".{domain.lower()}") for domain in domains)


def is_own(lease: Lease) -> bool:
    """Whether a lease is of a request that :func:`pack` had more of than its URL."""
    return lease.memo.startswith(OWN_MARK)


def request_of(lease: Lease, spider: Spider | None) -> Request:
    """The request as the spider made it; a plain one when it was only a URL. ValueError when the spider does not have
    its callback any more."""
    if not is_own(lease):
        return Request(lease.url)
    said: dict[str, Any] = json.loads(lease.memo[len(OWN_MARK) :].decode("utf-8", "surrogatepass"))
    headers = said.get("headers", {})
    said["headers"] = {
        name.encode("latin-1"): [value.encode("latin-1") for value in values] for name, values in headers.items()
    }
    return request_from_dict({"url": lease.url, **said}, spider=spider)
