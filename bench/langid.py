"""`python -m bench.langid [DATA] [--sources …] [--most N]`: our identifier beside its peers, in one run.

DATA is a folder of <source>/<language>.txt; without one nothing is measured. Peers that are not installed are left out:
CLD2 (pycld2), lingua, HeLI-OTS (heliport), langid (py3langid), and the thesis' method. Printed per kind of string: F1
of isiZulu against the other Nguni languages at equal priors, macro-F1 over the South African languages there are,
languages called isiZulu that are not Nguni, megabytes a second in one thread (process time) on long documents, texts a
second on pages; at last, how many words of text in two languages by turns get their language.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.ending import end_with
from relevance.language.alphabet import words
from relevance.language.identification import identify
from relevance.language.mixed import labels_by_word
from relevance.learning.evaluation import cut, figures

NGUNI = ("zul", "xho", "nbl", "ssw")
SOUTH_AFRICAN = (*NGUNI, "nso", "sot", "tsn", "tso", "ven", "afr", "eng")
KINDS = ("sentence", "short", "chars")
DATA = Path("../shared/data/langid")
TURNS = ((1, 2, 1, 2), (4, 8, 1, 1), (2, 4, 2, 4), (3, 8, 3, 8))
"""Words of the one and of the other language at a time: least and most."""
Namer = Callable[[Sequence[str]], list[str]]


def peers() -> dict[str, Callable[[], Namer]]:
    """Makers of identifiers by name; a maker raises ImportError where its package is missing."""
    return {
        "ulwembu": lambda: lambda texts: [found.language for found in identify(texts)],
        "afriweb": lambda: lambda texts: [found.language for found in identify(texts, model="afriweb")],
        "cld2": _cld2,
        "lingua": _lingua,
        "heliport": _heliport,
        "py3langid": _py3langid,
    }


_TWO = {"zu": "zul", "xh": "xho", "nr": "nbl", "ss": "ssw", "nso": "nso", "st": "sot", "tn": "tsn", "ts": "tso"}
_TWO |= {"ve": "ven", "af": "afr", "en": "eng"}


def _cld2() -> Namer:
    import pycld2

    def one(text: str) -> str:
        try:
            code = pycld2.detect(text, bestEffort=True)[2][0][1]
        except pycld2.error:
            return "und"
        return _TWO.get(code, str(code))

    return lambda texts: [one(text) for text in texts]


def _lingua() -> Namer:
    from lingua import LanguageDetectorBuilder

    detector = LanguageDetectorBuilder.from_all_languages().build()

    def one(text: str) -> str:
        found = detector.detect_language_of(text)
        return found.iso_code_639_3.name.lower() if found else "und"

    return lambda texts: [one(text) for text in texts]


def _heliport() -> Namer:
    from heliport import Identifier

    identifier = Identifier()
    return lambda texts: [str(identifier.identify(text)) for text in texts]


def _py3langid() -> Namer:
    import py3langid

    def one(text: str) -> str:
        code = py3langid.classify(text)[0]
        return _TWO.get(code, str(code))

    return lambda texts: [one(text) for text in texts]


def read(data: Path, sources: Sequence[str], most: int) -> dict[str, dict[str, list[str]]]:
    """kind -> language -> strings, over all sources."""
    out: dict[str, dict[str, list[str]]] = {kind: {} for kind in KINDS}
    for source in sources:
        for file in sorted((data / source).glob("*.txt")):
            lines = file.read_text(encoding="utf-8").splitlines()
            for kind in KINDS:
                out[kind].setdefault(file.stem, []).extend(cut(lines, kind, most))
    return out


def speed(name: Namer, texts: Sequence[str]) -> tuple[float, float]:
    """MB a second and texts a second on one pass, 16 at a time."""
    start = time.process_time()
    for at in range(0, len(texts), 16):
        name(texts[at : at + 16])
    seconds = max(time.process_time() - start, 1e-9)
    return sum(len(text.encode()) for text in texts) / seconds / 1e6, len(texts) / seconds


def joined(data: Path, sources: Sequence[str], letters: int, most: int) -> list[str]:
    """Documents of this size out of the lines."""
    out: list[str] = []
    for source in sources:
        for file in sorted((data / source).glob("*.txt")):
            text = file.read_text(encoding="utf-8")
            out += [text[at : at + letters] for at in range(0, len(text) - letters + 1, letters)][:most]
    return out


def by_word(texts: Mapping[str, Sequence[str]], first: str, second: str, turns: Sequence[int]) -> dict[str, float]:
    """Per cent of the words labelled right, by language, in 500 texts of four turns."""
    rng = random.Random(1)
    lines = {name: [some for some in map(words, texts[name]) if len(some) > 2] for name in (first, second)}
    bounds = {first: turns[:2], second: turns[2:]}
    right, every = Counter[str](), Counter[str]()
    for _ in range(500):
        mixed: list[tuple[str, str]] = []
        order = rng.sample([first, second], 2)
        for language in order * 2:
            line = rng.choice(lines[language])
            size = rng.randint(*bounds[language])
            at = rng.randint(0, max(0, len(line) - size))
            mixed += [(word, language) for word in line[at : at + size]]
        for (_, label), (_, truth) in zip(labels_by_word(" ".join(word for word, _ in mixed)), mixed, strict=True):
            every[truth] += 1
            right[truth] += label == truth
    return {name: 100 * right[name] / every[name] for name in (first, second)}


def quality(kind: str, namer: Namer, texts: Mapping[str, Sequence[str]]) -> str:
    """How well strings of a kind are named."""
    nguni = {language: texts[language] for language in NGUNI if language in texts}
    known = {language: texts[language] for language in SOUTH_AFRICAN if language in texts}
    others = [text for language, some in texts.items() if language not in NGUNI for text in some]
    zulu, macro = figures(namer, nguni).f1["zul"], figures(namer, known).macro
    wrong = 100 * namer(others).count("zul") / max(1, len(others))
    return f"{kind} F1 {zulu:5.1f} macro {macro:5.1f} others->zul {wrong:5.2f} %"


def print_by_turns(texts: Mapping[str, Sequence[str]]) -> None:
    """How many words of text in two languages by turns get their language."""
    for first, second in (("zul", "eng"), ("eng", "zul"), ("zul", "sot")):
        for turns in TURNS if {first, second} <= set(texts) else ():
            found = by_word(texts, first, second, turns)
            shares = ", ".join(f"{name} {share:.1f} %" for name, share in found.items())
            print(f"{turns[0]}-{turns[1]} {first}, {turns[2]}-{turns[3]} {second} by turns: words labelled {shares}")


def main() -> None:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.langid", description=__doc__, formatter_class=shown)
    parser.add_argument("data", type=Path, nargs="?", default=DATA, help=f"default: {DATA}")
    parser.add_argument("--sources", nargs="+", default=["dev-flores", "dev-afrixnli"])
    parser.add_argument("--most", type=int, default=400, help="lines a language and source")
    parser.add_argument("--only", nargs="+", choices=list(peers()), help="these identifiers")
    given = parser.parse_args()
    if given.data == DATA and not DATA.is_dir():
        print(f"nothing to measure on: no {DATA}")
        return
    kinds = read(given.data, given.sources, given.most)
    if "zul" not in kinds["sentence"]:
        parser.error(f"no zul.txt in {' or '.join(str(given.data / source) for source in given.sources)}")
    documents, pages = joined(given.data, given.sources, 20_000, 3), joined(given.data, given.sources, 2_500, 20)
    for name, make in peers().items():
        if given.only and name not in given.only:
            continue
        try:
            namer = make()
        except ImportError as error:
            print(f"{name:10} not installed ({error.name})")
            continue
        cells = [quality(kind, namer, texts) for kind, texts in kinds.items()]  # warms it up for what follows
        slow = name in ("lingua", "afriweb", "py3langid")
        rate, _ = speed(namer, documents[:12] if slow else documents)
        _, per_second = speed(namer, pages[:60] if slow else pages)
        print(f"{name:10} {' | '.join(cells)} | {rate:6.1f} MB/s {per_second:7.0f} pages/s", flush=True)
    print_by_turns(kinds["sentence"])


if __name__ == "__main__":
    end_with(main)
