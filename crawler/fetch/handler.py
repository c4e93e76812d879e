"""The download handler for ``http`` and ``https``: leases, guarded addresses, faithful capture.

What Scrapy's own handler does not give and a polite archive needs: the address connected to is chosen, judged and
granted before anything is sent; the answer's bytes are kept as they came (``request.meta["capture"]``); nothing is sent
on a lease that could run out during the fetch; certificates are verified.

Works without leases too (``scrapy shell``, ``scrapy fetch``, other projects' own requests): then there is nobody to ask
for a grant, and only the guard judges the address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.http import Headers, Request, Response
from scrapy.responsetypes import responsetypes

from archive.storage.disk import allow_many_files
from crawler.fetch.addresses import AddressGuard, Resolver, check_port, read_hosts_file
from crawler.fetch.connection import Answer, FetchLimits, HttpConnection, connect
from crawler.fetch.errors import (
    AbortedError,
    ConnectError,
    CutError,
    FetchTimeoutError,
    HungUpError,
    NotGrantedError,
    OptedOutError,
    StaleLeaseError,
    TlsError,
)
from crawler.fetch.pool import ConnectionPool, PoolKey
from crawler.signals import stopping
from frontier.clock_line import uptime_s

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


# A server notices a moment late that we hung up; the politeness delay runs from then.
_HANG_UP_S = 0.02
_MOST_LOOKUPS = 256


class RequestGrant(Protocol):
    """What ``request.meta["grant"]`` must offer: to which address, and until when, one request may be sent.

    In a crawl a lease as this process holds it (`crawler.work.held`), beside it a turn of the commands that have none
    (crawler/console/politeness.py).
    """

    address: str
    start_by: float
    """:func:`uptime_s` after which no request may start on this lease."""

    async def bind(self, address: str) -> bool:
        """Claim `address` for this lease; False when the frontier took the lease back."""
        ...

    async def opted_out_by(self, url: str) -> str:
        """Asked when nothing but the request is left to be sent: by what `url` has opted out by now; "": by nothing."""
        ...


@dataclass(slots=True)
class Capture:
    """One exchange as it went over the wire; kept in ``request.meta["capture"]``."""

    url: str
    address: str
    started: datetime
    request_head: bytes
    answer: Answer | None = None
    protocol: str = "http/1.1"
    cipher: str = ""
    fetch_ms: int = 0
    ended: float = 0.0
    """``time.monotonic()`` at the end of the answer, or of the failed attempt."""

    def head(self) -> Response | None:
        """Of the answer that came, whatever a middleware has made of it; None: none came."""
        return None if self.answer is None else Response(self.url, self.answer.status, headers_of(self.answer.headers))


class FetchHandler(BaseDownloadHandler):
    """See the module."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        guard = AddressGuard(settings.getlist("FETCH_ALLOWED_NETWORKS"))
        hosts_file = settings.get("FETCH_HOSTS_FILE")
        hosts = read_hosts_file(Path(hosts_file)) if hosts_file else None
        self._limits = FetchLimits(
            max_body_bytes=settings.getint("DOWNLOAD_MAXSIZE"),
            timeout_s=settings.getfloat("DOWNLOAD_TIMEOUT"),
            connect_timeout_s=settings.getfloat("FETCH_CONNECT_TIMEOUT_S"),
        )
        allow_many_files()  # else a lease that finds none left looks like a host that is dead
        at_once = min(_MOST_LOOKUPS, settings.getint("FRONTIER_BUFFER"))
        self._resolver = Resolver(guard, hosts, self._limits.connect_timeout_s, at_once)
        self._tls = tls_context(settings)
        self._pool = ConnectionPool()
        self._busy: set[asyncio.Task[object]] = set()
        self._aborted = False
        crawler.signals.connect(self.abort, stopping)

    async def download_request(self, request: Request) -> Response:
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        try:
            return await self._fetch(request)
        except asyncio.CancelledError:
            if not self._aborted:
                raise
            # Ours, by abort(): the crawl is stopping.
            raise AbortedError("the crawl is stopping") from None
        finally:
            self._busy.discard(task)

    def abort(self) -> None:
        """End every exchange under way with :class:`HungUpError`, and with :class:`AbortedError` those that have sent
        nothing; their leases go back."""
        self._aborted = True
        for task in list(self._busy):
            task.cancel()

    async def close(self) -> None:
        self._pool.close()

    async def _fetch(self, request: Request) -> Response:
        scheme, host, port = _server(request.url)
        grant: RequestGrant | None = request.meta.get("grant")
        address = await self._address(host, grant)
        key = (scheme, host, port, address)
        capture = Capture(request.url, address, datetime.now(UTC), request_head(request))
        request.meta["capture"] = capture
        started = time.monotonic()
        try:
            answer, connection = await self._exchange(key, request, capture, grant)
        finally:
            capture.ended = time.monotonic()
            capture.fetch_ms = round((capture.ended - started) * 1000)
        capture.answer = answer
        protocol, capture.cipher = connection.tls_facts()
        capture.protocol = f"http/{answer.version}" + (f" {protocol}" if protocol else "")
        self._pool.give(key, connection)
        return self._response(request, answer, address)

    async def _address(self, host: str, grant: RequestGrant | None) -> str:
        if grant is not None and grant.address:
            return self._resolver.check(grant.address)
        address = await self._resolver.resolve(host)
        if grant is not None and not await grant.bind(address):
            raise NotGrantedError(f"{address} is busy or resting")
        return address

    async def _exchange(
        self, key: PoolKey, request: Request, capture: Capture, grant: RequestGrant | None
    ) -> tuple[Answer, HttpConnection]:
        payload = capture.request_head + request.body
        timeout_s = float(request.meta.get("download_timeout", self._limits.timeout_s))
        if grant is not None:
            # Its end was reckoned by the setting; a project's spider or middleware may have put more into the meta.
            timeout_s = min(timeout_s, self._limits.timeout_s)
        deadline = time.monotonic() + timeout_s
        # A kept connection that the server closes at this very moment makes the request fail, and it is not sent a
        # second time: the server may have seen it, and the politeness delay has to pass first.
        kept = self._pool.take(key)
        connection = kept or await self._connect(key)
        try:
            if (left_s := deadline - time.monotonic()) <= 0:
                raise FetchTimeoutError(f"no time was left of {timeout_s:g} s when there was a connection")
            # What Redis takes to answer is none of that: `start_by` leaves a whole fetch.
            await self._last_look(grant, request.url)
            if connection is kept and not connection.usable:
                raise StaleLeaseError("the connection ended while the frontier was asked")
        except BaseException:
            connection.close()
            raise
        return await self._ask(connection, payload, left_s), connection

    async def _connect(self, key: PoolKey) -> HttpConnection:
        scheme, host, port, address = key
        try:
            return await connect(address, port, host, self._tls if scheme == "https" else None, self._limits)
        except (ConnectError, TlsError):
            self._resolver.failed(host, address)
            raise

    async def _ask(self, connection: HttpConnection, payload: bytes, left_s: float) -> Answer:
        """Send, and wait for the answer; the server has a moment to notice where it was not taken whole."""
        task = asyncio.current_task()
        assert task is not None
        try:
            answer = await connection.exchange(payload, left_s)
        except BaseException as error:
            connection.close()
            self._busy.discard(task)  # it was sent, and abort() must not make it seem as if it had not been
            await asyncio.sleep(_HANG_UP_S)
            if isinstance(error, asyncio.CancelledError) and self._aborted:
                raise HungUpError("the crawl is stopping") from None
            raise
        self._busy.discard(task)
        if connection.hung_up:
            await asyncio.sleep(_HANG_UP_S)
        return answer

    async def _last_look(self, grant: RequestGrant | None, url: str) -> None:
        """Before bytes leave: what has opted out meanwhile is not asked for, and a stopped process or a lost Redis must
        not send on an old lease."""
        if grant is not None and (prefix := await grant.opted_out_by(url)):
            raise OptedOutError(f"{prefix} has opted out, and with it {url}")
        if self._aborted:
            raise AbortedError("the crawl is stopping")
        if grant is not None and uptime_s() > grant.start_by:
            raise StaleLeaseError("the lease could run out during the fetch")

    def _response(self, request: Request, answer: Answer, address: str) -> Response:
        headers = headers_of(answer.headers)
        body = bytes(answer.body)
        response_class = responsetypes.from_args(headers=headers, url=request.url, body=body)
        return response_class(
            url=request.url,
            status=answer.status,
            headers=headers,
            body=body,
            request=request,
            flags=["truncated"] if answer.truncated else [],
            protocol=f"HTTP/{answer.version}",
            ip_address=ipaddress.ip_address(address),
        )


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Scrapy's headers. (To append values of one name to them one by one costs the square of their number.)"""
    together: dict[bytes, list[bytes]] = {}
    for name, value in pairs:
        together.setdefault(name.title(), []).append(value)
    return Headers(together)


