"""What a Redis says that it cannot do now, in the words of Redis and of Valkey."""

from __future__ import annotations

import pytest
import redis

from frontier.answering import answering
from frontier.errors import FrontierFull, FrontierUnavailable


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", FrontierUnavailable),
        (
            "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
            FrontierUnavailable,
        ),
        ("Error running script: Script killed by user with SCRIPT KILL.", FrontierUnavailable),
        ("Error running script: -MISCONF Errors writing to the AOF file: No space left", FrontierUnavailable),
        ("OOM command not allowed when used memory > 'maxmemory'.", FrontierFull),
        ("BUSYKEY Target key name already exists.", redis.ResponseError),
        ("ERR unknown command", redis.ResponseError),
    ],
)
def test_what_an_answer_means(said: str, meant: type[Exception]) -> None:
    with pytest.raises(meant), answering("c"):
        raise redis.ResponseError(said)


def test_scripts_that_are_forgotten_again_and_again_are_waited_for() -> None:
    with pytest.raises(FrontierUnavailable), answering("c"):
        raise redis.exceptions.NoScriptError("No matching script. Please use EVAL.")
