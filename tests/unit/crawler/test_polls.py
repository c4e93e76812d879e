"""From a lease and an answer to a poll's finding, without any network."""

from __future__ import annotations

import gzip
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import formatdate
from types import MappingProxyType

import pytest
from scrapy.http import Response
from scrapy.settings import Settings

from archive import RevisitTarget
from crawler.addon import Ulwembu
from crawler.harvest.item_dates import memo_elsewhere
from crawler.harvest.polls import Polls, first_poll_ms
from crawler.pages import answers
from crawler.pages.findings import Finding
from crawler.pages.link_memo import LinkMemo, read_link_memo
from frontier.payload import source_tag
from frontier.types import Kind, Lease
from seeds.crawl import parse_crawl
from seeds.harvest.stats import from_counts

HOME = "https://a.example"
FEED, MAP = f"{HOME}/feed/", f"{HOME}/sitemap.xml"
HEAD = '[crawl]\nname = "x"\nlanguage = "zul"\n'
TABLES = f'[[feed]]\nurl = "{FEED}"\nmin_poll_s = 7\n[[sitemap]]\nurl = "{MAP}"\nnewer_than_days = 30\n'


def settings(**changed: object) -> Settings:
    made = Settings()
    Ulwembu().update_settings(made)
    made.update(changed)
    return made


def polls(tables: str = TABLES, **changed: object) -> Polls:
    return Polls(settings(**changed), parse_crawl(HEAD + tables))


def lease(url: str, kind: Kind = Kind.FEED, memo: bytes = b"") -> Lease:
    return Lease("t", url, kind, HOME, "", 0, 0, memo=memo)


def ask(
    these: Polls,
    found: Lease,
    body: bytes,
    *sitemaps: str,
    headers: Mapping[str, str] = MappingProxyType({}),
    status: int = 200,
) -> Finding:
    asked = these.request(found).url
    response = Response(asked, status, body=body, headers={"Content-Type": "text/xml", **headers})
    facts = these.facts(response, found, asked, sitemaps)
    return these.finding(found, facts, these.poll(found, facts), answers.result_of(response))


def rss(*items: tuple[str, float]) -> bytes:
    rows = "".join(
        f"<item><title>{url}</title><link>{url}</link><pubDate>{formatdate(when, usegmt=True)}</pubDate></item>"
        for url, when in items
    )
    return f'<rss version="2.0"><channel><title>t</title>{rows}</channel></rss>'.encode()


def test_items_go_out_without_tracking_and_their_arrival_is_counted() -> None:
    these, now = polls(), time.time()
    first = ask(these, lease(FEED), rss((f"{HOME}/1?utm_source=rss", now - 9000)))
    assert [(it.url, it.kind, it.score, it.depth) for it in first.links] == [(f"{HOME}/1", Kind.PAGE, 1.0, 1)]
    early = Lease(
        "t", f"{HOME}/1", Kind.PAGE, HOME, "", 0, 0, source=source_tag(f"feed:{FEED}"), memo=first.links[0].memo
    )
    assert polls().arrived(early) == {}, "what the first poll finds may be of any age"
    assert first.memo is not None
    body = rss((f"{HOME}/2", now - 30), (f"{HOME}/1", now - 9000))
    second = ask(these, lease(FEED, memo=first.memo), body)
    assert [link.url for link in second.links] == [f"{HOME}/2"]
    # Whoever fetches the page knows when it was published, and of which feed it is.
    (item,) = second.links
    page = Lease("t", item.url, Kind.PAGE, HOME, "", 0, 0, source=source_tag(item.source), memo=item.memo)
    stats = from_counts(polls().arrived(page)[source_tag(f"feed:{FEED}")])
    assert (stats.fetched, stats.polls) == (1, 0)
    assert 29 <= stats.fetch_delay_s < 9000
    assert polls().arrived(replace(page, memo=b"")) == {}
    assert from_counts(second.feed_counts[FEED]).new_items == 1


BROKEN = ("http://no such.example/", f"{HOME}:x/", f"{HOME}:99999/", "http://1.2.3.4.5/", "http://www.b.example%20/")


def sitemap(root: str, entry: str, *urls: str) -> bytes:
    places = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</{root}>'.encode()


