"""Letters beside a to z: which a model knows, how they are coded, and what that is worth in scripts of any kind."""

import string
import unicodedata
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.errors import ModelError
from relevance.language import arpa, storage
from relevance.language.alphabet import (
    BOUNDARY,
    EXTRA,
    LATIN,
    LATIN_LETTERS,
    MAX_WORD,
    ONCE,
    OTHER_LATIN,
    OTHER_SCRIPT,
    SCRIPT,
    SCRIPT_LETTERS,
    Alphabet,
    drawn_out,
    unmarked,
    word_starts,
    words,
)
from relevance.language.model import load
from relevance.learning import training
from relevance.learning.evaluation import deciding
from relevance.learning.letters import WRITTEN_IN, alphabet_of
from relevance.learning.making import in_memory, make

CYRILLIC, GREEK = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф", "αοιετσνηυρπκμλςωδγχθφβξζψ"
SYLLABLES = "".join(map(chr, range(0x1200, 0x1248)))  # more than have a code of their own
BOTH = Alphabet("ñ", (CYRILLIC, GREEK, SYLLABLES))
SPECS = tuple(training.ClassSpec(name, name, (name,)) for name in ("rus", "bul", "eng"))
TWO = training.Description(
    "two", SPECS, (training.Source("x"), training.Source("y")), settings=training.Settings(order=4, min_count=1)
)
TEXT: training.Corpus = {
    "rus": {"x": ["все люди рождаются свободными и равными в своем достоинстве и правах они наделены разумом"] * 2},
    "bul": {"x": ["всички хора се раждат свободни и равни по достойнство и права те са надарени с разум"] * 2},
    "eng": {"x": ["all people are born free and equal in dignity and rights they have reason"] * 2},
}


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
        ("தமிழ் மொழி.", ["தமிழ்", "மொழி"]),
        ("မြန်မာဘာသာ စကား", ["မြန်မာဘာသာ", "စကား"]),
        ("ߒߞߏ ߞߊ߲", ["ߒߞߏ", "ߞߊ߲"]),
        ("𞤆𞤵𞤤𞤢𞥄𞤪", ["𞤨𞤵𞤤𞤢𞥄𞤪"]),
        ("كِتَـــابٌ", ["كتاب"]),
        ("שָׁלוֹם", ["שלום"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("ẹ̀kọ́", ["ẹkọ"]),
        ("#हिन्दी में", ["में"]),
        ("#हिन्दी", ["हिन्दी"]),
        ("@हिन्दी में", ["में"]),
        ("#ශ්\u200dරී ලංකා", ["ලංකා"]),
        ("#می\u200cخواهم", ["میخواهم"]),
        ("#e\u0323\u0300ko\u0323\u0301 ni", ["ni"]),
        ("ሰላም፩፪ ፳ Ⅻ XIIⅫ ①one km⁴ H₂O ௰", ["ሰላም", "xii", "one", "km", "h", "o"]),
        ("\ufee2\ufea4\ufee4\ufeaa \ufdf2 \ufefb", ["محمد", "الله", "لا"]),
        ("ｶﾞｷ \ufb49\ufb21 \ufb13 ｈｅｌｌｏ", ["ガキ", "שא", "մն", "hello"]),
    ],
)
def test_words_are_what_a_text_is_read_as(text: str, there: list[str]) -> None:
    assert words(text) == there


