"""A crawl that is made again stores what has changed, and refers to the earlier crawl for the rest."""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path

import pytest

from archive import Reader
from archive.index.access import content_of
from archive.messages.digests import digest_holds
from archive.storage.warcfile import finished_in
from archive.tools.verify import verify
from tests.integration.crawler.harness import FORGETFUL, Crawl
from tests.web.server import Running, serve
from tests.web.spec import WebSpec, calm

SMALL = calm(WebSpec(hosts=4, pages=60, min_links=6, max_links=12, page_bytes=4000))


def begin(running: Running, folder: Path, *earlier: Path) -> Crawl:
    return Crawl(running, folder, {**FORGETFUL, "WARC_EARLIER": ",".join(map(str, earlier))})


def stored_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in finished_in(folder))


def captures(folder: Path, kind: str) -> list[str]:
    found = []
    for path in finished_in(folder):
        with Reader(path, types=[kind]) as reader:
            found += [record.url for record in reader if record.http and record.http.status == 200]
    return found


@pytest.mark.slow
def test_a_crawl_made_again_refers_to_the_earlier_one(tmp_path: Path) -> None:
    with serve(SMALL, tmp_path / "web") as running:
        first = begin(running, tmp_path / "first")
        first.start()
        assert first.wait() == [0]
        before, asked = first.folder / "warc", running.server.requests
        second = begin(running, tmp_path / "second", before)
        running.hold(after=asked + 30)
        doomed = second.start()
        second.await_requests(asked + 30)
        doomed.kill()
        doomed.wait()
        running.let_go()
        second.start()
        assert second.wait() == [-signal.SIGKILL, 0]
    after = second.folder / "warc"
    assert stored_bytes(after) < 0.6 * stored_bytes(before)
    repeats = captures(after, "revisit")
    assert len(repeats) > 20
    pages = [*captures(after, "response"), *repeats]
    assert sorted(url for url in pages if not url.endswith("/robots.txt")) == sorted(
        url for url in captures(before, "response") if not url.endswith("/robots.txt")
    ), "each page is there once, whoever was killed"
    for path in finished_in(after):
        assert verify(path) == []
        with Reader(path, types=["revisit"]) as reader:
            for revisit in reader:
                found = content_of(revisit, [before, after], lambda damage: None)
                assert found is not None, revisit.url
                with closing(found[0]):
                    assert found[1].type == "response"
                    assert digest_holds(revisit.field("WARC-Payload-Digest"), found[1].payload())
    assert "] ERROR: " not in second.logs()
