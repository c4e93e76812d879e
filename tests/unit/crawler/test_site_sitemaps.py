"""Sitemaps that a site's robots.txt names, where the seed file wants them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
from scrapy.http import Request, Response

from crawler.harvest.polls import Polls
from crawler.harvest.site_sitemaps import sitemaps_of
from crawler.pages.findings import Finding
from crawler.pages.link_memo import read_link_memo
from crawler.pages.policy import BEHIND
from crawler.poll_reader import PollReader
from crawler.work.worker import Worker
from frontier.payload import source_tag
from frontier.types import Candidate, Kind, Lease, RobotsRecord
from relevance.steering.policies import make_policy
from seeds.crawl import parse_crawl
from seeds.errors import SeedError
from seeds.harvest.stats import from_counts
from tests.unit.crawler.test_polls import HEAD, settings

HOME = "https://a.example"
SITE = f'[[site]]\nurl = "{HOME}/zu/"\nscope = "domain"\nmax_depth = 1\nsitemaps = true\n'
LISTED = f'{SITE}[[sitemap]]\nurl = "{HOME}/one.xml"\n'
NAMED = f"Sitemap: {HOME}/one.xml\nsitemap: /two.xml\nSitemap: https://b.example/three.xml\nSitemap: {HOME}/one.xml\n"


def found(tables: str, record: RobotsRecord | None, authority: str = HOME) -> list[str]:
    return [link.url for link in sitemaps_of(parse_crawl(HEAD + tables), authority, record)]


def test_those_that_robots_txt_names_or_the_usual_one() -> None:
    assert found(SITE, RobotsRecord("rules", NAMED.encode())) == [f"{HOME}/one.xml", f"{HOME}/two.xml"]
    assert found(SITE, RobotsRecord("rules", b"User-agent: *\n")) == [f"{HOME}/sitemap.xml"]
    assert found(SITE, RobotsRecord("allow")) == [f"{HOME}/sitemap.xml"]
    assert found(SITE, RobotsRecord("allow"), "https://izindaba.a.example") == [
        "https://izindaba.a.example/sitemap.xml"
    ]


def test_those_elsewhere_take_no_place() -> None:
    elsewhere = b"".join(b"Sitemap: https://b.example/%d.xml\n" % n for n in range(500))
    assert found(SITE, RobotsRecord("rules", elsewhere + NAMED.encode())) == [f"{HOME}/one.xml", f"{HOME}/two.xml"]
    assert found(SITE, RobotsRecord("rules", elsewhere)) == [f"{HOME}/sitemap.xml"]
    many = b"".join(b"Sitemap: /%d.xml\n" % n for n in range(500))
    assert len(found(SITE, RobotsRecord("rules", many))) == 100


def test_what_is_no_url_is_none() -> None:
    broken = f"Sitemap: {HOME}:x/0.xml\nSitemap: {HOME}:99999/0.xml\n"
    assert found(SITE, RobotsRecord("rules", (broken + NAMED).encode())) == [f"{HOME}/one.xml", f"{HOME}/two.xml"]


def test_those_of_a_host_of_which_only_a_part_is_in_scope() -> None:
    part = SITE.replace('"domain"', '"prefix"')
    assert found(part, RobotsRecord("allow")) == [f"{HOME}/sitemap.xml"]
    assert found(part, RobotsRecord("allow"), "https://www.a.example") == ["https://www.a.example/sitemap.xml"]
    assert found(part, RobotsRecord("allow"), "https://izindaba.a.example") == []
    links = polled(f"{HOME}/sitemap.xml", f"{HOME}/robots.txt", urls(f"{HOME}/zu/1", f"{HOME}/en/1"), part)
    assert [link.url for link in links] == [f"{HOME}/zu/1"]


@pytest.mark.parametrize(
    ("tables", "record", "authority"),
    [
        (SITE.replace("sitemaps = true", ""), RobotsRecord("allow"), HOME),
        (SITE, RobotsRecord("allow"), "https://b.example"),
        (SITE, RobotsRecord("disallow"), HOME),
        (SITE, None, HOME),
    ],
)
def test_none_of_hosts_that_are_not_asked_for_them(tables: str, record: RobotsRecord | None, authority: str) -> None:
    assert found(tables, record, authority) == []


def test_none_without_a_seed_file() -> None:
    assert sitemaps_of(None, HOME, RobotsRecord("allow")) == []


def polled(url: str, source: str, body: bytes, tables: str = SITE, **more: Any) -> list[Candidate]:
    """The links of a sitemap that has answered."""
    links: list[Candidate] = answered(url, source, body, tables, **more).links
    return links


def answered(
    url: str,
    source: str,
    body: bytes,
    tables: str = SITE,
    *,
    depth: int = 0,
    location: str = "",
    status: int = 200,
    policy: str = "yield",
    memo: bytes = b"",
) -> Finding:
    """What came of a sitemap's poll."""
    worker = Mock(spec=Worker, robots=AsyncMock(return_value=None))
    worker.stores.spec = parse_crawl(HEAD + tables)
    worker.stores.polls = Polls(settings(), worker.stores.spec)
    worker.stores.policy = make_policy(policy, "zul")
    lease = Lease("t", url, Kind.SITEMAP, HOME, "", 0, 0, source=source, depth=depth, memo=memo)
    request = Request(url, meta={"lease": lease})
    headers = {"Content-Type": "application/xml", **({"Location": location} if location else {})}
    answer = Response(url, 302 if location else status, body=body, headers=headers, request=request)
    asyncio.run(PollReader(worker).process_response(request, answer))
    finding: Finding = request.meta["finding"]
    return finding


