"""Ulwembu itself, as `make demo` runs it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from bench.crawlers.peer import Peer, Task
from tests.integration.crawler.harness import ROOT, environment, scrapy
from tests.web.web import CRAWL_FILE


class Ulwembu(Peer):
    """Workers on the private Redis of the crawl's folder."""

    archive = "warc.xz"
    place = ROOT

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self.name = "Ulwembu" + (f", {workers} workers" if workers > 1 else "")

    def version(self) -> str:
        """By the package."""
        return version("ulwembu")

    def prepare(self, task: Task) -> None:
        """The seed file."""
        lines = ["[crawl]", 'name = "zulu"', 'language = "zul"', 'contact = "https://example.org/crawler"']
        for url in task.seeds:
            lines += ["[[site]]", f'url = "{url}"', 'scope = "open"']
        (task.folder / CRAWL_FILE).write_text("\n".join(lines) + "\n")

    def command(self, task: Task) -> list[str]:
        """``scrapy crawl``."""
        settings = {
            "DATA_DIR": str(task.folder / "crawl"),
            "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
            "FRONTIER_DELAY_S": str(task.delay_s),
            "FRONTIER_IP_DELAY_S": str(task.delay_s),
            "FRONTIER_DELAY_FACTOR": "1" if task.delay_s else "0",
            "FRONTIER_LEASE_S": "8",
            "FRONTIER_IDLE_CLOSE_S": "5",
            "FRONTIER_RETRY_FACTOR": "0.001",
            "DOWNLOAD_TIMEOUT": "5",
            "LOG_FILE": str(task.folder / f"worker-{task.worker}.log"),
        }
        return scrapy("crawl", "zulu", "-a", f"seeds={task.folder / CRAWL_FILE}", **settings)

    def environment(self) -> Mapping[str, str]:
        """Without what would change a crawl."""
        return environment()
