"""How often words come in languages of which there is no text: counts in its place, from the package wordfreq.

wordfreq (Speer 2022, data CC BY-SA 4.0) has some 40 languages of Wikipedia, subtitles, news, books and the web taken
together. It knows words but no sentences, so such a source adds to what a class knows of words and letters, and is
nothing that could be left out, cut into strings or searched for mislabelled lines. It is needed for training only.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping

from relevance.errors import TrainingError
from relevance.language.alphabet import MAX_WORD, words


def frequencies(amounts: Mapping[str, int]) -> dict[str, Counter[str]]:
    """How often each word comes in a text of so many words: language (ISO 639-3) -> word -> times.

    amounts: language -> words of the text, together with its numbers and with words too rare to be in it, which are
    left out. TrainingError for a language that wordfreq does not have, and where it is not installed.
    """
    try:
        from langcodes import Language
        from wordfreq import available_languages, get_frequency_dict
    except ImportError as error:
        raise TrainingError(f"word frequencies need the package wordfreq: pip install wordfreq ({error})") from error
    tags = {Language.get(tag).to_alpha3(): tag for tag in available_languages()}
    if unknown := sorted(set(amounts) - set(tags)):
        raise TrainingError(f"wordfreq has no {', '.join(unknown)}; it has {' '.join(sorted(tags))}")
    return {language: _counts(get_frequency_dict(tags[language]), amount) for language, amount in amounts.items()}


def _counts(shares: Mapping[str, float], amount: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for token, share in shares.items():
        if (times := round(share * amount)) and all(map(_spells, token)):
            for word in words(token):
                counts[word[:MAX_WORD]] += times
    return counts


def _spells(sign: str) -> bool:
    """What words are written with: letters, their marks (vowels in Hindi), joiners that cannot be seen (Persian), and
    the apostrophe; no figure and no point."""
    kind = unicodedata.category(sign)
    return kind[0] in "LM" or kind == "Cf" or sign == "'"
