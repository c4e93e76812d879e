"""Dumps of Wikipedia in, tables out, and links looked up in them: the commands as users run them."""

import gzip
import os
import subprocess
from pathlib import Path

import pytest

from tests.integration.corpus.test_links import WIKI, rows, run, summary
from tests.integration.corpus.warcs import exchange, write

CREATE = "CREATE TABLE `{}` (\n{}  PRIMARY KEY (`x`)\n) ENGINE=InnoDB;\n"
DUMPS = {
    "page": (
        ("page_id", "page_namespace", "page_title", "page_is_redirect"),
        r"(1,0,'Durban',0),(2,0,'EThekwini',1),(3,0,'Shaka_(A\'B)',0),(4,1,'Durban',0),(5,0,'Shaka',0),(6,0,'Far',1)",
    ),
    "redirect": (
        ("rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"),
        "(2,0,'Durban',NULL,NULL),(6,0,'Away','en',''),(4,1,'X','',''),(99,0,'Gone','',''),(3,4,'Y',NULL,NULL)",
    ),
    "page_props": (
        ("pp_page", "pp_propname", "pp_value"),
        "(5,'disambiguation',''),(1,'wikibase_item','Q5468'),(4,'disambiguation','')",
    ),
}


def dumps(folder: Path) -> list[Path]:
    paths = []
    for table, (columns, values) in DUMPS.items():
        create = CREATE.format(table, "".join(f"  `{column}` int NOT NULL,\n" for column in columns))
        paths.append(folder / f"zuwiki-{table}.sql.gz")
        paths[-1].write_bytes(gzip.compress(f"-- dump\n{create}INSERT INTO `{table}` VALUES {values};\n".encode()))
    return paths


def test_tables_of_dumps_and_links_by_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "zu"
    assert run("links-tables", *reversed(dumps(tmp_path)), "-o", made) == 0
    assert {path.name: path.read_text() for path in made.iterdir()} == {
        "titles.tsv": "Durban\nEThekwini\nShaka (A'B)\nShaka\nFar\n",
        "pages.tsv": "1\tDurban\n2\tEThekwini\n3\tShaka (A'B)\n5\tShaka\n6\tFar\n",
        "redirects.tsv": "Durban\tEThekwini\n",
        "disambiguations.tsv": "Shaka\n",
    }
    words = {"eThekwini": "EThekwini", "Shaka": "Shaka", "uShaka": "Shaka_(A'B)", "3": "?curid=3", "Cha": "Cha"}
    body = "<p>" + " ".join(f'<a href="{WIKI}{to}">{word}</a>' for word, to in words.items())
    path = write(tmp_path / "w", [exchange("1", body.encode())])
    capsys.readouterr()
    assert run("links", path, "-o", tmp_path / "out.jsonl", "--tables", f"zu={made}", "--json") == 0
    assert [(row["anchor"], row["title"]) for row in rows(tmp_path / "out.jsonl")] == [
        ("eThekwini", "Durban"), ("uShaka", "Shaka (A'B)"), ("3", "Shaka (A'B)")
    ]  # fmt: skip
    assert summary(capsys)["dropped_links"] == {"disambiguation": 1, "unknown": 1}
    alone = ["--redirects", f"zu={made}/redirects.tsv", "--similar"]
    assert run("links", path, "-o", tmp_path / "out.jsonl", "--json", *alone) == 0
    assert [row["title"] for row in rows(tmp_path / "out.jsonl")] == ["Durban", "Shaka", "Shaka (A'B)", "Cha"]
    assert summary(capsys)["dropped_links"] == {"number": 1}


def test_tables_of_other_dumps_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "zu"
    page, redirect, _ = dumps(tmp_path)
    assert run("links-tables", page, redirect, "-o", made) == run("links-tables", page, redirect, "-o", made) == 0
    assert "-WARN" not in capsys.readouterr().err
    assert run("links-tables", page, "-o", made, "-q") == 0
    assert capsys.readouterr().err == (
        f"-WARN {made}/redirects.tsv: not of these dumps; remove it, or links --tables goes by it, too\n"
    )


def test_dumps_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page_dump, redirect, _ = dumps(tmp_path)
    made = tmp_path / "zu"
    assert run("links-tables", redirect, "-o", made) == 2
    assert "page is needed" in capsys.readouterr().err
    assert run("links-tables", page_dump, page_dump, "-o", made) == 2
    assert "a second dump of page" in capsys.readouterr().err
    assert run("links-tables", write(tmp_path / "w", [exchange("1", b"x")]), "-o", made) == 2
    assert "no dump of page, redirect or page_props" in capsys.readouterr().err
    assert run("links-tables", page_dump, redirect, "-o", made) == 0
    before = {path: path.read_bytes() for path in made.iterdir()}
    odd = tmp_path / "odd.sql"
    odd.write_bytes(gzip.decompress(page_dump.read_bytes()).replace(b"(3,0", b"(NULL,0"))
    assert run("links-tables", odd, "-o", made) == 2
    assert "odd.sql: 'NULL' is no number of a page" in capsys.readouterr().err
    redirect.write_bytes(redirect.read_bytes()[:-12])
    assert run("links-tables", page_dump, redirect, "-o", made) == 2
    assert {path: path.read_bytes() for path in made.iterdir()} == before
    capsys.readouterr()


def test_dumps_from_pipes(tmp_path: Path) -> None:
    page_dump, *others = dumps(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cp", str(page_dump), str(tmp_path / "pipe")]) as writer:
        assert run("links-tables", *others, tmp_path / "pipe", "-o", tmp_path / "new" / "zu") == 0
    assert writer.returncode == 0
    assert run("links-tables", page_dump, *others, "-o", tmp_path / "zu") == 0
    first, second = ({path.name: path.read_text() for path in (tmp_path / to).iterdir()} for to in ("new/zu", "zu"))
    assert first == second


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("INSERT INTO", "REPLACE INTO", "no article is in it"),
        ("'Durban',0", "'" + "a" * (65 << 20) + "',0", "a line of more than 64 MiB"),
        ("VALUES", "(`\xe9`) VALUES", "no column page_id"),
    ],
)
def test_dumps_that_would_make_poor_tables(
    tmp_path: Path, old: str, new: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = dumps(tmp_path)[0]
    dump.write_bytes(gzip.compress(gzip.decompress(dump.read_bytes()).replace(old.encode(), new.encode("latin-1")), 1))
    assert run("links-tables", dump, "-o", tmp_path / "zu") == 2
    assert told in capsys.readouterr().err
    assert not list((tmp_path / "zu").iterdir())
    for folder in ("-", dump):
        assert run("links-tables", dump, "-o", folder) == 2
        assert "is to be a folder" in capsys.readouterr().err
