"""``corpus tag`` and ``corpus train-tagger`` as users run them."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.cli import main
from corpus.commands.train_tagger import _read
from corpus.document import Document, Link, Paragraph
from corpus.inputs import VERTICAL_SUFFIXES
from corpus.outputs import open_output
from corpus.tagging.training import Word
from corpus.vertical.reading import read_vertical
from corpus.vertical.writing import text_of
from tests.integration.crawler.harness import wait_for
from tests.unit.corpus.taggers import PAIRS, TREEBANK, write_model

REPO = Path(__file__).parents[3]
LINK = Link(0, 4, "https://b.example/")
ZULU = Paragraph("Inja ilele izolo.", language="zul", links=(LINK,))
ENGLISH = Paragraph("The dog slept.", language="eng")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model") / "small.udpipe", TREEBANK)


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def text(number: int = 1) -> str:
    return text_of(Document(f"id-{number}", f"https://a.example/{number}", "Inja", paragraphs=(ZULU, ENGLISH)))


def vertical(path: Path, *texts: str) -> Path:
    with open_output(str(path)) as out:
        out.write("".join(texts).encode("utf-8", "surrogateescape"))
    return path


@pytest.mark.parametrize("suffix", [suffix for suffix in VERTICAL_SUFFIXES if suffix[5:] in ("", ".gz", ".xz", ".zst")])
def test_forms_and_links_stay(tmp_path: Path, model: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = vertical(tmp_path / f"in{suffix}", text(1), text(2))
    out = tmp_path / "out.vert"
    assert run("tag", source, "-o", out, "--model", f"zul={model}", "--json") == 0
    told = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (told["documents"], told["tokens"], told["without_model"]) == (2, {"zu": 10, "en": 8}, {"en": 8})
    before, after = (text(1) + text(2)).split("\n"), out.read_text(encoding="utf-8").split("\n")
    assert [row.split("\t")[0] for row in before] == [row.split("\t")[0] for row in after]
    assert 'Inja\tinja\tNOUN\t<link="https://b.example/">\t<length=1>' in after
    assert "dog\t\t" in after


def test_what_a_run_tells(tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = vertical(tmp_path / "in.vert", text())
    assert run("tag", source, "-o", "-", "--model", f"zu={model}", "--columns", "word,tag") == 0
    shown = capsys.readouterr()
    assert "Inja\tNOUN\t<link" in shown.out
    assert "        5 tokens: zu\n        4 tokens: en, without a model\n" in shown.err
    assert run("tag", source, "-o", "-", "--model", f"zu={write_model(tmp_path / 'm', PAIRS)}", "-q") == 0
    assert capsys.readouterr().err == f"-WARN {tmp_path}/m: this model has no lemmas, their column is empty\n"


def test_several_processes_give_the_same(tmp_path: Path, model: Path) -> None:
    source = vertical(tmp_path / "in.vert.xz", *map(text, range(40)))
    for processes in (1, 2):
        arguments = ("--model", f"zu={model}", "--model", f"en={model}", "--processes", processes)
        assert run("tag", source, source, "-o", tmp_path / f"{processes}.vert", *arguments) == 0
    assert (tmp_path / "1.vert").read_bytes() == (tmp_path / "2.vert").read_bytes()


def test_a_bad_document_is_told_and_the_others_are_tagged(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = text(2).replace("</p>", "", 1)
    source = vertical(tmp_path / "in.vert", text(1), broken, "x\n", text(3), text(4)[:-7])
    other = vertical(tmp_path / "other.vert.gz", text(5))
    other.write_bytes(other.read_bytes()[:-20])
    out = tmp_path / "out.vert"
    assert run("tag", source, other, "-o", out, "--model", f"zu={model}", "-q") == 1
    with out.open(encoding="utf-8") as rows:
        assert [found.attributes["id"] for found in read_vertical(rows)] == ["id-1", "id-3"]
    said = capsys.readouterr().err
    nested = text(1).count("\n") + broken[: broken.index('<p lang="en">')].count("\n") + 1
    last = source.read_text(encoding="utf-8").count("\n") + 1
    for part in (f"in.vert:{nested}: <p> nested; left out", f"in.vert:{last}: the file ends inside", "breaks off: "):
        assert part in said


def test_bytes_that_are_no_text_stay(tmp_path: Path, model: Path) -> None:
    odd = '<doc title="\udcff">\n<p lang="zu">\nIn\udcffja\n\udce4\r\na\0b\n\n</p>\n</doc>\n'
    source = vertical(tmp_path / "in.vert", "\ufeff" + odd)
    assert run("tag", source, "-o", tmp_path / "out.vert", "--model", f"zu={model}", "--columns", "tag") == 0
    rows = (tmp_path / "out.vert").read_bytes().split(b"\n")
    assert [row.split(b"\t")[0] for row in rows] == odd.encode("utf-8", "surrogateescape").replace(b"\r", b"").replace(
        b"\n\n", b"\n"
    ).split(b"\n")


def test_a_sentence_without_end(tmp_path: Path, model: Path) -> None:
    rows = ["<doc>", '<p lang="zu">', *["Inja"] * 100_000, "</p>", "</doc>\n"]
    source = vertical(tmp_path / "in.vert", "\n".join(rows))
    assert run("tag", source, "-o", tmp_path / "out.vert", "--model", f"zu={model}", "--columns", "tag") == 0
    assert (tmp_path / "out.vert").read_text().count("Inja\tNOUN\n") == 100_000


def test_nothing_in_it(tmp_path: Path, model: Path) -> None:
    source = vertical(tmp_path / "in.vert", "")
    assert run("tag", source, "-o", tmp_path / "out.vert", "--model", model) == 0
    assert (tmp_path / "out.vert").read_bytes() == b""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "zu={tmp}/absent"], "{tmp}/absent: No such file or directory"),
        (["--model", "sesotho={model}"], "'sesotho' is no code of a language (as zu or zul)"),
        (["--model", "zu={tmp}/in.vert"], "{tmp}/in.vert: is no model of UDPipe 1"),
        (["--model", "zu={tmp}"], "{tmp}: Is a directory"),
        (["--model", "zu={model}", "--model", "zul={model}"], "--model zul={model}: there is one for zu already"),
        (["--model", "{model}", "--model", "{model}"], "there is one for text that names no language already"),
        (["--model", "{model}", "--columns", "pos"], "--columns pos: some of lemma, tag, xpos, feats, each once"),
        (["--model", "{model}", "--processes", "-1"], "--processes: from 0 to"),
    ],
)
def test_usage(
    tmp_path: Path, model: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, names = vertical(tmp_path / "in.vert", text()), {"tmp": tmp_path, "model": model}
    (tmp_path / "out.vert").write_text("old")
    given = [argument.format(**names) for argument in arguments]
    assert run("tag", source, "-o", tmp_path / "out.vert", *given) == 2
    assert said.format(**names) in capsys.readouterr().err
    assert (tmp_path / "out.vert").read_text() == "old"


def test_the_model_is_not_written_over(tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "m"
    own.write_bytes(model.read_bytes())
    for target in (own, vertical(tmp_path / "in.vert", text())):
        assert run("tag", tmp_path / "in.vert", "-o", target, "--model", own) == 2 or target == own
    assert own.read_bytes() == model.read_bytes()


# -- killed


def start(arguments: list[object]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "corpus", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=REPO, text=True, start_new_session=True, stderr=pipe, stdin=pipe)


def children(pid: int) -> list[int]:
    """Processes that tag: not the one that keeps track of shared things."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            command = (path / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and b"spawn_main" in command:
            found.append(int(path.name))
    return found


