"""Indexes of earlier crawls in which nothing would be found are refused before a crawl starts."""

from __future__ import annotations

import os
from pathlib import Path

from scrapy import Spider
from scrapy.settings import Settings

from archive import WarcWriter, WriterConfig
from crawler.addon import Ulwembu
from crawler.preflight import settings_faults
from tests.unit.archive.pages import page


def faults(*named: Path, **values: str) -> list[str]:
    settings = Settings()
    Ulwembu().update_settings(settings)
    settings.setdict({"CONTACT": "me@a.test", "WARC_EARLIER": ",".join(map(str, named)), **values}, priority="cmdline")
    return settings_faults(settings, Spider)


def test_indexes_of_earlier_crawls_are_looked_at_before_the_start(tmp_path: Path) -> None:
    with WarcWriter(tmp_path / "warc", "crawl", "gz", config=WriterConfig(reserve_bytes=0)) as writer:
        writer.write(page(1))
        writer.write(page(2))
        writer.sync()
    (index,) = (tmp_path / "warc").glob("*.cdxj")
    assert faults() == []
    assert faults(tmp_path / "warc") == []
    assert faults(tmp_path / "warc", index) == []
    os.mkfifo(pipe := tmp_path / "pipe")
    assert faults(pipe) == [f"WARC_EARLIER {pipe} is no regular file"]
    gone = tmp_path / "gone.cdxj"
    assert faults(index, gone) == [f"WARC_EARLIER {gone}: No such file or directory"]
    assert faults(tmp_path) == [f"WARC_EARLIER {tmp_path}: no .cdxj files in this folder; did you mean {index.parent}?"]
    assert faults(index, WARC_DIGEST="sha256") == [
        "WARC_EARLIER: digests there are sha1, but WARC_DIGEST=sha256: none would be found"
    ]
    lines = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(b"".join(reversed(lines)))
    (fault,) = faults(tmp_path / "warc")
    assert fault.startswith(f"WARC_EARLIER {index} is not sorted by bytes (LC_ALL=C sort) at 'example,host1)/page/1 ")
    index.write_bytes(b"".join([*lines, b"zz\n"]))
    assert faults(tmp_path / "warc") == [f"WARC_EARLIER {index} has a line that is none of an index: 'zz'"]
