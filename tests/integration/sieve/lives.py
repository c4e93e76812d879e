"""A sieve that is killed again and again: each life is a forked process, what it did is in a journal."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sieve import Sieve
from sieve.disk.files import Step
from sieve.types import Item

Make = Callable[[Step], Sieve]


@dataclass
class Plan:
    """What all lives together do: batches to put in; how much is drained after each, when to flush."""

    batches: list[list[str]]
    drains: list[int | None]
    flushes: list[bool]

    @classmethod
    def random(cls, seed: int, batches: int = 30, names: int = 250) -> Plan:
        chance = random.Random(seed)
        sent = [
            [f"http://example.org/{chance.randrange(names)}" for _ in range(chance.randrange(1, 25))]
            for _ in range(batches)
        ]
        drains = [chance.choice([0, 3, 10, None]) for _ in sent]
        return cls(sent, drains, [chance.random() < 0.2 for _ in sent])


class Lives:
    """Runs a plan through lives that end in SIGKILL, and says whether the contract was kept."""

    def __init__(self, make: Make, plan: Plan, journal: Path) -> None:
        self._make = make
        self._plan = plan
        self._journal = journal
        self.kills = 0
        self.steps: Counter[str] = Counter()

    def live(
        self,
        *,
        die_at: tuple[str, int] | None = None,
        die_at_step: int | None = None,
        kill_after_s: float | None = None,
    ) -> bool:
        """One life, killed at the n-th time of a step, at a step number or after a time; whether it ended by itself."""
        child = os.fork()
        if child == 0:
            try:
                self._run(die_at, die_at_step)
            except BaseException:  # noqa: BLE001 - a forked child must not go on as pytest
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        try:
            if kill_after_s is not None:
                time.sleep(kill_after_s)
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL), "the life ended with an error"
        self._note({"end": 1})
        self.kills += os.waitstatus_to_exitcode(status) != 0
        return os.waitstatus_to_exitcode(status) == 0

    def check(self, expected: set[str] | None = None) -> None:
        """All that was put in (or `expected`) came out, and nothing twice but what a killed life had drained last."""
        out: Counter[str] = Counter()
        excused: Counter[str] = Counter()
        last: list[str] = []
        for line in self._lines():
            entry = json.loads(line)
            if "drained" in entry:
                last = entry["drained"]
                out.update(last)
            elif "end" in entry:
                excused.update(last)
                last = []
        sent = {url for batch in self._plan.batches for url in batch}
        assert set(out) == (sent if expected is None else expected)
        doubled = {url: count for url, count in out.items() if count > 1 + excused[url]}
        assert not doubled

    def came_out(self) -> set[str]:
        """What was drained so far."""
        entries = map(json.loads, self._lines())
        return {url for entry in entries for url in entry.get("drained", ())}

    def _run(self, die_at: tuple[str, int] | None, die_at_step: int | None) -> None:
        counts: Counter[str] = Counter()

        def step(name: str) -> None:
            counts[name] += 1
            if (name, counts[name]) == die_at or counts.total() == die_at_step:
                self._note({"killed at": name})
                os.kill(os.getpid(), signal.SIGKILL)

        done = sum("put" in json.loads(line) for line in self._lines())
        sieve = self._make(step)
        plan = self._plan
        for batch, drain, flush in list(zip(plan.batches, plan.drains, plan.flushes, strict=True))[done:]:
            sieve.enqueue(batch)
            self._note({"put": 1})
            if flush:
                sieve.flush()
            self._drained(sieve.drain(drain))
        sieve.flush()
        self._drained(sieve.drain())
        sieve.close()

    def _drained(self, items: list[Item]) -> None:
        self._note({"drained": list(items)})

    def _note(self, entry: dict[str, object]) -> None:
        # A kill may cut a write where a page of the file ends: as if it had come before. So the next line starts anew.
        with self._journal.open("a") as file:
            file.write("\n" + json.dumps(entry))

    def _lines(self) -> list[str]:
        lines = self._journal.read_text().splitlines() if self._journal.exists() else []
        return [line for line in lines if line.endswith("}")]

    def killed_at(self) -> set[str]:
        """Names of the steps at which lives were killed."""
        entries = map(json.loads, self._lines())
        return {entry["killed at"] for entry in entries if "killed at" in entry}
