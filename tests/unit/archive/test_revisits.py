"""``archive verify --revisits``: every repeat leads to its content, or is told."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from archive import Exchange, RevisitTarget, WarcWriter, WriterConfig
from archive.cli import main
from archive.commands.common import FAULTS, GOOD, USAGE
from archive.index.cdxj import instant, timestamp
from archive.messages.digests import digest
from archive.messages.fields import record
from archive.writing.earlier import Earlier, indexes_of
from tests.unit.archive.pages import START, page


def written(folder: Path, *exchanges: Exchange, earlier: Path | None = None) -> Path:
    """A crawl's folder; of what an earlier one has it writes revisits."""
    find = Earlier(indexes_of([str(earlier)])).find if earlier else None
    with WarcWriter(folder, "crawl", config=WriterConfig(reserve_bytes=0, earlier=find)) as writer:
        for exchange in exchanges:
            writer.write(exchange)
        writer.sync()
    return folder


@pytest.fixture
def months(tmp_path: Path) -> tuple[Path, Path]:
    """Of 20 pages of the second month 19 are as in the first."""
    april = written(tmp_path / "april", *map(page, range(20)))
    changed = page(7, payload=b"<html>new")
    return april, written(tmp_path / "may", *map(page, range(7)), changed, *map(page, range(8, 20)), earlier=april)


def verify(*arguments: object) -> int:
    return main(["verify", *map(str, arguments)])


def test_the_content_of_all_repeats_is_found(
    months: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    april, may = months
    assert verify(may, "--earlier", april) == GOOD
    assert capsys.readouterr().out.endswith("19 repeats, the content of 0 was not found\n")
    assert verify(april, may, "--revisits", "--json") == GOOD
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"revisits": 19, "unresolved": 0}
    (index,) = april.glob("*.cdxj")
    alone = tmp_path / "alone" / index.name
    alone.parent.mkdir()
    index.rename(alone)
    assert verify(may, "--earlier", alone) == GOOD
    assert verify(may, "--earlier", april) == GOOD  # without an index the file is read


