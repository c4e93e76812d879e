"""Processes that work for a run, whatever becomes of them."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial

import pytest

from corpus.children import Child, ChildDied
from corpus.errors import CorpusError


def maker(letter: str) -> Callable[[int], str]:
    """Strings of a letter; no letters: a fault of the work; less: death."""

    def make(count: int) -> str:
        if count < 0:
            os._exit(3)
        if count == 0:
            raise CorpusError("nothing to do")
        return letter * count

    return make


def x_maker() -> Child[int, str]:
    return Child(partial(maker, "x"))


def test_results_come_in_order_and_faults_are_told() -> None:
    with closing(x_maker()) as child:
        for count in (1, 0, 2):
            child.give(count)
        assert child.take() == "x"
        with pytest.raises(CorpusError, match="nothing to do"):
            child.take()
        assert child.take() == "xx"


def test_the_death_of_a_process_is_told() -> None:
    with closing(x_maker()) as child:
        child.give(-1)
        for _ in range(2):
            with pytest.raises(ChildDied):
                child.take()
        child.give(1)
        with pytest.raises(ChildDied):
            child.take()


def test_a_process_that_dies_before_it_knows_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is made of is more than a pipe holds."""
    made: list[Child[int, str]] = []
    monkeypatch.setattr("multiprocessing.spawn._python_exe", b"/bin/false")
    begun = threading.Thread(target=lambda: made.append(Child(partial(maker, "x" * (1 << 20)))), daemon=True)
    begun.start()
    begun.join(60)
    assert made, "it is waited for forever"
    with closing(made[0]) as child, pytest.raises(ChildDied):
        child.take()


class TooLarge:
    """What a process has no memory to take in."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return no_memory, ()


def no_memory() -> None:
    raise MemoryError


def test_a_process_that_cannot_take_in_what_it_is_given_dies_of_it() -> None:
    child: Child[TooLarge, str] = Child(partial(maker, "x"))  # type: ignore[arg-type]
    with closing(child):
        child.give(TooLarge())
        assert child._end.poll(60), "it neither works nor ends"
        with pytest.raises(ChildDied):
            child.take()


def test_a_process_that_dies_while_it_writes() -> None:
    with closing(x_maker()) as child:
        child.give(10_000_000)
        assert child._end.poll(60)  # more than goes into a pipe: it waits for a reader
        child._process.kill()
        with pytest.raises(ChildDied):
            child.take()


def test_it_takes_what_it_is_given_while_it_waits_for_its_reader() -> None:
    data = [bytes([letter]) * 3_000_000 for letter in b"abc"]
    echo: Child[bytes, bytes] = Child(partial(partial, bytes))
    with closing(echo) as child:
        for part in data:
            child.give(part)
        assert [child.take() for _ in data] == data


def test_it_does_not_hear_ctrl_c() -> None:
    with closing(x_maker()) as child:
        assert child._process.pid is not None
        os.kill(child._process.pid, signal.SIGINT)
        child.give(1)
        assert child.take() == "x"
        os.kill(child._process.pid, signal.SIGINT)
        child.give(2)
        assert child.take() == "xx"
