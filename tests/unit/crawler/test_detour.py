"""Another spelling of the same URL is fetched on the page's own entry, a few times at most."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.pages import detour
from frontier.payload import REQUISITE_MARK, is_embedded
from frontier.types import Kind, Lease

URL = "http://a.test/x?utm_source=feed"
CLEAN = "http://a.test/x"


def lease(memo: bytes = b"", kind: Kind = Kind.PAGE) -> Lease:
    return Lease("t", URL, kind, "http://a.test", "", 0, 0, memo=memo)


EMBEDDED = REQUISITE_MARK + b"\x02"


@pytest.mark.parametrize("memo", [b"", b"\x03421010", b"\x06\x00" + b"\xff" * 600, EMBEDDED])
def test_what_was_known_of_the_page_comes_back(memo: bytes) -> None:
    first = lease(memo)
    assert detour.read_detour(first) == (first, detour.Detour(URL, 0))
    sent = detour.detour_memo(first, URL, CLEAN, 0)
    assert sent is not None
    assert detour.read_detour(lease(sent)) == (first, detour.Detour(CLEAN, 1))


@pytest.mark.parametrize("location", [URL, "http://a.test/y", "http://b.test/x", "http://a.test/x?v=1", ""])
def test_another_url_is_none_nor_is_the_one_asked(location: str) -> None:
    assert detour.detour_memo(lease(), URL, location, 0) is None


def test_going_round_ends() -> None:
    assert detour.detour_memo(lease(), CLEAN, URL, detour.MOST - 1) is not None
    assert detour.detour_memo(lease(), CLEAN, URL, detour.MOST) is None


def test_feeds_have_memos_of_their_own() -> None:
    sent = detour.detour_memo(lease(), URL, CLEAN, 0)
    assert sent is not None
    feed = lease(sent, Kind.FEED)
    assert detour.read_detour(feed) == (feed, detour.Detour(URL, 0))
    assert detour.detour_memo(replace(feed, memo=b""), URL, CLEAN, 0) is None


def test_what_a_page_embeds_is_still_known_as_that_to_the_frontier() -> None:
    """Else it would wait with the pages when these have spent their budget."""
    first = detour.detour_memo(lease(EMBEDDED), URL, CLEAN, 0)
    assert first is not None
    assert is_embedded(Kind.PAGE, 1.0, first)
    again, found = detour.read_detour(lease(first))
    second = detour.detour_memo(again, CLEAN, URL, found.turns)
    assert second is not None
    assert detour.read_detour(lease(second)) == (lease(EMBEDDED), detour.Detour(URL, 2))
