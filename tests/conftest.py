"""Hypothesis draws the same cases in every run; HYPOTHESIS_PROFILE=explore draws new ones, to look for faults.

Processes that tests start hear of Ctrl-C, also where the tests themselves run in the background of a shell, which has
what it starts there ignore it.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.power import Disk

# Neither a deadline nor a check of how long cases take to draw: a machine that stalls is no fault.
UNTIMED = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", UNTIMED, derandomize=True)
settings.register_profile("explore", UNTIMED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    """What is left of folders after a power cut."""
    made = Disk(monkeypatch)
    yield made
    made.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long first, so that all processes have something to do to the end."""
    items.sort(key=lambda item: ("integration" not in item.path.parts, "crawler" not in item.path.parts))
