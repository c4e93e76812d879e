"""How a benchmark ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def end_with(main: Callable[[], int | None]) -> NoReturn:
    """Run it and end the process with what it returns; a reader of its output that has seen enough (``| head``) is no
    fault."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # By hand: what has it for the commands would weigh in the memory that is measured.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = None
    sys.exit(status)
