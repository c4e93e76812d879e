"""robots.txt as other parsers' suites and Google's robots.cc have it; differences are listed with their reasons.

The cases lie outside the repository (other people's files under several licences); without them the tests are skipped.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from frontier import robots
from frontier.outcomes import DAY
from seeds.sitemaps import in_robots

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "robots"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no robots.txt cases in {DATA}")

# Cases where the suite and Google's parser agree and we differ: none. A new one needs its reason here.
DIFFERENT: dict[str, str] = {}
# Not asked for: behaviour that only Google's parser promises (an empty user agent, an empty URL, URLs not normalised).
NOT_OF_THE_RFC = {"google-only", "google-unnormalised"}


def body(case: dict[str, Any]) -> bytes:
    if "robots_b64" in case:
        return base64.b64decode(case["robots_b64"])
    return str(case["robots"]).encode("utf-8", "surrogatepass")


def load(name: str) -> list[dict[str, Any]]:
    found = json.loads((DATA / name).read_text("utf-8"))
    return list(found if isinstance(found, list) else found["cases"])


def test_every_case_on_which_the_suites_and_google_agree() -> None:
    wrong, number = {}, 0
    for case in load("cases.json"):
        if case["allowed"] != case["google_reference"] or NOT_OF_THE_RFC & set(case["tags"]):
            continue
        number += 1
        if robots.allowed(body(case), case["user_agent"], case["url"]) != case["allowed"]:
            wrong[case["id"]] = case
    assert number > 500
    assert set(wrong) == set(DIFFERENT)


def real() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    with (DATA / "real_robots.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            for decision in case["decisions"]:
                yield case, decision


def test_every_decision_of_googles_parser_on_real_files() -> None:
    parsed: dict[tuple[str, str], robots.Rules] = {}
    wrong, number = [], 0
    for case, decision in real():
        number += 1
        key = case["host"], decision["user_agent"]
        rules = parsed.get(key) or parsed.setdefault(key, robots.Rules(body(case), decision["user_agent"]))
        if rules.allowed(decision["url"]) != decision["allowed"]:
            wrong.append((case["host"], decision))
    assert number > 10_000
    assert wrong == []


def test_delays_and_sitemaps() -> None:
    home = "https://www.example.com"
    for case in load("delay_sitemap_cases.json"):
        if case["kind"] == "sitemaps":
            expected = [home + value if value.startswith("/") else value for value in case["expected"]]
            assert in_robots(body(case), f"{home}/robots.txt") == expected, case["id"]
        else:
            assert robots.crawl_delay(body(case), case["user_agent"]) == case["expected"], case["id"]


def test_records_live_no_longer_than_a_day() -> None:
    from frontier import FrontierConfig

    with pytest.raises(ValueError, match="24 hours"):
        FrontierConfig(robots_ttl_ms=DAY + 1)
