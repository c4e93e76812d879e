"""Where a crawl keeps what is its own: its WARC files, its state, its reports."""

from __future__ import annotations

from pathlib import Path

from scrapy.settings import BaseSettings


def data_folder(settings: BaseSettings, crawl: str) -> Path:
    """The folder of all that this crawl writes."""
    return Path(str(settings.get("DATA_DIR")).replace("{crawl}", crawl)).resolve()
