"""``corpus extract --earlier``: pages that a crawl has by reference are documents of that crawl, too."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from archive import Exchange, RevisitTarget, WarcWriter, WriterConfig
from archive.index.cdxj import index_file, instant, timestamp
from archive.messages.fields import record
from archive.writing.earlier import Earlier, indexes_of
from corpus.cli import main
from corpus.document import Document
from corpus.extraction import Extraction
from corpus.records import Captured
from corpus.repeats import Again
from tests.web.pdf import Piece, document

APRIL, MAY = datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def url(number: int) -> str:
    return f"https://news.example/izindaba/{number}"


def page(number: int, month: datetime, text: str = "", **changes: Any) -> Exchange:
    text = text or f"Namhlanje abantu baqoqane edolobheni ukuze bazwe izindaba ezintsha zosuku lwama-{number}."
    payload = f"<!DOCTYPE html><html><title>{number}</title><p>{text}</p><p>{text[::-1] * 4}</p></html>".encode()
    fields: dict[str, Any] = {
        "url": url(number),
        "ip": "192.0.2.7",
        "started": month + timedelta(seconds=number),
        "request_bytes": b"GET / HTTP/1.1\r\nHost: news.example\r\n\r\n",
        "response_head": HEAD,
        "payload": payload,
        "protocol": "http/1.1",
        "metadata": {"feed-published": "2026-03-30T10:00:00Z"} if number == 3 else {},
        "fetch_ms": 12,
    }
    return Exchange(**{**fields, **changes})


def crawl(folder: Path, *pages: Exchange, earlier: Path | None = None, kind: str = "xz") -> Path:
    find = Earlier(indexes_of([str(earlier)])).find if earlier else None
    with WarcWriter(folder, "crawl", kind, config=WriterConfig(reserve_bytes=0, earlier=find)) as writer:
        for one in pages:
            writer.write(one)
        writer.sync()
    return folder


@pytest.fixture(params=["xz", "gz"])
def months(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """Of ten pages of May eight are as in April, one has changed, one is new; a page of April is gone."""
    april = crawl(tmp_path / "april", *(page(number, APRIL) for number in range(10)), kind=request.param)
    changed = page(5, MAY, "Ngalolu suku izwi elisha lifike kubantu bonke abahlala emzini omkhulu.")
    may = [page(number, MAY) for number in range(1, 10) if number != 5]
    return april, crawl(tmp_path / "may", changed, *may, page(99, MAY), earlier=april, kind=request.param)


def extract(*arguments: object, out: Path) -> tuple[int, list[dict[str, Any]]]:
    code = main(["extract", *map(str, arguments), "-o", str(out), "-q"])
    return code, [json.loads(row) for row in out.read_text().splitlines()]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_month_as_it_was(months: tuple[Path, Path], tmp_path: Path, processes: int) -> None:
    april, may = months
    out = tmp_path / "may.jsonl"
    _, alone = extract(may, out=out)
    assert sorted(row["url"] for row in alone) == [url(5), url(99)]
    _, before = extract(april, out=tmp_path / "april.jsonl")
    code, whole = extract(may, "--earlier", april, "--processes", processes, out=out)
    assert code == 0
    assert sorted(row["url"] for row in whole) == sorted(map(url, [*range(1, 10), 99]))
    assert whole[:2] == alone
    texts = {row["url"]: row["text"] for row in before}
    for row in whole[2:]:
        assert row["text"] == texts[row["url"]]
        assert row["date"].startswith("2026-05-01")
    ids = [row["id"] for row in whole]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {row["id"] for row in before}
    assert {row["url"]: row.get("published_from") for row in whole}[url(3)] == "feed"


@pytest.mark.parametrize(
    ("source", "fed", "told"),
    [
        ("", "2026-03-30", ("2026-03-29", "")),
        ("printed", "2026-03-30", ("2026-03-30", "feed")),
        ("feed", "2026-03-30", ("2026-03-30", "feed")),
        ("printed", "", ("2026-03-29", "printed")),
        ("feed", "", ("2026-03-29", "feed")),
    ],
)
def test_a_feed_of_the_month_goes_before_what_a_page_prints(source: str, fed: str, told: tuple[str, str]) -> None:
    before = Document("one", url(1), date="2026-04-01T00:00:00Z", published="2026-03-29", published_from=source)
    again = Again(Captured("two", url(1), "2026-05-01T00:00:00Z", "may:0+0"), 1, "", fed).document(before)
    assert (again.id, again.published, again.published_from) == ("two", *told)


def test_what_was_referred_to_is_counted(
    months: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    april, may = months
    out = tmp_path / "may.jsonl"
    main(["extract", str(may), "-o", str(out), "--json", "-q"])
    alone = json.loads(capsys.readouterr().err)
    main(["extract", str(may), "-o", str(out), "--earlier", str(april), "--json", "-q"])
    whole = json.loads(capsys.readouterr().err)
    assert alone["dropped"]["revisit"] == 8
    assert "revisit" not in whole["dropped"]
    assert whole["records"] == alone["records"]
    assert whole["documents"] == alone["documents"] + 8
    main(["extract", str(may), "-o", str(out), "--earlier", str(april), "--min-words", "1000", "--json", "-q"])
    assert json.loads(capsys.readouterr().err)["dropped"]["few_words"] == 10


def test_what_pages_embedded_is_no_document_of_a_later_month(tmp_path: Path) -> None:
    april = crawl(tmp_path / "april", page(1, APRIL, kind="requisite"), page(2, APRIL))
    may = crawl(tmp_path / "may", page(1, MAY, kind="requisite"), page(2, MAY), earlier=april)
    code, rows = extract(may, "--earlier", april, out=tmp_path / "may.jsonl")
    assert code == 0
    assert [row["url"] for row in rows] == [url(2)]


def test_texts_are_kept_once_also_of_repeats(tmp_path: Path) -> None:
    """One page by two addresses: the second is a copy, in April and in May."""
    text = "Amanzi omfula agcwele ngemva kwemvula enkulu ebinethe izolo ebusuku kuyo yonke indawo."
    april = crawl(tmp_path / "april", page(1, APRIL, text), page(2, APRIL, text))
    may = crawl(tmp_path / "may", page(1, MAY, text), page(2, MAY, text), earlier=april)
    code, rows = extract(may, "--earlier", april, out=tmp_path / "may.jsonl")
    assert code == 0
    assert len(rows) == 1


def test_the_answer_of_the_month_counts_not_only_its_content(tmp_path: Path) -> None:
    """What says "not found" now, or asks not to be kept, is none of this month's documents."""
    heads = [
        HEAD.replace(b"200 OK", b"404 Not Found"),
        HEAD.replace(b"\r\n\r\n", b"\r\nX-Robots-Tag: noindex\r\n\r\n"),
        HEAD.replace(b"text/html", b"image/png"),
        HEAD,
    ]
    pages = [page(number, MAY, response_head=head) for number, head in enumerate(heads)]
    april = crawl(tmp_path / "april", *(page(number, APRIL) for number in range(4)))
    may = crawl(tmp_path / "may", *pages, earlier=april)
    _, whole = extract(crawl(tmp_path / "whole", *pages), out=tmp_path / "whole.jsonl")
    _, rows = extract(may, "--earlier", april, out=tmp_path / "may.jsonl")
    assert [row["url"] for row in rows] == [row["url"] for row in whole] == [url(3)]


