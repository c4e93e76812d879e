"""Servers of a test's own, in threads."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseServer


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """It answers until the block ends."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


class Host(ThreadingHTTPServer):
    """One of several hosts with one port; `asked` are (host, path) of all of them, in order. `port` 0: any."""

    def __init__(self, handler: type[HostHandler], host: str, port: int, asked: list[tuple[str, str]]) -> None:
        super().__init__((host, port), handler)
        self.host, self.port, self.asked = host, self.server_address[1], asked


@contextmanager
def hosts(handler: type[HostHandler], names: Iterable[str]) -> Iterator[Host]:
    """They answer until the block ends; the first of them."""
    with ExitStack() as running:
        first: Host | None = None
        for name in names:
            host = Host(handler, name, first.port if first else 0, first.asked if first else [])
            first = first or host
            running.enter_context(host)
            running.enter_context(serving(host))
        assert first
        yield first


class HostHandler(BaseHTTPRequestHandler):
    """Of a :class:`Host`; says nothing on the terminal. A test's own has :meth:`asked`."""

    server: Host

    def do_GET(self) -> None:
        self.server.asked.append((self.server.host, self.path))
        self.asked()

    def asked(self) -> None:
        """Answer what was asked for."""
        raise NotImplementedError

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        """The whole answer; `headers` with _ for -."""
        self.send_response(status)
        for name, value in (*headers.items(), ("Content-Length", str(len(body)))):
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class SomePages(HostHandler):
    """Three pages that lead to one another, and no robots.txt."""

    def asked(self) -> None:
        if self.path == "/robots.txt":
            self.answer(404, b"")
        else:
            links = "".join(f"<a href=/{number}>{number}</a>" for number in range(3))
            page = f"<html lang=zu><p>Izindaba zanamuhla ngesiZulu {self.path}.</p>{links}</html>"
            self.answer(200, page.encode(), Content_Type="text/html")
