"""Serves a synthetic web: one asyncio loop, one listening socket an address, httptools, keep-alive, a request log.

Guarantees: an entry of the log begins when the request's head had arrived and ends not later than the client can have
read the last byte or left, so a gap in the log is never shorter than the client's own pause, also when this server
stood still meanwhile. A port that is taken is one :class:`PortTakenError`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import math
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

import httptools

from tests.web.answer import Answer, Asked, head
from tests.web.delivery import Sender, needs_sender
from tests.web.requestlog import FLUSH_S, LogEntry, LogWriter, read_log
from tests.web.sites import Site
from tests.web.spec import WebSpec
from tests.web.web import LOG_FILE, Web

_LOOK_S = 0.003
_STOOD_STILL_US = 1_000_000
"""Who had to wait for longer than this may have left before anything was sent."""


class PortTakenError(OSError):
    """An address and port cannot be listened on; the message says which and why."""


class Server:
    """Listens on all addresses of `web`; `log` gets every request. Use :func:`serve` or :meth:`run`."""

    def __init__(self, web: Web, log: Path, sockets: list[socket.socket]) -> None:
        self.web = web
        self.log = LogWriter(log)
        self.times: Counter[tuple[int, str, int, str]] = Counter()
        self.started = time.monotonic()
        self.started_epoch_s = time.time()
        self.requests = 0
        self.connections = 0
        self.hold_after = math.inf
        self._sockets = sockets
        self._looks = deque([time.monotonic_ns() // 1000], maxlen=8)
        self.open: set[Connection] = set()
        self.held: list[Connection] = []

    def now_s(self) -> float:
        """The web's own clock: seconds since the start, scaled."""
        return (time.monotonic() - self.started) * self.web.spec.time_scale

    @property
    def looked_us(self) -> int:
        """Monotonic; what is noticed now happened after it. About 20 ms ago, or before this process stood still."""
        # Eight looks back: there is at most one a turn of the loop, and of a new client it tells some turns late.
        return self._looks[0]

    def _look(self) -> None:
        self._looks.append(time.monotonic_ns() // 1000)
        asyncio.get_running_loop().call_later(_LOOK_S, self._look)

    def let_go(self) -> None:
        """Answer what was held, and all that comes."""
        held, self.held, self.hold_after = self.held, [], math.inf
        for connection in held:
            connection.begin()

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set; closes every connection and flushes the log."""
        loop = asyncio.get_running_loop()
        self._look()
        servers = [await loop.create_server(lambda: Connection(self), sock=s, backlog=1024) for s in self._sockets]
        try:
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), FLUSH_S)
                self.log.flush()
        finally:
            for server in servers:
                server.close()
            for connection in list(self.open):
                connection.transport.abort()
            await asyncio.sleep(0)
            self.log.close()


class Connection(asyncio.Protocol):
    """One client connection; requests are answered one after the other."""

    transport: asyncio.Transport

    def __init__(self, server: Server) -> None:
        self.server = server
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._host = self._agent = self._encodings = self._etag = self._since = ""
        self._start_ns = 0
        self._busy = False
        self._waiting: list[tuple[str, str, str, str, Asked, int]] = []
        self._sender: Sender | None = None
        self._current: LogEntry | None = None
        self._address, self._port = "", 0
        self.number = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the address that the client called."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=0)
        self._address, self._port = transport.get_extra_info("sockname")[:2]
        self.server.connections += 1
        self.number = self.server.connections
        self.server.open.add(self)

    def data_received(self, data: bytes) -> None:
        """Feed the parser; what is not HTTP ends the connection."""
        self._start_ns = time.monotonic_ns()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.transport.close()

    def on_message_begin(self) -> None:
        """Forget the last request's headers."""
        self._target = b""
        self._host = self._agent = self._encodings = self._etag = self._since = ""

    def on_url(self, url: bytes) -> None:
        """Collect the request target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep the few headers that matter."""
        match name.lower():
            case b"host":
                self._host = value.decode("latin-1").lower()
            case b"user-agent":
                self._agent = value.decode("latin-1")
            case b"accept-encoding":
                self._encodings = value.decode("latin-1")
            case b"if-none-match":
                self._etag = value.decode("latin-1")
            case b"if-modified-since":
                self._since = value.decode("latin-1")

    def on_message_complete(self) -> None:
        """Answer, or queue when the last answer is still under way."""
        method = self._parser.get_method().decode()
        asked = Asked(0, self._encodings, self._etag, self._since)
        target = self._target.decode("latin-1")
        request = (method, self._host, target, self._agent, asked, self._start_ns // 1000)
        if self._busy:
            self._waiting.append(request)
        else:
            self._answer(*request)

    def _answer(self, method: str, host: str, target: str, agent: str, asked: Asked, start_us: int) -> None:
        server = self.server
        server.requests += 1
        self._busy = True
        epoch_s = time.time()
        site = server.web.site(host)
        if site is None or site.address != self._address or site.port != self._port:
            answer = Answer(421, b"not here\n", (("Content-Type", "text/plain"),))
        else:
            answer = self._find(site, target, asked)
        if method == "HEAD":
            answer = answer._replace(body=b"", delivery="plain")
        due_us = 0
        if answer.retry_after_s:
            rounding_s = (-epoch_s % 1) if answer.retry_as_date else 0.0
            due_us = start_us + int((answer.retry_after_s + rounding_s) * 1_000_000)
        self._current = LogEntry(
            start_us, 0, int(epoch_s * 1_000_000), host, self._address, self._port, target, answer.status, False, 0,
            due_us, agent, self.number, method,
        )  # fmt: skip
        held = server.requests > server.hold_after
        if held or needs_sender(answer):
            self._sender = Sender(self, answer, head(answer, epoch_s))
            if held:
                server.held.append(self)
            else:
                self.begin()
            return
        data = head(answer, epoch_s) + answer.body
        end_us = time.monotonic_ns() // 1000
        self.transport.write(data)
        if self.transport.get_write_buffer_size():
            self._sender = Sender(self, answer, b"", sent_bytes=len(data))
        else:
            self.done(end_us, len(data), whole=True)

    def begin(self) -> None:
        """Send the answer that is ready, unless the client has left."""
        if self._sender:
            self._sender.begin()

    def _find(self, site: Site, target: str, asked: Asked) -> Answer:
        server = self.server
        resource = server.web.paths.read(site, target)
        answers = server.web.answers
        if answers.counted(site, resource):
            asked = asked._replace(times=server.times[resource])
            server.times[resource] += 1
        return answers.answer(site, resource, asked._replace(now_s=server.now_s(), epoch_s=server.started_epoch_s))

    def done(self, end_us: int, sent_bytes: int, *, whole: bool) -> None:
        """The current answer is over: log it and take the next request."""
        entry, self._current, self._sender = self._current, None, None
        if entry is None:
            return
        looked_us = self.server.looked_us
        stood_still = time.monotonic_ns() // 1000 - looked_us > _STOOD_STILL_US
        end_us = looked_us if stood_still else max(end_us, entry.start_us)
        due_us = entry.due_us + end_us - entry.start_us if entry.due_us else 0
        status = entry.status if sent_bytes else 0
        self.server.log.add(
            entry._replace(end_us=end_us, status=status, whole=whole, sent_bytes=sent_bytes, due_us=due_us)
        )
        self._busy = False
        if not self._parser.should_keep_alive():
            self.transport.close()
        elif self._waiting and not self.transport.is_closing():
            self._answer(*self._waiting.pop(0))

    def resume_writing(self) -> None:
        """Everything written so far is with the kernel."""
        if self._sender:
            self._sender.resume()

    def connection_lost(self, error: Exception | None) -> None:
        """The client (or a planned cut) ended the connection."""
        self.server.open.discard(self)
        if self._sender:
            self._sender.cancel()
        self.done(self.server.looked_us, self._sender.sent_bytes if self._sender else 0, whole=False)


def bind(spec: WebSpec) -> tuple[Web, list[socket.socket]]:
    """A web on a port that is free on all its addresses, and the bound sockets. :class:`PortTakenError` else."""
    tries = 1 if spec.port else 20
    for left in range(tries - 1, -1, -1):
        web = Web(spec.replace(port=spec.port or _free_port()))
        sockets: list[socket.socket] = []
        try:
            for address, port in web.endpoints():
                listener = socket.socket()
                sockets.append(listener)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((address, port))
                listener.listen(1024)
                listener.setblocking(False)
        except OSError as error:
            for listener in sockets:
                listener.close()
            if left and error.errno == errno.EADDRINUSE:
                continue
            raise PortTakenError(error.errno, f"cannot listen on {address}:{port}: {error.strerror}") from error
        return web, sockets
    raise AssertionError("unreachable")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Running:
    """A server in a thread of this process. `web`, `log` (path) and `folder` are what tests need."""

    def __init__(self, server: Server, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self.web = server.web
        self.folder = folder
        self.log = folder / LOG_FILE
        self.loop = loop

    def hold(self, after: int) -> None:
        """Answer only so many requests; others wait for :meth:`let_go`, so that no crawl ends before."""
        self.server.hold_after = after

    def let_go(self) -> None:
        """Answer what was held, and all that comes."""
        self.loop.call_soon_threadsafe(self.server.let_go)

    def logged(self) -> list[LogEntry]:
        """The log, with all that has happened so far."""

        async def flush() -> None:
            for _ in range(3):  # turns until the loop has told who left
                await asyncio.sleep(0)
            self.server.log.flush()

        asyncio.run_coroutine_threadsafe(flush(), self.loop).result(60)
        return list(read_log(self.log))


@contextlib.contextmanager
def serve(spec: WebSpec, folder: Path) -> Iterator[Running]:
    """Serve `spec` from a thread until the block ends; writes the web's files and log into `folder`."""
    web, sockets = bind(spec)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(web, folder / LOG_FILE, sockets)
    web.write(folder, started_epoch_s=server.started_epoch_s)
    thread = threading.Thread(
        target=loop.run_until_complete, args=(server.run(stop),), name="synthetic web", daemon=True
    )
    thread.start()
    try:
        yield Running(server, folder, loop)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)
        loop.close()
