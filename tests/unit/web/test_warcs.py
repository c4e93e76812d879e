"""The judge of archives reads what crawls write."""

from __future__ import annotations

import random
from pathlib import Path

import brotli

from archive import WarcWriter, WriterConfig
from tests.unit.archive.pages import page
from tests.unit.web.test_verify import faultless, web_with
from tests.web.verify import Findings, verify
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


def test_pages_that_were_fetched_and_are_not_there(tmp_path: Path) -> None:
    web = web_with()
    findings = verify(faultless(web), web)
    lost, again, *others = web.truth.pages
    bodies = {web.paths.url(one): web.answers.page_body(web.sites[one.site], one.n) for one in (again, *others)}
    with WarcWriter(tmp_path, "a", "gz", config=WriterConfig(reserve_bytes=0)) as writer:
        writer.write(page(0, url="http://other.example/", payload=bodies[web.paths.url(again)]))
        writer.sync()
        for url, body in bodies.items():
            writer.write(page(1, url=url, payload=body))
    counts = check_archive(tmp_path, findings, web)
    assert (counts["response"], counts["revisit"]) == (1 + len(others), 1)
    assert findings.archive == [
        "http://other.example/: not of this web",
        f"{web.paths.url(lost)}: fetched, but not kept",
    ]
    assert not findings.ok
