"""Kills writers of archives at chosen and at random instants, lets recovery finish, and checks what is there.

Run as a process of its own (it forks a child a trial): ``crasher.py steps|random SEED TRIALS`` prints a JSON summary.
A small file stands for the frontier: what was reported is a line in it before the writer is told.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from archive import Exchange, Reader, WarcWriter, WriterConfig, recover
from archive.tools.verify import verify

BATCHES, BATCH = 10, 5
KINDS = ("xz", "gz", "zst", "none")
FOLDER = "/dev/shm" if Path("/dev/shm").is_dir() else None  # what a kill leaves behind is the same there, and sooner


def exchange(rng: random.Random, number: int, token: str) -> Exchange:
    """A page; some have the payload of others."""
    text = "same text for all of them " * 60 if number % 4 == 0 else "".join(rng.choices("abcdef ", k=900))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    url = f"http://host{number % 3}.example/{number}"
    started = datetime(2026, 1, 1, tzinfo=UTC)
    payload = f"<html>{text}</html>".encode()
    return Exchange(url, "127.0.0.1", started, b"GET / HTTP/1.1\r\n\r\n", head, payload, metadata={"token": token})


def config(step: Callable[[str], None]) -> WriterConfig:
    return WriterConfig(pack_bytes=5000, open_packs=2, journal_bytes=1000, reserve_bytes=0, threads=2, step=step)


def crawl(folder: Path, kind: str, seed: int, step: Callable[[str], None]) -> None:
    """Write, sync, report, settle; now and then a report is refused, and some tokens stay unreported at the end."""
    rng = random.Random(seed)
    ledger = os.open(folder / "ledger", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    writer = WarcWriter(folder, "crash", kind, 14_000, config(step))
    number = 0
    for _ in range(BATCHES):
        tokens = []
        for _ in range(BATCH):
            token = f"t{number}"
            writer.write(exchange(rng, number, token), token)
            tokens.append(token)
            number += 1
        writer.sync()
        step("report")
        accepted = [token for token in tokens if rng.random() < 0.85]
        os.write(ledger, "".join(f"{token}\n" for token in accepted).encode())
        step("reported")
        writer.settle(accepted, [token for token in tokens if token not in accepted])
    writer.close()


def finish(folder: Path, step: Callable[[str], None]) -> None:
    """What the next start does."""
    known = set((folder / "ledger").read_text().split()) if (folder / "ledger").exists() else set()

    def accepted(tokens: Sequence[str]) -> Collection[str]:
        return [token for token in tokens if token in known]

    recover(folder, accepted, config(step))


class Bomb:
    """Kills the process at the n-th step (0: never) and keeps a list of the steps passed."""

    def __init__(self, at: int, trace: Path | None = None) -> None:
        self._at = at
        self._passed = 0
        self._trace = trace

    def __call__(self, name: str) -> None:
        self._passed += 1
        if self._trace is not None:
            with self._trace.open("a") as file:
                file.write(name + "\n")
        if self._passed == self._at:
            os.kill(os.getpid(), signal.SIGKILL)


def in_child(work: Callable[[], None], kill_after_s: float | None = None) -> int:
    """Run in a fork; returns 0, or the signal or code it ended with."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the child must end here, whatever happens
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(3)
        os._exit(0)
    if kill_after_s is not None:
        time.sleep(kill_after_s)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def check(folder: Path) -> list[str]:
    """Every reported page once, no other page, no damage, nothing left lying about."""
    faults = [
        f"left over: {path.name}" for path in folder.iterdir() if ".warc" not in path.name and path.name != "ledger"
    ]
    faults += [f"left over: {path.name}" for path in folder.iterdir() if path.suffix == ".open"]
    reported = (folder / "ledger").read_text().split() if (folder / "ledger").exists() else []
    found: Counter[str] = Counter()
    ids, wanted = set(), set()
    for path in sorted(folder.glob("*.warc*")):
        if path.suffix in (".cdxj", ".open"):
            continue
        faults += [str(problem) for problem in verify(path) if problem.level == "error"]
        if not path.with_name(path.name + ".cdxj").exists():
            faults.append(f"no index: {path.name}")
        for record in Reader(path):
            if record.type == "metadata":
                found[record.block().split(b"token: ")[1].split(b"\r")[0].decode()] += 1
            elif record.type == "response":
                ids.add(record.id)
            elif record.type == "revisit":
                wanted.add(record.field("WARC-Refers-To"))
    if found != Counter(reported):
        faults.append(f"missing {set(reported) - set(found)}, too many {found - Counter(reported)}")
    if wanted - ids:
        faults.append(f"revisits of records that are not there: {wanted - ids}")
    return faults


def trial(number: int, rng: random.Random, step: int | None, kill_after_s: float | None) -> list[str]:
    """One crawl killed, then recoveries (killed, too, now and then) until one ends."""
    folder = Path(tempfile.mkdtemp(prefix="crash", dir=FOLDER))
    kind = KINDS[number % len(KINDS)]
    try:
        code = in_child(lambda: crawl(folder, kind, number, Bomb(step or 0)), kill_after_s)
        faults = ["the writer failed"] if code == 3 else []
        for attempt in range(6):
            bomb = Bomb(rng.randrange(1, 14) if attempt < 5 and rng.random() < 0.6 else 0)
            code = in_child(lambda bomb=bomb: finish(folder, bomb))  # type: ignore[misc]
            if code == 0:
                break
            if code == 3:
                faults.append("recovery failed")
        return faults + check(folder)
    finally:
        shutil.rmtree(folder)


def main() -> None:
    mode, seed, trials = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    faults: list[str] = []
    passed = 0
    folder = Path(tempfile.mkdtemp(prefix="crash", dir=FOLDER))
    trace = folder / "trace"
    started = time.perf_counter()
    in_child(lambda: crawl(folder, "xz", 0, Bomb(0, trace)))
    lasted = time.perf_counter() - started
    names = trace.read_text().split()
    shutil.rmtree(folder)
    for number in range(trials):
        if mode == "steps":
            step = number * (len(names) + 3) // trials + 1
            found = trial(number, rng, step, None)
        else:
            found = trial(number, rng, None, rng.random() * lasted)
        faults += [f"trial {number}: {fault}" for fault in found]
        passed += not found
    print(json.dumps({"passed": passed, "faults": faults[:20], "steps": sorted(set(names)), "run_s": lasted}))


if __name__ == "__main__":
    main()
