"""Archives in, documents out: the command as users run it."""

import contextlib
import errno
import gzip
import io
import json
import lzma
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import brotli
import pytest
import zstandard

import bench.extract
from archive import Exchange
from archive.cli import main as archive_main
from corpus.cli import main
from corpus.report import Report
from corpus.sources import documents
from corpus.tally import Tally
from corpus.vertical.reading import read_vertical
from tests.integration.corpus.warcs import ENGLISH, ZULU, exchange, page, write
from tests.integration.crawler.harness import wait_for
from tests.small_model import CZECH, write_small_model
from tests.small_model import ENGLISH as ENGLISH_NEWS
from tests.web.pdf import Piece, Style, document

REPO = Path(__file__).parents[3]
SHARED = REPO.parent / "shared" / "data"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def summary(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().err.splitlines()[-1])
    return found


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_languages_by_a_model_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", [exchange("1", page(CZECH, ENGLISH_NEWS).encode())])
    model = write_small_model(tmp_path / "czech.model")
    out = tmp_path / "out.jsonl"
    assert run("extract", path, "-o", out, "--model", model, "--language", "ces") == 0
    assert [row["text"] for row in rows(out)] == [CZECH]
    capsys.readouterr()
    assert run("extract", path, "-o", out, "--language", "ces") == 2
    assert capsys.readouterr().err.endswith("; of a model of your own: --model FILE\n")
    assert run("extract", path, "-o", out, "--model", path, "--language", "ces") == 2
    assert "is no language model" in capsys.readouterr().err


def test_statistics_by_a_model_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", [exchange("1", page(CZECH).encode())])
    model = write_small_model(tmp_path / "czech.model")
    for more, language in (((), "und"), (("--model", model), "ces")):
        assert run("stats", path, "-q", *more) == 0
        assert capsys.readouterr().out.startswith(f"language\t{language}\t1\t")
    assert run("stats", path, "--model", path) == 2
    assert "is no language model" in capsys.readouterr().err


