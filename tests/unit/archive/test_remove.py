"""Taking a site's captures out of archive files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from archive import Reader, WarcWriter, WriterConfig
from archive.cli import main
from archive.commands.common import FAULTS, GOOD, USAGE
from archive.index.cdxj import lookup
from archive.tools.remove import below
from tests.unit.archive.pages import page

SAME = b"<html>" + b"the same on two sites " * 40


@pytest.fixture(params=["xz", "gz", "zst", "none"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    config = WriterConfig(pack_bytes=6000, reserve_bytes=0, warcinfo={"software": "test"})
    with WarcWriter(tmp_path, "crawl", request.param, config=config) as writer:
        for number in range(9):
            writer.write(page(number))
        writer.write(page(9, payload=SAME))  # of host0
        writer.sync()
        writer.write(page(10, payload=SAME))  # of host1: a revisit
    return writer.finished[0]


def records(path: Path) -> list[tuple[str, str, bytes]]:
    with Reader(path) as reader:
        found = [(record.type, record.url, record.raw_head + record.block()) for record in reader]
        assert not reader.damages
    return found


def test_a_site_goes_and_all_else_stays_byte_for_byte(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = records(path)
    expected = [row for row in before if "//host0." not in row[1]]
    stored = path.read_bytes()
    assert main(["remove", "host0.example", str(path)]) == GOOD
    said = capsys.readouterr()
    assert "4 captures (12 records) to be taken out" in said.out
    assert "nothing is written without --force" in said.err
    assert path.read_bytes() == stored
    assert main(["remove", "--force", "--json", "host0.example", str(path.parent)]) == GOOD
    said = capsys.readouterr()
    counts = {"captures": 4, "records": 12, "kept": len(before) - 12, "bereft": 1, "written": True}
    assert json.loads(said.out) == {"file": str(path), **counts}
    assert "1 captures of other sites say only that their content was stored with what goes" in said.err
    assert records(path) == expected
    index = path.with_name(path.name + ".cdxj")
    assert not list(lookup(index, page(0).url))
    assert list(lookup(index, page(1).url))
    assert main(["verify", str(path)]) == GOOD
    assert main(["remove", "--force", "host0.example", str(path)]) == FAULTS
    assert "nothing of it is in these files" in capsys.readouterr().err
    assert sorted(path.parent.glob("*-new")) == []


def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, "crawl", "gz", config=WriterConfig(reserve_bytes=0)) as writer:
        writer.write(page(0))
    link = tmp_path / "link.warc.gz"
    link.symlink_to(writer.finished[0])
    assert main(["remove", "--force", "host0.example", str(link)]) == GOOD
    assert link.is_symlink()
    assert [kind for kind, _, _ in records(writer.finished[0])] == ["warcinfo"]


def test_a_damaged_file_and_one_being_written_stay_as_they_are(tmp_path: Path) -> None:
    whole = tmp_path / "a.warc"
    with WarcWriter(tmp_path, "crawl", "none", config=WriterConfig(reserve_bytes=0)) as writer:
        writer.write(page(0))
        writer.write(page(1))
    whole.write_bytes(writer.finished[0].read_bytes()[:-200])
    stored = whole.read_bytes()
    assert main(["remove", "--force", "host0.example", str(whole)]) == FAULTS
    assert whole.read_bytes() == stored
    still = tmp_path / "b.warc.open"
    still.write_bytes(writer.finished[0].read_bytes())
    for name in (str(still), "-"):
        assert main(["remove", "--force", "host0.example", name]) == USAGE
    assert main(["remove", "*.example", str(writer.finished[0])]) == USAGE
    assert sorted(tmp_path.glob("*-new")) == []


@pytest.mark.parametrize(
    ("site", "in_it", "not_in_it"),
    [
        ("Example.org", ["http://example.org/", "https://www.example.org/a?b", "HTTPS://EXAMPLE.ORG"],
         ["http://example.org.evil/", "http://a.example.org/", "http://example.org:8080/", "dns:example.org", ""]),
        ("example.org:8080", ["http://example.org:8080/x"], ["http://example.org/x"]),
        ("https://example.org/private/", ["http://example.org/private/x", "http://example.org/private"],
         ["http://example.org/privateer", "http://example.org/"]),
        ("http://example.org/p?id=", ["http://example.org/p?id=3"], ["http://example.org/p"]),
    ],
)  # fmt: skip
def test_what_a_site_is(site: str, in_it: list[str], not_in_it: list[str]) -> None:
    unwanted = below(site)
    assert [url for url in in_it if not unwanted(url)] == []
    assert [url for url in not_in_it if unwanted(url)] == []
