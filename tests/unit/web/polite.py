"""A small polite crawler, one thread a host, by which web and verifier are tried together.

It knows nothing of the web but its seeds: links by lxml, robots.txt by protego, canonical URLs by an own few lines.
"""

from __future__ import annotations

import contextlib
import http.client
import queue
import threading
import time
import zlib
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit

import brotli
import lxml.html
from lxml.etree import ParserError
from protego import Protego

AGENT = "Ulwembu/0 (+https://example.org/crawler)"
_OWN = ("/trap", "/calendar", "/visit", "/deeper", "/shop", "/lost", "/bad/", "/feed", "/item")


def canonical(url: str) -> str:
    """One spelling a page."""
    parts = urlsplit(url)
    pairs = [p for p in parse_qsl(parts.query) if not p[0].startswith(("utm_", "PHPSESSID"))]
    query = "?" + urlencode(sorted(pairs)) if pairs else ""
    path = urlsplit(urljoin("http://h/", parts.path)).path
    return f"{parts.scheme}://{parts.netloc.lower()}{unquote(path)}{query}"


@dataclass
class Host:
    """What is known of one host."""

    todo: list[str] = field(default_factory=list)
    robots: Protego | None = None
    closed: bool = False
    free_at: float = 0.0
    tries: dict[str, int] = field(default_factory=dict)


class Polite:
    """Fetches everything reachable from `seeds`, but what looks like a trap by its path."""

    def __init__(self, seeds: tuple[str, ...], delay_s: float, timeout_s: float = 1.0) -> None:
        self.seeds = seeds
        self.delay_s = delay_s
        self.timeout_s = timeout_s
        self.hosts: dict[str, Host] = {}
        self.seen: set[str] = set()
        self.lock = threading.Lock()
        self.bodies: dict[str, bytes] = {}

    def run(self, threads: int = 16) -> None:
        """Crawl until nothing is left."""
        for url in self.seeds:
            self.add(url)
        work: queue.Queue[str] = queue.Queue()
        busy: set[str] = set()
        workers = [threading.Thread(target=self._work, args=(work, busy), daemon=True) for _ in range(threads)]
        for worker in workers:
            worker.start()
        while True:
            with self.lock:
                waiting = [name for name, host in self.hosts.items() if host.todo and not host.closed]
                due = [name for name in waiting if name not in busy and self.hosts[name].free_at <= time.monotonic()]
                busy.update(due)
                if not waiting and not busy:
                    break
            for name in due:
                work.put(name)
            time.sleep(0.002)
        for _ in workers:
            work.put("")
        for worker in workers:
            worker.join(120)

    def add(self, url: str) -> None:
        """Take a link."""
        if urlsplit(url).hostname is None or not url.lower().startswith("http://127.7"):
            return
        if urlsplit(url).path.startswith(_OWN):
            return
        key = canonical(url)
        with self.lock:
            if key not in self.seen:
                self.seen.add(key)
                self.hosts.setdefault(urlsplit(url).netloc, Host()).todo.append(url.partition("#")[0])

    def _work(self, work: queue.Queue[str], busy: set[str]) -> None:
        while name := work.get():
            host = self.hosts[name]
            try:
                self._step(name, host)
            finally:
                with self.lock:
                    busy.discard(name)

    def _step(self, name: str, host: Host) -> None:
        if host.robots is None:
            self._ask_robots(name, host)
            return
        with self.lock:
            url = host.todo.pop(0)
        if not host.robots.can_fetch(url, AGENT):
            return
        status, headers, body = self._fetch(url, host)
        if status in (429, 500, 503) or status == 0:
            host.tries[url] = host.tries.get(url, 0) + 1
            if host.tries[url] < 4:
                with self.lock:
                    host.todo.append(url)
            return
        if status in (301, 302, 303, 307, 308):
            with contextlib.suppress(ValueError):
                self.add(urljoin(url, headers.get("location", "")))
        elif status == 200:
            self._read(url, headers, body)

    def _read(self, url: str, headers: dict[str, str], body: bytes) -> None:
        try:
            page = lxml.html.document_fromstring(body.decode("utf-16") if body[:2] == b"\xff\xfe" else body)
        except (ParserError, ValueError):
            return
        said = " ".join([headers.get("x-robots-tag", ""), *_all(page, "//meta[@name='robots']/@content")])
        for content in _all(page, "//meta[@http-equiv='refresh']/@content"):
            self.add(urljoin(url, content.partition("url=")[2]))
        if "nofollow" in said or "none" in said:
            return
        for link in _all(page, "//a[@href][not(@rel='nofollow')]/@href"):
            with contextlib.suppress(ValueError):
                self.add(urljoin(url, link))

    def _ask_robots(self, name: str, host: Host) -> None:
        url, hops = f"http://{name}/robots.txt", 0
        owner = host
        while True:
            status, headers, body = self._fetch(url, owner)
            if status not in (301, 302) or hops == 5:
                break
            url, hops = urljoin(url, headers["location"]), hops + 1
            with self.lock:
                owner = self.hosts.setdefault(urlsplit(url).netloc, Host())
            if owner is not host:
                return self._borrow(url, host)
            time.sleep(max(0.0, owner.free_at - time.monotonic()))
        self._settle(host, status, body)
        return None

    def _borrow(self, url: str, host: Host) -> None:
        """robots.txt on another host: that host's own turn must be awaited."""
        other = self.hosts[urlsplit(url).netloc]
        with self.lock:
            other.todo.insert(0, url)
        host.free_at = time.monotonic() + 0.5
        found = self.bodies.get(url)
        if found is not None:
            self._settle(host, 200, found)

    def _settle(self, host: Host, status: int, body: bytes) -> None:
        if status == 0 or status >= 500:
            host.tries["robots"] = host.tries.get("robots", 0) + 1
            host.closed = host.tries["robots"] >= 4
            return
        text = body[: 500 * 1024].decode("utf-8-sig", "replace") if status == 200 else ""
        host.robots = Protego.parse(text)

    def _fetch(self, url: str, host: Host) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(url)
        target = parts.path + ("?" + parts.query if parts.query or url.endswith("?") else "")
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=self.timeout_s)
        status, headers, body = 0, {}, b""
        try:
            connection.request("GET", target, headers={"User-Agent": AGENT, "Accept-Encoding": "gzip, deflate, br"})
            answer = connection.getresponse()
            body = answer.read()
            status, headers = answer.status, {k.lower(): v for k, v in answer.getheaders()}
            body = _decode(body, headers.get("content-encoding", ""))
        except (OSError, http.client.HTTPException, zlib.error):
            status = 0
        finally:
            connection.close()
        rest = self.delay_s
        if host.robots is not None:
            rest = max(rest, float(host.robots.crawl_delay(AGENT) or 0))
        elif b"elay" in body and url.endswith("robots.txt"):
            rest = max(rest, 1.0)
        wait = headers.get("retry-after", "")
        if wait:
            rest = max(rest, float(wait) if wait.isdigit() else _until(wait))
        host.free_at = time.monotonic() + rest + 0.002
        self.bodies[url] = body
        return status, headers, body


def _all(page: lxml.html.HtmlElement, path: str) -> list[str]:
    found = page.xpath(path)
    return [str(one) for one in found] if isinstance(found, list) else []


def _until(wait: str) -> float:
    return parsedate_to_datetime(wait).timestamp() - time.time()


def _decode(body: bytes, coding: str) -> bytes:
    match coding:
        case "gzip":
            return zlib.decompress(body, 31)
        case "deflate":
            return zlib.decompress(body)
        case "br":
            return bytes(brotli.decompress(body))
        case _:
            return body
