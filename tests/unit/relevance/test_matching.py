from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from relevance.language import storage
from relevance.language.alphabet import LATIN
from relevance.learning import matching, training
from relevance.learning.kneserney import KneserNey
from relevance.learning.making import in_memory, make

SYLLABLES = [c + v for c in "bdfghklmnpqstvxyz" for v in "aeiou"]
STEMS = ["".join(some) for some in zip(SYLLABLES, SYLLABLES[7:], SYLLABLES[31:], strict=False)]
NAMES = ("one", "two", "old", "far")
NEWS = STEMS[1::2]
"""Stems that only the news have, and of the siblings only one has news."""


def corpus() -> Any:
    """Siblings that differ by a beginning; `one` has news besides. `far` is no sibling."""

    def lines(prefix: str, stems: list[str]) -> list[str]:
        return [f"{prefix}{stem} nga{stem}" for stem in stems]

    return {
        "one": {"state": lines("uku", STEMS[::2]) * 2, "news": lines("uku", NEWS) * 3},
        "two": {"state": lines("kwe", STEMS[::2])},
        "old": {"state": lines("uku", STEMS[::9])},
        "far": {"state": [f"{stem[::-1]}sch" for stem in STEMS]},
    }


@pytest.fixture(scope="module")
def described() -> Any:
    specs = tuple(training.ClassSpec(name, name, (name,)) for name in NAMES)
    settings = training.Settings(order=6, min_count=1, clean_rounds=0, matched=0.4)
    sources = (training.Source("state"), training.Source("news"))
    family, together = ("one", "two", "old"), (("one", "two"),)
    return training.Description(
        "small", specs, sources, family, {"old": "one"}, settings, siblings=together, wanted="one"
    )


@pytest.fixture(scope="module")
def plain(described: Any) -> Any:
    return training.train(described, corpus())


@pytest.fixture(scope="module")
def after(plain: Any, described: Any) -> Any:
    return matching.matched(plain, corpus(), described)


def test_as_many_words_as_wanted_are_drawn_of_each_source() -> None:
    sources = matching.by_source(corpus(), ["one"])
    drawn = [matching.part(sources, {"state": 20}, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert [some.total() for some in drawn] == [20, 20, 20]
    assert all(some <= sources["state"] for some in drawn)
    assert drawn[0] == drawn[1] != drawn[2]
    assert matching.part(sources, {"state": sources["state"].total()}, np.random.default_rng(1)) == sources["state"]


def test_what_only_one_sibling_could_show_speaks_less_for_it(plain: Any, after: Any) -> None:
    def lead(model: Any) -> float:
        logs = in_memory(model).word_logs([f"nga{stem}" for stem in NEWS])
        return float((logs[:, 0] - logs[:, 1]).mean())

    assert 0 < lead(after) < lead(plain) - 0.5


def test_what_tells_siblings_apart_stays(after: Any) -> None:
    logs = in_memory(after).word_logs([f"{prefix}{stem}" for prefix in ("uku", "kwe") for stem in STEMS[::2]])
    leads = (logs[:, 0] - logs[:, 1]).reshape(2, -1)
    assert (leads[0] > 1).all()
    assert (leads[1] < -1).all()


def test_only_siblings_and_what_is_split_from_them_change(plain: Any, after: Any) -> None:
    moved = after.rows.astype(int) - plain.rows
    assert not moved[:, 3].any()
    inside = ((np.minimum(plain.rows, after.rows) > 0) & (np.maximum(plain.rows, after.rows) < 254))[:, :3].all(axis=1)
    assert moved[inside, 0].any()
    assert np.array_equal(moved[inside, 0], moved[inside, 2])
    assert np.abs(moved[inside, 0] + moved[inside, 1]).max() <= 1
    listed = after.word_rows.astype(int) - plain.word_rows
    assert listed[:, :2].any()
    assert not listed[:, 2:].any()
    assert np.array_equal(after.word_rows == storage.ABSENT, plain.word_rows == storage.ABSENT)


def test_words_are_weighed_by_letters_and_where_they_come_again_by_how_often(plain: Any, described: Any) -> None:
    counts = Counter({word: 3 * place for place, word in enumerate(plain.words[:9])} | {plain.words[0]: 1, "uku": 5})
    flat = KneserNey.of({word: count**0.5 for word, count in counts.items()}, 6, LATIN)
    said = matching._logs(counts, 0.5, plain, described.settings)
    assert len(said) == len(plain.rows) + len(plain.words)
    assert said[len(plain.keys[0]) :][:9] == pytest.approx(np.log(flat.probabilities(plain.keys[1][:9], 2)))
    share = described.settings.word_share
    for word, log in zip(plain.words[:12], said[len(plain.rows) :], strict=False):
        listed = counts[word] / counts.total() if counts[word] > 1 else 0
        assert log == pytest.approx(np.log((1 - share) * np.exp(flat.word_logs([word])[0]) + share * listed))


def test_siblings_are_matched_by_letters_alone_where_no_word_is_listed(plain: Any, described: Any) -> None:
    none = replace(described, settings=replace(described.settings, frequent_words=0))
    made = training.train(none, corpus())
    assert np.array_equal(
        matching.matched(made, corpus(), none).rows, matching.matched(plain, corpus(), described).rows
    )


@pytest.mark.parametrize(
    "other", [{"two": {"other": ["kwebona"]}}, {"two": {"state": ["12 34"], "other": ["kwebona"]}}]
)
def test_siblings_without_a_source_together_stay(plain: Any, described: Any, other: Any, caplog: Any) -> None:
    with caplog.at_level("INFO", "relevance"):
        kept = matching.matched(plain, {**corpus(), **other}, described)
    assert "not matched, as no source has text of all of them: one two" in caplog.text
    assert np.array_equal(kept.rows, plain.rows)
    assert np.array_equal(kept.word_rows, plain.word_rows)


def test_making_a_model_matches_the_wanted_language_by_its_share(described: Any) -> None:
    made = make(described, corpus())
    without = make(replace(described, settings=replace(described.settings, matched=0.0)), corpus())
    assert not np.array_equal(made.rows, without.rows)
    nobody = make(replace(described, wanted=""), corpus())
    assert np.array_equal(nobody.rows, without.rows)


def test_values_of_long_ngrams_a_step_from_the_shorter_ones_are_made_equal(plain: Any) -> None:
    noise = np.random.default_rng(2).integers(-1, 2, plain.rows.shape)
    noisy = replace(plain, rows=np.clip(plain.rows + noise, 0, 254).astype(np.uint8))
    level = storage.levelled(noisy)
    start = sum(map(len, noisy.keys[: storage.LONG - 1]))
    assert np.array_equal(level.rows[:start], noisy.rows[:start])
    above = level.rows[storage.parents(level.keys)][start:].astype(int)
    far = np.abs(noisy.rows[start:].astype(int) - above) > 1
    assert 0 < far.mean() < 1
    assert np.array_equal(level.rows[start:], np.where(far, noisy.rows[start:], above))
    assert len(storage.packed(level)) < len(storage.packed(noisy))
    assert np.array_equal(storage.levelled(level).rows, level.rows)
