"""A Redis server whose machine's clock can be set, for real: a small library in front of libc's adds to it.

The server asks for the time as ever; what it hears is the machine's own plus what a file says. Only its clock of the
day is moved, not the one that nobody can set, as by ``date -s`` or by an NTP client that steps.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import redis

from tests.redis_server import redis_server

_SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead_s(void) { /* what the file says now: it is as long as one number */
    static int file = -1;
    char text[32] = {0};
    if (file < 0) file = open(getenv("CLOCK_AHEAD_FILE"), O_RDONLY | O_CLOEXEC);
    return pread(file, text, sizeof text - 1, 0) > 0 ? atol(text) : 0;
}

int clock_gettime(clockid_t which, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, which, now);
    if (!failed && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead_s();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *also) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (also) *also = exact.tv_sec;
    return exact.tv_sec;
}
"""


class SteppedClock:
    """The clock of the servers that are started with :attr:`environment`, in `folder`; skips where it cannot be had."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            pytest.skip("no C compiler to set a server's clock with")
        folder.mkdir(exist_ok=True)
        self._file = folder / "ahead"
        library, source = folder / "clock.so", folder / "clock.c"
        source.write_text(_SOURCE)
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
        self.environment = {"LD_PRELOAD": str(library), "CLOCK_AHEAD_FILE": str(self._file)}
        self.set_ahead(0)

    def set_ahead(self, seconds: int) -> None:
        """From now on the clock is so far ahead of the machine's; behind it, when below 0."""
        fresh = f"{seconds:<20}"
        with self._file.open("r+" if self._file.exists() else "w") as file:
            file.write(fresh)


@contextmanager
def stepped_server(folder: Path, clock: SteppedClock, *arguments: str) -> Iterator[str]:
    """URL of a server with this clock, in a `folder` that is there; it has read its data."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in clock.environment.items():
                patch.setenv(name, value)
            path = stack.enter_context(redis_server(folder, *arguments))
        with redis.Redis(unix_socket_path=path) as client:
            while _is_loading(client):
                time.sleep(0.02)
        yield f"unix://{path}"


def _is_loading(client: redis.Redis) -> bool:
    try:
        client.ping()
    except redis.exceptions.BusyLoadingError:
        return True
    return False
