"""Elements and payloads: what goes in comes out, and how small they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontier import Candidate, Kind
from frontier.outcomes import EXPIRY
from frontier.payload import (
    REQUISITE_MARK,
    band,
    element,
    hop_element,
    is_embedded,
    is_least,
    is_requisite,
    pack,
    put_behind,
    read_element,
    read_hop,
    revised,
    score_byte,
    source_tag,
    unpack,
)
from frontier.types import BANDS, LONGEST_MEMO_BYTES

SOURCES = st.sampled_from(
    ["", "seed", "feed", "http://found.example/a?b=c", "feed:http://feed.example/rss", "not a url"]
)


@given(
    url=st.text(max_size=60),
    kind=st.sampled_from(list(Kind)),
    source=SOURCES,
    depth=st.integers(0, 255),
    score=st.floats(0, 1),
    not_before_ms=st.integers(0, 2**47),
    memo=st.binary(max_size=32),
)
def test_a_payload_comes_back(
    url: str, kind: Kind, source: str, depth: int, score: float, not_before_ms: int, memo: bytes
) -> None:
    memo = b"" if kind is Kind.ROBOTS else memo
    found = unpack(url, pack(Candidate(url, kind, source, depth, score, not_before_ms, memo)))
    assert (found.url, found.kind, found.depth, found.not_before_ms) == (url, kind, depth, not_before_ms)
    assert found.memo == memo
    assert found.source == source_tag(source)
    assert found.score == pytest.approx(score, abs=0.002)
    assert unpack(url, pack(found)) == found


@pytest.mark.parametrize(
    ("depth", "score", "kept"), [(-1, -0.1, (0, 0.0)), (256, 1.1, (255, 1.0)), (10**9, 1e9, (255, 1.0))]
)
def test_a_depth_or_score_beyond_what_a_byte_holds_is_the_nearest(
    depth: int, score: float, kept: tuple[int, float]
) -> None:
    found = unpack("", pack(Candidate("", depth=depth, score=score)))
    assert (found.depth, found.score) == kept


@given(path=st.text(max_size=40), source=SOURCES, memo=st.binary(max_size=300), tries=st.integers(0, 300))
def test_an_element_comes_back_and_is_revised(path: str, source: str, memo: bytes, tries: int) -> None:
    host = "https://example.org"
    data = element(host, f"{host}/{path}", pack(Candidate("", source=source, depth=2)))
    again = revised(data, tries, memo)
    found = read_element(host, again)
    assert (found.url, found.memo) == (f"{host}/{path}", memo)
    assert found.attempt + EXPIRY * found.expiries == min(255, tries)
    assert revised(again, 0, None)[2:] == again[2:]
    assert revised(again, 0, b"") == revised(data, 0, None)


@pytest.mark.parametrize("url", ["HTTP://Example.ORG/x", "http://example.org:80/x", "http://u@example.org/x"])
def test_a_url_that_does_not_begin_with_its_authority_is_kept_whole(url: str) -> None:
    header = pack(Candidate(url, Kind.FEED, "seed", 3))
    found = read_element("http://example.org", element("http://example.org", url, header))
    assert (found.url, found.kind, found.source, found.depth) == (url, Kind.FEED, "seed", 3)


@pytest.mark.parametrize("rest", ["", "/", "?q", "#f"])
def test_an_authority_is_not_taken_for_a_longer_one(rest: str) -> None:
    assert element("http://example.org", f"http://example.org{rest}", bytes(4))[4:] == rest.encode()
    assert element("http://example.org", f"http://example.org.uk{rest}", bytes(4))[0] == 4


def test_a_hop_knows_for_whom() -> None:
    data = hop_element("http://b.example", "http://b.example/r.txt", "http://a.example", 3)
    found = read_element("http://b.example", data)
    assert (found.url, found.kind, read_hop(found.memo)) == (
        "http://b.example/r.txt",
        Kind.ROBOTS,
        ("http://a.example", 3),
    )


def test_sizes_and_bands() -> None:
    assert len(pack(Candidate("", source="http://found.example/"))) == 12
    assert len(pack(Candidate("", source="seed"))) == 4
    assert len(pack(Candidate("", source="http://found.example/", memo=bytes(12)))) == 26
    bands = [band(pack(Candidate("", score=(number + 0.5) / 8))) for number in range(8)]
    assert bands == [7, 6, 5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("payload", [b"x", b"\x20\0\0\0", b"\x40\0\0\0", b"\x08\0\0\0", b"\x08\0\0\0\0\2m"])
def test_a_broken_payload_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match="payload"):
        unpack("http://example.org/", payload)


@pytest.mark.parametrize(
    "candidate", [Candidate("", memo=bytes(LONGEST_MEMO_BYTES + 1)), Candidate("", Kind.ROBOTS, memo=b"x")]
)
def test_a_memo_is_small_and_no_robots_file_has_one(candidate: Candidate) -> None:
    with pytest.raises(ValueError, match="memo"):
        pack(candidate)


def test_no_payload_is_a_plain_page() -> None:
    assert unpack("http://example.org/", b"") == Candidate("http://example.org/")


@given(score=st.floats(0, 1))
def test_the_last_band_is_that_of_least_worth(score: float) -> None:
    assert is_least(score) == (band(bytes((0, 0, score_byte(score)))) == BANDS - 1)


@pytest.mark.parametrize(
    ("candidate", "embedded"),
    [
        (Candidate("http://a.example/1", score=1.0, memo=REQUISITE_MARK + b"\1"), True),
        (Candidate("http://a.example/1", score=1.0, source="http://a.example/", memo=REQUISITE_MARK + b"\1"), True),
        (Candidate("http://a.example/1", score=0.87, memo=REQUISITE_MARK + b"\3"), False),
        (Candidate("http://a.example/1", score=1.0, memo=b"\xff\xff"), False),
        (Candidate("http://a.example/1", score=1.0), False),
        (Candidate("http://a.example/1", Kind.FEED, score=1.0, memo=REQUISITE_MARK), False),
    ],
)
def test_what_a_page_embeds_is_told_by_band_and_memo(candidate: Candidate, *, embedded: bool) -> None:
    data = element("http://a.example", candidate.url, pack(candidate))
    assert is_requisite(data) is embedded
    assert is_embedded(candidate.kind, candidate.score, candidate.memo) is embedded


def test_what_is_put_behind_is_first_of_the_second_band() -> None:
    data = put_behind(element("http://a.example", "http://a.example/1", pack(Candidate("", score=1.0, memo=b"memo"))))
    assert band(data) == 1
    assert band(data[:2] + bytes((data[2] + 1,)) + data[3:]) == 0
    found = read_element("http://a.example", data)
    assert (found.url, found.memo) == ("http://a.example/1", b"memo")
