import fcntl
import html
import math
import os
import pickle
import random
import re
import resource
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relevance.errors import ModelError, TrainingError
from relevance.language import arpa, storage, thesis, trie
from relevance.language.alphabet import BITS, BOUNDARY, LATIN, composed, drawn_out, ngram_keys, words, words_utf8
from relevance.language.identification import identify
from relevance.language.model import LONGEST, SHIPPED, STEP, _interleaved, _summed, load, shipped
from relevance.language.noise import ELEMENTS
from relevance.language.strangeness import LEAST, PLAIN, SLOPE, UNIT, USUAL, USUAL_STEPS
from relevance.language.trie import Trie
from relevance.learning import training
from relevance.learning.described import read_description
from relevance.learning.evaluation import folder_texts
from relevance.learning.kneserney import KneserNey, count_ngrams
from relevance.learning.making import in_memory, make, make_to_size
from tests.sample import sentences

TEXT = {
    "aaa": "umuntu ubona abantu abaningi emzini omkhulu wakithi ekhaya " * 5,
    "bbb": "the people who live in this house are many and they see the town " * 5,
}
SPECS = (training.ClassSpec("aaa", "aaa", ("aaa",)), training.ClassSpec("bbb", "bbb", ("bbb",)))
SMALL = training.Description(
    "small", SPECS, (training.Source("x"),), ("aaa",), {}, training.Settings(order=4, min_count=1)
)


def corpus() -> Any:
    return {language: {"x": [text]} for language, text in TEXT.items()}


def test_figures_are_no_letters() -> None:
    for text in ("12 km² ½ kilo¹ 3¾e", "12 km² ½ kilo¹ 3¾e ṱ"):  # in one byte a letter, and not
        assert words(text)[:3] == ["km", "kilo", "e"]
    assert words("30ºC ku-1ª") == words("30°C ku-1") == ["c", "ku"]


def test_what_cannot_be_seen_is_no_letter() -> None:
    blanks = "\u115f\u1160\u3164\uffa0"
    assert words(f"{blanks} umuntu\u3164šibe {blanks}") == ["umuntu", "šibe"]


def test_words_are_never_glued() -> None:
    assert words("John's e-mail,is:a/b (Ṱhohoyanḓou) 3D") == [
        "john",
        "s",
        "e",
        "mail",
        "is",
        "a",
        "b",
        "ṱhohoyanḓou",
        "d",
    ]
    assert words("see http://a.b/c?d=e #tag @name x@y.zz go") == ["see", "go"]
    assert words("see www.a.b pic.a.com/bC1 and/or c.d") == ["see", "and", "or", "c", "d"]
    assert words("S\u030cibe") == ["šibe"]


def test_tags_are_words_where_there_is_nothing_else() -> None:
    assert words("#NgiyabongaKakhulu 😂#Mzansi @name 😂") == ["ngiyabonga", "kakhulu", "mzansi"]
    assert words("#ANC #isiZulu") == ["anc", "isi", "zulu"]
    assert words_utf8("#Tshivenḓa\n#2026") == ["tshivenḓa".encode()]
    for none in ("https://a.b/c#top", "see.org/#Top", "&#36;", "#1 #2", "@name", "a@b.cc#d"):
        assert words(none) == []
    assert words("sawubona #NgiyabongaKakhulu") == ["sawubona"]
    assert words("RT @name: #Ngiyabonga https://t.co/aB3") == ["ngiyabonga"]
    assert words("RT @name ngiyabonga, RT mina, ART @name") == ["ngiyabonga", "rt", "mina", "art"]


@pytest.mark.parametrize(
    "text",
    [
        "Tshiven&#7699;a umu&shy;ntu &amp;scaron;ibe",
        "Tshiven&amp;amp;#x1E13;a&nbsp;umuntu&amp;nbsp;s&#780;ibe &amp;",
        "Tshivenḓa umu\u2060ntu \u200fši\u202abe\u202c",
        "Tshivenḓa 𝐮𝐦𝐮𝐧𝐭𝐮 šｉｂｅ",
        "Tshiv\N{CYRILLIC SMALL LETTER IE}nḓa umuntu šib\N{CYRILLIC CAPITAL LETTER IE}",
    ],
)
def test_words_are_those_that_a_reader_sees(text: str) -> None:
    assert words(text) == ["tshivenḓa", "umuntu", "šibe"]


def test_letters_that_look_alike_stay_in_words_of_their_own_script() -> None:
    russian = "\N{CYRILLIC SMALL LETTER ES}\N{CYRILLIC SMALL LETTER O}\N{CYRILLIC SMALL LETTER KA}"
    assert words(f"{russian} oﬃce ŉ") == [russian, "office", "ŉ"]


@pytest.mark.parametrize(
    "signs",
    ["x@", "a.", "a-", "@.", "a@b.", "#a", "&#", "&a", "a.b/", "www.", "http://", ".", "\N{CYRILLIC SMALL LETTER A}"],
)
def test_a_million_signs_are_no_more_work_than_words(signs: Any) -> None:
    assert words(f"{signs * 500_000} @ www. a.com/b & last")[-1] == "last"  # what goes back at every sign takes days


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\u0316\u0301", "\u0f71\u0f72\u0f74\u0f73", "\u0344"])
def test_any_number_of_marks_on_a_letter_costs_nothing(marks: str) -> None:
    assert composed(f"S\u030cibe {marks * 500_000}") == unicodedata.normalize("NFC", composed(f"Šibe {marks * 30}"))
    for text in ("Ngìyábonga", unicodedata.normalize("NFD", "Ṱhohoyanḓou š"), "…" * 99 + "e\u0301", f"e{marks * 7}"):
        assert composed(text) == unicodedata.normalize("NFC", text)


SIGNS = [
    "://",
    "http://",
    "www.",
    "HTTP",
    "http",
    "Www.",
    "…",
    ".co.za",
    ".org",
    ".",
    "/",
    "<a",
    "<br/>",
    "</",
    ">",
    "\\n",
    "\\u0161",
    "\\",
    "@",
    "#",
    "&",
    ";",
    ".",
    ".com/",
    "-",
    "&amp;",
    "\u00ad",
    "\u0301",
    "\u200b",
    "’",
    "ſ",
    "²",
    "ﬁ",
    "ẞ",
    "&scaron;",
    "RT @",
    "\u2060",
    "º",
    "\u3164",
    "\U0001d41a",
    "\N{CYRILLIC SMALL LETTER A}",
    "\N{CYRILLIC SMALL LETTER DE}",
]
LOOK_ALIKE = dict(zip("асеоріјѕхуһԁԛԝ", "aceopijsxyhdqw", strict=True))


def test_a_reference_of_any_length_is_no_word() -> None:
    """Python makes no int of one with thousands of digits, unless it is told to."""
    assert words(f"umuntu &#{'1' * 5000}; &amp;#{'9' * 5000}; ubuntu") == ["umuntu", "ubuntu"]


