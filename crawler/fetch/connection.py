"""One HTTP/1.1 connection: sends a request, gives the answer exactly as it was received.

Guarantees: the head is kept byte for byte (order, case and repeats of the headers), the payload is kept as transferred
(only transfer-codings are taken off: chunks, and a packing that nobody asked for), an answer is never read beyond its
limits, and an answer that ended early is never taken for a whole one; that of a server that is busy (429, 503, or a
refusal with a Retry-After, but 404 and 410) is given as far as it came, and says so, since what it asks for is in its
head. Parsing is llhttp's (httptools), lenient where servers are known to be sloppy and the meaning stays plain.

Source: RFC 9112. Interim (1xx) answers are skipped.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import httptools

from crawler.fetch.errors import ConnectError, CutError, FetchError, FetchTimeoutError, TlsError
from crawler.fetch.heads import end_of, is_misread, mended

_LENIENT = {
    "lenient_headers": True,
    # A length beside chunks: the chunks count (RFC 9112 6.3), and the connection is closed.
    "lenient_chunked_length": True,
    "lenient_keep_alive": True,
    "lenient_version": True,
    "lenient_optional_cr_before_lf": True,
    "lenient_optional_crlf_after_chunk": True,
    "lenient_spaces_after_chunk_size": True,
}
_MOST_INTERIM = 50
"""1xx answers before the real one; each is looked for in all that has come."""
BUSY = (429, 503)
ABSENT = (404, 410)
"""They speak of one page: what is asked for in their head is not the host's."""
_BEFORE_A_HEAD = b"\r\n"
"""Empty lines that some servers begin with, and readers pass over (RFC 9112 2.2): they would look like a head's end."""
_SUITE = re.compile(
    r"(?:((?:EC)?DHE-(?:RSA|ECDSA))-)?(?:AES(128|256)-(GCM-)?(SHA(?:256|384)?)|CHACHA20-POLY1305)", re.ASCII
)
"""A cipher suite below TLS 1.3, as OpenSSL names it."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds of one exchange; a payload beyond `max_body_bytes` is cut there and marked."""

    max_body_bytes: int = 10 * 1024 * 1024
    max_head_bytes: int = 64 * 1024
    timeout_s: float = 60.0
    connect_timeout_s: float = 15.0


@dataclass(slots=True)
class Answer:
    """What came back. `truncated` is None for a whole answer, else why it was cut: ``length``; of one of a busy server
    ``disconnect``, ``time`` or ``unspecified``, too."""

    status: int = 0
    reason: str = ""
    version: str = "1.1"
    head: bytes = b""
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    truncated: str | None = None


@dataclass(slots=True)
class _Head:
    """The head of an answer as it comes in. `searched`: bytes in which its end was looked for; `refused` by the parser:
    to be fed again, mended, when it is there; `mended`: what the parser was fed is not what came; `complete`: the body
    follows, and `received` is kept no longer."""

    received: bytearray = field(default_factory=bytearray)
    searched: int = 0
    refused: bool = False
    mended: bool = False
    complete: bool = False


