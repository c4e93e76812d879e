from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.errors import TrainingError
from relevance.language import contrast, storage
from relevance.language.alphabet import LATIN
from relevance.language.identification import FOREIGN, Identifier
from relevance.language.model import STEP, load
from relevance.learning import contrasting, training
from relevance.learning.making import in_memory, make
from tests.unit.relevance.slopes import assert_slope_is_that_of_the_value, learnt_by

NAMES = ("one", "two", "far")
SPECS = tuple(training.ClassSpec(name, name, (name,)) for name in NAMES)
NOUNS = ["aba", "izi", "ama", "uku", "ubu", "isi"]
VERBS = ["bona", "zona", "mona", "kona", "vona", "sona"]


def corpus() -> Any:
    """`one` and `two` have the same words as often; only which verb follows which noun tells them apart."""
    one = [f"{noun} {verb}" for noun, verb in zip(NOUNS, VERBS, strict=True)] * 8
    two = [f"{noun} {verb}" for noun, verb in zip(NOUNS, VERBS[1:] + VERBS[:1], strict=True)] * 8
    return {"one": {"x": one}, "two": {"x": two}, "far": {"x": ["the people of the town " * 8]}}


def description(share: float) -> training.Description:
    settings = training.Settings(order=4, min_count=1, contrast=share)
    return training.Description(
        "small", SPECS, (training.Source("x"),), ("one", "two"), {}, settings, siblings=(("one", "two"),)
    )


@pytest.fixture(scope="module")
def made() -> storage.Parameters:
    return make(description(0.5), corpus())


def naive(text: list[str]) -> int:
    """How many different n-grams within and across words, words and pairs of words a text has."""
    line = f" {' '.join(text)} "
    grams = {line[at : at + size] for size in range(1, contrast.ORDER + 1) for at in range(len(line) - size + 1)}
    return len(grams - {" "}) + len(set(text)) + len(set(pairwise(text)))


@pytest.mark.parametrize(
    "text", [["a"], ["umuntu"], ["a", "a"], ["a", "a", "a"], ["abantu", "bathi", "abantu", "bathi", "cha"]]
)
def test_a_text_has_each_feature_once(text: list[str]) -> None:
    found, owner = contrast.features([text], contrast.WIDE)
    assert len(set(found.tolist())) == len(found) == naive(text)
    assert not owner.any()


TEXTS = st.lists(st.lists(st.text("abcšж", min_size=1, max_size=45), min_size=1, max_size=6), min_size=1, max_size=5)


@given(TEXTS)
def test_features_do_not_depend_on_the_texts_beside(texts: list[list[str]]) -> None:
    found, owner = contrast.features(texts)
    for place, text in enumerate(texts):
        assert found[owner == place].tolist() == contrast.features([text])[0].tolist()


@given(TEXTS)
def test_scores_add_up_the_rows_of_the_features(texts: list[list[str]]) -> None:
    table = np.random.default_rng(1).integers(-127, 128, (1 << contrast.BUCKETS, 3)).astype(np.int8)
    scored = contrast.scores(table, texts)
    for row, text in zip(scored, texts, strict=True):
        assert row == pytest.approx(table[contrast.features([text])[0]].sum(axis=0, dtype=int) * contrast.STEP)


def test_what_no_word_tells_its_neighbours_do(made: storage.Parameters) -> None:
    texts = {name: corpus()[name]["x"][:6] for name in ("one", "two")}
    blind, seeing = (Identifier(in_memory(some)) for some in (replace(made, contrasts=()), made))
    # Without the second look both pairings of the same words score alike, up to which words they are.
    assert {found.language for found in blind([" ".join(NOUNS + VERBS)])} == {
        found.language for found in blind([" ".join(VERBS + NOUNS)])
    }
    assert sum(found.language == name for name, some in texts.items() for found in blind(some)) < 10
    for name, some in texts.items():
        assert [found.language for found in seeing(some)] == [name] * 6
        assert [found.language for found in Identifier(in_memory(made), ("one", "two"))(some)] == [name] * 6


def test_the_slope_of_what_is_learnt_is_that_of_its_value(monkeypatch: Any) -> None:
    """Strings that may be of two siblings or of three, and more than are worked on at a time."""
    monkeypatch.setattr(contrasting, "_TOGETHER", 100)
    more = corpus()
    more["two"]["y"] = more["far"]["y"] = ["abantu bathi cha"] * 9
    strings = contrasting.drawn(more, (("one",), ("two",), ("far",)))
    met = learnt_by(monkeypatch, contrasting)
    contrasting.learnt(strings)
    [(objective, start)] = met
    possible = np.log((strings.possible == 0).sum(axis=1))
    assert objective(start)[0] == pytest.approx(float(possible @ strings.weights))
    assert objective(start + 2)[0] - objective(start)[0] == pytest.approx(0.5 * contrasting.PENALTY * 4 * len(start))
    assert_slope_is_that_of_the_value(objective, len(start))


def test_a_share_of_nothing_learns_nothing(made: storage.Parameters) -> None:
    assert make(description(0.0), corpus()).contrasts == ()
    assert len(made.contrasts) == 1
    assert made.contrasts[0].any()


def test_a_table_is_what_is_learnt_times_its_share() -> None:
    strings = contrasting.drawn(corpus(), (("one",), ("two",)))
    steps = contrasting.learnt(strings)
    assert np.abs(steps).max() > 100
    for share in (0.1, 0.5):
        made = contrasting.contrasted(corpus(), description(share), ("one", "two"))
        assert np.array_equal(made, np.clip(np.rint(steps * share), -127, 127))