@pytest.mark.parametrize(
    ("url", "kind", "body"),
    [
        (FEED, Kind.FEED, rss(*((url, 0) for url in (*BROKEN, f"{HOME}/good")))),
        (MAP, Kind.SITEMAP, sitemap("sitemapindex", "sitemap", *BROKEN, f"{HOME}/good")),
        (f"{HOME}/of-site.xml", Kind.SITEMAP, sitemap("urlset", "url", *BROKEN, f"{HOME}/good")),
    ],
)
def test_what_is_written_there_and_is_no_url_is_passed_over(url: str, kind: Kind, body: bytes) -> None:
    """The sieve refuses it: a crawl ended by one such item, and again whenever it was started."""
    these = polls(f'{TABLES}[[site]]\nurl = "{HOME}/"\nscope = "open"\nsitemaps = true\n')
    (link,) = ask(these, replace(lease(url, kind), source=source_tag(f"{HOME}/robots.txt")), body).links
    assert link.url == f"{HOME}/good"


def test_whether_they_are_urls_is_asked_in_the_thread_that_reads_a_large_sitemap() -> None:
    """Of 50,000 that takes half a second, in which the worker would do nothing else."""
    these, found = polls(), lease(FEED)
    facts = these.facts(Response(FEED, body=rss(*((url, 0) for url in (*BROKEN, f"{HOME}/good")))), found, FEED)
    assert [item.url for item in these.poll(found, facts).new_items] == [f"{HOME}/good"]


def published(*dates: str, counted: bool = False, date: str = "") -> tuple[str, bool]:
    """What an item's page is told of its publication, and whether its fetch is counted; `dates`: of items with its
    address; `date`: the server's clock."""
    these = polls()
    found = lease(FEED)
    if counted:
        found = lease(FEED, memo=ask(these, found, rss((f"{HOME}/0", time.time()))).memo or b"")
    items = "".join(
        f"<item><guid>{n}</guid><link>{HOME}/1</link><pubDate>{when}</pubDate></item>" for n, when in enumerate(dates)
    )
    body = f'<rss version="2.0"><channel>{items}</channel></rss>'.encode()
    (link,) = ask(these, found, body, headers={"Date": date} if date else {}).links
    memo = read_link_memo(link.memo)
    assert memo is not None
    return memo.published, memo.counted


@pytest.mark.parametrize("counted", [False, True])
def test_when_an_item_was_published_goes_with_it(counted: bool) -> None:
    assert published("Fri, 31 May 2024 10:20:30 +0200", counted=counted) == ("2024-05-31T08:20:30Z", counted)
    assert published("Fri, 31 May 2024 10:20:30 EST", counted=counted) == ("2024-05-31", counted)
    now = time.time()
    soon = datetime.fromtimestamp(now + 7200, UTC)
    assert published(formatdate(now + 7200, usegmt=True), counted=counted)[0] == soon.date().isoformat(), "a wrong zone"
    assert published(formatdate(now + 3 * 86400, usegmt=True), counted=counted) == ("", counted), "but fetched it was"
    for absurd in (
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "0001-01-01T00:00:00Z",
        "0999-01-01T00:00:01Z",
        "Fri, 31 Dec 1982 10:00:00 GMT",
        "Ephreli",
    ):
        assert published(absurd, counted=counted)[0] == ""


@pytest.mark.parametrize(("counted", "day"), [(False, ""), (True, "2026-09-21")])
def test_the_moment_of_the_poll_is_no_date_of_publication(counted: bool, day: str) -> None:
    """Our clock's, or that of the server's, which may be wrong and whose answer may come out of a cache."""
    now = time.time()
    for made in (now, now - 1):
        today = datetime.fromtimestamp(made, UTC).date().isoformat()
        assert published(formatdate(made, usegmt=True), counted=counted) == (today if counted else "", counted)
    written, clock = "Mon, 21 Sep 2026 16:13:20 +0200", "Mon, 21 Sep 2026 14:13:22 GMT"
    assert published(written, counted=counted, date=clock) == (day, counted)
    for clock in ("Mon, 21 Sep 2026 14:19:22 GMT", "Ephreli", "Mon, 99 Sep 9999 99:99:99 GMT"):
        assert published(written, counted=counted, date=clock) == ("2026-09-21T14:13:20Z", counted)


def test_the_servers_clock_is_read_as_utc_wherever_this_machine_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Africa/Johannesburg")
    time.tzset()
    try:
        found = published("Mon, 21 Sep 2026 16:13:20 +0200", counted=True, date="Mon Sep 21 14:13:22 2026")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found == ("2026-09-21", True)


