from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from relevance.errors import TrainingError
from relevance.language import strangeness
from relevance.language.identification import Identifier
from relevance.learning import training, tuning
from relevance.learning.described import read_description
from relevance.learning.kneserney import KneserNey, count_ngrams
from relevance.learning.making import in_memory, make
from tests.unit.relevance.slopes import assert_slope_is_that_of_the_value, learnt_by

SYLLABLES = [c + v for c in "bdfghklmnpqstvxyz" for v in "aeiou"]
NAMES = ("one", "two", "old", "far")


def corpus() -> Any:
    """Siblings with the same stems and other beginnings: `one` has more text. `far` is no sibling."""
    stems = ["".join(some) for some in zip(SYLLABLES, SYLLABLES[7:], SYLLABLES[31:], strict=False)]
    texts = {
        "one": [f"{prefix}{stem}" for stem in stems for prefix in ("uku", "ama", "isi")],
        "two": [f"{prefix}{stem}" for stem in stems[::4] for prefix in ("kwe", "ema", "isi")],
        "old": [f"uku{stem}" for stem in stems[::9]],
        "far": [f"{stem[::-1]}sch" for stem in stems],
    }
    return {name: {"x": [" ".join(tokens)]} for name, tokens in texts.items()}


def description(**more: Any) -> training.Description:
    specs = tuple(training.ClassSpec(name, name, (name,)) for name in NAMES)
    settings = training.Settings(order=6, min_count=1)
    return training.Description(
        "small", specs, (training.Source("x"),), ("one", "two", "old"), {"old": "one"}, settings, **more
    )


@pytest.fixture(scope="module")
def groups() -> Any:
    return description(siblings=(("one", "two"),))


@pytest.fixture(scope="module")
def counted(groups: Any) -> Any:
    return training.class_words(corpus(), groups)


@pytest.fixture(scope="module")
def types(groups: Any, counted: Any) -> Any:
    made = training.train(groups, corpus())
    return tuning.word_types([counted["one"], counted["two"]], made.keys, 6), made.keys


def fit(types: tuning.Types, change: Any) -> float:
    scores = types.logs + np.add.reduceat(change[types.ngrams], types.starts, axis=0)
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return float((types.truth * logs).sum(axis=1) @ types.weights)


def test_tuning_tells_siblings_apart_on_words_not_met(types: Any) -> None:
    found, kept = types
    change = tuning.differences(found, kept)
    assert fit(found, change) > fit(found, np.zeros_like(change)) + 0.05
    assert np.allclose(change.sum(axis=1), 0, atol=1e-9)


def test_the_slope_of_what_is_tuned_is_that_of_its_value(types: Any, monkeypatch: Any) -> None:
    met = learnt_by(monkeypatch, tuning)
    change = tuning.differences(*types)
    [(objective, start)] = met
    assert not change.any()
    assert objective(start)[0] == pytest.approx(-fit(types[0], change))
    assert objective(start + 2)[0] == pytest.approx(-fit(types[0], change) + 0.5 * tuning.PENALTY * 4 * len(start))
    assert_slope_is_that_of_the_value(objective, len(start))


def test_words_are_judged_by_models_that_have_not_met_them(types: Any, counted: Any) -> None:
    found, _ = types
    tokens = sorted({*counted["one"], *counted["two"]})
    met = KneserNey(count_ngrams(counted["one"], 6)).word_logs(tokens)
    ours = [place for place, token in enumerate(tokens) if token in counted["one"]]
    assert (found.logs[ours, 0] < met[ours]).mean() > 0.95
    theirs = [place for place, token in enumerate(tokens) if token not in counted["one"]]
    assert not found.truth[theirs, 0].any()
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.truth.sum(axis=1) == pytest.approx(np.ones(len(tokens)))
    assert (found.truth * found.weights[:, np.newaxis]).sum(axis=0) == pytest.approx([0.5, 0.5])


@pytest.fixture
def enough(monkeypatch: Any) -> None:
    """However little text there is."""
    monkeypatch.setattr(strangeness, "ENOUGH", 1)


@pytest.mark.usefixtures("enough")
def test_only_siblings_and_what_is_split_from_them_change(groups: Any, counted: Any) -> None:
    before = training.train(groups, corpus())
    after = tuning.tuned(before, counted, groups)
    moved = after.rows.astype(int) - before.rows
    assert np.array_equal(moved[:, 3], np.zeros(len(moved)))
    inside = ((before.rows[:, [0, 2]] > 60) & (before.rows[:, [0, 2]] < 190)).all(axis=1)
    assert moved[inside, 0].any()
    assert np.array_equal(moved[inside, 0], moved[inside, 2])
    again = tuning.tuned(before, counted, groups)
    assert np.array_equal(after.rows, again.rows)


@pytest.mark.usefixtures("enough")
def test_making_a_model_tunes_it(groups: Any) -> None:
    plain = make(replace(groups, siblings=()), corpus())
    assert not np.array_equal(make(groups, corpus()).rows, plain.rows)


def test_the_descent_finds_the_minimum() -> None:
    rng = np.random.default_rng(3)
    half = rng.normal(size=(30, 30))
    matrix, wanted = half @ half.T + np.eye(30), rng.normal(size=30)

    def bowl(at: Any) -> Any:
        return 0.5 * float((at - wanted) @ matrix @ (at - wanted)), matrix @ (at - wanted)

    assert np.allclose(tuning.descend(bowl, np.zeros(30), 200), wanted, atol=1e-4)


def test_the_language_wanted_is_named_where_it_is_likely_enough() -> None:
    even = {name: {"x": ["bona bona ubona"]} for name in NAMES}
    for wanted, named in (("", "one"), ("one", "one"), ("two", "two")):
        model = in_memory(make(description(siblings=(("one", "two"),), wanted=wanted), even))
        found = Identifier(model, ("one", "two"))(["bona", "bona ubona"])
        assert [one.language for one in found] == [named] * 2
        assert [one.score for one in found] == pytest.approx([0.5] * 2, abs=0.01)
        assert [Identifier(model, ("one", "two"), name)(["bona"])[0].language for name in ("one", "two")] == [
            "one",
            "two",
        ]


@pytest.mark.parametrize("line", ['siblings = [["zul", "zzz"]]', 'wanted = "zzz"', 'wanted = "zul"'])
def test_a_class_that_is_not_described_is_refused(tmp_path: Any, line: Any) -> None:
    file = tmp_path / "d.toml"
    file.write_text(f'name = "d"\n{line}\n[[source]]\nname = "x"\n[[class]]\nname = "zul"\n')
    with pytest.raises(TrainingError, match=r"zzz|wanted zul"):
        read_description(file)