def urls(*paths: str, more: str = "") -> bytes:
    rows = "".join(f"<url><loc>{path}</loc>{more}</url>" for path in paths)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()


def test_what_they_name_is_in_scope_and_ranked_as_links_are() -> None:
    pages = [f"{HOME}/zu/{n}" for n in range(250)]
    links = polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", urls(*pages, "https://b.example/1"))
    assert [link.url for link in links] == pages
    memos = [read_link_memo(link.memo) for link in links]
    assert all(memo is not None and memo.bucket for memo in memos), "so that they are scored anew"
    assert all(0 < link.score <= 1 for link in links)


def test_what_they_say_of_a_page_ranks_it() -> None:
    def version(tag: str, page: str) -> str:
        return f'<xhtml:link rel="alternate" hreflang="{tag}" href="{HOME}/{page}"/>'

    def row(page: str, *more: str) -> str:
        return f"<url><loc>{HOME}/{page}</loc>{''.join(more)}</url>"

    def news(title: str, language: str = "") -> str:
        of = f"<n:publication><n:language>{language}</n:language></n:publication>"
        return f"<n:news><n:title>{title}</n:title>{of}</n:news>"

    versions = [
        version(tag, page)
        for tag, page in (("en", "p1"), ("zu-ZA", "p2"), ("x-default", "p2"), ("zu", "p9"), ("af", "p8"))
    ]
    rows = [
        row("p1", *versions),
        row("p2", *versions),
        row("p3"),
        row("p4", news("Abafundi babuyele esikoleni namhlanje ekuseni")),
        row("p5", news("Pupils have gone back to their school this morning")),
        row("p6", news("", "zu")),
    ]
    spaces = "http://www.google.com/schemas/sitemap-news/0.9", "http://www.w3.org/1999/xhtml"
    body = f'<urlset xmlns:n="{spaces[0]}" xmlns:xhtml="{spaces[1]}">{"".join(rows)}</urlset>'
    links = polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", body.encode())
    scores = {link.url.removeprefix(f"{HOME}/"): link.score for link in links}
    assert set(scores) == {"p1", "p2", "p3", "p4", "p5", "p6", "p9"}
    for wanted in ("p2", "p4", "p6", "p9"):
        assert scores[wanted] > scores["p3"] >= scores["p5"] > scores["p1"], wanted


def versions(page: str, *of: tuple[str, str], more: str = "") -> bytes:
    links = "".join(f'<x:link rel="alternate" hreflang="{tag}" href="{to}"/>' for tag, to in of)
    return f'<urlset xmlns:x="http://www.w3.org/1999/xhtml"><url><loc>{page}</loc>{links}{more}</url></urlset>'.encode()


@pytest.mark.parametrize("tag", ["zu", "ZU-za", "zu_ZA", " zu ", "zul", "zu-Latn-ZA", "isiZulu", "Zulu"])
def test_a_version_in_the_language_is_taken_however_its_tag_is_written(tag: str) -> None:
    body = versions(f"{HOME}/1", (tag, "/z/1"), ("en", "/e/1"), ("x-default", "/d/1"), ("zulia", "/o/1"), ("", "/n/1"))
    for text in (body, body.replace(b"hreflang", b"hrefLang")):
        links = polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", text)
        assert [link.url for link in links] == [f"{HOME}/1", f"{HOME}/z/1"]
        assert links[1].score > links[0].score


