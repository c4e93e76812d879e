"""Duplicates across files and runs: what is dropped, and that what stays is as it was."""

import io
import itertools
import json
import lzma
import resource
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import bench.dedup
from corpus.document import Document, Paragraph, to_json
from corpus.duplicates.deduplication import Counts, Deduplication, Rules, _batches
from corpus.duplicates.kept import Kept
from corpus.duplicates.paragraphs import LONG_CHARACTERS
from corpus.duplicates.state import opened
from corpus.duplicates.table import KeyTable
from corpus.errors import UsageFault
from corpus.report import Report
from corpus.verbatim import VerbatimDocument
from corpus.vertical.writing import text_of
from relevance.language.alphabet import words

LONG = [f"{word} " * 12 for word in ("Umongameli", "Abafundi", "Imvula", "Amabhubesi")]
LONG = [text.strip() for text in LONG] + [
    "Umongameli wezwe uthe abantu bakithi kufanele basebenze ndawonye ukuze kuphele ububha emakhaya nasemadolobheni.",
    "Umongameli wezwe uthe abantu bakithi kufanele basebenze ndawonye ukuze kuphele ububha emakhaya nasezweni.",
    "Abafundi besikole samabanga aphezulu bathole imiphumela emihle kakhulu kulo nyaka, kusho uthisha omkhulu.",
    "Amabhubesi namabhubesikazi ahlala ndawonye kuleli.",  # just long enough
]
assert len(LONG[7]) == LONG_CHARACTERS
SHORT = ["Izindaba", "Ezemidlalo", "uThabo uthe yebo"]
DIGITS = str.maketrans("0123456789", "ghijklmnop")
TEXTS = st.lists(st.sampled_from(LONG + SHORT), max_size=5)
EXACT, NEAR = Rules(), Rules(near=0.5)


def line(texts: Sequence[str], identity: str = "1") -> bytes:
    made = Document(identity, f"https://a.example/{identity}", language="zul", paragraphs=tuple(map(Paragraph, texts)))
    return to_json(made).encode() + b"\n"


def texts_of(written: bytes) -> list[list[str]]:
    return [json.loads(row)["text"].split("\n") for row in written.splitlines()]


def run(folder: Path, pieces: bytes | Sequence[bytes], rules: Rules = EXACT, kept: Kept | None = None) -> bytes:
    """What one run writes for these files."""
    dedup = Deduplication(rules, kept or Kept(), Report(quiet=True))
    names = []
    for number, piece in enumerate([pieces] if isinstance(pieces, bytes) else pieces):
        path = folder / f"in{number}.jsonl"
        path.write_bytes(piece)
        names.append(str(path))
    return b"".join(dedup.results(names))


@contextmanager
def counted(folder: Path, output: Path, newest_keys: int = 1 << 19, *, near: bool = False) -> Iterator[Kept]:
    """Keys beside the state of `folder`; after the block the output has its name and is counted."""
    hidden = folder / "hidden"
    with opened(folder / "state", str(output), near=near) as state:
        kept = Kept(state.earlier, newest_keys)
        yield kept
        hidden.write_bytes(b"")
        state.commit(kept.keys(), hidden)
        hidden.replace(output)
        state.done()
        kept.close()


def naive(documents: Sequence[Sequence[str]], near: float | None = None) -> list[list[str]]:
    """The rules once more, with the texts and runs of words themselves."""
    seen: set[object] = set()

    def is_new(text: str) -> bool:
        tokens = words(text) if near else []
        runs = {tuple(tokens[place : place + 5]) for place in range(max(1, len(tokens) - 4)) if tokens}
        if text in seen or (near and runs and len(runs & seen) / len(runs) >= near):
            return False
        seen.update(runs, [text])
        return True

    stay = []
    for texts in documents:
        whole = "\n".join(texts)
        if not whole or "D" + whole in seen:
            continue
        groups: list[list[str]] = [[]]
        for text in texts:
            groups[-1].append(text)
            if len(text) >= LONG_CHARACTERS:
                groups.append([])
        if not groups[1:] and not is_new(whole):
            continue
        kept, new = [], True
        for group in groups[:-1]:
            new = is_new(group[-1])
            kept += group if new else []
        kept += groups[-1] if new else []
        if kept:
            seen.add("D" + whole)
            stay.append(kept)
    return stay


