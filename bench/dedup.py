"""`python -m bench.dedup [--documents N]`: corpus dedup beside what one would write for oneself, in one run.

Speed: N documents of 400 words in ten paragraphs, of which three in ten were there before, and 30 N rows; CPU seconds
and peak memory of a process each, and how much stayed (about as much of all that compare exactly). Peers: a Python set
of hashes (exact), datasketch's MinHash LSH of documents (near; `pip install -e '.[dedup-peers]'`).

Quality, where ../shared/data is: labelled pairs of pages (which of the near ones are found, which of the others called
so), and isiZulu paragraphs of which a share of words was replaced. A pair is found when half of the second text goes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import lzma
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import xxhash

from bench.ending import end_with
from bench.table import Columns, Row, show, times
from corpus.duplicates.deduplication import NEAR, Deduplication, Rules
from corpus.duplicates.kept import Kept
from corpus.report import Report
from corpus.selection import main_blocks
from relevance.language.alphabet import words
from relevance.pages.page import read_page
from relevance.pages.simhash import NEAR as BITS
from relevance.pages.simhash import distance, simhash

DATA = Path("../shared/data")
PARAGRAPHS, WORDS, REPEATED = 10, 40, 0.3
EDITS = (0.02, 0.05, 0.1, 0.2)
Same = Callable[[str, str], bool]


def documents(count: int) -> Iterator[str]:
    """Lines of JSON, the same in each run."""
    chance = random.Random(1)
    letters = "abcdefghiklmnoprstuvwyz"
    vocabulary = ["".join(chance.choices(letters, k=chance.randint(3, 11))) for _ in range(100_000)]
    pool: list[str] = []
    for number in range(count):
        texts = []
        for _ in range(PARAGRAPHS):
            if pool and chance.random() < REPEATED:
                texts.append(chance.choice(pool))
            else:
                texts.append(" ".join(chance.choices(vocabulary, k=WORDS)))
        pool.append(texts[0])
        facts = [{"language": "zul", "kind": "main", "words": WORDS}] * PARAGRAPHS
        row = {"id": str(number), "url": f"https://a.example/{number}", "text": "\n".join(texts), "paragraphs": facts}
        yield json.dumps(row) + "\n"


def peer_set(source: str, target: str) -> None:
    """Exact, as one would write it."""
    seen: set[int] = set()
    with open(source) as lines, open(target, "w") as out:  # noqa: PTH123
        for line in lines:
            row = json.loads(line)
            key = xxhash.xxh3_64_intdigest(row["text"].encode())
            if key in seen:
                continue
            seen.add(key)
            stay = []
            for place, text in enumerate(row["text"].split("\n")):
                key = xxhash.xxh3_64_intdigest(text.encode())
                if key not in seen:
                    seen.add(key)
                    stay.append((text, row["paragraphs"][place]))
            if stay:
                row["text"] = "\n".join(text for text, _ in stay)
                row["paragraphs"] = [facts for _, facts in stay]
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _minhash(text: str) -> Any:
    from datasketch import MinHash

    tokens = words(text)
    made = MinHash(num_perm=112)
    made.update_batch([" ".join(tokens[place : place + 5]).encode() for place in range(max(1, len(tokens) - 4))])
    return made


def peer_lsh(source: str, target: str) -> None:
    """Near, documents only: 14 bands of 8."""
    from datasketch import MinHashLSH

    index = MinHashLSH(params=(14, 8), num_perm=112)
    with open(source) as lines, open(target, "w") as out:  # noqa: PTH123
        for number, line in enumerate(lines):
            made = _minhash(json.loads(line)["text"])
            if not index.query(made):
                index.insert(number, made)
                out.write(line)


def rows(count: int) -> Iterator[str]:
    """Links with their contexts, a quarter of them repeated; the same in each run."""
    chance = random.Random(1)
    for number in range(count):
        key = chance.randrange(count * 2)
        url, context = f"https://en.wikipedia.org/wiki/Page_{key}", f"ten words of the text beside the link {key}"
        yield f"{url}\t{url}\tanchor {key}\tanchor\t{context}\t{context}\tutf-8\t{number}\t{number}\tx\tu\n"


def peer_rows(source: str, target: str) -> None:
    """Rows, as one would write it."""
    seen: set[int] = set()
    with open(source, "rb") as lines, open(target, "wb") as out:  # noqa: PTH123
        for line in lines:
            columns = line.split(b"\t")
            key = xxhash.xxh3_64_intdigest(b"\t".join((columns[1], columns[2], columns[4], columns[5])))
            if key not in seen:
                seen.add(key)
                out.write(line)


PEERS = {"set": peer_set, "lsh": peer_lsh, "rows": peer_rows}


def measured(name: str, command: Sequence[str], count: int, out: str) -> Row:
    """{name, units_s, cpu_s, peak_mb, kept_mb} of a process that writes `out`. The peak is looked at every 50 ms (wait4
    would have that of the process that it was forked from)."""
    peak_kb, ended, used = 0, 0, None
    with subprocess.Popen([sys.executable, "-m", *command]) as process:
        while not ended:
            with contextlib.suppress(OSError, StopIteration, ValueError):
                status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
                peak_kb = int(next(line for line in status if line.startswith("VmHWM")).split()[1])
            time.sleep(0.05)
            ended, code, used = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode or used is None:
        return {"name": f"{name}: not measured"}
    cpu_s = used.ru_utime + used.ru_stime
    kept_mb = Path(out).stat().st_size / 1e6
    return {"name": name, "cpu_s": cpu_s, "units_s": count / cpu_s, "peak_mb": peak_kb / 1024, "kept_mb": kept_mb}


def speed_of_rows(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        source, out = str(Path(name) / "in.tsv"), str(Path(name) / "out")
        Path(source).write_text("".join(rows(count)))
        ours = ["corpus", "dedup", source, "-q", "-o", out, "--columns", "2,3,5,6"]
        found = [
            measured("Python set", ["bench.dedup", "--peer", "rows", source, out], count, out),
            measured("corpus dedup --columns 2,3,5,6", ours, count, out),
        ]
    show(f"{count:,} rows", {**COLUMNS, "of the set": _of_first(found)}, found)


def _of_first(found: Sequence[Row]) -> Callable[[Row], str]:
    return lambda row: times(row.get("units_s", 0), found[0]["units_s"])


COLUMNS: Columns = {
    "": "name", "a second": "units_s", "CPU s": "cpu_s", "peak MB": "peak_mb", "kept MB": "kept_mb"
}  # fmt: skip


def speed(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, out, first, state = folder / "in.jsonl", str(folder / "out"), str(folder / "first"), folder / "state"
        source.write_text("".join(documents(count)))
        ours = ["corpus", "dedup", str(source), "-q", "-o", out]
        stated = [*ours[:-1], first, "--state", str(state)]
        found = [
            measured("Python set", ["bench.dedup", "--peer", "set", str(source), out], count, out),
            measured("corpus dedup", ours, count, out),
            measured("corpus dedup --state, empty", stated, count, first),
            measured("corpus dedup --state, all known", [*ours, "--state", str(state)], count, out),
            measured("datasketch MinHash LSH", ["bench.dedup", "--peer", "lsh", str(source), out], count, out),
            measured("corpus dedup --near", [*ours, "--near"], count, out),
        ]
        stored = sum(path.stat().st_size for path in state.rglob("*.run"))
        text = source.stat().st_size
    title = f"{count:,} documents, {text / 1e6:.0f} MB; the state has {stored / 1e6:.1f} MB"
    show(title, {**COLUMNS, "of the set": _of_first(found)}, found)


def _ours(near: float | None, folder: Path) -> Same:
    def same(one: str, two: str) -> bool:
        told: list[str] = []
        path = folder / "pair.jsonl"
        path.write_text(
            "".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in zip("12", (one, two), strict=True))
        )
        dedup = Deduplication(Rules(near=near), Kept(), Report(quiet=True), told.append)
        for _ in dedup.results([str(path)]):
            pass
        gone = sum(len(row["text"]) for row in map(json.loads, told) if row["id"] == "2")
        return gone * 2 >= len(two)

    return same


def pairs() -> list[tuple[bool, str, str]]:
    """Whether near-duplicates, and both main texts."""
    folder = DATA / "neardup" / "wikipedia_variants"
    texts = {}
    for line in lzma.decompress((folder / "pages.jsonl.xz").read_bytes()).splitlines():
        page = json.loads(line)
        blocks = read_page(page["html"].encode(), page["url"]).blocks
        texts[page["id"]] = "\n".join(blocks[place].text for place in main_blocks(blocks))
    labelled = json.loads((folder / "pairs.json").read_text())
    return [(pair["near_duplicate"], texts[pair["a"]], texts[pair["b"]]) for pair in labelled]


def paragraphs() -> list[str]:
    """isiZulu news, three sentences each."""
    lines = (DATA / "langid" / "lacuna-news" / "zul.txt").read_text(encoding="utf-8").split("\n")
    return [" ".join(lines[place : place + 3]) for place in range(0, 1800, 3)]


def edited(text: str, share: float, chance: random.Random, others: Sequence[str]) -> str:
    """The text with this share of its words replaced, at least one."""
    tokens = text.split()
    for place in chance.sample(range(len(tokens)), max(1, round(share * len(tokens)))):
        tokens[place] = chance.choice(others)
    return " ".join(tokens)


def quality() -> None:
    labelled, texts = pairs(), paragraphs()
    others = " ".join(texts).split()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        methods: dict[str, Same] = {
            "corpus dedup": _ours(None, Path(name)),
            "corpus dedup --near": _ours(NEAR, Path(name)),
            f"SimHash, {BITS} bits": lambda one, two: distance(simhash(words(one)), simhash(words(two))) <= BITS,
            "datasketch MinHash, 0.5": lambda one, two: _minhash(one).jaccard(_minhash(two)) >= 0.5,
        }
        for method, same in methods.items():
            chance = random.Random(1)
            try:
                found = [(near, same(one, two)) for near, one, two in labelled]
                row: dict[str, Any] = {
                    "name": method,
                    "found": f"{sum(both == (True, True) for both in found)}/{sum(near for near, _ in found)}",
                    "false": f"{sum(both == (False, True) for both in found)}/{sum(not near for near, _ in found)}",
                }
                for share in EDITS:
                    hits = sum(same(text, edited(text, share, chance, others)) for text in texts)
                    row[f"{share:.0%}"] = f"{hits / len(texts):.3f}"
            except ImportError:
                row = {"name": f"{method}: not installed"}
            rows.append(row)
    shares = {f"{share:.0%} of words": f"{share:.0%}" for share in EDITS}
    columns: Columns = {"": "name", "near pairs": "found", "other pairs": "false", **shares}
    show("Called duplicates: pairs of pages; paragraphs with some words replaced", columns, rows)


def main() -> None:
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.dedup", description=__doc__, formatter_class=shown)
    parser.add_argument("--documents", type=int, default=30_000, metavar="N", help="default %(default)s")
    parser.add_argument("--peer", nargs=3, metavar=("NAME", "IN", "OUT"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        name, source, target = given.peer
        try:
            PEERS[name](source, target)
        except ImportError as error:
            sys.exit(f"{name}: {error}")
        return
    speed(given.documents)
    speed_of_rows(30 * given.documents)
    if (DATA / "neardup").is_dir():
        quality()


if __name__ == "__main__":
    end_with(main)
