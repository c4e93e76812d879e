"""The crawl's fast scope says what `sieve.urls.in_scope` says, but for `www.`."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from seeds.model import Crawl, Site
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
    st.sampled_from([*HOSTS, "EXAMPLE.org", "example.org."]),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.sampled_from(["/", "/zu", "/zu/", "/zu/x", "/zulu", ""]),
    st.sampled_from(["", "?q=1", "#top", "?q=/zu/"]),
)


@settings(max_examples=400, deadline=None)
@given(URLS, URLS, st.sampled_from(["host", "domain", "prefix", "open"]))
def test_same_answers(url: str, site: str, scope: str) -> None:
    crawl = Crawl("x", "zul", sites=(Site(site, scope),))
    unusual = {
        ":80" if url.lower().startswith("https") else ":443",
        ":80" if site.lower().startswith("https") else ":443",
    }
    if any(port + "/" in address + "/" or port + "?" in address for port in unusual for address in (url, site)):
        return  # the other scheme's usual port: the crawl takes it for the same place
    assert crawl.in_scope(url) == in_scope(url, site, scope)