def test_publication(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = (
        '<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "%s", "author": "N \\n Dube"}'
    )
    exchanges = [  # captured in January and February 2024
        exchange("a", page(*ZULU[:1], more=script % "2023-12-31T10:00:00+02:00" + "</script>").encode()),
        exchange("b", page(*ZULU[1:2], more=script % "2024-05-31" + "</script>").encode()),
    ]
    path = write(tmp_path / "w", exchanges)
    for processes in (1, 2):
        assert run("extract", path, "-o", tmp_path / "out.jsonl", "--processes", processes) == 0
        assert [(row["published"], row["author"], row["site"]) for row in rows(tmp_path / "out.jsonl")] == [
            ("2023-12-31T10:00:00+02:00", "N Dube", ""),
            ("", "N Dube", ""),
        ]
    for form in ("vert", "prevert"):
        assert run("extract", path, "-o", tmp_path / f"out.{form}") == 0
        tags = [row for row in (tmp_path / f"out.{form}").read_text().splitlines() if row.startswith("<doc")]
        assert tags[0].endswith('" published="2023-12-31T10:00:00+02:00" author="N Dube">')
        assert tags[1].endswith('" author="N Dube">')
        assert "published" not in tags[1]
    capsys.readouterr()
    assert run("stats", tmp_path / "out.vert", "-q") == 0
    assert "a.example\t2\t" in capsys.readouterr().out


def test_publication_by_the_feed(tmp_path: Path) -> None:
    """Captured in January and February 2024; each page with a sentence of its own."""

    def item(path: str, published: str, more: str = "") -> Exchange:
        body = page(f"{ZULU[0]} {path}", more=more).encode()
        return replace(exchange(path, body), metadata={"source": "feed:x", "feed-published": published})

    script = '<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "2023-11-30"}</script>'
    exchanges = [
        item("a", "2023-12-31T08:00:00Z"),
        exchange("b", page(f"{ZULU[0]} b").encode()),
        item("c", "2023-12-31"),
        item("d", "2023-12-31T08:00:00Z", script),
        item("e", "2024-05-31T08:00:00Z"),
        item("f", "0001-01-01T00:00:00Z"),
        item("", "2023-12-31"),
        replace(item("gg", "2023-12-31"), response_head=b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"),
        exchange("h", page(f"{ZULU[0]} h").encode()),
        item("i", "2023-12-31", "<h1>Izindaba</h1><p>12 Meyi 2023</p>"),
        exchange("j", page(f"{ZULU[0]} j", more="<h1>Izindaba</h1><p>12 Meyi 2023</p>").encode()),
    ]
    path = write(tmp_path / "w", exchanges)
    for processes in (1, 2):
        assert run("extract", path, "-o", tmp_path / "out.jsonl", "--processes", processes) == 0
        told = {row["url"][-1]: (row["published"], row.get("published_from")) for row in rows(tmp_path / "out.jsonl")}
        assert told == {
            "a": ("2023-12-31T08:00:00Z", "feed"),
            "b": ("", None),
            "c": ("2023-12-31", "feed"),
            "d": ("2023-11-30", None),
            "e": ("", None),
            "f": ("", None),
            "/": ("", None),
            "h": ("", None),
            "i": ("2023-12-31", "feed"),
            "j": ("2023-05-12", "printed"),
        }
    assert [row["url"][-1] for row in rows(tmp_path / "out.jsonl")] == list("abcdef/hij")


@pytest.mark.parametrize("name", ["a.jsonl.xz", "a.vert"])
def test_documents_are_not_extracted_again(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).touch()
    assert run("extract", tmp_path / name, "-o", tmp_path / "out.vert") == 2
    assert f"{name}: documents already" in capsys.readouterr().err
    write(tmp_path / "w", [exchange("1", page(*ZULU).encode())], "none").rename(tmp_path / name)
    assert run("extract", tmp_path / name, "-o", tmp_path / "out.jsonl") == 0, "its first bytes come before its name"
    assert len(rows(tmp_path / "out.jsonl")) == 1
    for begins in ('{"text": "Sawubona"}\n', "<doc>\n</doc>\n"):
        (tmp_path / "zulu.json").write_text(begins, encoding="utf-8")
        assert run("extract", tmp_path / name, tmp_path / "zulu.json", "-o", tmp_path / "out.jsonl") == 2
        assert "zulu.json: documents already" in capsys.readouterr().err
    assert len(rows(tmp_path / "out.jsonl")) == 1


@pytest.mark.parametrize("compression", ["xz", "gz", "zst", "none"])
def test_every_compression_gives_the_same(tmp_path: Path, compression: str) -> None:
    path = write(tmp_path / "w", [exchange("1", page(*ZULU).encode())], compression)
    assert run("extract", path, "-o", tmp_path / "out.jsonl") == 0
    [row] = rows(tmp_path / "out.jsonl")
    assert row["text"].split("\n") == ZULU
    assert (row["url"], row["title"], row["language"]) == ("https://a.example/1", "Izindaba", "zul")
    assert [part["language"] for part in row["paragraphs"]] == ["zul"] * 3
    assert row["words"] == sum(part["words"] for part in row["paragraphs"]) == sum(len(text.split()) for text in ZULU)
    assert row["date"].startswith("2024-")
    assert len(row["id"]) == 36


def test_what_a_page_embeds_is_no_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that is served as plain text, and what a site says in place of a picture."""
    script = exchange("a.js", f"var a = '{ZULU[0]}'".encode(), "text/plain")
    missing = exchange("a.png", page(ENGLISH[0]).encode())
    dated = '<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "2023-11-30"}</script>'
    framed = exchange("b.png", page(ENGLISH[1], more=dated).encode())
    said = [replace(one, kind="requisite") for one in (script, missing, framed)]
    path = write(tmp_path / "w", [*said, exchange("1", page(*ZULU).encode())])
    for processes in (1, 2):
        assert run("extract", path, "-o", tmp_path / "out.jsonl", "--processes", processes, "--json") == 0
        assert [row["url"] for row in rows(tmp_path / "out.jsonl")] == ["https://a.example/1"]
        assert summary(capsys)["dropped"]["requisite"] == 3


def test_what_stands_apart_from_an_article_is_kept_on_demand(tmp_path: Path) -> None:
    article = f"<div>{''.join(f'<p>{text}</p>' for text in ZULU)}</div>"
    teaser, comment = "Lo mbhalo usekhasini elilandelayo.", "Ngiyabonga ngale ndaba emnandi."
    html = f"{article}<ul><li>{comment}</li></ul><a href=/2><p>{teaser}</p></a>"
    path = write(tmp_path / "w", [exchange("1", html.encode())])
    for options, texts in (([], ZULU), (["--whole-pages"], [*ZULU, comment])):
        assert run("extract", path, "-o", tmp_path / "out.jsonl", *options) == 0
        [row] = rows(tmp_path / "out.jsonl")
        assert row["text"].split("\n") == texts


CODINGS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("br", brotli.compress),
    ("zstd", zstandard.ZstdCompressor().compress),
    ("gzip, br", lambda data: brotli.compress(gzip.compress(data))),
]


@pytest.mark.parametrize(("coding", "encode"), CODINGS, ids=[name for name, _ in CODINGS])
def test_content_codings(tmp_path: Path, coding: str, encode: Callable[[bytes], bytes]) -> None:
    coded = exchange("1", encode(page(*ZULU).encode()), head=f"Content-Encoding: {coding}\r\n")
    run("extract", write(tmp_path / "w", [coded]), "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "\n".join(ZULU) + "\n\n"


@pytest.mark.parametrize(
    ("charset", "content_type", "meta"),
    [
        ("windows-1252", "text/html; charset=windows-1252", ""),
        ("iso-8859-2", "text/html", '<meta charset="iso-8859-2">'),
        ("utf-16", "text/html", ""),
        ("windows-1252", "text/html", ""),
    ],
)
def test_encodings(tmp_path: Path, charset: str, content_type: str, meta: str) -> None:
    text = "Die skrywer sê dat dié boek oor die gemeenskap gaan en hoe almal saam geleef het in daardie ou tyd."
    body = page(text).replace("<title>", meta + "<title>").replace("ê", "ë").encode(charset)
    run("extract", write(tmp_path / "w", [exchange("1", body, content_type)]), "-o", tmp_path / "out.jsonl")
    assert rows(tmp_path / "out.jsonl")[0]["text"] == text.replace("ê", "ë")


def test_a_bomb_is_read_to_its_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = gzip.compress(page(ZULU[0]).encode() + b" " * (40 << 20))
    bomb = exchange("1", body, head="Content-Encoding: gzip\r\n")
    assert run("extract", write(tmp_path / "w", [bomb]), "-o", tmp_path / "out.jsonl", "--json") == 0
    found = summary(capsys)
    assert (found["documents"], found["notes"]) == (1, {"cut": 1})


def test_segments_one_behind_another_are_one_document(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page(*ZULU).encode()
    heads = [
        "WARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Segment-Number: 1",
        "WARC-Type: continuation\r\nWARC-Segment-Origin-ID: <urn:x:1>\r\nWARC-Segment-Number: 2\r\n"
        f"WARC-Segment-Total-Length: {len(block)}",
    ]
    archive = tmp_path / "x.warc"
    with archive.open("wb") as file:
        for head, part in zip(heads, (block[:250], block[250:]), strict=True):
            more = f"WARC-Target-URI: http://a.example/1\r\nContent-Length: {len(part)}"
            file.write(f"WARC/1.1\r\n{head}\r\n{more}\r\n\r\n".encode() + part + b"\r\n\r\n")
    for processes in ("1", "2"):
        assert run("extract", archive, "-o", tmp_path / "out.jsonl", "--processes", processes) == 0
        [row] = rows(tmp_path / "out.jsonl")
        assert row["text"].split("\n") == ZULU
        assert "truncated" not in row


def test_a_page_whose_coding_breaks_off_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = gzip.compress(page(*ZULU).encode())
    bodies = [packed, packed[:-60], b"x" + packed]
    pages = [exchange(str(number), body, head="Content-Encoding: gzip\r\n") for number, body in enumerate(bodies, 1)]
    archive = write(tmp_path / "w", pages)
    assert run("extract", archive, "-o", tmp_path / "out.jsonl", "--json", "--dedup-mib", "0") == 0
    assert [row.get("truncated") for row in rows(tmp_path / "out.jsonl")] == [None, "coding"]
    assert summary(capsys)["notes"] == {"truncated": 1}
    assert archive_main(["get", str(archive), "https://a.example/1"]) == 0
    assert archive_main(["get", str(archive), "https://a.example/2"]) == 1
    assert "coding breaks off or has a fault" in capsys.readouterr().err


def test_what_the_archive_has_only_the_beginning_of_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = write(
        tmp_path / "w", [exchange("1", page(ZULU[0]).encode()), exchange("2", page(ZULU[1]).encode())], "none"
    )
    for field, why in ((b"WARC-Truncated: time", "time"), (b"WARC-Segment-Number: 1", "segment")):
        cut = tmp_path / "cut.warc"
        cut.write_bytes(archive.read_bytes().replace(b"WARC-IP-Address:", field + b"\r\nWARC-IP-Address:", 1))
        assert run("extract", cut, "-o", tmp_path / "out.jsonl", "--json") == 0
        assert [row.get("truncated") for row in rows(tmp_path / "out.jsonl")] == [why, None]
        assert summary(capsys)["notes"] == {"truncated": 1}


def many() -> list[Exchange]:
    """One page for each thing that may happen to one."""
    html = page(*ZULU).encode()
    return [
        exchange("1", html),
        exchange("2", page(*ZULU, title="Enye").encode()),
        exchange("3", page(*ENGLISH).encode()),
        exchange("4", page(ENGLISH[0] + " Indeed.", ZULU[0] + " Yebo.").encode()),
        exchange("5", page(ZULU[1], ZULU[2] + " Kuphelile.").encode()),
        exchange("gone", b"<p>nothing here", status=404),
        exchange("image", b"\x89PNG\r\n\x1a\n" + bytes(500), "image/png"),
        exchange("robots.txt", b"User-agent: *\nDisallow: /private and more text to be found", "text/plain"),
        exchange("binary", bytes(range(256)) * 20, "text/html"),
        exchange("menu", page().encode()),
        exchange("again", html),
    ]


def test_every_drop_has_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", many())
    code = run("extract", path, "-o", tmp_path / "o.jsonl", "--language", "zul", "--min-words", 8, "--json")
    found = summary(capsys)
    assert code == 0
    assert found["records"] == found["documents"] + sum(found["dropped"].values())
    dropped = found["dropped"]
    assert dropped.pop("record_type") > 10
    assert dropped == {
        "binary": 1, "duplicate": 1, "language": 1, "media_type": 1, "no_text": 1, "revisit": 1, "robots_txt": 1,
        "status": 1,
    }  # fmt: skip
    assert found["dropped_paragraphs"]["language"] == 3
    assert found["dropped_paragraphs"]["duplicate"] == 1
    by_name = {row["url"][-1]: row for row in rows(tmp_path / "o.jsonl")}
    assert sorted(by_name) == ["1", "4", "5"]
    assert by_name["4"]["text"] == ZULU[0] + " Yebo."
    assert by_name["5"]["text"] == ZULU[2] + " Kuphelile."


@pytest.mark.parametrize(
    ("head", "meta", "kept"),
    [
        ("", "noindex, follow", False),
        ("", "NOARCHIVE", False),
        ("", "nofollow", True),
        ("X-Robots-Tag: noindex\r\n", "", False),
        ("X-Robots-Tag: ulwembu: none\r\n", "", False),
        ("X-Robots-Tag: otherbot: noindex\r\n", "", True),
        ("X-Robots-Tag: unavailable_after: 1 Jan 2030, noarchive\r\n", "", False),
        ("X-Robots-Tag: max-image-preview:large, noindex\r\n", "", False),
        ("X-Robots-Tag: otherbot: nofollow, Ulwembu: noindex\r\n", "", False),
        ("X-Robots-Tag: ulwembu: nofollow, otherbot: noindex\r\n", "", True),
    ],
)
def test_pages_that_ask_not_to_be_kept(tmp_path: Path, head: str, meta: str, kept: bool) -> None:
    html = page(*ZULU).replace("<title>", f'<meta name="robots" content="{meta}"><title>' if meta else "<title>")
    path = write(tmp_path / "w", [exchange("1", html.encode(), head=head)])
    assert run("extract", path, "-o", tmp_path / "o.jsonl", "-q") == 0
    assert len(rows(tmp_path / "o.jsonl")) == kept


def test_a_page_that_asks_the_crawler_by_name_not_to_be_kept(tmp_path: Path) -> None:
    html = page(*ZULU).replace("<title>", '<meta name="Ulwembu" content="noindex"><title>')
    path = write(tmp_path / "w", [exchange("1", html.encode())])
    assert run("extract", path, "-o", tmp_path / "o.jsonl", "-q") == 0
    assert rows(tmp_path / "o.jsonl") == []


def test_duplicates_may_stay_and_few_words_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", many())
    assert run("extract", path, "-o", tmp_path / "o.jsonl", "--dedup-mib", 0, "--min-words", 30, "--json") == 0
    assert summary(capsys)["dropped"]["few_words"] == 1
    assert [row["url"][-1] for row in rows(tmp_path / "o.jsonl")] == ["1", "2", "3", "4"]


def test_damage_is_reported_and_what_is_sound_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = [exchange(str(number), page(ZULU[0] + f" {number}.").encode()) for number in range(4)]
    path = write(tmp_path / "w", pages, "gz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + b"\0\0\0\0" + whole[len(whole) // 2 + 4 :])
    assert run("extract", path, "-o", tmp_path / "out.jsonl") == 1
    assert "-WARN damage: " in capsys.readouterr().err
    assert 1 <= len(rows(tmp_path / "out.jsonl")) <= 4


def test_a_file_that_cannot_be_read_does_not_end_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = write(tmp_path / "w", [exchange("1", page(*ZULU).encode())])
    (tmp_path / "noise.warc").write_bytes(os.urandom(5000))
    assert run("extract", tmp_path / "noise.warc", good, "-o", tmp_path / "out.jsonl") == 1
    assert len(rows(tmp_path / "out.jsonl")) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["extract", "none.warc", "-o", "-"],
        ["extract", "IN", "-o", "no/such/folder/x"],
        ["extract", "IN", "-o", "-", "--language", "xx"],
        ["extract", "IN", "-o", "-", "--min-words", "-1"],
        ["extract", "IN", "-o", "IN"],
        ["extract", "IN"],
        ["stats", "none.jsonl"],
        ["stats", "IN", "--plot", "no/such/folder/x.png"],
        [],
        ["nonsense"],
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", [exchange("1", page(*ZULU).encode())])
    before = path.read_bytes()
    assert run(*(str(path) if argument == "IN" else argument for argument in arguments)) == 2
    assert capsys.readouterr().err
    assert path.read_bytes() == before


def test_vertical(tmp_path: Path) -> None:
    linked = page(ZULU[0].replace("ukuze kuphele", '<a href="/x">ukuze kuphele</a>'), ENGLISH[0])
    path = write(tmp_path / "w", [exchange("1", linked.encode())])
    assert run("extract", path, "-o", tmp_path / "out.vert.xz", "-q") == 0
    text = lzma.decompress((tmp_path / "out.vert.xz").read_bytes()).decode()
    [found] = read_vertical(text.split("\n"))
    assert found.text == ZULU[0] + "\n" + ENGLISH[0]
    assert [paragraph.lang for paragraph in found.paragraphs] == ["zu", "en"]
    assert 'kuphele\t<link="https://a.example/x">\t<length=2>' in text


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "w", many())
    for name in ("a.jsonl.gz", "b.jsonl.gz", "a.vert", "b.vert"):
        run("extract", path, "-o", tmp_path / name, "-q")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert (tmp_path / "a.vert").read_bytes() == (tmp_path / "b.vert").read_bytes()


def test_a_pipe_on_both_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "w", [exchange("1", page(*ZULU).encode())], "gz")
    done = subprocess.run(
        [sys.executable, "-m", "corpus", "extract", "-", "-o", "-", "--format", "text", "-q"],
        input=path.read_bytes(),
        capture_output=True,
        cwd=REPO,
        check=True,
        timeout=240,
    )
    assert done.stdout.decode() == "\n".join(ZULU) + "\n\n"
    assert done.stderr == b""


def test_statistics_of_archives_and_documents_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", many())
    run("extract", path, "-o", tmp_path / "all.jsonl.zst", "--dedup-mib", 0, "-q")
    capsys.readouterr()
    found = []
    for name in (path, tmp_path / "all.jsonl.zst"):
        assert run("stats", name, "--json", "-q") == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert found[0]["total"]["documents"] == 5
    assert set(found[0]["language"]) == {"zul", "eng"}
    assert set(found[0]["host"]) == {"a.example"}
    assert run("stats", path, "-q") == 0
    assert "host\ta.example\t5\t" in capsys.readouterr().out


def test_a_narrow_terminal_cuts_no_number(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    text = "umuntu " * 1_234_567
    path.write_text(json.dumps({"text": text, "language": "zul", "url": "http://along.example/"}), encoding="utf-8")
    near, far = pty.openpty()
    termios.tcsetwinsize(far, (24, 36))
    command = [sys.executable, "-m", "corpus", "stats", str(path), "-q"]
    with subprocess.Popen(command, cwd=REPO, stdout=far, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(far)
        shown = b"".join(iter(lambda: _read(near), b"")).decode()
    os.close(near)
    assert process.returncode == 0
    assert "…" not in shown
    rows = [line.split("│")[1:-1] for line in shown.splitlines() if line.startswith("│")]
    columns = ["".join(row[place].strip() for row in rows) for place in range(5)]
    assert columns[0].startswith("zulall")
    assert columns[2].count("1,234,567") == 6


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # nobody has its other end open any more
        return b""


def test_statistics_as_a_picture(tmp_path: Path) -> None:
    path = write(tmp_path / "w", many())
    assert run("stats", path, "--plot", tmp_path / "p.png", "-q") == 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_without_room_costs_no_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "a b"}\n', encoding="utf-8")
    assert run("stats", tmp_path / "x.jsonl", "--plot", "/dev/full", "-q") == 2
    told = capsys.readouterr()
    assert "all\tall\t1\t2\t3" in told.out
    assert "No space left" in told.err


def test_menus_of_pages_without_markup_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["Ikhaya", "Ezemidlalo", ZULU[0], "Isihlokwana", ZULU[1], "Xhumana", "Imibiko", "Abantu", "Umculo", ZULU[2]]
    text = "\n".join((*lines, "Phezulu")).encode()
    head = (
        f"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: https://a.example/\r\nContent-Length: {len(text)}\r\n"
    )
    (tmp_path / "x.wet").write_bytes(f"{head}Content-Type: text/plain\r\n\r\n".encode() + text + b"\r\n\r\n")
    assert run("extract", tmp_path / "x.wet", "-o", tmp_path / "out.jsonl", "--json") == 0
    [found] = rows(tmp_path / "out.jsonl")
    assert found["text"].split("\n") == [ZULU[0], "Isihlokwana", *ZULU[1:]]
    assert [paragraph["kind"] for paragraph in found["paragraphs"]] == ["main", "short", "main", "main"]
    assert summary(capsys)["dropped_paragraphs"]["aside"] == 7


def test_a_picture_takes_the_place_of_no_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a b"}\n', encoding="utf-8")
    (tmp_path / "link.png").symlink_to(path)
    for words in (("--plot", path), ("--plot", tmp_path / "link.png"), ("--top", -1)):
        assert run("stats", path, *words) == 2
    assert "x.jsonl: is one of the files to read" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == '{"text": "a b"}\n'


def test_words_are_what_white_space_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a  b\\tc\\u00a0d\\n \\n"}\n', encoding="utf-8")
    assert run("stats", path, "--json", "-q") == 0
    assert json.loads(capsys.readouterr().out)["total"]["words"] == 4


def test_an_encoding_that_lacks_letters_ends_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a", "url": "http://b\xfccher.example/"}\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "corpus", "stats", path, "-q"],
        cwd=REPO,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
        timeout=240,
    )
    assert b"host\tb\\xfccher.example\t1\t" in done.stdout


def test_bad_lines_of_json_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a b", "language": "zul"}\n{"text": 3}\n{"text": "c"}\n', encoding="utf-8")
    assert run("stats", path, "--json", "-q") == 1
    out = capsys.readouterr()
    assert json.loads(out.out)["total"] == {"documents": 2, "words": 3, "bytes": 4}
    assert f"-WARN {path}:2: " in out.err


def test_a_broken_stream_of_json_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl.gz"
    lines = b"".join(b'{"text": "%d"}\n' % number for number in range(20_000))
    path.write_bytes(gzip.compress(lines)[:-3000])
    assert run("stats", path, "--json", "-q") == 1
    assert "breaks off" in capsys.readouterr().err


@pytest.mark.parametrize("address", [b"http://a.example/\xe9", b"http://a.example/\xed\xa0\x80", b"http://[a/x"])
def test_a_page_is_not_lost_by_its_address(tmp_path: Path, address: bytes) -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page(*ZULU).encode()
    line = b" 1.2.3.4 20140101000000 text/html %d\n" % len(block)
    path = tmp_path / "x.arc"
    head = b"1 0 Test\nURL IP-address Archive-date Content-type Archive-length\n"
    first = b"filedesc://x.arc 0.0.0.0 20140101000000 text/plain %d\n" % len(head)
    path.write_bytes(first + head + b"\n" + b"\n".join(address + end + line + block for end in (b"", b"\xff")))
    assert run("extract", path, "-o", tmp_path / "out.jsonl", "--dedup-mib", 0, "-q") == 0
    assert len({row["id"] for row in rows(tmp_path / "out.jsonl")}) == 2


@pytest.mark.parametrize("told", ["text/html, text/html; charset=utf-8", "text/html charset=utf-8", "*/*"])
def test_a_page_is_not_lost_by_what_is_said_of_its_type(tmp_path: Path, told: str) -> None:
    path = write(tmp_path / "w", [exchange("1", page(*ZULU).encode(), told)])
    assert run("extract", path, "-o", tmp_path / "out.jsonl", "-q") == 0
    assert [row["url"] for row in rows(tmp_path / "out.jsonl")] == ["https://a.example/1"]


def test_a_block_that_took_in_other_records_is_no_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = [exchange(str(number), page(ZULU[number], ZULU[0] + f" {number}.").encode()) for number in range(3)]
    path = write(tmp_path / "w", pages, "none")
    first, lie, rest = path.read_bytes().partition(b"WARC-Type: response\r\n")
    path.write_bytes(first + lie + rest.replace(b"\r\nContent-Length: ", b"\r\nContent-Length: 9999999", 1))
    assert run("extract", path, "-o", tmp_path / "out.jsonl", "-q") == 1
    assert [row["url"] for row in rows(tmp_path / "out.jsonl")] == ["https://a.example/1", "https://a.example/2"]
    assert run("stats", path, "--json", "-q") == 1
    assert json.loads(capsys.readouterr().out)["total"]["documents"] == 2


LINE = b'{"text": "a b"}\n'


def test_files_of_json_end_nowhere_quietly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = lzma.compress(LINE * 10), lzma.compress(LINE * 20)
    frame = zstandard.ZstdCompressor().compress(LINE * 10)
    member = gzip.compress(LINE * 10)
    for name, data, code, count in (
        ("padded.jsonl.xz", one + b"\0" * 8 + two, 0, 30),
        ("broken.jsonl.xz", one + two[:20] + b"\xff" * 9 + two[29:], 1, 10),
        ("header.jsonl.xz", one + b"\0\1" + two[2:], 1, 10),
        ("cut.jsonl.zst", frame + frame[:12], 1, 10),
        ("junk.jsonl.gz", member + b"junk", 1, 10),
        ("member.jsonl.gz", member + member[:20] + b"\xff" * 9 + member[29:] + member, 1, 20),
        ("frame.jsonl.zst", frame + frame[:8] + b"\xff" * 9 + frame + frame, 1, 30),
    ):
        (tmp_path / name).write_bytes(data)
        assert run("stats", tmp_path / name, "--json", "-q") == code, name
        out = capsys.readouterr()
        assert json.loads(out.out)["total"]["documents"] == count, name
        assert (f"-WARN {tmp_path / name}:11: breaks off: " in out.err) == bool(code), name


def test_odd_lines_of_json_cost_only_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.jsonl"
    for first in (b"\xef\xbb\xbf" + LINE, b"junk\n" + LINE, b"\n" + LINE, b"[" * 200_000 + b"\n" + LINE):
        path.write_bytes(first + LINE.replace(b"\n", b"\r\n") + LINE[:-1])
        code = run("stats", path, "--json", "-q")
        out = capsys.readouterr()
        assert json.loads(out.out)["total"]["documents"] == 3
        assert (code, f"-WARN {path}:1: " in out.err) in ((0, False), (1, True))
    path.write_bytes(b'{"text": "a", "language": "\\ud800\\n\\t", "url": "http://\\ud800.example/"}\n')
    assert run("stats", path) == 0
    assert "language\t\ufffd\ufffd \t1\t1\t1\n" in capsys.readouterr().out


def test_statistics_of_pipes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", many())
    run("extract", path, "-o", tmp_path / "all.jsonl", "--dedup-mib", 0, "-q")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    capsys.readouterr()
    for source in (path, tmp_path / "all.jsonl"):
        with subprocess.Popen(["cp", str(source), str(pipe)]):
            assert run("stats", pipe, "--json", "-q") == 0
        assert json.loads(capsys.readouterr().out)["total"]["documents"] == 5


def test_statistics_go_on_after_a_file_that_is_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.jsonl").write_bytes(LINE)
    tally, report = Tally(), Report(quiet=True)
    found = list(documents([str(tmp_path / "gone.jsonl"), str(tmp_path / "x.jsonl")], report, tally))
    assert (len(found), tally.faults) == (1, 1)
    assert "-ERR " in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "w", many())
    script = f"ulimit -f 0; {sys.executable} -m corpus extract {path} -q -o {tmp_path / 'out.txt'}"
    done = subprocess.run(["sh", "-c", script], cwd=REPO, capture_output=True, check=False, timeout=240)
    assert done.returncode == 2
    assert done.stderr.decode() == f"corpus: {tmp_path / 'out.txt'}: File too large\n"
    assert [file.name for file in tmp_path.iterdir()] == ["w"]


def test_closed_streams_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "w", many())
    for words, code in (("extract - -o /dev/null <&-", 1), (f"stats {path} >&-", 2), (f"extract {path} -o - >&-", 2)):
        script = f"{sys.executable} -m corpus {words}"
        done = subprocess.run(["sh", "-c", script], cwd=REPO, capture_output=True, check=False, timeout=240)
        assert done.returncode == code
        assert b"is closed" in done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not (SHARED / "warc").is_dir(), reason="needs the archives of ../shared/data")
def test_archives_of_other_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("extract", SHARED / "warc", "-o", tmp_path / "out.vert", "--json") == 1
    found = summary(capsys)
    assert found["records"] == found["documents"] + sum(found["dropped"].values())
    assert found["files"] > 30
    assert found["notes"] == {}
    documents = list(read_vertical((tmp_path / "out.vert").read_text(encoding="utf-8").split("\n")))
    assert len(documents) == found["documents"] > 5
    assert len({document.attributes["id"] for document in documents}) == len(documents)


@pytest.mark.skipif(not (SHARED / "pages").is_dir(), reason="needs the pages of ../shared/data")
def test_main_text_is_what_people_marked() -> None:
    makers, pages = bench.extract.extractors(), SHARED / "pages"
    row = bench.extract.measure(makers["ulwembu, no titles"](), bench.extract.articles(pages))
    assert row["precision"] > 0.96
    assert row["recall"] > 0.985
    row = bench.extract.measure(makers["ulwembu"](), bench.extract.cleaned(pages))
    assert row["precision"] > 0.92
    assert row["recall"] > 0.9
    row = bench.extract.measure_pieces(makers["ulwembu"](), bench.extract.pieces(pages))
    assert row["precision"] > 0.9
    assert row["recall"] > 0.955


@pytest.mark.skipif(not (SHARED / "pages").is_dir(), reason="needs the pages of ../shared/data")
def test_real_pages_give_their_text_and_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted((SHARED / "pages" / "aeb").glob("*.html.gz"))[:20]
    pages = [exchange(file.name, gzip.decompress(file.read_bytes()), "text/html") for file in files]
    with contextlib.redirect_stderr(io.StringIO()):
        assert run("extract", write(tmp_path / "w", pages), "-o", tmp_path / "o.vert") == 0
    documents = list(read_vertical((tmp_path / "o.vert").read_text(encoding="utf-8").split("\n")))
    tokens = [token for one in documents for part in one.paragraphs for row in part.sentences for token in row]
    assert len(documents) >= 18
    assert len(tokens) > 5000
    assert sum(1 for token in tokens if token.link) > 20


def test_a_stopped_run_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text("old", encoding="utf-8")
    command = [sys.executable, "-m", "corpus", "extract", "-", "-o", str(tmp_path / "old.jsonl"), "-q"]
    with subprocess.Popen(command, cwd=REPO, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
        process.send_signal(signal.SIGTERM)
        # Its input ends, too: a signal just before it is read is heard by Python only after that.
        _, said = process.communicate(timeout=240)
    assert process.returncode == 130
    assert said == "corpus: interrupted; no file was written\n"
    assert [path.name for path in tmp_path.iterdir()] == ["old.jsonl"]
    assert (tmp_path / "old.jsonl").read_text(encoding="utf-8") == "old"


def test_pdf_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = document([Piece("Umbiko", "h"), *map(Piece, ZULU)], Style(columns=3, broken=True), title="Umbiko wonyaka")
    exchanges = [
        exchange("a", report, "application/pdf"),
        exchange("b", page(ZULU[0]).encode()),
        exchange("c", report.replace(b"/Info 4 0 R", b"/Encrypt << /Filter /Own >>"), "application/pdf"),
        exchange("d", document([Piece(ENGLISH[0])]), "application/octet-stream", head="Content-Disposition: x\r\n"),
        exchange("e", b"\x00" * 99, "application/octet-stream"),
    ]
    path = write(tmp_path / "w", exchanges)
    for processes in (1, 2):
        out = tmp_path / f"{processes}.jsonl"
        assert run("extract", path, "-o", out, "--json", "--processes", processes, "--dedup-mib", 0) == 0
        told = capsys.readouterr().err
        assert f"unreadable: https://a.example/c at {path}" in told
        dropped = json.loads(told.splitlines()[-1])["dropped"]
        assert {name: dropped[name] for name in ("unreadable", "media_type")} == {"unreadable": 1, "media_type": 1}
        found = rows(out)
        assert [(row["url"][-1], row["title"], row["language"]) for row in found] == [
            ("a", "Umbiko wonyaka", "zul"),
            ("b", "Izindaba", "zul"),
            ("d", "", "eng"),
        ]
        assert found[0]["text"].splitlines() == ["Umbiko", *ZULU]
        assert found[2]["text"] == ENGLISH[0]
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_what_reads_pdf_cannot_be_started_but_the_archive_is_read_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pdf = exchange("a", document([Piece(ZULU[0])]), "application/pdf")
    path = write(tmp_path / "w", [pdf, exchange("b", page(ZULU[1]).encode())])
    full = Mock(side_effect=OSError(errno.ENOMEM, "Cannot allocate memory"))
    monkeypatch.setattr("relevance.pdf.reader.subprocess.Popen", full)
    assert run("extract", path, "-o", tmp_path / "out.jsonl", "--json") == 1
    said = capsys.readouterr().err
    assert "-WARN failed: https://a.example/a at" in said
    assert "no process to read it can be started: [Errno 12] Cannot allocate memory" in said
    assert [row["url"] for row in rows(tmp_path / "out.jsonl")] == ["https://a.example/b"]


def test_what_counts_documents_leaves_no_process_that_reads_pdf(tmp_path: Path) -> None:
    path = write(tmp_path / "w", [exchange("a", document([Piece(ZULU[0])]), "application/pdf")])
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    before = children.read_text(encoding="ascii")
    tally = Tally()
    [found] = documents([str(path)], Report(quiet=True), tally)
    assert found.text == ZULU[0]
    assert children.read_text(encoding="ascii") == before
