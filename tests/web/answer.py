"""An answer as a value, what it may depend on, and its head as sent."""

from __future__ import annotations

from email.utils import formatdate
from functools import lru_cache
from typing import NamedTuple

_REASONS = {
    200: "OK", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
    308: "Permanent Redirect", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 410: "Gone",
    429: "Too Many Requests", 451: "Unavailable For Legal Reasons", 500: "Internal Server Error",
    503: "Service Unavailable",
}  # fmt: skip
HTML = "text/html; charset=utf-8"


class Answer(NamedTuple):
    """`delivery`: plain | chunked | cut | hang | reset | silence | short | long | endless | drip | raw | large.

    `due_ms`: how long from now the host asks to be left alone (0: it does not).
    """

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    delivery: str = "plain"
    delay_s: float = 0.0
    retry_after_s: int = 0
    retry_as_date: bool = False


class Asked(NamedTuple):
    """What an answer may depend on. `times`: earlier requests for the same resource; `now_s`: web clock, whose zero was
    at `epoch_s`."""

    times: int = 0
    encodings: str = ""
    etag: str = ""
    since: str = ""
    now_s: float = 0.0
    epoch_s: float = 0.0


@lru_cache(maxsize=4096)
def http_date(epoch_s: int) -> str:
    """An instant as HTTP headers write it."""
    return formatdate(epoch_s, usegmt=True)


def head(answer: Answer, now_epoch_s: float, close: bool = False) -> bytes:
    """Status line and headers as sent, the empty line included."""
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    if answer.retry_after_s:
        wait = formatdate(-(-now_epoch_s // 1) + answer.retry_after_s, usegmt=True)
        lines.append(f"Retry-After: {wait if answer.retry_as_date else answer.retry_after_s}")
    if answer.delivery in ("chunked", "endless", "drip"):
        lines.append("Transfer-Encoding: chunked")
    else:
        more = {"short": 5000, "long": -200, "cut": 1000}.get(answer.delivery, 0)
        lines.append(f"Content-Length: {max(len(answer.body) + more, 0)}")
    lines.append(f"Date: {http_date(int(now_epoch_s))}")
    lines.append("Server: ulwembu-web")
    if close:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def redirect(location: str, status: int) -> Answer:
    """A redirect."""
    body = f'<html><body><a href="{location}">moved</a></body></html>'.encode()
    return Answer(status, body, (("Content-Type", HTML), ("Location", location)))


def error(status: int) -> Answer:
    """An error page."""
    body = f"<html><head><title>{status}</title></head><body><h1>{_REASONS.get(status, 'Error')}</h1></body></html>"
    return Answer(status, body.encode(), (("Content-Type", HTML),))
