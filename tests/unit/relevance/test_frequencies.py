"""Word frequencies in the place of text."""

import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relevance.errors import TrainingError
from relevance.language.alphabet import words
from relevance.learning import held_out, training
from relevance.learning.described import read_description
from relevance.learning.evaluation import deciding
from relevance.learning.frequencies import _counts, frequencies
from relevance.learning.making import in_memory, make
from tests.sample import sentences

SPECS = (
    training.ClassSpec("zul", "zul", ("zul",)),
    training.ClassSpec("eng", "eng", ("eng",)),
    training.ClassSpec("oth", "und", ("*",)),
)
LISTS = training.Source("lists", words={"eng": 20_000, "deu": 5_000})
SMALL = training.Description(
    "small", SPECS, (training.Source("x"), LISTS), settings=training.Settings(order=4, min_count=1)
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two sources with text of isiZulu, one of them of English, too."""
    rng = random.Random(1)
    for place in ("x/zul", "x/eng", "y/zul"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        lines = [sentence for sentence in sentences(place[2:], rng, 400).split(". ") if sentence]
        (tmp_path / f"{place}.txt").write_text("\n".join(lines))
    return tmp_path


def test_words_come_as_often_as_in_a_text_of_so_many() -> None:
    found = frequencies({"eng": 10_000, "nob": 100})
    assert set(found) == {"eng", "nob"}
    assert 400 < found["eng"]["the"] < 700
    assert 7_500 < found["eng"].total() < 10_000, "numbers, and words too rare for so short a text, are left out"
    assert found["nob"].most_common(1)[0][0] in ("i", "og", "er")


def test_words_are_those_of_a_text() -> None:
    english = frequencies({"eng": 1_000_000})["eng"]
    assert all(word == word.lower() and "'" not in word and word.isalpha() for word in english)
    assert english["don"] > 1_000, "don't"


@pytest.mark.parametrize("language", ["hin", "ben", "tam"])
def test_words_with_marks_count_too(language: str) -> None:
    """Vowels of Hindi are no letters to Unicode: most of its words have one."""
    assert frequencies({language: 100_000})[language].total() > 80_000


def test_words_with_joiners_count_too() -> None:
    persian = frequencies({"fas": 100_000})["fas"]
    assert persian[words("می\u200cشود")[0]] > 50


def test_a_part_that_comes_twice_in_a_word_counts_twice() -> None:
    """As in a text."""
    shares = {"काका": 0.5, "it's": 0.1, "u.s": 0.1, "00th": 0.1, "la'la": 0.2}
    assert _counts(shares, 10) == {"काका": 5, "it": 1, "s": 1, "la": 4}


def test_a_language_that_is_not_there_is_named() -> None:
    with pytest.raises(TrainingError, match=r"wordfreq has no xho, zul; it has ara ben .*"):
        frequencies({"zul": 1, "eng": 1, "xho": 1})


def test_a_missing_package_is_named(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(TrainingError, match=r"need the package wordfreq: pip install wordfreq"):
        frequencies({"eng": 1})


def test_they_count_beside_text_in_the_class_of_their_language() -> None:
    corpus: training.Corpus = {"zul": {"x": ["umuntu ubona abantu"]}, "eng": {"x": ["umuntu"]}}
    counted = training.class_words(corpus, SMALL)
    assert counted["zul"] == {"umuntu": 1, "ubona": 1, "abantu": 1}
    assert counted["eng"] == frequencies({"eng": 20_000})["eng"] + training.word_counts(["umuntu"])
    assert counted["oth"] == frequencies({"deu": 5_000})["deu"], "a language that no class names"


def test_a_class_may_have_nothing_else(data: Path) -> None:
    (data / "x/eng.txt").unlink()
    description = replace(SMALL, sources=(training.Source("x"), training.Source("y"), LISTS))
    corpus = training.read_corpus(data, description.sources)
    assert {language: set(sources) for language, sources in corpus.items()} == {"zul": {"x", "y"}}
    made = make(description, corpus)
    assert [one["name"] for one in made.meta["sources"]] == ["x", "y", "lists"]
    decide = deciding(in_memory(made))
    said = decide(["ngiyabonga kakhulu ukuthi abantu", "nobody knows why she has left", "und das ist nicht so"])
    assert said == ["zul", "eng", "und"]


def test_text_that_words_would_hide_is_named(data: Path) -> None:
    """A folder of that name is there: whose text did not count, and nothing said so."""
    with pytest.raises(TrainingError, match=r"y: has text, but the source has words in its place: name it otherwise"):
        training.read_corpus(data, (training.Source("x"), training.Source("y", words={"eng": 1})))


def test_languages_of_no_class_are_told(caplog: Any) -> None:
    text: training.Corpus = {"zul": {"x": ["umuntu ubona abantu emzini wakithi"]}}
    with caplog.at_level("INFO", "relevance"):
        make(replace(SMALL, classes=SPECS[:2]), text)
    assert "left out, as no class has them: deu" in caplog.text


@pytest.mark.parametrize(("listed", "told"), [("deu", True), ("deu nld", False), ("eng", False)])
def test_words_of_some_siblings_only_are_told(caplog: Any, listed: str, told: bool) -> None:
    """Measured: words of Czech alone made Slovak of five words or more Czech (F1 94.8 -> 84.8)."""
    specs = (*(training.ClassSpec(name, name, (name,)) for name in ("deu", "nld", "eng")), SPECS[2])
    amounts = training.Source("lists", words=dict.fromkeys(listed.split(), 1_000))
    text: training.Corpus = {name: {"x": ["een man ziet die mannen"]} for name in ("deu", "nld", "eng", "zul")}
    with caplog.at_level("INFO", "relevance"):
        make(replace(SMALL, classes=specs, sources=(amounts,), siblings=(("deu", "nld"),)), text)
    assert ("of the siblings deu nld only deu has words" in caplog.text) is told


def test_languages_without_blanks_are_told(caplog: Any) -> None:
    """Also where there are short strings only, as of an interface."""
    specs = tuple(training.ClassSpec(name, name, (name,)) for name in ("tha", "jpn", "deu", "amh")) + SPECS[2:]
    thai = ["มนุษย์ทั้งหลายเกิดมามีอิสระ และ", "เสมอภาคกันในเกียรติศักดิ์และสิทธิ และ", "ต่างมีเหตุผลและมโนธรรม และ"]
    text: training.Corpus = {
        "tha": {"x": thai}, "jpn": {"x": ["設定 キャンセル", "連絡先を追加 Google"]}, "amh": {"x": ["ሰላም ነው ሰላም ነው"]},
        "lao": {"x": thai},
    }  # fmt: skip
    lists = training.Source("lists", words={"deu": 1_000})
    with caplog.at_level("INFO", "relevance"):
        make(replace(SMALL, classes=specs, sources=(lists,)), text)
    told = [record.getMessage() for record in caplog.records if "without blanks" in record.msg]
    assert [line.split()[1] for line in told] == ["tha", "jpn"], "neither long words nor a pool"


def test_languages_of_other_scripts_are_told_apart_by_their_words() -> None:
    specs = tuple(training.ClassSpec(name, name, (name,)) for name in ("rus", "ell", "ara"))
    lists = training.Source("lists", words=dict.fromkeys(("rus", "ell", "ara"), 20_000))
    decide = deciding(in_memory(make(replace(SMALL, classes=specs, sources=(lists,)), {})))
    assert decide(["это было очень хорошо", "αυτό είναι πολύ καλό", "هذا جيد جدا"]) == ["rus", "ell", "ara"]
    assert decide(["не знаю", "δεν ξέρω", "لا اعرف"]) == ["rus", "ell", "ara"]


def test_word_lists_are_no_text_to_measure_on(data: Path) -> None:
    """The only text cannot be left out, and there is nothing to take together with it."""
    with pytest.raises(TrainingError, match="x is the only source with text"):
        held_out.leave_one_out(SMALL, data, ["x"])
    with pytest.raises(TrainingError, match="lists: no text of two of the languages told apart"):
        held_out.leave_one_out(SMALL, data, ["lists"])
    assert set(held_out.by_parts(SMALL, data, 2)) == {"x"}
    both = replace(SMALL, sources=(*SMALL.sources, training.Source("y")))
    assert set(held_out.by_parts(both, data, 2)) == {"x", "y", held_out.ALL}


def test_a_class_that_a_source_leaves_without_text_is_named_with_it(data: Path) -> None:
    """English and the pool have words of one source, and text of one only."""
    (data / "x/hau.txt").write_text("ina kwana lafiya lau")
    lists = training.Source("lists", words={"eng": 1_000})
    description = replace(SMALL, sources=(training.Source("x"), training.Source("y"), lists))
    with pytest.raises(TrainingError, match=r"^without x: no text for class oth"):
        held_out.leave_one_out(description, data, ["x"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("words = 3", "words = 3 is no table of languages and how many"),
        ("words = {}", "words = {} is no table"),
        ("words = { eng = 0 }", "words = {'eng': 0} is no table"),
        ("words = { eng = true }", "words = {'eng': True} is no table"),
        ("words = { eng = 2.5 }", "words = {'eng': 2.5} is no table"),
        (f"words = {{ eng = {'9' * 400} }}", "source b: words of eng are more than 1,000,000,000"),
        ("words = { eng = 9 }\n[[source]]\nname = 'b'", "source b twice, one of them with words: name them apart"),
        ('words = { eng = 9 }\nlanguages = ["eng"]', "source b: words says which languages; leave out languages"),
    ],
)
def test_amounts_that_mean_nothing_are_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "d.toml"
    path.write_text(f"name = 'x'\n[[class]]\nname = 'aaa'\n[[source]]\nname = 'b'\n{line}\n")
    with pytest.raises(TrainingError) as error:
        read_description(path)
    assert str(error.value).startswith(f"{path}: {said}")


def test_amounts_are_read(tmp_path: Path) -> None:
    path = tmp_path / "d.toml"
    path.write_text("name = 'x'\n[[class]]\nname = 'aaa'\n[[source]]\nname = 'b'\nwords = { eng = 100_000 }\n")
    assert read_description(path).sources == (training.Source("b", words={"eng": 100_000}),)
