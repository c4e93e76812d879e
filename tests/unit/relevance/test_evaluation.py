from relevance.language.alphabet import words
from relevance.learning.evaluation import KINDS, Said, cut, figures
from relevance.learning.training import ClassSpec

LINES = [" ".join(f"w{'abcdefghij'[number % 10] * (size + 1)}" for number in range(size)) for size in range(40)]


def test_strings_have_the_size_of_their_kind_and_no_line_is_used_twice() -> None:
    sizes = {kind: [len(words(text)) for text in cut(LINES, kind)] for kind in KINDS if kind != "chars"}
    assert [len(sizes[kind]) for kind in ("document", "paragraph", "utterance", "short")] == [2, 8, 35, 38]
    assert sum(sizes["document"]) == sum(sizes["paragraph"]) == sum(range(40))
    assert sorted(sizes["sentence"]) == list(range(5, 40))
    assert set(sizes["utterance"]) == {5, 6, 7, 8}
    assert set(sizes["short"]) == {1, 2, 3, 4}
    assert {len(text) for text in cut(LINES, "chars")} == {15}
    for kind, least, largest in (("long", 100, 140), ("headline", 50, 80)):
        texts = cut(LINES, kind)
        assert len(texts) > 10
        assert all(least <= len(text) <= largest and any(text in line for line in LINES) for text in texts)
        assert all(set(words(text)) <= set(words(" ".join(LINES))) for text in texts)
    assert [len(cut(LINES, "document", most=most)) for most in (1, 2, 3)] == [1, 2, 2]
    for kind, letters, there in (
        ("headline", 50, True), ("headline", 49, False), ("headline", 80, True), ("headline", 81, False),
        ("long", 100, True), ("long", 99, False), ("long", 140, True), ("long", 141, False),
        ("chars", 16, True), ("chars", 15, False), ("short", 4, True), ("short", 3, False),
    ):  # fmt: skip
        assert bool(cut(["a" * letters], kind)) is there, (kind, letters)


def test_every_language_counts_alike() -> None:
    texts = {"zul": ["zul"] * 90 + ["xho"] * 10, "xho": ["xho"] * 4 + ["zul"] * 6}
    found = figures(list, texts)
    assert round(found.f1["zul"], 6) == round(100 * 2 * 0.9 / (0.9 + 1 + 0.6), 6)
    assert found.confused == {("zul", "xho"): 10.0, ("xho", "zul"): 60.0}


def test_words_that_are_of_both_languages_are_told_apart_from_mistakes() -> None:
    classes = (
        ClassSpec("zul", "zul", ("zul",)),
        ClassSpec("xho", "xho", ("xho", "xhx")),
        ClassSpec("old", "xho", ("xho-old",)),
        ClassSpec("o", "und", ("*",)),
    )
    corpus = {
        "zul": {"a": ["Khetha konke, manje", "hamba"]},
        "xhx": {"b": ["yiza", "nge khetha KONKE"]},
        "xho-old": {"b": ["kudala"]},
        "fra": {"c": ["oui"]},
    }
    said = Said(corpus, classes)
    assert [
        said.by("xho", text) for text in ("khetha", "Khetha konke!", "kudala", "konke manje", "yiza nge", "khet")
    ] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
    assert not said.by("und", "oui")
    assert not said.by("eng", "khetha")
    texts = {"zul": ["khetha", "hamba"], "xho": ["yiza", "nge"]}
    answers = iter((["xho", "xho"], ["xho", "xho"]))
    found = figures(lambda _: next(answers), texts, said=said)
    assert found.either is not None
    assert found.f1 == {"zul": 0.0, "xho": 200 / 3}
    plain, both = 200 * 0.5 / 1.5, 200 / 2.5
    assert round(found.either, 6) == round((plain + both) / 2, 6)
    assert figures(list, {"zul": ["zul"]}).either is None
