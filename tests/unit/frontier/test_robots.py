"""The faults of robots.txt parsers that ours must not have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from frontier.robots import LONGEST_BYTES, MOST_ALLOWS, Rules, allowed, crawl_delay

URL = "https://example.org/private/page"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_byte_order_marks_and_line_ends(end: bytes, mark: bytes) -> None:
    text = mark + end.join([b"User-agent: *", b"Disallow: /private", b"Crawl-delay: 2.5"])
    assert not allowed(text, "ulwembu", URL)
    assert allowed(text, "ulwembu", "https://example.org/public")
    assert crawl_delay(text, "ulwembu") == 2.5


@pytest.mark.parametrize(("mark", "coding"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_rules_in_utf_16_are_rules(mark: bytes, coding: str) -> None:
    text = mark + "User-agent: *\r\nDisallow: /private\r\nCrawl-delay: 2.5\r\n".encode(coding)
    for whole in (text, text + b"\0"):
        assert not allowed(whole, "ulwembu", URL)
        assert allowed(whole, "ulwembu", "https://example.org/public")
        assert crawl_delay(whole, "ulwembu") == 2.5


@pytest.mark.parametrize(
    "between", [b"Crawl-delay: 3", b"Noindex: /x", b"Host: a.example", b"Sitemap: /s", b"", b"# x"]
)
def test_other_lines_do_not_part_user_agents(between: bytes) -> None:
    text = b"User-agent: ulwembu\n" + between + b"\nUser-agent: other\nDisallow: /private\n"
    assert not allowed(text, "ulwembu", URL)
    assert not allowed(text, "other", URL)


def test_a_crawl_delay_belongs_to_the_agents_before_it() -> None:
    text = b"User-agent: a-bot\nCrawl-delay: 3\nUser-agent: b-bot\nDisallow: /x\nUser-agent: *\nCrawl-delay: 9\n"
    assert crawl_delay(text, "a-bot") == 3
    assert crawl_delay(text, "b-bot") is None
    assert crawl_delay(text, "other") == 9


@pytest.mark.parametrize("name", [b"Crawl-delay", b"crawl-deLay", b"CRAWL DElaY", b"CrawlDelAy"])
def test_a_crawl_delay_is_read_in_any_case(name: bytes) -> None:
    assert crawl_delay(b"User-agent: *\n" + name + b": 4\n", "ulwembu") == 4


def test_the_largest_of_several_crawl_delays_counts() -> None:
    text = b"User-agent: *\nCrawl-delay: 7\nDisallow: /x\nUser-agent: *\nCrawl-delay: 2\n"
    assert crawl_delay(text, "ulwembu") == 7


@pytest.mark.parametrize("value", [b"ten", b"-1", b"1.2.1", b"10a", b"inf", b"nan", b"1e3"])
def test_a_crawl_delay_that_is_no_number_is_none(value: bytes) -> None:
    assert crawl_delay(b"User-agent: *\nCrawl-delay: " + value, "ulwembu") is None


@pytest.mark.parametrize("value", [b"2592000.001", b"1126000000000", b"9" * 400])
def test_a_crawl_delay_is_thirty_days_at_most(value: bytes) -> None:
    assert crawl_delay(b"User-agent: *\nCrawl-delay: " + value, "ulwembu") == 2_592_000


@pytest.mark.parametrize("agent", [b"User-agent *", b"USER AGENT\t*", b"useragent Ulwembu*", b"User-agent: *ulwembu"])
def test_lines_without_a_colon_and_names_with_wildcards_are_read(agent: bytes) -> None:
    text = agent + b"\nDISALLOW /private\nCrawl delay  2.5\n"
    assert not allowed(text, "ulwembu", URL)
    assert allowed(text, "ulwembu", "https://example.org/public")
    assert crawl_delay(text, "ulwembu") == 2.5


@pytest.mark.parametrize("agent", [b"User-agent:", b"User-agent: /1.0", b"User-agent", b"User-agent: *bot"])
def test_a_group_of_nobody_s_is_not_ours(agent: bytes) -> None:
    text = b"User-agent: ulwembu\nDisallow: /x\n" + agent + b"\nDisallow: /private\n"
    assert allowed(text, "ulwembu", URL) is (b":" in agent), "what is no line at all parts no rules"


def test_line_separators_of_unicode_end_no_line() -> None:
    text = "User-agent: *\nDisallow: /a\u2028Allow: /private\nDisallow: /private\n".encode()
    assert not allowed(text, "ulwembu", URL)


def test_what_follows_500_kib_does_not_count() -> None:
    filler = b"# " + b"x" * 1000 + b"\n"
    text = b"User-agent: *\nDisallow: /private\n" + filler * (LONGEST_BYTES // len(filler) + 1)
    assert not allowed(text, "ulwembu", URL)
    assert allowed(text + b"Disallow: /\n", "ulwembu", "https://example.org/")
    # a line cut in half must not become a wider rule
    head = b"User-agent: *\n"
    pad = b"#" * (LONGEST_BYTES - len(head) - 1 - len(b"Disallow: /")) + b"\n"
    assert allowed(head + pad + b"Disallow: /only/this", "ulwembu", "https://example.org/")
    assert not allowed(head + pad + b"Disallow: /", "ulwembu", "https://example.org/"), "all of it was read"


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        (b"User-agent: *\nDisallow: /\n", True),
        (b"User-agent: *\nDisallow: /*\n", True),
        (b"User-agent: *\nDisallow: /\nAllow: /news/\n", False),
        (b"User-agent: *\nDisallow: /\nAllow: /*.html$\n", False),
        (b"User-agent: other\nAllow: /\nUser-agent: ulwembu\nDisallow: /\n", True),
        (b"User-agent: other\nAllow: /news/\nUser-agent: ulwembu\nDisallow: /\n", True),
        (b"User-agent: *\nDisallow: /$\n", False),
        (b"User-agent: *\nDisallow: /news/\n", False),
        (b"", False),
    ],
)
def test_a_host_is_closed_where_nothing_may_be_fetched(text: bytes, closed: bool) -> None:
    assert Rules(text, "ulwembu").closed is closed


@pytest.mark.parametrize(("lines", "closed"), [(MOST_ALLOWS, True), (MOST_ALLOWS + 1, False)])
def test_a_file_of_very_many_allow_lines_closes_nothing(lines: int, closed: bool) -> None:
    """Some 16,000 fit into one; to hold each against all took half a minute, in which a worker did nothing else."""
    rules = "".join(f"Allow: /{number}\nDisallow: /{number}*\n" for number in range(lines))
    assert Rules(f"User-agent: *\nDisallow: /\n{rules}".encode(), "ulwembu").closed is closed
    assert Rules(f"User-agent: *\nDisallow: /\nUser-agent: x\n{rules}".encode(), "ulwembu").closed, "those of others"


@pytest.mark.parametrize(
    ("rules", "path", "may"),
    [
        ("Allow: /a$\nDisallow: /", "/a", True),
        ("Allow: /a$\nDisallow: /", "/a%24", False),
        ("Allow: /a$\nDisallow: /", "/a$b", False),
        ("Allow: /*.html$\nDisallow: /", "/x.html%24/private", False),
        ("Allow: /*.html$\nDisallow: /", "/$x.html", True),
        ("Allow: /a$$\nDisallow: /", "/a$", True),
        ("Allow: /a$$\nDisallow: /", "/a$$", False),
        ("Allow: /a%24$\nDisallow: /", "/a$", True),
        ("Allow: /a$b\nAllow: /c$\nDisallow: /", "/a%24bc", True),
        ("Allow: /a$b%24\nAllow: /c$\nDisallow: /", "/a%24b$", True),
        ("Allow: /a$\nAllow: /a$bc\nDisallow: /a%24b", "/a$bc", True),
        ("Allow: /a$\nAllow: /a$bc\nDisallow: /a%24b", "/a$bd", False),
        ("Allow: /a$", "/a$", True),
        ("Allow: /a$\nDisallow: /b", "/%2524", True),
        ("Disallow: /a$\nAllow: /c$", "/a", False),
        ("Disallow: /a$\nAllow: /c$", "/a$b", False),
    ],
)
def test_the_end_that_an_allow_line_demands_is_no_letter(rules: str, path: str, may: bool) -> None:
    text = f"User-agent: *\n{rules}\n".encode()
    assert allowed(text, "ulwembu", f"https://example.org{path}") is may
    assert allowed(text, "ulwembu", f"https://example.org{path.replace('$', '%24')}") is may


def test_the_rules_line_is_told() -> None:
    text = b"User-agent: *\nDisallow: /p\nDisallow: /private/\nAllow: /private/open\n"
    rules = Rules(text, "ulwembu")
    assert rules.line(URL) in ("Disallow: /p", "Disallow: /private/")
    assert rules.line("https://example.org/private/open/1") == "Allow: /private/open"
    assert rules.line("https://example.org/else") == ""


def test_a_rule_of_others_is_not_told() -> None:
    text = b"Disallow: /pri\nUser-agent: other\nDisallow: /priv\nUser-agent: more\nUser-agent: ulwembu\nDisallow: /p\n"
    assert Rules(text + b"User-agent: *\nDisallow: /private\n", "ulwembu").line(URL) == "Disallow: /p"


def test_to_tell_the_line_each_rule_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shop's file has thousands, and who asks why waits for it."""
    text = b"User-agent: *\n" + b"".join(b"Disallow: /shop/%d\n" % number for number in range(300))
    rules, parsed, parse = Rules(text, "ulwembu"), [], Protego.parse

    def noted(content: str) -> Protego:
        parsed.append(content)
        return parse(content)

    monkeypatch.setattr(Protego, "parse", noted)
    assert rules.line("https://example.org/shop/7") == "Disallow: /shop/7"
    assert sum(map(len, parsed)) < 3 * len(text)


@given(st.binary(max_size=300), st.text(max_size=30))
def test_no_bytes_break_it(text: bytes, path: str) -> None:
    prefixed = b"User-agent: *\nCrawl-delay: " + text
    rules = Rules(prefixed, "ulwembu")
    url = "https://example.org/" + path
    assert isinstance(rules.allowed(url), bool)
    assert crawl_delay(prefixed, "ulwembu") == rules.crawl_delay()
    rules.line(url)


def test_a_lone_surrogate_is_no_character() -> None:
    """As in canonical URLs; a command line has such for bytes that are no UTF-8."""
    for letter in ("\ud800", "\udcff"):
        assert allowed(b"User-agent: *\nDisallow: /a", "Ulwembu", f"http://h.example/{letter}")
        assert not allowed(b"User-agent: *\nDisallow: /a", "Ulwembu", f"http://h.example/a{letter}?\ud800")
