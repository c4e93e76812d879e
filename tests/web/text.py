"""Text of the synthetic web: sentences drawn from the project's own language model, none copied from anywhere; made-up
words of languages that it does not know.

A pool of sentences a language is drawn once from the seed; pages put their paragraphs together from it, so that a page
costs microseconds and its exact language is known.
"""

from __future__ import annotations

import random
import re
from functools import lru_cache

from relevance.language.model import shipped
from tests.sample import sentences
from tests.web.hashing import draw

POOL_SENTENCES = 1200
POOL_PARAGRAPHS = 2048
_ONSETS = [*"bdfghjklmnprstvwyz", "th", "sh", "ng", "mb", "nd", "hl", "dl", "kh", "ph"]
_VOWELS = [*"aeiou", "aa", "ei", "ou"]
_ASCII_WORD = re.compile(r"[a-z]{3,14}")


class Pool:
    """Material of one language: `sentences` (HTML-safe, with a full stop), `paragraphs` (HTML in UTF-8, three sentences
    each), `anchors` (three to seven words) and lower-case ASCII `words` for URLs."""

    __slots__ = ("anchors", "language", "paragraphs", "sentences", "words")

    def __init__(self, language: str, seed: int) -> None:
        rng = random.Random(draw(seed, "text", language))
        drawn = sentences if language in shipped().classes else syllables
        self.language = language
        self.sentences = tuple(_sentence(drawn(language, rng, rng.randint(8, 18))) for _ in range(POOL_SENTENCES))
        found = dict.fromkeys(_ASCII_WORD.findall(" ".join(self.sentences).lower()))
        self.words = tuple(found)[:1021] or ("a",)
        plain = [s.rstrip(".").split(" ") for s in self.sentences[:509]]
        self.anchors = tuple(" ".join(words[: 3 + i % 5]) for i, words in enumerate(plain))
        self.paragraphs = tuple(
            f"<p>{' '.join(rng.choices(self.sentences, k=3))}</p>\n".encode() for _ in range(POOL_PARAGRAPHS)
        )


def _sentence(raw: str) -> str:
    text = " ".join(raw.split()).replace("&", "").replace("<", "").replace(">", "").replace('"', "")
    return text[:1].upper() + text[1:].rstrip(".!?,;: ") + "."


@lru_cache(maxsize=64)
def pool(language: str, seed: int) -> Pool:
    """The pool of a language, kept for the life of the process."""
    return Pool(language, seed)


def syllables(language: str, rng: random.Random, words: int) -> str:
    """Made-up words of open syllables; which ones depends on the language, so that languages differ."""
    shape = random.Random(language)
    onsets = shape.sample(_ONSETS, 14)
    vowels = shape.sample(_VOWELS, 5)
    return " ".join(
        "".join(rng.choice(onsets) + rng.choice(vowels) for _ in range(rng.randint(1, 4))) for _ in range(words)
    )
