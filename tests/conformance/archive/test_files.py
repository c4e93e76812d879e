"""Files of other tools, sound and malformed: the same records as the better of warcio and fastwarc finds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from archive import Reader
from archive.tools.convert import plain_digest, repair
from archive.tools.verify import verify

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "warc"
EXPECTED: list[dict[str, Any]] = (
    json.loads((DATA / "expected.json").read_text()) if (DATA / "expected.json").exists() else []
)
CAPTURES = ("response", "resource", "conversion", "revisit")
MALFORMED = {
    "warcio/bad.arc",
    "warcio/example-space-in-url.arc",
    "warcio/example-trunc.warc",
    "xz/warcio-example.truncated.warc.xz",
    "xz/whirlwind.truncated.warc.xz",
}

pytestmark = pytest.mark.skipif(not EXPECTED, reason="shared data are not here")


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: row["file"])
def test_same_records(row: dict[str, Any]) -> None:
    readers = [row[name] for name in ("warcio", "fastwarc") if row.get(name)]
    best = max(readers, key=lambda found: found["records"])
    with Reader(DATA / row["file"]) as reader:
        records = list(reader)
    assert Counter(record.type for record in records) == best["types"]
    for record in records:
        assert len(record.block()) == record.length
        record.body()
    if "target_uris" in best:
        urls = [record.url.replace(" ", "%20") or None for record in records if record.type in CAPTURES]
        assert Counter(urls) == Counter(url.strip("<>") if url else url for url in best["target_uris"]) or any(
            url is None for url in best["target_uris"]
        )
    assert bool(reader.damages) == (row["file"] in MALFORMED)


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: row["file"])
def test_digest_failures_are_those_of_warcio(row: dict[str, Any]) -> None:
    problems = list(verify(DATA / row["file"]))
    wrong = {problem.offset for problem in problems if problem.code == "digest" and "does not hold" in problem.message}
    if row["file"] not in MALFORMED and row["warcio"]["error"] is None:
        assert bool(wrong) == bool(row["warcio"]["digest_failures"])


@pytest.mark.parametrize("row", [r for r in EXPECTED if r["file"] in MALFORMED], ids=lambda row: row["file"])
def test_repaired_files_are_sound(row: dict[str, Any], tmp_path: Path) -> None:
    if row["file"].endswith(".arc"):
        pytest.skip("ARC records are read, not mended")
    target = tmp_path / "mended.warc.gz"
    report = repair(DATA / row["file"], target)
    assert report.damages
    assert report.kept > 0
    assert [problem for problem in verify(target) if problem.code != "digest" and problem.level == "error"] == []


@pytest.mark.parametrize("name", ["warcio-example", "whirlwind"])
def test_streams_of_any_layout_hold_the_same(name: str) -> None:
    """One stream for the whole file, or one a record: the same plain bytes."""
    plain = {plain_digest(DATA / "xz" / f"{name}.{layout}.warc.xz")[0] for layout in ("one-stream", "per-record")}
    assert len(plain) == 1