@pytest.mark.parametrize("media", [b"application/pdf", b"application/octet-stream"])
def test_pdf_documents_by_reference(tmp_path: Path, media: bytes) -> None:
    sheet = document([Piece("Namhlanje abantu baqoqane edolobheni ukuze bazwe izindaba ezintsha zosuku.")])
    head = HEAD.replace(b"text/html; charset=utf-8", media)
    april = crawl(tmp_path / "april", page(1, APRIL, response_head=head, payload=sheet))
    may = crawl(tmp_path / "may", page(1, MAY, response_head=head, payload=sheet), earlier=april)
    code, rows = extract(may, "--earlier", april, out=tmp_path / "may.jsonl")
    assert code == 0
    assert [(row["url"], row["date"][:7]) for row in rows] == [(url(1), "2026-05")]


def test_not_modified_is_as_it_was(tmp_path: Path) -> None:
    april = crawl(tmp_path / "april", page(0, APRIL), page(1, APRIL))
    pages = []
    for number, said in enumerate((b"all", b"noarchive")):
        target = RevisitTarget(url(number), instant(timestamp(page(number, APRIL).started.isoformat())))
        head = b"HTTP/1.1 304 Not Modified\r\nX-Robots-Tag: %s\r\n\r\n" % said
        pages.append(page(number, MAY, response_head=head, payload=b"", not_modified=target))
    _, rows = extract(crawl(tmp_path / "may", *pages), "--earlier", april, out=tmp_path / "may.jsonl")
    assert [row["url"] for row in rows] == [url(0)]


