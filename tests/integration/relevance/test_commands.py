"""`python -m relevance` as a user runs it."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from relevance.cli import main
from tests.small_model import write_small_model

ZULU = "Izindaba zanamuhla zivela eThekwini nakwezinye izindawo"
ENGLISH = "The news of today"


def run(*arguments: Any, stdin: str | None = "") -> Any:
    return subprocess.run(
        [sys.executable, "-m", "relevance", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_commands(tmp_path: Path) -> None:
    assert "train" in run("--help").stdout
    found = run("identify", stdin=f"{ZULU}\n{ENGLISH}\n")
    assert [line.split("\t")[0] for line in found.stdout.splitlines()] == ["zul", "eng"]
    assert "ukuthi" in run("words", "zul", "--count", "50").stdout
    assert run("words", "tlh").returncode == 2
    assert run("export-arpa", "zul", tmp_path / "z.arpa").returncode == 0
    assert (tmp_path / "z.arpa").read_text(encoding="utf-8").startswith("\\data\\")


def test_a_dash_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Nothing else goes there, then."""
    monkeypatch.chdir(tmp_path)
    write_small_model(Path("s.model"))
    assert main(["export-arpa", "eng", "a.arpa", "--model", "s.model"]) == 0
    assert capsysbinary.readouterr().out == b"a.arpa: order 3\n"
    assert main(["export-arpa", "eng", "-", "--model", "s.model"]) == 0
    assert capsysbinary.readouterr() == (Path("a.arpa").read_bytes(), b"-: order 3\n")
    Path("news.txt").write_text("The government said that it is a good law on nature\n", encoding="utf-8")
    adapt = ["adapt", "news.txt", "-q", "--model", "s.model", "-o"]
    assert main([*adapt, "a.model"]) == 0
    told = capsysbinary.readouterr().out
    assert main([*adapt, "-"]) == 0
    assert capsysbinary.readouterr() == (Path("a.model").read_bytes(), told)
    Path("src").mkdir()
    Path("src/aaa.txt").write_text("umuntu ubona abantu emzini wakithi\n" * 9, encoding="utf-8")
    Path("d.toml").write_text("name='tiny'\n[[source]]\nname='src'\n[[class]]\nname='aaa'\n")
    train = ["train", ".", "-q", "--description", "d.toml", "-o"]
    assert main([*train, "-", "--card", "c.md"]) == 2
    assert b"-: is no file, and the card tells how good the model in it is" in capsysbinary.readouterr().err
    assert main([*train, "d.model"]) == 0
    size = capsysbinary.readouterr().out.removeprefix(b"d.model")
    assert main([*train, "-"]) == 0
    assert capsysbinary.readouterr() == (Path("d.model").read_bytes(), b"-" + size)
    assert b"bytes" in size
    assert main([*train, "d.model", "--card", "-"]) == 0
    assert capsysbinary.readouterr().out.startswith(b"# Language model `tiny`")
    assert not Path("-").exists()