def test_of_two_dates_of_an_address_none_is_known() -> None:
    one, same, other = (f"Fri, {day} May 2024 10:20:30 GMT" for day in ("31", "31", "30"))
    assert published(one, same) == ("2024-05-31T10:20:30Z", False)
    for several in ((one, other), (other, same, one), (one, same, "Ephreli")):
        assert published(*several) == ("", False)


def test_the_day_of_an_item_is_as_it_is_written() -> None:
    for written in ("2024-05-31T00:00:00+02:00", "Fri, 31 May 2024 00:00:00 -0800", "31 May 2024 22:00:00 EST"):
        assert published(written) == ("2024-05-31", False)


@pytest.mark.parametrize(
    ("location", "goes"),
    [
        (f"{HOME}/news/1/", True),
        ("https://www.a.example/news/1", True),
        ("https://b.example/news/", True),
        (f"{HOME}/news?id=1", True),
        (f"{HOME}/new", True),
        (f"{HOME}/news/", False),
        (f"{HOME}/news", False),
        ("http://www.a.example/", False),
        (HOME, False),
        (f"{HOME}/login?next=/news/1", False),
        ("https://consent.example/?v=2&continue=https%3A%2F%2Fwww.a.example%2Fnews%2F1", False),
    ],
)
def test_an_items_date_does_not_go_to_a_folder_above_it_or_a_page_before_it(location: str, goes: bool) -> None:
    asked, dated, link = f"{HOME}/news/1", LinkMemo(published_s=1_790_000_000).pack(), LinkMemo(3, "421010").pack()
    assert memo_elsewhere(dated, asked, location) == (dated if goes else b"")
    assert memo_elsewhere(link, asked, location) == link


def test_an_item_without_a_path_of_its_own_takes_its_date_to_where_it_is_now() -> None:
    dated = LinkMemo(published_s=1_790_000_000).pack()
    assert memo_elsewhere(dated, f"{HOME}/?p=7", f"{HOME}/news/1?from=/rss/") == dated


def test_items_lead_where_the_crawl_allows() -> None:
    body = rss((f"{HOME}/1", 0), ("https://b.example/1", 0), ("ftp://c.example/1", 0))
    assert len(ask(polls(), lease(FEED), body).links) == 2
    closed = parse_crawl(f'{HEAD}whitelist_only = true\n[[site]]\nurl = "{HOME}/"\n{TABLES}')
    assert [link.url for link in ask(Polls(settings(), closed), lease(FEED), body).links] == [f"{HOME}/1"]


def test_sitemaps_have_wider_bounds_and_a_limit_of_age() -> None:
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 5 * 86400))
    pages = f"<url><loc>/1</loc><lastmod>{day}</lastmod></url><url><loc>/2</loc><lastmod>2001-01-01</lastmod></url>"
    body = f"<urlset>{pages}<url><loc>/3</loc></url></urlset>".encode()
    these = polls()
    found = ask(these, lease(MAP, Kind.SITEMAP), body)
    assert [link.url for link in found.links] == [f"{HOME}/1"]
    assert found.again_in_ms is not None
    assert found.again_in_ms >= 3_600_000
    # A sitemap that an index of that host leads to has the index's limit; a feed has none.
    assert len(ask(these, lease(f"{HOME}/more.xml", Kind.SITEMAP), body).links) == 1
    index = ask(these, lease(MAP, Kind.SITEMAP), b"<sitemapindex><sitemap><loc>/n.xml</loc></sitemap></sitemapindex>")
    assert [(link.url, link.kind) for link in index.links] == [(f"{HOME}/n.xml", Kind.SITEMAP)]


def test_a_sitemap_without_a_limit_of_age_has_none_beside_another_that_has_one() -> None:
    these = polls(f'{TABLES}[[sitemap]]\nurl = "{HOME}/all.xml"\n')
    body = b"<urlset><url><loc>/1</loc><lastmod>2001-01-01</lastmod></url><url><loc>/2</loc></url></urlset>"
    assert len(ask(these, lease(f"{HOME}/all.xml", Kind.SITEMAP), body).links) == 2
    assert ask(these, lease(MAP, Kind.SITEMAP), body).links == []
    index = b"<sitemapindex><sitemap><loc>/some.xml</loc></sitemap></sitemapindex>"
    (child,) = ask(these, lease(f"{HOME}/all.xml", Kind.SITEMAP), index).links
    led_to = replace(lease(child.url, Kind.SITEMAP), source=source_tag(child.source))
    assert len(ask(these, led_to, body).links) == 2


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def moved(these: Polls, found: Lease, target: str) -> Lease:
    """The lease of where an answer to `found` says that it now is."""
    response = Response(found.url, status=301, headers={"Location": target})
    facts = these.facts(response, found, found.url)
    (link,) = these.finding(found, facts, these.poll(found, facts), "redirect").links
    assert link.url == target
    return Lease("t", link.url, link.kind, HOME, "", 0, 0, source=source_tag(link.source), memo=link.memo)


