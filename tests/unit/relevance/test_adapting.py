import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relevance
from relevance.errors import ModelError, TrainingError
from relevance.language import contrast, storage
from relevance.language.alphabet import LATIN
from relevance.language.identification import Identifier
from relevance.language.model import load
from relevance.learning import adapting, training
from relevance.learning.adapting import adapted
from relevance.learning.making import in_memory, make

LETTERS = [c + v for c in "bdfghklmnpqstvwxyz" for v in "aeiou"]
NAMES = ("one", "two", "mid", "old", "far", "pool")
SIBLINGS = ("one", "two", "mid")
TELLING = {"one": ["uba", "ngezi"], "two": ["owa", "ngoku"], "mid": ["ina", "ngela"]}
STATE, NEWS = ([a + b for a in LETTERS[at::9] for b in LETTERS[at + 1 :: 9]] for at in (0, 4))
"""Words of what the model is made from, and of text from elsewhere."""

FAR = [f"{word[::-1]}sch {word[1:]}rt" for word in STATE]


def lines(language: str, words: list[str], seed: int, count: int = 400) -> list[str]:
    """Each with two words that tell the language, and words that only that language uses of those given."""
    rng = random.Random(f"{language} {seed}")
    own = words[NAMES.index(language) :: len(NAMES)]
    return [" ".join([*TELLING[language], *rng.choices(own, k=4)]) for _ in range(count)]


def strings(language: str, words: list[str] = NEWS) -> list[str]:
    """Two words of text from elsewhere without any that tells."""
    own = words[NAMES.index(language) :: len(NAMES)]
    return [f"{a} {b}" for a, b in pairwise(own)]


def right(made: storage.Parameters, language: str, words: list[str] = NEWS) -> float:
    found = Identifier(in_memory(made))(strings(language, words))
    return sum(one.language == language for one in found) / len(found)


@pytest.fixture(scope="module")
def made() -> storage.Parameters:
    specs = [training.ClassSpec(name, name, (name,)) for name in NAMES[:-1]]
    specs.append(training.ClassSpec("pool", "und", ("pool",)))
    settings = training.Settings(order=4, min_count=1, clean_rounds=0, contrast=0.4)
    description = training.Description(
        "small", tuple(specs), (training.Source("x"),), SIBLINGS, {"old": "one"}, settings, siblings=(SIBLINGS,)
    )
    corpus: Any = {name: {"x": lines(name, STATE, 1)} for name in SIBLINGS}
    corpus["far"] = {"x": FAR * 4}
    corpus["old"] = {"x": lines("one", STATE, 2, 50)}
    corpus["pool"] = {"x": ["xx yy ww"] * 20}
    return make(description, corpus)


def news(*languages: str, count: int = 400) -> list[str]:
    return [line for language in languages for line in lines(language, NEWS, 3, count)]


@pytest.fixture(scope="module")
def after(made: storage.Parameters) -> storage.Parameters:
    return adapted(made, news(*SIBLINGS))


def test_words_of_sure_lines_tell_strings_that_have_nothing_else(made: Any, after: Any) -> None:
    before = [right(made, language) for language in SIBLINGS]
    assert sum(before) < 1.8
    assert [right(after, language) for language in SIBLINGS] == pytest.approx([1, 1, 1], abs=0.05)
    assert after.meta["adapted"] == {language: pytest.approx(400, abs=3) for language in SIBLINGS}


def test_what_was_known_is_not_forgotten(made: Any, after: Any) -> None:
    for language in SIBLINGS:
        assert right(after, language, STATE) >= right(made, language, STATE) - 0.02
    assert [one.language for one in Identifier(in_memory(after))(FAR)] == ["far"] * len(FAR)


def test_lines_that_come_again_say_no_more(made: Any, after: Any) -> None:
    again = adapted(made, news(*SIBLINGS) * 2)
    assert storage.packed(again) == storage.packed(after)


