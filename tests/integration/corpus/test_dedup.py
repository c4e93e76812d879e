"""``corpus dedup`` as users run it: one run after the other, killed, locked out, with wrong and damaged input."""

import gzip
import json
import lzma
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from corpus.cli import main
from corpus.duplicates.kept import Kept
from sieve.disk.files import FolderLock
from tests.effort import thinned

REPO = Path(__file__).parents[3]
WORDS = [
    "abantu",
    "bathi",
    "imvula",
    "izolo",
    "namhlanje",
    "ekhaya",
    "umfula",
    "isikole",
    "uthisha",
    "ibhola",
    "inkomo",
]


def paragraph(number: int) -> str:
    """A long one, unlike all others."""
    digits = [int(digit) for digit in f"{number:04}"]
    return " ".join(WORDS[(digit + place) % len(WORDS)] + str(number) for place, digit in enumerate(digits * 3))


def write(path: Path, *numbers: int, size: int = 2) -> Path:
    """Documents of two paragraphs each."""
    rows = []
    for place in range(0, len(numbers), size):
        text = "\n".join(paragraph(number) for number in numbers[place : place + size])
        rows.append(json.dumps({"id": f"{path.stem}-{place}", "url": "https://a.example/", "text": text}))
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def dedup(*arguments: object) -> int:
    return main(["dedup", *(str(argument) for argument in arguments), "-q"])


def texts(*paths: Path) -> list[str]:
    """Paragraphs of all documents of the files that are there."""
    rows = [row for path in paths if path.exists() for row in path.read_text().splitlines()]
    return [text for row in rows for text in json.loads(row)["text"].split("\n")]


