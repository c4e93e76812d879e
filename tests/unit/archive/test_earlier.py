"""What an earlier crawl has stored is referred to, and never anything that has no content."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest

from archive import ArchiveError, Earlier, Exchange, Reader, Record, WarcWriter, WriterConfig
from archive.cli import main
from archive.commands.common import FAULTS, GOOD, USAGE
from archive.index import cdxj
from archive.index.checking import check
from archive.tools.verify import verify
from archive.writing.earlier import _records, indexes_of
from tests.unit.archive.pages import page

SAME = b"<html>" + b"the same as last month " * 40
OTHER = b"<html>" + b"new this month " * 40


def crawl(folder: Path, *exchanges: Exchange, earlier: list[Path] | None = None, kind: str = "xz", **how: str) -> Path:
    """Written by a crawl that knows of earlier ones; its folder."""
    find = Earlier(indexes_of(list(map(str, earlier)))).find if earlier else None
    config = WriterConfig(reserve_bytes=0, earlier=find, **how)  # type: ignore[arg-type]
    with WarcWriter(folder, "crawl", kind, config=config) as writer:
        for exchange in exchanges:
            writer.write(exchange)
        writer.sync()
    assert verify(writer.finished[0]) == []
    return folder


def captures(folder: Path) -> dict[str, Record]:
    (path,) = (path for path in folder.glob("*.warc*") if path.suffix != ".cdxj")
    return {record.url: record for record in Reader(path, types=["response", "revisit"])}


def types(folder: Path) -> list[str]:
    return [record.type for record in captures(folder).values()]


def refers(record: Record) -> tuple[str, str, str]:
    names = ("WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")
    return record.field(names[0]), record.field(names[1]), record.field(names[2])


@pytest.mark.parametrize(("kind", "digest"), [("xz", "sha1"), ("gz", "sha256"), ("zst", "sha1"), ("none", "sha1")])
def test_what_has_not_changed_is_referred_to(tmp_path: Path, kind: str, digest: str) -> None:
    pages = [page(number) for number in range(30)]
    first = crawl(tmp_path / "1", *pages, kind=kind, digest=digest)
    changed = {page(number).url: page(number, payload=OTHER + b"%d" % number) for number in (3, 20)}
    later = [changed.get(one.url, one) for one in reversed(pages)]
    second = crawl(tmp_path / "2", *later, page(99), earlier=[first], kind=kind, digest=digest)
    stored = captures(first)
    for url, record in captures(second).items():
        if url in changed or url == page(99).url:
            assert record.type == "response"
        else:
            assert (record.type, record.payload()) == ("revisit", b"")
            assert record.field("WARC-Profile").endswith("/identical-payload-digest")
            assert refers(record) == (stored[url].id, url, stored[url].date)
            assert record.field("WARC-Payload-Digest") == stored[url].field("WARC-Payload-Digest")


def test_the_newest_of_several_crawls_is_taken(tmp_path: Path) -> None:
    one = crawl(tmp_path / "1", page(1, payload=SAME, started=page(1).started))
    two = crawl(tmp_path / "2", page(1, payload=SAME, started=page(2).started))
    crawl(tmp_path / "3", page(1, payload=SAME, started=page(3).started), earlier=[two, one])
    assert refers(captures(tmp_path / "3")[page(1).url])[0] == captures(two)[page(1).url].id


def test_a_merged_index_stands_for_those_of_its_folder(tmp_path: Path) -> None:
    first = crawl(tmp_path / "1", *(page(number) for number in range(9)))
    crawl(first, *(page(number) for number in range(9, 20)))
    merged = first / "all.index"
    assert main(["index", "--merge", str(merged), *map(str, first.glob("*.cdxj"))]) == GOOD
    second = crawl(tmp_path / "2", *(page(number) for number in range(20)), earlier=[merged])
    assert types(second) == ["revisit"] * 20
    assert all(refers(record)[0] for record in captures(second).values())


def test_where_the_files_are_elsewhere_the_index_is_enough(tmp_path: Path) -> None:
    """And a later month still refers to the record that has the content."""
    first = crawl(tmp_path / "1", page(1, payload=SAME))
    (index,) = first.glob("*.cdxj")
    (alone := tmp_path / "alone.cdxj").write_bytes(index.read_bytes())
    second = crawl(tmp_path / "2", page(1, payload=SAME, started=page(2).started), earlier=[alone], version="1.0")
    assert refers(captures(second)[page(1).url]) == ("", page(1).url, "2026-01-02T03:04:06Z")
    third = crawl(tmp_path / "3", page(1, payload=SAME, started=page(3).started), earlier=[second, first])
    assert refers(captures(third)[page(1).url])[0] == captures(first)[page(1).url].id


def test_dates_of_a_1_0_crawl_are_to_the_second(tmp_path: Path) -> None:
    first = crawl(tmp_path / "1", page(1))
    second = crawl(tmp_path / "2", page(1), earlier=[first], version="1.0")
    assert refers(captures(second)[page(1).url])[2] == "2026-01-02T03:04:06Z"


def test_a_repeat_leads_to_the_content_while_that_is_there(tmp_path: Path) -> None:
    """Two sites had one payload: it was stored with the first, which is taken out later."""
    stored, repeated = page(0, payload=SAME), page(1, payload=SAME)
    first = crawl(tmp_path / "1", stored, repeated)
    assert types(first) == ["response", "revisit"]
    second = crawl(tmp_path / "2", repeated, earlier=[first])
    content = captures(first)[stored.url]
    assert refers(captures(second)[repeated.url]) == (content.id, stored.url, content.date)
    third = crawl(tmp_path / "3", repeated, earlier=[second])
    assert types(third) == ["response"], "no index that is named has the content"
    fourth = crawl(tmp_path / "4", repeated, page(4, payload=SAME), earlier=[second, first])
    assert {refers(record)[0] for record in captures(fourth).values()} == {content.id}, "also at a URL that is new"
    assert main(["remove", "--force", "--quiet", "host0.example", str(first)]) == GOOD
    fifth = crawl(tmp_path / "5", repeated, earlier=[second, first])
    assert types(fifth) == ["response"]


@pytest.mark.parametrize(
    "changes",
    [
        {"response_head": b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"},
        {"truncated": "length"},
        {"url": "http://host1.example/page/other"},
        {"payload": SAME[:200]},
    ],
)
def test_what_is_no_whole_answer_of_the_url_is_not_referred_to(tmp_path: Path, changes: dict[str, object]) -> None:
    first = crawl(tmp_path / "1", page(1, **{"payload": SAME, **changes}))
    payload = changes.get("payload", SAME)
    assert types(crawl(tmp_path / "2", page(1, payload=payload), earlier=[first])) == ["response"]


def test_an_index_that_is_gone_or_broken_costs_the_saving_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = crawl(tmp_path / "1", page(1, payload=SAME), page(4, payload=OTHER))
    (index,) = first.glob("*.cdxj")
    digests = {url: record.field("WARC-Payload-Digest") for url, record in captures(first).items()}
    earlier = Earlier(indexes_of([str(first)]))
    sound = index.read_bytes()
    key = sound.partition(b" ")[0]
    wrong = (
        b" x\n",
        b' 2026 {"url": "http://a.example/"}\n',
        b" 20260102030406 {}\n",
        b' 20260102030406 {"digest": 1}\n',
    )
    with caplog.at_level(logging.WARNING, "archive.writing.earlier"):
        for broken in (None, b"", *(key + rest for rest in wrong)):
            index.unlink()
            if broken is not None:
                index.write_bytes(broken)
            assert earlier.find(digests.items()) == {}
            index.write_bytes(sound)
    assert [str(index) in record.getMessage() for record in caplog.records] == [True]
    assert earlier.find(digests.items()).keys() == set(digests.values()), "it is asked again"


@pytest.mark.parametrize("kind", ["xz", "gz", "zst", "none"])
def test_a_record_that_is_damaged_or_another_is_not_referred_to(tmp_path: Path, kind: str) -> None:
    payload = random.Random(1).randbytes(4000)
    first = crawl(tmp_path / "1", page(1, payload=payload), kind=kind)
    (path,) = (path for path in first.glob("*.warc*") if path.suffix != ".cdxj")
    data = path.read_bytes()
    (index,) = first.glob("*.cdxj")
    (row,) = cdxj.lookup(index, page(1).url)
    at = int(row["offset"]) + int(row["length"]) // 2  # most of what is stored is the payload
    path.write_bytes(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :])
    assert types(crawl(tmp_path / "2", page(1, payload=payload), kind=kind, earlier=[first])) == ["response"]
    (other,) = (one for one in crawl(tmp_path / "o", page(4), kind=kind).glob("*.warc*") if one.suffix != ".cdxj")
    path.write_bytes(other.read_bytes())
    assert types(crawl(tmp_path / "3", page(1, payload=payload), kind=kind, earlier=[first])) == ["response"]


def flipped(folder: Path, text: bytes) -> None:
    """Another letter in place of the last of the text, in the folder's plain file."""
    (path,) = (path for path in folder.glob("*.warc") if path.suffix != ".cdxj")
    data = path.read_bytes()
    path.write_bytes(data.replace(text, text[:-1] + b"X"))
    assert path.read_bytes() != data