def test_siblings_learn_from_equally_much_text(made: Any) -> None:
    found = adapted(made, [*news("one"), *news("two", "mid", count=60)])
    assert len(set(found.meta["adapted"].values())) == 1
    assert found.meta["adapted"]["one"] <= 60


def test_a_handful_of_lines_of_a_sibling_are_taken_for_mistakes(made: Any) -> None:
    found = adapted(made, [*news("one", "two"), *news("mid", count=10)])
    assert found.meta["adapted"].keys() == {"one", "two"}


def lead(made: storage.Parameters, texts: list[str], a: str, b: str) -> Any:
    """Nats a word by which letters and word list say `a` rather than `b`."""
    names = [c["name"] for c in made.meta["classes"]]
    logs = in_memory(made).word_logs([word for text in texts for word in text.split()])
    return logs[:, names.index(a)] - logs[:, names.index(b)]


@pytest.mark.parametrize("words", [STATE, NEWS])
def test_text_in_one_sibling_is_no_evidence_against_the_others(made: Any, words: list[str]) -> None:
    """Learning from its text alone would make every word of that kind its own. Within what the steps of the file can
    say no word is made its own that was not; those that were likelier in another may become as likely in both."""
    found = adapted(made, news("one"))
    texts = strings("one", words)
    for other in ("two", "mid", "old"):
        now = lead(found, texts, "one", other)
        moved = now - lead(made, texts, "one", other)
        assert ((moved < 0.5) | (now < 0.1)).all()
        assert moved.min() > -0.5
    if words is NEWS:
        assert (lead(found, texts, "one", "far") - lead(made, texts, "one", "far")).mean() > 1


def test_what_two_siblings_gain_over_a_third_the_third_gains_too(made: Any) -> None:
    found = adapted(made, news("one", "two"))
    texts = [*strings("one"), *strings("two")]
    to_mid = [lead(found, texts, one, "mid") - lead(made, texts, one, "mid") for one in ("one", "two")]
    assert abs(sum(to_mid)).max() < 1
    assert right(found, "one") > right(made, "one")


def test_pools_and_languages_without_text_stay_as_they_are(made: Any, after: Any) -> None:
    names = [c["name"] for c in made.meta["classes"]]
    for name in ("far", "pool"):
        assert np.array_equal(after.rows[:, names.index(name)], made.rows[:, names.index(name)])
    assert not np.array_equal(after.rows[:, names.index("one")], made.rows[:, names.index("one")])


def test_a_language_split_from_another_moves_with_it(made: Any, after: Any) -> None:
    names = [c["name"] for c in made.meta["classes"]]
    moved = after.rows.astype(int) - made.rows
    inside = (made.rows[:, names.index("old")] > 20) & (made.rows[:, names.index("old")] < 200)
    assert abs(moved[inside, names.index("one")] - moved[inside, names.index("old")]).max() <= 1


def test_where_nothing_is_sure_nothing_is_made(made: Any) -> None:
    for texts in ([], ["", "1 2 3"], ["xx yy ww"]):
        with pytest.raises(TrainingError, match="nothing to adapt to"):
            adapted(made, texts)


@pytest.mark.parametrize("siblings", [(), (SIBLINGS,)])
def test_models_without_a_second_look_learn_too(made: Any, siblings: Any) -> None:
    plain = replace(made, meta={**made.meta, "siblings": siblings}, contrasts=())
    found = adapted(plain, news(*SIBLINGS))
    assert found.contrasts == ()
    gained = lead(found, strings("one"), "one", "two") - lead(plain, strings("one"), "one", "two")
    assert gained.mean() > 0.5


def test_classes_that_are_answered_alike_learn_nothing(made: Any) -> None:
    """Which of them a line is of nobody says."""
    classes = [{**c, "label": "one"} if c["name"] in ("one", "mid") else c for c in made.meta["classes"]]
    found = adapted(replace(made, meta={**made.meta, "classes": classes}), news(*SIBLINGS))
    assert found.meta["adapted"].keys() == {"two"}


