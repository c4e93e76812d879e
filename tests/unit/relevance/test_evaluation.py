from relevance.language.alphabet import words
from relevance.learning.evaluation import KINDS, cut, figures

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
    assert len(cut(LINES, "document", most=1)) == 1


def test_every_language_counts_alike() -> None:
    texts = {"zul": ["zul"] * 90 + ["xho"] * 10, "xho": ["xho"] * 4 + ["zul"] * 6}
    found = figures(list, texts)
    assert round(found.f1["zul"], 6) == round(100 * 2 * 0.9 / (0.9 + 1 + 0.6), 6)
    assert found.confused == {("zul", "xho"): 10.0, ("xho", "zul"): 60.0}