def test_versions_are_within_the_scope_and_no_more_than_a_sitemap_may_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seeds.harvest.answers.MAX_ENTRIES", 5_000)
    body = versions(f"{HOME}/1", ("zu", "https://b.example/1"), ("zu", f"{HOME}/z/1#a"), ("zu-za", f"{HOME}/z/1"))
    assert [link.url for link in polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", body)] == [f"{HOME}/1", f"{HOME}/z/1"]
    assert polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", body, SITE.replace("a.example", "b.example")) == []
    many = [versions(f"{HOME}/{n}", *(("zu", f"{HOME}/z/{n}-{m}") for m in range(20))) for n in range(300)]
    rows = b"".join(body.partition(b'">')[2].removesuffix(b"</urlset>") for body in many)
    links = polled(f"{HOME}/one.xml", "seed", b'<urlset xmlns:x="x">' + rows + b"</urlset>", LISTED)
    assert len(links) == 300 + 5_000


def test_a_version_is_as_new_as_the_page_that_names_it() -> None:
    newer = LISTED + "newer_than_days = 3\n"
    for days, found in ((1, 2), (9, 0)):
        lastmod = (datetime.now(UTC) - timedelta(days=days)).isoformat()
        body = versions(f"{HOME}/1", ("zu", f"{HOME}/z/1"), more=f"<lastmod>{lastmod}</lastmod>")
        assert len(polled(f"{HOME}/one.xml", "seed", body, newer)) == found


@pytest.mark.parametrize("policy", ["threshold", "afriweb", "all"])
def test_policies_that_learn_nothing_take_them_too(policy: str) -> None:
    body = versions(f"{HOME}/1", ("zu", f"{HOME}/z/1"))
    links = polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", body, policy=policy)
    assert [link.url for link in links] == [f"{HOME}/1", f"{HOME}/z/1"]


def test_an_index_is_no_step_and_leads_to_more_of_the_site() -> None:
    [deep] = polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", index(f"{HOME}/deep.xml"))
    assert (deep.url, deep.kind) == (f"{HOME}/deep.xml", Kind.SITEMAP)
    source = source_tag(deep.source)
    [page] = polled(deep.url, source, urls(f"{HOME}/1", "https://b.example/1"), depth=deep.depth)
    assert (page.url, page.depth) == (f"{HOME}/1", 1)


def index(*sitemaps: str) -> bytes:
    rows = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in sitemaps)
    return f"<sitemapindex>{rows}</sitemapindex>".encode()


def test_a_sitemap_leads_to_none_out_of_scope_and_not_on_for_ever() -> None:
    one, robots = f"{HOME}/one.xml", f"{HOME}/robots.txt"
    led = polled(one, robots, index("https://b.example/all.xml", f"{HOME}/more.xml"))
    assert [link.url for link in led] == [f"{HOME}/more.xml"]
    assert polled(one, robots, index(f"{HOME}:8080/x.xml", f"{HOME}:99999/x.xml"), SITE.replace("domain", "host")) == []
    assert polled(one, robots, b"", location="https://b.example/all.xml") == []
    [moved] = polled(one, robots, b"", location=f"{HOME}/moved.xml")
    assert [link.url for link in polled(moved.url, moved.source, urls(f"{HOME}/1", "https://b.example/1"))] == [
        f"{HOME}/1"
    ]
    deepest = 0
    while led := polled(f"{HOME}/{deepest}.xml", robots, index(f"{HOME}/{deepest + 1}.xml"), depth=deepest):
        deepest = led[0].depth
    assert deepest == 5


def test_of_an_index_the_newest_are_taken_and_how_many_are_left_out_is_told_once() -> None:
    """It was not told, and of what has no lastmod the oldest were taken where these stand first."""
    days = [f"{HOME}/sitemap.xml?d={2005 + n // 336}-{1 + n // 28 % 12:02}-{1 + n % 28:02}" for n in range(1500)]
    elsewhere = [f"https://b.example/{n}.xml" for n in range(20)]
    found = answered(f"{HOME}/one.xml", f"{HOME}/robots.txt", index(*elsewhere, *days))
    assert [link.url for link in found.links] == days[:499:-1]
    assert found.warnings == (f"{HOME}/one.xml: over_limit 500 sitemaps left out, all but the newest 1000",)
    assert [from_counts(counts).left_out for counts in found.feed_counts.values()] == [500]
    more = index(*days, f"{HOME}/news.xml")
    again = answered(f"{HOME}/one.xml", f"{HOME}/robots.txt", more, memo=found.memo or b"")
    assert (again.warnings, len(again.links)) == ((), 1000)
    listed = f'{SITE}[[sitemap]]\nurl = "{HOME}/one.xml"\n'
    assert len(polled(f"{HOME}/one.xml", "seed", index(*days), listed)) == 1500


