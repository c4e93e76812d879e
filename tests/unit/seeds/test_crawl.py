"""Seed files: what they become, and what is said of a faulty one."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from relevance.steering.languagetags import TAGS
from seeds.crawl import Crawl, Seed, crawls, load_crawl, parse_crawl
from seeds.crawl.languages import meant
from seeds.crawl.scope import SiteIndex
from seeds.crawl.toml_lines import LineMap
from seeds.errors import SeedError
from seeds.survey.check import add_to_file

SHIPPED = Path(__file__).parents[3] / "seeds"
HEAD = '[crawl]\nname = "x"\nlanguage = "zul"\n'
SITE = '[[site]]\nurl = "https://a.example/"\n'


def faults(text: str) -> list[str]:
    with pytest.raises(SeedError) as caught:
        parse_crawl(text, "x.toml")
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("ss", "ssw"),
        ("zu", "zul"),
        ("sh", "hbs"),
        ("isiZulu", "zul"),
        ("swati", "ssw"),
        ("Northern Sotho", "nso"),
        ("ZUL", "zul"),
        ("zu-ZA", "zul"),
        ("ssw_SZ", "ssw"),
        ("cze", "ces"),
    ],
)
def test_the_code_that_is_meant_is_said(written: str, code: str) -> None:
    said = f'{written!r} is not an ISO 639-3 code (did you mean "{code}"?)'
    assert faults(f'[crawl]\nname = "x"\nlanguage = "{written}"\n{SITE}') == [f"x.toml:3: language: {said}"]
    assert faults(f'{HEAD}siblings = ["{written}"]\n{SITE}') == [f"x.toml:4: siblings: {said}"]


def test_the_codes_meant_are_those_of_the_language_tags() -> None:
    assert {code: meant(tag) for code, tag in TAGS.items()} == {code: code for code in TAGS}


def test_where_nobody_knows_the_code_none_is_said() -> None:
    for written in ("xx", "klingon", "", "639"):
        (fault,) = faults(f'[crawl]\nname = "x"\nlanguage = "{written}"\n{SITE}')
        assert "did you mean" not in fault


def crawl_with(scope: str, url: str) -> Crawl:
    return parse_crawl(f'{HEAD}[[site]]\nurl = "{url}"\nscope = "{scope}"\n')


def test_a_full_file() -> None:
    crawl = parse_crawl(
        """