@given(st.lists(st.one_of(st.sampled_from(SIGNS), st.text(max_size=4), st.sampled_from("abEÉšž 0_")), max_size=30))
def test_words_are_runs_of_letters_whatever_the_way_they_are_found(parts: Any) -> None:
    text = "".join(parts)
    assume(not set(text) & set("ÂÃÄÅáâïð"))  # may be read anew: tests/unit/relevance/test_noise.py
    found = plain_words(without_noise(text))
    assert words(text) == (found or plain_words(without_noise(opened(text))))
    assert words_utf8(text) == [word.encode() for word in words(text)]


def opened(text: str) -> str:
    """The text with #tags as words; nothing where there are none."""
    found = re.sub(r"(?<![\w/?&=-])#(\w+)", lambda tag: " " + re.sub("(?<=[a-z])(?=[A-Z])", " ", tag[1]), text)
    return found if found != text else ""


def without_noise(text: str) -> str:
    if not set(text) & set("/@#&<\\\u2026") and not re.search(r"ww\.|\.co|\.org", text):
        return text

    def sign(found: re.Match[str]) -> str:
        some = found[0]
        one = html.unescape(some.replace("amp;", "")) if some.startswith("&") else ""
        if some.startswith("\\") and "u" in some:
            one = chr(int(some[-4:], 16))
        return one if len(one) == 1 and (one.isalpha() or re.match(MARKS, one)) else " "

    urls = (
        r"(?:[hH][tT]{2}[pP][sS]?://|[wW]{3}\.)[^\s<>]+|(?<![\w.-])[\w-]+(?:\.[\w-]+)+/[^\s<>]*|(?<!\w)https?(?![\w-])|"
    )
    with_path = "://" in text or "ww." in text or re.search(r"\.[a-zA-Z]{2,6}/", text)
    cut_off = "http" in text and set(text) & set("/@\u2026")
    hosts = r"(?<![\w.-])(?:[\w-]+\.)*[\w-]+\.(?:com|org|co\.[a-z]{2}|(?:com|org)\.[a-z]{2})(?!\.?[\w-])|"
    entities = r"&(?:(?:amp;)+(?!#?\w+;)|(?:amp;)*#?\w+;)|\\+(?:u[0-9a-fA-F]{4}|[nrt])"
    markup = rf"</?(?ai:{ELEMENTS})(?:[\s/][^<>]*)?>|<!--[^<>]*>|"
    mails = r"(?<!\S)\S+@\S+\.\S+|"
    names = r"(?<!\w)(?:(?:[rR][tT]:? )?@|#)\w+|"
    return re.sub(f"{markup}{urls if with_path or cut_off else ''}{mails}{hosts}{names}{entities}", sign, text)


MARKS = r"[\u0300-\u036f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"


def plain_words(text: str) -> list[str]:
    text = re.sub("[ﬁ\U0001d41a]", lambda letter: unicodedata.normalize("NFKC", letter[0]), text)
    if re.search(MARKS, text):
        text = re.sub(MARKS, "", unicodedata.normalize("NFC", text))
    alike = "".join(LOOK_ALIKE)
    shown = re.sub(
        f"(?<=[a-z])[{alike}]+|[{alike}]+(?=[a-z])",
        lambda some: "".join(LOOK_ALIKE[letter] for letter in some[0]),
        text.replace("İ", "I").lower(),
    )
    return re.findall(r"[^\W\d_²³¹¼½¾ªº\u115f\u1160\u3164\uffa0]+", shown)


@given(st.lists(st.text(alphabet="abcšдf", min_size=1, max_size=9), min_size=1, max_size=8), st.integers(2, 6))
def test_ngram_keys_are_the_last_letters(tokens: Any, order: Any) -> None:
    codes = LATIN.encode(tokens)
    keys, lengths, starts = ngram_keys(codes, order)
    at = 0
    for token, start in zip(tokens, starts, strict=True):
        assert start == at
        padded = [BOUNDARY, *LATIN.encode([token])[1:-1], BOUNDARY]
        for end in range(1, len(padded)):
            expected = padded[max(0, end + 1 - order) : end + 1]
            assert lengths[at] == len(expected)
            assert keys[at] == sum(int(c) << (BITS * p) for p, c in enumerate(reversed(expected)))
            at += 1


def test_probabilities_sum_to_one_after_every_context() -> None:
    counts = Counter(words(TEXT["aaa"] + TEXT["bbb"]))
    model = KneserNey(count_ngrams(counts, 4))
    letters = np.arange(1, 63)
    contexts = {int(k) >> BITS for k in model.levels[3].ngrams.keys[:40]} | {int(LATIN.encode(["q"])[1])}
    for context in contexts:
        size = max(1, math.ceil(context.bit_length() / BITS)) + 1
        total = model.probabilities((context << BITS) | letters, size).sum()
        assert total == pytest.approx(1.0, abs=0.02)


class Textbook:
    """Modified Kneser-Ney as Chen and Goodman write it, n-gram by n-gram; of a word's start how often it comes."""

    def __init__(self, words: Counter[str], order: int) -> None:
        raw = [Counter[tuple[int, ...]]() for _ in range(order + 1)]
        for word, count in words.items():
            codes = tuple(LATIN.encode([word]).tolist())
            for end in range(2, len(codes) + 1):
                for size in range(1, min(order, end) + 1):
                    raw[size][codes[end - size : end]] += count
        self.counts = raw[:order]
        for size in range(1, order):
            before = Counter(ngram[1:] for ngram in raw[size + 1])
            asis = {ngram: count for ngram, count in raw[size].items() if size > 1 and ngram[0] == BOUNDARY}
            self.counts[size] = Counter({**before, **asis})
        self.counts.append(raw[order])
        self.steps = [self._steps([*counts.values()]) for counts in self.counts]

    @staticmethod
    def _steps(counts: list[int]) -> list[float]:
        n = [counts.count(k) for k in range(5)]
        if not all(n[1:4]):
            return [0, 0.6, 0.9, 1.1]
        y = n[1] / (n[1] + 2 * n[2])
        asis = [k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)]
        return [0, *(min(max(d, 0.1 * k), most) for d, k, most in zip(asis, (1, 2, 3), (0.95, 1.9, 2.8), strict=True))]

    def p(self, ngram: tuple[int, ...]) -> float:
        if not ngram:
            return 1 / 62
        counts, steps = self.counts[len(ngram)], self.steps[len(ngram)]
        those = {one: count for one, count in counts.items() if one[:-1] == ngram[:-1]}
        shorter = self.p(ngram[1:])
        if not those:
            return shorter
        own = counts[ngram]
        left = sum(steps[min(count, 3)] for count in those.values())
        return (own - steps[min(own, 3)] + left * shorter) / sum(those.values())


def test_letters_are_as_likely_as_the_textbook_has_it() -> None:
    counts = Counter(words(sentences("zul", random.Random(1), 500)))
    book, model = Textbook(counts, 4), KneserNey(count_ngrams(counts, 4))
    assert [steps == [0, 0.6, 0.9, 1.1] for steps in book.steps[1:]] == [True, False, False, False], "too little text"
    for word in ("ukuthi", "uthi", "the", "šzq"):
        codes = tuple(LATIN.encode([word]).tolist())
        for end in range(2, len(codes) + 1):
            for size in range(1, min(4, end) + 1):
                ngram = codes[end - size : end]
                key = sum(code << (BITS * place) for place, code in enumerate(reversed(ngram)))
                assert model.probabilities(np.array([key]), size)[0] == pytest.approx(book.p(ngram))


