"""What a robots.txt names as sitemaps is read however its rules are; which sitemaps of an index come first."""

from __future__ import annotations

import pytest

from seeds.sitemaps import in_robots, parse

ROBOTS = "https://example.org/robots.txt"
FOUND = ["https://example.org/map.xml", "https://b.example/news.xml"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("coding", ["ascii", "utf-8-sig", "utf-16"])
def test_byte_order_marks_and_line_ends(coding: str, end: str) -> None:
    lines = ["Sitemap: /map.xml", "User-agent: *", "Disallow: /a", "SITEMAPS:https://b.example/news.xml # news", ""]
    assert in_robots(end.join(lines).encode(coding), ROBOTS) == FOUND


@pytest.mark.parametrize("line", [b"Sitemap:", b"Sitemap: # none", b"#Sitemap: /x", b"Disallow: /Sitemap: /x"])
def test_lines_that_name_none(line: bytes) -> None:
    assert in_robots(b"User-agent: *\n" + line + b"\n", ROBOTS) == []


def test_a_line_that_may_be_cut_names_none() -> None:
    long = b"Sitemap: /map.xml\n" + b"# " + b"x" * (500 * 1024 - 18 - 2 - 1 - 14) + b"\nSitemap: /news.xml\n"
    assert in_robots(long, ROBOTS) == FOUND[:1]
    assert in_robots(long[1000:], ROBOTS) == ["https://example.org/news.xml"]


def newest_first(*entries: tuple[str, str]) -> list[str]:
    rows = "".join(f"<sitemap><loc>{url}</loc><lastmod>{lastmod}</lastmod></sitemap>" for url, lastmod in entries)
    body = f"<sitemapindex>{rows}</sitemapindex>".replace("&", "&amp;").encode()
    return [url.removeprefix("https://example.org/") for url in parse(body, "https://example.org/").newest_first]


def test_of_sitemaps_of_days_the_newest_come_first_behind_those_of_none() -> None:
    """A hundred of a robots.txt are taken, and were the oldest."""
    names = ["news.xml", "2025-12.xml", "2026-01.xml", "sections.xml"]
    robots = "".join(f"Sitemap: https://2026.example/{name}\n" for name in names).encode()
    found = [url.rpartition("/")[2] for url in in_robots(robots, ROBOTS)]
    assert found == ["news.xml", "sections.xml", "2026-01.xml", "2025-12.xml"]


@pytest.mark.parametrize("lastmod", ["", "2026-11-27", "2026-11-27T02:50:0%dZ"])
@pytest.mark.parametrize(
    "names",
    [
        ["sitemap.xml?yyyy=2016&mm=06&dd=20", "sitemap.xml?yyyy=2016&mm=11&dd=03", "sitemap.xml?yyyy=2017&mm=01&dd=02"],
        ["sitemap?year=2016&month=6&day=20", "sitemap?year=2016&month=6&day=21", "sitemap?year=2016&month=11&day=3"],
        ["map/20161103_1.xml", "map/20161103_2.xml", "map/20161104_1.xml"],
        ["2015/sitemap-2015-12.xml", "2016/sitemap-2016-01.xml", "2016/sitemap-2016-02.xml"],
        ["api/news-sitemap/2016", "api/news-sitemap/2017", "api/news-sitemap/2018"],
    ],
)
def test_sitemaps_of_days_come_newest_first_without_a_lastmod(names: list[str], lastmod: str) -> None:
    """Papers have thousands, the oldest first; of an index the first 1,000 are taken."""
    last = [lastmod % n if "%" in lastmod else lastmod for n in range(len(names))]
    found = newest_first(*((f"https://example.org/{name}", when) for name, when in zip(names, last, strict=True)))
    same_day = names[:2] if "20161103_1" in names[0] and "%" not in lastmod else names[1::-1]
    assert found == [names[2], *same_day]


def test_the_lastmod_comes_before_what_an_address_names_and_else_the_order_of_the_index() -> None:
    urls = [f"https://2025.example.org/{name}.xml" for name in ("a", "2024-01", "b1000", "2024-02")]
    of_index = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    found = parse(f"<sitemapindex>{of_index}</sitemapindex>".encode()).newest_first
    assert found == [urls[0], urls[2], urls[3], urls[1]]
    home = "https://example.org/"
    assert newest_first((f"{home}2024-01", "2026-01-02"), (f"{home}2024-02", ""), (f"{home}x", "2026-01-03")) == [
        "x",
        "2024-01",
        "2024-02",
    ]


def test_of_an_index_what_says_neither_lastmod_nor_day_may_be_as_new_as_the_newest() -> None:
    """The news came last where the sitemaps of days have a lastmod, and no further than the first 1,000 are taken."""
    home = "https://example.org/"
    days = [(f"{home}2026-10.xml", "2026-11-01"), (f"{home}2026-11.xml", "2026-11-20")]
    assert newest_first(*days, (f"{home}news.xml", "")) == ["news.xml", "2026-11.xml", "2026-10.xml"]
    archive = [(f"{home}archive-a.xml", ""), (f"{home}archive-b.xml", "")]
    assert newest_first(*archive, (f"{home}news.xml", "2026-11-20"))[0] == "news.xml"
