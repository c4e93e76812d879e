"""The thesis' own method, exactly, for comparison (`model="afriweb"`).

Source: Afri-Web (2014), sections 3.3 and 3.6, algorithm 3.3. A word in both dictionaries is not the target; in the
target's it is; in the English one it is not; else the product of its trigram probabilities under both models decides,
unless they differ by 10^-3 or less: then it is not the target. Clean-up as there: punctuation deleted (which joins
words), lower case, non-ASCII to a space, numbers not counted.

Differs: Ukwabelana and enchant cannot be shipped, so by default the dictionaries are the model's word lists and the
trigram models are exported from it; both may be given. A missing n-gram backs off, as ARPA files mean it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from relevance.language.arpa import Arpa, export
from relevance.language.model import SHIPPED, shipped
from relevance.language.storage import read
from relevance.types import UNDETERMINED, Identification

MARGIN = 1e-3
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")


def clean(text: str) -> list[str]:
    """Words as the thesis cleaned them; numbers are left out."""
    text = _FOREIGN.sub(" ", _PUNCTUATION.sub("", text)).lower()
    return [word for word in text.split() if not word.isdigit()]


class ThesisModel:
    """Tells words of a target language from English, as the thesis did."""

    def __init__(
        self,
        target: tuple[Collection[str], Arpa],
        english: tuple[Collection[str], Arpa],
        language: str = "zul",
    ) -> None:
        self.language = language
        self._words, self._letters = frozenset(target[0]), target[1]
        self._english, self._english_letters = frozenset(english[0]), english[1]

    def is_target(self, word: str) -> bool:
        """Algorithm 3.3 for one word."""
        if word in self._words:
            return word not in self._english
        if word in self._english:
            return False
        target, english = 10 ** self._letters.word(word), 10 ** self._english_letters.word(word)
        return abs(target - english) > MARGIN and target > english

    def count(self, text: str) -> tuple[int, int]:
        """Target words and all words."""
        words = clean(text)
        return sum(map(self.is_target, words)), len(words)

    def identify(self, texts: Sequence[str]) -> list[Identification]:
        """The target where at least half of the words are its; score and family share are that part, margin 0."""
        out = []
        for text in texts:
            ours, total = self.count(text)
            share = ours / total if total else 0.0
            out.append(Identification(self.language if share >= 0.5 else UNDETERMINED, share, 0.0, share, total))
        return out


@lru_cache(maxsize=1)
def thesis_model() -> ThesisModel:
    """The method on the shipped model's word lists and letters, for isiZulu."""
    parameters, model = read(SHIPPED), shipped()
    target, english = ((model.vocabulary(name)[0], export(parameters, name, 3)) for name in ("zul", "eng"))
    return ThesisModel(target, english)
