"""A Redis server of a test's own, with settings that the embedded one does not have."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crawler.state.embedded_redis import find_server


@contextmanager
def redis_server(folder: Path, *arguments: str, start_timeout_s: float = 60.0) -> Iterator[str]:
    """Path of the socket of a server in `folder`, which takes connections but may still read its data."""
    path = f"{folder}/s"
    command = [str(find_server()), *arguments, "--port", "0", "--unixsocket", "s", "--dir", str(folder)]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as process:
        try:
            deadline = time.monotonic() + start_timeout_s
            while not _takes_connections(path):
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.02)
            yield path
        finally:
            process.terminate()
            process.wait(60)


def _takes_connections(path: str) -> bool:
    # The file alone says nothing: it is there from bind on, and until listen all are refused.
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0
