"""The link's knowledge comes back, and is told from what a revisit leaves."""

from __future__ import annotations

import pytest

from crawler.pages.link_memo import NO_LINK, LinkMemo, read_link_memo
from frontier.types import LONGEST_MEMO_BYTES
from seeds.harvest.revisits import Look, revisit


@pytest.mark.parametrize(
    "memo",
    [
        LinkMemo(0, ""),
        LinkMemo(3, "421010aB-_"),
        LinkMemo(255, "s00000"),
        LinkMemo(published_s=1_790_000_000),
        LinkMemo(published_s=1_790_000_000, counted=True),
        LinkMemo(published_s=1_790_000_000, dated="day"),
        LinkMemo(published_s=1_790_000_000, dated="time", counted=True),
        LinkMemo(7, "421010", 0xFFFFFFFF),
        LinkMemo(0, "m03001aB-_", 1_790_000_000, "day", counted=True),
    ],
)
def test_a_links_memo_comes_back(memo: LinkMemo) -> None:
    assert len(memo.pack()) <= 16 < LONGEST_MEMO_BYTES
    assert read_link_memo(memo.pack()) == memo


def test_a_long_way_is_cut_and_a_long_bucket_refused() -> None:
    assert read_link_memo(LinkMemo(1000, "x").pack()) == LinkMemo(255, "x")
    with pytest.raises(ValueError, match="longer than 10"):
        LinkMemo(0, "x" * 11, 1_790_000_000).pack()
    with pytest.raises(ValueError, match="longer than 15"):
        LinkMemo(0, "x" * 16).pack()


@pytest.mark.parametrize("published_s", [-5, 0, 1 << 32])
def test_a_date_before_1970_or_after_2106_is_not_kept(published_s: int) -> None:
    assert read_link_memo(LinkMemo(2, "421010", published_s, "day").pack()) == LinkMemo(2, "421010")


def test_a_revisit_is_no_first_fetch() -> None:
    assert read_link_memo(b"") is NO_LINK
    look = Look(b"digest")
    assert read_link_memo(revisit(b"", look).memo) is None
    assert revisit(LinkMemo(1, "400000").pack(), look) == revisit(b"", look)


def test_when_an_item_was_published() -> None:
    assert LinkMemo(published_s=1_790_000_000, dated="time").published == "2026-09-21T14:13:20Z"
    assert LinkMemo(published_s=1_790_000_000, dated="day").published == "2026-09-21"
    assert LinkMemo(published_s=1_790_000_000).published == ""
    assert NO_LINK.published == ""


def test_dates_of_memos_that_do_not_say_what_they_are_worth_are_only_counted() -> None:
    assert read_link_memo(b"\0\xff\0\0\0\5") == LinkMemo(published_s=5, counted=True)