def test_letters_behind_more_than_any_word_has_are_as_likely_as_behind_those() -> None:
    model = KneserNey.of(Counter(["ab", "abc"]), 9, LATIN)
    *_, b, c, _ = LATIN.encode(["abc"]).tolist()
    key = np.array([b << BITS | c])
    assert model.probabilities(key, 9) == model.probabilities(key, 2)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_words_are_as_likely_as_their_letters_together(order: int) -> None:
    model = KneserNey.of(Counter(words(TEXT["aaa"])), order, LATIN)
    codes = LATIN.encode(["umuntu"]).tolist()
    logs = 0.0
    for end in range(2, len(codes) + 1):
        last = codes[max(0, end - order) : end]
        key = sum(code << (BITS * place) for place, code in enumerate(reversed(last)))
        logs += math.log(model.probabilities(np.array([key]), len(last))[0])
    assert model.word_logs(["abantu", "umuntu"])[1] == pytest.approx(logs)


def slow_longest(tokens: list[str], keys: list[Any]) -> list[int]:
    """Rows by looking up every ending of every beginning of a word, the longest first."""
    rows = {key: row for row, key in enumerate((size, int(k)) for size, some in enumerate(keys, 1) for k in some)}
    out = []
    for token in tokens:
        padded = [BOUNDARY, *LATIN.encode([token])[1:-1].tolist(), BOUNDARY]
        for end in range(2, len(padded) + 1):
            endings = (padded[max(0, end - size) : end] for size in range(len(keys), 0, -1))
            found = ((len(some), sum(c << (BITS * p) for p, c in enumerate(reversed(some)))) for some in endings)
            out.append(next(rows[one] for one in found if one in rows))
    return out


LETTERS = st.text(alphabet="abcšдf", min_size=1, max_size=9)


@given(st.lists(LETTERS, min_size=1, max_size=12), st.lists(LETTERS, min_size=1, max_size=12), st.integers(1, 6))
def test_the_longest_known_ngram_is_found_for_every_letter(trained: Any, tokens: Any, order: Any) -> None:
    counted = count_ngrams(Counter(trained), order)
    keys = training.select([counted], 2.0)
    found = Trie(trie.lay_out(keys), order).longest(LATIN.encode(tokens))
    assert found.tolist() == slow_longest(tokens, list(keys))


def test_the_shipped_model_finds_the_longest_ngrams() -> None:
    rng = random.Random(1)
    tokens = sentences("zul", rng, 300).lower().split() + [
        "".join(rng.choices("aeinuklzšṱж", k=12)) for _ in range(200)
    ]
    tokens = words(" ".join(tokens))
    keys = storage.read(SHIPPED).keys
    assert shipped()._trie.longest(LATIN.encode(tokens)).tolist() == slow_longest(tokens, list(keys))


@pytest.mark.parametrize("classes", [1, 3, 4, 6, 7, 8, 9, 14, 15, 26])
def test_rows_are_summed_in_lanes_as_one_by_one(classes: Any) -> None:
    rows = np.random.default_rng(classes).integers(0, 255, (60, classes)).astype(np.uint8)
    rows[:41] = 254  # a word as long as they get
    starts = np.array([0, 41, 42, 50])
    summed = _summed(_interleaved(rows), starts)
    assert np.array_equal(summed[:, :classes], np.add.reduceat(rows, starts, axis=0, dtype=np.int64))
    assert summed.shape[1] - classes >= 2


def test_evidence_is_what_the_probabilities_say() -> None:
    model, rng = shipped(), random.Random(2)
    classes, meta = model.classes, model.meta
    listed = {word for name in classes for word in model.vocabulary(name)[0]}
    new = {"".join(rng.choices("abeghiklmnostuyzêṱ", k=rng.randint(1, 45))) for _ in range(3000)} - listed
    new -= drawn_out(sorted(new)).keys()
    groups = [[classes.index(name) for name in group] for group in meta["siblings"]]
    groups = [g + [classes.index(s) for s, f in meta["second_stage"].items() if classes.index(f) in g] for g in groups]
    others = sorted(set(range(len(classes))).difference(*groups))
    family = [classes.index(name) for name in meta["family"]]
    for tokens in (sorted(new), sorted(listed)[::40]):
        logs = model.word_logs(tokens)
        behind = np.rint(np.minimum(logs.max(axis=1, keepdims=True) - logs, meta["clip"]) / np.float32(STEP))
        found = model.evidence(tokens)
        assert np.array_equal(found[:, others], behind[:, others])
        assert np.array_equal(found[:, len(classes)], (behind[:, family] == 0).any(axis=1))
        lengths = np.array([min(len(token), 40) + 1 for token in tokens])
        for group in groups:
            strange = -logs[:, group].max(axis=1) / lengths
            share = np.clip(1 - SLOPE * (strange - PLAIN), LEAST, 1)[:, np.newaxis]
            mean = behind[:, group].mean(axis=1, keepdims=True)
            assert found[:, group] == pytest.approx(mean + (behind[:, group] - mean) * share, abs=0.51)
        cost = (-logs[:, family].max(axis=1) - USUAL * lengths) / UNIT + USUAL_STEPS
        assert found[:, len(classes) + 1] == pytest.approx(np.clip(cost, 0, 255), abs=0.51)


def test_drawn_out_words_are_written_otherwise() -> None:
    long = "a" * 39 + "n" * 20
    tokens = [
        "yebooooo",
        "hhayi",
        "hhhayi",
        "www",
        "iii",
        "kkkakhuluuu",
        "noo",
        "ooh",
        "日日日本",
        "日本語",
        "sêêê",
        long,
    ]
    assert drawn_out(tokens) == {
        "yebooooo": "yebo",
        "hhhayi": "hayi",
        "kkkakhuluuu": "kakhulu",
        "日日日本": "日本",
        "sêêê": "sê",
        long: "an",
    }
    assert drawn_out(["hhayi", "aa", "a"]) == {}
    assert drawn_out([]) == {}


@pytest.mark.parametrize("remembered", [1 << 17, 1])
def test_drawn_out_words_say_what_they_say_otherwise(monkeypatch: Any, remembered: int) -> None:
    monkeypatch.setattr("relevance.language.model.REMEMBERED", remembered)
    model = load(SHIPPED)
    plain, drawn = ["yebo", "ngiyabonga", "sengikhathele"], ["yebooooo", "ngiyaaabonga", "sengikhatheleee"]
    expected = model.evidence(plain)
    for tokens in (drawn, drawn[::-1], [*drawn, *plain], drawn):
        asked = [plain[drawn.index(token)] if token in drawn else token for token in tokens]
        assert np.array_equal(model.evidence(tokens), [expected[plain.index(token)] for token in asked])


