"""Hosts as they are typed: a name, or any URL of theirs."""

from __future__ import annotations

from crawler.errors import PreflightError
from sieve.urls import authority


def authorities(host: str) -> list[str]:
    """The authorities that a host's name or any URL of it may mean; PreflightError when it is neither."""
    try:
        return [str(authority(url)) for url in ([host] if "://" in host else [f"https://{host}", f"http://{host}"])]
    except ValueError:
        raise PreflightError(f"{host!r} is neither a host nor an http or https URL") from None
