"""``corpus select``: what is chosen, that it stays as it is, and that one draw is the same everywhere."""

import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest

from corpus.cli import main
from corpus.document import Document, Paragraph, host_of
from corpus.forms import FORMS
from corpus.subcorpus import Period, period

HOSTS = {"big.example": 60, "www.middle.example": 12, "small.example": 2}


def documents() -> list[Document]:
    made = []
    for host, count in HOSTS.items():
        for place in range(count):
            text = f"Umbhalo wesi-{place} waku-{host} unamagama ambalwa nje."
            made.append(
                Document(
                    id=f"{host}-{place}",
                    url=f"https://{host}/izindaba/{place}",
                    date=f"2024-0{1 + place % 6}-1{place % 10}T12:00:00Z",
                    published=f"2023-{1 + place % 12:02}-05" if place % 2 else "",
                    language="zul",
                    paragraphs=(Paragraph(text, language="zul"),),
                )
            )
    random.Random(1).shuffle(made)
    return made


@pytest.fixture
def corpus(tmp_path: Path) -> dict[str, Path]:
    """The same documents in both forms, with white space that a program would not write."""
    files = {"jsonl": tmp_path / "zulu.jsonl", "vertical": tmp_path / "zulu.vert"}
    made = documents()
    files["jsonl"].write_text("".join(FORMS["jsonl"](one).replace('"url":', '"url" :') for one in made))
    files["vertical"].write_text("".join(FORMS["vertical"](one).replace("<s>", "<s >") for one in made))
    return files


def select(*arguments: object) -> int:
    return main(["select", *map(str, arguments), "-q"])


def chosen(path: Path) -> list[str]:
    """The ids of what was written."""
    if path.suffix == ".vert":
        return [row.split(' id="')[1].split('"')[0] for row in path.read_text().splitlines() if row.startswith("<doc")]
    return [json.loads(row)["id"] for row in path.read_text().splitlines()]


DRAWS = [
    ["--sample", "30%"],
    ["--sample", "12.5%", "--seed", "7"],
    ["--sample", "9"],
    ["--per-host", "5"],
    ["--per-host", "5", "--sample", "6"],
    ["--per-host", "10", "--sample", "40%"],
]


@pytest.mark.parametrize("draw", DRAWS, ids=" ".join)
def test_one_draw_is_the_same_of_both_forms_and_in_any_order(
    draw: list[str], corpus: dict[str, Path], tmp_path: Path
) -> None:
    rows = corpus["jsonl"].read_text().splitlines(keepends=True)
    other = tmp_path / "other.jsonl"
    other.write_text("".join(reversed(rows)))
    found = []
    for source, target in ((corpus["jsonl"], "a.jsonl"), (corpus["vertical"], "a.vert"), (other, "b.jsonl")):
        assert select(source, "-o", tmp_path / target, *draw) == 0
        found.append(chosen(tmp_path / target))
    assert found[0] == found[1] == found[2][::-1]
    assert 0 < len(found[0]) < len(rows)
    assert found[0] == [identity for identity in (json.loads(row)["id"] for row in rows) if identity in found[0]]


@pytest.mark.parametrize("form", ["jsonl", "vertical"])
def test_what_is_chosen_stands_as_it_stood(form: str, corpus: dict[str, Path], tmp_path: Path) -> None:
    source = corpus[form]
    out = tmp_path / f"out{source.suffix}"
    assert select(source, "-o", out) == 0
    assert out.read_bytes() == source.read_bytes()
    assert select(source, "-o", out, "--per-host", "3") == 0
    pieces = out.read_text().splitlines(keepends=True)
    assert set(pieces) <= set(source.read_text().splitlines(keepends=True))


