import random
from typing import Any

import pytest

import relevance
from relevance.identification import GUARDED, Identifier, sampled
from relevance.mixed import labels_by_word
from relevance.model import SHIPPED, load
from relevance.sample import sentences


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


def test_case_and_punctuation_are_no_features() -> None:
    text = sentences("zul", random.Random(4), 60)
    bare = text.replace(".", "")
    assert relevance.identify([text.upper()]) == relevance.identify([bare.lower()])


def test_languages_limit_the_answer() -> None:
    text = sentences("zul", random.Random(5), 40)
    assert relevance.identify([text], languages=["xho", "ssw"])[0].language in ("xho", "ssw")
    with pytest.raises(relevance.UnknownLanguageError):
        relevance.identify([text], languages=["tlh"])


def test_family_share_falls_with_foreign_words() -> None:
    zulu, english = sentences("zul", random.Random(6), 100), sentences("eng", random.Random(6), 100)
    pure, mixed = relevance.identify([zulu, zulu + " " + english])
    assert pure.family_share > 0.8
    assert 0.3 < mixed.family_share < 0.7


def test_zimbabwean_ndebele_needs_a_long_text() -> None:
    text = sentences("nde", random.Random(7), 400)
    assert relevance.codes([text]) == ["nde"]
    short = " ".join(text.split()[: GUARDED + 4])
    assert relevance.codes([short]) != ["nde"]


def test_long_texts_are_sampled_from_all_parts() -> None:
    zulu, english = sentences("zul", random.Random(8), 3000), sentences("eng", random.Random(8), 1000)
    assert len(sampled(zulu)) < 1500
    assert english[-300:].split()[-2] in sampled(zulu + " " + english)
    assert set(sampled("ngiyabonga\n" * 1000).split()) == {"ngiyabonga"}
    assert relevance.codes([zulu]) == ["zul"]


def test_a_restart_of_the_word_memory_changes_nothing(monkeypatch: Any) -> None:
    monkeypatch.setattr("relevance.model.REMEMBERED", 50)
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


def test_the_thesis_method_is_there_for_comparison() -> None:
    text = sentences("zul", random.Random(10), 100)
    assert relevance.identify([text], model="afriweb")[0].language == "zul"
    assert relevance.identify([sentences("eng", random.Random(1), 100)], model="afriweb")[0].language == "und"
    with pytest.raises(relevance.ModelError):
        relevance.identify([text], model="unheard-of")
