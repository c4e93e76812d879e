"""What a robots.txt names as sitemaps is read however its rules are."""

from __future__ import annotations

import pytest

from seeds.sitemaps import in_robots

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