def test_a_repeat_whose_content_is_nowhere_is_told(
    months: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    april, may = months
    assert verify(may, "--revisits") == FAULTS
    out = capsys.readouterr().out
    assert out.endswith("19 repeats, the content of 19 was not found\n")
    assert out.count("[revisit]") == 19
    assert f"the content of {page(3).url} is that of {page(3).url} at " in out
    assert main(["remove", "host1.example", str(april), "--force"]) == GOOD
    capsys.readouterr()
    assert verify(may, "--earlier", april, "--json") == FAULTS
    rows = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    gone = [row for row in rows if row.get("code") == "revisit"]
    assert rows[-1] == {"revisits": 19, "unresolved": 6}  # of seven pages of that host one has changed
    assert len(gone) == 6
    assert all("host1.example" in row["message"] and row["level"] == "error" for row in gone)
    (file,) = (path for path in may.glob("*.warc*") if path.suffix != ".cdxj")
    assert {row["path"] for row in gone} == {str(file)}


def test_other_content_of_the_url_is_not_that_of_the_repeat(months: tuple[Path, Path], tmp_path: Path) -> None:
    _, may = months
    other = written(tmp_path / "other", *(page(number, payload=b"<html>%d" % number) for number in range(20)))
    assert verify(may, "--earlier", other) == FAULTS


def test_an_answer_not_modified_refers_to_a_date(tmp_path: Path) -> None:
    date = instant(timestamp(START.isoformat()))
    april = written(tmp_path / "april", page(0))
    target = RevisitTarget(page(0).url, date)
    head = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    may = written(tmp_path / "may", page(0, response_head=head, payload=b"", not_modified=target))
    assert verify(may, "--earlier", april) == GOOD
    wrong = RevisitTarget(page(0).url, "2020-01-01T00:00:00Z")
    june = written(tmp_path / "june", page(0, response_head=head, payload=b"", not_modified=wrong))
    assert verify(june, "--earlier", april) == FAULTS


def test_not_modified_may_refer_to_a_repeat(tmp_path: Path) -> None:
    """The first answer of May is that of April, the next one says that it is still so."""
    april = written(tmp_path / "april", page(0))
    again, later = START + timedelta(days=30), START + timedelta(days=31)
    target = RevisitTarget(page(0).url, instant(timestamp(again.isoformat())))
    head = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    unchanged = page(0, started=later, response_head=head, payload=b"", not_modified=target)
    may = written(tmp_path / "may", page(0, started=again), unchanged, earlier=april)
    assert verify(may, "--earlier", april) == GOOD
    assert verify(may, "--revisits") == FAULTS


def test_an_index_may_have_any_name_and_lie_alone(months: tuple[Path, Path], tmp_path: Path) -> None:
    """As those that WARC_EARLIER is given."""
    april, may = months
    (index,) = april.glob("*.cdxj")
    merged = shutil.copy(index, tmp_path / "all.index")
    (alone := tmp_path / "alone").mkdir()
    shutil.copy(index, alone)
    assert verify(may, "--earlier", merged) == GOOD
    (archived,) = april.glob("*.warc.xz")
    os.mkfifo(pipe := tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        pool.submit(pipe.write_bytes, archived.read_bytes())
        assert verify(may, "--earlier", pipe) == GOOD
    assert verify(may, "--earlier", alone) == GOOD


@pytest.mark.parametrize("odd", ["5", "null", '["sha1:A"]'])
def test_odd_lines_of_an_index_hide_no_others(
    months: tuple[Path, Path], capsys: pytest.CaptureFixture[str], odd: str
) -> None:
    april, may = months
    (index,) = april.glob("*.cdxj")
    rows = index.read_text()
    place = '"filename": "a.warc", "offset": 0'
    index.write_text('zulu,a)/ 20260401000000 {"url": "http://a.zulu/", ' + place + f', "digest": {odd}}}\n{rows}')
    assert verify(may, "--earlier", april) == GOOD
    index.write_text("!a header\n" + rows)
    capsys.readouterr()
    assert verify(may, "--earlier", april) == FAULTS
    out, err = capsys.readouterr()
    assert out.endswith("19 repeats, the content of 0 was not found\n")
    assert f"{index}:1: no line of an index" in err
    assert "Traceback" not in err


def test_damage_of_an_earlier_file_without_an_index_is_told(
    months: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    april, may = months
    (index,) = april.glob("*.cdxj")
    index.unlink()
    (file,) = april.glob("*.warc.xz")
    file.write_bytes(file.read_bytes()[:-40])
    assert verify(may, "--earlier", april) == FAULTS
    assert capsys.readouterr().err.startswith(f"damage: {file}:")
    assert verify(file, "--revisits") == FAULTS
    assert "damage" not in capsys.readouterr().err  # it is among what was verified


def foreign(file: Path, *revisits: dict[str, str]) -> Path:
    """A file of another tool, of revisits with these fields beside those that all have."""
    records = []
    for number, fields in enumerate(revisits):
        whole = {
            "WARC-Type": "revisit",
            "WARC-Record-ID": f"<urn:uuid:00000000-0000-4000-8000-{number:012}>",
            "WARC-Date": "2026-05-01T00:00:00Z",
            **fields,
        }
        records.append(record("1.1", list(whole.items()), b""))
    file.write_bytes(b"".join(records))
    return file


def test_revisits_of_other_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an address or a date that they refer to; of a profile that nobody knows."""
    april = written(tmp_path / "april", page(0), page(1))
    (index,) = april.glob("*.cdxj")
    digests = [json.loads(row.partition(" {")[2].join(("{", "")))["digest"] for row in index.read_text().splitlines()]
    profile = "http://netpreserve.org/warc/1.1/revisit/"
    same = {"WARC-Profile": profile + "identical-payload-digest", "WARC-Payload-Digest": f"sha1:{digests[0]}"}
    unchanged = {"WARC-Profile": profile + "server-not-modified"}
    here, gone = {"WARC-Target-URI": page(0).url}, {"WARC-Target-URI": page(2).url}
    unknown = {**same, "WARC-Profile": "http://example.org/a-profile-of-ours"}
    revisits = [{**same, **here}, {**unchanged, **here}, {**same, **gone}, {**unchanged, **gone}, {**unknown, **gone}]
    may = foreign(tmp_path / "may.warc", *revisits)
    assert verify(may, "--earlier", april, "--json") == FAULTS
    rows = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    assert rows[-1] == {"revisits": 4, "unresolved": 2}
    assert all(page(2).url in row["message"] for row in rows if row.get("code") == "revisit")


def test_a_damaged_revisit_is_told_as_damage_only(
    months: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, may = months
    (file,) = may.glob("*.warc.xz")
    plain = tmp_path / "may.warc"
    assert main(["convert", str(file), "--to", "none", "-o", str(plain), "--quiet"]) == GOOD
    place = plain.read_bytes().rindex(b"WARC-Type: revisit")
    plain.write_bytes(plain.read_bytes()[: plain.read_bytes().index(b"HTTP/1.1", place)])
    capsys.readouterr()
    assert verify(plain, "--revisits", "--no-index", "--json") == FAULTS
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"revisits": 18, "unresolved": 18}


def test_what_cannot_be_looked_into(months: tuple[Path, Path], tmp_path: Path) -> None:
    april, may = months
    assert verify(may, "--earlier", april / "none") == USAGE
    assert verify(may, "--earlier", tmp_path) == USAGE
    assert verify("-", "--revisits") == USAGE


@pytest.mark.parametrize(
    ("url", "refers"),
    [
        ("http://a.example/2", [("WARC-Refers-To-Target-URI", "<http://a.example/1>")]),
        ("http://a.example/1", [("WARC-Refers-To", "<urn:uuid:00000000-0000-4000-8000-000000000001>")]),
    ],
    ids=["in angle brackets", "as wget has it: the id alone"],
)
def test_repeats_of_other_tools_lead_to_their_content(
    url: str, refers: list[tuple[str, str]], tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    head, payload = b"HTTP/1.1 200 OK\r\n\r\n", b"<html>" + b"x" * 300

    def file(number: int, kind: str, url: str, fields: list[tuple[str, str]], block: bytes) -> Path:
        named = [("WARC-Record-ID", f"<urn:uuid:00000000-0000-4000-8000-{number:012}>"), ("WARC-Type", kind)]
        named += [("WARC-Target-URI", f"<{url}>"), ("WARC-Date", f"2024-{number:02}-01T00:00:00Z")]
        named += [("Content-Type", "application/http;msgtype=response")]
        named += [("WARC-Payload-Digest", digest("sha1", payload))]
        path = tmp_path / str(number) / "x.warc"
        path.parent.mkdir()
        path.write_bytes(record("1.0", named + fields, block))
        return path

    profile = [("WARC-Profile", "<http://netpreserve.org/warc/1.0/revisit/identical-payload-digest>")]
    april = file(1, "response", "http://a.example/1", [], head + payload)
    may = file(2, "revisit", url, refers + profile, head)
    assert verify(may, "--earlier", april, "--quiet") == GOOD
    capsysbinary.readouterr()
    assert main(["get", str(may), url, "--earlier", str(april.parent)]) == GOOD
    assert capsysbinary.readouterr().out == payload
    assert main(["get", str(may), url]) == FAULTS
    assert b"the content is an earlier one of http://a.example/1, which is not here" in capsysbinary.readouterr().err
    assert main(["remove", "http://a.example/1", str(april), str(may), "--json"]) == GOOD
    removals = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert sum(removal["bereft"] for removal in removals) == (url != "http://a.example/1")


@pytest.mark.parametrize(
    ("stored", "sought", "found"),
    [
        ("sha1:none", "sha1:nothing", False),
        ("xxh64:1111", "xxh64:2222", False),
        ("xxh64:1111", "xxh64:1111", True),
    ],
)
def test_digests_that_cannot_be_read_are_those_of_no_other_content(
    stored: str, sought: str, found: bool, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    url, head = "http://a.example/1", b"HTTP/1.1 200 OK\r\n\r\n"
    for name, kind, checksum, block in (
        ("april", "response", stored, head + b"other"),
        ("may", "revisit", sought, head),
    ):
        fields = [("WARC-Record-ID", f"<urn:x:{name}>"), ("WARC-Type", kind), ("WARC-Target-URI", url)]
        fields += [("WARC-Date", "2024-01-01T00:00:00Z"), ("Content-Type", "application/http;msgtype=response")]
        fields += [("WARC-Payload-Digest", checksum), ("WARC-Refers-To-Target-URI", url)]
        profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
        fields += [("WARC-Profile", profile)] if kind == "revisit" else []
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.warc").write_bytes(record("1.1", fields, block))
    assert main(["get", str(tmp_path / "may"), url, "--earlier", str(tmp_path / "april")]) == (
        GOOD if found else FAULTS
    )
    assert capsysbinary.readouterr().out == (b"other" if found else b"")
    if sought.startswith("sha1:"):
        assert verify(tmp_path / "may", "--earlier", tmp_path / "april") == FAULTS
        assert b"the content of 1 was not found" in capsysbinary.readouterr().out
