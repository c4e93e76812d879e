"""Taking a site's captures out of archive files."""

from __future__ import annotations

import json
import os
import shutil
import stat
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from archive import ArchiveFull, Reader, Record, WarcWriter, WriterConfig
from archive.cli import main
from archive.commands.common import FAULTS, GOOD, USAGE
from archive.index import cdxj
from archive.index.cdxj import SUFFIX, index_file, lookup
from archive.tools.convert import FRESH_INDEX, convert
from archive.tools.remove import below, remove
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


def test_nothing_is_replaced_where_there_is_no_room_for_the_index(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}

    def full(_: Path, lines: Iterable[bytes]) -> None:
        raise ArchiveFull(str(path), len(list(lines)), 0, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(cdxj, "write_lines", full)
        assert main(["remove", "--force", "host0.example", str(path)]) == FAULTS
    assert "archive is full" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    assert main(["remove", "--force", "host0.example", str(path)]) == GOOD


def test_an_index_is_made_only_where_a_killed_run_has_left_none(tmp_path: Path) -> None:
    """A file that its owner keeps without one stays so."""
    path = tmp_path / "a[1].warc"
    path.write_bytes(warc("resource", "http://a.example/", "1"))
    index = path.with_name(path.name + SUFFIX)
    assert not remove(path, below("b.example"), write=True).removed
    assert not index.exists()
    path.with_name(path.name + FRESH_INDEX.format(1)).touch()
    assert not remove(path, below("b.example"), write=True).removed
    assert index.exists()


@pytest.mark.parametrize("there", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("at", ["rename", "after"])
def test_what_is_interrupted_at_the_rename_leaves_file_and_index_of_one_state(
    there: bool, at: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.warc.gz"
    index = target.with_name(target.name + SUFFIX)
    if there:
        shutil.copy(path, old := tmp_path / "old.warc")
        remove(old, below("host0.example"), write=True)
        convert(old, target)
    before = target.read_bytes() if there else None
    rename = os.replace

    def interrupted(source: Path, to: Path) -> None:
        if Path(to) != target:
            rename(source, to)
            return
        if at == "after":
            rename(source, to)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        convert(path, target)
    monkeypatch.undo()
    assert not list(tmp_path.glob("*-new"))
    if at == "after":
        index_file(target, expected := tmp_path / "expected")
        assert index.read_bytes() == expected.read_bytes()
    else:
        assert (target.read_bytes() if target.exists() else None) == before
        assert not index.exists()


def test_what_a_link_leads_to_is_written(tmp_path: Path) -> None:
    with WarcWriter(tmp_path, "crawl", "gz", config=WriterConfig(reserve_bytes=0)) as writer:
        writer.write(page(0))
    link = tmp_path / "link.warc.gz"
    link.symlink_to(writer.finished[0])
    assert main(["remove", "--force", "host0.example", str(link)]) == GOOD
    assert link.is_symlink()
    assert [kind for kind, _, _ in records(writer.finished[0])] == ["warcinfo"]


def test_a_damaged_file_and_one_being_written_stay_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = tmp_path / "a.warc"
    with WarcWriter(tmp_path, "crawl", "none", config=WriterConfig(reserve_bytes=0)) as writer:
        writer.write(page(0))
        writer.write(page(1))
    whole.write_bytes(writer.finished[0].read_bytes()[:-200])
    stored = whole.read_bytes()
    assert main(["remove", "--force", "host0.example", str(whole)]) == FAULTS
    assert whole.read_bytes() == stored
    assert "host0.example: nothing of it is in what was read" in capsys.readouterr().err
    still = tmp_path / "b.warc.open"
    still.write_bytes(writer.finished[0].read_bytes())
    (link := tmp_path / "link.warc").symlink_to(still)
    for name in (str(still), str(link), "-"):
        assert main(["remove", "--force", "host0.example", name]) == USAGE
    assert main(["remove", "*.example", str(writer.finished[0])]) == USAGE
    assert sorted(tmp_path.glob("*-new")) == []


def warc(kind: str, url: str = "", name: str = "", *belongs: str) -> bytes:
    fields = [("WARC-Type", kind), ("WARC-Target-URI", url), ("WARC-Record-ID", name)]
    fields += [("WARC-Concurrent-To", other) for other in belongs]
    head = "".join(f"{key}: {value}\r\n" for key, value in fields if value)
    return f"WARC/1.0\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n{head}Content-Length: 1\r\n\r\nx\r\n\r\n".encode()


def test_records_without_an_id_do_not_take_one_another_along(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    sites = [warc("resource", f"http://{name}.example/") for name in "abc"]
    path.write_bytes(warc("warcinfo") + b"".join(sites))
    assert main(["remove", "--force", "a.example", str(path)]) == GOOD
    assert path.read_bytes() == warc("warcinfo") + sites[1] + sites[2]


def test_an_arc_file_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "a.arc"
    first = b"filedesc://a.arc 0.0.0.0 20200101000000 text/plain 9\n1 0 Test\n\n"
    sites = [f"http://{name}.example/ 1.2.3.4 20200101000000 text/html 5\nhello\n".encode() for name in "abc"]
    path.write_bytes(first + b"".join(sites))
    assert main(["remove", "--force", "b.example", str(path)]) == GOOD
    assert path.read_bytes() == first + sites[0] + sites[2]


def test_what_belongs_to_a_capture_goes_wherever_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.warc"
    stays = warc("metadata", "", "<urn:m0>", "<urn:other>") + warc("resource", "http://b.example/", "<urn:r1>")
    goes = warc("metadata", "", "<urn:m1>", "<urn:r0>")
    goes += warc("resource", "http://a.example/", "<urn:r0>") + warc("metadata", "", "<urn:m2>", "<urn:x>", "<urn:r0>")
    path.write_bytes(goes + stays)
    assert main(["remove", "a.example", str(path)]) == GOOD
    assert "1 captures (3 records) to be taken out" in capsys.readouterr().out
    assert main(["remove", "--force", "a.example", str(path)]) == GOOD
    assert path.read_bytes() == stays


def test_a_file_is_stored_as_before_whatever_its_name(path: Path) -> None:
    other = path.with_name("other.warc")
    path.replace(other)
    before = other.read_bytes()[:4]
    assert main(["remove", "--force", "host0.example", str(other)]) == GOOD
    assert other.read_bytes()[:4] == before


def test_who_may_read_a_file_may_read_the_new_one(path: Path) -> None:
    index = path.with_name(path.name + SUFFIX)
    path.chmod(0o600)
    index.chmod(0o640)
    assert main(["remove", "--force", "host0.example", str(path)]) == GOOD
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, index)] == [0o600, 0o640]


def test_two_at_once_on_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    sites = [warc("resource", f"http://{name}.example/") for name in "abc"]
    path.write_bytes(b"".join(sites))
    inside, go_on = threading.Event(), threading.Event()

    def hold(_: Record) -> None:
        inside.set()
        go_on.wait(10)

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(remove, path, below("a.example"), write=True, tick=hold)
        inside.wait(10)
        second = threads.submit(remove, path, below("b.example"), write=True)
        wait([second], 0.2)  # which would have been ready
        go_on.set()
        assert first.result().removed == second.result().removed == 1
    assert path.read_bytes() == sites[2]


@pytest.mark.parametrize(
    ("site", "in_it", "not_in_it"),
    [
        ("Example.org", ["http://example.org/", "https://www.example.org/a?b", "HTTPS://EXAMPLE.ORG"],
         ["http://example.org.evil/", "http://a.example.org/", "http://example.org:8080/", "dns:example.org", ""]),
        ("example.org:8080", ["http://example.org:8080/x"], ["http://example.org/x"]),
        ("https://example.org/private/", ["http://example.org/private/x", "http://example.org/private"],
         ["http://example.org/privateer", "http://example.org/"]),
        ("http://example.org/p?id=", ["http://example.org/p?id=3"], ["http://example.org/p"]),
        ("example.org?id=3", ["http://example.org/?id=3"], ["http://example.org/", "http://example.org/p"]),
        ("https://example.org/p/#top", ["http://example.org/p/x"], ["http://example.org/private"]),
        ("https://example.org/p?", ["http://example.org/p?x"], ["http://example.org/private"]),
        ("https://example.org/#top", ["http://example.org/x", "urn:text:https://example.org/x"],
         ["http://web.example/https://example.org/", "urn:text:x"]),
        ("example.org/?to=http://a.example/", ["http://example.org/?to=http://a.example/x"],
         ["http://a.example/", "http://example.org/"]),
        ("example.org", ["ftp://example.org/x"], ["http://www2.example.org/", "urn:text:https://me@www2.example.org/"]),
        ("WWW2.example.org", ["https://www2.example.org/x"], ["http://example.org/", "http://www3.example.org/"]),
    ],
)  # fmt: skip
def test_what_a_site_is(site: str, in_it: list[str], not_in_it: list[str]) -> None:
    unwanted = below(site)
    assert [url for url in in_it if not unwanted(url)] == []
    assert [url for url in not_in_it if unwanted(url)] == []


@pytest.mark.parametrize("site", ["ftp://host0.example/", "FTP://host0.example/0", "whois://host0.example"])
@pytest.mark.parametrize("path", ["none"], indirect=True)
def test_what_is_no_url_of_the_web_takes_nothing_of_it(
    site: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = path.read_bytes()
    for force in ([], ["--force"]):
        assert main(["remove", *force, site, str(path)]) == USAGE
        said = capsys.readouterr()
        assert f"{site!r} begins with neither http:// nor https://; host0.example takes all of that host" in said.err
        assert said.out == ""
    assert path.read_bytes() == before
