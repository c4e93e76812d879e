"""The card of a corpus: what its documents and archives say, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from archive import Damage, WarcWriter, WriterConfig
from corpus.cli import main
from corpus.datasheet import Datasheet, crawls_of, written
from corpus.document import Document, Paragraph, to_json
from tests.integration.corpus.warcs import exchange

BY = "https://creativecommons.org/licenses/by/4.0/deed.en"


def document(host: str = "a.example", words: int = 3, language: str = "zul", **said: Any) -> Document:
    text = Paragraph(" ".join(["igama"] * words), language=language)
    return Document("1", f"https://{host}/1", language=language, paragraphs=(text,), **said)


def card(*documents: Document) -> list[str]:
    sheet = Datasheet()
    for one in documents:
        sheet.add(one)
    return written(sheet, "Izindaba", ["a.jsonl"], {}).splitlines()


def test_the_head_is_what_hubs_read() -> None:
    found = card(document(licence=BY, words=300), document(language="xho", licence=BY, words=5), document(words=0))
    head = found[: found.index("---", 1) + 1]
    assert head == [
        "---",
        'pretty_name: "Izindaba"',
        "language:",
        "- zul",
        "- xho",
        "license: other",
        "size_categories:",
        "- n<1K",
        "task_categories:",
        "- text-generation",
        "---",
    ]
    assert "license: cc-by-4.0" in card(document(licence=BY), document(licence="//creativecommons.org/licenses/by/4.0"))
    assert "license: other" in card(document(licence="All rights reserved"))


def test_a_language_of_a_few_words_is_in_the_table_alone() -> None:
    found = card(document(words=1000), document(words=5, language="eng"), document(words=900, language="und"))
    assert "- eng" not in found
    assert "- und" not in found
    assert "- eng" in card(document(words=99), document(words=1, language="eng"))
    assert "| eng | 1 | 5 | 0.3% |" in found


@pytest.mark.parametrize(
    ("said", "row"),
    [
        (BY, "| cc-by-4.0 | 1 | 3 | 100.0% |"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "| cc0-1.0 | 1 | 3 | 100.0% |"),
        ("https://creativecommons.org/licenses/by-nc-sa/3.0/za/", "| cc-by-nc-sa-3.0 | 1 | 3 | 100.0% |"),
        ("Ours | [mine](x)", r"| Ours \| \[mine\](x) | 1 | 3 | 100.0% |"),
        ("", "| none stated | 1 | 3 | 100.0% |"),
    ],
)
def test_licences_are_told_as_stated(said: str, row: str) -> None:
    assert row in card(document(licence=said))


def test_hosts_with_their_licences_and_days() -> None:
    found = card(
        document("b.example", 9, date="2026-02-03T04:05:06Z"),
        document("b.example", 1, date="2026-01-02T03:04:05Z", licence=BY),
        document("a.example", 2, date="2026-01-02T03:04:05Z"),
    )
    start = found.index("## Where it is from") + 4
    assert found[start : start + 2] == [
        "| b.example | 2 | 10 | cc-by-4.0 | 2026-01-02 to 2026-02-03 |",
        "| a.example | 1 | 2 |  | 2026-01-02 |",
    ]
    many = card(*(document(f"{n}.example", 100 - n) for n in range(40)))
    assert f"| 15 others | 15 | {sum(range(61, 76)):,} | | |" in many


def head(text: str) -> dict[str, Any]:
    yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")
    found: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
    return found


@pytest.mark.parametrize("title", ["a: b", "# x", "- y", "'q\"", "null", "💥", "\\", "---", "[x](y) <b>", "2026"])
def test_any_title_can_be_read_from_the_head(title: str) -> None:
    assert head(written(Datasheet(), title, ["a"], {}))["pretty_name"] == title


@pytest.mark.parametrize("sign", ["\n", "\t", "\x00", "\x1b", "\x7f", "\x85", "\u2028", "\u202e", "\ud800", "\ufffe"])
def test_no_sign_that_is_none_gets_into_the_card(sign: str) -> None:
    sheet = Datasheet()
    sheet.add(document(licence=f"Ours{sign}alone"))
    text = written(sheet, f"a{sign}b", [f"c{sign}d"], {})
    assert head(text)["pretty_name"] == "a b"
    assert {"# a b", "| Ours alone | 1 | 3 | 100.0% |", "Read from `c d`."} <= set(text.splitlines())
    assert head(written(sheet, sign, ["a"], {}))["pretty_name"] == "Corpus"


def test_the_head_names_no_licence_and_no_language_that_hubs_do_not_know() -> None:
    for licence in ("cc: x\n- y", "//creativecommons.org/licenses/by-sa/1.0", "ccby"):
        assert "license: other" in card(document(licence=licence))
    strange = [document(language=name) for name in ("e: f", "null\n", "[x", "no", "yes", "zu-ZA")]
    sheet = Datasheet()
    for one in strange:
        sheet.add(one)
    assert head(written(sheet, "x", ["a"], {}))["language"] == ["no", "yes", "zu-ZA"]
    assert "language" not in head(written(Datasheet(), "x", ["a"], {}))


@pytest.mark.parametrize(
    ("documents", "size"), [(0, "n<1K"), (1000, "1K<n<10K"), (10**7, "10M<n<100M"), (10**8, "100M<n<1B")]
)
def test_sizes_as_hubs_have_them(documents: int, size: str) -> None:
    sheet = Datasheet()
    sheet.statistics.total.documents = documents
    sheet.lengths[1] = documents
    assert head(written(sheet, "x", ["a"], {}))["size_categories"] == [size]


def test_of_licences_that_each_page_words_itself_the_first_are_counted() -> None:
    sheet = Datasheet()
    for n in range(10_050):
        sheet.add(document(licence=f"© {n} " + "long " * 100))
    sheet.add(document(licence=BY))
    sheet.add(document())
    assert len(sheet.licences) == 10_002
    assert sheet.licences["others"].documents == 51
    assert max(map(len, sheet.licences)) <= 200
    assert len(sheet.hosts["a.example"].licences) == 20


def test_of_how_much_no_licence_is_stated_is_told_beside_any_number_of_others() -> None:
    found = card(*(document(licence=f"Ours {n}", words=10) for n in range(30)), document(words=3))
    assert "| none stated | 1 | 3 | 1.0% |" in found
    assert any(line.startswith("| 6 others | 6 | 60 ") for line in found)


def test_days_of_capture_as_far_as_they_are_days() -> None:
    odd = ("20260203040506", "", "soon|", "2026-02-01T00:00:00Z", "2026-13-01", "2026")
    assert "| a.example | 6 | 18 |  | 2026-02-01 to 2026-02-03 |" in card(*(document(date=date) for date in odd))
    assert "| a.example | 1 | 3 |  |  |" in card(document())
    assert any(line.startswith("| not said | 1 ") for line in card(document(host="")))


def test_names_of_files_as_they_are() -> None:
    lines = written(Datasheet(), "x", ["a_b.jsonl", "c`d"], {}).splitlines()
    assert lines[-1] == "Read from `a_b.jsonl`, `` c`d ``."


def test_years_of_publication_and_lengths() -> None:
    found = card(*(document(words=n, published="2025-05-01" if n > 4 else "") for n in range(1, 11)))
    assert "| 2025 | 6 | 45 | 81.8% |" in found
    assert "| not said | 4 | 10 | 18.2% |" in found
    assert "Half of them have 5 words or more, a tenth 1 at most, a tenth 9 at least." in found


def test_how_it_was_made_by_the_archives_own_word(tmp_path: Path) -> None:
    told = {
        "software": "Ulwembu/0.1.0",
        "commit": "0123456789abcdef",
        "isPartOf": "zulu",
        "operator": "https://example.org/crawler",
        "frontier": {"delay_ms": 2500},
        "relevance": {"policy": "all", "language": "zul"},
    }
    for folder, facts in (("one", told), ("two", told), ("three", {"frontier": "no object"})):
        with WarcWriter(tmp_path / folder, "test", config=WriterConfig(warcinfo=facts)) as writer:
            writer.write(exchange("1", b"<p>igama"))
            writer.sync()
    files = [str(path) for path in sorted(tmp_path.glob("*/*.warc.xz"))]
    crawls = crawls_of(files, print)
    assert sorted(crawls.values()) == [1, 2]
    found = written(Datasheet(), "x", ["a"], crawls).splitlines()
    start = found.index("Crawl zulu, 2 archive files:") + 2
    assert found[start : start + 5] == [
        "* software: Ulwembu/0.1.0 (0123456789ab)",
        "* operator, to whom site owners can turn: https://example.org/crawler",
        "* least seconds between requests to a host, but where a site has its own: 2.5",
        "* policy: all",
        "* language looked for: zul",
    ]
    assert "Crawl of an unknown name, 1 archive file." in found


def test_archives_that_say_nothing_of_their_crawl(tmp_path: Path) -> None:
    """Also a first record that is too long to be one."""
    long = b"isPartOf: x\r\n" + bytes(17 << 20)
    head = "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:a3a882e3-8d02-4fb7-ac4e-b0abc119e300>\r\n"
    head += f"WARC-Date: 2026-11-25T23:54:51Z\r\nContent-Length: {len(long)}\r\n\r\n"
    (tmp_path / "long.warc").write_bytes(head.encode() + long + b"\r\n\r\n")
    (tmp_path / "empty.warc").touch()
    told: list[Damage] = []
    crawls = crawls_of([str(tmp_path / "long.warc"), str(tmp_path / "empty.warc")], told.append)
    assert [str(damage) for damage in told] == [f"{tmp_path / 'empty.warc'}:0: no record in the file"]
    assert written(Datasheet(), "x", ["a"], crawls).endswith("\nCrawl of an unknown name, 2 archive files.\n")


def test_a_damaged_archive_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, archive = tmp_path / "zulu.jsonl", tmp_path / "a.warc"
    corpus.write_text(to_json(document(licence=BY)) + "\n")
    archive.write_bytes(b"%PDF-1.7\n")
    assert main(["card", "-q", str(corpus), "-o", str(tmp_path / "README.md"), "--warc", str(archive)]) == 1
    assert capsys.readouterr().err.startswith(f"-WARN damage: {archive}:0: no record begins with b'%PDF")
    assert "1 archive file" in (tmp_path / "README.md").read_text()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, out = tmp_path / "zulu.jsonl", tmp_path / "README.md"
    corpus.write_text(to_json(document(licence=BY)) + "\n")
    assert main(["card", str(corpus), "-o", str(out)]) == 0
    assert "# zulu" in out.read_text().splitlines()
    assert main(["card", str(corpus), "-o", "-", "--title", "Izindaba", "-q"]) == 0
    assert capsys.readouterr().out.endswith("Read from `zulu.jsonl`.\n")
    for wrong in (["-o", str(tmp_path / "card.html")], ["-o", str(corpus)], ["-o", "-", "--warc", "-"]):
        assert main(["card", str(corpus), *wrong]) == 2
    assert main(["card", str(corpus), "-o", str(out), "--warc", str(corpus)]) == 2
    assert main(["card", str(tmp_path / "none.jsonl"), "-o", str(out)]) == 2
