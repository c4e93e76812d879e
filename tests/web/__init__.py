"""A synthetic web on loopback for tests, bench and demo, its ground truth, and the verifier of a crawl.

``with serve(WebSpec(seed=1), folder) as running:`` serves from a thread, and
``python -m tests.web serve|verify`` from a shell.
"""

from tests.web.requestlog import LogEntry, read_log
from tests.web.server import PortTakenError, Running, serve
from tests.web.spec import FeedSpec, Rates, SpecError, WebSpec, calm, wild
from tests.web.web import Web, load_web

__all__ = [
    "FeedSpec", "LogEntry", "PortTakenError", "Rates", "Running", "SpecError", "Web", "WebSpec", "calm", "load_web",
    "read_log", "serve", "wild",
]  # fmt: skip
