"""Threads and processes that ask one model get the answers that one thread gets, whatever the others ask meanwhile."""

from __future__ import annotations

import multiprocessing
import random
import sys
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

import relevance
from relevance.language import identification, model

_SYLLABLES = ("nga", "ku", "umu", "ntu", "yebo", "aaa", "the", "qh", "lwa", "zi", "sha")
_rng = random.Random(1)
_PARTS = [
    [" ".join("".join(_rng.choices(_SYLLABLES, k=_rng.randrange(1, 5))) for _ in range(12)) for _ in range(20)]
    for _ in range(12)
]


def answers(texts: list[str]) -> list[Any]:
    by_word = [relevance.labels_by_word(text) for text in texts[:5]]
    return [
        relevance.identify(texts),
        relevance.identify(texts, ["zul", "xho"]),
        relevance.probabilities(texts),
        by_word,
    ]


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The memory for words, which threads share, starts anew every few calls; afterwards the model is loaded anew."""
    monkeypatch.setattr(model, "REMEMBERED", 400)
    _forget()
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(switching)
    _forget()


def _forget() -> None:
    identification._identifier.cache_clear()
    model.shipped.cache_clear()


@pytest.mark.usefixtures("little_memory")
def test_threads_that_load_the_model_and_ask_it_at_once() -> None:
    expected = [answers(texts) for texts in _PARTS]
    _forget()
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(answers, _PARTS * 2)) == expected * 2


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_a_thread_has_left_while_others_ask(method: str) -> None:
    expected = [answers(texts) for texts in _PARTS]
    done = threading.Event()

    def go_on() -> None:
        while not done.is_set():
            answers(_PARTS[0])

    asking = threading.Thread(target=go_on)
    asking.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python's, of a fork beside threads
            with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
                assert list(pool.map(answers, _PARTS)) == expected
    finally:
        done.set()
        asking.join()
