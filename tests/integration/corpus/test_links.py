"""Archives and vertical files in, links to Wikipedia out: the commands as users run them."""

import gzip
import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bench.links
from archive import Exchange
from corpus.cli import main
from corpus.wikilinks.rows import COLUMNS
from tests.integration.corpus.warcs import ENGLISH, ZULU, exchange, page, write
from tests.integration.crawler.harness import wait_for

WIKI = "https://zu.wikipedia.org/wiki/"


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def summary(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().err.splitlines()[-1])
    return found


def linked(text: str, word: str, href: str) -> str:
    """The text with the first such word as a link."""
    return text.replace(word, f'<a class=x href="{href}">{word}</a>', 1)


PAGE = page(
    linked(ZULU[0], "wezwe", "//zu.m.wikipedia.org/wiki/iNingizimu_Afrika#Umlando"),
    linked(ENGLISH[0], "poverty", "https://en.wikipedia.org/wiki/Poverty"),
    linked(ZULU[1], "thisha", f"{WIKI}Umfundisi"),
    linked(ZULU[2], "ngeSonto", "https://a.example/isonto"),
)


def test_links_with_their_contexts(tmp_path: Path) -> None:
    path = write(tmp_path / "w", [exchange("1", PAGE.encode())])
    assert run("links", path, "-o", tmp_path / "out.tsv", "--header", "--words", 4) == 0
    header, *lines = (tmp_path / "out.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == list(COLUMNS)
    first, second, third = (dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in lines)
    href = "//zu.m.wikipedia.org/wiki/iNingizimu_Afrika#Umlando"
    place = first.pop("place")
    assert place.startswith(f"{path}:")
    assert first == {
        "address": href,
        "article": f"{WIKI}INingizimu_Afrika",
        "anchor": "wezwe",
        "markup": "wezwe",
        "before": "Umongameli",
        "after": "uthe abantu bakithi kufanele",
        "charset": "utf-8",
        "address_at": str(PAGE.index(href)),
        "anchor_at": str(PAGE.index("wezwe<")),
        "document": "https://a.example/1",
    }
    assert (second["anchor"], second["before"], second["after"]) == (
        "poverty", "work together so that", "in the villages and"
    )  # fmt: skip
    assert third["article"] == f"{WIKI}Umfundisi"


def test_contexts_in_a_language(tmp_path: Path) -> None:
    path = write(tmp_path / "w", [exchange("1", PAGE.encode())])
    assert run("links", path, "-o", tmp_path / "out.jsonl", "--language", "zul") == 0
    found = rows(tmp_path / "out.jsonl")
    assert [(row["edition"], row["language"]) for row in found] == [("zu", "zul")] * 2
    assert not {"villages", "together"} & set(" ".join(row["before"] for row in found).split())
    assert run("links", path, "-o", tmp_path / "out.jsonl", "--wikipedia", "en,xh", "-q") == 0
    assert [row["title"] for row in rows(tmp_path / "out.jsonl")] == ["Poverty"]


def test_a_document_whose_links_are_in_other_languages_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = page(ZULU[0], linked(ENGLISH[0], "poverty", "https://en.wikipedia.org/wiki/Poverty"), ZULU[1])
    path = write(tmp_path / "w", [exchange("1", PAGE.encode()), exchange("2", body.encode())])
    assert run("links", path, "-o", tmp_path / "out.jsonl", "--language", "zul", "--json") == 0
    found = summary(capsys)
    assert (found["links"], found["documents"], found["dropped"]["no_link"]) == (2, 1, 1)


@pytest.mark.parametrize("compression", ["xz", "gz", "none"])
@pytest.mark.parametrize(
    ("charset", "content_type", "word", "title"),
    [
        ("utf-8", "text/html; charset=utf-8", "Tšhwane", "Tšhwane"),
        ("utf-8-sig", "text/html", "Tšhwane", "Tšhwane"),
        ("windows-1252", "text/html; charset=windows-1252", "Tšhwane", "Tšhwane"),
        ("utf-16-le", "text/html", "Tšhwane", "Tšhwane"),
        ("utf-16", "text/html", "Tšhwane", "Tšhwane"),
        ("shift_jis", "text/html; charset=shift_jis", "東京", "東京"),
    ],
)
def test_offsets_in_any_encoding(
    tmp_path: Path, compression: str, charset: str, content_type: str, word: str, title: str
) -> None:
    text = f"<p>Ššš {ENGLISH[0]}</p>" if charset != "shift_jis" else f"<p>日本 {ENGLISH[0]}</p>"
    body = f"{text}<p>See <a title='a>b' HREF = '{WIKI}{word}'><b>{word}</b></a>.</p>".encode(charset)
    coded = exchange("1", gzip.compress(body), content_type, head="Content-Encoding: gzip\r\n")
    path = write(tmp_path / "w", [exchange("0", b"<p>" + ENGLISH[1].encode()), coded], compression)
    assert run("links", path, "-o", tmp_path / "out.jsonl") == 0
    [row] = rows(tmp_path / "out.jsonl")
    assert (row["title"], row["anchor"], row["markup"]) == (title, word, f"<b>{word}</b>")
    plain = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le"}.get(charset, charset)  # with a mark at the beginning
    assert body.startswith(f"{WIKI}{word}".encode(plain), row["address_at"])
    assert body.startswith(f"<b>{word}".encode(plain), row["anchor_at"])


def test_an_offset_that_cannot_be_told_is_empty(tmp_path: Path) -> None:
    body = b"<p>" + b"\xff" * 3 + (ENGLISH[0] * 60).encode() + f"<p><a href='{WIKI}A'>A</a> b".encode()
    path = write(tmp_path / "w", [exchange("1", body)])
    assert run("links", path, "-o", tmp_path / "out.tsv") == 0
    cells = (tmp_path / "out.tsv").read_text(encoding="utf-8").split("\t")
    assert (cells[2], cells[7], cells[8]) == ("A", "", "")


@pytest.mark.parametrize(
    ("tag", "address", "title"),
    [
        ("<a title=it's href={}>", f"{WIKI}A", "A"),
        ('<a href="{}"">', f"{WIKI}A", "A"),
        ('<a/href="{}"class=x>', f"{WIKI}A", "A"),
        ('<a href="{}">', f"{WIKI}'A'", "'A'"),
        ("<a href='{}'>", f'{WIKI}A"', 'A"'),
        ('<a href=" {}\n">', f"{WIKI}A&amp;B&quot;", 'A&B"'),
        ('<a href="{}">', "//zu.wikipedia.org/w/index.php?title=A&section=1&copy=2", "A"),
    ],
)
@pytest.mark.parametrize("end", ["</a>", "</A\n>", "</a/>", "</a x>"])
def test_tags_as_they_are_written(tmp_path: Path, tag: str, address: str, title: str, end: str) -> None:
    more = f"and 'two' \"three\" <b class='x'>four</b>, <a href='{WIKI}Z'>five</a>."
    body = f"<p>{ENGLISH[0]} {tag.format(address)}one{end} {more}"
    path = write(tmp_path / "w", [exchange("1", body.encode())])
    assert run("links", path, "-o", tmp_path / "out.jsonl") == 0
    row, last = rows(tmp_path / "out.jsonl")
    assert (row["title"], row["anchor"], row["markup"], last["title"]) == (title, "one", "one", "Z")
    assert body.startswith("one<", row["anchor_at"])
    assert body.startswith(address, row["address_at"])


def test_addresses_by_the_base_of_a_page_and_without_a_scheme(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    based = f"<base href=//zu.wi&#107;ipedia.org/><p>{ENGLISH[0]} <a href=wiki/iGoli>a</a>"
    bare = f"<p>{ENGLISH[0]} <a href=zu.wikipedia.org/wiki/B>b</a>{' ' * (8 << 20)}"
    path = write(tmp_path / "w", [exchange(name, body.encode()) for name, body in (("1", based), ("2", bare))])
    assert run("links", path, "-o", tmp_path / "out.jsonl", "--json") == 0
    found = [(row["address"], row["article"]) for row in rows(tmp_path / "out.jsonl")]
    assert found == [("wiki/iGoli", f"{WIKI}IGoli"), ("zu.wikipedia.org/wiki/B", f"{WIKI}B")]
    assert summary(capsys)["notes"] == {"cut": 1}


def test_what_is_no_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = f"""<!-- <a href="{WIKI}A">A</a> --><script>'<a href="{WIKI}B">B</a>'</script>
        <p title='<a href="{WIKI}C">C</a>'>x</p><p><a href="{WIKI}D"><img src=d alt=D></a> <a data-href="{WIKI}E">E</a>
        <a href="http://zu.wikipedia.org.example/wiki/F">F</a> <a href="{WIKI}Category:G">G</a>
        <a href="https://zu.wikipedia.org/w/index.php?title=H&amp;action=edit">H</a>
        <a href="{WIKI}I&amp;J">I</a></p>"""
    path = write(tmp_path / "w", [exchange("1", page(*ZULU, more=more).encode())])
    assert run("links", path, "-o", tmp_path / "out.jsonl", "--json") == 0
    assert [row["title"] for row in rows(tmp_path / "out.jsonl")] == ["I&J"]
    assert summary(capsys)["dropped_links"] == {"action": 1, "namespace": 1}


def test_links_in_navigation_and_main_text(tmp_path: Path) -> None:
    more = f"<nav><a href={WIKI}A>Imenyu</a></nav><ul><li><a href={WIKI}B>Uhlu</a></ul>"
    text = linked(ZULU[1], "thisha", f"{WIKI}C")
    path = write(tmp_path / "w", [exchange("1", page(ZULU[0], text, more=more).encode())])
    for option, titles in (("all", ["C", "B", "A"]), ("main", ["C"])):
        assert run("links", path, "-o", tmp_path / "out.jsonl", "--text", option) == 0
        found = rows(tmp_path / "out.jsonl")
        assert [row["title"] for row in found] == titles
    assert run("links", path, "-o", tmp_path / "out.jsonl") == 0
    menu = rows(tmp_path / "out.jsonl")[-1]
    assert (menu["kind"], menu["before"], menu["after"]) == ("nav", "", "")


def test_every_drop_has_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wiki = exchange("w", page(ZULU[0] + " <a href=#a>1</a> <a href=/wiki/B>B</a>").encode())
    object.__setattr__(wiki, "url", f"{WIKI}A")
    pages = [
        exchange("1", PAGE.encode()),
        exchange("2", page(*ZULU, more="<p>wikipedia").encode()),
        exchange("3", b"wikipedia", "text/plain"),
        exchange("4", b"wikipedia", "application/pdf"),
        exchange("5", page(f"\U000f0000 <a href={WIKI}A>x</a>").encode()),
        exchange("6", page(f"<a href={WIKI}A>x</a>", more="<meta name=robots content=noindex>").encode()),
        wiki,
    ]
    path = write(tmp_path / "w", pages)
    options = ["-o", tmp_path / "out.jsonl", "--json", "--without-fragments"]
    assert run("links", path, *options) == 0
    told = summary(capsys)
    assert told["links"] == 3
    assert told["dropped_links"] == {"fragment": 1, "itself": 1, "no_title": 2}
    dropped = {"media_type": 1, "no_link": 2, "record_type": 15, "robots_meta": 1, "unplaced": 1}
    assert told["dropped"] == dropped
    assert told["records"] == told["documents"] + sum(dropped.values())
    assert run("links", path, *options, "--without-wikimedia") == 0
    told = summary(capsys)
    assert told["dropped"] == {**dropped, "wikimedia": 1}
    assert told["records"] == told["documents"] + sum(told["dropped"].values())
    assert run("links", path, "-o", tmp_path / "out.jsonl") == 0
    error = capsys.readouterr().err
    assert "1 documents: its links could not be placed in its text" in error
    assert "1 records: neither HTML nor plain text\n" in error


# -- vertical files

VERTICAL = f"""<doc title="Izindaba" url="https://a.example/1" id="1">
<p lang="zu">
<s>
Umongameli
wezwe	<link="{WIKI}iNingizimu_Afrika"/>	<length="1"/>
</s>
<s>
U
<g/>
-
<g/>
R2
<img="{WIKI}img">	<length=1>
New\tnew\tNN
York\tyork\tNN\t<link="{WIKI}A&amp;B">\t<lenght=2>
<g/>
.
</s>
</p>
</doc>
<doc title="Ayikho" url="https://a.example/2" id="2">
<p>
Cha
</p>
</doc>
"""


def test_links_of_vertical_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "z.vert.gz").write_bytes(gzip.compress(VERTICAL.encode()))
    assert run("links", tmp_path / "z.vert.gz", "-o", tmp_path / "out.jsonl") == 0
    first, second = rows(tmp_path / "out.jsonl")
    assert (first["anchor"], first["before"], first["after"]) == ("wezwe", "Umongameli", "U-R2 New York.")
    assert (second["anchor"], second["before"], second["after"]) == ("New York", "Umongameli wezwe U-R2", ".")
    assert (second["title"], second["language"], second["document"]) == ("A&B", "zul", "https://a.example/1")
    plain = VERTICAL.encode()
    assert plain.startswith(b"<link=", second["address_at"])
    assert plain.startswith(b"New\t", second["anchor_at"])
    assert second["place"] == str(tmp_path / "z.vert.gz")
    assert run("links", tmp_path / "z.vert.gz", "-o", tmp_path / "out.jsonl", "--language", "eng", "--json") == 0
    assert rows(tmp_path / "out.jsonl") == []
    assert summary(capsys)["dropped"] == {"language": 1, "no_link": 1}
    other = VERTICAL.replace(WIKI, "https://a.example/wikipedia/").replace("doc>", "DOC >")
    (tmp_path / "w.vert").write_text(other + VERTICAL.replace("doc>", "Doc >") + other)
    assert run("links", tmp_path / "w.vert", "-o", tmp_path / "out.jsonl", "--json") == 0
    told = summary(capsys)
    assert (told["links"], told["documents"], told["dropped"]) == (2, 1, {"no_link": 5})
    (tmp_path / "w.vert").write_text(VERTICAL.replace("https://a.example/1", f"{WIKI}A"))
    assert run("links", tmp_path / "w.vert", "-o", tmp_path / "out.jsonl", "--without-wikimedia", "--json") == 0
    assert summary(capsys)["dropped"] == {"no_link": 1, "wikimedia": 1}


def test_a_bad_document_of_a_vertical_file_costs_only_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = VERTICAL.replace("</s>\n</p>", "</p>\n</p>")
    (tmp_path / "z.vert").write_text(bad + VERTICAL + '<doc url="wikipedia">\n<p>\nx')
    assert run("links", tmp_path / "z.vert", "-o", tmp_path / "out.jsonl", "-q") == 1
    assert len(rows(tmp_path / "out.jsonl")) == 2
    first, last, *_ = capsys.readouterr().err.splitlines()
    assert first == f"-WARN {tmp_path}/z.vert:19: </p> without its beginning; this document is left out"
    assert last == f"-WARN {tmp_path}/z.vert:{VERTICAL.count(chr(10)) * 2 + 3}: the file ends inside a document; " + (
        "this document is left out"
    )


def test_a_document_without_end_takes_no_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpus.wikilinks.verticals.MAX_DOCUMENT", 2 * len(VERTICAL))
    long = VERTICAL.replace("Umongameli\n", "Umongameli\n" * len(VERTICAL), 1)
    (tmp_path / "z.vert").write_text(long + VERTICAL)
    assert run("links", tmp_path / "z.vert", "-o", tmp_path / "out.jsonl", "-q") == 1
    assert f"{tmp_path / 'z.vert'}:1: a document of more than" in capsys.readouterr().err
    first, _ = rows(tmp_path / "out.jsonl")
    assert (long + VERTICAL).encode().startswith(f'<link="{WIKI}iN'.encode(), first["address_at"])


def test_several_processes_give_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", [exchange(str(number), f"{PAGE}{number}".encode()) for number in range(20)])
    told = []
    for processes in (1, 2):
        options = ["--language", "zul", "--processes", processes, "--json"]
        assert run("links", path, "-o", tmp_path / f"{processes}.tsv", *options) == 0
        told.append({**summary(capsys), "output": ""})
    assert told[0] == told[1]
    assert (tmp_path / "1.tsv").read_bytes() == (tmp_path / "2.tsv").read_bytes()


# -- beside the plain way


def test_the_plain_way_finds_the_same_where_all_is_plain(tmp_path: Path) -> None:
    path = bench.links.archive(tmp_path / "w", [PAGE.encode(), page(*ZULU).encode()])
    assert bench.links.measure(bench.links.plain, path, 2)[0] == 3
    assert bench.links.measure(bench.links.ours, path, 2)[0] == 3
    assert bench.links.measure(bench.links.ours, bench.links.vertical(path), 2)[0] == 3


# -- faults


def test_damage_is_reported_and_what_is_sound_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", [exchange(str(number), f"{PAGE}{number}".encode()) for number in range(20)], "gz")
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 2000] = bytes(2000)
    path.write_bytes(data)
    assert run("links", path, "-o", tmp_path / "out.jsonl", "--json") == 1
    told = summary(capsys)
    assert told["damages"] >= 1
    assert 45 <= told["links"] == len(rows(tmp_path / "out.jsonl")) < 60


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["{warc}"], "required: -o"),
        (["{warc}", "-o", "out.tsv", "--words", "-1"], "--words: from 0"),
        (["{warc}", "-o", "out.jsonl", "--header"], "--header: only of tsv"),
        (["{warc}", "-o", "out.tsv", "--wikipedia", "Zulu!"], "is no edition"),
        (["{warc}", "-o", "out.tsv", "--language", "xx"], "--language xx: not one of"),
        (["{warc}", "-o", "out.tsv", "--language", "zul,und"], "--language und: no language, but text in none"),
        (["{warc}", "-o", "out.tsv", "--language", ""], "--language: an empty code"),
        (["{warc}", "-o", "out.tsv", "--language", "st"], '(did you mean "sot"?)'),
        (["{warc}", "-o", "out.tsv", "--wikipedia", "zul"], "'zul' is no edition of Wikipedia; zu is the one"),
        (["{warc}", "-o", "out.tsv", "--processes", "-1"], "--processes: from 0 to"),
        (["{warc}", "-o", "out.tsv", "--processes", "9" * 30], "--processes: from 0 to"),
        (["{warc}", "-o", "out.tsv", "--titles", "t.tsv"], "an edition and a name are needed, as in zu=t.tsv"),
        (["{warc}", "-o", "out.tsv", "--tables", "zu="], "as in zu=zu"),
        (["{warc}", "-o", "out.tsv", "--titles", "zu=none.tsv"], "none.tsv: no such file"),
        (["{warc}", "-o", "out.tsv", "--page-table", "zu=bad.tsv"], "bad.tsv:1: no number, tab and title"),
        (["{warc}", "-o", "out.tsv", "--tables", "zu=."], "has none of titles.tsv"),
        (["{warc}", "-o", "{warc}"], "is one of the files to read"),
        (["bad.tsv", "-o", "bad.tsv", "--titles", "zu=bad.tsv"], "is one of the files to read"),
        (["{warc}", "z.jsonl", "-o", "out.tsv"], "JSON lines have no links"),
        (["none.warc", "-o", "out.tsv"], "no such file"),
    ],
)
def test_wrong_usage(
    tmp_path: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "w", [exchange("1", PAGE.encode())])
    (tmp_path / "bad.tsv").write_text("x\n")
    (tmp_path / "z.jsonl").write_text('{"text": "x"}\n')
    assert run("links", *(argument.format(warc=path) for argument in arguments)) == 2
    said = capsys.readouterr().err
    assert told in said
    assert "+OK" not in said, "found before the work"
    assert not (tmp_path / "out.tsv").exists()


