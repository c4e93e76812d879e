"""What a crawler must tell to be compared: how it is started for a task, and where it leaves its archive."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.web.web import Web

AGENT = "bench (+https://example.org/crawler)"


@dataclass(slots=True)
class Task:
    """One crawl of `web` from `seeds` into `folder`; `resumed`: it was killed before. `worker`: which process
    of it is to be started; `port`: on which it can be told something."""

    web: Web
    folder: Path
    seeds: tuple[str, ...]
    delay_s: float
    retry_s: int = 1
    concurrency: int = 32
    redis_url: str = ""
    resumed: bool = False
    worker: int = 1
    port: int = 0


class Peer:
    """A crawler. `archive`: suffix of the WARC files it writes, "" for none. `workers`: processes on one crawl."""

    name = ""
    archive = ""
    workers = 1
    needs_redis = False
    place: Path | None = None

    def missing(self) -> str:
        """Why it cannot run here; "" when it can."""
        return ""

    def version(self) -> str:
        """Of the installed one."""
        return ""

    def command(self, task: Task) -> list[str]:
        """The command line of one worker, which runs in `place`, else in the task's folder."""
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """Of the process."""
        return os.environ

    def prepare(self, task: Task) -> None:
        """What is done once before a crawl."""

    def checkpoint(self, task: Task) -> None:
        """What its documentation tells to do now and then, so that a killed crawl can go on."""

    def archived_bytes(self, task: Task) -> int:
        """Size of its WARC files, the unfinished one included."""
        if not self.archive:
            return 0
        files = [path for path in task.folder.rglob("*") if f".{self.archive}" in path.name]
        return sum(path.stat().st_size for path in files)


class JavaPeer(Peer):
    """One that is run from a folder, which the environment variable `variable` names. `folder`: what is wanted of that;
    `jar`: its own in there, less the version."""

    variable = ""
    folder = "folder of jars"
    jar = ""

    def __init__(self) -> None:
        self.home = Path(os.environ.get(self.variable, ""))

    def missing(self) -> str:
        if not os.environ.get(self.variable):
            return f"{self.variable} names no {self.folder}"
        return "" if any(self.home.glob(f"{self.jar}-*.jar")) else f"no {self.name} in {self.home}"

    def version(self) -> str:
        """By the name of its jar."""
        return next(self.home.glob(f"{self.jar}-*.jar")).stem.removeprefix(f"{Path(self.jar).name}-")


def free_port() -> int:
    """A TCP port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
