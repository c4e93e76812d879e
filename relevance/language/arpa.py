"""Letter models as ARPA files (Paul 2006, as written by VariKN and SRILM): read, write, export from a model.

An n-gram's letters are separated by spaces; a word starts with <s> and ends with </s>; probabilities are log10, with a
back-off weight where the n-gram is the beginning of a longer one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from relevance.errors import ModelError, UnknownLanguageError, line_of
from relevance.language.alphabet import BITS, BOUNDARY, Alphabet
from relevance.language.storage import Parameters

START, END, UNKNOWN = "<s>", "</s>", "<unk>"
Ngram = tuple[str, ...]
_MOST = 1e-6
"""log10 of a probability of 1, as it is rounded."""
_COUNT = re.compile(r"ngram\s+([1-9]\d?)\s*=\s*(\d{1,12})")
_SECTION = re.compile(r"\\([1-9]\d?)-grams:")
_FIELD = re.compile(r"\S+", re.ASCII)
"""A blank that does not break, as in text from the web, is a letter to who writes these files."""


@dataclass(slots=True)
class Arpa:
    """log10 probabilities and back-off weights by n-gram."""

    order: int
    logs: dict[Ngram, float] = field(default_factory=dict)
    backoffs: dict[Ngram, float] = field(default_factory=dict)

    def letter(self, context: Ngram, letter: str) -> float:
        """log10 p(letter | context), by back-off; of an unknown letter what the model gives to such, else -99."""
        weight = 0.0
        context = context[-(self.order - 1) :] if self.order > 1 else ()
        while True:
            found = self.logs.get((*context, letter))
            if found is not None:
                return weight + found
            if not context:
                return weight + self.logs.get((UNKNOWN,), -99.0)
            weight += self.backoffs.get(context, 0.0)
            context = context[1:]

    def word(self, word: str) -> float:
        """log10 p of a word's letters and its end; 0 at most, whatever a file's weights add up to."""
        context: Ngram = (START,)
        total = 0.0
        for letter in (*word, END):
            total += self.letter(context, letter)
            context = (*context, letter)[-self.order :]
        return min(total, 0.0)


def read_arpa(path: str | Path) -> Arpa:
    """An ARPA file; ModelError where it is none, or has other numbers of n-grams than it says."""
    model, size, ended = Arpa(0), 0, False
    told: dict[int, int] = {}
    read: Counter[int] = Counter()
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(path, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise ModelError(path, f"line {line_of(error)} is not UTF-8") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("\\"):
            section = _SECTION.fullmatch(line.rstrip())
            size, ended = int(section[1]) if section else 0, line.rstrip() == "\\end\\"
            model.order = max(model.order, size)
        elif not size:
            if count := _COUNT.fullmatch(line.strip()):
                told[int(count[1])] = int(count[2])
        elif fields := _FIELD.findall(line):
            read[size] += 1
            if len(fields) not in (size + 1, size + 2):
                raise ModelError(path, f"line {number} is no {size}-gram")
            ngram = tuple(UNKNOWN if name == "<UNK>" else name for name in fields[1 : size + 1])
            try:
                model.logs[ngram] = float(fields[0])
                if len(fields) == size + 2:
                    model.backoffs[ngram] = float(fields[-1])
                if math.isnan(model.logs[ngram] + model.backoffs.get(ngram, 0.0)):
                    raise ValueError("a probability that is no number")
                if model.logs[ngram] > _MOST:
                    raise ValueError("a probability above 1")
            except ValueError as error:
                raise ModelError(path, f"line {number}: {error}") from error
    if not model.order:
        raise ModelError(path, "is no ARPA file")
    if not ended:
        raise ModelError(path, "ends before its \\end\\")
    for size in sorted(told.keys() | read.keys()):
        if told and told.get(size, 0) != read[size]:
            raise ModelError(path, f"says that it has {told.get(size, 0)} {size}-grams, and has {read[size]}")
    return model


def as_text(model: Arpa) -> str:
    """What is in a model's file; n-grams in alphabetical order."""
    by_size: dict[int, list[Ngram]] = {size: [] for size in range(1, model.order + 1)}
    for ngram in sorted(model.logs):
        by_size[len(ngram)].append(ngram)
    out = ["\\data\\", *(f"ngram {size}={len(ngrams)}" for size, ngrams in by_size.items()), ""]
    for size, ngrams in by_size.items():
        out.append(f"\\{size}-grams:")
        for ngram in ngrams:
            weight = f"\t{model.backoffs[ngram]:.6f}" if ngram in model.backoffs else ""
            out.append(f"{model.logs[ngram]:.6f}\t{' '.join(ngram)}{weight}")
        out.append("")
    out.append("\\end\\")
    return "\n".join(out) + "\n"


def export(model: Parameters, language: str, order: int) -> Arpa:
    """The letter model of one class as ARPA, of an order up to the model's own; else ModelError, also of a model that
    knows letters of other scripts than Latin, as these share codes.

    Each context's probabilities sum to one: what the kept n-grams leave is given to the shorter context by the weight.
    """
    names = [c["name"] for c in model.meta["classes"]]
    if language not in names:
        raise UnknownLanguageError(language, tuple(names))
    column, step = names.index(language), float(model.meta["step"])
    if order > len(model.keys):
        raise ModelError(str(model.meta["name"]), f"has n-grams of up to {len(model.keys)} letters, not {order}")
    alphabet = Alphabet.of(model.meta)
    if alphabet.scripts:
        raise ModelError(str(model.meta["name"]), "knows letters of several scripts: only Latin ones can be exported")
    letters = "abcdefghijklmnopqrstuvwxyz" + alphabet.latin
    out, row = Arpa(order), 0
    for size, keys in enumerate(model.keys[:order], start=1):
        for key in keys.tolist():
            ngram = _ngram(key, size, letters)
            if ngram is not None:
                out.logs[ngram] = -float(model.rows[row, column]) * step / math.log(10)
            row += 1
    total = sum(10**value for ngram, value in out.logs.items() if len(ngram) == 1)
    for ngram in [n for n in out.logs if len(n) == 1]:
        out.logs[ngram] -= math.log10(total)
    out.logs[(START,)] = -99.0
    for size in range(2, order + 1):
        _weigh(out, size)
    return out


def _weigh(model: Arpa, size: int) -> None:
    """Back-off weights of the contexts of one length; probabilities that sum to more than 0.999 are scaled."""
    contexts: dict[Ngram, list[str]] = {}
    for ngram in model.logs:
        if len(ngram) == size:
            contexts.setdefault(ngram[:-1], []).append(ngram[-1])
    for context, letters in contexts.items():
        used = sum(10 ** model.logs[(*context, letter)] for letter in letters)
        if used > 0.999:
            for letter in letters:
                model.logs[(*context, letter)] += math.log10(0.999 / used)
            used = 0.999
        shorter = sum(10 ** model.letter(context[1:], letter) for letter in letters)
        model.backoffs[context] = math.log10((1 - used) / max(1 - shorter, 1e-9))
        model.logs.setdefault(context, -99.0)


def _ngram(key: int, size: int, letters: str) -> Ngram | None:
    codes = [(key >> (BITS * place)) & 63 for place in range(size - 1, -1, -1)]
    out = []
    for place, code in enumerate(codes):
        if code == BOUNDARY:
            out.append(START if place == 0 and size > 1 else END)
        elif code - 2 < len(letters):
            out.append(letters[code - 2])
        else:
            return None
    return tuple(out)
