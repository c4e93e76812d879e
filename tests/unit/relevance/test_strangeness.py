import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.language import storage, strangeness
from relevance.language.alphabet import word_lengths
from relevance.language.identification import FAMILY_LEAD, MOST_STRANGENESS, Identifier
from relevance.language.model import Model
from relevance.language.strangeness import (
    ENOUGH,
    LEAST,
    PLAIN,
    UNIT,
    USUAL,
    USUAL_STEPS,
    Strangeness,
    columns,
    told_by,
)
from relevance.learning import training
from relevance.learning.making import in_memory, make

WORD = np.array([10])  # letters of one word with its end
TEXT = {
    "aaa": "umuntu ubona abantu abaningi emzini omkhulu wakithi ekhaya " * 5,
    "bbb": "umntu ubona abantu abaninzi emzini omkhulu wethu ekhaya " * 5,
    "ccc": "the people who live in this house are many and they see the town " * 5,
}


def small(siblings: tuple[tuple[str, ...], ...] = (("aaa", "bbb"),)) -> storage.Parameters:
    specs = tuple(training.ClassSpec(name, name, (name,)) for name in TEXT)
    settings = training.Settings(order=4, min_count=1)
    description = training.Description(
        "small", specs, (training.Source("x"),), ("aaa", "bbb"), {}, settings, siblings=siblings
    )
    return make(description, {name: {"x": [text]} for name, text in TEXT.items()})


def weighed(evidence: list[int], costs: list[float], told: float = 1.0) -> tuple[list[int], int]:
    """Evidence of one word of ten letters under a family of three and one more class; what it costs the family."""
    weights = Strangeness([0, 1, 2], [[0, 1, 2]], [told])
    rows = np.array([evidence], dtype=np.uint8)
    [cost] = weights.weigh(rows, weights.lowest(np.array([costs])), WORD)
    return rows[0].tolist(), int(cost)


def test_a_plain_word_keeps_what_it_says() -> None:
    assert weighed([0, 60, 120, 90], [10 * PLAIN, 20.0, 30.0, 1.0])[0] == [0, 60, 120, 90]


def test_a_strange_word_hardly_tells_siblings_apart_and_says_as_much_of_the_rest() -> None:
    found, _ = weighed([0, 60, 120, 90], [80.0, 90.0, 100.0, 1.0])
    assert found == [60 - round(60 * LEAST), 60, 60 + round(60 * LEAST), 90]
    assert weighed([0, 60, 120, 90], [80.0, 90.0, 100.0, 1.0], 0.5)[0] == [18, 60, 102, 90], "half as sure"
    assert weighed([0, 60, 120, 90], [80.0, 90.0, 100.0, 1.0], 0.0)[0] == [0, 60, 120, 90]


@given(st.lists(st.integers(0, 200), min_size=4, max_size=4), st.floats(0, 100))
def test_siblings_keep_their_order_and_their_sum(evidence: list[int], cost: float) -> None:
    found, _ = weighed(evidence, [cost, cost + 1, cost + 2, 0.0])
    assert found[3] == evidence[3]
    assert sum(found[:3]) == pytest.approx(sum(evidence[:3]), abs=1.5)
    pairs = [(a, b) for a in range(3) for b in range(3) if evidence[a] <= evidence[b]]
    assert all(found[a] <= found[b] for a, b in pairs)


@given(st.floats(0, 60))
def test_what_a_word_costs_the_family_is_counted_from_what_is_usual(cost: float) -> None:
    steps = weighed([0, 0, 0, 0], [cost + 5, cost, cost + 3, 0.0])[1]
    assert (steps - USUAL_STEPS) * UNIT == pytest.approx(
        min(max(cost - 10 * USUAL, -USUAL_STEPS * UNIT), (255 - USUAL_STEPS) * UNIT), abs=0.06
    )


@pytest.mark.parametrize("family", [[], [0]])
def test_a_model_without_siblings_weighs_nothing(family: list[int]) -> None:
    weights = Strangeness(family or range(2), [], [])
    rows = np.array([[0, 80]], dtype=np.uint8)
    weights.weigh(rows, weights.lowest(np.array([[40.0, 50.0]])), WORD)
    assert rows.tolist() == [[0, 80]]


def test_columns_are_a_slice_where_they_can_be() -> None:
    assert columns([2, 3, 4]) == slice(2, 5)
    assert columns([2, 4]) == [2, 4]
    assert columns([]) == slice(0, 0)


def test_siblings_with_little_text_are_told_apart_by_it_alone(monkeypatch: Any) -> None:
    """All words are strange to them, and what models of parts of their text lack says nothing."""
    assert (told_by(0), told_by(ENOUGH // 2), told_by(2 * ENOUGH)) == (0, 0.5, 1)
    little, apart = small(), small(siblings=())
    assert np.abs(little.rows.astype(int) - apart.rows).max() <= 1
    monkeypatch.setattr(strangeness, "ENOUGH", 1)
    assert np.abs(small().rows.astype(int) - apart.rows).max() > 10
    pairs = [in_memory(made).evidence(["qxqxe", "emzinq"]).astype(int) for made in (apart, little, small())]
    assert np.abs(pairs[0] - pairs[1])[:, :3].max() <= 6 < np.abs(pairs[0] - pairs[2])[:, :3].max()


@pytest.fixture(scope="module")
def model() -> Model:
    return in_memory(small())


def test_letters_of_two_codes_may_cost_as_much_as_two() -> None:
    """They say more: by the letter any word of a syllabary was strange to its own language."""
    rng = random.Random(1)
    syllables = [chr(0xAC00 + 28 * n) for n in range(100)]
    drawn = [["".join(rng.choices(syllables, k=4)) for _ in range(size)] for size in (2_000, 100)]
    specs = (training.ClassSpec("kor", "kor", ("kor",)), training.ClassSpec("ccc", "ccc", ("ccc",)))
    description = training.Description("x", specs, (training.Source("x"),), ("kor",))
    model = in_memory(make(description, {"kor": {"x": drawn[0]}, "ccc": {"x": [TEXT["ccc"]]}}))
    new = [word for word in drawn[1] if word not in drawn[0]]
    costs = -model.letter_logs(new)[:, 0] - np.log1p(-description.settings.word_share)
    lengths = word_lengths(model.alphabet.encode(new))
    assert 8 < lengths.mean() < 11, "with the code of the script and the end"
    steps = model.evidence(new)[:, len(model.classes) + 1].astype(int)
    assert (steps - USUAL_STEPS) * UNIT == pytest.approx(costs - USUAL * lengths, abs=UNIT)


def test_strange_words_must_lead_by_more(model: Model) -> None:
    identifier = Identifier(model)
    costs = {}
    for word in ("abantu", "qxqxqxqx"):
        sums = model.evidence([word]).astype(np.int32)
        costs[word] = identifier._costs(sums, [1])[0] - sums[0, :3] * 0.05
    assert costs["abantu"].tolist() == pytest.approx([0, 0, -FAMILY_LEAD])
    assert costs["qxqxqxqx"].tolist() == pytest.approx([0, 0, -FAMILY_LEAD - MOST_STRANGENESS])


def test_no_guard_among_named_languages(model: Model) -> None:
    sums = model.evidence(["qxqxqxqx"]).astype(np.int32)
    assert Identifier(model, ["aaa", "ccc"])._costs(sums[:, [0, 2, 3]], [1])[0].tolist() == pytest.approx(
        (sums[0, [0, 2]] * 0.05).tolist()
    )