def test_behind_8_mib_of_a_unit_the_index_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page(number) for number in range(9)]
    first = crawl(tmp_path / "1", *pages)
    inner = sorted(record.inner for record in captures(first).values())
    for place, found in ((inner[4], 5), (inner[4] - 1, 4)):
        monkeypatch.setattr("archive.writing.earlier._MOST_INNER", place)
        _records.cache_clear()
        later = captures(crawl(tmp_path / str(place), *pages, earlier=[first]))
        assert [record.type for record in later.values()] == ["revisit"] * 9
        assert sum(bool(refers(record)[0]) for record in later.values()) == found


def test_of_the_four_newest_the_first_that_is_sound_is_taken(tmp_path: Path) -> None:
    months = [
        crawl(tmp_path / str(month), page(1, payload=SAME, started=page(month).started), kind="none")
        for month in range(1, 6)
    ]
    for broken in (4, 3, 2, 1):
        flipped(months[broken], SAME)
        later = crawl(tmp_path / f"with {broken} broken", page(1, payload=SAME), earlier=months)
        assert types(later) == ["revisit" if broken > 1 else "response"]
        assert broken == 1 or refers(captures(later)[page(1).url])[0] == captures(months[broken - 1])[page(1).url].id


def test_of_a_record_too_large_for_memory_the_digest_is_asked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = page(1, payload=random.Random(1).randbytes(40_000) + SAME)
    first = crawl(tmp_path / "1", large, kind="none")
    monkeypatch.setattr("archive.reading.reader._IN_MEMORY", 20_000)
    monkeypatch.setattr("archive.storage.source._READ", 10_000)
    assert types(crawl(tmp_path / "2", large, earlier=[first])) == ["revisit"]
    flipped(first, SAME)
    assert types(crawl(tmp_path / "3", large, earlier=[first])) == ["response"]