def test_so_many_of_each_host_and_so_many_of_all(corpus: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert select(corpus["jsonl"], "-o", out, "--per-host", "5") == 0
    of_host = Counter(identity.rpartition("-")[0] for identity in chosen(out))
    assert of_host == {"big.example": 5, "www.middle.example": 5, "small.example": 2}
    assert select(corpus["jsonl"], "-o", out, "--per-host", "5", "--sample", "4") == 0
    assert len(chosen(out)) == 4
    assert select(corpus["jsonl"], "-o", out, "--sample", "1000") == 0
    assert len(chosen(out)) == sum(HOSTS.values())


def test_a_smaller_draw_is_part_of_a_larger_one_and_another_seed_draws_others(
    corpus: dict[str, Path], tmp_path: Path
) -> None:
    drawn = []
    for draw in (["10%"], ["40%"], ["40%", "--seed", "1"], ["8"], ["20"]):
        assert select(corpus["jsonl"], "-o", tmp_path / "out.jsonl", "--sample", *draw) == 0
        drawn.append(set(chosen(tmp_path / "out.jsonl")))
    assert drawn[0] < drawn[1]
    assert [len(one) for one in drawn[:2]] == pytest.approx([7.4, 29.6], abs=5)
    assert drawn[1] != drawn[2]
    assert drawn[3] < drawn[4]
    assert (len(drawn[3]), len(drawn[4])) == (8, 20)


def test_the_draw_of_all_does_not_favour_large_hosts(tmp_path: Path) -> None:
    """Of ten documents each of a large host and of a small one, half are drawn: as many of the one as of the other."""
    source, out = tmp_path / "zulu.jsonl", tmp_path / "out.jsonl"
    sizes = {"large.example": 500, "small.example": 10}
    rows = [
        {"id": f"{host}/{place}", "url": f"https://{host}/{place}", "text": "Sawubona"}
        for host, size in sizes.items()
        for place in range(size)
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found: Counter[str] = Counter()
    for seed in range(40):
        assert select(source, "-o", out, "--per-host", "10", "--sample", "10", "--seed", seed) == 0
        found.update(identity.partition("/")[0] for identity in chosen(out))
    assert sum(found.values()) == 400
    assert 160 <= found["large.example"] <= 240  # within four standard deviations; by one hash for both it is some 390


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        (["--site", "big.example"], lambda one: host_of(one.url) == "big.example"),
        (["--site", "middle.example", "--site", "small.example"], lambda one: host_of(one.url) != "big.example"),
        (
            ["--site", "https://big.example/izindaba/1"],
            lambda one: one.url.startswith("https://big.example/izindaba/1"),
        ),
        (["--without", "big.example"], lambda one: host_of(one.url) != "big.example"),
        (["--captured", "2024-02..2024-03"], lambda one: one.date[:7] in ("2024-02", "2024-03")),
        (["--captured", "2024-02-11"], lambda one: one.date.startswith("2024-02-11")),
        (["--published", "2023-06.."], lambda one: one.published >= "2023-06"),
        (["--published", "..2023-06"], lambda one: "" < one.published < "2023-07"),
        (["--published", "2023", "--without", "big.example"], lambda one: one.published and "big" not in one.url),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("form", ["jsonl", "vertical"])
def test_by_site_and_date(arguments, fits, form: str, corpus: dict[str, Path], tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / f"out{corpus[form].suffix}"
    assert select(corpus[form], "-o", out, *arguments) == 0
    wanted = [one.id for one in documents() if fits(one)]
    assert 0 < len(wanted) < sum(HOSTS.values())
    assert chosen(out) == wanted


def test_ids_take_the_same_documents_out_of_another_form(corpus: dict[str, Path], tmp_path: Path) -> None:
    ids, out = tmp_path / "ids", tmp_path / "out.vert"
    ids.write_text("\ufeffsmall.example-1\r\n\nbig.example-7\nnobody\n")
    assert select(corpus["vertical"], "-o", out, "--ids", ids) == 0
    assert sorted(chosen(out)) == ["big.example-7", "small.example-1"]


def test_what_was_left_out_is_told(corpus: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.jsonl"
    arguments = ["--captured", "2024-01", "--site", "big.example", "--per-host", "3", "--json"]
    assert select(corpus["jsonl"], "-o", out, *arguments) == 0
    told = json.loads(capsys.readouterr().err)
    assert told == {
        "output": str(out),
        "files": 1,
        "read": 74,
        "kept": 3,
        "damages": 0,
        "dropped": {"captured": 50, "per_host": 7, "site": 14},
    }
    assert select(corpus["jsonl"], "-o", out, "--captured", "1999") == 1
    assert "no document fits" in capsys.readouterr().err


@pytest.mark.parametrize("draw", [[], ["--per-host", "2"]], ids=["once", "twice"])
def test_damage_is_told_once_and_the_rest_is_chosen(
    draw: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "zulu.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": "1", "text": "a"}\nno JSON\n{"id": "2", "text": "b"}\n')
    assert select(source, "-o", out, *draw) == 1
    assert chosen(out) == ["1", "2"]
    assert capsys.readouterr().err.count(f"{source}:2") == 1


def test_vertical_that_keeps_not_to_the_form_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "zulu.vert", tmp_path / "out.vert"
    good = '<doc id="{}">\n<p>\n<s>\nSawubona\n</s>\n</p>\n</doc>\n'
    source.write_text(good.format(1) + '<doc id="2">\n<p>\n<p>\n</doc>\n' + good.format(3))
    assert select(source, "-o", out) == 1
    assert out.read_text() == good.format(1) + good.format(3)
    assert f"{source}:10: <p> nested" in capsys.readouterr().err
    source.write_text(good.format(1) + '<doc id="2">\n<p>\n<s>\nSawu')
    assert select(source, "-o", out) == 1
    assert out.read_text() == good.format(1)
    assert f"{source}:11: the file ends inside a document" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--sample", "0"], "--sample 0: no number from 1 on"),
        (["--sample", "0%"], "--sample 0%: above 0%, at most 100%"),
        (["--sample", "101%"], "--sample 101%: above 0%, at most 100%"),
        (["--sample", "half"], "--sample half: no number from 1 on"),
        (["--per-host", "-1"], "--per-host -1: no number from 1 on"),
        (["--seed", "x"], "--seed x: no number from 0 on"),
        (["--seed", "-1"], "--seed -1: no number from 0 on"),
        (["--captured", "2024-13"], "--captured 2024-13: a period is"),
        (["--captured", "2023-02-29"], "--captured 2023-02-29: a period is"),
        (["--captured", "0000"], "--captured 0000: a period is"),
        (["--captured", "２０２４"], "--captured ２０２４: a period is"),
        (["--captured", ".."], "--captured ..: a period is"),
        (["--published", "2024..2023"], "--published 2024..2023: it ends before it begins"),
        (["--site", "*.example"], "--site *.example: '*.example' is neither a host nor how URLs begin"),
        (["--ids", "none"], "--ids none: cannot be read"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_asked_for(
    arguments: list[str], told: str, corpus: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    assert main(["select", str(corpus["jsonl"]), "-o", str(out), *(f"{arguments[0]}={arguments[1]}",)]) == 2
    assert told in capsys.readouterr().err
    assert not out.exists()


def test_the_list_of_ids_is_not_written_over(
    corpus: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = tmp_path / "ids.jsonl"
    ids.write_text("small.example-1\n")
    assert select(corpus["jsonl"], "-o", ids, "--ids", ids) == 2
    assert ids.read_text() == "small.example-1\n"
    assert f"{ids}: is one of the files to read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "row",
    [
        {"id": "1", "url": "https://a.example/", "text": "Sawubona"},
        {"url": "https://a.example/", "text": "Sawubona"},
        {"id": "\ud800", "url": "https://a.example/", "text": "Sawubona"},
    ],
    ids=["one id", "one URL", "half a letter"],
)
def test_of_documents_of_one_name_no_more_are_drawn_than_asked_for(row: dict[str, str], tmp_path: Path) -> None:
    source, out = tmp_path / "zulu.jsonl", tmp_path / "out.jsonl"
    rows = [json.dumps({**row, "text": str(place)}) + "\n" for place in range(20)]
    other = [json.dumps({"id": "x", "url": "https://b.example/", "text": "x"}) + "\n"]
    source.write_text("".join(rows + other))
    for draw, most in (["--sample", "5"], 5), (["--per-host", "4"], 5), (["--per-host", "4", "--sample", "3"], 3):
        assert select(source, "-o", out, *draw) == 0
        drawn = [line for line in out.read_text().splitlines(keepends=True) if line in rows]
        assert drawn == rows[: len(drawn)]
        assert len(out.read_text().splitlines()) == most


def test_what_must_be_read_twice_is_no_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert select("-", "-o", tmp_path / "out.jsonl", "--per-host", "2") == 2
    assert "-: cannot be read twice" in capsys.readouterr().err
    os.mkfifo(pipe := tmp_path / "pipe.jsonl")
    assert select(pipe, "-o", tmp_path / "out.jsonl", "--sample", "2") == 2
    assert f"{pipe}: cannot be read twice" in capsys.readouterr().err


def test_the_form_of_the_output_is_that_of_the_files(
    corpus: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert select(corpus["vertical"], "-o", tmp_path / "out.jsonl") == 2
    assert "the output is named as jsonl" in capsys.readouterr().err
    assert main(["select", str(corpus["vertical"]), str(corpus["jsonl"]), "-o", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert "jsonl, but the files before it are vertical" in told
    assert "+OK" not in told, "found before the work"
    assert not list(tmp_path.glob("out*"))


def test_periods() -> None:
    assert period("2023") == Period("2023", "2023")
    assert period("2023-06..2024") == Period("202306", "2024")
    assert period("..2024-01-31") == Period("", "20240131")
    assert period("2023-06..2023") == Period("202306", "2023")
    inside = {
        "2023-06..2024": ["2023-06-01", "2024-12-31T23:59:59Z", "20230601120000", "2023"],
        "2024-05-31": ["2024-05-31T00:00:00+02:00", "20240531000000", "2024-05"],
        "2024..": ["2024-01-01", "2031"],
        "..2024-05": ["1999", "2024-05-31", "2024"],
    }
    outside = {
        "2023-06..2024": ["2023-05-31", "2025-01-01", "20230531235959", "", "-", "May 2024"],
        "2024-05-31": ["2024-05-30", "2024-06-01", "2023"],
        "2024..": ["2023-12-31"],
        "..2024-05": ["2024-06-01", ""],
    }
    for text, dates in inside.items():
        assert [date for date in dates if date not in period(text)] == []
    for text, dates in outside.items():
        assert [date for date in dates if date in period(text)] == []
