"""Pages of the synthetic web, fetched by hand over loopback: what is replayed is what went over the wire."""

from __future__ import annotations

import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from archive import Exchange, Reader, WarcWriter, WriterConfig
from archive.messages.http import dechunk
from archive.tools.verify import verify
from tests.web import Web, WebSpec, calm, serve
from tests.web.paths import Resource
from tests.web.verify import Findings
from tests.web.warcs import check_archive


def fetch(web: Web, resource: Resource) -> tuple[Exchange, bytes]:
    """An exchange as a fetcher fills it in, and the raw answer."""
    site = web.sites[resource.site]
    url = web.paths.url(resource)
    path = "/" + url.split("/", 3)[3]
    request = f"GET {path} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
    started = datetime.now(UTC)
    with socket.create_connection((site.address, site.port), timeout=60) as connection:
        connection.sendall(request.encode())
        raw = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = raw.partition(b"\r\n\r\n")
    head += b"\r\n\r\n"
    payload = dechunk(body) if b"transfer-encoding: chunked" in head.lower() else body
    return Exchange(url, site.address, started, request.encode(), head, payload, "http/1.1"), raw


@pytest.mark.parametrize("kind", ["xz", "gz", "zst"])
def test_replay_is_what_was_served(tmp_path: Path, kind: str) -> None:
    with serve(calm(WebSpec(seed=3, hosts=4, pages=60)), tmp_path / "web") as running:
        fetched = {}
        config = WriterConfig(reserve_bytes=0, pack_bytes=100_000)
        with WarcWriter(tmp_path / "warc", "web", kind, config=config) as writer:
            for site in running.web.sites:
                for i in range(site.pages):
                    exchange, raw = fetch(running.web, Resource(site.index, "page", i))
                    fetched[exchange.url] = (exchange, raw)
                    writer.write(exchange, f"{site.index}/{i}")
                writer.sync()
                writer.settle([f"{site.index}/{i}" for i in range(site.pages)])
        findings = Findings()
        check_archive(tmp_path / "warc", findings, running.web)
        assert findings.archive == []
    (path,) = writer.finished
    assert [problem for problem in verify(path) if problem.level == "error"] == []
    count = 0
    for record in Reader(path, types=["response", "revisit"]):
        exchange, raw = fetched[record.url]
        count += 1
        if record.type == "response" and b"X-Crawler-" not in record.block():
            assert record.block() == raw
        elif record.type == "response":
            assert record.payload() == exchange.payload
            assert record.http is not None
            names = [(name.removeprefix("X-Crawler-"), value) for name, value in record.http.headers]
            lines = exchange.response_head.decode().split("\r\n")[1:-2]
            assert [f"{name}: {value}" for name, value in names[:-1]] == lines
    assert count == len(fetched) >= 60
    if kind == "zst":
        return  # `zstd -dc` wants the dictionary as a file; check_archive has read it all by warcio
    plain = tmp_path / "plain.warc"
    decoder = ["xz", "-dc"] if kind == "xz" else ["gzip", "-dc"]
    with plain.open("wb") as out:
        subprocess.run([*decoder, str(path)], stdout=out, check=True)
    check = [sys.executable, "-c", "from warcio.cli import main; main()", "check", str(plain)]
    assert subprocess.run(check, stdout=subprocess.PIPE, check=False).returncode == 0