def test_a_model_survives_its_file(tmp_path: Any, monkeypatch: Any) -> None:
    made = make(SMALL, corpus())
    storage.replace_file(tmp_path / "m.model", storage.packed(made))
    again = storage.read(tmp_path / "m.model")
    assert all(np.array_equal(a, b) for a, b in zip(made.keys, again.keys, strict=True))
    assert np.array_equal(made.rows, again.rows)
    assert np.array_equal(made.word_rows, again.word_rows)
    assert made.words == again.words
    assert made.evidence is not None
    assert again.evidence is not None
    assert np.array_equal(made.evidence, again.evidence)
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path / "cache"))
    tokens = ["umuntu", "house", "xyzzy", "a"]
    expected = in_memory(made).word_logs(tokens)
    for _ in range(2):  # unpacked, then mapped
        assert np.allclose(load(tmp_path / "m.model").word_logs(tokens), expected)
    assert len(list((tmp_path / "cache").iterdir())) == 1
    monkeypatch.setenv("RELEVANCE_CACHE", "")
    assert np.allclose(load(tmp_path / "m.model").word_logs(tokens), expected)


def test_a_model_goes_to_another_process_as_the_name_of_its_file() -> None:
    sent = pickle.dumps(shipped())
    assert len(sent) < 1000
    tokens = ["umuntu", "house"]
    assert np.array_equal(pickle.loads(sent).evidence(tokens), shipped().evidence(tokens))
    made = in_memory(training.train(SMALL, corpus()))
    assert np.array_equal(pickle.loads(pickle.dumps(made)).evidence(tokens), made.evidence(tokens))


def test_a_damaged_cache_is_made_anew(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path))
    storage.replace_file(tmp_path / "m.model", storage.packed(training.train(SMALL, corpus())))
    load(tmp_path / "m.model")
    [cache] = tmp_path.glob("*.arrays")
    cache.write_bytes(cache.read_bytes()[:1000])
    assert load(tmp_path / "m.model").word_logs(["umuntu"]).shape == (1, 2)


def test_a_model_that_is_replaced_while_it_is_loaded_is_the_one_or_the_other(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path))
    path, other = tmp_path / "m.model", replace(SMALL, classes=SPECS[::-1])
    before, after = (storage.packed(training.train(one, corpus())) for one in (SMALL, other))
    storage.replace_file(path, before)

    def replaced(cache: Path) -> None:
        storage.replace_file(path, after)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "map_arrays", replaced)
        assert identify(["umuntu ubona abantu"], model=load(path))[0].language == "aaa"
    storage.replace_file(path, before)
    assert identify(["umuntu ubona abantu"], model=load(path))[0].language == "aaa"


@pytest.mark.parametrize(
    "head",
    [
        b"[1, 2]",
        b'{"rows": [0, "QQ", [1]]}',
        b'{"rows": [0]}',
        b'{"rows": [9, "<u8", [-1]]}',
        b'{"rows": [0, "<u8", [1e999]]}',
        b"{}",
    ],
)
def test_a_cache_of_another_make_is_made_anew(tmp_path: Any, monkeypatch: Any, head: bytes) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path))
    storage.replace_file(tmp_path / "m.model", storage.packed(training.train(SMALL, corpus())))
    load(tmp_path / "m.model")
    [cache] = tmp_path.glob("*.arrays")
    whole = cache.read_bytes()
    cache.write_bytes(len(head).to_bytes(4, "little") + head + bytes(1000))
    assert load(tmp_path / "m.model").word_logs(["umuntu"]).shape == (1, 2)
    assert cache.read_bytes() == whole


def test_a_cache_that_cannot_be_written_leaves_nothing(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path / "cache"))
    storage.replace_file(tmp_path / "m.model", storage.packed(training.train(SMALL, corpus())))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        assert load(tmp_path / "m.model").word_logs(["umuntu"]).shape == (1, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not any((tmp_path / "cache").iterdir())


def test_a_cache_keeps_no_models_that_nobody_wants(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    days = {
        "old-0123456789abcdef-9.arrays": 61,
        "new-0123456789abcdef-9.arrays": 59,
    }
    for name, age in {**days, "mine.arrays": 99, "my-own-notes.txt": 99}.items():
        (tmp_path / "cache" / name).write_bytes(b"x")
        os.utime(tmp_path / "cache" / name, (time.time() - age * 86400,) * 2)
    storage.replace_file(tmp_path / "m.model", storage.packed(make(SMALL, corpus())))
    load(tmp_path / "m.model")
    left = {path.name for path in (tmp_path / "cache").iterdir() if not path.name.startswith("m-")}
    assert left == {"new-0123456789abcdef-9.arrays", "mine.arrays", "my-own-notes.txt"}


def test_a_cache_keeps_no_parts_of_processes_that_were_killed(tmp_path: Any, monkeypatch: Any) -> None:
    """40 MB of each try of one that was short of memory stayed for two months."""
    monkeypatch.setenv("RELEVANCE_CACHE", str(tmp_path / "cache"))
    storage.replace_file(tmp_path / "m.model", storage.packed(make(SMALL, corpus())))
    (tmp_path / "cache").mkdir()
    killed, written, begun = (tmp_path / "cache" / f"m-0123456789abcdef-10.arrays{end}7y_z" for end in "xwv")
    for part, age_s in ((killed, 120), (written, 120), (begun, 5)):
        part.touch()
        os.utime(part, (time.time() - age_s,) * 2)
    with written.open("rb") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        load(tmp_path / "m.model")
    assert not killed.exists()
    assert written.exists()
    assert begun.exists(), "nobody has it locked, before it is and once it is written; of six that wrote 3% were lost"


def test_files_are_replaced_whole_and_devices_never(tmp_path: Any) -> None:
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "link").symlink_to("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"too large.*/old"):
            storage.replace_file(tmp_path / "link", bytes(9000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "old").read_bytes() == b"old"
    storage.replace_file(tmp_path / "link", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "old"]
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "old").read_bytes() == b"new"
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as other:
        read = other.submit((tmp_path / "pipe").read_bytes)
        storage.replace_file(tmp_path / "pipe", b"new")
        assert read.result() == b"new"
    assert (tmp_path / "pipe").is_fifo()
    read_end, write_end = os.pipe()
    storage.replace_file(Path(f"/dev/fd/{write_end}"), b"new")  # as of a shell: >(gzip)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as piped:
        assert piped.read() == b"new"


@pytest.mark.parametrize(
    "data", [b"", b"something else", storage.MAGIC, storage.MAGIC + b"\xff", storage.MAGIC + b"\xff\xff\x00\x00{"]
)
def test_what_is_no_model_is_said_to_be_none(tmp_path: Any, data: Any) -> None:
    (tmp_path / "bad.model").write_bytes(data)
    with pytest.raises((ModelError, ValueError)):
        storage.read(tmp_path / "bad.model")


def test_unpruned_and_stored_letters_agree() -> None:
    made = training.train(replace(SMALL, settings=replace(SMALL.settings, step=0.02)), corpus())
    exact = KneserNey(count_ngrams(Counter(words(TEXT["aaa"])), 4)).word_logs(["umuntu", "abantu"])
    assert in_memory(made).letter_logs(["umuntu", "abantu"])[:, 0] == pytest.approx(exact, abs=0.3)


def test_threads_share_a_model_whose_memory_is_small(monkeypatch: Any) -> None:
    monkeypatch.setattr("relevance.language.model.REMEMBERED", 200)
    model = in_memory(training.train(SMALL, corpus()))
    rng = random.Random(1)
    texts = [["".join(rng.choices("abmntu", k=6)) for _ in range(80)] for _ in range(40)]
    expected = [model.evidence(text).tolist() for text in texts]
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda text: model.evidence(text).tolist(), texts * 20))
    finally:
        sys.setswitchinterval(switching)
    assert found == expected * 20


