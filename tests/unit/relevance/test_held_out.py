import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relevance.errors import TrainingError
from relevance.language import storage
from relevance.learning import adapting, evaluation, held_out, training
from relevance.learning.held_out import ALL, by_parts, leave_one_out
from tests.sample import sentences

SPECS = (training.ClassSpec("zul", "zul", ("zul",)), training.ClassSpec("eng", "eng", ("eng",)))
X, Y = training.Source("x"), training.Source("y")
SMALL = training.Description("small", SPECS, (X,), ("zul",), {}, training.Settings(order=4, min_count=1))
PLACES = ("x/zul", "x/eng", "y/zul")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Source x has both languages, y one; a fifth of the lines come twice."""
    rng = random.Random(1)
    for place in PLACES:
        (tmp_path / place).parent.mkdir(exist_ok=True)
        lines = [sentence for sentence in sentences(place[2:], rng, 1000).split(". ") if sentence]
        (tmp_path / f"{place}.txt").write_text("\n".join(lines + lines[: len(lines) // 5]))
    return tmp_path


def test_the_only_source_cannot_be_left_out(data: Path) -> None:
    with pytest.raises(TrainingError, match=r"x is the only source with text: .*; --parts leaves parts"):
        leave_one_out(SMALL, data, ["x"])


def test_a_source_of_one_language_is_refused_before_any_training(data: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(held_out, "make", None)
    with pytest.raises(TrainingError, match="y: no text of two of the languages told apart: zul eng"):
        leave_one_out(replace(SMALL, sources=(X, Y)), data, ["x", "y"])
    with pytest.raises(TrainingError, match=r"no text of two of the languages told apart: zul$"):
        by_parts(replace(SMALL, sources=(Y,)), data, 3)


@pytest.mark.parametrize("rounds", [2, 0])
def test_lines_in_the_wrong_file_are_no_test_where_that_is_asked_for(data: Path, rounds: int) -> None:
    """Whether or not the model that is measured learns from such lines."""
    rng = random.Random(2)
    (data / "y/eng.txt").write_text("\n".join(s for s in sentences("eng", rng, 1000).split(". ") if s))
    wrong = [line for line in (data / "x/eng.txt").read_text().splitlines() if len(line.split()) >= 6][:20]
    with (data / "y/zul.txt").open("a") as file:
        file.write("\n" + "\n".join(wrong))
    both = replace(SMALL, sources=(X, Y), settings=replace(SMALL.settings, clean_rounds=rounds))
    asis, clean = (leave_one_out(both, data, ["y"], clean=clean)["y"]["sentence"] for clean in (False, True))
    assert asis.texts - clean.texts == len(wrong)
    assert asis.confused["zul", "eng"] > 0
    assert ("zul", "eng") not in clean.confused
    assert clean.macro > asis.macro


def test_each_half_is_measured_on_by_a_model_that_learnt_from_the_other(data: Path, monkeypatch: Any) -> None:
    """From its lines alone, and whichever language they are in."""
    (data / "y/eng.txt").write_text("\n".join(s for s in sentences("eng", random.Random(2), 1000).split(". ") if s))
    both = replace(SMALL, sources=(X, Y))
    learnt: list[list[str]] = []
    asked: list[str] = []

    def learn(made: storage.Parameters, lines: list[str]) -> storage.Parameters:
        learnt.append(lines)
        return adapting.adapted(made, lines)

    def answer(decide: evaluation.Decide, texts: Sequence[str]) -> list[evaluation.Answered]:
        asked.extend(texts)
        return evaluation.answered(decide, texts)

    monkeypatch.setattr(held_out, "adapted", learn)
    monkeypatch.setattr(held_out, "answered", answer)
    found = leave_one_out(both, data, ["y"], adapt=True)
    lines = [line for language in ("zul", "eng") for line in (data / f"y/{language}.txt").read_text().splitlines()]
    assert sorted(learnt[0] + learnt[1]) == sorted(lines)
    assert not set(learnt[0]).intersection(learnt[1])
    assert min(map(len, learnt)) > 50
    asis, adapted = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    assert asis == adapted
    assert set(asked[: len(asked) // 6]).intersection(learnt[1])
    assert not set(asked[: len(asked) // 6]).intersection(learnt[0])
    assert list(found) == ["y", "y, adapted"]
    for one in found.values():
        assert one["sentence"].texts == sum(len(line.split()) >= 5 for line in lines)
        assert one["sentence"].macro > 98


def test_a_source_that_nothing_can_be_learnt_from_is_named(data: Path) -> None:
    for language in ("zul", "eng"):
        (data / f"y/{language}.txt").write_text("\n".join(map(str, range(50))))
    with pytest.raises(TrainingError, match="half of y: nothing to adapt to"):
        leave_one_out(replace(SMALL, sources=(X, Y)), data, ["y"], adapt=True)


def test_a_source_that_no_model_is_made_from_can_be_measured_on(data: Path) -> None:
    (data / "x").rename(data / "z")
    (data / "x").mkdir()
    for language in ("zul", "eng"):
        (data / "x" / f"{language}.txt").write_text((data / "z" / f"{language}.txt").read_text())
    assert leave_one_out(SMALL, data, ["z"])["z"]["sentence"].macro > 98


def test_a_source_is_left_out_however_its_folder_is_written(data: Path) -> None:
    """``x/``, as shells complete it, was measured on by a model made from x."""
    (data / "link").symlink_to("x")
    with pytest.raises(TrainingError, match="x is the only source with text"):
        leave_one_out(SMALL, data, ["x/"])
    sources = ["x/", "./x", str(data / "x"), "link"]
    assert [*held_out.to_leave_out(replace(SMALL, sources=(X, Y)), data, sources)[1]] == ["x"]


def test_each_line_is_measured_on_once(data: Path) -> None:
    found = by_parts(replace(SMALL, sources=(X, Y)), data, 3)
    texts = {place: (data / f"{place}.txt").read_text().splitlines() for place in PLACES}
    long = {place: sum(len(line.split()) >= 5 for line in lines) for place, lines in texts.items()}
    assert list(found) == ["x", "y", ALL]
    assert found["y"] == {}
    assert found["x"]["sentence"].texts == long["x/zul"] + long["x/eng"] > 100
    assert found[ALL]["sentence"].texts == sum(long.values())
    assert found[ALL]["sentence"].macro > 98
    assert found[ALL]["short"].either is not None


def test_what_is_to_be_said_of_the_text_is_said_once(data: Path, caplog: Any) -> None:
    by_parts(SMALL, data, 3)
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(told) == len(set(told)) > 0


def test_no_line_is_in_two_parts(data: Path) -> None:
    corpus = training.read_corpus(data, (X, Y))
    parts = [held_out._without(part, 3, corpus) for part in range(3)]
    for language, source in ((place[2:], place[0]) for place in PLACES):
        held = [sorted(part[language][source]) for _, part in parts]
        assert sorted(line for mine in held for line in mine) == sorted(corpus[language][source])
        for (rest, _), mine in zip(parts, held, strict=True):
            assert mine
            assert not set(mine).intersection(rest[language][source])
            assert len(mine) + len(rest[language][source]) == len(corpus[language][source])


def test_a_part_that_is_all_the_text_of_a_language_is_told(tmp_path: Path) -> None:
    for language in ("zul", "eng"):
        (tmp_path / "x").mkdir(exist_ok=True)
        (tmp_path / "x" / f"{language}.txt").write_text("the same line again and again\n" * 9)
    with pytest.raises(TrainingError, match=r"without part \d of 2: no text for class zul"):
        by_parts(SMALL, tmp_path, 2)
