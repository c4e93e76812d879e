"""What a request gets: status, headers, body and the manner of delivery, from the resource and how often it was asked.

Deterministic: the only state is the count of earlier requests for the few resources that fail at first (kept by the
server) and, for feeds, the web's clock.
"""

from __future__ import annotations

import gzip
import zlib
from email.utils import formatdate
from typing import NamedTuple

import brotli

from tests.web import robots
from tests.web.graph import Graph, Traits
from tests.web.hashing import draw
from tests.web.pages import Pages
from tests.web.paths import Paths, Resource
from tests.web.sites import SHORT_CODES, Site
from tests.web.spec import WebSpec

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
    """What an answer may depend on. `times`: earlier requests for the same resource; `now_s`: web clock."""

    times: int = 0
    encodings: str = ""
    etag: str = ""
    since: str = ""
    now_s: float = 0.0


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
    lines.append(f"Date: {formatdate(now_epoch_s, usegmt=True)}")
    lines.append("Server: ulwembu-web")
    if close:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Answers:
    """Answers of all hosts."""

    def __init__(self, spec: WebSpec, paths: Paths, graph: Graph, pages: Pages) -> None:
        self.spec = spec
        self.paths = paths
        self.graph = graph
        self.pages = pages

    def counted(self, site: Site, resource: Resource) -> bool:
        """Does the answer depend on how often the resource was asked for?"""
        if resource.kind == "page":
            return bool(self.graph.traits(site, resource.n).flaky)
        return resource.kind == "robots" and site.robots == "flaky503"

    def answer(self, site: Site, resource: Resource, asked: Asked) -> Answer:
        """The answer to a request for `resource` of `site`."""
        match resource.kind:
            case "page":
                return self._page(site, resource.n, asked)
            case "robots":
                return self._robots(site, asked)
            case "go":
                return self._go(site, resource)
            case "dead":
                return self._dead(resource)
            case _:
                return _error(404)

    def page_body(self, site: Site, i: int) -> bytes:
        """Bytes of plain page `i` before any content coding."""
        html = self.pages.html(site, i)
        charset = self.graph.traits(site, i).charset
        if charset == "utf-16":
            return html.encode("utf-16")
        if charset in ("windows-1252", "latin-1-as-utf-8"):
            return html.encode("windows-1252", "xmlcharrefreplace")
        return html.encode()

    def page_etag(self, site: Site, i: int) -> tuple[str, str]:
        """(ETag, Last-Modified) of plain page `i`."""
        stamp = draw(self.spec.seed, "modified", site.index, i)
        return f'"{stamp:08x}"', formatdate(1_500_000_000 + stamp % 250_000_000, usegmt=True)

    def _page(self, site: Site, i: int, asked: Asked) -> Answer:
        traits = self.graph.traits(site, i)
        if asked.times < traits.failures:
            failed = self._flaky(site, i, traits)
            if failed is not None:
                return failed
        headers = [("Content-Type", _content_type(traits.charset))]
        language = self.graph.language(site, i)
        if i % 4 == 1:
            headers.append(("Content-Language", SHORT_CODES.get(language, language)))
        where, _, what = traits.robots.partition(" ")
        if where == "header":
            headers.append(("X-Robots-Tag", what))
        if traits.etag:
            etag, modified = self.page_etag(site, i)
            if asked.etag == etag or (not asked.etag and asked.since == modified):
                return Answer(304, headers=(("ETag", etag),))
            headers += [("ETag", etag), ("Last-Modified", modified)]
        body = self.page_body(site, i)
        delivery = "chunked" if traits.encoding.startswith("chunked") else "plain"
        coding = {"chunked-gzip": "gzip", "chunked": ""}.get(traits.encoding, traits.encoding)
        if coding and coding in asked.encodings:
            body = _code(body, coding)
            headers += [("Content-Encoding", coding), ("Vary", "Accept-Encoding")]
        return Answer(200, body, tuple(headers), delivery, self.spec.slow_s if traits.slow else 0.0)

    def _flaky(self, site: Site, i: int, traits: Traits) -> Answer | None:
        how, _, form = traits.flaky.partition("-")
        if how == "cut":
            return Answer(200, self.page_body(site, i)[:3000], (("Content-Type", HTML),), "cut")
        if how == "reset":
            return Answer(200, delivery="reset")
        wait = self.spec.retry_after_s if form else 0
        return _error(int(how))._replace(retry_after_s=wait, retry_as_date=form == "date")

    def _robots(self, site: Site, asked: Asked) -> Answer:
        kind = site.robots
        if kind == "flaky503" and asked.times < self.spec.robots_failures:
            return _error(503)._replace(retry_after_s=self.spec.retry_after_s)
        if kind in ("cut", "hang"):
            return Answer(200, b"User-agent: *\nDisallow:\n", (("Content-Type", "text/plain"),), kind)
        if kind == "redirect_loop":
            return _redirect("/robots.txt", 301)
        if kind in robots.HOPS:
            there, path = robots.chain(self.spec, self.paths.sites, site)[1]
            return _redirect(path if there.index == site.index else there.authority + path, 301)
        return self._rules(site)

    def _rules(self, site: Site) -> Answer:
        status = robots.status_of(site.robots)
        if status != 200:
            return _error(status)
        kind = "text/html" if site.robots == "html" else "text/plain"
        slow = 2 * self.spec.slow_s if site.robots == "slow" else 0.0
        return Answer(200, robots.body(self.spec, site), (("Content-Type", kind),), delay_s=slow)

    def _go(self, site: Site, resource: Resource) -> Answer:
        how, n = resource.how, resource.n
        if how.startswith("robots"):
            other = self.paths.sites[int(how[6:]) % len(self.paths.sites)]
            return self._rules(other) if n == 0 else _redirect(f"/go/{how}/{n - 1}", 301)
        there = Resource(site.index, "page", n % site.pages)
        if how == "meta":
            refresh = f'<meta http-equiv="refresh" content="0; url={self.paths.path(there)}">'
            text = f"<html><head>{refresh}</head><body></body></html>"
            return Answer(200, text.encode(), (("Content-Type", HTML),))
        location = redirect_to(self.paths, site, resource)
        return _redirect(location, int(how) if how.isdigit() else 302)

    def _dead(self, resource: Resource) -> Answer:
        status = int(resource.how)
        answer = _error(status)
        return answer._replace(retry_after_s=self.spec.retry_after_s) if status in (429, 503) else answer


