"""Scrapy as its documentation recommends it for polite and for broad crawls, alone and over scrapy-redis.

Delay, hosts and one request a host at a time are ours. ``JOBDIR`` makes Scrapy's own queue last.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.crawlers.peer import AGENT, Peer, Task
from tests.integration.crawler.harness import environment

_SPIDER = Path(__file__).with_name("spider.py")


class PlainScrapy(Peer):
    """One process; its queue in JOBDIR."""

    name = "Scrapy"

    def version(self) -> str:
        """By the package."""
        return version("scrapy")

    def command(self, task: Task) -> list[str]:
        """``scrapy runspider``."""
        words = ["-m", "scrapy", "runspider", str(_SPIDER), "-a", f"seeds={' '.join(task.seeds)}"]
        words += ["-a", f"hosts={' '.join(sorted({site.address for site in task.web.sites}))}"]
        for name, value in {**self.settings(task), "LOG_FILE": str(task.folder / f"worker-{task.worker}.log")}.items():
            words += ["-s", f"{name}={value}"]
        return [sys.executable, *words]

    def environment(self) -> Mapping[str, str]:
        """Without our project's settings."""
        return environment()

    def settings(self, task: Task) -> dict[str, str]:
        """Of docs.scrapy.org, "Broad Crawls", AutoThrottle and "Jobs"."""
        slowed = {
            "DOWNLOAD_DELAY": str(task.delay_s),
            "DOWNLOAD_DELAY_JITTER": "0",
            "AUTOTHROTTLE_ENABLED": "True",
            "AUTOTHROTTLE_START_DELAY": str(task.delay_s),
        }
        return {
            "USER_AGENT": AGENT,
            "ROBOTSTXT_OBEY": "True",
            "CONCURRENT_REQUESTS": str(task.concurrency),
            "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
            "REACTOR_THREADPOOL_MAXSIZE": "20",
            "COOKIES_ENABLED": "False",
            "LOG_LEVEL": "INFO",
            "DOWNLOAD_TIMEOUT": "5",
            "DEPTH_PRIORITY": "1",
            **(slowed if task.delay_s else {"DOWNLOAD_DELAY": "0"}),
            **self.queue(task),
        }

    def queue(self, task: Task) -> dict[str, str]:
        """On disk, breadth first."""
        return {
            "JOBDIR": str(task.folder / "job"),
            "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
            "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        }


class ScrapyRedis(PlainScrapy):
    """Workers on a shared queue and dupefilter in Redis."""

    needs_redis = True

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self.name = "Scrapy + scrapy-redis" + (f", {workers} workers" if workers > 1 else "")

    def missing(self) -> str:
        """Is the package there?"""
        try:
            version("scrapy-redis")
        except PackageNotFoundError:
            return "scrapy-redis is not installed"
        return ""

    def version(self) -> str:
        """Of both packages."""
        return f"{version('scrapy')} + {version('scrapy-redis')}"

    def queue(self, task: Task) -> dict[str, str]:
        """As its README has it: the queue outlives the process."""
        return {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_PERSIST": "True",
            "SCHEDULER_IDLE_BEFORE_CLOSE": "5",
            "STAYS": str(self.workers > 1),  # else the worker ends at once that is not the first to take the seeds
            "REDIS_URL": task.redis_url,
        }
