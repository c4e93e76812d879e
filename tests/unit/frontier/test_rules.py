"""The pure rules: outcome table, back-off, traps, audit."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier import FrontierConfig, TrapLimits, UnknownOutcome
from frontier.audit import AuditRow, Gaps, verify, verify_plain
from frontier.keys import Keys
from frontier.outcomes import DAY, FORGIVE_MS, OUTCOMES, backoff_ms, forgiven, of_requisite, row
from frontier.scripts import PARTS, script_text
from frontier.traps import SKETCH_WIDTH, check, sketch_places

SITE = "http://example.org"


@given(st.integers(1, DAY), st.integers(1, 10 * DAY), st.integers(0, 100), st.floats(0, 1))
def test_backoff_lies_between_half_and_all_of_the_doubled_time(
    base: int, cap: int, doublings: int, jitter: float
) -> None:
    whole = min(cap, base * 2 ** min(doublings, 20))
    assert whole // 2 <= backoff_ms(base, cap, doublings, jitter) <= whole


def test_failures_are_forgiven_one_by_one() -> None:
    assert [forgiven(3, 1000, 1000 + minutes * FORGIVE_MS) for minutes in range(5)] == [3, 2, 1, 0, 0]
    assert forgiven(3, 5000, 1000) == 3


def test_rows_are_sane() -> None:
    for name, found in OUTCOMES.items():
        assert found.cap_ms >= found.base_ms, name
        assert found.rest_cap_ms >= found.rest_base_ms, name
        assert not (found.heals and (found.retries or found.rest_base_ms)), name
        assert not found.page or found.sent, name
    with pytest.raises(UnknownOutcome):
        row("fine")


def test_what_a_page_embeds_is_no_page_whatever_comes_of_it() -> None:
    for name, found in OUTCOMES.items():
        other = OUTCOMES[of_requisite(name)]
        assert other == replace(found, page=False), name
    assert [of_requisite(name) for name in ("ok", "redirect", "http_503")] == [
        "requisite", "requisite:redirect", "http_503",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("url", "depth", "rule"),
    [
        (f"{SITE}/a/b/c?x=1", 3, ""),
        (SITE, 0, ""),
        (f"{SITE}/a", 21, "trap_depth"),
        (f"{SITE}/" + "x" * 2048, 0, "trap_length"),
        (f"{SITE}/" + "/".join(str(n) for n in range(21)), 0, "trap_segments"),
        (f"{SITE}/a/b/a/b/a/b/a/b", 0, "trap_repeated_segment"),
        (f"{SITE}/a/b/a/b/a/b", 0, ""),
        (f"{SITE}/2024/01/01/2024/1", 0, ""),
        (f"{SITE}/x?" + "&".join(f"p{n}=1" for n in range(21)), 0, "trap_parameters"),
        (f"{SITE}/x?s=1&s=2&s=3&s=4", 0, "trap_repeated_parameter"),
        # all that is allowed
        (f"{SITE}/" + "x" * (2048 - len(SITE) - 1), 20, ""),
        (f"{SITE}/" + "/".join(str(n) for n in range(20)), 0, ""),
        (f"{SITE}/x?" + "&".join(f"p{n}=1" for n in range(20)), 0, ""),
        (f"{SITE}/x?s=1&s=2&s=3", 0, ""),
    ],
)
def test_trap_rules(url: str, depth: int, rule: str) -> None:
    assert check(url, depth, TrapLimits()) == rule
    off = TrapLimits(0, 0, 0, 0, 0, 0)
    assert check(url, depth, off) == ""


@given(st.text(max_size=80), st.integers(0, 30))
def test_no_url_breaks_the_trap_rules(text: str, depth: int) -> None:
    check(text, depth, TrapLimits())
    places = sketch_places(f"{text}?")
    assert places
    assert 0 <= places[0] < SKETCH_WIDTH <= places[1] < 2 * SKETCH_WIDTH


def test_variants_of_a_path_share_their_counters() -> None:
    assert sketch_places(f"{SITE}/cal?day=1") == sketch_places("https://example.org/cal?day=2&x")
    assert sketch_places(f"{SITE}/cal") is None


def end(
    host: str, address: str, start_ms: int, end_ms: int, delay_ms: int = 1000, address_delay_ms: int = 500
) -> AuditRow:
    return AuditRow("end", f"{start_ms}", host, address, start_ms, start_ms, end_ms, "ok", delay_ms, address_delay_ms)


def test_the_audit_finds_what_is_too_short() -> None:
    good = [end("a", "1", 0, 100), end("a", "1", 1100, 1200), end("b", "1", 600, 600)]
    assert verify(good).ok
    assert (verify(good).fetches, verify(good).gaps) == (3, 3)
    by_host = verify([*good, end("a", "2", 2199, 2300)])
    assert [(gap.of, gap.gap_ms, gap.needed_ms) for gap in by_host.short] == [("a", 999, 1000)]
    by_address = verify([*good, end("c", "1", 1699, 1800)])
    assert [(gap.of, gap.gap_ms) for gap in by_address.short] == [("@1", 499)]
    assert verify([*good, end("c", "1", 1699, 1800)], tolerance_ms=1).ok
    assert not verify([*good, end("c", "1", 1698, 1800)], tolerance_ms=1).ok


def test_the_audit_sees_a_gap_across_a_short_fetch_inside_a_long_one() -> None:
    rows = [end("a", "", 0, 10_000), end("a", "", 100, 200), end("a", "", 5000, 5100)]
    assert len(verify(rows).short) == 2


def test_the_audit_sees_a_long_delay_across_one_that_was_too_early() -> None:
    rows = [end("a", "", 0, 1000, 10_000), end("a", "", 2000, 3000, 500), end("a", "", 9000, 9100)]
    assert [gap.gap_ms for gap in verify(rows).short] == [1000, 8000]


def test_an_audit_may_be_followed_row_by_row_without_remembering_all_hosts() -> None:
    rows = [end(str(n % 2), "", n * 500, n * 500 + 499) for n in range(60)]
    whole, gaps = verify(rows), Gaps()
    for request in rows:
        gaps.follow([request])
        gaps.forget(ago_ms=1000)
        assert len(gaps) <= 5
    assert (gaps.fetches, gaps.gaps, sorted(gaps.short)) == (whole.fetches, whole.gaps, sorted(whole.short))
    assert len(whole.short) == whole.gaps == 58
    gaps.follow([end("new", "", 100_000, 100_100)])
    gaps.forget(ago_ms=1000)
    assert len(gaps) == 1


def test_grants_and_what_was_not_sent_need_no_gap() -> None:
    rows = [
        AuditRow("grant", "1", "a", "", 0),
        AuditRow("end", "1", "a", "", 0, 0, 0, "robots_denied"),
        end("a", "", 0, 1),
    ]
    assert verify(rows).ok
    assert not verify([*rows, end("a", "", 999, 1001)]).ok


def test_plain_rows_as_warc_dates_give() -> None:
    rows = [("a", "1", 0.0, 10.0), ("b", "1", 300.0, 310.0), ("a", "", 900.0, 1000.0)]
    proof = verify_plain(rows, delay_ms=1000, address_delay_ms=250)
    assert [(gap.of, gap.earlier, gap.later) for gap in proof.short] == [
        ("a", "1970-01-01T00:00:00.000Z row 0", "1970-01-01T00:00:00.900Z row 2")
    ]
    assert proof.shortest_ms == 890
    rows = [("a", "1", 0.0, 1234.0), ("b", "1", 1483.0, 1500.0), ("a", "2", 2235.0, 2300.0), ("b", "2", 2550.0, 2600.0)]
    proof = verify_plain(rows, delay_ms=1000, address_delay_ms=250)
    assert [(gap.of, gap.gap_ms, gap.later) for gap in proof.short] == [("@1", 249, "1970-01-01T00:00:01.483Z row 1")]
    assert proof.shortest_ms == 1001
    assert verify_plain(rows, delay_ms=1000, address_delay_ms=250, tolerance_ms=1).ok


def test_settings_and_names_are_checked() -> None:
    with pytest.raises(ValueError, match="positive"):
        FrontierConfig(lease_ms=0)
    with pytest.raises(ValueError, match="braces"):
        Keys("a}b")


def test_the_scripts_are_given_all_that_they_ask_for_and_nothing_else() -> None:
    """A name that is not there is nil in Lua, and often passes."""
    given, asked = set[str](), set[str]()
    for name in PARTS:
        settings, code = script_text(name, FrontierConfig()).split("\n", 1)
        given |= set(re.findall(r"(\w+) =", re.sub(r"(?<== ){[^{}]*}", "0", settings.partition("{")[2])))
        asked |= set(re.findall(r"SETTINGS\.(\w+)", code))
    assert given == asked