@pytest.mark.parametrize("text", ["ঘোড়া কোন বাংলায়", "கொடு", "한국어", "ကြိုး ဦး", "ශ්‍රී ලංකාව", "හෝ", "𑄟𑄮"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_in_pieces_are_read_as_whole_ones(text: str, form: Any) -> None:
    assert words(unicodedata.normalize(form, text)) == words(text)
    assert all(unicodedata.is_normalized("NFC", word) for word in words(text))


def test_vowels_that_are_drawn_out_are_written_once() -> None:
    assert drawn_out(["हाााा", "हा"], Alphabet("", ("हा",))) == {"हाााा": "हा"}


def test_letters_of_two_codes_that_are_drawn_out_are_written_once() -> None:
    often, rare = SYLLABLES[0], SYLLABLES[-1]
    tokens = [often + 3 * rare, 5 * rare + often, often + 2 * rare, rare + often + rare + often + rare + often, rare]
    assert drawn_out(tokens, BOTH) == {tokens[0]: often + rare, tokens[1]: rare + often}
    assert drawn_out([], BOTH) == drawn_out(["a", "a", "a"], BOTH) == {}


def test_words_without_marks_are_written_as_people_write() -> None:
    assert list(map(unmarked, ("šé", "άλφα", "한국", "ḓo"))) == ["se", "αλφα", "한국", "do"]
    assert unmarked("हिन्दी") == "हिन्दी"


def test_letters_have_codes_by_their_place() -> None:
    assert LATIN.encode(["aš"]).tolist() == [BOUNDARY, 2, 28, BOUNDARY]
    assert BOTH.encode(["ñšα", "жо"]).tolist()[1:3] == [SCRIPT, 3], "a letter of a script anywhere says so"
    assert BOTH.encode(["ñš"]).tolist() == [BOUNDARY, 28, OTHER_LATIN, BOUNDARY]
    assert BOTH.encode(["ое"]).tolist() == [BOUNDARY, SCRIPT, 2, 2, 3, BOUNDARY]
    assert BOTH.encode(["αο"]).tolist() == [BOUNDARY, SCRIPT, 3, 2, 3, BOUNDARY]
    rare = SYLLABLES[ONCE] + SYLLABLES[ONCE + 1] + SYLLABLES[0]
    assert BOTH.encode([rare]).tolist() == [BOUNDARY, SCRIPT, 4, 52, 2, 52, 3, 2, BOUNDARY]
    assert BOTH.encode(["оў"]).tolist() == [BOUNDARY, SCRIPT, 2, 2, OTHER_SCRIPT, BOUNDARY]
    assert BOTH.encode(["中"]).tolist() == [BOUNDARY, OTHER_SCRIPT, BOUNDARY]


@given(
    st.lists(
        st.sampled_from((string.ascii_lowercase + "ñ", CYRILLIC, GREEK, SYLLABLES)).flatmap(
            lambda letters: st.text(letters, min_size=1)
        ),
        min_size=1,
    )
)
def test_words_of_known_letters_have_codes_of_their_own(tokens: Any) -> None:
    """No two words are one, every code is a letter's, and words lie apart as before."""
    cut = [token[:MAX_WORD] for token in tokens]
    codes = BOTH.encode(tokens)
    pieces = bytes(codes).split(bytes([BOUNDARY]))[1:-1]
    assert len(pieces) == len(tokens) == len(word_starts(codes))
    assert len(set(zip(pieces, cut, strict=True))) == len(set(pieces)) == len(set(cut))
    assert set(codes.tolist()) <= {*range(1, 62)}
    assert pieces == [bytes(BOTH.encode([token]))[1:-1] for token in tokens]


def test_an_alphabet_is_kept_with_the_model() -> None:
    assert Alphabet.of({}).latin == EXTRA, "of models that do not say theirs"
    again = Alphabet.of({"letters": [BOTH.latin, *BOTH.scripts]})
    assert (again.latin, again.scripts) == (BOTH.latin, BOTH.scripts)
    for wrong in (["x" * (LATIN_LETTERS + 1)], ["", "x" * (SCRIPT_LETTERS + 1)], [""] + ["x"] * 61):
        with pytest.raises(ValueError, match="more letters than there are codes"):
            Alphabet.of({"letters": wrong})


def test_each_letter_of_a_script_that_has_most_is_told_from_all_others() -> None:
    letters = "".join(map(chr, range(0xAC00, 0xAC00 + SCRIPT_LETTERS)))
    known = Alphabet("", [letters])
    codes = [tuple(known.encode([letter])[3:-1].tolist()) for letter in letters]
    assert len({*codes}) == SCRIPT_LETTERS
    assert all(BOUNDARY < code < OTHER_LATIN for some in codes for code in some)


def test_a_model_knows_the_letters_of_its_languages() -> None:
    counted = {
        "eng": Counter({"a" * 999: 1, "ñž": 1, "о": 1}),
        "rus": Counter({"аоо": 3, "dž": 1}),
        "oth": Counter({"ўўўў": 50, "α": 50, "ķķķķ": 50}),
    }
    found = alphabet_of(counted, ["eng", "rus"])
    assert found.latin == "žñķ", "the languages' own come first"
    assert found.scripts == ("оўа",), "all that is of the script; not that of a pool"
    assert alphabet_of(counted, ["eng"]).scripts == (), f"less than {WRITTEN_IN} of its letters"
    assert alphabet_of(counted, ["eng"], "ķ").latin == "ķ"
    assert alphabet_of({"eng": Counter({"\U0001df00ɛ": 1})}, ["eng"]).latin == "ɛ", "beyond what a table has"
    many = {"eng": Counter({chr(point): 1 for point in range(0x100, 0x180)})}
    assert len(alphabet_of(many, ["eng"]).latin) == LATIN_LETTERS


def test_languages_in_one_script_are_told_apart_by_words_not_met() -> None:
    """All letters of other scripts used to be one, so a word that no list had said nothing."""
    made = make(replace(TWO, siblings=(("rus", "bul"),)), TEXT)
    decide = deciding(in_memory(made))
    assert decide(["рождения своими", "раждане свободно", "righteous reasons"]) == ["rus", "bul", "eng"]
    assert not {"рождения", "раждане", "righteous"} & set(made.words)


def test_the_second_look_knows_letters_too() -> None:
    contrast = training.Settings(order=2, min_count=1, contrast=5.0)
    lines = {name: {"x": [some["x"][0], *some["x"][0].split()]} for name, some in TEXT.items()}
    made = make(replace(TWO, settings=contrast, siblings=(("rus", "bul"),)), lines)
    assert deciding(in_memory(made))(["ждаются", "ждат"]) == ["rus", "bul"]
    assert made.contrasts[0].any(axis=1).sum() > 100, "each letter another feature"


def test_letters_survive_the_file(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path / "cache"))
    made = make(TWO, TEXT)
    file = tmp_path / "two.model"
    file.write_bytes(storage.packed(made))
    texts = ["рождения своими", "раждане", "reasons"]
    for _ in range(2):  # the second time from the cache
        assert deciding(load(file))(texts) == deciding(in_memory(made))(texts)
    assert load(file).alphabet.scripts == tuple(made.meta["letters"][1:]) != ()
    for wrong in (5, [], ["x" * 99], [["x"], "y"]):
        file.write_bytes(storage.packed(replace(made, meta={**made.meta, "letters": wrong})))
        for read in (load, storage.read):
            with pytest.raises(ModelError, match=r"two\.model: is damaged"):
                read(file)


def test_letters_that_share_codes_are_not_exported() -> None:
    with pytest.raises(ModelError, match="two: knows letters of several scripts: only Latin ones can be exported"):
        arpa.export(make(TWO, TEXT), "eng", 2)


def test_letters_of_a_model_are_exported_as_they_are() -> None:
    made = make(replace(TWO, classes=SPECS[2:], letters="ķ"), {"eng": {"x": ["keķs keķs"]}})
    assert ("e", "ķ") in arpa.export(made, "eng", 2).logs