def test_a_file_may_be_called_as_standard_input_and_output_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_small_model(Path("s.model"))
    assert main(["export-arpa", "eng", "./-", "--model", "s.model"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/-: order 3\n"
    assert Path("./-").read_bytes().startswith(b"\\data\\")
    Path("./-").write_text(ZULU + "\n", encoding="utf-8")
    assert main(["identify", "./-"]) == 0
    assert capsys.readouterr().out.startswith("zul")
    Path("src").mkdir()
    Path("src/aaa.txt").write_text("umuntu ubona abantu emzini wakithi\n" * 9, encoding="utf-8")
    Path("d.toml").write_text("name='tiny'\n[[source]]\nname='src'\n[[class]]\nname='aaa'\n")
    train = ["train", ".", "-q", "--description", "d.toml"]
    assert main([*train, "-o", "./-", "--card", "-"]) == 0
    assert capsys.readouterr().out.startswith("# Language model `tiny`")
    assert main(["identify", "--model", "./-", "d.toml"]) == 0


def test_wrong_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "noise.txt").write_bytes(bytes(range(256)))
    (tmp_path / "data" / "src").mkdir(parents=True)
    (tmp_path / "some" / "news").mkdir(parents=True)
    (tmp_path / "some" / "news" / "zul.txt").touch()
    none = tmp_path / "none"
    for words, said in (
        (("identify", "--model", tmp_path / "noise.txt"), "no language model"),
        (("identify", "--languages", "tlh"), "'tlh'"),
        (("identify", "--by-word", "--model", "afriweb"), "does not label words"),
        (("identify", "--likely", "--model", "afriweb"), "knows no probabilities"),
        (("export-arpa", "zul", none / "z.arpa"), "z.arpa: no such folder"),
        *(
            (
                ("identify", *kind, "--languages", "zul", tmp_path / "noise.txt"),
                "noise.txt is taken for a language: files come before",
            )
            for kind in ((), ("--by-word",), ("--likely",))
        ),
        (("eval", tmp_path), "no folder dev-*; name one with --source (there are: none)"),
        (("eval", tmp_path / "some"), "(there are: news)"),
        (("eval", tmp_path, "--source", "none"), f"{none}: no such folder"),
        (("eval", tmp_path / "data", "--source", "src"), "no <language>.txt"),
        (("train", tmp_path / "data"), "has it (that of the shipped model, as no --description"),
        (("train", tmp_path, "--leave-out", "none", "--card", tmp_path / "c.md"), f"{none}: no such folder"),
        (("train", tmp_path, "--dev", "some"), "name it with --card"),
        (("train", tmp_path, "--parts", "3"), "name it with --card"),
        (("train", tmp_path, "-o", none / "new.model"), "new.model: no such folder"),
        (("train", tmp_path, "--out", none / "new.model"), "new.model: no such folder"),
    ):
        assert main(list(map(str, words))) == 2, words
        out, err = capsys.readouterr()
        assert said in err
        assert out == ""
        assert [line for line in err.splitlines() if not line[:2].isdigit()] == [err.splitlines()[-1]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *[(("words", "zul", "--count", count), f"{count} is no whole number from 1 on") for count in ("-3", "many")],
        *[(("train", ".", "--min-count", count), f"{count} is no number from 0 on") for count in ("nan", "-1", "few")],
        (("eval", ".", "--parts", "1"), "one part is all the text: nothing is left to train from"),
    ],
)
def test_a_number_that_is_none_is_named(words: tuple[str, ...], said: str, capsys: Any) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--leave-out", "a", "--source", "b"), "relevance eval: --source beside --leave-out"),
        (("--leave-out", "a", "--model", "m"), "relevance eval: --model beside --leave-out"),
        (("--parts", "3", "--source", "b"), "relevance eval: --source beside --parts"),
        (("--parts", "3", "--leave-out", "b"), "relevance eval: --leave-out beside --parts"),
        (("--clean",), "relevance eval: --clean says which lines --leave-out measures on"),
        (("--adapt",), "relevance eval: --adapt says what --leave-out measures"),
        (
            ("--description", "d.toml", "--source", "a"),
            "relevance eval: --description says what --leave-out and --parts",
        ),
    ],
)
def test_what_eval_would_not_heed_it_refuses(words: tuple[str, ...], said: str, tmp_path: Path, capsys: Any) -> None:
    for source in "ab":
        (tmp_path / source).mkdir()
        (tmp_path / source / "zul.txt").write_text(f"{ZULU}\n" * 20, encoding="utf-8")
    assert main(["eval", str(tmp_path), *words]) == 2
    assert capsys.readouterr().err.startswith(said)


def test_what_cannot_be_read_loses_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(f"{ZULU}\n{ZULU} caf\xe9\ncaf\xe9\n".encode("latin-1"))
    (tmp_path / "good.txt").write_text(ENGLISH, encoding="utf-8")
    files = [tmp_path / name for name in ("none.txt", "old.txt", "good.txt")]
    found = run("identify", *files, "-", stdin=f"{ZULU}\r\n")
    assert found.returncode == 1
    rows = [line.split("\t") for line in found.stdout.splitlines()]
    assert [(row[0], row[-1]) for row in rows if "caf" not in row[-1]] == [
        ("zul", ZULU),
        ("eng", ENGLISH),
        ("zul", ZULU),
    ]
    assert len(rows) == 5
    assert found.stderr.splitlines() == [
        f"relevance identify: {files[0]}: No such file or directory",
        f"relevance identify: {files[1]}:2 (and 1 more lines): not UTF-8; what is none was read as unknown letters",
    ]


