"""Sitemaps against the cases of two other libraries and whole scripted sites."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import pytest

from seeds.sitemaps import in_robots, parse
from seeds.survey.probe import Fetched
from seeds.survey.sitemap_walk import walk_site
from tests.conformance.seeds.data import body_of, cases

# Deliberate differences: documents that another library gives up are read as far as they go.
RESCUED = {
    "crawler-commons/testSitemapParserBrokenXml/1": [],  # its only address is on another host
    "crawler-commons/testSitemapXXE/1": ["http://www.example.com/visit-here"],  # the entity is never resolved
}
# One complete address more than the peer takes from a sitemap cut short behind it.
MORE = {"usp/test_sitemap_tree_for_homepage_prematurely_ending_xml": {"/news/third.html"}}


@pytest.mark.parametrize("case", cases("sitemaps.json"))
def test_sitemaps(case: dict[str, Any]) -> None:
    sitemap = parse(
        body_of(case),
        case["url"] or "",
        content_type=case["content_type"],
        own_place=bool(case.get("strict_same_host_and_path")),
    )
    assert sitemap.locs == RESCUED.get(case["id"], case.get("locs") or [])
    if case["kind"] in ("urlset", "index"):
        assert sitemap.kind == case["kind"]
    if case.get("format"):
        assert sitemap.format == case["format"]
    for entry, expected in zip(sitemap.entries, case.get("entries") or [], strict=False):
        assert [href for _, href in entry.alternates] == expected.get("alternate", [])
        assert (entry.lastmod_ms is not None) == bool(expected.get("lastmod"))
        assert entry.changefreq == expected.get("changefreq", "")


@pytest.mark.parametrize("case", cases("sitemap_sites.json"))
def test_whole_sites(case: dict[str, Any]) -> None:
    def fetch(url: str, redirects: int = 0) -> Fetched:
        answer = case["site"].get(url)
        if answer is None:
            return Fetched(url, 404)
        headers = {key.lower(): value for key, value in answer.get("headers", {}).items()}
        if answer["status"] in (301, 302) and redirects < 5:
            return fetch(urljoin(url, headers["location"]), redirects + 1)
        return Fetched(url, answer["status"], body_of(answer), headers.get("content-type", ""))

    found = {url.removeprefix(case["homepage"]) for url in walk_site(case["homepage"], fetch).pages}
    pages = {page if isinstance(page, str) else page["url"] for page in case["pages"]}
    assert found == {page.removeprefix(case["homepage"]) for page in pages} | MORE.get(case["id"], set())


@pytest.mark.parametrize("case", cases("robots_sitemap_lines.json"))
def test_sitemap_lines_of_robots_txt(case: dict[str, Any]) -> None:
    assert in_robots(case["body"].encode(), case["base_url"]) == case["sitemaps"]
