import random
import re
from collections.abc import Callable
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relevance
from relevance.errors import ModelError, UnknownLanguageError
from relevance.language.alphabet import words
from relevance.language.calibration import temperature, threshold
from relevance.language.identification import FAMILY_LEAD, FAMILY_LEAD_WORDS, MOST_STRANGENESS, Identifier, sampled
from relevance.language.mixed import labels_by_word
from relevance.language.model import SHIPPED, STEP, load, shipped
from relevance.language.strangeness import UNIT, USUAL_STEPS
from tests.sample import sentences


@pytest.mark.parametrize(
    "language", ["zul", "xho", "nbl", "ssw", "nso", "sot", "tsn", "tso", "ven", "afr", "eng", "ita"]
)
def test_drawn_text_is_recognised(language: Any) -> None:
    found = relevance.identify([sentences(language, random.Random(1), 120)])[0]
    assert found.language == language
    assert found.words == pytest.approx(120, abs=60)
    assert found.score > 0.99
    assert found.margin > 0.2


def test_a_word_that_comes_again_says_no_more() -> None:
    text = sentences("eng", random.Random(4), 30)
    once, again = relevance.identify([f"{text} Bhutha Kanjar", text + " Bhutha Kanjar" * 40])
    assert again.language == once.language == "eng"
    assert again.score == pytest.approx(once.score)
    assert again.words == once.words + 78
    assert again.margin * again.words == pytest.approx(once.margin * once.words)
    assert again.family_share == once.family_share


@pytest.mark.parametrize("filling", [" " * 5000, "12 345 " * 800, "https://a.example/eng " * 300])
def test_words_between_the_slices_of_a_long_text_are_found(filling: str) -> None:
    text = sentences("zul", random.Random(1), 30)
    found = relevance.identify([f"{filling}{text}{filling}"])[0]
    assert (found.language, found.words) == ("zul", len(words(text)))


@pytest.mark.parametrize("model", ["southern", "afriweb"])
def test_one_string_is_no_list_of_texts(model: Any) -> None:
    for ask in (
        lambda: relevance.identify(["umuntu"], "zul", model),
        lambda: relevance.probabilities(["umuntu"], "zul", model),
        lambda: labels_by_word("umuntu", "zul"),
    ):
        with pytest.raises(TypeError, match="languages is one string"):
            ask()
    with pytest.raises(TypeError, match="one string"):
        relevance.identify("umuntu", model=model)


def test_codes_are_the_languages_that_identify_finds() -> None:
    text = "Umfundi ufunda incwadi esikoleni namhlanje"
    assert relevance.codes([text], ["xho", "eng"]) == ["xho"]
    assert relevance.codes([text], model="afriweb") == ["zul"]


@pytest.mark.parametrize("model", ["my.model", Path("my.model")])
def test_a_file_is_no_model_before_it_is_loaded(model: Any) -> None:
    with pytest.raises(relevance.ModelError, match=r"my\.model: is neither .* relevance\.load_model"):
        relevance.identify(["umuntu"], model=model)


@pytest.mark.parametrize("model", ["southern", "afriweb"])
def test_texts_may_be_anything_that_gives_strings(model: Any) -> None:
    texts = ["Umfundi ufunda incwadi esikoleni namhlanje", "Thank you very much", ""]
    expected = relevance.identify(texts, model=model)
    for some in (iter(texts), tuple(texts), dict.fromkeys(texts), map(str, texts), np.array(texts)):
        assert relevance.identify(some, model=model) == expected
    assert relevance.codes(iter(texts)) == relevance.codes(texts)
    for wrong, said in ((None, "NoneType"), (b"a", "bytes"), (float("nan"), "float")):
        with pytest.raises(TypeError, match=rf"texts\[1\] is no string but of type {said}"):
            relevance.identify(["a", wrong], model=model)  # type: ignore[list-item]
        with pytest.raises(TypeError, match=f"text is no string but of type {said}"):
            labels_by_word(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="one string"):
        relevance.identify(b"umuntu", model=model)  # type: ignore[arg-type]


