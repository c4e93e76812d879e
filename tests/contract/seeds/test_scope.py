"""The crawl's fast scope says what `sieve.urls.in_scope` says, but for `www.`."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seeds.crawl.model import Crawl, Site
from sieve.urls import in_scope

HOSTS = [
    "example.co.za",
    "zu.example.co.za",
    "a.zu.example.co.za",
    "example.org",
    "127.0.0.1",
    "[::1]",
    "sub.blogspot.com",
]
URLS = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["http", "https", "HTTPS"]),
    st.sampled_from([*HOSTS, "EXAMPLE.org", "example.org.", "bücher.example", "xn--bcher-kva.example"]),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.sampled_from(["/", "/zu", "/zu/", "/zu/x", "/zulu", "", "/zu/%7Ex", "/zu/~x", "/é/", "/%c3%a9/a", "/a/../zu/x"]),
    st.sampled_from(["", "?q=1", "#top", "?q=/zu/"]),
)


def other_schemes_port(url: str) -> bool:
    """Whether the URL names the usual port of the other scheme."""
    parts = urlsplit(url)
    return (parts.scheme, parts.port) in {("http", 443), ("https", 80)}


@settings(max_examples=400, deadline=None)
@given(URLS, URLS, st.sampled_from(["host", "domain", "prefix", "open"]))
def test_same_answers(url: str, site: str, scope: str) -> None:
    crawl = Crawl("x", "zul", sites=(Site(site, scope),))
    if any(other_schemes_port(address) for address in (url, site)):
        return  # the crawl takes it for the same place
    assert crawl.in_scope(url) == in_scope(url, site, scope)


@pytest.mark.parametrize("scope", ["host", "domain", "prefix"])
@pytest.mark.parametrize(
    ("site", "link"),
    [
        ("https://čeština.example/", "https://xn--etina-gya30d.example/a"),
        ("https://example.org/é", "https://example.org/%C3%A9/a"),
        ("https://example.org/%7eu/", "https://example.org/~u/a"),
        ("https://example.org/~u/", "https://example.org/%7Eu/a"),
        ("https://example.org/é", "https://example.org/%c3%a9/a"),
        ("https://example.org/a/../zu/", "https://example.org/zu/a"),
    ],
)
def test_a_site_is_the_same_however_it_is_spelled(site: str, link: str, scope: str) -> None:
    crawl = Crawl("x", "zul", sites=(Site(site, scope),))
    assert crawl.in_scope(link)
    assert crawl.in_scope(site)
    assert not crawl.in_scope("https://example.com/zu/a")
