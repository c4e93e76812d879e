"""``python -m tests.integration.corpus.dying N ARGUMENT...``: ``python -m corpus ARGUMENT...``, killed before the N-th
time that it opens, names or removes a file below the folder it is started in (0: never; it then prints how often)."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from corpus.cli import main

_EVENTS = frozenset(("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"))


def run(kill_at: int, arguments: list[str]) -> int:
    here, calls = str(Path.cwd()), 0

    def hook(event: str, given: tuple[object, ...]) -> None:
        nonlocal calls
        if event not in _EVENTS or not isinstance(given[0], (str, Path)):
            return
        if os.path.abspath(given[0]).startswith(here):  # noqa: PTH100 - it must not ask the disk
            calls += 1
            if calls == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    code = main(arguments)
    if not kill_at:
        print(calls)
    return code


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), sys.argv[2:]))