def test_words_without_end_are_not_remembered() -> None:
    model = in_memory(make(SMALL, corpus()))
    endless, usual = "umuntu" * 1000, "abantwana"
    alone = [model.evidence([word[:LONGEST]]).tolist() for word in (endless, usual)]
    before = set(model._known)
    assert model.evidence([usual, endless, "umuntu"])[:2].tolist() == [*alone[1], *alone[0]]
    assert set(model._known) == before


@pytest.mark.parametrize(("count", "remembered"), [(200, 200), (201, 0)])
def test_so_many_words_at_once_are_remembered(count: int, remembered: int, monkeypatch: Any) -> None:
    """More, as of a book whose words are labelled, stayed until other words were met."""
    monkeypatch.setattr("relevance.language.model.REMEMBERED", 200)
    model = in_memory(training.train(SMALL, corpus()))
    letters = "abcdefghijklmnop"
    before = len(model._known)
    assert len(model.evidence([f"z{a}{b}" for a in letters for b in letters if a != b][:count])) == count
    assert len(model._known) == before + remembered


def test_the_memory_of_words_starts_anew_when_it_is_full(monkeypatch: Any) -> None:
    monkeypatch.setattr("relevance.language.model.REMEMBERED", 200)
    model = in_memory(training.train(SMALL, corpus()))
    new = [f"z{a}{b}" for a in "abcdefghijklmnop" for b in "abcdefghijklmnop" if a != b]
    sizes = []
    for some in (new[:100], new[100:200], new[:200], new[200:201], ["umuntu"]):
        model.evidence(some)
        sizes.append(len(model._known) - len(model._ready))
    assert sizes == [100, 200, 200, 1, 1]


def test_listed_words_are_meant_as_they_are_written() -> None:
    """And have the shares that they have in the text."""
    text = {**corpus(), "aaa": {"x": ["umuntuuu ubona umuntuuu uyabonaaa yebo"] * 4}}
    model = in_memory(training.train(SMALL, text))
    assert model.meant([["umuntuuu", "yebooo"], ["bona"]]) == [["umuntuuu", "yebo"], ["bona"]]
    shares = dict(zip(*model.vocabulary("aaa"), strict=True))
    assert shares == pytest.approx({"umuntuuu": 0.4, "ubona": 0.2, "uyabonaaa": 0.2, "yebo": 0.2}, rel=0.05)


def test_a_damaged_model_is_said_to_be_damaged(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("RELEVANCE_CACHE", "")
    made = training.train(replace(SMALL, siblings=(("aaa", "bbb"),)), corpus())
    storage.replace_file(tmp_path / "m.model", storage.packed(made))
    data = (tmp_path / "m.model").read_bytes()
    for part in (b'"letters2"', b'"word_rows"', b'"classes"', b'"clip"'):
        (tmp_path / "bad.model").write_bytes(data.replace(part, part[:-2] + b'_"'))
        with pytest.raises(ModelError, match="is damaged"):
            load(tmp_path / "bad.model")
    for part in (b'"step"', b'"word_share"', b'"clip"', b'"label"', b'"siblings": [["aaa"'):
        assert part in data
        (tmp_path / "bad.model").write_bytes(data.replace(part, part[:-2] + b"_" + part[-1:]))
        with pytest.raises(ModelError, match="is damaged"):  # not once it is asked for
            storage.read(tmp_path / "bad.model")
    model = storage.read(tmp_path / "m.model")
    for named in ({"label": 3}, {"called": [3]}):
        classes = [{**spec, **named} for spec in model.meta["classes"]]
        storage.replace_file(
            tmp_path / "bad.model", storage.packed(replace(model, meta={**model.meta, "classes": classes}))
        )
        with pytest.raises(ModelError, match="is damaged"):
            storage.read(tmp_path / "bad.model")
    unsaid = [{key: value for key, value in spec.items() if key != "words"} for spec in model.meta["classes"]]
    storage.replace_file(tmp_path / "bad.model", storage.packed(replace(model, meta={**model.meta, "classes": unsaid})))
    with pytest.raises(ModelError, match="is damaged"):
        storage.read(tmp_path / "bad.model")
    for key, value in (
        ("clip", -1),
        ("wanted", ["aaa"]),
        ("family", None),
        ("second_stage", "aaa"),
        ("second_stage", []),
        ("step", 1e9),
        ("step", "nan"),
        ("word_share", 1.5),
        ("clip", 13),
    ):
        storage.replace_file(tmp_path / "bad.model", storage.packed(replace(model, meta={**model.meta, key: value})))
        with pytest.raises(ModelError, match="is damaged"):
            storage.read(tmp_path / "bad.model")
    for wrong in (
        replace(model, meta={**model.meta, "step": 0}),
        replace(model, keys=(model.keys[0] + 200, *model.keys[1:])),
    ):
        storage.replace_file(tmp_path / "bad.model", storage.packed(wrong))
        with pytest.raises(ModelError, match="is damaged"):
            load(tmp_path / "bad.model")
    for place in range(data.index(b"\x28\xb5\x2f\xfd"), len(data), 97):
        (tmp_path / "bad.model").write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(ModelError, match="is damaged"):
            storage.read(tmp_path / "bad.model")
    size = b"\x28\xb5\x2f\xfd\xe0" + (1 << 62).to_bytes(8, "little")  # what the frame says of its content
    start = data.index(b"\x28\xb5\x2f\xfd")
    (tmp_path / "bad.model").write_bytes(data[:start] + size + data[start + len(size) :])
    with pytest.raises(ModelError, match="is damaged"):
        storage.read(tmp_path / "bad.model")


def test_pruning_to_a_size(tmp_path: Any, caplog: Any) -> None:
    assert len(make_to_size(SMALL, corpus(), tmp_path / "m.model", 10_000)) <= 10_000
    caplog.clear()
    with caplog.at_level("INFO", "relevance"), pytest.raises(TrainingError, match="without any n-gram of 3 letters"):
        make_to_size(SMALL, corpus(), tmp_path / "m.model", 100)
    assert len([record for record in caplog.records if "anew with" in record.msg]) == 2  # no more: nothing is left
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warned) == len({*warned}) == 3  # once, not with each attempt


@pytest.mark.parametrize("least", [0.0, 0.1, 1.0, 1.2])
def test_each_attempt_leaves_out_more(least: float, tmp_path: Any, caplog: Any) -> None:
    every = {language: dict.fromkeys(some.split()) for language, some in TEXT.items()}
    text = {
        language: {"x": [word for times, word in enumerate(some, start=1) for _ in range(times)]}
        for language, some in every.items()
    }
    asis = replace(SMALL, settings=replace(SMALL.settings, min_count=least))
    size = len(make_to_size(asis, text, tmp_path / "m.model", 1_000_000))
    with caplog.at_level("INFO", "relevance"):
        assert len(make_to_size(asis, text, tmp_path / "m.model", size - 1)) < size
    assert [record.msg.startswith("%s bytes, over") for record in caplog.records].count(True) == 1


