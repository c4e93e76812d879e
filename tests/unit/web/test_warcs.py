"""The judge of archives reads what crawls write."""

from __future__ import annotations

import random
from pathlib import Path

import brotli

from archive import WarcWriter, WriterConfig
from tests.unit.archive.pages import page
from tests.web.verify import Findings
from tests.web.warcs import check_archive

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\n"


def test_a_repeat_of_a_payload_in_brotli(tmp_path: Path) -> None:
    packed = brotli.compress(random.Random(1).randbytes(600))
    with WarcWriter(tmp_path, "a", "gz", config=WriterConfig(reserve_bytes=0)) as writer:
        writer.write(page(0, payload=packed, response_head=HEAD))
        writer.sync()
        writer.write(page(1, payload=packed, response_head=HEAD))
    counts = check_archive(tmp_path, findings := Findings())
    assert findings.archive == []
    assert counts["response"] == counts["revisit"] == 1
