"""What the name that a site's owner gives stands for."""

from __future__ import annotations

import pytest

from frontier import opt_outs
from frontier.opt_outs import Table, add, opt_out_rules

BOTH = ["http://a.example", "https://a.example", "http://www.a.example", "https://www.a.example"]


@pytest.mark.parametrize(
    "name",
    [
        *("a.example", "A.Example", "www.a.example", "WWW.A.EXAMPLE", "Www.a.example.", "a.example/"),
        *("\uff57\uff57\uff57.a.example", "www\uff0ea.example", "www\u3002a\u3002example/"),
    ],
)
def test_a_bare_host_has_many_spellings(name: str) -> None:
    assert [host for host, path in opt_out_rules([name]) if path == ""] == BOTH


def test_a_star_or_an_at_of_a_path_is_one() -> None:
    assert [path for _, path in opt_out_rules(["http://a.example/%2A", "http://a.example/@b,c;d"])] == [
        "/%2A",
        "/@b,c;d",
    ]


def test_a_name_is_taken_in_its_own_script() -> None:
    assert next(opt_out_rules(["Bücher.example:8080/Ä"])) == ("http://xn--bcher-kva.example:8080", "/%C3%84")


def test_addresses_and_odd_names_are_hosts() -> None:
    names = ["127.0.0.1:8080", "[2001:DB8::1]:80", "a_b-c.example", "http.example", "localhost"]
    assert [next(opt_out_rules([name]))[0].partition("//")[2] for name in names] == [
        *("127.0.0.1:8080", "[2001:db8::1]", "a_b-c.example", "http.example", "localhost")
    ]


@pytest.mark.parametrize(
    "name",
    [
        *(".a.example", "a..example", "*.a.example", "http://", "a b.example", "ftp://a.example"),
        *("/private", "//a.example/", "?q", "a.example,b.example", "a.example\nb.example", "http://a.example\t/b"),
        *('"a.example"', "'a.example'", "(a.example)", "a.example!", "http://a.example,b.example/"),
        *("http//a.example", "https:/a.example", "http://http://a.example/", "HTTP:///HTTPS:80/", 'http://a.example"/'),
        *("http://.a.example", "http://a..example", "http://*.a.example", f"{'a' * 999}.example"),
        *("www.a@a.example", "mailto:a@a.example", "a.example/*", "http://a.example/x/*.pdf", "a.example?x=*"),
    ],
)
def test_what_would_never_be_met_is_refused(name: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of the URL's parser, too
        list(opt_out_rules([name]))


def test_hosts_as_they_are_written_mostly_need_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a.example", "www.a.example", "https://a.example", "http://a-1_x.example", "A.example", "a.example:8080"]
    names += ["https://a.example:443", "https://me@a.example", "192.0.2.1", "[::1]", "xn--bcher-kva.de"]
    said = [list(opt_out_rules([name])) for name in names]
    assert said[:3] == [[(host, "") for host in BOTH]] * 2 + [[("https://a.example", "")]]
    assert [list(opt_out_rules([f"{name}/"])) for name in names] == said  # by the parser
    monkeypatch.setattr(opt_outs, "as_parsed", None)
    assert list(opt_out_rules(["a.example"])) == said[0]


def test_what_is_said_twice_is_new_once() -> None:
    """Also in one call, as of a file with a line twice."""
    table: Table = {}
    rules = [("http://a.example", path) for path in ("/x", "/y", "/y")]
    assert (add(table, rules), add(table, rules)) == (2, 0)
    assert table == {"http://a.example": ["/x", "/y"]}
