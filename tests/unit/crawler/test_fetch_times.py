"""What an archive alone says about when a host was asked, and how often it wanted to be."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from archive import Exchange, Reader, WarcWriter, WriterConfig
from crawler.records.fetch_times import fetch_times, warc_files, written_with
from frontier.audit import verify_plain

ROBOTS, OTHERS_ROBOTS = b"User-agent: *\nCrawl-delay: 2\n", b"User-agent: other\nCrawl-delay: 9\n"


def exchange(
    number: int,
    second: float,
    path: str,
    body: bytes = b"",
    status: int = 200,
    coding: bytes = b"identity",
    told: bytes = b"",
) -> bytes:
    """A response of http://a.test begun at a second of a minute, and the record that says it took 100 ms, and more."""
    http = b"HTTP/1.1 %d X\r\nContent-Encoding: %s\r\n\r\n%s" % (status, coding, body)
    name = f"<urn:uuid:00000000-0000-4000-8000-{number:012}>"
    took = b"fetchTimeMs: 100\r\n" + told
    response = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: {name}\r\n"
        f"WARC-Date: 2024-05-01T10:00:{second:09.6f}Z\r\nWARC-Target-URI: http://a.test{path}\r\n"
        "WARC-IP-Address: 192.0.2.1\r\nContent-Type: application/http;msgtype=response\r\n"
        f"Content-Length: {len(http)}\r\n\r\n"
    ).encode()
    metadata = (
        f"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: {name.replace('4000', '4001')}\r\n"
        f"WARC-Date: 2024-05-01T10:00:{second:09.6f}Z\r\nWARC-Target-URI: http://a.test{path}\r\n"
        f"WARC-Concurrent-To: {name}\r\nContent-Type: application/warc-fields\r\nContent-Length: {len(took)}\r\n\r\n"
    ).encode()
    return response + http + b"\r\n\r\n" + metadata + took + b"\r\n\r\n"


def asked(tmp_path: Path, *exchanges: bytes) -> list[tuple[float, int]]:
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join(exchanges))
    found = list(fetch_times([path], "ulwembu"))
    first = found[0].start_ms
    return [(visit.start_ms - first, visit.asked_ms) for visit in found]


def test_a_crawl_delay_holds_from_its_robots_txt_to_the_next(tmp_path: Path) -> None:
    assert asked(
        tmp_path,
        exchange(1, 0, "/before"),
        exchange(2, 1, "/robots.txt", ROBOTS),
        exchange(3, 4, "/page"),
        exchange(4, 7, "/robots.txt", OTHERS_ROBOTS),
        exchange(5, 8, "/page2"),
    ) == [(0, 0), (1000, 2000), (4000, 2000), (7000, 0), (8000, 0)]


@pytest.mark.parametrize("path", ["/robots.txt", "/page"])
@pytest.mark.parametrize(
    ("known", "odd"),
    [
        (b"2024-05-01T10:00:01.000000Z", b"2024"),
        (b"2024-05-01T10:00:01.000000Z", b"some.day"),
        (b"2024-05-01T10:00:01.000000Z", b""),
        (b"http://a.test", b"http://[a"),
        (b"http://a.test", b"ftp://a.test"),
        (b"http://a.test", b""),
        (b"fetchTimeMs: 100\r\n", b"fetchTimeMs: " + b"9" * 5000 + b"\r\n"),
    ],
)
def test_records_of_unreadable_urls_dates_and_times_are_left_out(
    tmp_path: Path, path: str, known: bytes, odd: bytes
) -> None:
    other = exchange(2, 1, path, ROBOTS).replace(known, odd)
    other = other.replace(b"Content-Length: 18\r\n", b"Content-Length: %d\r\n" % (len(odd) if odd[:1] == b"f" else 18))
    found = asked(tmp_path, exchange(1, 0, "/before"), other, exchange(3, 4, "/page"))
    assert [start_ms for start_ms, _ in found] == [0, 4000]


