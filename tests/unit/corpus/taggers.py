"""Small taggers, trained within the test session from a treebank made up for it."""

from itertools import product
from pathlib import Path

from corpus.tagging.training import tagged_sentences, train

_NOUNS = [("Inja", "inja"), ("Ingane", "ingane"), ("Umfana", "umfana"), ("Imvu", "imvu"), ("Intombi", "intombi")]
_VERBS = [
    ("ilele", "lala", "Past"),
    ("idlile", "dla", "Past"),
    ("iyahamba", "hamba", "Pres"),
    ("ifikile", "fika", "Past"),
]
_ADVERBS = ["izolo", "namuhla"]


def _conllu() -> str:
    sentences = []
    for (noun, noun_lemma), (verb, verb_lemma, tense), adverb in product(_NOUNS, _VERBS, _ADVERBS):
        words = [
            (noun, noun_lemma, "NOUN", "N", "_"),
            (verb, verb_lemma, "VERB", "V", f"Tense={tense}"),
            (adverb, adverb, "ADV", "A", "_"),
            (".", ".", "PUNCT", "Z", "_"),
        ]
        rows = ["\t".join((str(number), *word, *"____")) for number, word in enumerate(words, 1)]
        sentences.append("\n".join(["# text = …", *rows]) + "\n")
    return "\n".join(sentences)


TREEBANK = _conllu()
"""CoNLL-U with all columns that a model can give."""
PAIRS = "".join(
    "{1} {3}\n".format(*row.split("\t")) if row[:1].isdigit() else "\n" * (not row) for row in TREEBANK.split("\n")
)
"""The same as words and tags."""


def write_model(path: Path, text: str) -> Path:
    """A model trained from such text."""
    path.write_bytes(train(list(tagged_sentences(text.split("\n"), "made up"))))
    return path