def test_strings_are_parts_of_lines_and_a_source_weighs_by_their_root() -> None:
    short, long = ["aba bona"] * 30, [" ".join(f"{a}{b}" for a in NOUNS for b in VERBS)] * 12
    lines = {"one": {"x": short, "y": short}, "two": {"x": short[:5], "y": long}}
    strings = contrasting.drawn(lines, (("one",), ("two",)))
    parts = {"x": slice(0, 3 * 35), "y": slice(3 * 35, None)}
    assert len(strings.texts) == 3 * 35 + 3 * 30 + 4 * 12
    assert all(f" {' '.join(text)} " in f" {short[0]} {long[0]} " for text in strings.texts)
    sizes = [len(text) for text in strings.texts[-48:]]
    assert {min(size, 5) for size in sizes} == {1, 2, 3, 4, 5}
    assert sum(size > 4 for size in sizes) == 12
    assert 5 < max(sizes) <= contrasting.LONG
    told = {
        source: [strings.weights[part][strings.truth[part] == sibling].sum() for sibling in (0, 1)]
        for source, part in parts.items()
    }
    assert told["x"][0] == pytest.approx(told["x"][1])
    assert told["y"][0] == pytest.approx(told["y"][1])
    assert told["y"][0] / told["x"][0] == pytest.approx(((3 * 30 + 4 * 12) / (3 * 35)) ** 0.5)


def test_features_that_few_strings_have_are_left_out(monkeypatch: Any) -> None:
    monkeypatch.setattr(contrasting, "_TOGETHER", 4)
    texts = [["aba", "bona"], ["aba"], ["zona"], ["bona", "aba"], ["isi"], ["zona", "bona"], ["abb"]]
    each = [contrast.features([text], contrast.WIDE)[0].tolist() for text in texts]
    often = {one for some in each for one in some if sum(one in other for other in each) >= contrasting.LEAST}
    found, owner = contrasting._frequent(texts, LATIN)
    assert [found[owner == place].tolist() for place in range(len(texts))] == [
        [one for one in some if one in often] for some in each
    ]


def test_a_source_with_one_sibling_says_nothing() -> None:
    more = corpus()
    more["one"]["z"] = ["izi bona ama zona"] * 50
    without, beside = (contrasting.contrasted(some, description(0.5), ("one", "two")) for some in (corpus(), more))
    assert np.array_equal(without, beside)
    with pytest.raises(TrainingError):
        contrasting.contrasted({"one": {"x": ["aba bona"]}, "two": {"y": ["aba"]}}, description(0.5), ("one", "two"))


def test_a_source_says_nothing_against_a_sibling_it_has_not() -> None:
    lines = {"one": {"x": ["aba bona"], "y": ["uku kona"]}, "two": {"x": ["izi zona"], "y": ["ubu vona"]}}
    strings = contrasting.drawn({**lines, "far": {"x": ["the town"]}}, (("one",), ("two",), ("far",)))
    by_source = {len(np.flatnonzero(row == 0)) for row in strings.possible}
    assert by_source == {2, 3}
    assert strings.weights.sum() == pytest.approx(1)
    for text, row in zip(strings.texts, strings.possible, strict=True):
        assert (row[2] == 0) == bool({"aba", "bona", "izi", "zona", "the", "town"} & set(text))


def test_only_what_is_near_is_looked_at_again_and_the_lead_over_others_stays(made: storage.Parameters) -> None:
    identifier = Identifier(in_memory(made))
    table = np.full((1 << contrast.BUCKETS, 2), [-1, 1], dtype=np.int8) * 100
    far = contrast.CLOSE + 1
    costs = np.array([[1.0, 2.0, 9.0], [1.0, 1.0 + far, 9.0], [5.0, 5.0, 1.0]])
    looked = costs.copy()
    identifier._contrasts = [([0, 1], table)]
    identifier._tell_siblings_apart(looked, [["aba"], ["aba"], ["aba"]], np.zeros((3, 5), dtype=np.uint8), [0, 1, 2, 3])
    assert looked[0, 1] == 1.0
    assert looked[0, 0] > 2.0
    assert looked[0, 2] == 9.0
    assert np.array_equal(looked[1:], costs[1:])


@pytest.mark.parametrize(
    ("behind", "off"),
    [(0, 0), (FOREIGN[0], 0), (sum(FOREIGN) / 2, 1), (FOREIGN[1], 2), (7.5, 2)],
)
def test_words_of_another_language_do_not_tell_siblings_apart(
    made: storage.Parameters, behind: float, off: float
) -> None:
    identifier = Identifier(in_memory(made))
    identifier._contrasts = [([1, 2], np.zeros((1 << contrast.BUCKETS, 2), dtype=np.int8))]
    words = np.array([[9, 0, 3], [0, behind, behind + 2], [0, behind + 2, behind]])
    costs = np.array([[9.0, 1.0, 4.0], [9.0, 2.0, 2.5]])
    identifier._tell_siblings_apart(
        costs, [["aba", "town"], ["town"]], np.rint(words / STEP).astype(np.uint8), [0, 2, 3]
    )
    assert costs == pytest.approx(np.array([[9.0, 1.0, 4.0 - off], [9.0, 2.0, 2.5 + off]]))


def test_the_table_comes_back_from_its_file(made: storage.Parameters, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path / "cache"))
    storage.replace_file(tmp_path / "small.model", storage.packed(made))
    assert np.array_equal(storage.read(tmp_path / "small.model").contrasts[0], made.contrasts[0])
    texts = corpus()["one"]["x"][:6]
    for _ in range(2):
        assert Identifier(load(tmp_path / "small.model"))(texts) == Identifier(in_memory(made))(texts)