def test_none_there_ends_it_and_an_error_does_not(tmp_path: Path) -> None:
    assert asked(
        tmp_path,
        exchange(1, 0, "/robots.txt", ROBOTS),
        exchange(2, 3, "/robots.txt", b"", 503),
        exchange(3, 6, "/robots.txt", b"", 429),
        exchange(4, 9, "/robots.txt", ROBOTS, 404),
    ) == [(0, 2000), (3000, 2000), (6000, 2000), (9000, 0)]


def test_what_the_crawl_takes_for_no_rules_changes_nothing(tmp_path: Path) -> None:
    """A part, a packed file under the name of a plain one, one that cannot be unpacked, one that was cut, and what only
    is called so."""
    packed = gzip.compress(b"User-agent: *\nDisallow:\n" + bytes(range(256)) * 9)
    cut = exchange(5, 12, "/robots.txt", b"User-agent: *\n").replace(
        b"WARC-IP-Address", b"WARC-Truncated: length\r\nWARC-IP-Address", 1
    )
    assert asked(
        tmp_path,
        exchange(1, 0, "/robots.txt", ROBOTS),
        exchange(2, 3, "/robots.txt", b"", 206),
        exchange(3, 6, "/robots.txt", packed),
        exchange(4, 9, "/robots.txt", packed[:-20], coding=b"gzip"),
        cut,
        exchange(6, 15, "/robots.txt?of=b.test", OTHERS_ROBOTS),
        exchange(7, 18, "/robots.txt", packed, coding=b"gzip"),
    ) == [(0, 2000), (3000, 2000), (6000, 2000), (9000, 2000), (12_000, 2000), (15_000, 2000), (18_000, 0)]


def test_a_robots_txt_that_is_stored_already_asks_for_the_same_again(tmp_path: Path) -> None:
    """By the same host after it had another one for a while, and by another host."""
    filler = b"#" * WriterConfig().revisit_min_bytes
    told = [("a", ROBOTS + filler), ("a", OTHERS_ROBOTS + filler), ("a", ROBOTS + filler), ("b", ROBOTS + filler)]
    with WarcWriter(tmp_path, "test", "none") as writer:
        for second, (host, body) in enumerate(told):
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
            begun = datetime(2024, 5, 1, 10, 0, second, tzinfo=UTC)
            url = f"http://{host}.test/robots.txt"
            writer.write(Exchange(url, "192.0.2.1", begun, b"", head, body, fetch_ms=100, kind="robots"))
    (path,) = warc_files(tmp_path)
    with Reader(path, types=("revisit",)) as reader:
        assert len(list(reader)) == 2
    visits = fetch_times([path], "ulwembu")
    assert [(visit.host, visit.asked_ms) for visit in visits] == [
        ("http://a.test", 2000),
        ("http://a.test", 0),
        ("http://a.test", 2000),
        ("http://b.test", 2000),
    ]


def test_rules_that_are_stored_once_hold_for_each_host_that_has_them(tmp_path: Path) -> None:
    def known(number: int, second: float, body: bytes, rules: bytes) -> bytes:
        digest = b"WARC-Payload-Digest: sha1:%s\r\nWARC-IP-Address" % rules
        return exchange(number, second, "/robots.txt", body).replace(b"WARC-IP-Address", digest, 1)

    def again(number: int, second: float, rules: bytes) -> bytes:
        return known(number, second, b"", rules).replace(b"WARC-Type: response", b"WARC-Type: revisit", 1)

    assert asked(
        tmp_path,
        again(1, 0, b"A"),
        exchange(2, 3, "/page"),
        known(3, 5, ROBOTS, b"A").replace(b"a.test", b"b.test"),
        known(4, 8, OTHERS_ROBOTS, b"B").replace(b"a.test", b"b.test"),
        again(5, 10, b"B"),
        again(6, 11, b"A"),
        again(7, 14, b"of-an-earlier-crawl"),
        exchange(8, 15, "/page2"),
    ) == [(0, 2000), (3000, 2000), (5000, 2000), (8000, 0), (10_000, 0), (11_000, 2000), (14_000, 0), (15_000, 0)]