def test_words_that_take_all_the_room_are_told(tmp_path: Any, monkeypatch: Any) -> None:
    """Pruning leaves out n-grams, not words: with many of them the size is never reached."""
    monkeypatch.setattr(storage, "packed", lambda made: b" " * 1001)
    with pytest.raises(TrainingError, match=r"list fewer than its \d+ words \(frequent_words\)"):
        make_to_size(SMALL, corpus(), tmp_path / "m.model", 1000)


def test_words_count_without_their_marks_too() -> None:
    text = {"aaa": {"x": ["tšwela še še še še se", "še še še še še"]}}
    settings = training.Settings(order=2, min_count=1)
    asis, typed = (replace(SMALL, settings=replace(settings, unmarked=share)) for share in (0.0, 0.2))
    every = {**corpus(), **text}
    assert training.class_words(every, typed)["aaa"] == {"tšwela": 1, "še": 9, "se": 1 + 2}
    assert training.class_words(every, asis)["aaa"] == {"tšwela": 1, "še": 9, "se": 1}
    lists = [training.train(description, every).words for description in (asis, typed)]
    assert ["se" in listed for listed in lists] == [False, True], "a word that comes once is not listed"


def test_words_are_listed_by_their_largest_share_and_rare_ones_are_not_absent() -> None:
    counted = [Counter({"umuntu": 900, "abantu": 90, "once": 1}), Counter({"the": 6, "abantu": 2, "people": 2})]
    settings = training.Settings(frequent_words=3, step=0.02)
    listed, rows = training.word_list(counted, settings)
    assert listed == ("abantu", "the", "umuntu")
    steps = [round(-math.log(share) / 0.02) for share in (90 / 991, 2 / 10, 6 / 10, 900 / 991)]
    assert rows.tolist() == [[steps[0], steps[1]], [storage.ABSENT, steps[2]], [steps[3], storage.ABSENT]]
    _, rows = training.word_list([Counter({"umuntu": 10**6, "abantu": 2})], settings)
    assert rows[0, 0] == storage.ABSENT - 1


def test_siblings_without_a_source_in_common_are_told() -> None:
    apart = {language: {source: [TEXT[language]]} for language, source in (("aaa", "x"), ("bbb", "y"))}
    settings = training.Settings(order=4, min_count=1, contrast=0.4)
    description = replace(SMALL, settings=settings, siblings=(("aaa", "bbb"),))
    with pytest.raises(TrainingError, match=r"no source has text of two siblings \(aaa bbb\)"):
        make(description, apart)


def test_descriptions_say_what_is_wrong(tmp_path: Any) -> None:
    path = tmp_path / "d.toml"
    for text in (
        "name = 3 = 4",
        "name=3\n[[class]]\nname='aaa'\n[[source]]\nname='b'\n",
        "[[class]]\nlabel='x'",
        "name='x'\n[[class]]\nname='a'\n[[source]]\nname='b'\n[settings]\nx=1",
    ):
        path.write_text(text)
        with pytest.raises(TrainingError):
            read_description(path)
    with pytest.raises(TrainingError):
        training.read_corpus(tmp_path, SMALL.sources)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[settings]\norder = 11", "order = 11 is no whole number from 1 to 10"),
        ("[settings]\norder = 6.0", "order = 6.0 is no whole number"),
        ("[settings]\nclip = 13", "clip = 13 is no number from 0.1 to 12.75"),
        ("[settings]\nstep = true", "step = True is no number"),
        ("[settings]\nx = 1", "unknown: x; there are order word_share"),
        ('famly = ["a"]', "unknown: famly"),
        ('family = ["c"]', "no class c"),
        ('second_stage = { aaa = "c" }', "no class c"),
        ('siblings = [["aaa", "c"]]', "no class c"),
        ('wanted = "aaa"', "wanted aaa is in no group"),
        ('[[class]]\nname = "aaa"', "class aaa twice"),
        ('[[source]]\nname = "s"\nlicense = "mine"', "unknown: license"),
        ('[[source]]\nlicence = "mine"', "no name in a [[source]]"),
        ('[[source]]\nname = "s"\nlicence = ["mine"]', "licence = ['mine'] is no name"),
        ('[[class]]\nlabel = "aaa"', "no name in a [[class]]"),
        ('[[class]]\nname = "czech"', "czech is no ISO 639-3 code"),
        ("[[class]]\nname = 3", "name of a [[class]] = 3 is no name"),
        ('[[source]]\nname = ""', "name of a [[source]] = '' is no name"),
        ("wanted = ['aaa']", "wanted = ['aaa'] is no name"),
        ("second_stage = ['aaa']", "second_stage = ['aaa'] is no table"),
        ("second_stage = { aaa = 3 }", "second_stage = {'aaa': 3} is no table"),
        ("settings = 3", "settings = 3 is no table, which begins with [settings]"),
        ("[[settings]]\norder = 3", "settings = [{'order': 3}] is no table"),
        ('siblings = [["aaa", "aaa"]]', "siblings: aaa twice"),
        ('[[class]]\nname = "bbb"\nlanguages = ["aaa"]', "languages: aaa in more than one class"),
        ('[[class]]\nname = "bbb"\nlanguages = "bbb"', "languages = 'bbb' is no list"),
        ('second_stage = { aaa = "aaa" }', "second_stage: aaa is split from another class and has one itself"),
        ('family = "aaa"', "family = 'aaa' is no list"),
        ('siblings = ["aaa"]', "siblings = ['aaa'] is no list of groups"),
        ("siblings = [[]]", "siblings = [[]] is no list of groups"),
        ('[[class]]\nname = "bbb"\ncalled = "bbb"', "called = 'bbb' is no list"),
        ('[[class]]\nname = "bbb"\ncalled = ["afaan oromoo"]', "called: 'afaan oromoo' is not one word"),
        ("letters = ['š']", "letters = ['š'] is no text of up to 31 letters"),
        ("letters = 'šš'", "letters = 'šš' is no text of up to 31 letters, each once"),
        ("letters = 'šž1'", "letters: '1' is no small Latin letter besides a to z"),
        ("letters = 'ɛŠ'", "letters: 'Š' is no small"),
        ("letters = 'ɔж'", "letters: 'ж' is no small"),
        ("letters = 'ñb'", "letters: 'b' is no small"),
    ],
)
def test_what_a_description_cannot_mean_is_named(tmp_path: Any, line: str, said: str) -> None:
    (tmp_path / "d.toml").write_text(f"name = 'x'\n{line}\n[[class]]\nname = 'aaa'\n[[source]]\nname = 'b'\n")
    with pytest.raises(TrainingError) as error:
        read_description(tmp_path / "d.toml")
    assert str(error.value).startswith(f"{tmp_path / 'd.toml'}: {said}")


