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
from frontier.types import LONGEST_MEMO_BYTES, Kind, Lease

OF_ONE_FETCH = frozenset(
    {
        *("lease", "grant", "capture", "finding", "pdf_read", "detours", "robots", "depth", "is_start_request"),
        *("download_slot", "download_latency", "download_timeout"),
    }
)
"""Of no other request, but copied by `meta=response.meta`; a time-out of its own could outlast the lease."""
_KEPT = ("callback", "errback", "cb_kwargs", "cookies", "flags")
_SECRETS = frozenset({"authorization", "cookie", "proxy-authorization"})


def pack_request(request: Request, spider: Spider | None) -> bytes:
    """The memo of a request; b"" for one that is only a URL. ValueError says what cannot be kept."""
    try:
        said = request.to_dict(spider=spider)
    except ValueError:
        raise ValueError("its callback or errback is no method of the spider, and is kept by name alone") from None
    kept = {name: said[name] for name in _KEPT if said[name]}
    if meta := {name: value for name, value in request.meta.items() if name not in OF_ONE_FETCH}:
        kept["meta"] = meta
    if request.headers:
        kept["headers"] = {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in request.headers.items()
        }
    for name, value in kept.items():
        try:
            same = json.loads(json.dumps(value)) == value
        except (TypeError, ValueError, RecursionError):
            same = False
        if not same:
            raise ValueError(f"{name} of its request has what JSON cannot keep: {value!r:.200}")
    memo = _memo(kept)
    if len(memo) > LONGEST_MEMO_BYTES:
        raise ValueError(f"its request has {len(memo)} bytes beside the URL, and {LONGEST_MEMO_BYTES} can be kept")
    return memo


def is_on_site(spider: Spider | None, url: str) -> bool:
    """Whether a URL is of a spider's ``allowed_domains``, when it has any."""
    domains = getattr(spider, "allowed_domains", None)
    host = f".{urlsplit(url).hostname or ''}"
    # As Scrapy does, which has None among them for a domain that could not be read.
    return not domains or any(host.endswith(f".{domain.lower()}") for domain in domains if domain)


def is_own(lease: Lease) -> bool:
    """Whether a lease is of a request that :func:`pack_request` had more of than its URL."""
    return lease.kind is Kind.PAGE and lease.memo.startswith(OWN_MARK)


def request_of(lease: Lease, spider: Spider | None) -> Request:
    """The request as the spider made it; a plain one when it was only a URL. ValueError when the spider does not have
    its callback any more, or the memo is none of ours: then nothing of it is used."""
    if not is_own(lease):
        return Request(lease.url)
    try:
        said = _read(lease.memo)
        # Only what pack_request() keeps: from a memo of another's hand no method, no body, no class to be loaded.
        said = {name: value for name, value in said.items() if name in (*_KEPT, "meta", "headers")}
        said["meta"] = {name: value for name, value in said.get("meta", {}).items() if name not in OF_ONE_FETCH}
        said["headers"] = {
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in said.get("headers", {}).items()
        }
        return request_from_dict({"url": lease.url, **said}, spider=spider)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{lease.url}: {error}") from None


def without_secrets(memo: bytes, asked: str, location: str) -> bytes:
    """The memo of a request that is redirected: to another host, or to a plain connection, its cookies and credentials
    do not go along, as in Scrapy."""
    here, there = urlsplit(asked), urlsplit(location)
    same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
    safer = here.hostname == there.hostname and here.port is there.port is None and there.scheme == "https"
    if same or safer or not memo.startswith(OWN_MARK):
        return memo
    said = _read(memo)
    said.pop("cookies", None)
    said["headers"] = {name: values for name, values in said.get("headers", {}).items() if name.lower() not in _SECRETS}
    return _memo(said)


def _memo(said: dict[str, Any]) -> bytes:
    kept = {name: value for name, value in said.items() if value}
    text = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)
    return OWN_MARK + text.encode("utf-8", "surrogatepass") if kept else b""


def _read(memo: bytes) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(memo[len(OWN_MARK) :].decode("utf-8", "surrogatepass"))
    return said