def test_a_feed_that_moved_twice_is_asked_no_more_often_than_its_seed_allows() -> None:
    these = polls(TABLES.replace("min_poll_s = 7", "min_poll_s = 70000\nmax_poll_s = 80000"))
    later = moved(these, moved(these, lease(FEED), f"{HOME}/rss"), f"{HOME}/atom")
    assert (ask(these, later, rss((f"{HOME}/1", time.time()))).again_in_ms or 0) >= 70_000_000


def test_a_feed_that_moves_takes_along_what_it_has_shown() -> None:
    these, now = polls(), time.time()
    known = ask(these, lease(FEED), rss((f"{HOME}/1", now - 9000))).memo or b""
    there = moved(these, lease(FEED, memo=known), f"{HOME}/rss")
    found = ask(these, there, rss((f"{HOME}/2", now), (f"{HOME}/1", now - 9000)))
    assert [link.url for link in found.links] == [f"{HOME}/2"]


def test_a_feed_that_moved_to_one_with_bounds_of_its_own_is_asked_by_those() -> None:
    there = f'[[feed]]\nurl = "{HOME}/rss"\nmin_poll_s = 70000\nmax_poll_s = 80000\n'
    these = polls(TABLES + there)
    later = moved(these, lease(FEED), f"{HOME}/rss")
    assert (ask(these, later, rss((f"{HOME}/1", time.time()))).again_in_ms or 0) >= 70_000_000


def test_an_index_page_that_moved_is_still_one() -> None:
    these = polls(f'[[index]]\nurl = "{HOME}/news"\n')
    there = moved(these, lease(f"{HOME}/news"), f"{HOME}/latest")
    assert these.facts(Response(there.url), there, there.url).kind == "index"


def test_a_sitemap_that_moved_to_another_host_keeps_its_limit_of_age() -> None:
    these, far = polls(), "https://b.example"
    there = moved(these, lease(MAP, Kind.SITEMAP), f"{far}/sitemap_index.xml")
    assert there.kind is Kind.SITEMAP
    index = f"<sitemapindex><sitemap><loc>{far}/old.xml</loc></sitemap></sitemapindex>".encode()
    found = ask(these, replace(there, authority=far), index)
    (child,) = found.links
    assert (child.url, child.kind) == (f"{far}/old.xml", Kind.SITEMAP)
    assert (found.again_in_ms or 0) >= 3_600_000
    leaf = Lease("t", child.url, child.kind, far, "", 0, 0, source=source_tag(child.source))
    rows = "".join(f"<url><loc>{far}/{day}</loc><lastmod>{day}</lastmod></url>" for day in ("2001-01-01", today()))
    links = ask(these, leaf, f"<urlset>{rows}</urlset>".encode()).links
    assert [link.url for link in links] == [f"{far}/{today()}"]


def test_not_modified_names_the_record_that_is_still_valid() -> None:
    these, found = polls(), lease(FEED)
    when = datetime(2026, 11, 21, 4, 0, 0, 7, tzinfo=UTC)
    facts = these.facts(Response(FEED, body=rss((f"{HOME}/1", 0)), headers={"Content-Type": "text/xml"}), found, FEED)
    facts = replace(facts, fetched_us=round(when.timestamp() * 1_000_000))
    memo = these.finding(found, facts, these.poll(found, facts), "ok").memo or b""
    for known, target in ((memo, RevisitTarget(FEED, "2026-11-21T04:00:00.000007Z")), (b"", None)):
        later = lease(FEED, memo=known)
        facts = these.facts(Response(FEED, status=304), later, FEED)
        assert these.finding(later, facts, these.poll(later, facts), "not_modified").not_modified == target