def redirect_to(paths: Paths, site: Site, resource: Resource) -> str:
    """Location of a redirect, as sent."""
    how, n = resource.how, resource.n
    page = Resource(site.index, "page", n % site.pages)
    if how.startswith("chain"):
        left = int(how[5:]) - 1
        return paths.path(page) if left <= 0 else f"/go/chain{left}/{n}"
    match how:
        case "relative":
            return "../.." + paths.path(page)
        case "far":
            return paths.url(far_page(paths, site, n))
        case "loop":
            return f"/go/loop2/{n}"
        case "loop2":
            return f"/go/loop/{n}"
        case "self":
            return f"/go/self/{n}"
        case "lan":
            return "http://10.0.0.1/admin"
        case "metadata":
            return "http://169.254.169.254/latest/meta-data/"
        case "file":
            return "file:///etc/passwd"
        case "nowhere":
            return "http://"
        case _:
            return paths.url(page)


def far_page(paths: Paths, site: Site, n: int) -> Resource:
    """The page on another host to which `/go/far/n` leads."""
    other = paths.sites[(site.index + 1 + n) % len(paths.sites)]
    return Resource(other.index, "page", n % min(other.pages, 40))


def _redirect(location: str, status: int) -> Answer:
    body = f'<html><body><a href="{location}">moved</a></body></html>'.encode()
    return Answer(status, body, (("Content-Type", HTML), ("Location", location)))


def _error(status: int) -> Answer:
    body = f"<html><head><title>{status}</title></head><body><h1>{_REASONS.get(status, 'Error')}</h1></body></html>"
    return Answer(status, body.encode(), (("Content-Type", HTML),))


def _content_type(charset: str) -> str:
    named = {
        "": "utf-8", "windows-1252": "windows-1252", "utf-16": "utf-16", "latin-1-as-utf-8": "utf-8", "missing": "",
        "utf-8-as-latin-1": "", "header-only": "UTF-8",
    }[charset]  # fmt: skip
    return f"text/html; charset={named}" if named else "text/html"


def _code(body: bytes, coding: str) -> bytes:
    if coding == "gzip":
        return gzip.compress(body, 1, mtime=0)
    if coding == "deflate":
        return zlib.compress(body, 1)
    return bytes(brotli.compress(body, quality=1))
