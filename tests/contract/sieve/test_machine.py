"""Random histories of every kind against the reference: enqueue, flush, drain, close and open, in any order."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from sieve import Entry, Item, open_sieve
from sieve.queues import ready
from tests.contract.sieve.conftest import KINDS, Maker
from tests.effort import EFFORT

_PATHS = st.integers(0, 120).map(lambda n: f"http://example.org/{n}")
_ITEMS = st.one_of(
    _PATHS,
    _PATHS.map(lambda url: url.replace("http://", "HTTP://").replace(".org/", ".org:80/./")),
    st.builds(Entry, _PATHS, st.binary(max_size=4)),
)


def machine(make: Callable[[], Maker]) -> type[RuleBasedStateMachine]:
    class SieveMachine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.maker = make()
            self.sieve = self.maker.new()
            self.model = open_sieve("memory:")
            self.waiting: list[Item] = []
            self.flushed = True

        @rule(batches=st.lists(st.lists(_ITEMS, max_size=6), min_size=1, max_size=5))
        def enqueue(self, batches: list[list[Item]]) -> None:
            for items in batches:
                self.sieve.enqueue(items)
                self.model.enqueue(items)
            self.waiting += self.model.drain()
            self.flushed = False

        @rule()
        def flush(self) -> None:
            self.sieve.flush()
            self.flushed = True

        @rule(limit=st.one_of(st.none(), st.integers(0, 12)))
        def drain(self, limit: int | None) -> None:
            got = self.sieve.drain(limit)
            if self.flushed:
                expected = self.waiting if limit is None else self.waiting[:limit]
                assert got == expected
            for item in got:
                self.waiting.remove(item)

        @rule()
        def open_again(self) -> None:
            if self.maker.kind != "memory":
                self.sieve.close()
                self.sieve = self.maker.again()

        @invariant()
        def counts_make_sense(self) -> None:
            pending = getattr(self.sieve, "pending", None)
            assert pending is None or pending() >= 0

        def teardown(self) -> None:
            self.sieve.flush()
            assert self.sieve.drain() == self.waiting
            self.sieve.close()

    return SieveMachine


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_any_history(kind: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "_WRITTEN_ROWS", 2)  # so that more waits than is kept for reading
    monkeypatch.setattr(ready, "_POSITIONS_BYTES", 300)
    with tempfile.TemporaryDirectory() as folder:
        run_state_machine_as_test(
            machine(lambda: Maker(kind, Path(folder), redis_url)),
            settings=settings(
                max_examples=30 * EFFORT,
                stateful_step_count=25,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