@pytest.mark.parametrize("one", ["class", "source"])
def test_one_table_in_place_of_a_list_is_named(tmp_path: Any, one: str) -> None:
    text = "name = 'x'\n[[class]]\nname = 'aaa'\n[[source]]\nname = 'aaa'\n"
    (tmp_path / "d.toml").write_text(text.replace(f"[[{one}]]", f"[{one}]"))
    with pytest.raises(TrainingError) as error:
        read_description(tmp_path / "d.toml")
    assert f"{one} = {{'name': 'aaa'}} is no list of tables, each of which begins with [[{one}]]" in str(error.value)


@pytest.mark.parametrize("missing", ["name", "class", "source"])
def test_what_a_description_lacks_is_named(tmp_path: Any, missing: str) -> None:
    parts = {"name": "name = 'x'\n", "class": "[[class]]\nname = 'aaa'\n", "source": "[[source]]\nname = 'b'\n"}
    (tmp_path / "d.toml").write_text("\ufeff" + "".join(parts.values()), encoding="utf-8")
    assert read_description(tmp_path / "d.toml").name == "x"
    (tmp_path / "d.toml").write_text("".join(text for key, text in parts.items() if key != missing))
    with pytest.raises(TrainingError, match=rf"d\.toml: no {missing}$"):
        read_description(tmp_path / "d.toml")


def test_a_description_in_another_encoding_is_told_by_its_line(tmp_path: Any) -> None:
    (tmp_path / "d.toml").write_bytes("name = 'x'\n[[class]]\nname = 'ces'\ncalled = ['česky']\n".encode("cp1250"))
    with pytest.raises(TrainingError, match=r"d\.toml:4: not UTF-8$"):
        read_description(tmp_path / "d.toml")


