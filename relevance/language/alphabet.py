"""Letters as six-bit codes, and texts as words.

Guarantees: lower case only (case is never a feature: one training source has none); everything that is not a letter
separates words and is never glued over (the thesis deleted punctuation and so joined words); a letter of a foreign
script is kept as one code, so that scripts are told apart by the same model. Codes fit in six bits, so an n-gram of up
to ten letters is one exact 64-bit key: no hash collisions.

Code 0 is unused, 1 is the word boundary, 2-27 are a-z, then up to LATIN_LETTERS other Latin letters that the model
knows, 62 any other Latin letter, 63 any letter of another script. A model of languages in other scripts knows their
letters, too, by the same codes: a word that has one begins with SCRIPT and the number of the script, so no such word is
like one of another script, and has then a code for each of the ONCE most frequent letters, two for each other.

What only looks otherwise is read as what it looks like: letters in the shapes of mathematics or of another width, as
in tweets, ligatures, as in text from PDF, letters written as entities, and Cyrillic ones that stand beside a Latin one
in a word. Signs that cannot be seen part no word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from relevance.language.marks import MARK, VOWEL_SIGN
from relevance.language.noise import opened, quiet

BOUNDARY = 1
OTHER_LATIN = 62
OTHER_SCRIPT = 63
BITS = 6
EXTRA = "šžčêôëïéèḓṱḽṅṋüöäßñçàáíóúãõâîû"
"""Latin letters besides a to z of the shipped model, and of models that do not say theirs."""
LATIN_LETTERS = 31
SCRIPT = 59
ONCE = 50
_MANY = 60
"""Second codes behind each of the ten that begin the code of a rare letter."""
SCRIPT_LETTERS = ONCE + 10 * _MANY
"""Letters that are known of a script: of Amharic and Tigrinya all."""
_CODE = 0xE000
"""For private use, so in no word: what stands for code 0 in a word that is spelt as codes."""
MAX_WORD = 40
"""Letters of a word that are looked at; what is longer is cut there."""

_FIGURES = "".join(sign for sign in map(chr, range(0xB00, 0xA840)) if unicodedata.category(sign) in ("No", "Nl"))
"""Those that \\d does not have: of Ethiopia, raised ones, in circles, Roman ones that are one sign. Without Bengali
ones, which the shipped model's words have: people type one of them (৷) for the end of a sentence."""
_LETTER = rf"[^\W\d_²³¹¼½¾{_FIGURES}ªº\u115f\u1160\u3164\uffa0]"
"""Without figures, what is raised behind them (30ºC), and letters that cannot be seen."""
_MARKS = re.compile(f"[{MARK}]")
_WORD = re.compile(f"{_LETTER}+(?:{VOWEL_SIGN}+{_LETTER}*)*")
_DRAWN_OUT = re.compile(r"(.)\1\1+")
_SHAPE = (
    r"\u210a-\u2113\u2115\u2119-\u211d\u2124\u2128\u212c\u212d\u212f-\u2134"
    r"\ufb00-\ufb1d\ufb1f-\ufdf9\ufe70-\ufefc\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc\U0001d400-\U0001d6a5"
)
"""Latin letters of mathematics, ligatures, Arabic ones by how they join, letters as wide as Chinese ones or half so."""
_SHAPES = re.compile(f"[{_SHAPE}]+")
# Small letters that look alike, in the same order.
_CYRILLIC, _LATIN = (
    "\u0430\u0441\u0435\u043e\u0440\u0456\u0458\u0455\u0445\u0443\u04bb\u0501\u051b\u051d",
    "aceopijsxyhdqw",
)
_LOOK_ALIKE = re.compile(f"(?<=[a-z])[{_CYRILLIC}]+|(?<![{_CYRILLIC}])[{_CYRILLIC}]++(?=[a-z])")
_AS_LATIN = str.maketrans(_CYRILLIC, _LATIN)
_LOOKING_LATIN = frozenset(_CYRILLIC + _CYRILLIC.upper())
_OTHERWISE = re.compile(f"[{MARK}{_SHAPE}{_CYRILLIC}{_CYRILLIC.upper()}]")
"""Any of these; one search for all takes a third of the time of three."""
_SIGNS = re.compile(r"[^\w\s\x00-\x7f]{31,}")
_MARKS_OF_A_LETTER = 30
"""The standard's bound for a stream, too (Unicode, annex 15)."""
_WESTERN = ("latin-1", "cp1252")
"""Encodings of most text in our languages, the faster one first, by which its letters are found as bytes."""
_HYPHEN = b"\xad"
"""In these the mark that goes."""