def test_lines_that_can_be_no_titles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, titles = write(tmp_path / "w", [exchange("1", PAGE.encode())]), tmp_path / "t.tsv"
    arguments = ("links", path, "-o", tmp_path / "out.jsonl", "--wikipedia", "zu", "--titles", f"zu={titles}", "--json")
    titles.write_text("Umfundisi\n7\tINingizimu Afrika\n")
    assert run(*arguments) == 1
    told = capsys.readouterr().err
    assert f"-WARN {titles}:2: '7\\tINingizimu Afrika' can be no title; left out" in told
    assert json.loads(told.splitlines()[-1])["damages"] == 1
    assert [row["title"] for row in rows(tmp_path / "out.jsonl")] == ["Umfundisi"]
    before = (tmp_path / "out.jsonl").read_bytes()
    titles.write_text("7\tINingizimu Afrika\n")
    assert run(*arguments) == 2
    assert f"{titles}:1: no titles" in capsys.readouterr().err
    assert (tmp_path / "out.jsonl").read_bytes() == before


def test_a_pipe_on_both_ends(tmp_path: Path) -> None:
    path = write(tmp_path / "w", [exchange("1", PAGE.encode())])
    command = [sys.executable, "-m", "corpus", "links", "-", "-o", "-", "-q"]
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=True)
    assert run("links", path, "-o", tmp_path / "out.tsv") == 0
    expected = (tmp_path / "out.tsv").read_bytes()
    assert done.stdout.replace(b"<stdin>:", str(path).encode() + b":") == expected.replace(b"-:", str(path).encode())
    assert done.stderr == b""