def test_an_adapted_model_is_a_model_file(after: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path))
    (tmp_path / "a.model").write_bytes(storage.packed(after))
    texts = [*strings("one"), *strings("two"), *news("mid")]
    stored = load(tmp_path / "a.model")
    assert Identifier(stored)(texts) == Identifier(in_memory(after))(texts)
    learnt = relevance.adapt(iter(news(*SIBLINGS)), stored)
    assert learnt.meta["adapted"] == after.meta["adapted"]
    with pytest.raises(ModelError, match="adapt what it was made from"):
        relevance.adapt(news("one"), learnt)


def test_only_so_many_words_are_listed_besides(made: Any, after: Any, monkeypatch: Any) -> None:
    assert len(after.words) > len(made.words) + 50
    monkeypatch.setattr(adapting, "LISTED", 30)
    found = adapted(made, news(*SIBLINGS))
    assert len(found.words) == len(made.words) + 30
    counts = training.word_counts(news(*SIBLINGS))
    least = min(counts[word] for word in set(found.words).difference(made.words))
    assert least >= max(counts[word] for word in set(after.words).difference(found.words)) - 2  # not all lines are sure


def test_a_model_that_lists_no_words_learns_where_the_text_has_none_twice(made: Any) -> None:
    bare = replace(made, words=(), word_rows=made.word_rows[:0], evidence=None)
    found = adapted(bare, lines("one", STATE, 1, 1))
    assert (found.words, found.meta["adapted"]) == ((), {"one": 1})
    assert not np.array_equal(found.rows, made.rows)
    [line] = lines("one", STATE, 1, 1)
    assert adapted(bare, [f"{line} {line.split()[0]}"]).words == (line.split()[0],)


def test_a_sibling_in_two_groups_is_left_out_once(made: Any) -> None:
    """Where the first takes its lines for mistakes the second does not ask for them."""
    groups = (SIBLINGS, ("mid", "far"))
    plain = replace(made, meta={**made.meta, "siblings": groups}, contrasts=())
    found = adapted(plain, [*news("one", "two"), *news("mid", count=10)])
    assert found.meta["adapted"].keys() == {"one", "two"}


def test_no_word_is_likelier_without_text_than_with_it(made: Any) -> None:
    """Also where a sibling that has the text takes for all but impossible what one without text takes for likely: the
    step would go beyond what floating point holds, a warning, which is an error here."""
    names = [c["name"] for c in made.meta["classes"]]
    rows, j = made.rows.copy(), int(LATIN.encode(["j"])[1]) - 1
    rows[j, names.index("one")], rows[j, names.index("two")] = 254, 0
    odd = replace(made, rows=rows, evidence=None)
    found = adapted(odd, [f"{line} {'j' * 40}" for line in news("one")])
    assert found.meta["adapted"].keys() == {"one"}
    one, two = names.index("one"), names.index("two")
    words = sorted({word for text in strings("one") for word in text.split()})
    before, now = (in_memory(model).word_logs(words) for model in (odd, found))
    assert (now[:, two] <= np.maximum(before[:, two], now[:, one]) + 0.1).all()
    assert (now[:, two] > before[:, two] + 1).all()


def test_what_are_no_texts_and_no_model_is_said() -> None:
    with pytest.raises(TypeError, match="texts is one string"):
        relevance.adapt("Umuntu ubona abantu emzini wakithi")
    with pytest.raises(ModelError, match="afriweb: has nothing that text adapts"):
        relevance.adapt(["Umuntu ubona abantu"], "afriweb")


def test_what_was_learnt_makes_more_lines_sure(made: Any) -> None:
    texts = [*news(*SIBLINGS, count=100), *(text for language in SIBLINGS for text in strings(language))]
    at_first = adapting.equally_many(adapting.sure(made, texts), (SIBLINGS,))
    found = adapted(made, texts)
    assert sum(found.meta["adapted"].values()) > sum(map(len, at_first.values())) + 5


