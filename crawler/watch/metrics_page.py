"""The page that Prometheus reads, on the reactor that runs anyway."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any, cast

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from twisted.python.failure import Failure
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site

_IDLE_S = 20


class Page(Resource):
    """Answers with what `text` gives; several may ask at a time."""

    isLeaf = True  # noqa: N815 - Twisted's name

    def __init__(self, text: Callable[[], Awaitable[bytes]]) -> None:
        Resource.__init__(self)
        self._text = text

    def render_GET(self, request: Request) -> int:  # noqa: N802 - Twisted's name
        task = asyncio.ensure_future(self._answer(request))
        request.notifyFinish().addErrback(lambda _: task.cancel())  # whoever asked has left
        return NOT_DONE_YET

    async def _answer(self, request: Request) -> None:
        try:
            text = await self._text()
        except Exception:  # noqa: BLE001 - the rim: a fault costs a page, and is logged
            request.processingFailed(Failure())
            return
        request.setHeader("Content-Type", CONTENT_TYPE_PLAIN_0_0_4)
        # A connection that is kept would outlive the port: Prometheus would go on asking a crawl that is over, and not
        # the next one of this process.
        request.setHeader("Connection", "close")
        request.channel.persistent = False
        request.write(text)
        request.finish()


def serve(text: Callable[[], Awaitable[bytes]], listening: socket.socket) -> Callable[[], object]:
    """Answer ``/metrics`` on a socket that listens, which from now on is Twisted's; the call that ends it."""
    from twisted.internet import reactor  # to import it is to choose one; Scrapy has

    root, running = cast(Any, Resource()), cast(Any, reactor)
    root.putChild(b"metrics", Page(text))
    listening.setblocking(False)  # Twisted expects it, and would wait in `accept` with all that the reactor does
    with listening:  # Twisted has a copy of its own
        port = running.adoptStreamPort(listening.fileno(), listening.family, Site(root, timeout=_IDLE_S))
    stop: Callable[[], object] = port.stopListening
    return stop