@pytest.mark.parametrize("place", ['"-1"', '"99999999999999999999999"', '"5"', "99999999"])
def test_a_place_that_is_none_costs_the_saving(tmp_path: Path, place: str) -> None:
    first = crawl(tmp_path / "1", page(1, payload=SAME))
    (index,) = first.glob("*.cdxj")
    row = cdxj.lookup(index, page(1).url)[0]
    index.write_text(index.read_text().replace(f'"offset": "{row["offset"]}"', f'"offset": {place}'))
    assert types(crawl(tmp_path / "2", page(1, payload=SAME), earlier=[first])) == ["response"]


def test_an_index_is_checked_before_it_is_relied_on(tmp_path: Path) -> None:
    first = crawl(tmp_path / "1", *(page(number) for number in range(60)))
    (index,) = first.glob("*.cdxj")
    lines = index.read_bytes().splitlines(keepends=True)
    assert check(index) == {"sha1"}
    index.write_bytes(b"")
    assert check(index) == set()
    for wrong, what in (
        ([*lines[1:], lines[0]], "is not sorted by bytes"),
        ([*lines, b"zz)/ 20260102030405 {}\n"], "has a line that is none of an index: 'zz\\)/ 20"),
        ([b" CDX N b a m s k r M S V g\n", *lines], "has a line that is none of an index: ' CDX N"),
        ([b"\x1f\x8b\x08 nothing that is read\n"], "has a line that is none of an index"),
        ([b"http://" + lines[0]], "has other keys than python -m archive index makes: 'http://"),
    ):
        index.write_bytes(b"".join(wrong))
        with pytest.raises(ArchiveError, match=f"{index.name} {what}"):
            check(index)
    with pytest.raises(ValueError, match=r"no \.cdxj files in this folder; did you mean .*2/warc\?"):
        indexes_of([str(crawl(tmp_path / "2" / "warc", page(1)).parent)])
    with pytest.raises(ValueError, match=r"no \.cdxj files in this folder; python -m archive index"):
        indexes_of([str(tmp_path)])


