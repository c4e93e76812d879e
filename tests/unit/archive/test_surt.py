"""Index keys are those of the Internet Archive's canonicaliser."""

import json
from pathlib import Path

import pytest

from archive.index.surt import surt

SAMPLE = Path(__file__).parents[3].parent / "shared" / "data" / "cdx" / "cc-index-sample.cdxj"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.com", "com,example)/"),
        ("https://WWW2.Example.com:443/A/B/?b=2&a=1#x", "com,example)/a/b?a=1&b=2"),
        ("http://example.com:8080//a//b/../c/./", "com,example:8080)/a/c"),
        ("http://user:pw@example.com/x", "com,example)/x"),
        ("http://1.2.3.4/x", "4,3,2,1)/x"),
        ("http://ex.com/%7Efoo%2525/a%20b", "com,ex)/~foo%25/a%20b"),
        ("http://ex.com/?PHPSESSID=0123456789abcdef0123456789abcdef&x=1", "com,ex)/?x=1"),
        ("http://ex.com/a?", "com,ex)/a"),
        ("http://[2001:DB8::1]/x", "2001:db8::1)/x"),
        ("http://[2001:db8::1]:8080/x", "2001:db8::1:8080)/x"),
        ("http://ex.com/(S(4hqa0555fwsecu455xqckv45))/Mileg.aspx?a", "com,ex)/mileg.aspx?a"),
        # In a query only, and not in a path, as pywb asks for it.
        (
            "http://ex.com/a;jsessionid=0123456789abcdef0123456789ABCDEF?b",
            "com,ex)/a;jsessionid=0123456789abcdef0123456789abcdef?b",
        ),
        ("http://müller.de/ü", "de,xn--mller-kva)/%c3%bc"),
        ("http://e.com/?url=a&subid2=b&subid=c", "com,e)/?subid=c&subid2=b&url=a"),
        # White space that is no line break belongs to the URL.
        ("http://ex.com/a\u00a0b\u3000c d\x0be", "com,ex)/a%c2%a0b%e3%80%80c%20d%0be"),
        (" http://ex.com/a\r\n\tb ", "com,ex)/ab"),
        ("http://ex.com/?x=\u2028", "com,ex)/?x=%e2%80%a8"),
        # An empty part is a part that ".." takes away; one above the root stays.
        ("http://ex.com/foo/bar//..", "com,ex)/foo/bar"),
        ("http://ex.com/a/../b/./c/..", "com,ex)/b"),
        ("http://ex.com/..", "com,ex)/.."),
        ("http://ex.com/%2e%2e/a", "com,ex)/../a"),
        ("http://ex.com/a\\b%5Cc", "com,ex)/a\\b\\c"),
        ("http://%65x.com:/a", "com,ex)/a"),
        ("http://%e2%98%83.net/", "net,xn--n3h)/"),
        ("http://%ff%c3%bc.com/", "com,xn--tda)/"),
        ("http://%ff.com/", "com,%ff)/"),
        ("http://\ud800.com/\udfff?\udc80", "com,%ef%bf%bd)/%ef%bf%bd?%80"),
        ("http://a b..com/", "com,a%20b)/"),
        ("http://ex.com:0080/", "com,ex)/"),
        ("ftp://ex.com:21/a", "com,ex:21)/a"),
        ("http://[::127.0.0.1]:81/", "1,0,0,::127:81)/"),
        ("file:///a b.png", "file:/a%20b.png"),
        ("dns:example.com", "dns:example.com"),
        ("", ""),
    ],
)
def test_keys(url: str, key: str) -> None:
    assert surt(url) == key


def test_common_crawl_lines() -> None:
    if not SAMPLE.exists():
        pytest.skip("shared data are not here")
    for line in SAMPLE.read_text().splitlines():
        key, _, fields = line.split(" ", 2)
        assert surt(json.loads(fields)["url"]) == key