def test_a_sitemap_that_moves_takes_along_what_it_has_named() -> None:
    one, robots = f"{HOME}/one.xml", f"{HOME}/robots.txt"
    known = answered(one, robots, urls(f"{HOME}/1", f"{HOME}/2")).memo or b""
    [moved] = polled(one, robots, b"", location="https://www.a.example/one.xml", memo=known)
    there = urls("https://www.a.example/1", "https://www.a.example/2", "https://www.a.example/3")
    new = polled(moved.url, moved.source, there, memo=moved.memo)
    assert [link.url for link in new] == ["https://www.a.example/3"]


@pytest.mark.parametrize(("status", "weeks", "told"), [(404, 1, False), (410, 4, False), (200, 1, True)])
def test_where_there_is_none_it_is_rarely_looked_for(status: int, weeks: int, told: bool) -> None:
    """Each host of a domain would be asked day by day, and warned of."""
    week_ms, body = 7 * 86_400_000, b"<html><body><p>Not here</p></body></html>"
    found = answered(f"{HOME}/sitemap.xml", f"{HOME}/robots.txt", body, status=status)
    assert (found.again_in_ms, bool(found.warnings)) == (weeks * week_ms, told)
    again = answered(f"{HOME}/sitemap.xml", f"{HOME}/robots.txt", body, status=status, memo=found.memo or b"")
    assert (again.again_in_ms, bool(again.warnings)) == (None if status == 410 else week_ms, told)
    listed = f'{SITE}[[sitemap]]\nurl = "{HOME}/sitemap.xml"\n'
    found = answered(f"{HOME}/sitemap.xml", "seed", body, listed, status=status)
    assert found.again_in_ms is not None
    assert found.again_in_ms < week_ms or status == 410
    assert found.warnings
    away = answered(f"{HOME}/sitemap.xml", f"{HOME}/robots.txt", body, status=503)
    assert away.again_in_ms is not None
    assert away.again_in_ms < week_ms


def test_what_they_name_is_no_item_of_a_feed() -> None:
    """Which may have moved anywhere."""
    [page] = polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", urls(f"{HOME}/1"))
    assert source_tag(page.source).startswith("#")


@pytest.mark.parametrize("tables", [SITE.replace("sitemaps = true", ""), SITE.replace("a.example", "c.example")])
def test_one_that_waits_leads_nowhere_when_the_seed_file_does_not_want_it_any_more(tables: str) -> None:
    body = urls(f"{HOME}/1", "https://b.example/1")
    assert polled(f"{HOME}/one.xml", source_tag(f"{HOME}/robots.txt"), body, tables) == []


def test_a_sitemap_that_the_seed_file_names_leads_anywhere_first_of_all() -> None:
    listed = f'[[sitemap]]\nurl = "{HOME}/one.xml"\n'
    links = polled(f"{HOME}/one.xml", "seed", urls("https://b.example/1"), SITE + listed)
    assert [(link.url, link.score) for link in links] == [("https://b.example/1", 1.0)]
    [link] = polled(f"{HOME}/one.xml", "seed", urls("https://b.example/1"), f"page_requisites = true\n{SITE}{listed}")
    assert link.score == BEHIND, "but what its pages embed"


def test_when_news_was_published_goes_along() -> None:
    news = "<news:news><news:publication_date>2026-03-01</news:publication_date></news:news>"
    body = urls(f"{HOME}/zu/1", more=news).replace(
        b"<urlset ", b'<urlset xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    )
    [link] = polled(f"{HOME}/one.xml", f"{HOME}/robots.txt", body)
    memo = read_link_memo(link.memo)
    assert memo is not None
    assert (memo.published, bool(memo.bucket)) == ("2026-03-01", True)
    [link] = polled("https://www.a.example/one.xml", f"{HOME}/robots.txt", body)
    assert read_link_memo(link.memo) == memo, "whichever of the site's hosts keeps the sitemap"


def test_a_flag_is_true_or_false() -> None:
    with pytest.raises(SeedError, match="sitemaps"):
        parse_crawl(HEAD + SITE.replace("sitemaps = true", 'sitemaps = "yes"'))