def test_a_large_index_is_checked_in_places(tmp_path: Path) -> None:
    line = (
        'org,example)/{:05} 20260102030405 {{"url": "http://example.org/", "offset": "0", "filename": "x.warc.gz"}}\n'
    )
    lines = [line.format(number) for number in range(20_000)]
    index = tmp_path / "all.cdxj"
    index.write_text("".join(lines))
    assert check(index, 1) == set()
    index.write_text("".join([*lines, *lines]))
    with pytest.raises(ArchiveError, match="is not sorted"):
        check(index, 1)
    index.write_text("".join(lines) + "zz) cut off in the mid")
    with pytest.raises(ArchiveError, match="cut off"):
        check(index, 1)


def test_of_a_url_with_very_many_captures_the_newest_are_looked_at(tmp_path: Path) -> None:
    index = tmp_path / "feed.cdxj"
    row = 'example,a)/{} 2026{:010} {{"url": "http://a.example/feed", "offset": "0", "filename": "x"}}\n'
    index.write_text("".join(row.format(name, n) for name in ("a", "feed", "g") for n in range(9000)))
    newest, rows = cdxj.newest(index, "http://a.example/feed"), cdxj.lookup(index, "http://a.example/feed")
    assert len(rows) == 9000
    assert 1000 < len(newest) < 9000
    assert newest == rows[-len(newest) :]
    for name in ("", "a", "g", "h", "fee"):
        url = f"http://a.example/{name}"
        newest, rows = cdxj.newest(index, url), cdxj.lookup(index, url)
        assert len(rows) == (9000 if name in ("a", "g") else 0)
        assert newest == rows[len(rows) - len(newest) :]


def test_get_writes_the_content_of_a_repeat(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    first = crawl(tmp_path / "1", page(0, payload=SAME), page(1, payload=SAME))
    second = crawl(tmp_path / "2", page(1, payload=SAME), earlier=[first])
    (file,) = second.glob("*.warc.xz")
    url = page(1).url
    assert main(["get", str(first), url]) == GOOD
    assert capsysbinary.readouterr().out == SAME
    for given in (second, file):
        assert main(["get", str(given), url, "--earlier", str(first)]) == GOOD
        assert capsysbinary.readouterr().out == SAME
    assert main(["get", str(second), url]) == FAULTS
    said = capsysbinary.readouterr()
    assert said.out == b""
    assert f"a repeat: the content is that of {page(0).url} at ".encode() in said.err
    assert main(["get", str(second), url, "--earlier", str(tmp_path)]) == USAGE
    assert f"--earlier {tmp_path}: no WARC files in this folder".encode() in capsysbinary.readouterr().err
    assert main(["get", "--http", str(second), url]) == GOOD
    assert capsysbinary.readouterr().out.startswith(b"HTTP/1.1 200 OK\r\n")
