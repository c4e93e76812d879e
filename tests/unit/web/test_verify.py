"""The verifier finds each planted violation, and nothing in a faultless log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.web import LogEntry, Web, WebSpec, calm
from tests.web.paths import Resource
from tests.web.verify import Expectations, Findings, verify

MS = 1000
SPEC = calm(WebSpec(seed=3, hosts=3, pages=24, addresses=2, port=8123, seed_hosts=3))


def web_with(**changes: object) -> Web:
    return Web(SPEC.replace(**changes))


def entry(web: Web, url: str, start_ms: float, **changes: Any) -> LogEntry:
    """A whole 200 that took 5 ms."""
    host, slash, path = url.removeprefix("http://").partition("/")
    site = web.site(host)
    address, port = (site.address, site.port) if site else ("127.9.9.9", 1)
    start_us = int(start_ms * MS)
    plain = LogEntry(
        start_us, start_us + 5 * MS, start_us, host, address, port, slash + path, 200, agent="Ulwembu/1 (+x)"
    )
    return plain._replace(**changes)


def faultless(web: Web, pause_ms: float = 100) -> list[LogEntry]:
    """robots.txt of each open host, then each demanded page once, one after the other."""
    urls = [site.authority + "/robots.txt" for site in web.sites] + list(web.truth.urls())
    return [entry(web, url, n * (pause_ms + 5)) for n, url in enumerate(urls)]


def judge(web: Web, log: list[LogEntry], **changes: object) -> Findings:
    plain = Expectations(delay_s=0.1, ip_delay_s=0.1)
    return verify(log, web, replace(plain, **changes))  # type: ignore[arg-type]


def failures(findings: Findings) -> set[str]:
    return {name for name in Findings.FAILURES if getattr(findings, name)}


def test_faultless_log_holds() -> None:
    web = web_with()
    findings = judge(web, faultless(web))
    assert failures(findings) == set()
    assert findings.ok
    assert findings.fetched == findings.demanded == len(web.truth.pages) > 20


def test_empty_log_does_not_hold() -> None:
    assert not verify([], web_with(), Expectations(coverage="none")).ok


def test_missing_page_is_named() -> None:
    web = web_with()
    log = faultless(web)
    findings = judge(web, log[:-1])
    assert failures(findings) == {"missing"}
    assert findings.missing == [log[-1].authority + log[-1].path]


@pytest.mark.parametrize("changes", [{"status": 503}, {"whole": False}])
def test_failed_fetch_is_missing_and_its_retry_no_repeat(changes: dict[str, Any]) -> None:
    web = web_with()
    log = faultless(web)
    failed = log[-1]._replace(**changes)
    assert failures(judge(web, [*log[:-1], failed])) == {"missing"}
    later = log[-1]._replace(start_us=log[-1].start_us + 500 * MS, end_us=log[-1].end_us + 500 * MS)
    assert judge(web, [*log[:-1], failed, later]).ok


@pytest.mark.parametrize("spelling", ["", "?", "?utm_source=x", "%2e"])
def test_repeat_in_any_spelling(spelling: str) -> None:
    web = web_with()
    log = faultless(web)
    url = web.paths.url(Resource(0, "page", 1))
    path = url.replace(".", "%2e") if spelling == "%2e" and "." in url.split("/", 3)[3] else url + spelling.strip("%2e")
    again = entry(web, path, 60_000)
    assert failures(judge(web, [*log, again])) == {"repeats"}
    excused = judge(web, [*log, again], refetches=1)
    assert excused.ok
    assert len(excused.refetched) == 1


def test_pause_too_short_by_two_ms_is_found_and_by_less_than_one_is_not() -> None:
    web = web_with()
    assert judge(web, faultless(web, pause_ms=99.5)).ok
    found = failures(judge(web, faultless(web, pause_ms=98)))
    assert found == {"too_fast", "too_fast_address"}


def test_address_shared_by_hosts() -> None:
    web = web_with()
    shared = [s for s in web.sites if sum(o.address == s.address for o in web.sites) > 1]
    first, second = shared[:2]
    log = [entry(web, first.authority + "/robots.txt", 0), entry(web, second.authority + "/robots.txt", 50)]
    findings = judge(web, log, coverage="none")
    assert failures(findings) == {"too_fast_address"}
    assert judge(web, log, coverage="none", ip_delay_s=0.0).ok


def test_overlap_is_found_without_any_delay() -> None:
    web = web_with()
    url = web.seeds[0]
    log = [entry(web, url + "robots.txt", 0), entry(web, url, 100, end_us=300 * MS), entry(web, url + "x", 200)]
    assert failures(judge(web, log, coverage="none", delay_s=0, ip_delay_s=0)) == {"overlaps"}


def test_crawl_delay_counts_once_robots_was_read() -> None:
    web = web_with(robots=("delay",), crawl_delay_s=0.7)
    base = web.sites[1].authority
    log = [entry(web, base + "/robots.txt", 0), entry(web, base + "/", 600)]
    findings = judge(web, log, coverage="none")
    assert failures(findings) == {"too_fast"}
    assert "allowed 700 ms" in findings.too_fast[0]
    assert judge(web, [log[0], entry(web, base + "/", 706)], coverage="none").ok


def test_retry_after_of_the_host() -> None:
    web = web_with()
    base = web.seeds[0]
    log = [
        entry(web, base + "robots.txt", 0),
        entry(web, base, 200, status=503, due_us=2205 * MS),
        entry(web, base, 1500),
    ]
    findings = judge(web, log, coverage="none")
    assert failures(findings) == {"retry_after"}
    assert judge(web, [*log[:2], entry(web, base, 2206)], coverage="none").ok


def test_disallowed_page() -> None:
    web = web_with(hosts=1, addresses=1, pages=200, seed_hosts=1)
    private = next(r for r in web.truth.denied)
    assert "/private/" in web.paths.url(private)
    log = [*faultless(web), entry(web, web.paths.url(private), 90_000)]
    assert failures(judge(web, log)) == {"robots_denied"}


def test_disallowed_page_in_an_odd_spelling_or_unlinked() -> None:
    web = web_with()
    base = web.sites[1].authority
    for path in ("/%70rivate/x", "/a/../private/x", "/private/"):
        log = [entry(web, base + "/robots.txt", 0), entry(web, base + path, 500)]
        assert failures(judge(web, log, coverage="none")) == {"robots_denied"}, path


@pytest.mark.parametrize(("query", "found"), [("", {"robots_denied"}), ("?utm_source=x", set()), ("?", set())])
def test_a_rule_is_held_against_the_query_as_it_was_sent(query: str, found: set[str]) -> None:
    web = web_with(robots=("shapes",))
    base = web.sites[1].authority
    log = [entry(web, base + "/robots.txt", 0), entry(web, f"{base}/umculo/indaba-7/print{query}", 500)]
    assert failures(judge(web, log, coverage="none")) == found


def test_page_before_robots() -> None:
    web = web_with()
    base = web.seeds[0]
    log = [entry(web, base, 0), entry(web, base + "robots.txt", 500)]
    assert failures(judge(web, log, coverage="none")) == {"robots_unasked"}


@pytest.mark.parametrize(
    ("kind", "answer"), [("down503", {"status": 503}), ("cut", {"whole": False}), ("hang", {"status": 0})]
)
def test_page_while_robots_is_unreachable(kind: str, answer: dict[str, Any]) -> None:
    web = web_with(robots=(kind,))
    base = web.sites[1].authority
    log = [entry(web, base + "/robots.txt", 0, **answer), entry(web, base + "/", 5000)]
    assert "robots_unreachable" in failures(judge(web, log, coverage="none"))


def test_robots_that_recovers() -> None:
    web = web_with(robots=("flaky503",))
    base = web.sites[1].authority
    failed = entry(web, base + "/robots.txt", 0, status=503)
    early = [failed, entry(web, base + "/", 500)]
    assert failures(judge(web, early, coverage="none")) == {"robots_unreachable"}
    assert judge(web, [failed, entry(web, base + "/robots.txt", 500), entry(web, base + "/", 1000)], coverage="none").ok


def test_redirected_robots_must_be_followed_to_its_end() -> None:
    web = web_with(robots=("redirect",))
    base = web.sites[1].authority
    hop = entry(web, base + "/robots.txt", 0, status=301)
    page = entry(web, base + "/", 1000)
    assert failures(judge(web, [hop, page], coverage="none")) == {"robots_unreachable"}
    assert judge(web, [hop, entry(web, base + "/go/robots1/0", 500), page], coverage="none").ok


def test_foreign_host() -> None:
    web = web_with()
    findings = judge(web, [entry(web, "http://10.0.0.1/admin", 0)], coverage="none")
    assert failures(findings) == {"foreign"}


def test_json_says_the_same() -> None:
    web = web_with()
    values = judge(web, faultless(web)[:-1]).to_json()
    assert values["ok"] is False
    assert values["counts"]["missing"] == 1