[crawl]
name = "zulu"
language = "zul"
siblings = ["xho", "ssw"]
contact = "https://example.org/crawler"
max_pages = 10_000
max_bytes = 5_000_000
max_seconds = 3600
tags = "nguni"
[relevance]
policy = "threshold"
model = "own.model"
share = 0.5
[[site]]
url = ["https://a.example/", "https://b.example/"]  # two
scope = "domain"
delay_s = 2.5
ip_delay_s = 1
max_pages = 7
[[feed]]
url = "https://a.example/feed/"
min_poll_s = 60
max_poll_s = 3600
[[index]]
url = "https://b.example/news"
[[sitemap]]
url = "https://a.example/sitemap.xml"
newer_than_days = 30
"""
    )
    assert (crawl.name, crawl.language, crawl.siblings, crawl.tags) == ("zulu", "zul", ("xho", "ssw"), ("nguni",))
    assert (crawl.max_pages, crawl.max_bytes, crawl.max_seconds) == (10_000, 5_000_000, 3600)
    assert (crawl.policy, crawl.model, dict(crawl.policy_options)) == ("threshold", "own.model", {"share": 0.5})
    assert [(site.url, site.scope, site.delay_s, site.ip_delay_s, site.max_pages) for site in crawl.sites] == [
        ("https://a.example/", "domain", 2.5, 1.0, 7),
        ("https://b.example/", "domain", 2.5, 1.0, 7),
    ]
    assert (crawl.feeds[0].min_poll_s, crawl.feeds[0].max_poll_s) == (60.0, 3600.0)
    assert crawl.sitemaps[0].newer_than_days == 30
    assert list(crawl.seeds()) == [
        Seed("https://a.example/", "page"),
        Seed("https://b.example/", "page"),
        Seed("https://a.example/feed/", "feed"),
        Seed("https://b.example/news", "index"),
        Seed("https://a.example/sitemap.xml", "sitemap"),
    ]
    with pytest.raises(dataclasses.FrozenInstanceError):
        crawl.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "x.toml:1: the table [crawl] with name and language is missing"),
        (HEAD, "x.toml: nothing to crawl: no [[site]], [[feed]], [[index]] or [[sitemap]]"),
        ("[crawl\n", "x.toml:1: "),
        ('[crawl]\nname = "a\n', "x.toml:2: "),
        ("[crawl]\nname = [1,\n", "x.toml:3: "),
        ('[crawl]\nname = "x"\n' + SITE, "x.toml:1: language is missing"),
        ('[crawl]\nname = "x"\nlanguage = "zu"\n' + SITE, "x.toml:3: language: 'zu' is not an ISO 639-3 code"),
        ('[crawl]\nname = "X y"\nlanguage = "zul"\n' + SITE, "x.toml:2: name: 'X y': lower-case letters"),
        (HEAD + 'siblings = ["xho", "zul"]\n' + SITE, "x.toml:4: siblings: the crawl's own language"),
        (HEAD + 'contact = "me"\n' + SITE, "x.toml:4: contact: 'me' is neither"),
        (HEAD + "max_pages = -1\n" + SITE, "x.toml:4: max_pages: -1 is negative"),
        (HEAD + f"max_pages = {2**53 + 1}\n" + SITE, "x.toml:4: max_pages: above 9007199254740992, the most that"),
        (HEAD + SITE + f"max_bytes = {10**20}\n", "x.toml:6: max_bytes: above 9007199254740992, the most that"),
        (HEAD + f"max_pages = {'9' * 5000}\n" + SITE, "x.toml: a number has too many digits"),
        (HEAD + 'max_pages = "9"\n' + SITE, "x.toml:4: max_pages: expected a whole number, found '9'"),
        (HEAD + "max_pages = true\n" + SITE, "x.toml:4: max_pages: expected a whole number, found True"),
        (HEAD + 'max_pagse = 9\n' + SITE, "x.toml:4: unknown key 'max_pagse' (did you mean \"max_pages\"?)"),
        (HEAD + '[[sites]]\nurl = "https://a.example/"\n', "x.toml:4: unknown table or key 'sites' (did you mean"),
        (HEAD + '[site]\nurl = "https://a.example/"\n', "x.toml:4: site: expected [[site]] tables"),
        (HEAD + SITE + "dealy_s = 5\n", "x.toml:6: unknown key 'dealy_s' (did you mean \"delay_s\"?)"),
        (HEAD + SITE + "max_depth = 255\n", "x.toml:6: max_depth: above 254, the most that is counted"),
        (HEAD + SITE + "delay_s = -5\n", "x.toml:6: delay_s: -5 is not a usable number of seconds"),
        (HEAD + SITE + "delay_s = nan\n", "x.toml:6: delay_s: nan is not a usable number of seconds"),
        (HEAD + SITE + 'scope = "hots"\n', "x.toml:6: scope: 'hots' is not one of host, domain, prefix, open"),
        (HEAD + SITE + "\n# again\n" + SITE, "x.toml:9: https://a.example/ is listed already, in line 5"),
        (HEAD + SITE + '[[site]]\nurl = "HTTPS://www.a.example#x"\n', "x.toml:7: HTTPS://www.a.example#x is listed"),
        (HEAD + SITE + '[[site]]\nurl = "http://me@A.Example.:80?utm_source=x"\n', "x.toml:7: http://me@A.Example.:80?utm_"),
        (HEAD + '[[feed]]\nurl = "https://a.example/"\n[[index]]\nurl = "http://a.example"\n', "x.toml:7: http://a.ex"),
        (f'[crawl]\nname = "{"a" * 64}"\nlanguage = "zul"\n' + SITE, "x.toml:2: name: "),
        (HEAD + SITE + "delay_s = 1e9\n", "x.toml:6: delay_s: 1000000000.0 is not a usable number of seconds"),
        (HEAD + '[[site]]\nscope = "host"\n', "x.toml:4: url is missing"),
        (HEAD + "[[site]]\nurl = []\n", "x.toml:5: url: the list is empty"),
        (HEAD + '[[site]]\nurl = [\n  "https://a.example/",\n  "ftp://b/",\n]\n', "x.toml:7: url: 'ftp://b/' does"),
        (HEAD + '[[site]]\nurl = "http://a:6667"\n', "x.toml:5: url: port 6667 of 'http://a:6667' is none"),
        (HEAD + '[[site]]\nurl = "https:///x"\n', "x.toml:5: url: 'https:///x' has no host"),
        (HEAD + '[[site]]\nurl = "https://a.example/ b"\n', "x.toml:5: url: 'https://a.example/ b' contains"),
        (HEAD + '[[feed]]\nurl = "https://a.example/"\nmin_poll_s = 9\nmax_poll_s = 8\n', "x.toml:6: min_poll_s (9)"),
        (HEAD + '[[index]]\nurl = "https://a.example/"\nmax_poll_s = 0\n', "x.toml:6: max_poll_s: 0 is no time"),
        (HEAD + 'whitelist_only = true\n' + SITE + 'scope = "open"\n', 'x.toml:7: scope "open" contradicts'),
        (HEAD + 'whitelist_only = true\n[[feed]]\nurl = "https://a.example/"\n', "x.toml:4: whitelist_only: no item"),
        (HEAD + 'whitelist_only = true\n[site]\nurl = "https://a.example/"\n', "x.toml:5: site: expected [[site]]"),
        ("site = [1]\n" + HEAD + "whitelist_only = true\n", "x.toml:1: site: expected [[site]] tables"),
        (HEAD + "[relevance]\nshares = [1]\n" + SITE, "x.toml:5: shares: expected a number, a string or true/false"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_with_its_place(text: str, expected: str) -> None:
    found = faults(text)
    assert len(found) == 1
    assert found[0].startswith(expected)


def test_the_least_and_the_most_of_a_number_are_read() -> None:
    crawl = parse_crawl(
        f'[crawl]\nname = "{"a" * 63}"\nlanguage = "zul"\nmax_pages = {2**53}\nmax_bytes = 0\n'
        '[[site]]\nurl = "https://a.example/"\ndelay_s = 0\nip_delay_s = 999_999_999\nmax_depth = 254\n'
        '[[feed]]\nurl = "https://a.example/feed"\nmin_poll_s = 60\nmax_poll_s = 60\n'
    )
    assert (len(crawl.name), crawl.max_pages, crawl.max_bytes) == (63, 2**53, 0)
    site = crawl.sites[0]
    assert (site.delay_s, site.ip_delay_s, site.max_depth) == (0, 999_999_999, 254)
    assert (crawl.feeds[0].min_poll_s, crawl.feeds[0].max_poll_s) == (60, 60)


def test_all_faults_are_told_at_once_in_order() -> None:
    lines = faults('[crawl]\nnmae = "x"\nlanguage = "z"\n[[site]]\nurl = "x"\ndelay_s = "1"\n')
    assert [line.split(":")[1] for line in lines] == ["1", "2", "3", "5", "6"]


def test_line_map_follows_strings_comments_and_nesting() -> None:
    text = (
        '# [no]\na = """\n[no]\nb = 1\n"""\n["quoted.key"]\nc.d = [ # ] [\n  [1, 2], "]",\n'
        "  'x', # y\n]\n[[t]]\n[t.sub]\ne = { f = 1, g = [\"h\"] }\n[[t]]\r\ni = '''\n'''\nj = 1"
    )
    lines = LineMap(text)
    assert lines.line("a") == 2
    assert lines.line("quoted.key") == 6
    assert lines.line("quoted.key", "c", "d") == 7
    assert lines.line("quoted.key", "c", "d", 1) == 9
    assert lines.line("t", 0) == 11
    assert lines.line("t", 0, "sub", "e") == 13
    assert lines.line("t", 1) == 14
    assert lines.line("t", 1, "i") == 15
    assert lines.line("t", 1, "j") == 17
    assert lines.line("nowhere") == 1


@pytest.mark.parametrize(
    ("scope", "site", "inside", "outside"),
    [
        (
            "host",
            "https://a.example.co.za/x/",
            ["http://a.example.co.za/", "https://A.example.co.za:443/y", "https://www.a.example.co.za/"],
            ["https://b.example.co.za/", "https://a.example.co.za:8080/", "ftp://a.example.co.za/", "mailto:x@y"],
        ),
        (
            "domain",
            "https://www.example.co.za/",
            ["https://example.co.za", "https://x.y.example.co.za/?q", "https://u@example.co.za./"],
            ["https://other.co.za/", "https://example.co.za.evil.example/", "https://a.example/?https://example.co.za/"],
        ),
        (
            "prefix",
            "https://www.example.org/zu/",
            ["https://www.example.org/zu/", "http://example.org/zu/a?b#c"],
            ["https://www.example.org/zulu", "https://www.example.org/", "https://www.example.org/x/zu/"],
        ),
        (
            "prefix",
            "https://example.org/zu",
            ["https://example.org/zu", "https://example.org/zu?x", "https://example.org/zu/x"],
            ["https://example.org/zulu", "https://other.org/zu"],
        ),
        ("open", "https://example.org/", ["https://example.org/", "http://anything.test/x"], ["javascript:x", ""]),
    ],
)  # fmt: skip
def test_scope(scope: str, site: str, inside: list[str], outside: list[str]) -> None:
    crawl = crawl_with(scope, site)
    assert [url for url in inside if not crawl.in_scope(url)] == []
    assert [url for url in outside if crawl.in_scope(url)] == []


def test_the_most_specific_site_rules() -> None:
    crawl = parse_crawl(
        HEAD
        + '[[site]]\nurl = "https://example.org/"\nscope = "domain"\ndelay_s = 1\n'
        + '[[site]]\nurl = "https://zu.example.org/"\ndelay_s = 2\n'
        + '[[site]]\nurl = "https://zu.example.org/a/"\nscope = "prefix"\ndelay_s = 3\n'
        + '[[site]]\nurl = "https://zu.example.org/a/b/"\nscope = "prefix"\ndelay_s = 4\n'
    )
    asked = [
        "https://example.org/",
        "https://zu.example.org/",
        "https://zu.example.org/a/",
        "https://zu.example.org/a/b/c",
    ]
    assert [site.delay_s if (site := crawl.site_of(url)) else None for url in asked] == [1.0, 2.0, 3.0, 4.0]
    assert crawl.site_of("https://example.com/") is None


def test_a_link_may_be_as_far_from_the_seeds_as_its_site_says() -> None:
    crawl = parse_crawl(HEAD + SITE + "max_depth = 2\n" + '[[site]]\nurl = "https://b.example/"\n')
    assert [crawl.may_follow("https://a.example/x", depth) for depth in (1, 2, 3)] == [True, True, False]
    assert [crawl.may_follow(f"https://{host}.example/", 9) for host in "bc"] == [True, False]


def test_no_more_hosts_are_remembered_than_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seeds.crawl.scope._HOSTS_KEPT", 3)
    index = SiteIndex(parse_crawl(HEAD + SITE).sites)
    assert [index.covers(f"https://{host}.example/") for host in "abcdea"] == [True, *[False] * 4, True]
    assert len(index._seen) == 3


def test_items_of_feeds_may_lead_elsewhere_unless_whitelisted() -> None:
    assert parse_crawl(HEAD + SITE).wants_item("https://b.example/")
    assert not parse_crawl(HEAD + SITE).wants_item("file:///etc/passwd")
    listed = parse_crawl(HEAD + "whitelist_only = true\n" + SITE)
    assert [listed.wants_item(url) for url in ("https://a.example/x", "https://b.example/")] == [True, False]


def test_a_front_page_read_as_a_feed_is_one_seed() -> None:
    for index in ("https://a.example", "http://www.A.example/"):
        crawl = parse_crawl(HEAD + SITE + f'[[index]]\nurl = "{index}"\n')
        assert list(crawl.seeds()) == [Seed(index, "index")]
    assert crawl.in_scope("https://a.example/x")


def test_crawls_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('[crawl]\nname = "eins"\n', encoding="utf-8")
    (tmp_path / "broken.toml").write_text("[", encoding="utf-8")
    (tmp_path / "note.txt").write_text("", encoding="utf-8")
    assert crawls(tmp_path) == {"broken": tmp_path / "broken.toml", "eins": tmp_path / "one.toml"}
    (tmp_path / "two.toml").write_text('[crawl]\nname = "eins"\n', encoding="utf-8")
    with pytest.raises(SeedError, match="already defined"):
        crawls(tmp_path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SeedError, match=r"nosuch\.toml: No such file"):
        load_crawl(tmp_path / "nosuch.toml")
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9")
    with pytest.raises(SeedError, match="not UTF-8"):
        load_crawl(tmp_path / "latin.toml")


def test_a_byte_order_mark_is_none_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('\ufeff[crawl]\nname = "eins"\nlanguage = "zul"\n[[site]]\nurl = "https://a.example/"\n', "utf-8")
    assert load_crawl(path).name == "eins"
    assert crawls(tmp_path) == {"eins": path}
    assert [site.url for site in add_to_file(path, '[[site]]\nurl = "https://b.example/"\n').sites][1:]


def test_a_file_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.toml"
    path.write_text("x = " + "[" * 100_000, "utf-8")
    with pytest.raises(SeedError, match=r"deep\.toml.*nested too deeply"):
        load_crawl(path)
    assert crawls(tmp_path) == {"deep": path}


@pytest.mark.parametrize("name", ["zulu", "xhosa", "swati", "ndebele", "czech", "slovak"])
def test_shipped_crawls(name: str) -> None:
    crawl = load_crawl(crawls(SHIPPED)[name])
    assert crawl.name == name
    assert crawl.sites
    assert all(crawl.in_scope(site.url) for site in crawl.sites)
    assert not crawl.in_scope("https://elsewhere.example/")


def test_a_slash_that_ends_a_query_is_a_part_of_it() -> None:
    """Feeds are listed so whose address is a parameter of another."""
    urls = [f"https://a.example/feed?of={path}" for path in ("/zu", "/zu/")]
    crawl = parse_crawl(HEAD + "".join(f'[[feed]]\nurl = "{url}"\n' for url in urls), "x.toml")
    assert [feed.url for feed in crawl.feeds] == urls
    assert "listed" in "".join(faults(HEAD + SITE + '[[site]]\nurl = "http://a.example"\n'))