class HttpConnection(asyncio.Protocol):
    """A connection to one server, for one exchange at a time."""

    def __init__(self, limits: FetchLimits) -> None:
        self._limits = limits
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[Answer] | None = None
        self._answer = Answer()
        self._head = _Head()
        self._parser: httptools.HttpResponseParser | None = None
        self._interim_answers = 0  # 1xx answers before the real one
        self._keep_alive = False
        self._heads_only = False  # asked for: no body follows, whatever its length is said to be (RFC 9112 6.3)
        self._sent_too_much = False  # bytes came behind the end of the answer
        self.on_close: Callable[[HttpConnection], None] | None = None

    # What the pool asks.

    @property
    def usable(self) -> bool:
        """Whether another exchange may follow on this connection."""
        return (
            self._keep_alive and self._done is None and self._transport is not None and not self._transport.is_closing()
        )

    @property
    def hung_up(self) -> bool:
        """Whether the last answer was left while the server may still be sending it."""
        return self._sent_too_much or self._answer.truncated is not None

    def tls_facts(self) -> tuple[str, str]:
        """``(protocol, cipher suite by its IANA name)`` of the TLS layer, empty strings without one."""
        tls = self._transport.get_extra_info("ssl_object") if self._transport else None
        if tls is None:
            return "", ""
        cipher = tls.cipher()
        return (tls.version() or "").lower().replace("tlsv", "tls/"), suite_name(cipher[0]) if cipher else ""

    def close(self) -> None:
        """Close now; an exchange under way ends with :class:`CutError`."""
        self._keep_alive = False
        if self._transport is not None:
            self._transport.abort()

    def let_go(self) -> None:
        """Forget the last answer: a connection that waits for its next exchange holds none."""
        self._answer = Answer()
        self._head = _Head()
        self._parser = None

    async def exchange(self, request: bytes, timeout_s: float) -> Answer:
        """Send `request`, return the answer.

        :class:`FetchTimeoutError` when it is not complete in `timeout_s`, :class:`CutError` when the connection ends
        first or the bytes are not HTTP; but for a busy server's, once its head is there.
        """
        if self._transport is None or self._transport.is_closing():
            raise CutError("the connection is closed")
        self._answer = Answer()
        self._head = _Head()
        self._interim_answers = 0
        self._parser = self._new_parser()
        self._keep_alive, self._heads_only = False, request.startswith(b"HEAD ")
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await asyncio.wait_for(self._done, timeout_s)
        except TimeoutError:
            self.close()
            if self._is_busy:
                return self._as_far_as_it_came("time")
            raise FetchTimeoutError(f"no complete answer within {timeout_s:g} s") from None
        except asyncio.CancelledError:
            self.close()
            raise
        finally:
            self._done = None

    def _new_parser(self) -> httptools.HttpResponseParser:
        parser = httptools.HttpResponseParser(self)
        parser.set_dangerous_leniencies(**_LENIENT)
        return parser

    @property
    def _is_busy(self) -> bool:
        """Whether the head of an answer has come that asks to be left alone."""
        if not self._head.complete or self._answer.status < 400 or self._answer.status in ABSENT:
            return False
        return self._answer.status in BUSY or any(name.lower() == b"retry-after" for name, _ in self._answer.headers)

    def _as_far_as_it_came(self, why: str) -> Answer:
        self._keep_alive = False
        self._answer.truncated = why
        if any(coding != b"chunked" for coding in _transfer_codings(self._answer)):
            self._answer.body.clear()  # what was packed for the way, and cannot be unpacked
        return self._answer

    def _finish(self, error: FetchError | None = None, why: str = "unspecified") -> None:
        if self._done is None or self._done.done():
            return
        if error is None and not self._heads_only:
            error = _unpack(self._answer, self._limits.max_body_bytes)
        if error is not None and self._is_busy:
            self._done.set_result(self._as_far_as_it_came(why))
        elif error is not None:
            self._done.set_exception(error)
        else:
            self._done.set_result(self._answer)
        if not self._keep_alive:
            self.close()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._done is None or self._done.done() or self._parser is None:
            self.close()
            return
        if not self._head.complete:
            if not self._head.received:
                data = data.lstrip(_BEFORE_A_HEAD)
            self._head.received += data
        if not self._head.refused:
            self._feed(self._parser, data)
        while self._head.refused and self._feed_mended():
            pass
        if not self._head.complete and len(self._head.received) > self._limits.max_head_bytes:
            self._finish(CutError(f"more than {self._limits.max_head_bytes} bytes of headers"))

    def _feed(self, parser: httptools.HttpResponseParser, data: bytes | bytearray) -> None:
        assert self._done is not None
        try:
            parser.feed_data(data)
        except httptools.HttpParserError as error:
            if self._done.done():  # bytes behind the end of the answer: no further exchange can be trusted
                self._sent_too_much = True
                self.close()
            elif not (self._head.complete or self._head.mended) and self._head.received.startswith(b"HTTP/"):
                self._head.refused = True
            else:
                why = error.__context__ or error  # what a callback here has raised
                self._finish(CutError(f"not a valid HTTP answer: {why}"))

    def _feed_mended(self) -> bool:
        """Once more, when the head has come whole, without what the parser tripped over; what is kept is what came.
        False: it has not."""
        received = self._head.received
        end = end_of(received, self._head.searched)
        if not end:
            self._head.searched = max(0, len(received) - 3)
            return False
        self._head.refused, self._head.mended = False, True
        self._answer = Answer()
        self._parser = self._new_parser()
        self._feed(self._parser, mended(received[:end]) + received[end:])
        return True

    def connection_lost(self, error: Exception | None) -> None:
        self._keep_alive = False
        if self._head.complete and not self._framed and error is None:
            self._finish()
        else:
            told = f": {error}" if error else ""
            self._finish(CutError(f"the connection ended before the answer did{told}"), "disconnect")
        if self.on_close is not None:
            self.on_close(self)

    @property
    def _framed(self) -> bool:
        """Whether the answer says where it ends (else the end of the connection is its end: RFC 9112 6.3)."""
        if codings := _transfer_codings(self._answer):
            return codings[-1] == b"chunked"
        return any(name.lower() == b"content-length" for name, _ in self._answer.headers)

    # httptools callbacks

    def on_message_begin(self) -> None:
        assert self._done is not None
        if self._done.done():
            raise CutError("another answer behind the one that was asked for")  # to the parser, which gives up

    def on_status(self, status: bytes) -> None:
        self._answer.reason += status.decode("latin-1")  # it comes in as many pieces as it was sent in

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._head.complete:  # trailers say nothing of the answer (RFC 9110 6.5.1)
            self._answer.headers.append((name.strip(), value.strip()))

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        end = end_of(self._head.received)
        head = bytes(self._head.received[:end])
        if not self._head.mended and (not end or is_misread(head)):
            raise CutError("its parser reads another head")  # to the parser, which gives up
        status = self._parser.get_status_code()
        if status == 101:
            raise CutError("the server switched protocols unasked")  # as above
        if 100 <= status < 200:
            return
        self._answer.status = status
        self._answer.version = self._parser.get_http_version()
        self._answer.head = head
        if end > self._limits.max_head_bytes:
            self._finish(CutError(f"more than {self._limits.max_head_bytes} bytes of headers"))
        self._head.received, self._head.complete = bytearray(), True
        if self._heads_only:
            self._finish()

    def on_body(self, chunk: bytes) -> None:
        room = self._limits.max_body_bytes - len(self._answer.body)
        if len(chunk) > room:
            self._answer.body += chunk[:room]
            self._answer.truncated = "length"
            self._finish()
        else:
            self._answer.body += chunk

    def on_message_complete(self) -> None:
        assert self._parser is not None
        if not self._head.complete:  # an interim answer: the real one follows
            self._interim_answers += 1
            if self._interim_answers > _MOST_INTERIM:
                self._finish(CutError(f"more than {_MOST_INTERIM} interim answers"))
                return
            self._head = _Head(self._head.received[end_of(self._head.received) :].lstrip(_BEFORE_A_HEAD))
            self._answer = Answer()
            return
        self._keep_alive = self._parser.should_keep_alive() and not self._head.mended
        self._finish()


