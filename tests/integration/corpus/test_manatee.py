"""Pages to a corpus of Manatee, command by command."""

import lzma
from pathlib import Path

import pytest

from corpus.cli import main
from corpus.vertical.reading import read_vertical
from tests.integration.corpus.warcs import ENGLISH, ZULU, exchange, page, write
from tests.unit.corpus.taggers import TREEBANK, write_model


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    html = page(*ZULU, ENGLISH[0]).replace("Umongameli", "<a href=/umongameli>Umongameli wezwe</a>")
    return write(tmp_path / "w", [exchange("1", html.replace("<p>", "<h2>Izindaba zanamuhla</h2><p>", 1).encode())])


def test_from_pages_to_manatee(tmp_path: Path, archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write_model(tmp_path / "m", TREEBANK)
    assert run("extract", archive, "-o", tmp_path / "a.vert.xz", "--headings") == 0
    assert run("tag", tmp_path / "a.vert.xz", "-o", tmp_path / "b.vert.xz", "--model", f"zu={model}") == 0
    out, own = tmp_path / "c.vert.xz", tmp_path / "registry" / "zulu"  # the folder is made
    assert run("manatee", tmp_path / "b.vert.xz", "-o", out, "--registry", own, "--language", "Zulu") == 0
    assert capsys.readouterr().err.endswith(f"+OK {out}: 1 documents\n")
    rows = lzma.decompress(out.read_bytes()).decode().split("\n")
    assert '<p lang="zu" heading="1">' in rows
    start = rows.index('<a href="https://a.example/umongameli">')
    assert [row.split("\t")[0] for row in rows[start + 1 : start + 4]] == ["Umongameli", "wezwe", "</a>"]
    assert not any("<link" in row for row in rows)
    assert {row.count("\t") for row in rows if row and not row.startswith("<")} == {2}
    assert [found.paragraphs[0].heading for found in read_vertical(rows)] == [1]
    written = own.read_text()
    assert f'PATH "{own}.data"\nVERTICAL "| xzcat {out}"\n' in written
    assert "ATTRIBUTE word\nATTRIBUTE lemma\nATTRIBUTE tag\n" in written
    assert "STRUCTURE p {\n    ATTRIBUTE heading\n    ATTRIBUTE lang\n}\n" in written


def test_headings_only_where_they_can_be_told(tmp_path: Path, archive: Path) -> None:
    assert run("extract", archive, "-o", tmp_path / "a.jsonl", "--headings") == 2
    assert run("extract", archive, "-o", tmp_path / "a.prevert", "--headings") == 0
    assert ' heading="1">\nIzindaba zanamuhla\n</p>\n' in (tmp_path / "a.prevert").read_text(encoding="utf-8")


def test_what_cannot_be_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.vert").write_text("<doc>\n<p>\na\tb\tc\td\n</p>\n</doc>\n")
    source, out = tmp_path / "in.vert", tmp_path / "out.vert"
    for given, said in (
        (["-o", out, "--registry", out], f"{out}: is the vertical file"),
        (["-o", out, "--registry", source], f"{source}: is one of the files to read"),
        (["-o", source], f"{source}: is one of the files to read"),
        (["-o", out, "--registry", tmp_path / 'a"b'], "a quote or line end cannot stand in a configuration"),
        (["-o", out], "columns after the word 'a': 3, but 2 are expected; name them by --columns"),
        (["-o", out, "--columns", "x"], "--columns x: some of"),
    ):
        assert run("manatee", source, *given) == 2
        assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.vert"]
    assert run("manatee", source, "-o", "-", "--columns", "tag,lemma,feats", "--registry", tmp_path / "r") == 0
    assert "a\tb\tc\td\n" in capsys.readouterr().out
    assert "VERTICAL" not in (tmp_path / "r").read_text()


def test_a_document_of_other_columns_does_not_end_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As one bad row is no reason to have none of the others."""
    good, bad = (
        f'<doc id="{word}">\n<p>\n{word}\t{rest}\n</p>\n</doc>\n' for word, rest in (("a", "b\tc"), ("d", "1\t2\t3"))
    )
    (tmp_path / "in.vert").write_text(good + bad + good)
    assert run("manatee", tmp_path / "in.vert", "-o", "-", "-q") == 1
    shown = capsys.readouterr()
    assert shown.out == good + good
    assert (
        f"""-WARN {tmp_path / "in.vert"}: <doc id="d">: columns after the word 'd': 3, but 2 are expected"""
        in shown.err
    )


def test_damage_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.vert").write_text("<doc>\n<p>\na\n</p>\n</doc>\nb\n")
    assert run("manatee", tmp_path / "in.vert", "-o", "-", "-q") == 1
    shown = capsys.readouterr()
    assert shown.out == "<doc>\n<p>\na\n</p>\n</doc>\n"
    assert "in.vert:6: a token outside of a paragraph" in shown.err