@pytest.mark.parametrize("whom", ["child", "run", "stopped", "interrupted"])
def test_processes_that_die(tmp_path: Path, model: Path, whom: str) -> None:
    """Of the processes of a run whose input does not end: a killed child ends it, and none outlives it."""
    out = tmp_path / "out.vert"
    with start(["tag", "-", "-o", out, "--model", f"zu={model}", "--processes", "2"]) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        for number in range(4000):
            process.stdin.write(text(number))
        process.stdin.flush()
        wait_for(lambda: len(children(process.pid)) == 2, 60)
        started = children(process.pid)
        if whom == "child":
            os.kill(started[0], signal.SIGKILL)
            for number in range(40):
                process.stdin.write(text(number))
            process.stdin.close()
            assert process.wait(60) == 2
            assert "corpus: a process that tags has died (killed, or no memory left)\n" in process.stderr.read()
        elif whom == "run":
            process.kill()
            process.wait(60)
        else:
            if whom == "stopped":
                process.terminate()
            else:  # Ctrl-C: all of them hear it
                os.killpg(process.pid, signal.SIGINT)
            assert process.wait(60) == 130
            assert process.stderr.read().splitlines()[-1] == "corpus: interrupted; no file was written"
        wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), 60)
    assert not out.exists()


# -- training


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_a_model_of_ones_own(tmp_path: Path, suffix: str, capfd: pytest.CaptureFixture[str]) -> None:
    train, heldout = (vertical(tmp_path / f"{name}.conllu{suffix}", TREEBANK) for name in ("train", "heldout"))
    assert run("train-tagger", train, "-o", tmp_path / "m", "--heldout", heldout, "-q") == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    assert shown.out.splitlines() == [f"{name}\t1.0000\t{words}" for name, words in (
        ("lemma", 160), ("tag", 160), ("xpos", 160), ("feats", 40))]  # fmt: skip
    assert run("tag", vertical(tmp_path / "in.vert", text()), "-o", "-", "--model", f"zu={tmp_path}/m", "-q") == 0
    assert "ilele\tlala\tVERB\n" in capfd.readouterr().out