@pytest.fixture
def months(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Three months of input, each with something of the one before; the tests run in their folder."""
    monkeypatch.chdir(tmp_path)
    return [
        write(tmp_path / "a.jsonl", *range(20)),
        write(tmp_path / "b.jsonl", *range(11, 40), 3),
        write(tmp_path / "c.jsonl", *range(60), 1, 2, 12, 13),
    ]


def run_killed(at: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.integration.corpus.dying", at, "dedup", *arguments, "-q"]
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True)


def calls_of(*arguments: object) -> int:
    done = run_killed(0, *arguments)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def restore(saved: Path, folder: Path) -> None:
    """Everything as it was, but for the inputs, which stay."""
    for path in folder.iterdir():
        if path.suffix != ".jsonl" and path != saved:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(saved, folder, dirs_exist_ok=True)


def test_months_one_after_the_other(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dedup(*months, "-o", "all") == 0
    outs = [tmp_path / f"{path.stem}.out" for path in months]
    for path, out in zip(months, outs, strict=True):
        assert dedup(path, "-o", out, "--state", "state") == 0
    assert b"".join(out.read_bytes() for out in outs) == (tmp_path / "all").read_bytes()
    assert sorted(texts(*outs)) == sorted(map(paragraph, range(60)))
    before = [out.read_bytes() for out in outs]
    for place in (1, 0, 2):  # made again, in whatever order
        assert dedup(months[place], "-o", outs[place], "--state", "state") == 0
        assert [out.read_bytes() for out in outs] == before
    capsys.readouterr()
    assert main(["dedup", str(months[0]), "-o", "d.out", "--state", "state", "--json", "-q"]) == 0
    counts = json.loads(capsys.readouterr().err)
    assert (counts["earlier_outputs"], counts["read"], counts["kept"]) == (3, 10, 0)
    assert counts["dropped"] == {"duplicate": 10}


def test_the_last_output_may_be_made_of_other_input(months: list[Path], tmp_path: Path) -> None:
    a, b, c = months
    assert [dedup(path, "-o", f"{path.stem}.out", "--state", "state") for path in (a, b)] == [0, 0]
    write(b, *range(30, 36))
    assert dedup(b, "-o", "b.out", "--state", "state") == 0
    assert texts(tmp_path / "b.out") == [paragraph(number) for number in range(30, 36)]
    assert dedup(c, "-o", "c.out", "--state", "state") == 0
    outs = [tmp_path / f"{path.stem}.out" for path in months]
    assert sorted(texts(*outs)) == sorted(map(paragraph, range(60)))


def test_an_earlier_output_may_not(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in months[:2]:
        assert dedup(path, "-o", f"{path.stem}.out", "--state", "state") == 0
    before = (tmp_path / "a.out").read_bytes()
    for numbers in (range(18), range(22)):
        write(months[0], *numbers)
        assert dedup(months[0], "-o", "a.out", "--state", "state") == 2
        assert "comes out otherwise now, but ../b.out was made after it" in capsys.readouterr().err
        assert (tmp_path / "a.out").read_bytes() == before
        assert not list(tmp_path.glob(".*"))
    assert dedup(months[0], "-o", "a2.out", "--state", "state") == 0


def test_an_output_that_is_gone(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in months[:2]:
        assert dedup(path, "-o", f"{path.stem}.out", "--state", "state") == 0
    (tmp_path / "b.out").rename(tmp_path / "moved")
    assert dedup(months[2], "-o", "b.out", "--state", "state") == 2
    assert "b.out: counted in state, but not there" in capsys.readouterr().err
    (tmp_path / "b.out").touch()
    assert dedup(months[1], "-o", "b.out", "--state", "state") == 0
    assert (tmp_path / "b.out").read_bytes() == (tmp_path / "moved").read_bytes()


def test_state_and_outputs_may_move_together(months: list[Path], tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    assert dedup(months[0], "-o", "here/a.out", "--state", "here/state") == 0
    before = (tmp_path / "here" / "a.out").read_bytes()
    (tmp_path / "here").rename(tmp_path / "there")
    assert dedup(months[0], "-o", "there/a.out", "--state", "there/state") == 0
    assert (tmp_path / "there" / "a.out").read_bytes() == before
    (tmp_path / "by").mkdir()
    (tmp_path / "by" / "link").symlink_to(tmp_path / "there")
    for output, state in (("by/link/a.out", "there/state"), ("there/a.out", "by/link/state")):
        assert dedup(months[0], "-o", output, "--state", state) == 0
        assert (tmp_path / "there" / "a.out").read_bytes() == before


def test_an_output_that_was_moved_is_not_written_over(
    months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compared with itself it would come out empty."""
    (tmp_path / "here").mkdir()
    for path in months[:2]:
        assert dedup(path, "-o", f"here/{path.stem}.out", "--state", "here/state") == 0
    before = (tmp_path / "here" / "a.out").read_bytes()
    (tmp_path / "here" / "a.out").rename("a.out")
    assert dedup(months[0], "-o", "a.out", "--state", "here/state") == 2
    assert "a.out: there, but not counted in here/state, where ../a.out is counted" in capsys.readouterr().err
    assert (tmp_path / "a.out").read_bytes() == before
    assert dedup(months[2], "-o", "c.out", "--state", "here/state") == 0
    (tmp_path / "a.out").rename(tmp_path / "here" / "a.out")
    (tmp_path / "here" / "state").rename("state")
    assert dedup(months[0], "-o", "here/a.out", "--state", "state") == 2
    assert (tmp_path / "here" / "a.out").read_bytes() == before
    (tmp_path / "state").rename(tmp_path / "here" / "state")
    (tmp_path / "other.out").write_text("of a run without a state")
    assert dedup(months[0], "-o", "other.out", "--state", "here/state") == 0
    assert (tmp_path / "other.out").read_bytes() == b""


@pytest.mark.slow
def test_killed_at_any_instant_and_run_again(months: list[Path], tmp_path: Path) -> None:
    """Whatever a killed run left: the same command gives the same bytes, another one leaves out only what there is."""
    a, b, c = months
    outs = [tmp_path / f"{path.stem}.out" for path in months]
    expected = []
    for path, out in zip(months, outs, strict=True):
        assert dedup(path, "-o", out, "--state", "state") == 0
        expected.append(out.read_bytes())
    shutil.rmtree(tmp_path / "state")
    for out in outs:
        out.unlink()
    assert dedup(a, "-o", "a.out", "--state", "state") == 0
    saved = tmp_path / "saved"
    saved.mkdir()
    shutil.copytree(tmp_path / "state", saved / "state")
    shutil.copy2(tmp_path / "a.out", saved)
    command = (b, "-o", "b.out", "--state", "state", "--dropped", "b.dropped")
    calls = calls_of(*command)
    assert calls > 12
    ends = set()
    for at in thinned(range(1, calls + 1), 3):
        restore(saved, tmp_path)
        assert run_killed(at, *command).returncode == -9
        left = outs[1].read_bytes() if outs[1].exists() else None
        assert left in (None, expected[1])
        ends.add(left)
        killed = shutil.copytree(tmp_path / "state", tmp_path / "killed")
        assert dedup(c, "-o", "c.out", "--state", "state") == 0
        found = texts(*outs)
        assert set(texts(c)) <= set(found)
        assert len(found) == len(set(found))
        outs[2].unlink()
        shutil.rmtree(tmp_path / "state")
        killed.rename(tmp_path / "state")
        assert dedup(*command) == 0
        assert outs[1].read_bytes() == expected[1]
        assert dedup(c, "-o", "c.out", "--state", "state") == 0
        assert outs[2].read_bytes() == expected[2]
    assert ends == {None, expected[1]}


@pytest.mark.slow
def test_killed_while_an_output_is_made_of_other_input(months: list[Path], tmp_path: Path) -> None:
    """The state counts the old output or the new one, by which of them is there."""
    a, b, c = months
    outs = [tmp_path / f"{path.stem}.out" for path in months]
    for path in (a, b):
        assert dedup(path, "-o", f"{path.stem}.out", "--state", "state") == 0
    old = outs[1].read_bytes()
    saved = tmp_path / "saved"
    saved.mkdir()
    write(b, *range(30, 36), 58, 59)
    command = (b, "-o", "b.out", "--state", "state")
    shutil.copytree(tmp_path / "state", saved / "state")
    shutil.copy2(tmp_path / "a.out", saved)
    shutil.copy2(tmp_path / "b.out", saved)
    calls, ends = calls_of(*command), set()
    new = outs[1].read_bytes()
    for at in thinned(range(1, calls + 1), 3):
        restore(saved, tmp_path)
        assert run_killed(at, *command).returncode == -9
        assert outs[1].read_bytes() in (old, new)
        ends.add(outs[1].read_bytes())
        assert dedup(c, "-o", "c.out", "--state", "state") == 0
        found = texts(*outs)
        assert set(texts(c)) <= set(found)
        assert len(found) == len(set(found))
    assert ends == {old, new}


def test_a_name_that_a_state_cannot_remember_is_refused_before_the_work(
    months: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    output = months[0].with_name(os.fsdecode(b"out\xff.jsonl"))
    assert dedup(months[0], "-o", output, "--state", months[0].with_name("state")) == 2
    assert "out\ufffd.jsonl: a state knows outputs by names in UTF-8 only" in capsys.readouterr().err
    assert dedup(months[0], "-o", output) == 0


def test_one_process_at_a_time(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = FolderLock(tmp_path / "state" / "dedup")
    assert dedup(months[0], "-o", "a.out", "--state", "state") == 2
    assert "state: another process is working with this state" in capsys.readouterr().err
    assert not (tmp_path / "a.out").exists()
    lock.release()
    assert dedup(months[0], "-o", "a.out", "--state", "state") == 0


def test_damaged_state_is_told(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dedup(months[0], "-o", "a.out", "--state", "state") == 0
    [run] = (tmp_path / "state" / "dedup").glob("*.run")
    manifest = tmp_path / "state" / "dedup" / "MANIFEST"
    for path, wrong in ((run, "checksum of block 0"), (manifest, "its checksum is wrong")):
        whole = path.read_bytes()
        path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
        assert dedup(months[1], "-o", "b.out", "--state", "state") == 2
        error = capsys.readouterr().err
        assert wrong in error
        assert path.name in error
        path.write_bytes(whole)
    for path in (run, manifest):
        path.rename(tmp_path / "aside")
        assert dedup(months[1], "-o", "b.out", "--state", "state") == 2
        error = capsys.readouterr().err
        assert path.name in error
        assert "is missing" in error
        (tmp_path / "aside").rename(path)
    assert not (tmp_path / "b.out").exists()


def test_a_state_that_cannot_be_read_or_written_is_named(
    months: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for call in ("RunWriter.append", "Run.open"):
        with monkeypatch.context() as patched:
            patched.setattr(f"sieve.sets.store.{call}", fails)
            assert dedup(months[0], "-o", "a.out", "--state", "state") == 2
        assert "state: No space left on device" in capsys.readouterr().err
        assert (tmp_path / "a.out").exists() == (call == "Run.open")
        assert dedup(months[0], "-o", "a.out", "--state", "state") == 0


def test_a_listing_that_cannot_be_written_is_named(months: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    write(months[1], *range(4000))
    assert dedup(*months, months[1], "-o", "x", "--dropped", "/dev/full") == 2
    assert "/dev/full: No space left on device" in capsys.readouterr().err


def test_nothing_is_left_in_the_folder_for_temporary_files(
    months: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr("corpus.commands.dedup.Kept", lambda earlier: Kept(earlier, newest_keys=1))
    write(months[1], *range(4000))  # more than a batch
    assert dedup(*months, "-o", "all") == 0
    assert not list((tmp_path / "temporary").iterdir())


def test_files_beside_the_state_are_left_alone(months: list[Path], tmp_path: Path) -> None:
    (tmp_path / "1.run").write_text("mine")
    (tmp_path / "MANIFEST").write_text("mine")
    assert dedup(months[0], "-o", "a.out", "--state", tmp_path) == 0
    assert (tmp_path / "1.run").read_text() == (tmp_path / "MANIFEST").read_text() == "mine"


def test_outputs_made_without_near_are_told(months: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["--near"], []):
        assert dedup(months[0], "-o", "a.out", "--state", "state", *options) == 0
        assert capsys.readouterr().err == ""
    assert dedup(months[1], "-o", "b.out", "--state", "state", "--near") == 0
    assert capsys.readouterr().err == "-WARN made without --near, so only known exactly: ../a.out\n"


def test_damaged_lines_are_told_and_the_rest_goes_on(
    months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = months[0].read_text().splitlines(keepends=True)
    bad = ["{broken\n", "[]\n", '{"text": 3}\n', '{"text": "a\\nb", "paragraphs": []}\n', "\n"]
    (tmp_path / "bad.jsonl").write_text("".join([rows[0], *bad, *rows[1:]]))
    assert dedup("bad.jsonl", "-o", "bad.out", "--state", "state") == 1
    assert dedup(months[0], "-o", "a.out") == 0
    assert (tmp_path / "bad.out").read_bytes() == (tmp_path / "a.out").read_bytes()
    error = capsys.readouterr().err
    assert [number for number in range(1, 8) if f"bad.jsonl:{number}: " in error] == [2, 3, 4, 5]
    packed = lzma.compress(months[0].read_bytes())
    (tmp_path / "cut.jsonl.xz").write_bytes(packed[:-20])
    assert dedup("cut.jsonl.xz", months[1], "-o", "cut.out") == 1
    assert set(texts(months[1])) <= set(texts(tmp_path / "cut.out"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.warc", "-o", "x"], "a.warc: neither JSON lines nor vertical text"),
        (["a.jsonl", "a.vert", "-o", "x"], "a.vert: vertical, but the files before it are jsonl: one form a run"),
        (["a.jsonl", "-o", "a.jsonl"], "is one of the files to read"),
        (["a.jsonl", "-o", "x", "--dropped", "./x"], "--dropped: is the output"),
        (["a.jsonl", "-o", "-", "--state", "s"], "a run with --state writes a file"),
        (["a.jsonl", "-o", "/dev/null", "--state", "s"], "a run with --state writes a file"),
        (["a.jsonl", "-o", "x", "--threshold", "0.5"], "--threshold: only with --near"),
        (["a.jsonl", "-o", "x", "--near", "--threshold", "nan"], "--threshold: above 0, at most 1"),
        (["a.jsonl", "-o", "x", "--min-paragraph", "-1"], "--min-paragraph: not below 0"),
        (["a.jsonl", "-o", "x", "--columns", "1,x"], "--columns 1,x: not numbers"),
        (["a.jsonl", "-o", "x", "--columns", "0"], "--columns 0: not numbers"),
        (["a.jsonl", "-o", "x", "--columns", "1", "--near"], "--columns: rows are compared exactly"),
        (["a.jsonl", "-o", "x", "--columns", "1", "--min-paragraph", "9"], "--columns: rows are compared exactly"),
        (["none.jsonl", "-o", "x"], "none.jsonl: no such file"),
    ],
)
def test_wrong_usage(
    months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: Sequence[str], said: str
) -> None:
    (tmp_path / "a.warc").write_text("WARC/1.0\r\n")
    (tmp_path / "a.vert").write_text("<doc>\n</doc>\n")
    assert main(["dedup", *arguments]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "+OK" not in told, "found before the work"
    assert not (tmp_path / "x").exists()


def test_summary_and_listing(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near = paragraph(0) + " kusho yena"
    (tmp_path / "n.jsonl").write_text(
        json.dumps({"id": "n\ud800", "url": "u", "text": f"Isihloko\n{near}\n{paragraph(70)}"})
    )
    arguments = ["a.jsonl", "n.jsonl", "a.jsonl", "-o", "x.jsonl.gz", "--near", "--dropped", "x.dropped"]
    assert main(["dedup", *arguments]) == 0
    error = capsys.readouterr().err
    assert "+OK x.jsonl.gz: 11 of 21 documents (21 paragraphs) from 3 files; left out:" in error
    assert "       10 documents: the same text as one before\n" in error
    assert "        1 paragraphs: nearly all of it was there before\n" in error
    listed: list[dict[str, Any]] = [json.loads(row) for row in (tmp_path / "x.dropped").read_text().splitlines()]
    assert listed[:2] == [
        {"reason": "short", "id": "n\ud800", "url": "u", "paragraph": 1, "text": "Isihloko"},
        {"reason": "near", "id": "n\ud800", "url": "u", "paragraph": 2, "text": near},
    ]
    assert len(listed) == 12


def test_rows_with_a_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.tsv").write_text("1\ta\n2\tb\n3\ta\n")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "x.tsv.xz").write_bytes(lzma.compress(b"4\tb\n5\tc\n6\n"))
    assert dedup("one.tsv", "-o", "one.out", "--state", "state", "--columns", "2") == 0
    assert dedup("two", "-o", "two.out", "--state", "state", "--columns", "2") == 1
    assert (tmp_path / "one.out").read_text() == "1\ta\n2\tb\n"
    assert (tmp_path / "two.out").read_text() == "5\tc\n"
    assert "x.tsv.xz:3: 1 columns, not 2" in capsys.readouterr().err


def test_columns_that_no_row_has_replace_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, out = tmp_path / "rows.tsv", tmp_path / "out.tsv"
    rows.write_text("a\tb\n" * 250)
    out.write_text("before\n")
    assert dedup(str(rows), "-o", str(out), "--columns", "9") == 2
    error = capsys.readouterr().err
    assert error.count("-WARN") == 101
    assert "rows.tsv: 150 more places like these" in error
    assert "--columns 9: no row has them; nothing is written" in error
    assert out.read_text() == "before\n"
    rows.write_text("a\tb\n" * 150 + "a\tb\tc\n")
    assert dedup(str(rows), str(rows), "-o", str(out), "--columns", "3") == 1
    assert capsys.readouterr().err.count("rows.tsv: 50 more places like these") == 2
    assert out.read_text() == "a\tb\tc\n"


def test_where_a_file_breaks_off_is_said_however_many_faults_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.tsv.gz"
    rows.write_bytes(gzip.compress(b"a\tb\n" + b"a\n" * 150)[:-4])
    assert dedup(str(rows), "-o", str(tmp_path / "out.tsv"), "--columns", "2") == 1
    error = capsys.readouterr().err
    assert "rows.tsv.gz:152: breaks off: " in error
    assert "rows.tsv.gz: 50 more places like these" in error


def test_folders_and_standard_input(months: list[Path], tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    months[0].rename(tmp_path / "in" / "a.jsonl")
    (tmp_path / "in" / "a.vert").write_text(f"<doc>\n<p>\n{'yebo ' * 20}\n</p>\n</doc>\n")
    assert dedup("in", "-o", "x.jsonl") == 0
    assert len(texts(tmp_path / "x.jsonl")) == 20
    assert dedup("in", "-o", "x.vert") == 0
    assert (tmp_path / "x.vert").read_bytes() == (tmp_path / "in" / "a.vert").read_bytes()
    command = [sys.executable, "-m", "corpus", "dedup", "-", "-o", "-", "-q"]
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    piped = subprocess.run(
        command, env=environment, input=(tmp_path / "in" / "a.jsonl").read_bytes(), capture_output=True
    )
    assert (piped.returncode, piped.stdout) == (0, (tmp_path / "x.jsonl").read_bytes())
    empty = subprocess.run(command, env=environment, input=b"", capture_output=True)
    assert (empty.returncode, empty.stdout, empty.stderr) == (0, b"", b"")


def test_a_document_that_is_none_costs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (f'<doc id="{name}">\n<p>\n{name} amanzi\n</p>\n</doc>\n' for name in "ab")
    broken = '<doc id="c">\n<p>\nc\n</doc>\n'
    (tmp_path / "in.vert").write_text(one + broken + '<doc id="d">\n<p>\n' + two + "a\n")
    assert main(["dedup", str(tmp_path / "in.vert"), "-o", str(tmp_path / "out.vert")]) == 1
    assert (tmp_path / "out.vert").read_text() == one + two
    told = [line for line in capsys.readouterr().err.splitlines() if "in.vert:" in line and line.startswith("-WARN")]
    assert [line.split("in.vert:")[1].split(":")[0] for line in told] == ["9", "11", "17"]


def test_what_was_dropped_is_written_over_no_output(
    months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b, _ = months
    state = str(tmp_path / "state")
    assert main(["dedup", str(a), "-o", str(tmp_path / "a.out"), "--state", state]) == 0
    before = (tmp_path / "a.out").read_bytes()
    given = ["--state", state, "--dropped", str(tmp_path / "a.out")]
    assert main(["dedup", str(b), "-o", str(tmp_path / "b.out"), *given]) == 2
    assert "a.out: is an output that is counted in" in capsys.readouterr().err
    assert (tmp_path / "a.out").read_bytes() == before
    assert not (tmp_path / "b.out").exists()
