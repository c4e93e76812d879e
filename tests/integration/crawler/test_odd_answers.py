"""Answers that no web server's manual has: each page behind them is fetched once, and none is lost."""

from __future__ import annotations

import gzip
import socketserver
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive import Reader
from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import serving

ADDRESS = "127.71.0.2"


def page(name: str, *links: str) -> bytes:
    found = "".join(f'<li><a href="{link}">{name}</a></li>' for link in links)
    text = f"<p>Izindaba zanamuhla ngesiZulu ezivela e{name}, zilotshwe ngumlobi wethu ekuseni.</p>"
    return f"<!DOCTYPE html><html lang=zu><title>{name}</title><body>{text}<ul>{found}</ul></body></html>".encode()


HTML = "text/html; charset=utf-8"


def answer(body: bytes, *headers: str, status: str = "200 OK", length: bool = True, told: str = HTML) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {told}", *headers]
    lines += [f"Content-Length: {len(body)}"] * length
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def sent_to(location: str, body: bytes = b"") -> bytes:
    return answer(body, f"Location: {location}", status="301 Moved Permanently")


CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(page("chunks")), page("chunks"))
PACKED = gzip.compress(page("packed", "/behind-packed"))
WAY = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PACKED), PACKED)
# What is found on the first page, and what the server says to each path.
SEEDS = {
    "/track?utm_source=feed": sent_to("/track"),
    "/order?b=1&a=2": sent_to("/order?a=2&b=1"),
    "/left?b=1&private": sent_to("/left?private&b=1"),
    "/turns?utm_source=0": sent_to("/turns?utm_source=1"),
    "/accent": sent_to("/ifölda"),
    "/backslash": sent_to("\\slashed"),
    "/based": sent_to("relative", b'<base href="http://127.71.0.9/">'),
    "/unclosed": sent_to("http://[::1/x"),
    "/chunks": answer(CHUNKED, "Transfer-Encoding: chunked"),
    "/not-packed": answer(page("plain", "/behind-plain"), "Content-Encoding: gzip"),
    "/not-packed-404": answer(page("missing"), "Content-Encoding: gzip", status="404 Not Found"),
    "/not-brotli": answer(page("brotli"), "Content-Encoding: br"),
    "/packed-for-the-way": answer(WAY, "Transfer-Encoding: gzip, chunked", length=False),
    "/packed-until-closed": answer(PACKED, "Transfer-Encoding: gzip", length=False),
    "/part": answer(page("part", "/behind-a-part"), status="206 Partial Content"),
    "/two-types": answer(page("two types", "/behind-two-types"), told=f"text/html, {HTML}"),
    "/no-type": answer(page("no type", "/behind-no-type"), told="text/html charset=utf-8"),
    "/any-type": answer(page("any type", "/behind-any-type"), "Content-Type: */*"),
    "/refreshed": answer(page("refreshed"), "Refresh: 0; url='/behind-refréshed'"),
    "/half-packed": answer(PACKED[:-8] + bytes(8), "Content-Encoding: gzip"),
}
TURNS = {f"/turns?utm_source={n}": sent_to(f"/turns?utm_source={n + 1}") for n in range(1, 40)}
BEHIND = {"/track", "/order?a=2&b=1", "/if%C3%B6lda", "/slashed", "/relative", "/behind-plain", "/behind-packed"}
BEHIND |= {"/behind-two-types", "/behind-no-type", "/behind-any-type", "/behind-refr%C3%A9shed"}


class Web(socketserver.ThreadingTCPServer):
    """Says what SEEDS has, and a page for all else; `asked` counts requests by path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((ADDRESS, 0), Handler)
        self.asked = Counter[str]()


class Handler(socketserver.StreamRequestHandler):
    """One request a connection."""

    server: Web

    def handle(self) -> None:
        path = self.rfile.readline().decode().split()[1]
        while self.rfile.readline().strip():
            pass
        self.server.asked[path] += 1
        links = [link.replace("&", "&amp;") for link in SEEDS]
        known = {"/": answer(page("first", *links)), "/robots.txt": answer(b"", status="404 Not Found")}
        self.wfile.write((known | SEEDS | TURNS).get(path) or answer(page(path.strip("/"))))


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as server, serving(server):
        yield server


def test_each_page_behind_an_odd_answer_is_fetched_once(web: Web, tmp_path: Path) -> None:
    home = f"http://{ADDRESS}:{web.server_address[1]}"
    seeds = tmp_path / "odd.toml"
    seeds.write_text(
        '[crawl]\nname = "odd"\nlanguage = "zul"\ncontact = "me@a.test"\n'
        f'[[site]]\nurl = "{home}/"\nscope = "open"\n[relevance]\npolicy = "all"\n'
    )
    opt_outs = tmp_path / "opt-outs.txt"
    opt_outs.write_text(f"{home}/left?private\n")
    settings = QUICK | {"FRONTIER_OPT_OUT_FILE": str(opt_outs)}
    settings |= {"FETCH_ALLOWED_NETWORKS": "127.71.0.2/32", "FRONTIER_RETRY_FACTOR": "0.001"}
    done = run("crawl", "odd", "-a", f"seeds={seeds}", **settings, DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    turns = {path for path in web.asked if path.startswith("/turns")}
    assert 3 < len(turns) < 10, "a server that sends on and on is left"
    assert set(web.asked) == {"/", "/robots.txt", *SEEDS, *turns, *BEHIND}
    assert set(web.asked.values()) == {1}
    archived = Counter[str]()
    for path in (tmp_path / "data" / "warc").glob("*.warc.xz"):
        with Reader(path) as reader:
            archived.update(record.url.removeprefix(home) for record in reader if record.type == "response")
    assert archived == web.asked