def test_first_polls_of_many_feeds_are_spread() -> None:
    urls = [f"https://{n}.example/feed/" for n in range(500)]
    due = sorted(first_poll_ms(settings(), url, len(urls), 1_000_000) - 1_000_000 for url in urls)
    assert due[0] < 5_000
    assert 40_000 < due[-1] <= 50_000  # 0.1 s a feed
    assert max(first_poll_ms(settings(), url, 10**6, 0) for url in urls) <= 600_000
    assert first_poll_ms(settings(), urls[0], 1, 1_000_000) == 0
    assert first_poll_ms(settings(HARVEST_SPREAD_S=0), urls[0], 500, 1_000_000) == 0


def test_what_caches_are_told_in_several_lines_is_one_list() -> None:
    response = Response(FEED, headers={"Cache-Control": ["max-age=300", "public"], "ETag": ['"a"', '"b"']})
    facts = polls().facts(response, lease(FEED), FEED)
    assert (facts.header("cache-control"), facts.header("etag")) == ("max-age=300, public", '"b"')


def test_a_poll_without_an_answer_comes_again_with_its_memory() -> None:
    these = polls()
    first = ask(these, lease(FEED), rss((f"{HOME}/1", time.time() - 9000)))
    assert first.memo is not None
    failed = these.fail(lease(FEED, memo=first.memo), FEED, "timeout")
    assert (failed.result, failed.links) == ("timeout", [])
    assert failed.again_in_ms is not None
    assert failed.again_in_ms >= 7000
    assert from_counts(failed.feed_counts[FEED]).errors == 1


@pytest.mark.parametrize(("status", "rest_s"), [(404, None), (403, 86_400), (503, 9 * 86_400)])
def test_a_feed_that_refuses_is_not_asked_before_it_says_and_its_host_only_where_it_means_that(
    status: int, rest_s: int | None
) -> None:
    these, found = polls(), lease(FEED)
    response = Response(FEED, status=status, headers={"Retry-After": str(9 * 86_400)})
    facts = these.facts(response, found, FEED)
    finding = these.finding(found, facts, these.poll(found, facts), answers.result_of(response))
    assert (finding.again_in_ms or 0) >= 9 * 86_400_000
    assert finding.retry_after_ms == (rest_s and rest_s * 1000)


def test_a_date_after_which_to_come_again_is_read_by_the_frontiers_clock() -> None:
    """Where the server does not say its own, as with 503 it need not."""
    response = Response(FEED, 503, headers={"Retry-After": formatdate(7205, usegmt=True)})
    facts = Polls(settings(), None, lambda: 5000).facts(response, lease(FEED), FEED)
    assert facts.retry_after_ms == 7_200_000


def test_workers_whose_clocks_are_hours_apart_poll_no_feed_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its memory goes from one to the other, so they go by the frontier's clock."""
    start_s, every_s, of_all_ms = 1_790_000_000, 600, [0]
    workers = [Polls(settings(), None, lambda: of_all_ms[0]) for _ in range(2)]

    def polls_of_a_day(*ahead_s: int) -> int:
        of_all_ms[0], memo, count = start_s * 1000, b"", 0
        while of_all_ms[0] < (start_s + 86_400) * 1000:
            now_s, which = of_all_ms[0] // 1000, count % 2
            monkeypatch.setattr(time, "time_ns", lambda now_s=now_s, which=which: (now_s + ahead_s[which]) * 10**9)
            newest = now_s // every_s
            items = ((f"{HOME}/{n}", n * every_s) for n in range(newest, newest - 20, -1))
            found = ask(workers[which], lease(FEED, memo=memo), rss(*items))
            assert found.again_in_ms is not None
            of_all_ms[0] += found.again_in_ms
            memo, count = found.memo or b"", count + 1
        return count

    alike = polls_of_a_day(0, 0)
    assert alike < 400
    assert polls_of_a_day(0, 5 * 3600) == polls_of_a_day(0, -5 * 3600) == alike


LIST = "".join(f'<h2><a href="/2026/indaba-{n}">Isihloko sendaba enkulu {n}</a></h2>' for n in range(1, 6)).encode()


@pytest.mark.parametrize(
    ("head", "tag"),
    [
        (b'<meta name="robots" content="noindex,nofollow">', ""),
        (b'<meta name="Ulwembu" content="none">', ""),
        (b"", "nofollow"),
        (b"", "ulwembu: nofollow"),
    ],
)
def test_an_index_page_that_asks_robots_not_to_follow_its_links_leads_nowhere(head: bytes, tag: str) -> None:
    these = polls(f'[[index]]\nurl = "{HOME}/news"\n')
    page = lease(f"{HOME}/news")
    html = {"Content-Type": "text/html"}
    assert len(ask(these, page, LIST, headers=html).links) == 5
    closed = ask(these, page, head + LIST, headers={**html, "X-Robots-Tag": tag} if tag else html)
    assert not closed.links
    assert closed.warnings == (f"{page.url}: failing at its first poll: nofollow",)
    opened = ask(these, replace(page, memo=closed.memo or b""), LIST, headers=html)
    assert len(opened.links) == 5