def test_probabilities_are_those_of_the_answers() -> None:
    rng = random.Random(3)
    texts = [sentences(language, rng, size) for language in ("zul", "xho", "eng", "sot") for size in (2, 5, 40)]
    texts += ["", "Привет мир", "12", "kodwa"]
    for languages in (None, ("zul", "xho"), ("sot",)):
        every = relevance.probabilities(iter(texts), languages, least=0)
        assert [bool(some) for some in every] == [bool(words(text)) for text in texts]
        for found, some in zip(relevance.identify(texts, languages), every, strict=True):
            if not some:
                assert found.language == "und"
                continue
            assert sum(some.values()) == pytest.approx(1)
            assert [*some.values()] == sorted(some.values(), reverse=True)
            if found.language != "und":  # several pools
                assert some[found.language] == pytest.approx(found.score)
            if found.margin:
                assert found.language == next(iter(some))
            assert not languages or set(some) == set(languages)
    [likely] = relevance.probabilities(["Khetha konke"])
    assert [*likely] == ["zul", "xho"]
    assert relevance.probabilities(["Khetha konke"], least=0.5) == [{"zul": likely["zul"]}]
    with pytest.raises(ModelError, match="afriweb: knows no probabilities"):
        relevance.probabilities(["Khetha konke"], model="afriweb")


def test_many_texts_at_once_have_the_probabilities_of_each_alone() -> None:
    texts = [sentences("zul", random.Random(n), n % 7) for n in range(600)]
    together = relevance.probabilities(texts)
    assert len(together) == 600
    assert [together[n] for n in (0, 255, 256, 511, 512, 599)] == [
        relevance.probabilities([texts[n]])[0] for n in (0, 255, 256, 511, 512, 599)
    ]


def test_no_words_no_language() -> None:
    for text in ("", "   ", "1234 5678", "http://example.org/isizulu/", "\x00\ud800"):
        found = relevance.identify([text])[0]
        assert (found.language, found.words) == ("und", 0) or text == "\x00\ud800"


def test_other_scripts_are_not_ours() -> None:
    texts = [
        "Привет мир это текст на русском языке",
        "これは日本語のテキストです。",
        "هذا نص باللغة العربية",
        "ይህ የአማርኛ ጽሑፍ ነው",
    ]
    assert relevance.codes(texts) == ["und"] * 4


def test_batches_and_single_texts_agree() -> None:
    rng = random.Random(3)
    texts = [sentences(language, rng, rng.randint(1, 200)) for language in ("zul", "eng", "sot") * 10]
    assert relevance.identify(texts) == [relevance.identify([text])[0] for text in texts]


def test_answers_are_those_of_plain_arithmetic() -> None:
    identifier, rng = Identifier(shipped()), random.Random(7)
    labels = shipped().labels
    texts = [sentences(rng.choice(["zul", "xho", "eng", "sot"]), rng, rng.randint(1, 40)) for _ in range(60)]
    tokens = [list(dict.fromkeys(words(text))) for text in texts]
    evidence = [shipped().evidence(some).astype(int) for some in tokens]
    sums = np.array([rows.sum(axis=0) for rows in evidence], dtype=np.int32)
    counts = [len(some) for some in tokens]
    costs = identifier._costs(sums, counts)
    for row, (some, count) in enumerate(zip(sums.tolist(), counts, strict=True)):
        strange = (some[len(labels) + 1] - USUAL_STEPS * count) * UNIT
        guard = FAMILY_LEAD * min(count, FAMILY_LEAD_WORDS) + min(max(strange, 0.0), MOST_STRANGENESS)
        plain = {name: some[n] * STEP for n, name in enumerate(shipped().classes)}
        for n, name in enumerate(shipped().classes):
            if name in shipped().meta["second_stage"] or name in shipped().meta["second_stage"].values():
                continue
            known = 0.0 if name in shipped().meta["family"] else guard
            assert costs[row, n] == pytest.approx(plain[name] - known)
    found = identifier._decide(costs, [0.5] * len(texts), counts, [count + 1 for count in counts])
    for one, count, answer in zip(costs.tolist(), counts, found, strict=True):
        low, after = sorted(one)[:2]
        heat = temperature(count)
        likely = [exp((low - cost) / heat) / sum(exp((low - other) / heat) for other in one) for cost in one]
        place = one.index(low)
        if labels[place] in ("xho", "nbl", "ssw") and likely[0] >= threshold(count):
            place, after = 0, low
        assert answer.language == labels[place]
        assert answer.score == pytest.approx(likely[place], rel=1e-12)
        assert answer.margin * (count + 1) == pytest.approx(after - low)
        assert (answer.words, answer.family_share) == (count + 1, 0.5)