def test_a_page_of_that_address_is_no_robots_txt(tmp_path: Path) -> None:
    """Somebody linked to it. Who reads other rules off it than the crawl accuses or absolves it wrongly."""
    as_page, as_rules = b"kind: page\r\n", b"kind: robots\r\n"
    assert asked(
        tmp_path,
        exchange(1, 0, "/robots.txt", ROBOTS, told=as_rules),
        exchange(2, 3, "/robots.txt", OTHERS_ROBOTS, told=as_page),
        exchange(3, 6, "/robots.txt", OTHERS_ROBOTS, told=as_rules),
        exchange(4, 9, "/robots.txt", ROBOTS, told=as_page),
        exchange(5, 12, "/page"),
    ) == [(0, 2000), (3000, 2000), (6000, 0), (9000, 0), (12_000, 0)]


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (b"compress", ROBOTS),
        (b"gzip, gzip", gzip.compress(OTHERS_ROBOTS)),
        (b"gzip", OTHERS_ROBOTS),
        (b"gzip", gzip.compress(OTHERS_ROBOTS) + b"and more"),
        (b"gzip", gzip.compress(OTHERS_ROBOTS * 20_000)[:-20]),
    ],
    ids=["unknown", "several", "not_there", "more_behind", "cut"],
)
def test_a_coding_that_the_crawl_cannot_read_is_not_read(tmp_path: Path, coding: bytes, body: bytes) -> None:
    """Unknown, several, announced and not there, with more behind it, or cut after more than counts."""
    delay_of_rules = b"User-agent: *\nCrawl-delay: 3\n"
    assert asked(
        tmp_path,
        exchange(1, 0, "/robots.txt", delay_of_rules),
        exchange(2, 4, "/robots.txt", body, coding=coding),
        exchange(3, 8, "/robots.txt", b"", coding=coding),
        exchange(4, 12, "/robots.txt", delay_of_rules, 404, coding=coding),
    ) == [(0, 3000), (4000, 3000), (8000, 0), (12_000, 0)]


def test_unreadable_rules_that_are_stored_already_are_none_either(tmp_path: Path) -> None:
    unreadable = exchange(2, 4, "/robots.txt", OTHERS_ROBOTS, coding=b"compress")
    again = exchange(3, 8, "/robots.txt", coding=b"compress")
    digest = b"WARC-Payload-Digest: sha1:A\r\nWARC-IP-Address"
    unreadable, again = (one.replace(b"WARC-IP-Address", digest, 1) for one in (unreadable, again))
    again = again.replace(b"WARC-Type: response", b"WARC-Type: revisit", 1)
    found = asked(tmp_path, exchange(1, 0, "/robots.txt", ROBOTS), unreadable, again, exchange(4, 12, "/page"))
    assert found == [(0, 2000), (4000, 2000), (8000, 2000), (12_000, 2000)]


def test_a_robots_txt_that_has_moved_holds_for_whom_it_was_asked_for(tmp_path: Path) -> None:
    """From its end on, and for where it is only if it is that host's own; its redirect changes nothing."""

    def there(number: int, second: float, path: str, body: bytes) -> bytes:
        told = b"kind: robots\r\nsource: http://a.test\r\n"
        return exchange(number, second, path, body, told=told).replace(b"http://a.test/", b"http://b.test/")

    def of_b(number: int, second: float) -> bytes:
        return exchange(number, second, "/page").replace(b"http://a.test/", b"http://b.test/")

    def moved(number: int, second: float) -> bytes:
        return exchange(number, second, "/robots.txt", status=301, told=b"kind: robots\r\n")

    assert asked(
        tmp_path,
        moved(1, 0),
        there(2, 1, "/elsewhere.txt", ROBOTS),
        exchange(3, 1.05, "/under-way-meanwhile"),
        exchange(4, 3, "/page"),
        of_b(5, 4),
        moved(6, 5),
        there(7, 6, "/robots.txt", ROBOTS.replace(b"2", b"3")),
        exchange(8, 7, "/page"),
        of_b(9, 8),
        exchange(10, 9, "/robots.txt", OTHERS_ROBOTS, told=b"kind: robots\r\nsource: http://a.test\r\n"),
        exchange(11, 10, "/page"),
    ) == [
        (0, 0),
        (1000, 0),
        (1050, 0),
        (3000, 2000),
        (4000, 0),
        (5000, 2000),
        (6000, 3000),
        (7000, 3000),
        (8000, 3000),
        (9000, 0),
        (10_000, 0),
    ]


