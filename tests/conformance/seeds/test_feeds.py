"""Feeds and discovery against real documents, on which other parsers agree.

Deliberate differences from the reference (feedparser as it comes):

* links are made absolute by the feed's address; compared here without one, as the reference was made;
* JSON Feeds whose `version` is "1.0" or "1.1" and RSS written as JSON are read (the reference calls them no feed);
* a document without any declared encoding whose bytes are UTF-8 is UTF-8 (RFC 3023 would have it ISO-8859-1 or ASCII).
"""

from __future__ import annotations

from typing import Any

import pytest

from seeds.feeds import discover, parse
from tests.conformance.seeds.data import FEEDS, body_of, cases

READ_ALL_THE_SAME = {
    "real/netnewswire/ScriptingNews.json": 25,  # RSS as JSON
    "real/gofeed/json10_feed.json": 1,
    "real/gofeed/json11_feed.json": 1,
}
# The reference guessed the encoding with a library that is not used here; the entries are the same.
GUESSED_OTHERWISE = {"euckr": "windows-1252", "tis620": "iso8859-11", "bozo_linenoise": "iso-8859-2"}
SAME_ENCODING = {"us-ascii": "utf-8", "cp874": "iso8859-11"}


@pytest.mark.parametrize("case", cases("real_expected.json"))
def test_real_feeds(case: dict[str, Any]) -> None:
    feed = parse((FEEDS / case["file"]).read_bytes(), "")
    if case["format"] == "not-a-feed":
        expected = READ_ALL_THE_SAME.get(case["file"], 0)
        assert bool(feed.entries) == bool(expected)
        return
    assert [entry.link for entry in feed.entries] == case["links"]
    assert feed.format == ("" if case["format"] == "none" else case["format"])
    if case.get("feedburner_origlinks"):
        assert [entry.url for entry in feed.entries] == case["feedburner_origlinks"]


@pytest.mark.parametrize("case", cases("real_expected.json"))
def test_real_feeds_have_absolute_links_when_the_address_is_known(case: dict[str, Any]) -> None:
    feed = parse((FEEDS / case["file"]).read_bytes(), "https://peer.example/dir/feed")
    assert all(entry.link is None or "://" in entry.link for entry in feed.entries)


@pytest.mark.parametrize("case", cases("micro_cases.json"))
def test_one_feature_feeds(case: dict[str, Any]) -> None:
    headers = {key.lower(): value for key, value in case["http_headers"].items()}
    feed = parse(body_of(case), headers.get("content-location", ""), headers.get("content-type"))
    assert len(feed.entries) == case["n_entries"]
    assert [entry.link for entry in feed.entries] == case["entry_links"]
    assert feed.format == (case["format"] or "")
    assert _encoding_agrees(case, headers, feed.encoding)


def _encoding_agrees(case: dict[str, Any], headers: dict[str, str], encoding: str) -> bool:
    wanted = case["encoding"].lower()
    if wanted == "iso-8859-1" and "content-type" not in headers:
        return encoding.lower() in ("iso-8859-1", "utf-8")
    guessed = next((value for key, value in GUESSED_OTHERWISE.items() if key in case["id"]), None)
    return encoding.lower() in (wanted, SAME_ENCODING.get(wanted), guessed)


@pytest.mark.parametrize("case", cases("autodiscovery.json"))
def test_discovery(case: dict[str, Any]) -> None:
    assert discover(case["html"].encode(), case["base_url"]) == case["feeds"]