def test_this_month_s_feed_says_when_it_was_published(tmp_path: Path) -> None:
    own = page(5, APRIL).payload.replace(b"<title>", b'<meta name="pubdate" content="2026-03-01"><title>')
    april = crawl(tmp_path / "april", page(1, APRIL), page(3, APRIL), page(4, APRIL), page(5, APRIL, payload=own))
    said = {"feed-published": "2026-04-02T10:00:00Z"}
    pages = [page(1, MAY, metadata=said), page(3, MAY, metadata=said), page(4, MAY), page(9, MAY, metadata=said)]
    pages.append(page(5, MAY, metadata=said, payload=own))
    may = crawl(tmp_path / "may", *pages, earlier=april)
    _, rows = extract(may, "--earlier", april, out=tmp_path / "may.jsonl")
    assert {row["url"]: row["published"] for row in rows} == {
        url(1): "2026-04-02T10:00:00Z",
        url(3): "2026-04-02T10:00:00Z",
        url(4): "",
        url(5): "2026-03-01",
        url(9): "2026-04-02T10:00:00Z",
    }


def test_content_in_files_of_others(tmp_path: Path) -> None:
    """Without digests or ids of records, as ARC has them; an index computes the digests."""
    april = tmp_path / "april"
    april.mkdir()
    payload = page(1, APRIL).payload
    body = HEAD + payload
    block = b"http://news.example/1 192.0.2.7 20260401000000 text/html %d\n%s\n" % (len(body), body)
    head = b"1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n"
    arc = april / "old.arc"
    arc.write_bytes(b"filedesc://old.arc 0.0.0.0 20260401000000 text/plain %d\n%s\n" % (len(head), head) + block)
    index_file(arc)
    may = crawl(tmp_path / "may", page(1, MAY, url="http://news.example/1"), earlier=april)
    code, rows = extract(may, "--earlier", april, out=tmp_path / "may.jsonl")
    assert code == 0
    assert [row["url"] for row in rows] == ["http://news.example/1"]
    assert rows[0]["date"].startswith("2026-05-01")