def test_drawn_out_letters_are_no_features() -> None:
    plain = ["Yebo baba ngiyabonga kakhulu", "hhayi bo kwenzenjani", "siyabonga"]
    drawn = ["Yebooooo babaaaa ngiyaboooonga kakhuluuuu", "hhayi booo kwenzenjaniii", "siyabongaaaaa"]
    found, expected = relevance.identify(drawn), relevance.identify(plain)
    assert [one.language for one in found] == [one.language for one in expected]
    assert [one.family_share for one in found] == [one.family_share for one in expected]


def test_case_and_punctuation_are_no_features() -> None:
    text = sentences("zul", random.Random(4), 60)
    bare = text.replace(".", "")
    assert relevance.identify([text.upper()]) == relevance.identify([bare.lower()])


def test_languages_limit_the_answer() -> None:
    text = sentences("zul", random.Random(5), 40)
    assert relevance.identify([text], languages=["xho", "ssw"])[0].language in ("xho", "ssw")
    with pytest.raises(relevance.UnknownLanguageError):
        relevance.identify([text], languages=["tlh"])
    for ask in (relevance.identify, relevance.codes, relevance.probabilities):
        with pytest.raises(relevance.UnknownLanguageError, match="the model knows no 'qaa'"):
            ask([text], languages=[f"qa{letter}" for letter in "zyxwvutsrqponmlkjihgfedcba"])


@pytest.mark.parametrize("ask", [relevance.identify, relevance.codes, relevance.probabilities])
def test_what_is_in_no_language_cannot_be_chosen(ask: Callable[..., object]) -> None:
    """With isiZulu named, isiXhosa would be called that, and not what was named as anything else."""
    for languages in (["und"], ["zul", "und"]):
        with pytest.raises(UnknownLanguageError, match=r"'und' is no language to choose, .*; it knows zul xho"):
            ask(["Ngiyabonga kakhulu"], languages=languages)
    with pytest.raises(UnknownLanguageError, match="'und' is no language to choose"):
        labels_by_word("Ngiyabonga kakhulu", ["zul", "und"])


def test_languages_may_be_anything_that_gives_strings() -> None:
    text = sentences("sot", random.Random(5), 40)
    names = ("xho", "sot")
    for make in (list, tuple, set, iter, np.array, dict.fromkeys, lambda some: (one for one in some)):
        assert relevance.codes([text], make(names)) == ["sot"]
        assert [*relevance.probabilities([text], make(names), least=0)[0]] == ["sot", "xho"]
        assert {label for _, label in labels_by_word(text, make(names))} <= {*names}
    nothing: list[Any] = [(), [], np.array([]), iter(())]
    for none in nothing:
        assert relevance.codes([text], none) == ["sot"]
        assert labels_by_word("umuntu", none) == labels_by_word("umuntu")
    for ask in (relevance.identify, relevance.codes, relevance.probabilities):
        with pytest.raises(TypeError, match="one that is no string but of type NoneType"):
            ask([text], ["zul", None])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="languages is one string"):
            ask([text], b"zul")  # type: ignore[arg-type]


def test_family_share_falls_with_foreign_words() -> None:
    zulu, english = sentences("zul", random.Random(6), 100), sentences("eng", random.Random(6), 100)
    pure, mixed = relevance.identify([zulu, zulu + " " + english])
    assert pure.family_share > 0.8
    assert 0.3 < mixed.family_share < 0.7


def test_zimbabwean_ndebele_needs_a_long_text() -> None:
    text = sentences("nde", random.Random(7), 400)
    assert relevance.codes([text]) == ["nde"]
    short = " ".join(text.split()[: FAMILY_LEAD_WORDS + 4])
    assert relevance.codes([short]) != ["nde"]
    assert relevance.codes([text, short], ["zul", "nde"]) == ["nde", "zul"]
    assert relevance.codes([short], ["nde"]) == ["nde"]


def test_long_texts_are_sampled_from_all_parts() -> None:
    zulu = sentences("zul", random.Random(8), 3000)
    assert len(sampled(zulu)) < 1500
    quarters = [sentences("eng", random.Random(n), 400)[:2000] for n in range(4)]
    found = sampled("".join(quarters))
    for quarter in quarters:
        assert quarter[900:1100].split()[3] in found
    assert set(sampled("ngiyabonga\n" * 1000).split()) == {"ngiyabonga"}
    assert relevance.codes([zulu]) == ["zul"]