Codes = npt.NDArray[np.uint8]


def _letter_table(encoding: str) -> bytes:
    letters = (bytes([byte]).decode(encoding, "replace") for byte in range(256))
    return b"".join(c.lower().encode(encoding, "replace") if _WORD.fullmatch(c) else b" " for c in letters)


_LETTERS = {encoding: _letter_table(encoding) for encoding in _WESTERN}


def composed(text: str) -> str:
    """The text in NFC. Of marks on one letter the first thirty stay: to put them in their order takes time that grows
    with the square of their number, for a page of 400 KB 40 seconds."""
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", _SIGNS.sub(_first_marks, text))


def unmarked(word: str) -> str:
    """A word as people type it where marks are hard to type: `še` as `se`."""
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", word)))


def _first_marks(signs: re.Match[str]) -> str:
    kept, marks = [], 0
    for sign in signs[0]:
        # Some marks are not said to combine, but what they are made of does.
        marks = marks + 1 if unicodedata.combining(unicodedata.normalize("NFD", sign)[0]) else 0
        if marks <= _MARKS_OF_A_LETTER:
            kept.append(sign)
    return "".join(kept)


def words(text: str) -> list[str]:
    """The words of a text in lower case. URLs, e-mail addresses and @names (RT @name, too) are no words, nor are #tags,
    unless there is nothing else."""
    return _words(quiet(text)) or _words(quiet(opened(text)))


def _words(text: str) -> list[str]:
    letters, encoding = _western(text)
    return _other_words(text) if letters is None else letters.decode(encoding).split()


def words_utf8(text: str) -> list[bytes]:
    """The same in UTF-8; sooner had than if each were encoded."""
    return _words_utf8(quiet(text)) or _words_utf8(quiet(opened(text)))


def _words_utf8(text: str) -> list[bytes]:
    letters, encoding = _western(text)
    if letters is None:
        return [*map(str.encode, _other_words(text))]
    return (letters if letters.isascii() else letters.decode(encoding).encode()).split()


def _western(text: str) -> tuple[bytes | None, str]:
    """The text in small letters, all else in it a blank, and its encoding; None: it has other letters."""
    if text.isascii():
        return text.encode().translate(_LETTERS["latin-1"]), "ascii"
    for encoding, letters in _LETTERS.items():
        try:
            written = text.encode(encoding)
        except UnicodeEncodeError:
            continue
        return written.translate(letters, _HYPHEN), encoding
    return None, ""


def _other_words(text: str) -> list[str]:
    there, read = {*_OTHERWISE.findall(text)}, text
    if any(map(_SHAPES.match, there)):
        read = _SHAPES.sub(lambda letters: unicodedata.normalize("NFKC", letters[0]), text)
    read = composed(read)
    if read is not text:  # a letter may have been one with its mark
        there, text = {*_OTHERWISE.findall(read)}, read
    if any(map(_MARKS.match, there)):
        text = _MARKS.sub("", text)
    text = text.replace("İ", "I").lower()  # else small İ is i and a mark, which parts words
    if there & _LOOKING_LATIN:
        text = _LOOK_ALIKE.sub(lambda letters: letters[0].translate(_AS_LATIN), text)
    return _WORD.findall(text)