def test_text_lies_in_files_or_folders_of_files(tmp_path: Any) -> None:
    for name in ("x/aaa.txt", "x/bbb/one.txt", "x/bbb/two.txt", "y/ccc.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"umuntu ubona abantu emzini wakithi {name}\r\n" * 3, encoding="utf-8-sig")
    found = training.read_corpus(tmp_path, [training.Source("x"), training.Source("y")])
    assert {language: {s: len(lines) for s, lines in some.items()} for language, some in found.items()} == {
        "aaa": {"x": 3},
        "bbb": {"x": 6},
        "ccc": {"y": 3},
    }
    assert {language: len(texts) for language, texts in folder_texts(tmp_path / "x", ["bbb"], "sentence").items()} == {
        "bbb": 6
    }
    assert set(training.read_corpus(tmp_path / "x", [training.Source(".")])) == {"aaa", "bbb"}
    counted = training.Source("frequencies", words={"eng": 5})
    assert training.read_corpus(tmp_path, [counted, training.Source("x")]).keys() == {"aaa", "bbb"}
    for source, said in (
        (training.Source("z"), "z: no such folder"),
        (training.Source("y", languages=("zul",)), "y: no <language>.txt of zul"),
    ):
        with pytest.raises(TrainingError, match=said):
            training.read_corpus(tmp_path, [training.Source("x"), source])


def test_a_source_beside_the_text_of_another_is_no_language_of_it(tmp_path: Any) -> None:
    """It was one of "all other languages", those told apart among them."""
    for name in ("aaa.txt", "bbb/one.txt", "x/aaa.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("umuntu ubona abantu")
    found = training.read_corpus(tmp_path, map(training.Source, (".", "x")))
    assert {language: set(some) for language, some in found.items()} == {"aaa": {".", "x"}, "bbb": {"."}}


def test_text_that_may_not_be_read_is_not_left_out(tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "x/aaa").mkdir(parents=True)
    (tmp_path / "x/aaa/one.txt").write_text("umuntu ubona abantu")
    (tmp_path / "x/bbb.txt").write_text("umuntu ubona abantu")
    listed = Path.iterdir

    def iterdir(folder: Path) -> Any:  # by a mode, nothing would be kept from root
        if folder.name == "aaa":
            raise PermissionError(13, "Permission denied", str(folder))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    with pytest.raises(PermissionError, match="aaa"):
        training.read_corpus(tmp_path, [training.Source("x")])


def test_text_under_another_name_than_a_language_s_is_told(caplog: Any) -> None:
    """Text of a language told apart, under its two-letter code, would be of the class of all others without a word."""
    specs = (*SMALL.classes, training.ClassSpec("others", "und", ("*",)))
    text = {"x": ["umuntu ubona abantu"]}
    with caplog.at_level("INFO", "relevance"):
        make(replace(SMALL, classes=specs), {**corpus(), "ddd": text, "zu": text, "README": text})
    assert "taken for other languages, though these are no ISO 639-3 codes: README zu\n" in caplog.text


@pytest.mark.parametrize(("siblings", "told"), [((), ["bbb", "ccc"]), ((("aaa", "ccc"),), ["ccc"])])
def test_classes_with_little_text_are_told_of_siblings_only_where_there_are_any(
    caplog: Any, siblings: Any, told: Any
) -> None:
    specs = (*SMALL.classes, training.ClassSpec("ccc", "ccc", ("ccc",)))
    text = {
        name: {"x": ["umuntu ubona abantu emzini"] * lines}
        for name, lines in (("aaa", 5000), ("bbb", 4), ("ccc", 4999))
    }
    with caplog.at_level("INFO", "relevance"):
        make(replace(SMALL, classes=specs, siblings=siblings), text)
    assert [
        record.getMessage().split(" of text; below 20,000")[0] for record in caplog.records if "below" in record.msg
    ] == [f"class {name} has {len(text[name]['x']) * 4:,} words" for name in told]


def test_text_that_no_class_has_is_told(caplog: Any) -> None:
    with caplog.at_level("INFO", "relevance"):
        make(SMALL, {**corpus(), "ccc": {"x": ["umuntu"]}})
    assert "left out, as no class has them: ccc" in caplog.text


@pytest.mark.parametrize(
    ("times", "siblings", "told"),
    [(1, (), ["aaa", "bbb"]), (1, (("aaa", "ccc"),), ["aaa", "ccc"]), (20_000, (("aaa", "ccc"),), ["ccc"])],
)
def test_classes_with_hardly_any_text_are_told(times: int, siblings: Any, told: list[str], caplog: Any) -> None:
    text = corpus() | ({"ccc": {"x": ["umuntu wakithi"]}} if siblings else {})
    text["aaa"]["x"] *= times
    specs = (*SPECS, training.ClassSpec("ccc", "ccc", ("ccc",)))[: len(text)]
    make(replace(SMALL, classes=specs, siblings=siblings), text)
    warned = [record.args[0] for record in caplog.records if record.msg.startswith("class ")]
    assert warned == told


@pytest.mark.parametrize(("label", "told"), [("bbb", True), ("und", False)])
def test_a_model_without_a_class_for_other_languages_is_told(label: str, told: bool, caplog: Any) -> None:
    make(replace(SMALL, classes=(SPECS[0], replace(SPECS[1], label=label))), corpus())
    assert ('no class has label = "und"' in caplog.text) is told


def test_text_that_is_no_utf8_is_named(tmp_path: Any) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "aaa.txt").write_bytes("umuntu\ncaf\xe9\n".encode("latin-1"))
    with pytest.raises(TrainingError, match=r"aaa\.txt:2: not UTF-8"):
        training.read_corpus(tmp_path, SMALL.sources)
    (tmp_path / "x" / "aaa.txt").write_bytes("umuntu\n".encode("utf-16-le"))
    with pytest.raises(TrainingError, match=r"aaa\.txt:1: not UTF-8 but UTF-16 or no text"):
        training.read_corpus(tmp_path, SMALL.sources)
    (tmp_path / "x" / "aaa.txt").write_bytes("umuntu\ncaf\xe9\n".encode("latin-1"))
    with pytest.raises(TrainingError, match=r"aaa\.txt:2: not UTF-8"):
        folder_texts(tmp_path / "x", ["aaa"], "sentence")


def test_arpa_round_trip_and_sums(tmp_path: Any) -> None:
    model = arpa.export(training.train(SMALL, corpus()), "aaa", 3)
    (tmp_path / "a.arpa").write_text(arpa.as_text(model), encoding="utf-8")
    again = arpa.read_arpa(tmp_path / "a.arpa")
    assert again.order == 3
    assert again.word("umuntu") == pytest.approx(model.word("umuntu"), abs=1e-4)
    letters = [ngram[0] for ngram in model.logs if len(ngram) == 1 and ngram[0] != "<s>"]
    for context in ((), ("a",), ("<s>", "u"), ("q", "q")):
        assert sum(10 ** model.letter(context, letter) for letter in letters) == pytest.approx(1, abs=1e-6)


def test_an_export_of_the_model_s_own_order_says_what_the_model_says() -> None:
    made = training.train(SMALL, corpus())
    tokens = ["umuntu", "abantu", "people", "town"]
    logs = in_memory(made).letter_logs(tokens)
    for column, language in enumerate(TEXT):
        exported = arpa.export(made, language, 4)
        assert [exported.word(word) * math.log(10) for word in tokens] == pytest.approx(
            logs[:, column].tolist(), abs=0.1
        )
    assert abs(logs[0, 0] - logs[0, 1]) > 5


@pytest.mark.parametrize("unknown", ["<unk>", "<UNK>"])
def test_scores_are_those_of_another_implementation(tmp_path: Any, unknown: str) -> None:
    (tmp_path / "a.arpa").write_text(
        "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-99\t<s>\t-0.30103\n-0.5\t</s>\n-0.6\ta\t-0.2\n-0.7\tb\t-0.1\n"
        f"-2.0\t{unknown}\n\n\\2-grams:\n-0.3\t<s> a\n-0.2\ta b\n-0.4\tb </s>\n\n\\end\\\n"
    )
    model = arpa.read_arpa(tmp_path / "a.arpa")
    kenlm = {"ab": -0.9, "x": -2.80103, "axb": -3.6, "a": -1.0}
    assert {word: model.word(word) for word in kenlm} == pytest.approx(kenlm)


def test_a_blank_that_does_not_break_is_a_letter_of_an_arpa_file(tmp_path: Any) -> None:
    blanks = "\u00a0\u2003\u2028\x85"
    lines = "".join(f"-1\t{blank}\r\n" for blank in blanks)
    (tmp_path / "a.arpa").write_text(f"ngram 1=4\r\n\\1-grams:\r\n{lines}\\end\\\r\n", newline="")
    assert arpa.read_arpa(str(tmp_path / "a.arpa")).logs == {(blank,): -1.0 for blank in blanks}


@pytest.mark.parametrize("weight", ["400", "inf"])
def test_weights_that_make_no_probability_end_nothing(tmp_path: Any, weight: str) -> None:
    (tmp_path / "a.arpa").write_text(f"\\1-grams:\n-1 a {weight}\n-1 b\n-1 </s>\n\\2-grams:\n-1 a a\n\\end\\\n")
    model = arpa.read_arpa(tmp_path / "a.arpa")
    assert model.word("ab") == 0
    assert thesis.ThesisModel(((), model), ((), model)).identify(["ab ab"])[0].language == "und"


def test_no_export_of_a_higher_order_than_the_model_s() -> None:
    with pytest.raises(ModelError, match="has n-grams of up to 6 letters, not 7"):
        arpa.export(storage.read(SHIPPED), "zul", 7)


def test_every_context_of_an_export_sums_to_one() -> None:
    model = arpa.export(storage.read(SHIPPED), "zul", 4)
    letters = [ngram[0] for ngram in model.logs if len(ngram) == 1 and ngram[0] != "<s>"]
    sums = [sum(10 ** model.letter(context, letter) for letter in letters) for context in [*model.backoffs][::20]]
    assert sums == pytest.approx([1] * len(sums), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no ARPA file"),
        ("\\x-grams:\n-1 a\n\\end\\\n", "is no ARPA file"),
        ("\\1-grams:\n-1 a b c\n\\end\\\n", "line 2 is no 1-gram"),
        ("\\1-grams:\nx y\n\\end\\\n", "line 2: could not"),
        ("\\1-grams:\n-nan y\n\\end\\\n", "line 2: a probability that is no number"),
        ("\\1-grams:\n-1 y nan\n\\end\\\n", "line 2: a probability that is no number"),
        ("\\1-grams:\n0.5 y\n\\end\\\n", "line 2: a probability above 1"),
        ("\\1-grams:\n-1 y\n", "ends before its"),
        ("ngram 1=2\n\\1-grams:\n-1 y\n\\end\\\n", "says that it has 2 1-grams, and has 1"),
        ("ngram 1=1\nngram 2 = 1\n\\1-grams:\n-1 y\n\\end\\\n", "says that it has 1 2-grams, and has 0"),
    ],
)
def test_what_is_no_arpa_file_is_said_to_be_none(tmp_path: Any, text: str, said: str) -> None:
    (tmp_path / "b.arpa").write_text(text)
    with pytest.raises(ModelError, match=said):
        arpa.read_arpa(tmp_path / "b.arpa")


def test_what_cannot_be_read_as_an_arpa_file_is_told_by_name_and_line(tmp_path: Any) -> None:
    with pytest.raises(ModelError, match=r"none\.arpa: No such file or directory$"):
        arpa.read_arpa(tmp_path / "none.arpa")
    (tmp_path / "b.arpa").write_bytes(b"\\1-grams:\n-1 \xe9\n")
    with pytest.raises(ModelError, match=r"b\.arpa: line 2 is not UTF-8$"):
        arpa.read_arpa(tmp_path / "b.arpa")


def test_mislabelled_lines_are_dropped() -> None:
    lines = {"aaa": [TEXT["aaa"][:58]] * 40 + [TEXT["bbb"][:64]] * 3, "bbb": [TEXT["bbb"][:64]] * 40}
    mixed = {language: {"x": some} for language, some in lines.items()}
    assert make(SMALL, mixed).meta["dropped"] == {"x/aaa": 3}


def test_a_process_that_unpacks_a_model_keeps_no_more_memory_than_others(tmp_path: Path) -> None:
    code = "import relevance.language.model as m; m.shipped(); print(open('/proc/self/statm').read().split()[1])"
    environment = {**os.environ, "RELEVANCE_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", code]
    pages = [int(subprocess.run(command, env=environment, check=True, capture_output=True).stdout) for _ in range(2)]
    assert (pages[0] - pages[1]) * resource.getpagesize() < 12e6
