"""The records of one exchange."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from archive import Exchange, RevisitTarget
from archive.index.cdxj import entry_of, memory_record, timestamp
from archive.messages.digests import digest
from archive.messages.fields import archived_head, record_ids, target_uri
from archive.messages.fields import record as build_record
from archive.messages.sniff import payload_type
from archive.reading.record import Record
from archive.tools.verify import verify
from archive.writing.config import WriterConfig
from archive.writing.journal import Group
from archive.writing.packing import Job, freeze, thaw
from archive.writing.records import Style, build, resource, warc_fields, warcinfo
from archive.writing.seen import SeenPayloads
from tests.unit.archive.pages import HEAD, START, page


def records(exchange: Exchange, seen: RevisitTarget | None = None, style: Style | None = None) -> list[Record]:
    style = style or Style()
    built = build(exchange, digest(style.algorithm, exchange.payload), seen, style)
    return [memory_record(data) for data in built.records]


def index_line(record: Record) -> bytes:
    entry = entry_of(record)
    assert entry is not None
    return entry.line("a.warc", 0, 0, shared=False)


def test_group_is_response_request_metadata_tied_together() -> None:
    response, request, metadata = records(page(1))
    assert [record.type for record in (response, request, metadata)] == ["response", "request", "metadata"]
    assert request.field("WARC-Concurrent-To") == metadata.field("WARC-Concurrent-To") == response.id
    assert len({response.id, request.id, metadata.id}) == 3
    assert response.date == request.date == "2026-01-02T03:04:06.678901Z"
    assert response.headers.get_all("WARC-Protocol") == ["http/1.1", "tls/1.3"]
    assert response.field("WARC-Cipher-Suite") == "TLS_AES_128_GCM_SHA256"
    assert response.field("WARC-IP-Address") == "192.0.2.7"
    assert response.field("WARC-Identified-Payload-Type") == "text/html"
    assert response.field("WARC-Identified-Content-Language") == "zul,eng"
    assert metadata.block() == (
        b"kind: page\r\nfetchTimeMs: 12\r\nvia: http://host0.example/\r\nlanguages: zul,eng\r\nyield: 0.5\r\n"
    )


def test_head_is_kept_but_for_the_removed_transfer_coding() -> None:
    response = records(page(1))[0]
    length = len(page(1).payload)
    expected = HEAD.replace(b"Transfer-Encoding", b"X-Crawler-Transfer-Encoding").removesuffix(b"\r\n")
    assert response.block() == expected + b"Content-Length: %d\r\n\r\n" % length + page(1).payload
    untouched = replace(page(1), dechunked=False)
    assert records(untouched)[0].block() == HEAD + untouched.payload


@pytest.mark.parametrize(
    ("head", "truncated", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", False, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", True, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nA: b\r\n\r\n",
            True,
            b"HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 9\r\nA: b\r\nContent-Length: 5\r\n\r\n",
        ),
        (
            b"HTTP/1.0 200\r\ntransfer-encoding : chunked\r\nContent-Length: 9\r\n\r\n",
            False,
            b"HTTP/1.0 200\r\nX-Crawler-transfer-encoding : chunked\r\nX-Crawler-Content-Length: 9\r\n"
            b"Content-Length: 5\r\n\r\n",
        ),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n", False, None),
    ],
)
def test_lengths_are_true(head: bytes, truncated: bool, expected: bytes | None) -> None:
    assert archived_head(head, 5, dechunked=True, truncated=truncated) == (expected or head)


@pytest.mark.parametrize("end", [b"\n\n", b"\n\r\n", b"\r\n\n", b"\r\n\r\n"])
def test_a_payload_begins_behind_the_first_empty_line(end: bytes) -> None:
    payload = b"<p>a\r\n\r\nb\n\nc\n\r\nd"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html" + end
    response = records(replace(page(1), response_head=head, payload=payload, dechunked=False))[0]
    assert response.payload() == response.body() == payload


@pytest.mark.parametrize("line", [b"HTTP/1.0 O12 0K", b"HTTP/1.1200", b"GET", b"GET ", b"\xff GET /"])
def test_a_block_without_a_status_line_is_payload_from_its_beginning(line: bytes) -> None:
    block = line + b"\r\nContent-Type: text/html\r\n\r\n<p>"
    fields = [("WARC-Type", "response"), ("Content-Type", "application/http;msgtype=response")]
    response = memory_record(build_record("1.1", fields, block))
    assert response.http is None
    assert response.payload() == response.body() == block


@pytest.mark.parametrize("line", [b"POST /a HTTP/1.1", b"M-SEARCH * HTTP/1.1", b"get\t/", b"\r\nPOST /a HTTP/1.1"])
def test_what_a_request_carries_begins_behind_its_head(line: bytes) -> None:
    fields = [("WARC-Type", "request"), ("Content-Type", "application/http;msgtype=request")]
    request = memory_record(build_record("1.1", fields, line + b"\r\nHost: a.test\r\n\r\na=b\r\n\r\nc"))
    assert request.payload() == request.body() == b"a=b\r\n\r\nc"


@pytest.mark.parametrize("kind", ["resource", "metadata", "conversion"])
def test_a_text_that_begins_like_a_request_is_payload_from_its_beginning(kind: str) -> None:
    block = b"Sawubona mhlaba\r\n\r\nUnjani?"
    fields = [("WARC-Type", kind), ("WARC-Target-URI", "http://a.test/x"), ("Content-Type", "text/plain")]
    record = memory_record(build_record("1.1", fields, block))
    assert record.payload() == record.body() == block


def test_an_answer_whose_record_does_not_say_what_it_is_has_its_head_taken_off() -> None:
    fields = [("WARC-Type", "response"), ("WARC-Target-URI", "http://a.test/x")]
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUnjani?"
    record = memory_record(build_record("1.1", fields, block))
    assert (record.payload(), record.media_type) == (b"Unjani?", "text/plain")


@pytest.mark.parametrize("blank", [" ", "\t", " \t "])
def test_a_field_that_goes_on_in_the_next_line_is_whole(blank: str) -> None:
    fields = [("WARC-Type", "resource"), ("WARC-Profile", f"one\r\n{blank}two"), ("WARC-Date", "x")]
    record = memory_record(build_record("1.1", fields, b""))
    assert record.field("WARC-Profile") == record.headers.get("WARC-Profile") == "one two"


def test_of_two_content_types_the_first_counts_for_the_payload_too() -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>"
    fields = [("WARC-Type", "resource"), ("Content-Type", "text/plain"), ("Content-Type", "application/http")]
    resource = memory_record(build_record("1.1", fields, block))
    assert resource.http is None
    assert resource.payload() == block


@pytest.mark.parametrize("status", [b"HTTP/1.1 100 Continue", b"HTTP/2 103 Hints", b"HTTP/1.1  100 ", b"HTTP 100"])
def test_a_payload_begins_behind_interim_answers(tmp_path: Path, status: bytes) -> None:
    interim, payload = status + b"\r\n\r\n", b"<p>"
    head = b"HTTP/1.x 200 OK\r\nContent-Type: text/html\r\n\r\n"
    exchange = replace(page(1), response_head=interim + head, payload=payload, dechunked=False)
    response = records(exchange)[0]
    assert (response.payload(), response.media_type) == (payload, "text/html")
    for digested in (payload, head + payload):  # writers who know nothing of interim answers have the latter
        built = build(exchange, digest("sha1", digested), None, Style())
        (tmp_path / "a.warc").write_bytes(built.records[0])
        assert [problem.code for problem in verify(tmp_path / "a.warc")] == ["no-warcinfo"]


@pytest.mark.parametrize(
    ("date", "stamp", "right"),
    [
        ("2016-09-19T17:20:24Z", "20160919172024", ("1.0", "1.1")),
        ("2016-09-19T17:20:24.123456789Z", "20160919172024", ("1.1",)),
        ("2016-09-19T17:20Z", "20160919172000", ("1.1",)),
        ("2016-09-19", "20160919000000", ("1.1",)),
        ("2016-09", "20160901000000", ("1.1",)),
        ("2016", "20160101000000", ("1.1",)),
        ("2016-13", "20161301000000", ()),
        ("2016-09-19T17:20:24", "20160919172024", ()),
        ("2016-09-19T17:20:24.Z", "20160919172024", ()),
        ("2016-09Z", "20160901000000", ()),
        ("20160919172024", "20160919172024", ()),
    ],
)
def test_dates_are_as_exact_as_the_version_allows(
    tmp_path: Path, date: str, stamp: str, right: tuple[str, ...]
) -> None:
    assert timestamp(date) == stamp
    for version in ("1.0", "1.1"):
        built = resource("http://h/", START, "text/plain", b"x", Style(version))
        usual = memory_record(built).date.encode()
        (tmp_path / "a.warc").write_bytes(built.replace(usual, date.encode()))
        codes = [problem.code for problem in verify(tmp_path / "a.warc") if problem.level == "error"]
        assert codes == ([] if version in right else ["date"])


def test_a_revisit_as_the_standard_has_it_for_an_example() -> None:
    head = b'HTTP/1.x 304 Not Modified\r\nETag: "a"\r\n\r\n'
    fields = b"WARC-Type: revisit\r\nWARC-Target-URI: http://h/\r\nContent-Type: message/http"
    record = memory_record(b"WARC/1.1\r\n%b\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n" % (fields, len(head), head))
    assert record.http is not None
    assert (record.http.status, record.payload()) == (304, b"")


def test_digests_hold_and_warcio_agrees() -> None:
    for style in (Style(), Style("1.0", "sha256")):
        built = build(page(1), digest(style.algorithm, page(1).payload), None, style)
        for read in ArchiveIterator(io.BytesIO(b"".join(built.records)), check_digests="raise"):
            read.content_stream().read()
            assert read.digest_checker.passed is True
            assert read.rec_headers.protocol == f"WARC/{style.version}"


def test_version_1_0_has_whole_seconds() -> None:
    response = records(page(1), style=Style("1.0"))[0]
    assert response.date == "2026-01-02T03:04:06Z"


def test_revisit_refers_to_the_first() -> None:
    target = RevisitTarget("http://first.example/", "2025-01-01T00:00:00Z", "<urn:uuid:x>")
    revisit = records(page(1), target)[0]
    assert revisit.type == "revisit"
    assert revisit.field("WARC-Profile") == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert revisit.field("WARC-Refers-To") == "<urn:uuid:x>"
    assert revisit.field("WARC-Refers-To-Target-URI") == "http://first.example/"
    assert revisit.field("WARC-Payload-Digest") == digest("sha1", page(1).payload)
    assert revisit.field("WARC-Truncated") == "length"
    assert b"truncated" not in index_line(revisit)
    assert revisit.block().endswith(b"\r\n\r\n")
    assert revisit.http is not None
    assert revisit.http.status == 200


def test_not_modified_is_a_revisit_too() -> None:
    target = RevisitTarget("http://host1.example/page/1", "2025-01-01T00:00:00Z")
    head = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
    revisit = records(page(1, response_head=head, payload=b"", not_modified=target))[0]
    assert revisit.field("WARC-Profile").endswith("/revisit/server-not-modified")
    assert revisit.block() == head
    assert not revisit.field("WARC-Payload-Digest")
    assert not revisit.field("WARC-Truncated")


def test_no_answer_leaves_request_and_metadata() -> None:
    request, metadata = records(page(1, response_head=b"", payload=b"", metadata={"result": "timeout"}))
    assert metadata.field("WARC-Concurrent-To") == request.id
    assert b"result: timeout" in metadata.block()
    (alone,) = records(page(1, response_head=b"", payload=b"", request_bytes=b""))
    assert not alone.field("WARC-Concurrent-To")


def test_nothing_breaks_out_of_a_header_line() -> None:
    bad = page(
        1, url="http://e.example/a b\r\nWARC-Type: x", ip="1\r\n2", cipher="a\nb", metadata={"k\r\n": "v\r\nw: z"}
    )
    response = records(bad)[0]
    assert response.type == "response"
    assert response.url == "http://e.example/a%20b%0D%0AWARC-Type:%20x"
    assert b"k: v  w: z\r\n" in records(bad)[2].block()


def test_truncated_records_say_so() -> None:
    response = records(page(1, truncated="length"))[0]
    assert response.field("WARC-Truncated") == "length"
    assert b'"truncated": "length"' in index_line(response)


def test_digests_are_tokens_as_the_grammar_has_it() -> None:
    assert digest("sha1", b"") == "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
    assert digest("sha256", b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_names_of_fields_are_tokens_as_the_grammar_has_it() -> None:
    assert warc_fields({"a b": "x", "c:d": "y", "é": "z"}) == b"a-b: x\r\nc-d: y\r\n-: z\r\n"


def test_chunks_are_no_part_of_a_payload() -> None:
    chunks = b"5\r\nabcde\r\n0\r\n\r\n"
    chunked = page(1, payload=chunks, dechunked=False)
    alike = page(2, payload=chunks, dechunked=False, response_head=b"HTTP/1.1 200 OK\r\n\r\n")
    job = Job([Group(number, "", "h", freeze(one), 0) for number, one in enumerate((chunked, alike))])
    job.build(WriterConfig(), SeenPayloads(10))
    assert [built.payload_digest for built in job.built] == [digest("sha1", b"abcde"), digest("sha1", chunks)]


def built_of(config: WriterConfig, seen: SeenPayloads, *exchanges: Exchange) -> list[Record]:
    """The first record of each, in one pack, which then stands in a file."""
    job = Job([Group(number, "", "h", freeze(one), 0) for number, one in enumerate(exchanges)])
    job.build(config, seen)
    job.remember(seen)
    return [memory_record(built.records[0]) for built in job.built]


def test_a_repeat_is_whole_and_of_the_least_size() -> None:
    config = WriterConfig(revisit_min_bytes=300)
    small, least = b"a" * 299, b"b" * 300
    cut = page(5, payload=least, truncated="length")
    pages = [page(number, payload=payload) for number, payload in enumerate((small, small, least, least))]
    seen = SeenPayloads(10)
    found = built_of(config, seen, *pages, cut)
    assert [one.type for one in found] == ["response", "response", "response", "revisit", "response"]
    assert [one.type for one in built_of(config, seen, cut, *pages[1:3])] == ["response", "response", "revisit"]
    assert [one.type for one in built_of(config, SeenPayloads(10), cut, pages[2])] == ["response", "response"]


def test_what_an_earlier_crawl_has_is_known_to_later_packs_by_any_url() -> None:
    """It is asked by URL."""
    payload = b"a" * 300
    target = RevisitTarget("http://a.example/", "2026-01-01T00:00:00Z", "<urn:x:1>")
    config = WriterConfig(earlier=lambda asked: {digest: target for url, digest in asked if url == page(1).url})
    seen = SeenPayloads(10)
    found = built_of(config, seen, page(1, payload=payload)) + built_of(config, seen, page(2, payload=payload))
    assert [(one.type, one.field("WARC-Refers-To")) for one in found] == [("revisit", "<urn:x:1>")] * 2


def test_warcinfo_and_resource() -> None:
    info = memory_record(warcinfo("a.warc", START, {"software": "x", "robots": ["a", 1]}, Style()))
    assert info.block() == b'software: x\r\nrobots: ["a",1]\r\n'
    assert info.field("WARC-Filename") == "a.warc"
    made = memory_record(resource("urn:x:y", START, "text/plain", b"abc", Style()))
    assert (made.type, made.block(), made.url) == ("resource", b"abc", "urn:x:y")


def test_freeze_and_thaw() -> None:
    for exchange in (page(1), page(2, not_modified=RevisitTarget("u", "d", "i"), truncated="time")):
        assert thaw(freeze(exchange)) == exchange


def test_ids_are_uuids() -> None:
    ids = record_ids(3) + record_ids(3)
    assert len(set(ids)) == 6
    assert all(one.startswith("<urn:uuid:") and len(one) == 47 and one[24] == "4" for one in ids)


def test_target_uri_is_ascii() -> None:
    assert target_uri("http://e.example/ü?%20") == "http://e.example/%C3%BC?%20"


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b"%PDF-1.7", "application/pdf"),
        (b"\xef\xbb\xbf <!-- c --><!DOCTYPE HTML>", "text/html"),
        (b'<?xml version="1.0"?><rss version="2.0">', "application/rss+xml"),
        (b'{"a": 1}', "application/json"),
        (b"hello", ""),
        (b"RIFFxxxxWEBP", "image/webp"),
    ],
)
def test_payload_types(payload: bytes, expected: str) -> None:
    assert payload_type(b"HTTP/1.1 200 OK\r\n\r\n", payload) == expected


def test_a_url_with_half_a_letter_is_one_that_can_be_written_and_referred_to() -> None:
    """It ended the writer, whatever else that had to store."""
    one = replace(page(1), url="http://h.example/\ud800\udcff")
    built = build(one, digest("sha1", one.payload), None, Style())
    assert b"\r\nWARC-Target-URI: http://h.example/%ED%A0%80%ED%B3%BF\r\n" in built.records[0]
    assert built.target is not None
    assert built.target.url == "http://h.example/%ED%A0%80%ED%B3%BF"


def test_what_another_archive_calls_its_record_breaks_none_of_ours() -> None:
    """Bytes that are no UTF-8 in its id or date ended the writer."""
    revisit = records(page(1), RevisitTarget("http://h.example/", "2026\udce9", "<urn:uuid:\udce9>"))[0]
    assert (revisit.field("WARC-Refers-To"), revisit.field("WARC-Refers-To-Date")) == ("<urn:uuid: >", "2026")
