"""What an identifier answers."""

from __future__ import annotations

from typing import NamedTuple

UNDETERMINED = "und"


class Identification(NamedTuple):
    """What a text is written in.

    language: ISO 639-3, or "und": no words, or a language the model only knows as "another".
    score: probability of that class at equal priors, 0 to 1. margin: nats a word to the next language; 0 where that is
    likelier.
    family_share: part of the different words that fit a language of the model's family (Nguni) at least as well as any
    other. words: all words looked at (long texts are sampled).
    """

    language: str
    score: float
    margin: float
    family_share: float
    words: int