def suite_name(cipher: str) -> str:
    """IANA's name of a cipher suite by OpenSSL's, which is another below TLS 1.3; "": none that we know."""
    if cipher.startswith("TLS_"):
        return cipher
    match = _SUITE.fullmatch(cipher)
    if match is None:
        return ""
    keys, bits, mode, check = match.groups()
    keys = (keys or "RSA").replace("-", "_")
    if not bits:
        return f"TLS_{keys}_WITH_CHACHA20_POLY1305_SHA256"
    return f"TLS_{keys}_WITH_AES_{bits}_{'GCM' if mode else 'CBC'}_{check}"


def _transfer_codings(answer: Answer) -> list[bytes]:
    """In the order in which they were put on; an answer whose last is not "chunked" ends with its connection."""
    said = b",".join(value for name, value in answer.headers if name.lower() == b"transfer-encoding").lower()
    return [coding for coding in map(bytes.strip, said.split(b",")) if coding]


def _unpack(answer: Answer, most_bytes: int) -> CutError | None:
    """Take off what the body was packed with for the way (RFC 9112 7.2), to `most_bytes`; what is wrong with it."""
    codings = _transfer_codings(answer)
    said = b", ".join(codings)
    while codings[-1:] == [b"chunked"]:  # some say it twice
        codings.pop()
    if not codings:
        return None
    if codings not in ([b"gzip"], [b"x-gzip"], [b"deflate"]):
        return CutError(f"transfer-coding {said!r}")
    state = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        answer.body = bytearray(state.decompress(answer.body, most_bytes))
    except zlib.error as error:
        return CutError(f"transfer-coding {said!r}: {error}")
    if len(answer.body) == most_bytes and not state.eof:
        answer.truncated = "length"
    return None if state.eof or answer.truncated else CutError(f"transfer-coding {said!r} without an end")


async def connect(
    address: str, port: int, server_name: str | None, tls: ssl.SSLContext | None, limits: FetchLimits
) -> HttpConnection:
    """Open a connection to `address`; with `tls`, `server_name` is verified and sent as SNI.

    :class:`ConnectError`, :class:`TlsError`, :class:`FetchTimeoutError`.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(limits.connect_timeout_s):
            _, connection = await loop.create_connection(
                lambda: HttpConnection(limits), address, port, ssl=tls, server_hostname=server_name if tls else None
            )
    except ssl.SSLError as error:
        raise TlsError(f"TLS with {server_name} ({address}): {error.reason or error}") from None
    except TimeoutError:
        raise ConnectError(f"no connection to {address}:{port} within {limits.connect_timeout_s:g} s") from None
    except OSError as error:
        raise ConnectError(f"no connection to {address}:{port}: {error.strerror or error}") from None
    return connection
