"""URLs: properties of the canonical form, resolution, authorities, scopes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sieve.urls import (
    UrlError,
    as_parsed,
    authority,
    bad_port,
    canonicalize,
    canonicalize_many,
    host_of,
    in_scope,
    registrable_domain,
    resolve_many,
)
from sieve.urls.canonical import canonical, canonical_slowly
from sieve.urls.resolve import Base, _join

_WORDS = (
    "a B . .. / // ? & = % %41 %2e %2F %e9 %zz ; jsessionid=12 é ' [ ] | \\ + utm_source=x # : @ xn-- phpsessid= s 1 ~ "
    '{ " \U0001f577 %25 25 41 fbclid=1 - sid=0123456789abcdef0123456789abcdef'
    " /(S(lit3py55t21z5v55vlm25s55))/ (lit3py55t21z5v55vlm25s55) .aspx"
)
_PIECES = st.sampled_from([*_WORDS.split(), " ", "\t", "\ud800"])
_URLS = st.one_of(
    st.lists(_PIECES, max_size=12).map(lambda parts: "http://example.org/" + "".join(parts)),
    st.lists(_PIECES, max_size=8).map(lambda parts: "https://" + "".join(parts)),
    st.lists(_PIECES, max_size=6).map("".join),
    st.text(max_size=20),
)


@settings(max_examples=1500, deadline=None)
@given(_URLS)
def test_canonical_form_is_total_idempotent_and_the_quick_way_agrees(url: str) -> None:
    try:
        slow = canonical_slowly(url)
    except UrlError:
        with pytest.raises(UrlError):
            canonical(url)
        return
    assert canonical(url) == slow
    assert canonical(slow) == slow
    assert canonical_slowly(slow) == slow
    assert slow.isascii()
    assert authority(url) == authority(slow)
    assert slow.startswith(("http://", "https://"))


_BASES = st.sampled_from(["http://example.org/a/b?c", "https://h:8/x/", "http://xn--bcher-kva.example/", "http://e.f"])
_LINKS = st.builds(
    lambda start, parts: start + "".join(parts),
    st.sampled_from(["", "/", "//", "http://example.org", "http://example.org/", "http://e.f/", "HTTP://e.f/", "?"]),
    st.lists(_PIECES, max_size=8),
)


@settings(max_examples=1500, deadline=None)
@given(_LINKS, _BASES)
def test_the_quick_way_of_a_page_s_links_agrees(link: str, base: str) -> None:
    try:
        slow: str | None = canonical_slowly(_join(Base.of(base), link))
    except UrlError:
        slow = None
    assert canonicalize_many([link], base) == [slow]


@settings(max_examples=600, deadline=None)
@given(_LINKS, _BASES)
def test_relative_links_by_batch_and_one_by_one_agree(link: str, base: str) -> None:
    (many,) = canonicalize_many([link], base)
    (found,) = resolve_many([link], base)
    try:
        one = canonicalize(link, base)
    except ValueError:
        assert many is None
        assert found is None
        return
    assert many == one
    assert found is not None
    assert canonicalize(found) == one


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("http://Example.ORG", "http://example.org/"),
        ("http://example.org./", "http://example.org/"),
        ("http://example.org.:81/", "http://example.org:81/"),
        ("http://me@example.org./", "http://me@example.org/"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("http://example.org/a;jsessionid=0A1.node?x=1", "http://example.org/a?x=1"),
        ("http://example.org/a;v=1;PHPSESSID=zz/b", "http://example.org/a;v=1/b"),
        ("http://example.org/..;jsessionid=1", "http://example.org/..;jsessionid=1"),
        ("http://example.org/(S(lit3py55t21z5v55vlm25s55))/a?x=1", "http://example.org/a?x=1"),
        ("http://example.org/a/(A(lit3py55t21z5v55vlm25s55-_A)S(lit3py55t21z5v55vlm25s55))/", "http://example.org/a/"),
        ("http://example.org/(lit3py55t21z5v55vlm25s55)/a/b.aspx", "http://example.org/a/b.aspx"),
        ("http://example.org/(lit3py55t21z5v55vlm25s55)/a", "http://example.org/(lit3py55t21z5v55vlm25s55)/a"),
        ("http://example.org/(S(1))/a", "http://example.org/(S(1))/a"),
        ("http://example.org/?sid=1", "http://example.org/?sid=1"),
        ("http://example.org/?sid=0123456789ABCDEF0123456789abcdef", "http://example.org/"),
        ("http://example.org/?b&a&&utm_source=x&UTM_Medium=y", "http://example.org/?a&b"),
        ("http://example.org/?utm_source=&b=2", "http://example.org/?b=2&utm_source="),
        ("http://example.org/?a[]=1&q='x'", "http://example.org/?a%5B%5D=1&q=%27x%27"),
        ("http://example.org/%7euser/%c3%a9%2f", "http://example.org/~user/%C3%A9%2F"),
        ("http://example.org/100%", "http://example.org/100%25"),
        ("http://example.org/?fbclid=1", "http://example.org/"),
        ("http://xn--nope-.example/A", "http://xn--nope-.example/A"),
    ],
)
def test_steps(url: str, form: str) -> None:
    assert canonicalize(url) == form
    assert canonicalize(form) == form


@pytest.mark.parametrize(
    "url", ["", "a", "mailto:a@b", "ftp://h/", "javascript:void(0)", "http://", "http://xn--a b/", "//h/"]
)
def test_what_is_no_http_url_is_refused_with_its_text(url: str) -> None:
    with pytest.raises(UrlError) as caught:
        canonicalize(url)
    assert caught.value.url == url
    assert canonicalize_many([url]) == [None]
    with pytest.raises(ValueError):  # noqa: PT011 - any ValueError is the contract
        authority(url)


def test_links_of_a_page() -> None:
    links = [
        "/a#b",
        "c/d?x",
        "?q=1",
        "#top",
        "",
        "//other.org/e",
        "https://H.org/f#g",
        "http:rel",
        "mailto:x@y",
        "\\w",
        "/x y",
    ]
    base = "http://example.org/dir/page?old#frag"
    assert resolve_many(links, base) == [
        "http://example.org/a",
        "http://example.org/dir/c/d?x",
        "http://example.org/dir/page?q=1",
        "http://example.org/dir/page?old",
        "http://example.org/dir/page?old",
        "http://other.org/e",
        "https://h.org/f",
        "http://example.org/dir/rel",
        None,
        "http://example.org/w",
        "http://example.org/x%20y",
    ]
    assert resolve_many(["/a", "http://h/b"], "not a url") == [None, "http://h/b"]
    assert canonicalize_many(["/a?b&utm_source=x", "/a?"], base) == ["http://example.org/a?b", "http://example.org/a"]


def test_authorities_and_hosts() -> None:
    assert authority("HTTPS://u:p@B\u00fccher.example:443/x") == "https://xn--bcher-kva.example"
    assert authority("http://h:8080?x") == "http://h:8080"
    assert authority("http://example.org") == "http://example.org"
    assert host_of("http://[::1]:8080/") == "[::1]"
    assert host_of("http://[::1]/") == "[::1]"
    assert host_of("http://h:8080/") == "h"


def test_registrable_domains() -> None:
    assert registrable_domain("www.isolezwe.co.za") == "isolezwe.co.za"
    assert registrable_domain("WWW.Example.org.") == "example.org"
    assert registrable_domain("co.za") == "co.za"
    assert registrable_domain("localhost") == "localhost"
    assert registrable_domain("127.0.0.1") == "127.0.0.1"
    assert registrable_domain("[::1]") == "[::1]"


@pytest.mark.parametrize(
    ("url", "scope_url", "scope", "inside"),
    [
        ("http://a.example.org/x", "https://a.example.org/", "host", True),
        ("http://b.example.org/x", "https://a.example.org/", "host", False),
        ("http://a.example.org:81/x", "http://a.example.org/", "host", False),
        ("http://b.example.org/x", "https://a.example.org/", "domain", True),
        ("http://b.example.net/x", "https://a.example.org/", "domain", False),
        ("http://h/blog/x", "http://h/blog/", "prefix", True),
        ("http://h/blog", "http://h/blog", "prefix", True),
        ("http://h/blog/x", "http://h/blog", "prefix", True),
        ("http://h/blogger", "http://h/blog", "prefix", False),
        ("http://i/blog/x", "http://h/blog/", "prefix", False),
        ("http://i/", "http://h/", "open", True),
        ("mailto:x", "http://h/", "open", False),
        ("mailto:x", "http://h/", "host", False),
    ],
)
def test_scopes(url: str, scope_url: str, scope: str, inside: bool) -> None:
    assert in_scope(url, scope_url, scope) is inside


def test_an_unknown_scope_is_refused() -> None:
    with pytest.raises(ValueError, match="scope must be"):
        in_scope("http://h/", "http://h/", "planet")


@pytest.mark.parametrize(
    ("found", "parsed"),
    [
        ("http:///a.test\\x", "http://a.test/x"),
        ("HTTP://A.test:80?B=ü#c", "http://a.test/?B=%C3%BC"),
        ("http://a.test\\@b.test/", "http://a.test/@b.test/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://a.test/\ud800", "http://a.test/%EF%BF%BD"),
        ("http://a.test/%7e?b&a&&utm_source=x", "http://a.test/%7e?b&a&&utm_source=x"),
    ],
)
def test_a_url_as_parsed_leaves_no_doubt_about_its_host_and_is_else_as_found(found: str, parsed: str) -> None:
    assert as_parsed(found) == parsed == as_parsed(parsed)
    assert parsed.startswith(authority(found) + "/")


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://a.test:6667/x", 6667),
        ("https://a.test:25", 25),
        ("http://u:p@a.test:0?q", 0),
        ("http://[::1]:22/", 22),
        ("http://[::25]/", None),
        ("http://u:25@a.test/", None),
        ("http://a.test:8080/:25/", None),
        ("http://a.test/x:25", None),
        ("http://a.test?x:25", None),
        ("http://a.test:80/", None),
    ],
)
def test_ports_of_other_services(url: str, port: int | None) -> None:
    assert bad_port(url) == port
