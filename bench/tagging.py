"""`python -m bench.tagging [TEXT]`: tagging of vertical text beside the tagger alone, in one run.

TEXT: words and their tags, to train a model from and to be tagged; without one, MasakhaPOS beside the checkout, or
nothing is measured. Printed: words a second of one processor for `udpipe.tag` on lists of words, and for all that
`corpus tag` does (read a file, tag, write another; plain and packed); best of some rounds, in turns. Then the seconds
that the command takes with one process and with two, of the packed file.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.ending import end_with
from bench.table import Columns, Row, show, times
from corpus.document import Document, Paragraph
from corpus.outputs import open_output
from corpus.report import Report
from corpus.sources import vertical_rows
from corpus.tagging.tagger import DocumentTagger, udpipe
from corpus.tagging.training import Sentence, tagged_sentences, train
from corpus.tally import Tally
from corpus.vertical.reading import read_vertical
from corpus.vertical.writing import text_of

TEXT = Path("../shared/data/tagging/masakhane/zul.train.txt")
PER_DOCUMENT = 20
"""Sentences."""
COLUMNS = ["lemma", "tag"]


def write_vertical(path: Path, sentences: list[Sentence]) -> int:
    """Documents of these sentences, one a paragraph; returns the number of their tokens."""
    tokens = 0
    with open_output(str(path)) as out:
        for start in range(0, len(sentences), PER_DOCUMENT):
            texts = [" ".join(word.form for word in one) for one in sentences[start : start + PER_DOCUMENT]]
            made = text_of(
                Document(str(start), "", paragraphs=tuple(Paragraph(text, language="zul") for text in texts))
            )
            tokens += sum(row[:1] not in ("<", "") for row in made.split("\n"))
            out.write(made.encode())
    return tokens


def alone(path: Path, model: Path) -> float:
    """Processor seconds of the library on the words of a vertical file, which lie ready."""
    library = udpipe()
    tagger = library.Model.load(str(model))
    ready: list[list[str]] = []
    for rows in vertical_rows([str(path)], Report(quiet=True), Tally()):
        for document in read_vertical(rows):
            sentences = (one for paragraph in document.paragraphs for one in paragraph.sentences)
            ready += ([token.form for token in sentence] for sentence in sentences)
    start = time.process_time()
    for forms in ready:
        sentence = library.Sentence()
        for form in forms:
            sentence.addWord(form)
        tagger.tag(sentence, tagger.DEFAULT)
    return time.process_time() - start


def whole(path: Path, model: Path) -> float:
    """Processor seconds of all that the command does with a file, but for loading."""
    tagger = DocumentTagger({"zu": model}, COLUMNS)
    start = time.process_time()
    with open_output(str(path.with_name(f"out{path.suffix}"))) as out:
        for rows in vertical_rows([str(path)], Report(quiet=True), Tally()):
            tagged, counts = tagger(rows)
            assert counts.keys() <= tagger.taggers.keys(), "not all is tagged"
            out.write(("\n".join(tagged) + "\n").encode("utf-8", "surrogateescape"))
    return time.process_time() - start


def command(path: Path, model: Path, processes: int) -> float:
    """Seconds of the command."""
    given = ["-o", str(path.with_name("out.vert.xz")), "--model", f"zu={model}", "--processes", str(processes), "-q"]
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "corpus", "tag", str(path), *given], check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.tagging", description=__doc__, formatter_class=shown)
    parser.add_argument("text", type=Path, nargs="?", default=TEXT, help=f"default: {TEXT}")
    parser.add_argument("--train", type=int, metavar="N", help="train on N sentences (default: on all)")
    parser.add_argument("--copies", type=int, default=4, metavar="N", help="tag the text N times (default 4)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default 5")
    given = parser.parse_args()
    if given.text == TEXT and not TEXT.is_file():
        print(f"nothing to measure on: no {TEXT}")
        return
    sentences = list(tagged_sentences(given.text.read_text(encoding="utf-8").splitlines(), str(given.text)))
    with tempfile.TemporaryDirectory() as name:
        plain, packed, model = (Path(name) / file for file in ("in.vert", "in.vert.xz", "model"))
        model.write_bytes(train(sentences[: given.train]))
        tokens = write_vertical(packed, sentences * given.copies)
        write_vertical(plain, sentences * given.copies)
        rounds = [(alone(plain, model), whole(plain, model), whole(packed, model)) for _ in range(given.rounds)]
        best = [min(seconds) for seconds in zip(*rounds, strict=True)]
        one, two = (min(command(packed, model, processes) for _ in range(given.rounds)) for processes in (1, 2))
    rows: list[Row] = [
        {"name": "udpipe.tag alone", "words_s": tokens / best[0]},
        {"name": "corpus tag, .vert to .vert", "words_s": tokens / best[1]},
        {"name": "corpus tag, .vert.xz to .vert.xz", "words_s": tokens / best[2]},
        {"name": "the command, one process", "seconds": one, "words_s": tokens / one},
        {"name": "the command, two processes", "seconds": two, "words_s": tokens / two},
    ]
    columns: Columns = {
        "": "name",
        "seconds": "seconds",
        "words/s": "words_s",
        "speed": lambda row: times(row["words_s"], rows[3 if "seconds" in row else 0]["words_s"]),
    }
    show(f"Tagging of {tokens:,} words", columns, rows)


if __name__ == "__main__":
    end_with(main)