def refusal_behind(response: Response) -> Response:
    """The head of the answer that came where that refuses, as a 503 does, and a middleware gives another in its place;
    else `response` itself."""
    capture: Capture | None = response.meta.get("capture")
    if capture is None or capture.answer is None or not response.status != capture.answer.status >= 400:
        return response
    return capture.head() or response


def tls_context(settings: BaseSettings) -> ssl.SSLContext:
    """Verifying client context; ``FETCH_CA_FILE`` adds a private certificate authority."""
    context = ssl.create_default_context()
    if ca_file := settings.get("FETCH_CA_FILE"):
        context.load_verify_locations(ca_file)
    if not settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def request_head(request: Request) -> bytes:
    """The bytes sent before the body: request line, ``Host`` first, then the headers in the order they were set."""
    parts = urlsplit(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = parts.netloc.rpartition("@")[2]
    lines = [f"{request.method} {target} HTTP/1.1".encode("ascii"), b"Host: " + host.encode("ascii")]
    for name, values in request.headers.items():
        if name not in (b"Host", b"Content-Length", b"Connection"):
            # A line break in it, say from a page, would be a second request.
            lines += [b" ".join((name + b": " + value).splitlines()) for value in values]
    if request.body:
        lines.append(b"Content-Length: %d" % len(request.body))
    return b"\r\n".join([*lines, b"", b""])


def _server(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise CutError(f"no usable host and port in {url}")
    if port is None:
        port = 443 if parts.scheme == "https" else 80
    # The dot of an absolute name is in no certificate (RFC 6066 3), nor in a hosts file.
    return parts.scheme, host.removesuffix("."), check_port(port)