@given(st.lists(TEXTS, max_size=12), st.sampled_from([None, 0.2, 0.5, 1.0]))
def test_what_stays_is_what_sets_of_texts_and_runs_say(documents: list[list[str]], near: float | None) -> None:
    lines = b"".join(line(texts, str(number)) for number, texts in enumerate(documents))
    with tempfile.TemporaryDirectory() as folder:
        written = run(Path(folder), lines, Rules(near=near))
    assert texts_of(written) == naive(documents, near)


@given(st.lists(TEXTS, max_size=10), st.lists(st.integers(0, 10), max_size=3), st.booleans(), st.integers(1, 4))
@settings(max_examples=60)
@example([[LONG[0]], [LONG[1]], [LONG[2]], [LONG[0]]], [1, 2, 3], False, 1)
def test_runs_one_after_the_other_give_what_one_run_gives(
    documents: list[list[str]], cuts: list[int], near: bool, newest_keys: int
) -> None:
    """However the input is split over runs and files, and however early keys go to disk."""
    rows = [line(texts, str(number)) for number, texts in enumerate(documents)]
    rules = NEAR if near else EXACT
    bounds = [0, *sorted(cuts), len(rows)]
    parts = [rows[start:end] for start, end in itertools.pairwise(bounds)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        together = run(folder, b"".join(rows), rules)
        small = Kept(newest_keys=newest_keys)
        assert run(folder, rows or b"", rules, small) == together
        small.close()
        written = []
        for number, part in enumerate(parts):
            with counted(folder, folder / f"out{number}", newest_keys, near=near) as kept:
                written.append(run(folder, b"".join(part), rules, kept))
        assert b"".join(written) == together
        for number, part in enumerate(parts):  # made again, they come out the same
            with counted(folder, folder / f"out{number}", newest_keys, near=near) as kept:
                assert run(folder, b"".join(part), rules, kept) == written[number]


def test_nearly_the_same_goes_and_half_new_stays(tmp_path: Path) -> None:
    first = f"{LONG[4]} {LONG[6]}"
    edited = first.replace("ndawonye", "kanyekanye").upper() + " 2024"
    half = f"{LONG[6]} {' '.join(str(hex(n)).translate(DIGITS) for n in range(1000, 1018))}"
    rows = [line([text]) for text in (first, edited, half)]
    assert texts_of(run(tmp_path, rows, EXACT)) == [[first], [edited], [half]]
    assert texts_of(run(tmp_path, rows, NEAR)) == [[first], [half]]
    assert texts_of(run(tmp_path, rows, Rules(near=0.1))) == [[first]]
    assert texts_of(run(tmp_path, rows, Rules(near=1.0))) == [[first], [edited], [half]]


def test_half_is_enough(tmp_path: Path) -> None:
    known = "umongameli wezwe uthe abantu bakithi kufanele basebenze ndawonye manje"  # nine words, five runs
    for more, stay in (("a b c d e f", 2), ("a b c d e", 1)):
        assert len(texts_of(run(tmp_path, [line([known]), line([f"{known} {more}"])], NEAR))) == stay


def test_a_list_that_was_there_nearly_goes_as_a_whole(tmp_path: Path) -> None:
    items = ["UThabo noSipho bathenga isinkwa", "Ukudla kwasekuseni kuyabiza manje", "Izingane zidlala ibhola phandle"]
    rows = [line(items), line([*items, "Okusha"])]
    assert texts_of(run(tmp_path, rows, NEAR)) == [items]
    assert texts_of(run(tmp_path, rows, EXACT)) == [items, [*items, "Okusha"]]


def test_text_without_words_is_compared_exactly_only(tmp_path: Path) -> None:
    rows = [line(["1 2 3 4 5 " * 10]), line(["6 7 8 9 10 " * 10])]
    assert len(texts_of(run(tmp_path, rows, NEAR))) == 2


def test_of_a_cut_document_nothing_else_changes(tmp_path: Path) -> None:
    row = {
        "score": 0.10000000000000001,
        "id": "2",
        "language": "eng",
        "text": "\n".join(["Izindaba", LONG[0], LONG[4]]),
        "words": 99,
        "paragraphs": [
            {"kind": "heading", "language": "eng", "label": 1},
            {"kind": "main", "language": "eng", "label": 2},
            {"kind": "main", "language": "zul", "label": 3},
        ],
    }
    plain = {"text": "\n".join([LONG[0], LONG[6]]), "language": "zul"}
    written = run(tmp_path, [line([LONG[0]]), json.dumps(row).encode() + b"\n", json.dumps(plain).encode()])
    _, second, third = (json.loads(one) for one in written.splitlines())
    cut = {"text": LONG[4], "words": 13, "language": "zul", "paragraphs": row["paragraphs"][2:]}  # type: ignore[index]
    assert second == {**row, **cut}
    assert list(second) == list(row)
    assert third == {**plain, "text": LONG[6]}


def test_what_stays_whole_stays_byte_for_byte(tmp_path: Path) -> None:
    odd = b'{ "text":"\\u0055mfula",  "x":1e3, "x":2}'
    assert run(tmp_path, [b"\xef\xbb\xbf" + odd, b"\n\n", odd[:-1] + b', "y":[]}\r\n']) == odd + b"\n"


VERTICAL = """
<doc title="A" id="1" url="u">
<head>
Izindaba\tn
</head>
<div class="x">
<h2>
Isihloko\tn
</h2>
<p lang="zu">
{0}
</p>
</div>
<p>
{1}
</p>
</doc>
"""


def vertical(*texts: str, column: str = "\tlemma") -> str:
    return VERTICAL.format(*("\n".join(word + column for word in text.split()) for text in texts))


def test_lines_of_vertical_text_stay_as_they_were(tmp_path: Path) -> None:
    first, second = vertical(LONG[0], LONG[1]), vertical(LONG[0], LONG[2], column="\tother\ttag")
    (tmp_path / "in.vert").write_bytes(b"\xef\xbb\xbf" + (first + second + second).lstrip().encode())
    told: list[str] = []
    dedup = Deduplication(EXACT, Kept(), Report(quiet=True), told.append)
    written = b"".join(dedup.results([str(tmp_path / "in.vert")])).decode()
    assert {(one["id"], one["url"]) for one in map(json.loads, told)} == {("1", "u")}
    head, cut = second[: second.index("<h2>")], second[second.index("</div>") :]
    assert written == first.lstrip() + head.lstrip() + cut
    assert dedup.counts.dropped == {"duplicate": 1}
    assert dedup.counts.dropped_paragraphs == {"duplicate": 1, "short": 1}


def written_of(folder: Path, *pieces: bytes, suffix: str = ".vert", rules: Rules = EXACT) -> tuple[bytes, Counts]:
    """What one run writes for these files, and its counts."""
    names = [folder / f"piece{number}{suffix}" for number in range(len(pieces))]
    for path, piece in zip(names, pieces, strict=True):
        path.write_bytes(piece)
    dedup = Deduplication(rules, Kept(), Report(stream=io.StringIO()))
    return b"".join(dedup.results([str(path) for path in names])), dedup.counts


def test_vertical_text_may_be_cut_wherever_a_document_ends(tmp_path: Path) -> None:
    """Blank lines between documents are in no output: nobody could say whose they are."""
    first, second = vertical(LONG[0], LONG[1]).strip().encode(), vertical(LONG[0], LONG[2]).strip().encode()
    together, _ = written_of(tmp_path, b"\xef\xbb\xbf\n" + first + b"\n\r\n\n" + second)
    assert together.startswith(first + b"\n<doc")
    assert written_of(tmp_path, first, b"\r\n\n" + second)[0] == together
    assert written_of(tmp_path, first + b"\n\r\n\n", second + b"\n\n")[0] == together


def test_texts_that_differ_in_broken_letters_are_different(tmp_path: Path) -> None:
    whole = vertical(LONG[0], LONG[1]).lstrip().encode()
    given = whole.replace(b"Abafundi", b"Abafundi\xff") + whole.replace(b"Abafundi", b"Abafundi\xfe")
    written, counts = written_of(tmp_path, given)
    assert (counts.kept, counts.paragraphs) == (2, 4)
    assert b"Abafundi\xff" in written
    assert b"Abafundi\xfe" in written


def test_a_line_of_vertical_text_that_is_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.sources.MAX_LINE", 200)
    monkeypatch.setattr("corpus.verbatim.MAX_LINE", 200)
    lemma = len("\tlemma")
    good, bad = vertical("v" * (200 - lemma), LONG[1]).strip(), vertical("w" * (201 - lemma), LONG[2]).strip()
    path, said = tmp_path / "in.vert", io.StringIO()
    path.write_text(f"{good}\n{bad}\n", encoding="utf-8")
    dedup = Deduplication(EXACT, Kept(), Report(stream=said, quiet=True))
    assert b"".join(dedup.results([str(path)])).decode() == f"{good}\n"
    number = 1 + path.read_text(encoding="utf-8").splitlines().index("w" * (201 - lemma) + "\tlemma")
    assert said.getvalue().startswith(f"-WARN {path}:{number}: a line of more than")
    assert dedup.counts.damages == 1


@pytest.mark.parametrize("places", [1, 100, 101, 102])
def test_of_many_faults_of_a_file_the_first_hundred_are_told_and_how_many_more(places: int, tmp_path: Path) -> None:
    path, said = tmp_path / "in.jsonl", io.StringIO()
    path.write_bytes(line(LONG[:1]) + b"{\n" * places)
    dedup = Deduplication(EXACT, Kept(), Report(stream=said, quiet=True))
    assert len(list(dedup.results([str(path)]))) == 1
    each = [f"-WARN {path}:{number}: " for number in range(2, min(places, 100) + 2)]
    rest = [f"-WARN {path}: {places - 100} more places like these"] if places > 100 else []
    told = said.getvalue().splitlines()
    assert [row[: len(start)] for row, start in zip(told, each + rest, strict=True)] == each + rest
    assert dedup.counts.damages == places


def test_an_empty_file_has_no_form(tmp_path: Path) -> None:
    text = vertical(LONG[0], LONG[1]).lstrip().encode()
    assert written_of(tmp_path, b"", text, b"") == (text, Counts(files=3, read=1, kept=1, paragraphs=3))


def test_what_of_a_cut_document_is_odd_stays(tmp_path: Path) -> None:
    odd = {"id": "half \ud83d", "paragraphs": None, "language": None, "words": None}
    rows = [line([LONG[0]]), json.dumps({**odd, "text": f"{LONG[0]}\n{LONG[1]} \udc00"}).encode()]
    _, second = written_of(tmp_path, *rows, suffix=".jsonl")[0].splitlines()
    assert json.loads(second) == {**odd, "text": f"{LONG[1]} \udc00", "words": 12 + 1}


@pytest.mark.parametrize("language", ['"language":"eng" ,', ""])
def test_of_a_cut_line_of_others_the_rest_stays_as_it_is_written(tmp_path: Path, language: str) -> None:
    """Numbers that are none to Python (1e999) or would lose their zeros, escapes, spaces, names that come twice."""
    row = (
        ' { "n":1.10,"text":"old", "big" : 1e999,\t"\\u0074ext" :"%s","a":{"text":[1.0, "}"], "words":{}},%s"words": 1,'
        '"paragraphs" : [ {"x":2,"words":3} , {"language":"zul","x":1} ],"e":"\\u00e1\\ud83d","l":[]}\r'
    )
    written = run(tmp_path, [line([LONG[0]]), (row % (f"{LONG[0]}\\n{LONG[1]} ékhaya", language)).encode()])
    cut = (row % (f"{LONG[1]} ékhaya", language)).replace('"words": 1,', '"words": 13,')
    cut = cut.replace('[ {"x":2,"words":3} , {"language":"zul","x":1} ]', '[{"language": "zul", "x": 1}]')
    cut = cut.replace('"eng"', '"zul"') if language else cut.replace("}\r", ', "language": "zul"}\r')
    assert written.splitlines(keepends=True)[1].decode() == cut + "\n"


def test_large_rows_are_judged_soon(tmp_path: Path) -> None:
    """So that a batch of them does not take the memory of thousands."""
    (tmp_path / "in.tsv").write_bytes(b"".join(b"%d\t%s\n" % (number, b"x" * (1 << 19)) for number in range(6)))
    dedup = Deduplication(Rules(columns=(0,)), Kept(), Report(quiet=True))
    assert [piece.count(b"\n") for piece in dedup.results([str(tmp_path / "in.tsv")])] == [2, 2, 2]


def test_large_documents_are_judged_soon() -> None:
    document = VerbatimDocument("", "", "", "", list, bytes(1 << 19), bytes)
    assert [len(batch) for batch in _batches(iter([document] * 6))] == [2, 2, 2]


def test_forms_give_the_same(tmp_path: Path) -> None:
    made = [
        Document(str(number), f"https://a.example/{number}", "Izindaba", paragraphs=tuple(map(Paragraph, texts)))
        for number, texts in enumerate([LONG[:3], [SHORT[0], LONG[1], LONG[3]], LONG[4:7], LONG[3:6]])
    ]
    (tmp_path / "in.vert").write_text("".join(map(text_of, made)))
    (tmp_path / "in.jsonl").write_text("".join(to_json(one) + "\n" for one in made))
    for rules in (EXACT, NEAR):
        counts = []
        for name in ("in.vert", "in.jsonl"):
            dedup = Deduplication(rules, Kept(), Report(quiet=True))
            b"".join(dedup.results([str(tmp_path / name)]))
            counts.append((dedup.counts.dropped, dedup.counts.dropped_paragraphs, dedup.counts.paragraphs))
        assert counts[0] == counts[1]
        assert counts[0][1]["near"] == (2 if rules is NEAR else 0)


def test_rows_are_equal_by_their_columns(tmp_path: Path) -> None:
    rows = [b"1\tx\ty", b"2\tx\ty", b"3\txy\t", b"4\tx", b"5\tx\tz", b"", b"6\tx\tz\tmore"]
    (tmp_path / "in.tsv").write_bytes(b"\n".join(rows))

    def kept(*columns: int) -> tuple[list[bytes], Deduplication]:
        dedup = Deduplication(Rules(columns=columns), Kept(), Report(quiet=True))
        return b"".join(dedup.results([str(tmp_path / "in.tsv")])).split(b"\n")[:-1], dedup

    stay, dedup = kept(1, 2)
    assert stay == [rows[0], rows[2], rows[4]]
    assert (dedup.counts.read, dedup.counts.kept, dedup.counts.damages) == (5, 3, 1)
    assert kept(1)[0] == [rows[0], rows[2]]
    assert kept(0)[0] == [row for row in rows if row]
    rows[:] = [b"1\t\txx", b"2\tx\t", b"\t\t", b"\r", b"\t\tz"]
    (tmp_path / "in.tsv").write_bytes(b"\n".join(rows))
    assert kept(1, 2)[0] == [*rows[:3], rows[4]]
    both = Kept()
    for columns, count in (((1,), 2), ((2,), 3), ((1, 2), 4), ((2, 1), 4)):  # other columns, other keys
        dedup = Deduplication(Rules(columns=columns), both, Report(quiet=True))
        assert b"".join(dedup.results([str(tmp_path / "in.tsv")])).count(b"\n") == count
    rows[:] = [b"1\tx\r", b"2\tx", b"3\ty\r", b"3\t\r", b"4\t", b"1\tx"]  # files of Windows and others
    (tmp_path / "in.tsv").write_bytes(b"\n".join(rows))
    assert kept(1)[0] == [rows[0], rows[2], rows[3]]
    assert kept(0, 1)[0] == rows[:-1]


def test_rows_are_told_with_their_lines_however_many_are_read_at_once(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("corpus.duplicates.rows.MAX_LINE", 50)
    rows = [b"%d\tx" % number for number in range(40_000)]
    rows[0] = b"\xef\xbb\xbf0\tx"
    rows[16_384], rows[20_000], rows[39_999] = b"alone", b" ", b"y\t" * 30
    path = tmp_path / "in.tsv.xz"
    path.write_bytes(lzma.compress(b"\n".join([*rows, b"0\tx"])))
    said, told = io.StringIO(), list[str]()
    dedup = Deduplication(Rules(columns=(0, 1)), Kept(newest_keys=1000), Report(stream=said), told.append)
    good = [b"0\tx", *(row for row in rows[1:] if row.endswith(b"\tx"))]
    pieces = list(dedup.results([str(path)]))
    assert b"".join(pieces) == b"\n".join([*good, b""])
    assert max(piece.count(b"\n") for piece in pieces) <= 1 << 15
    assert (dedup.counts.read, dedup.counts.kept) == (len(good) + 1, len(good))
    assert [json.loads(row) for row in told] == [{"reason": "duplicate", "text": "0\tx"}]
    assert f"{path}:16385: 1 columns, not 2" in said.getvalue()
    assert f"{path}:40000: a line of more than" in said.getvalue()
    assert dedup.counts.damages == 2


@given(st.lists(st.lists(st.integers(1, 50).map(lambda key: key << 4), unique=True), max_size=20), st.integers(0, 99))
def test_a_table_of_keys_is_a_set(batches: list[list[int]], room: int) -> None:
    """Also where all of them want the same few slots."""
    table, oracle = KeyTable(room), set[int]()
    for batch in batches:
        keys = np.array(batch, np.uint64)
        known = table.contains(keys)
        assert known.tolist() == [key in oracle for key in batch]
        table.add(keys[~known])
        oracle.update(batch)
        assert len(table) == len(oracle)
    assert sorted(table.keys().tolist()) == sorted(oracle)


def test_keys_are_remembered_on_disk_and_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kept, oracle = Kept(newest_keys=10), set[int]()
    for start in range(0, 500, 7):
        keys = sorted((start + step) * 0x9E3779B97F4A7C15 % 2**64 for step in range(0, 40, 3))
        known = kept.has(np.array(keys, np.uint64))
        assert known.tolist() == [(key or 1) in oracle for key in keys]
        kept.add(np.array(keys, np.uint64)[~known])
        oracle.update(key or 1 for key in keys)
        assert kept.has(np.array(keys, np.uint64)).all()
        assert len(list(tmp_path.rglob("*.run"))) < 12
    assert kept.keys().tolist() == sorted(oracle)
    assert list(tmp_path.iterdir())
    kept.close()
    assert not list(tmp_path.iterdir())


def test_more_outputs_than_files_may_be_open(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = len(list(Path("/proc/self/fd").iterdir())) + 20
    try:
        for number in range(25):
            resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
            with counted(tmp_path, tmp_path / f"out{number}"):
                pass
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("named", [False, True])
def test_what_has_the_name_of_a_pending_output_is_looked_at(tmp_path: Path, named: bool) -> None:
    """A former output of the same size is not it, nor is what was written over it in place."""
    output, hidden = tmp_path / "out", tmp_path / "hidden"
    with counted(tmp_path, output) as kept:
        kept.add(np.array([1], np.uint64))
    with opened(tmp_path / "state", str(output), near=False) as state:
        hidden.write_bytes(output.read_bytes())
        state.commit(np.array([2], np.uint64), hidden)
    if named:
        hidden.replace(output)
        output.write_bytes(b"other")
    with opened(tmp_path / "state", str(tmp_path / "next"), near=False) as state:
        assert [run.keys.tolist() for run in state.earlier] == [[1]]


def test_a_listing_that_cannot_be_written_is_no_damaged_input(tmp_path: Path) -> None:
    def full(_: str) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "in.jsonl").write_bytes(line([LONG[0]]) * 2)
    dedup = Deduplication(EXACT, Kept(), Report(quiet=True), full)
    with pytest.raises(OSError, match="No space"):
        list(dedup.results([str(tmp_path / "in.jsonl")]))


def test_what_was_read_before_a_disk_failed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(io.RawIOBase):
        name = "in.jsonl"

        def __init__(self) -> None:
            self.left = line(LONG) * 600  # less than a batch, more than is read at once

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            if not self.left:
                raise OSError(5, "Input/output error")
            part, self.left = self.left[: len(buffer)], self.left[len(buffer) :]
            buffer[: len(part)] = part
            return len(part)

    @contextmanager
    def failing(_: str) -> Iterator[io.BufferedReader]:
        yield io.BufferedReader(Failing())

    monkeypatch.setattr("corpus.verbatim.open_stored", failing)
    said = io.StringIO()
    dedup = Deduplication(EXACT, Kept(), Report(stream=said))
    assert texts_of(b"".join(dedup.results(["in.jsonl", "in.jsonl"]))) == [LONG]
    assert (dedup.counts.damages, dedup.counts.files) == (2, 2)
    assert dedup.counts.read > 300
    assert "-ERR in.jsonl: cannot be read on: [Errno 5]" in said.getvalue()


def test_the_same_as_written_by_hand(tmp_path: Path) -> None:
    """At some size, and as the benchmark's peers have it."""
    source, by_hand = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_text("".join(bench.dedup.documents(300)))
    bench.dedup.peer_set(str(source), str(by_hand))
    assert texts_of(run(tmp_path, source.read_bytes(), kept=Kept(newest_keys=100))) == texts_of(by_hand.read_bytes())
    rows = tmp_path / "in.tsv"
    rows.write_text("".join(bench.dedup.rows(40_000)))
    bench.dedup.peer_rows(str(rows), str(by_hand))
    dedup = Deduplication(Rules(columns=(1, 2, 4, 5)), Kept(newest_keys=100), Report(quiet=True))
    assert b"".join(dedup.results([str(rows)])) == by_hand.read_bytes()


def test_a_full_folder_for_temporary_files_is_no_damaged_input(tmp_path: Path, monkeypatch: Any) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sieve.sets.store.RunWriter.append", full)
    rows = [line([text]) for text in LONG]
    with pytest.raises(UsageFault, match=r"TMPDIR.*No space left"):
        run(tmp_path, rows, kept=Kept(newest_keys=1))


def test_a_listing_says_what_was_dropped_and_why(tmp_path: Path) -> None:
    told: list[str] = []
    rows = [[LONG[4]], [SHORT[0], LONG[5]], [LONG[4]], [LONG[6], LONG[0]], [SHORT[1], LONG[6]], [], [LONG[0]]]
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(line(texts, str(number)) for number, texts in enumerate(rows)))
    dedup = Deduplication(NEAR, Kept(), Report(quiet=True), told.append)
    assert len(texts_of(b"".join(dedup.results([str(path)])))) == 2
    listed = [json.loads(row) for row in told]
    assert [(one["id"], one["reason"], one.get("paragraph")) for one in listed] == [
        ("1", "short", 1),
        ("1", "near", 2),
        ("2", "duplicate", None),
        ("4", "short", 1),
        ("4", "duplicate", 2),
        ("5", "no_text", None),
        ("6", "duplicate", 1),
    ]
    assert [one["text"] for one in listed] == [SHORT[0], LONG[5], LONG[4], SHORT[1], LONG[6], "", LONG[0]]
    assert dedup.counts.dropped == {"nothing_new": 3, "duplicate": 1, "no_text": 1}


def test_packed_input_and_damage_in_it(tmp_path: Path) -> None:
    streams = [lzma.compress(line([text])) for text in LONG[:3]]
    bad = bytearray(streams[1])
    bad[len(bad) // 2] ^= 255
    path = tmp_path / "in.jsonl.xz"
    path.write_bytes(streams[0] + bytes(bad) + streams[2])
    said = io.StringIO()
    dedup = Deduplication(EXACT, Kept(), Report(stream=said))
    assert texts_of(b"".join(dedup.results([str(path)]))) == [[LONG[0]], [LONG[2]]]
    assert dedup.counts.damages == 1
    assert "in.jsonl.xz:2: breaks off" in said.getvalue()