def test_lines_in_doubt_are_not_sure(made: Any) -> None:
    texts = strings("one")
    known = [{**one, "und": 0} for one in Identifier(in_memory(made)).probabilities(texts, 0)]
    likeliest = [max(one.values()) for one in known]
    told = [text for some in adapting.sure(made, texts).values() for text in some]
    assert sorted(told) == sorted(text for text, p in zip(texts, likeliest, strict=True) if p >= adapting.SURE)
    assert 0 < len(told) < sum(p >= 0.5 for p in likeliest)


def test_lines_of_a_language_that_is_split_from_another_teach_nothing(made: Any) -> None:
    """Even where they are told: which of the two is long text's to say, and it moves with the other one."""
    plain = replace(made, meta={**made.meta, "second_stage": {"old": "one", "far": "one"}})
    far = [" ".join(FAR[at : at + 20]) for at in range(0, len(FAR), 20)]
    assert any("far" in one for one in Identifier(in_memory(plain)).probabilities(far, adapting.SURE))
    assert adapted(plain, [*news("one"), *far]).meta["adapted"].keys() == {"one"}


def test_a_language_split_from_one_that_follows_follows_too(made: Any) -> None:
    found = adapted(made, news("two", "mid"))
    texts = [*strings("two"), *strings("mid")]
    moved = lead(found, texts, "old", "one") - lead(made, texts, "old", "one")
    assert abs(moved).max() < 0.5
    assert (lead(found, texts, "old", "far") - lead(made, texts, "old", "far")).mean() > 1


def test_mixtures_are_probabilities(made: Any, after: Any) -> None:
    """Within what the steps of the file can say; of a language that learns."""
    step, column = made.meta["step"], [c["name"] for c in made.meta["classes"]].index("one")
    before, now = (np.exp(one.rows[: len(one.keys[0]), column] * -step).sum() for one in (made, after))
    assert now == pytest.approx(before, abs=0.04)
    listed = after.word_rows[:, column]
    assert np.exp(listed[listed != storage.ABSENT] * -step).sum() == pytest.approx(1, abs=0.04)


def test_a_tenth_of_what_is_known_stays_however_much_text_there_is(made: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(adapting, "HALF", 0)
    found = adapted(made, news(*SIBLINGS))
    column, places = [c["name"] for c in made.meta["classes"]].index("one"), [*map(found.words.index, made.words)]
    known = made.word_rows[:, column] < 200
    lost = found.word_rows[places, column].astype(int) - made.word_rows[:, column]
    most = -np.log(1 - adapting.MOST) / made.meta["step"]
    assert lost[known].max() == pytest.approx(most, abs=1)
    lost = found.rows[:, column].astype(int) - made.rows[:, column]
    assert most - 2 < lost[made.rows[:, column] < 200].max() <= most + 1


def test_frequent_words_come_with_their_evidence(after: Any) -> None:
    assert np.array_equal(after.evidence, in_memory(replace(after, evidence=None)).listed_evidence())


def test_the_second_look_learns_of_those_that_have_text(made: Any) -> None:
    (own,), (found,) = made.contrasts, adapted(made, news("one", "two")).contrasts
    assert np.array_equal(found[:, 2], own[:, 2])
    gained = found.astype(int) - own
    for place, language in enumerate(("one", "two")):
        said = contrast.scores(gained, [text.split() for text in strings(language)])
        assert (said[:, place] > said[:, 1 - place]).mean() > 0.95
    elsewhere = own.any(axis=1) & ~gained.any(axis=1)
    assert elsewhere.sum() > 100  # what only the model knows stays


def test_the_second_look_learns_by_how_much_text_there_is_and_of_two(made: Any, monkeypatch: Any) -> None:
    (own,), (found,) = made.contrasts, adapted(made, news("one")).contrasts
    assert np.array_equal(found, own)
    monkeypatch.setattr(adapting, "HALF", 10**9)
    (found,) = adapted(made, news("one", "two")).contrasts
    assert np.array_equal(found, own)