def test_the_links_of_an_index_page_are_read_in_its_encoding() -> None:
    these, page = polls(f'[[index]]\nurl = "{HOME}/news"\n'), lease(f"{HOME}/news")
    html = "".join(f'<h2><a href="/zpráva/{n}">Událost číslo {n} a vše o ní</a></h2>' for n in range(1, 6))
    for declared, body in (
        ("text/html; charset=windows-1250", html.encode("cp1250")),
        ("text/html", b'<meta charset="windows-1250">' + html.encode("cp1250")),
        ("text/html", html.encode("utf-16")),
        ("text/html", html.encode()),
    ):
        found = ask(these, page, body, headers={"Content-Type": declared})
        assert [link.url for link in found.links] == [f"{HOME}/zpráva/{n}" for n in range(1, 6)]


def test_an_answer_that_names_another_place_has_not_moved_there() -> None:
    """RFC 9110 10.2.2: with 201 and the like it is what was made, and of 200 it says nothing."""
    these, page = polls(f'[[index]]\nurl = "{HOME}/news"\n'), lease(f"{HOME}/news")
    closed = ask(these, page, LIST, headers={"X-Robots-Tag": "nofollow", "Location": f"{HOME}/new"})
    assert (closed.links, closed.warnings) == ([], (f"{page.url}: failing at its first poll: nofollow",))


def test_a_part_of_a_feed_that_nobody_asked_for_is_no_feed() -> None:
    """What had stood behind it would be new with the next whole answer, or a gap."""
    these, body = polls(), rss((f"{HOME}/1", 0))
    part, whole = (f"bytes 0-{len(body) - 1}/{size}" for size in (9999, len(body)))
    found = ask(these, lease(FEED), body, status=206, headers={"Content-Range": part})
    assert (found.links, found.warnings) == ([], (f"{FEED}: failing at its first poll: part",))
    assert ask(these, lease(FEED), body, status=206, headers={"Content-Range": whole}).links


@pytest.mark.parametrize("headers", [{}, {"X-Robots-Tag": "nofollow"}])
def test_that_an_index_page_is_gone_is_told_whatever_it_asks_of_robots(headers: Mapping[str, str]) -> None:
    """As pages of errors often do; and one that was not to be followed before is asked once more, too."""
    these, html = polls(f'[[index]]\nurl = "{HOME}/news"\n'), {"Content-Type": "text/html", **headers}
    page, head = lease(f"{HOME}/news"), b'<meta name="robots" content="noindex,nofollow">'
    closed = ask(these, page, head + LIST, headers=html)
    gone = ask(these, replace(page, memo=closed.memo or b""), head, headers=html, status=410)
    assert gone.again_in_ms
    missing = ask(these, page, head, headers=html, status=404)
    assert missing.warnings == (f"{page.url}: failing at its first poll: status 404",)


MISSED = f"<urlset><url><loc>{HOME}/2026/indaba-7</loc><lastmod>2100-01-01</lastmod></url></urlset>".encode()


@pytest.mark.parametrize("sitemap", [MISSED, gzip.compress(MISSED), b" " * 5000 + MISSED], ids=["xml", "gzip", "late"])
def test_sitemaps_in_which_the_missed_links_of_an_index_page_are_looked_for_are_no_pages(sitemap: bytes) -> None:
    these, html = polls(f'[[index]]\nurl = "{HOME}/news"\n'), {"Content-Type": "text/html"}
    page = lease(f"{HOME}/news")
    before = ask(these, page, LIST, headers=html)
    page = replace(page, memo=before.memo or b"")
    others = LIST.replace(b"indaba-", b"indaba-9").replace(b"enkulu ", b"enkulu 9")
    page = replace(page, memo=ask(these, page, others, headers=html).memo or b"")
    found = ask(these, page, sitemap, headers={"X-Robots-Tag": "noindex, nofollow"})
    assert [link.url for link in found.links] == [f"{HOME}/2026/indaba-7"]