def test_a_stopped_run_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "corpus", "links", "-", "-o", str(tmp_path / "out.tsv")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"WARC/1.1\r\n")
        process.stdin.flush()
        wait_for(lambda: any(tmp_path.iterdir()))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert not list(tmp_path.iterdir())


# -- hostile pages


def _unclosed(count: int) -> str:
    return "".join(f"<p><a href={WIKI}A{number}>x{number} " for number in range(count))


HOSTILE: dict[str, tuple[str, int]] = {
    "links without end": (_unclosed(9_000), 9_000),
    "one paragraph of links": ("<p>" + f"<a href={WIKI}A>a</a> " * 9_000, 9_000),
    "one word in links": ("<p>" + f"<a href={WIKI}A>a</a>" * 9_000, 9_000),
    "links in links": (f"<a href={WIKI}A>" * 9_000 + "x", 1),
    "a word without end": (f"<p>{'a' * 7_000_000}<a href={WIKI}A>a</a>", 1),
    "a title without end": (f"<p>a <a href={WIKI}{'a' * 7_000_000}>a</a>", 0),
    "tags without end": (f"<p><a href={WIKI}A>a</a>" + "<a href=" * 900_000, 0),
    "quotation marks without end": (f"<p><a href={WIKI}A>a</a>" + "<a =\"'>" * 900_000, 1),
    "more tags than can be marked": (
        f"<p><a href={WIKI}A>a</a><!-- {'<a href=/>' * 70_000} --><a href={WIKI}B>b</a>",
        1,
    ),
    "escapes without end": ("//" * 1_500_000 + "&#" * 1_500_000, 0),
}


@pytest.mark.parametrize(("body", "links"), HOSTILE.values(), ids=HOSTILE)
def test_pages_made_to_take_long(tmp_path: Path, body: str, links: int, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "w", [exchange("1", body.encode())], "none")
    assert run("links", path, "-o", tmp_path / "out.tsv", "--json") == 0
    assert summary(capsys)["links"] == links


def test_any_bytes_are_read(tmp_path: Path) -> None:
    dice = random.Random(1)
    bodies: list[Exchange] = []
    for _ in range(60):
        body = bytearray(PAGE.encode())
        for _ in range(40):
            place = dice.randrange(len(body))
            body[place : place + dice.randrange(4)] = dice.randbytes(dice.randrange(4))
        bodies.append(exchange(str(len(bodies)), bytes(body)))
    assert run("links", write(tmp_path / "w", bodies), "-o", tmp_path / "out.jsonl") == 0
    for row in rows(tmp_path / "out.jsonl"):
        assert row["article"].startswith("https://")