def test_training_tells_what_it_does(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.txt").write_text(PAIRS)
    assert run("train-tagger", tmp_path, "-o", tmp_path / "m") == 0
    said = capfd.readouterr().err
    assert "+OK training on 40 sentences, 160 words; Ctrl-C ends it\n" in said
    assert "Iteration 20: done" in said
    assert f"+OK {tmp_path}/m: {(tmp_path / 'm').stat().st_size:,} bytes\n" in said


def test_nobody_hears_of_training(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("Inja NOUN\n")
    command = [sys.executable, "-m", "corpus", "train-tagger", f"{tmp_path}/train.txt", "-o", f"{tmp_path}/m", "-q"]
    assert subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], cwd=REPO, check=False).returncode == 0
    assert (tmp_path / "m").exists()


def test_marks_and_line_ends_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_bytes(b"\xef\xbb\xbfInja NOUN\r\n\r\nilele\tVERB\r\n")
    assert _read([str(tmp_path / "train.txt")]) == [[Word("Inja", "NOUN")], [Word("ilele", "VERB")]]


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (b"Inja NOUN\nilele\n", [], "{tmp}/train.txt:2: a word and its tag"),
        (b"Inja NOUN\n\xff NOUN\n", [], "{tmp}/train.txt:2: is no UTF-8"),
        (b"\n\n", [], "{tmp}/train.txt: no words"),
        (b"\xfd7zXZ\x00junk", [], "{tmp}/train.txt:1: breaks off: "),
        (b"Inja NOUN\n", ["--heldout", "{tmp}/absent"], "{tmp}/absent: no such file"),
        (b"Inja NOUN\n", ["--heldout", "{tmp}/empty.txt"], "{tmp}/empty.txt: no words"),
        (b"Inja NOUN\n", ["-o", "{tmp}/m.xz"], "{tmp}/m.xz: a model is packed already"),
        (b"Inja NOUN\n", ["-o", "{tmp}/train.txt"], "{tmp}/train.txt: is one of the files to read"),
        (b"Inja NOUN\n", ["-o", "-", "--heldout", "{tmp}/train.txt"], "--heldout: not when the model goes to"),
    ],
)
def test_text_that_no_model_is_made_of(
    tmp_path: Path, content: bytes, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.txt").write_bytes(content)
    (tmp_path / "empty.txt").write_bytes(b"")
    given = [argument.format(tmp=tmp_path) for argument in arguments]
    assert run("train-tagger", tmp_path / "train.txt", "-o", tmp_path / "m", *given, "-q") == 2
    assert said.format(tmp=tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
    assert (tmp_path / "train.txt").read_bytes() == content


def test_training_is_stopped_at_once(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text(PAIRS * 200)
    with start(["train-tagger", tmp_path / "train.txt", "-o", tmp_path / "m"]) as process:
        assert process.stderr is not None
        while "Iteration 1" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == -signal.SIGINT
    assert [path.name for path in tmp_path.iterdir()] == ["train.txt"]
