"""URLs made to take long: each is judged in a fraction of a second, where a careless pattern takes hours."""

import pytest

from sieve.urls import UrlError, authority, canonicalize, canonicalize_many, resolve_many
from sieve.urls.canonical import MAX_CHARS

HOSTILE = {
    "labels that may be punycode": "http://" + "xn--a." * 50_000 + "!/",
    "a host of many letters": "http://" + "".join(chr(0x4E00 + n % 20_000) for n in range(100_000)) + "/",
    "the same, escaped": "http://" + "".join(f"%E4%{0x80 + n % 64:X}%{0x80 + n // 64 % 64:X}" for n in range(30_000)),
}


@pytest.mark.parametrize("url", HOSTILE.values(), ids=HOSTILE)
def test_has_no_canonical_form(url: str) -> None:
    with pytest.raises(UrlError):
        canonicalize(url)
    with pytest.raises(UrlError):
        authority(url)


def test_unknown_punycode_is_taken_as_it_is() -> None:
    assert canonicalize("HTTP://A.b.XN--zzzzz.xn--.C:80/x") == "http://a.b.xn--zzzzz.xn--.c/x"


@pytest.mark.parametrize("rest", ["/", "/?b=", "/%C3%A9", "/a/../b", "/(", "/b;c?d=e&"])
def test_a_url_may_have_so_many_characters_and_no_more(rest: str) -> None:
    origin = "http://a.example"
    for more in (0, 1):
        path = rest + "x" * (MAX_CHARS + more - len(origin + rest))
        for link in (origin + path, path):
            assert (resolve_many([link], f"{origin}/c") == [None]) == bool(more)
            assert (canonicalize_many([link], f"{origin}/c") == [None]) == bool(more)
        assert (canonicalize_many([origin + path]) == [None]) == bool(more)
    for longer in ("é", "'"):  # as it is escaped
        path = f"/{longer}" + "x" * (MAX_CHARS - len(origin) - 2)
        assert canonicalize_many([origin + path, path], origin) == [None, None]
    assert resolve_many(["/é" + path[2:]], origin) == [None]


def test_a_host_may_have_so_many_characters_and_no_more() -> None:
    host = "a." * 255 + "aa"
    assert canonicalize(f"http://{host}/") == f"http://{host}/"
    for url in (f"http://{host}a/", f"http://{host}a?", f"HTTP://{host}a"):
        with pytest.raises(UrlError):
            canonicalize(url)