def test_a_byte_order_mark_is_no_text(tmp_path: Path, capsys: Any) -> None:
    files = [tmp_path / "marked.txt", tmp_path / "too.txt"]
    for file in files:  # a mark in the middle of a file is left as it is
        file.write_text(f"\ufeff{ZULU}\r\n\ufeff{ENGLISH}\n", encoding="utf-8")
    assert main(["identify", "--json", *map(str, files)]) == 0
    texts = [json.loads(line)["text"] for line in capsys.readouterr().out.splitlines()]
    assert texts == [ZULU, f"\ufeff{ENGLISH}"] * 2


def test_closed_streams_and_other_encodings_are_one_line_at_most() -> None:
    for words, code, said in (("identify <&-", 1, "input is closed"), ("words zul >&-", 2, "output is closed")):
        script = f"{sys.executable} -m relevance {words}"
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=240)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
        assert said in done.stderr
    escaped = subprocess.run(
        [sys.executable, "-m", "relevance", "identify"],
        input="caf\xe9\n".encode(),
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        timeout=240,
    )
    assert escaped.stdout.endswith(b"\tcaf\\xe9\n")


class _Gone(io.StringIO):
    """Standard error whose reader has gone."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("stderr", [None, _Gone()], ids=["closed", "broken"])
def test_where_nobody_can_be_told_the_work_is_done(
    stderr: io.StringIO | None, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    """And what was to be told does not get into the results."""
    monkeypatch.setattr(sys, "stderr", stderr)
    (tmp_path / "dev-a").mkdir()
    (tmp_path / "dev-a" / "zul.txt").write_text(f"{ZULU}\n" * 20, encoding="utf-8")
    assert main(["eval", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("dev-a\t")
    (tmp_path / "text").write_bytes(b"caf\xe9\n")
    assert main(["identify", str(tmp_path / "none"), str(tmp_path / "text")]) == 1
    assert capsys.readouterr().out.count("\n") == 1
    assert main(["eval", str(tmp_path / "none")]) == 2
    assert main(["words", "zul", "--model", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().out == ""


def test_a_file_beside_the_folders_is_no_source(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "dev-a").mkdir()
    (tmp_path / "dev-a" / "zul.txt").write_text(f"{ZULU}\n" * 20, encoding="utf-8")
    (tmp_path / "dev-a.zip").touch()
    assert main(["eval", str(tmp_path), "-q"]) == 0
    assert {line.split("\t")[0] for line in capsys.readouterr().out.splitlines()} == {"dev-a"}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("option", ["", "--by-word", "--likely"])
def test_json_is_json_in_any_encoding(option: str, encoding: str, tmp_path: Path, monkeypatch: Any) -> None:
    text = "caf\xe9 \u1e71hoho \U0001f600 \U00010330"
    (tmp_path / "text").write_text(text, encoding="utf-8")
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
    assert main(["identify", "--json", *filter(None, [option]), str(tmp_path / "text")]) == 0
    answer = json.loads(out.getvalue().decode(encoding))
    if option == "--by-word":
        assert [word for word, _ in answer] == ["caf\xe9", "\u1e71hoho", "\U00010330"]
    else:
        assert answer["text"] == text


def test_text_does_not_command_the_terminal() -> None:
    found = run("identify", stdin=f"\x1b[2J{ZULU}\tekhaya\u2028\x07\n")
    assert found.stdout.splitlines()[0].split("\t")[-1] == f" [2J{ZULU} ekhaya  "


def test_answers_for_programs() -> None:
    found = [json.loads(line) for line in run("identify", "--json", stdin=f"{ZULU}\n\n").stdout.splitlines()]
    assert [(row["language"], row["text"]) for row in found] == [("zul", ZULU), ("und", "")]
    assert found[0]["words"] == 6
    [likely] = [json.loads(line) for line in run("identify", "--likely", "--json", stdin=ZULU).stdout.splitlines()]
    assert next(iter(likely["probabilities"])) == "zul"
    assert likely["text"] == ZULU
    assert run("identify", "--likely", stdin=ZULU).stdout.startswith(f"zul {likely['probabilities']['zul']:.3f}")
    [words] = [json.loads(line) for line in run("identify", "--by-word", "--json", stdin=ZULU).stdout.splitlines()]
    assert words[0] == ["izindaba", "zul"]


def test_lines_are_answered_before_the_last_is_there() -> None:
    command = [sys.executable, "-m", "relevance", "identify"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin
        assert child.stdout
        for text, code in ((ZULU, "zul"), (ENGLISH, "eng")):  # nor before many are
            child.stdin.write(f"{text}\n")
            child.stdin.flush()
            assert child.stdout.readline().startswith(f"{code}\t")
        child.stdout.close()
        child.stdin.close()
        assert child.wait(240) == 0


def test_a_new_language_is_a_folder_and_a_description(tmp_path: Path) -> None:
    for language, text in (("aaa", "umuntu ubona abantu emzini wakithi"), ("bbb", "the people see this house")):
        (tmp_path / "src").mkdir(exist_ok=True)
        lines = (f"{text} {text[at:]}" for at in range(30))
        (tmp_path / "src" / f"{language}.txt").write_text("\n".join(lines), encoding="utf-8")
    toml = "name='tiny'\n[settings]\norder=4\nmin_count=1\n[[source]]\nname='src'\nlicence='mine'\n"
    (tmp_path / "d.toml").write_text(toml + "[[class]]\nname='aaa'\n[[class]]\nname='bbb'\n")
    files = ("--description", tmp_path / "d.toml", "--card", tmp_path / "c.md")
    (tmp_path / "c.md").write_text("of before")
    (tmp_path / "kept.md").hardlink_to(tmp_path / "c.md")
    made = run(
        "train", tmp_path, *files, "--dev", "src", "--parts", "2", "--min-count", "2.5", "--max-bytes", "1000000"
    )
    assert made.returncode == 0, made.stderr
    model = tmp_path / "d.model"  # beside the description, so never by accident the shipped one
    assert made.stdout == f"{model}: {model.stat().st_size:,} bytes\n"
    assert "counting the letters and words of 2 languages" in made.stderr
    told = (tmp_path / "c.md").read_text(encoding="utf-8")
    assert "mine" in told
    assert "by `python -m relevance train DATA --description d.toml --min-count 2.5 --max-bytes 1000000`; " in told
    for part in ("src", "src, trained without one part in 2"):
        assert re.search(rf"## On {part}\n.*?\| sentence \| 60 \| 100.0 \| 100.0 \|", told, re.S)
    assert "all sources" not in told
    assert (tmp_path / "kept.md").read_text() == "of before"  # replaced whole, not written over
    found = run("identify", "--model", model, stdin="abantu bakithi\n")
    assert found.stdout.startswith("aaa\t")
    measured = run("eval", tmp_path, "--model", model, "--source", "src", "--json", "--quiet")
    rows = [json.loads(line) for line in measured.stdout.splitlines()]
    assert {row["source"] for row in rows} == {"src"}
    assert next(row for row in rows if row["strings"] == "sentence")["macro_f1"] == 100
    assert measured.stderr == ""


def test_a_model_learns_from_text_without_labels(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for language, text in (("aaa", "umuntu ubona abantu emzini wakithi"), ("bbb", "the people see this house")):
        (tmp_path / "src" / f"{language}.txt").write_text(f"{text}\n" * 30, encoding="utf-8")
    classes = "[[class]]\nname='aaa'\n[[class]]\nname='bbb'\n"
    (tmp_path / "d.toml").write_text(
        f"name='tiny'\n[settings]\norder=4\nmin_count=1\n[[source]]\nname='src'\n{classes}"
    )
    assert run("train", tmp_path, "--description", tmp_path / "d.toml").returncode == 0
    made, out = tmp_path / "d.model", tmp_path / "a.model"
    news = [f"umuntu ubona abantu {word} {word}" for word in ("this", "house", "this house", "see")]
    (tmp_path / "news.txt").write_text("\n".join(news * 2), encoding="utf-8")
    adapt = ("adapt", "--model", made, "-o", out)
    found = run(*adapt, tmp_path / "news.txt")
    assert (found.returncode, found.stdout) == (0, "aaa\t4\n")
    assert "learning from 4 lines" in found.stderr
    score = {
        model: json.loads(run("identify", "--model", model, "--json", stdin="abantu house\n").stdout)["score"]
        for model in (made, out)
    }
    assert score[out] > score[made]
    first = out.read_bytes()
    found = run(*adapt, tmp_path / "none.txt", tmp_path / "news.txt", "-", stdin="people see this house\n")
    assert (found.returncode, found.stdout) == (1, "aaa\t4\nbbb\t1\n")
    assert f"relevance adapt: {tmp_path / 'none.txt'}: No such file or directory\n" in found.stderr
    assert (second := out.read_bytes()) != first
    for words, said in ((("-q",), "nothing to adapt to"), ((made, "-o", made), "d.model: is one of the files to read")):
        found = run(*adapt, *words, stdin="1 2 3\n")
        assert (found.returncode, found.stdout) == (2, "")
        assert said in found.stderr
    assert out.read_bytes() == second
    with (tmp_path / "news.txt").open("rb") as read:
        command = [sys.executable, "-m", "relevance", *map(str, adapt[:-1]), read.name]
        found = subprocess.run(command, stdin=read, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "")
    assert "news.txt: is one of the files to read" in found.stderr


def test_what_is_read_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And what cannot be written is told before the work."""
    (tmp_path / "src").mkdir()
    text, description = tmp_path / "src" / "aaa.txt", tmp_path / "d.toml"
    text.write_text("umuntu ubona abantu emzini wakithi\n" * 9, encoding="utf-8")
    description.write_text("name='tiny'\n[[source]]\nname='src'\n[[source]]\nname='one'\n[[class]]\nname='aaa'\n")
    more, card, one = tmp_path / "one/aaa/more.txt", tmp_path / "c.md", "of the languages told apart: aaa"
    more.parent.mkdir(parents=True)
    more.write_text("umuntu", encoding="utf-8")
    (tmp_path / "link").symlink_to(text)
    train = ["train", str(tmp_path), "-q", "--description", str(description)]
    model = tmp_path / "m.model"
    for words, said in (
        (["-o", description], f"{description}: is one of the files to read"),
        (["-o", tmp_path / "link"], f"{tmp_path / 'link'}: is one of the files to read"),
        (["-o", model, "--card", text], f"{text}: is one of the files to read"),
        (["-o", model, "--card", model], f"{model}: is both model and card"),
        (["-o", tmp_path / "src"], f"{tmp_path / 'src'}: is a folder"),
        (["-o", "/dev/null", "--card", card], "/dev/null: is no file, and the card tells how good the model in it is"),
        (["-o", more], f"{more}: is one of the files to read"),
        (["-o", "/proc/m.model"], "/proc/m.model: cannot be written: No such file or directory"),
        (["-o", model, "--card", card, "--parts", "2"], f"{tmp_path}: no text of two {one}"),
        (["-o", model, "--card", card, "--leave-out", "src"], f"{tmp_path / 'src'}: no text of two {one}"),
    ):
        assert main([*train, *map(str, words)]) == 2
        assert capsys.readouterr().err == f"relevance train: {said}\n"
        assert not model.exists()
    assert main([*train, "-o", str(model)]) == 0
    capsys.readouterr()
    assert main(["export-arpa", "aaa", str(model), "--model", str(model)]) == 2
    assert capsys.readouterr().err == f"relevance export-arpa: {model}: is one of the files to read\n"


def test_a_model_that_does_not_fit_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "aaa.txt").write_text("umuntu ubona abantu emzini wakithi\n" * 9, encoding="utf-8")
    (tmp_path / "d.toml").write_text("name='tiny'\n[[source]]\nname='src'\n[[class]]\nname='aaa'\n")
    failed = run("train", tmp_path, "--description", tmp_path / "d.toml", "--max-bytes", "10")
    assert failed.returncode == 2
    assert "bytes, over 10 without any n-gram of 3 letters" in failed.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.toml", "src"]


@pytest.mark.parametrize(
    "words",
    [
        *(["train", ""], ["train", ".", "-o", ""], ["train", ".", "--description", ""], ["eval", ""]),
        *(["eval", ".", "--model", ""], ["identify", ""], ["identify", "--model", ""], ["words", "zul", "--model", ""]),
        *(["export-arpa", "zul", ""], ["adapt", "-o", ""]),
        *(["eval", ".", option, ""] for option in ("--source", "--leave-out")),
        *(["train", ".", option, ""] for option in ("--dev", "--leave-out")),
    ],
)
def test_an_empty_name_is_not_the_folder_one_is_in(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert ": an empty name\n" in capsys.readouterr().err