class Alphabet:
    """The codes of letters. latin: the Latin ones that are known besides a to z; scripts: those of each other script,
    the most frequent first."""

    def __init__(self, latin: str = EXTRA, scripts: Sequence[str] = ()) -> None:
        if len(latin) > LATIN_LETTERS or max(map(len, scripts), default=0) > SCRIPT_LETTERS or len(scripts) > _MANY:
            raise ValueError("more letters than there are codes")
        self.latin, self.scripts = latin, tuple(scripts)
        table = np.full(0x10000, OTHER_SCRIPT, dtype=np.uint8)
        table[0xC0:0x250] = OTHER_LATIN
        table[0x1E00:0x1F00] = OTHER_LATIN
        for code, letter in enumerate("abcdefghijklmnopqrstuvwxyz" + latin, start=2):
            table[ord(letter)] = code
        table[ord(" ")] = BOUNDARY
        table[_CODE : _CODE + 64] = np.arange(64)
        self._table, self._ascii = table, table[:256].tobytes()
        self._spelling = {ord(c): _spelling(place) for letters in scripts for place, c in enumerate(letters)}
        self._begins = {c: _spelt(SCRIPT, number + 2) for number, letters in enumerate(scripts) for c in letters}

    @classmethod
    def of(cls, meta: Mapping[str, Any]) -> Alphabet:
        """That of a model, by its header."""
        latin, *scripts = meta.get("letters", [EXTRA])
        return cls(latin, scripts)

    def encode(self, tokens: Sequence[str]) -> Codes:
        """The words one after the other as codes, a boundary before each and one at the end."""
        if tokens and max(map(len, tokens)) > MAX_WORD:
            tokens = [token[:MAX_WORD] for token in tokens]
        joined = f" {' '.join(tokens)} "
        if joined.isascii():
            return np.frombuffer(joined.encode().translate(self._ascii), dtype=np.uint8)
        if self._begins:
            joined = f" {' '.join(map(self._as_codes, tokens))} "
        points = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32)
        return self._table[np.minimum(points, 0xFFFF)]

    def _as_codes(self, token: str) -> str:
        begins = next((self._begins[letter] for letter in token if letter in self._begins), "")
        return begins + token.translate(self._spelling) if begins else token


LATIN = Alphabet()


def _spelling(place: int) -> str:
    """The codes of a letter of another script by its place."""
    if place < ONCE:
        return _spelt(place + 2)
    return _spelt(ONCE + 2 + (place - ONCE) // _MANY, (place - ONCE) % _MANY + 2)


def _spelt(*codes: int) -> str:
    return "".join(chr(_CODE + code) for code in codes)


def drawn_out(tokens: Sequence[str], alphabet: Alphabet = LATIN) -> dict[str, str]:
    """The words that have a letter three times or more in a row, as in tweets ("yebooooo"), and how they are written
    otherwise ("yebo": of the languages told apart here German has a few such words). Words of one letter alone ("www",
    "iii") stay."""
    codes = alphabet.encode(tokens)
    same = codes[1:] == codes[:-1]
    thrice = (same[1:] & same[:-1]).nonzero()[0]
    if alphabet.scripts:  # rare letters have two codes
        same = codes[2:] == codes[:-2]
        pairs = same[3:] & same[2:-1] & same[1:-2] & same[:-3]
        thrice = np.concatenate([thrice, pairs.nonzero()[0]])
    if not len(thrice):
        return {}
    # Letters that are not known share a code: not all of these words have one letter three times.
    places = set((word_starts(codes).searchsorted(thrice, "right") - 1).tolist())
    plain = {tokens[place]: _DRAWN_OUT.sub(r"\1", tokens[place]) for place in places}
    return {token: short for token, short in plain.items() if 1 < len(short) < len(token)}


def word_starts(codes: Codes) -> npt.NDArray[np.int64]:
    """Where words start in what belongs to all codes but the first (for np.add.reduceat)."""
    starts: npt.NDArray[np.int64] = (codes == BOUNDARY).nonzero()[0][:-1]
    return starts


def word_lengths(codes: Codes) -> npt.NDArray[np.int64]:
    """How many codes each word has, its end among them."""
    lengths: npt.NDArray[np.int64] = np.diff((codes == BOUNDARY).nonzero()[0])
    return lengths


def ngram_keys(codes: Codes, order: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each position but the first: the key of the longest n-gram (up to `order`) that ends there and does not reach
    over a word's start; its length; and the starts of the words in those arrays (for np.add.reduceat)."""
    wide = codes.astype(np.int64)
    keys = wide[1:].copy()
    for back in range(1, order):
        if back > len(keys):
            break
        keys[back - 1 :] |= wide[: len(wide) - back] << (BITS * back)
    starts = word_starts(codes)
    lengths = np.arange(2, len(codes) + 1, dtype=np.int64) - np.repeat(starts, np.diff(starts, append=len(keys)))
    np.minimum(lengths, order, out=lengths)
    keys &= (np.int64(1) << (BITS * lengths)) - 1
    return keys, lengths, starts