def test_where_an_archive_does_not_say_for_whom_it_was_asked_for_a_moved_robots_txt_holds_for_nobody(
    tmp_path: Path,
) -> None:
    """As before that was written down: the host that it lies on would be bound to another's Crawl-delay."""
    elsewhere = exchange(1, 0, "/of-another-host.txt", ROBOTS, told=b"kind: robots\r\n")
    assert asked(tmp_path, elsewhere, exchange(2, 1, "/page")) == [(0, 0), (1000, 0)]


def test_the_order_of_the_records_does_not_count(tmp_path: Path) -> None:
    """Several workers write several files, and robots.txt may lie in any of them."""
    (tmp_path / "pages.warc").write_bytes(exchange(1, 3, "/1") + exchange(2, 4, "/2"))
    (tmp_path / "robots.warc").write_bytes(exchange(3, 0, "/robots.txt", ROBOTS))
    visits = list(fetch_times([tmp_path / "pages.warc", tmp_path / "robots.warc"], "ulwembu"))
    proof = verify_plain(visits, 500, 0)
    assert [(gap.gap_ms, gap.needed_ms) for gap in proof.short] == [(900, 2000)]
    assert proof.short[0].later.endswith("/2")
    assert proof.shortest_ms == 900
    assert proof.gaps == 4


def test_a_converted_copy_beside_a_file_is_no_second_fetch(tmp_path: Path) -> None:
    for name in ("a.warc.xz", "a.warc.gz", "a.warc", "b.warc.gz", "a.warc.xz.cdxj", "c.warc.xz.open"):
        (tmp_path / name).touch()
    assert [path.name for path in warc_files(tmp_path)] == ["a.warc.xz", "b.warc.gz"]


def test_each_file_is_held_against_the_delays_it_was_written_with(tmp_path: Path) -> None:
    def info(said: bytes) -> bytes:
        head = (
            "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
            "WARC-Date: 2024-05-01T10:00:00Z\r\nContent-Type: application/warc-fields\r\n"
            f"Content-Length: {len(said)}\r\n\r\n"
        ).encode()
        return head + said + b"\r\n\r\n"

    quick, slow, strange = (tmp_path / f"{name}.warc" for name in ("quick", "slow", "strange"))
    pages = [exchange(number, number / 2, f"/{number}") for number in range(6)]
    quick.write_bytes(info(b'frontier: {"delay_ms": 400, "address_delay_ms": 100}\r\n') + pages[0] + pages[1])
    slow.write_bytes(info(b'frontier: {"delay_ms": 600, "address_delay_ms": 100}\r\n') + pages[2] + pages[3])
    strange.write_bytes(info(b"frontier: wild\r\n") + pages[4] + pages[5])
    files = [quick, slow, strange]
    least = written_with(files)
    assert least == {quick: (400, 100), slow: (600, 100)}
    proof = verify_plain(fetch_times(files, "ulwembu", least), 300, 0)
    assert [(gap.gap_ms, gap.needed_ms) for gap in proof.short] == [(400, 600), (400, 600)]
    assert len(verify_plain(fetch_times(files, "ulwembu"), 500, 0).short) == 5


def test_a_file_of_records_without_an_end_is_read_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records whose metadata never come, as most of a stranger's; of those that lie near theirs none is missing."""
    monkeypatch.setattr("crawler.records.fetch_times._MOST_OPEN", 2)
    pages = [exchange(number, number, f"/{number}") for number in range(4)]
    parts = [page.partition(b"WARC/1.1\r\nWARC-Type: metadata") for page in pages]
    heads, tails = [head for head, _, _ in parts], [mark + tail for _, mark, tail in parts]
    assert [ms for ms, _ in asked(tmp_path, heads[0], heads[1], tails[0], tails[1])] == [0, 1000]
    assert [ms for ms, _ in asked(tmp_path, *heads, *tails)] == [0, 1000]
    assert len(list(fetch_times([tmp_path / "a.warc"], "ulwembu"))) == 2