@pytest.mark.parametrize("language", ["zul", "xho", "sot", "afr"])
@pytest.mark.parametrize("size", [400, 3000])
def test_a_letterhead_and_an_imprint_of_another_language_do_not_decide(language: str, size: int) -> None:
    head, foot = sentences("eng", random.Random(1), 60)[:300], sentences("eng", random.Random(2), 60)[-300:]
    documents = [f"{head}\n{sentences(language, random.Random(n), size)}\n{foot}" for n in range(40)]
    assert relevance.codes(documents) == [language] * 40


def test_a_restart_of_the_word_memory_changes_nothing(monkeypatch: Any) -> None:
    monkeypatch.setattr("relevance.language.model.REMEMBERED", 50)
    rng = random.Random(9)
    made_up = ["".join(rng.choices("abehiklmnostuz", k=7)) for _ in range(300)]
    texts = [sentences("zul", rng, 20) + " ".join(rng.choices(made_up, k=20)) for _ in range(20)]
    identifier = Identifier(load(SHIPPED))
    assert [identifier([text])[0] for text in texts] == identifier(texts) == relevance.identify(texts)


def test_labels_by_word() -> None:
    text = "Izindaba zanamuhla ezivela eThekwini the government said on Monday that it will build new roads"
    labels = labels_by_word(text, ["zul", "eng"])
    assert [label for _, label in labels] == ["zul"] * 4 + ["eng"] * 11
    assert labels_by_word("") == []
    assert {label for _, label in labels_by_word(text, ["eng"])} == {"eng"}
    assert labels_by_word(text, []) == labels_by_word(text)  # as identify has it
    with pytest.raises(UnknownLanguageError, match="'tlh'"):
        labels_by_word("", ["tlh"])


def test_letters_drawn_out_change_no_answer() -> None:
    rng = random.Random(1)
    texts = [sentences(language, rng, 4) for language in ("zul", "xho", "nbl", "ssw") for _ in range(50)]
    drawn = [re.sub(r"(?<=[^\Waeiou])([aeiou])\b", r"\1\1\1\1", text) for text in texts]
    assert relevance.identify(drawn) == relevance.identify(texts)


def test_the_model_is_named_or_given_and_else_it_is_said_how_to_load_one() -> None:
    model = shipped()
    assert labels_by_word("umuntu", None, "southern") == labels_by_word("umuntu")
    assert labels_by_word("umuntu", None, model) == labels_by_word("umuntu")
    assert relevance.load_model(str(SHIPPED)).labels == model.labels
    for ask in (lambda: relevance.identify(["umuntu"], model="x.model"), lambda: labels_by_word("umuntu", None, "x")):
        with pytest.raises(ModelError, match="load other models with"):
            ask()
    with pytest.raises(ModelError, match="does not label words"):
        labels_by_word("umuntu", None, "afriweb")


def test_single_words_of_another_language_are_found_and_none_goes_to_a_sibling() -> None:
    text = "Sizothumela leyo document kumphathi wethu kusasa ekuseni ngemva kwe meeting yabasebenzi basehhovisi"
    assert {word: label for word, label in labels_by_word(text) if label != "zul"} == {
        "document": "eng",
        "meeting": "eng",
    }
    found = labels_by_word("Ngicela ungithumele imali yokuthenga ukudla kwasekuseni namuhla ntambama ngoba ngilambile")
    assert {label for _, label in found} == {"zul"}


def test_words_of_doubtful_siblings_go_to_the_language_that_the_model_is_made_for() -> None:
    texts = ["I love you sthandwa sami see you tomorrow ekuseni", "Ngifuna i-airtime please"]
    for text in texts:
        labels = labels_by_word(text)
        assert {label for _, label in labels} == {"zul", "eng"}
        assert {label for _, label in labels_by_word(text, ["xho", "eng", "sot"])} <= {"xho", "eng"}
    assert [label for _, label in labels_by_word("Enkosi kakhulu, I will call you ngomso")][:2] == ["xho", "xho"]


def test_a_long_text_in_two_siblings_keeps_both() -> None:
    rng = random.Random(3)
    halves = [sentences(language, rng, 60) for language in ("zul", "xho")]
    labels = [label for _, label in labels_by_word(" ".join(halves))]
    assert labels[:60].count("zul") > 45 < labels[60:].count("xho")


def test_the_thesis_method_is_there_for_comparison() -> None:
    text = sentences("zul", random.Random(10), 100)
    assert relevance.identify([text], model="afriweb")[0].language == "zul"
    assert relevance.identify([sentences("eng", random.Random(1), 100)], model="afriweb")[0].language == "und"
    with pytest.raises(relevance.ModelError):
        relevance.identify([text], model="unheard-of")
