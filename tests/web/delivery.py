"""The slow and the broken ways to send an answer; sound ones are written by the connection itself at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.web.answer import Answer

if TYPE_CHECKING:
    from tests.web.server import Connection

_CHUNK = 8192
_ENDLESS = b"<p>" + b"ulwembu " * 8000 + b"</p>\n"


def needs_sender(answer: Answer) -> bool:
    """Is the answer more than one write of head and body?"""
    return answer.delivery != "plain" or answer.delay_s > 0


class Sender:
    """Sends one answer over time. Ends by `Connection.done` or with the connection."""

    def __init__(self, connection: Connection, answer: Answer, head: bytes, sent_bytes: int = 0) -> None:
        self._connection = connection
        self._answer = answer
        self._head = head
        self._timer: asyncio.TimerHandle | None = None
        self._flushing = bool(sent_bytes)  # the connection has written all; wait for the kernel to take it
        self._offset = 0
        self.sent_bytes = sent_bytes

    def begin(self) -> None:
        """Start, after the answer's delay."""
        if self._answer.delay_s:
            self._later(self._answer.delay_s, self._send)
        else:
            self._send()

    def cancel(self) -> None:
        """The connection is gone."""
        if self._timer:
            self._timer.cancel()

    def resume(self) -> None:
        """The kernel has taken everything."""
        if self._flushing:
            self._finish()
        elif self._answer.delivery == "endless":
            self._more()

    def _later(self, delay_s: float, step: Callable[[], object]) -> None:
        self._timer = asyncio.get_running_loop().call_later(delay_s, step)

    def _write(self, data: bytes) -> None:
        self.sent_bytes += len(data)
        self._connection.transport.write(data)

    def _send(self) -> None:
        answer, transport = self._answer, self._connection.transport
        match answer.delivery:
            case "hang":
                return
            case "silence":
                transport.close()
            case "reset":
                transport.abort()
            case "cut" | "short" | "long":
                self._write(self._head + answer.body)
                self._later(0.01, transport.close)
            case "raw":
                self._write(answer.body)
                self._later(0.01, transport.close)
            case "chunked":
                self._last(self._head + _chunks(answer.body))
            case "endless":
                self._write(self._head)
                self._more()
            case "drip":
                self._write(self._head)
                self._drip()
            case _:
                self._last(self._head + answer.body)

    def _last(self, data: bytes) -> None:
        """Write the end of a sound answer."""
        end_us = time.monotonic_ns() // 1000
        self._write(data)
        if self._connection.transport.get_write_buffer_size():
            self._flushing = True
        else:
            self._connection.done(end_us, self.sent_bytes, whole=True)

    def _finish(self) -> None:
        # The client may have read it all before this process heard that the kernel has taken it.
        self._connection.done(self._connection.server.looked_us, self.sent_bytes, whole=True)

    def _more(self) -> None:
        if self._connection.transport.is_closing():
            return
        self._write(_chunk(_ENDLESS))
        if not self._connection.transport.get_write_buffer_size():
            self._later(0.001, self._more)

    def _drip(self) -> None:
        piece = self._answer.body[self._offset : self._offset + 16]
        self._offset += 16
        if piece:
            self._write(_chunk(piece))
            self._later(0.5, self._drip)
        else:
            self._last(b"0\r\n\r\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _chunks(body: bytes) -> bytes:
    """Chunked coding with chunks of uneven sizes."""
    pieces, place, size = [], 0, 700
    while place < len(body):
        pieces.append(_chunk(body[place : place + size]))
        place, size = place + size, size * 3 % _CHUNK + 100
    return b"".join(pieces) + b"0\r\n\r\n"
