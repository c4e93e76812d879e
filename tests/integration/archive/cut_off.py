"""Kills commands that write archive files before each step that changes a folder, and then runs them once more.

Run as a process of its own (it forks a child a trial): ``cut_off.py`` prints a line for each fault, and in the end how
many trials there were.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from archive import WarcWriter, WriterConfig
from archive.cli import main
from archive.index.cdxj import SUFFIX, index_file
from archive.storage.warcfile import finished_in
from archive.tools.remove import below, remove
from archive.tools.verify import verify
from tests.unit.archive.pages import page

FOLDER = "/dev/shm" if Path("/dev/shm").is_dir() else None  # what a kill leaves behind is the same there, and sooner
COMMANDS = {
    "remove": (["remove", "--force", "host0.example", "{}"], ""),
    "convert": (["convert", "--to", "gz", "--force", "{}", "-o", "{}.copy.warc.gz"], ""),
    "convert over another": (["convert", "--to", "gz", "--force", "{}", "-o", "{}.copy.warc.gz"], "{}.copy.warc.gz"),
    "repair": (["repair", "--force", "{}", "-o", "{}.copy.warc"], ""),
}

WHOLE = {"convert", "repair"}
"""Of them a new file comes after its index."""
REFUSED = {"convert over another"}
"""Run again without `--force` they are refused, and the file that is there has its index all the same."""


def begun(folder: Path, over: str) -> Path:
    """A folder with an archive file, and at `over` another one with its index."""
    with WarcWriter(folder, "a", "none", config=WriterConfig(reserve_bytes=0)) as writer:
        for number in range(4):
            writer.write(page(number))
    path = writer.finished[0]
    if over:
        other = Path(over.format(path))
        main(["remove", "--force", "host0.example", str(shutil.copy(path, other.with_suffix("")))])
        main(["convert", "--quiet", "--to", "gz", str(other.with_suffix("")), "-o", str(other)])
    return path


def dying(step: int) -> None:
    """Kill this process before that step; all others are as they were."""
    left = step

    def wrapped(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*words: Any, **more: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*words, **more)

        return counted

    os.replace, os.unlink, os.fsync = wrapped(os.replace), wrapped(os.unlink), wrapped(os.fsync)


def in_child(words: list[str], step: int) -> bool:
    """Whether the command was killed before that step."""
    child = os.fork()
    if not child:
        dying(step)
        main(words)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def faults(folder: Path, *, whole: bool) -> list[str]:
    """What is wrong with the files; `whole`: each must have its index."""
    told = [problem for path in finished_in(folder) for problem in verify(path)]
    found = [str(problem) for problem in told if problem.code != "no-index"]
    for path in finished_in(folder) if whole else ():
        index = path.with_name(path.name + SUFFIX)
        index_file(path, expected := folder / "expected")
        if not index.exists() or index.read_bytes() != expected.read_bytes():
            found.append(f"{path.name} has no index of its own")
        expected.unlink()
    return found


def trial(name: str, step: int) -> bool:
    """Whether there was such a step; prints what is wrong."""
    words, over = COMMANDS[name]
    with tempfile.TemporaryDirectory(dir=FOLDER) as temporary, contextlib.redirect_stdout(io.StringIO()):
        folder = Path(temporary)
        path = begun(folder, over)
        words = [word.format(path) for word in words]
        killed = in_child(words, step)
        found = faults(folder, whole=not killed or name in WHOLE)
        if killed and name in REFUSED:
            with contextlib.redirect_stderr(io.StringIO()):
                main([word for word in words if word != "--force"])
            found += faults(folder, whole=True)
        if killed:
            main(words)
            found += faults(folder, whole=True)
            left = name == "remove" and remove(path, below("host0.example"), write=False).removed
            found += ["the site is still there"] if left else []
    for fault in found:
        print(f"{name}, killed before step {step}: {fault}")
    return killed


if __name__ == "__main__":
    trials = 0
    for command in COMMANDS:
        number = 0
        while trial(command, number):
            number += 1
        trials += number
    print(f"{trials} trials")
