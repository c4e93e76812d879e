"""Pages to archive in tests."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from archive import Exchange

START = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
REQUEST = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nX-a: 1\r\nx-A: 2\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def page(number: int, **changes: object) -> Exchange:
    """Page ``number`` of one of three hosts, with random words; ``changes`` replace fields."""
    rng = random.Random(number)
    words = " ".join(rng.choices(["umuntu", "ngumuntu", "ngabantu", "izulu", "imvula", "amanzi"], k=60))
    fields: dict[str, object] = {
        "url": f"http://host{number % 3}.example/page/{number}",
        "ip": "192.0.2.7",
        "started": START + timedelta(seconds=number),
        "request_bytes": REQUEST,
        "response_head": HEAD,
        "payload": f"<!DOCTYPE html><html><p>{number} {words}</p></html>".encode(),
        "protocol": "http/1.1 tls/1.3",
        "cipher": "TLS_AES_128_GCM_SHA256",
        "metadata": {"via": "http://host0.example/", "languages": "zul,eng", "yield": 0.5},
        "fetch_ms": 12,
    }
    return Exchange(**{**fields, **changes})  # type: ignore[arg-type]