def test_a_month_that_was_not_named_is_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What May has by reference to April, June does not find in May. What June itself has twice is none of that."""
    april = crawl(tmp_path / "april", page(1, APRIL), page(2, APRIL))
    may = crawl(tmp_path / "may", page(1, MAY), page(2, MAY), earlier=april)
    (tmp_path / "all").mkdir()
    for path in (*april.iterdir(), *may.iterdir()):
        shutil.copy(path, tmp_path / "all")
    text = "Amanzi omfula agcwele ngemva kwemvula enkulu ebinethe izolo ebusuku kuyo yonke indawo."
    month = datetime(2026, 6, 1, tzinfo=UTC)
    copies = [page(3, month, text), page(3, month, text, url="https://news.example/copy")]
    june = crawl(tmp_path / "june", page(1, month), page(2, month), *copies, earlier=tmp_path / "all")
    out = tmp_path / "june.jsonl"
    code, rows = extract(june, "--earlier", may, out=out)
    assert code == 1
    assert len(rows) == 1
    assert "-WARN 2 revisits refer to earlier content" in capsys.readouterr().err
    main(["extract", str(june), "-o", str(out), "--earlier", str(may), "--json", "-q"])
    dropped = json.loads(capsys.readouterr().err.splitlines()[-1])["dropped"]
    assert (dropped["lost"], dropped["revisit"]) == (2, 1)
    code, rows = extract(june, "--earlier", may, "--earlier", april, out=out)
    assert code == 0
    assert len(rows) == 3
    assert not capsys.readouterr().err


def test_each_revisit_of_what_is_missed_counts(tmp_path: Path) -> None:
    april = crawl(tmp_path / "april", page(1, APRIL))
    often = (page(1, MAY + timedelta(hours=hours)) for hours in range(3))
    may = crawl(tmp_path / "may", *often, page(2, MAY), earlier=april)
    other = crawl(tmp_path / "other", page(3, APRIL), kind="none")
    extraction = Extraction()
    files = [[str(path) for path in folder.glob("*.warc*") if path.suffix != ".cdxj"] for folder in (may, other)]
    assert [document.url for document in extraction.documents(*files)] == [url(2)]
    assert (extraction.tally.dropped["lost"], extraction.tally.dropped["revisit"]) == (3, 0)


def test_each_revisit_of_what_is_missed_counts_and_none_of_the_first_instant_of_a_crawl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    april, other = crawl(tmp_path / "april", page(1, APRIL)), crawl(tmp_path / "other", page(9, APRIL))
    own = [page(0, MAY), page(0, MAY, url=url(10))]
    may = crawl(tmp_path / "may", *own, page(1, MAY), page(1, MAY + timedelta(hours=1)), earlier=april)
    out = tmp_path / "may.jsonl"
    assert main(["extract", str(may), "-o", str(out), "--earlier", str(other), "--json", "-q"]) == 1
    dropped = json.loads(capsys.readouterr().err.splitlines()[-1])["dropped"]
    assert (dropped["lost"], dropped["revisit"]) == (2, 1)


def test_what_is_said_without_dates(tmp_path: Path) -> None:
    """A record without a date does not hide that a month is missing; a revisit of who knows when is none of that."""
    april = crawl(tmp_path / "april", page(1, APRIL))
    may = crawl(tmp_path / "may", page(1, MAY), earlier=april, kind="none")
    (file,) = may.glob("*.warc")
    ids = [("WARC-Record-ID", f"<urn:uuid:00000000-0000-4000-8000-{number:012}>") for number in range(2)]
    undated = record("1.1", [("WARC-Type", "metadata"), ids[0]], b"x")
    fields = [("WARC-Target-URI", url(2)), ("WARC-Date", "2026-05-01T00:00:00Z")]
    profile = ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/server-not-modified")
    someday = record("1.1", [("WARC-Type", "revisit"), ids[1], *fields, profile], b"")
    file.write_bytes(file.read_bytes() + undated + someday)
    extraction = Extraction()
    other = crawl(tmp_path / "other", page(3, APRIL), kind="none")
    assert not list(extraction.documents([str(file)], [str(path) for path in other.glob("*.warc")]))
    assert (extraction.tally.dropped["lost"], extraction.tally.dropped["revisit"]) == (1, 1)


def test_a_damaged_copy_of_a_month_does_not_hide_a_sound_one(tmp_path: Path) -> None:
    april = crawl(tmp_path / "april", page(1, APRIL), page(2, APRIL), kind="none")
    may = crawl(tmp_path / "may", page(1, MAY), page(2, MAY), earlier=april)
    (file,) = april.glob("*.warc")
    broken = tmp_path / "broken.warc"
    stored = file.read_bytes()
    broken.write_bytes(stored[: stored.rindex(b"</html>")])
    code, rows = extract(may, "--earlier", broken, "--earlier", april, out=tmp_path / "may.jsonl")
    assert code == 1
    assert [row["url"] for row in rows] == [url(1), url(2)]


@pytest.mark.parametrize("dedup", ["0", "16"])
def test_what_was_looked_at_several_times_is_one_document(tmp_path: Path, dedup: str) -> None:
    """As it is where the month has stored it: the first capture of a payload, also by other addresses and answers."""
    april = crawl(tmp_path / "april", page(1, APRIL), page(2, APRIL), page(2, APRIL, url=url(22)))
    target = RevisitTarget(url(2), instant(timestamp(page(2, APRIL).started.isoformat())))
    head = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    later = [MAY + timedelta(hours=hours) for hours in range(4)]
    may = [page(1, later[0]), page(1, later[1])]
    may += [page(2, later[1], response_head=head, payload=b"", not_modified=target), page(2, later[2])]
    may += [page(2, later[3], url=url(22)), page(1, later[3])]
    out = tmp_path / "may.jsonl"
    month = crawl(tmp_path / "may", *may, earlier=april)
    code, rows = extract(month, "--earlier", april, "--dedup-mib", dedup, out=out)
    assert code == 0
    assert [row["url"] for row in rows] == [url(1), url(2)]
    assert [row["date"][:19] for row in rows] == ["2026-05-01T00:00:01", "2026-05-01T01:00:02"]


def test_what_cannot_be(months: tuple[Path, Path], tmp_path: Path) -> None:
    april, may = months
    out = tmp_path / "may.jsonl"
    assert main(["extract", str(may), "-o", str(out), "--earlier", "-"]) == 2
    assert main(["extract", str(may), "-o", str(out), "--earlier", str(tmp_path / "none")]) == 2
    assert not out.exists()
    out.write_text('{"id": "1", "text": "a"}\n')
    assert main(["extract", str(may), "-o", str(tmp_path / "other.jsonl"), "--earlier", str(out)]) == 2
    (file,) = (path for path in april.glob("*.warc*") if path.suffix != ".cdxj")
    stored = file.read_bytes()
    assert main(["extract", str(may), "-o", str(file), "--format", "jsonl", "--earlier", str(april)]) == 2
    assert file.read_bytes() == stored
