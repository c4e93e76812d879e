"""What a request gets: status, headers, body and the manner of delivery, from the resource and how often it was asked.

Deterministic: the only state is the count of earlier requests for the few resources that fail at first (kept by the
server) and, for feeds, the web's clock.
"""

from __future__ import annotations

import gzip
import zlib

import brotli

from tests.web import mischief, robots
from tests.web.answer import HTML, Answer, Asked, error, http_date, redirect
from tests.web.feeds import Feeds, sitemap
from tests.web.graph import Graph, Traits
from tests.web.hashing import draw
from tests.web.pages import Pages
from tests.web.paths import Paths, Resource
from tests.web.sites import Site, short_code
from tests.web.spec import WebSpec

KEPT_BYTES = 48 * 2**20
_PDF = "application/pdf"


class Answers:
    """Answers of all hosts."""

    def __init__(self, spec: WebSpec, paths: Paths, graph: Graph, pages: Pages) -> None:
        self.spec = spec
        self.paths = paths
        self.graph = graph
        self.pages = pages
        self._bodies: dict[tuple[int, int], bytes] = {}
        self._kept_bytes = 0
        self.feeds = Feeds(spec, paths)
        pages.feeds = self.feeds.named()

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
            case "bad":
                return mischief.bad(resource, self.page_body(site, resource.n % site.pages))
            case "trap":
                return mischief.trap(site, resource, self.spec.seed)
            case "feed":
                return self.feeds.answer(site, resource, asked)
            case "item":
                return self.feeds.item(site, resource, asked)
            case "sitemap":
                return sitemap(self.feeds, site, resource.how, asked)
            case _:
                return error(404)

    def page_body(self, site: Site, i: int) -> bytes:
        """Bytes of plain page `i` before any content coding; kept for the next time, 48 MiB in all."""
        body = self._bodies.get((site.index, i))
        if body is None:
            body = self._draw_body(site, i)
            self._kept_bytes += len(body)
            if self._kept_bytes > KEPT_BYTES:
                self._bodies, self._kept_bytes = {}, len(body)
            self._bodies[site.index, i] = body
        return body

    def _draw_body(self, site: Site, i: int) -> bytes:
        if self.graph.traits(site, i).pdf:
            return self.pages.pdf(site, i)
        html = self.pages.html(site, i)
        charset = self.graph.traits(site, i).charset
        if charset == "utf-16":
            return html.decode().encode("utf-16")
        if charset in ("windows-1252", "latin-1-as-utf-8"):
            return html.decode().encode("windows-1252", "xmlcharrefreplace")
        return html

    def page_etag(self, site: Site, i: int) -> tuple[str, str]:
        """(ETag, Last-Modified) of plain page `i`."""
        stamp = draw(self.spec.seed, "modified", site.index, i)
        return f'"{stamp:08x}"', http_date(1_500_000_000 + stamp % 1009 * 250_007)

    def _page(self, site: Site, i: int, asked: Asked) -> Answer:
        traits = self.graph.traits(site, i)
        if asked.times < traits.failures:
            failed = self._flaky(site, i, traits)
            if failed is not None:
                return failed
        headers = [("Content-Type", _PDF if traits.pdf else _content_type(traits.charset))]
        language = self.graph.language(site, i)
        if i % 4 == 1:
            headers.append(("Content-Language", short_code(language)))
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
            return Answer(200, self.page_body(site, i)[:3000], (("Content-Type", _PDF if traits.pdf else HTML),), "cut")
        if how == "reset":
            return Answer(200, delivery="reset")
        wait = self.spec.retry_after_s if form else 0
        return error(int(how))._replace(retry_after_s=wait, retry_as_date=form == "date")

    def _robots(self, site: Site, asked: Asked) -> Answer:
        kind = site.robots
        if kind == "flaky503" and asked.times < self.spec.robots_failures:
            return error(503)._replace(retry_after_s=self.spec.retry_after_s)
        if kind in ("cut", "hang"):
            return Answer(200, b"User-agent: *\nDisallow:\n", (("Content-Type", "text/plain"),), kind)
        if kind == "redirect_loop":
            return redirect("/robots.txt", 301)
        if kind in robots.HOPS:
            there, path = robots.chain(self.spec, self.paths.sites, site)[1]
            return redirect(path if there.index == site.index else there.authority + path, 301)
        return self._rules(site)

    def _rules(self, site: Site) -> Answer:
        status = robots.status_of(site.robots)
        if status != 200:
            return error(status)
        kind = "text/html" if site.robots == "html" else "text/plain"
        slow = 2 * self.spec.slow_s if site.robots == "slow" else 0.0
        return Answer(200, robots.body(self.spec, site), (("Content-Type", kind),), delay_s=slow)

    def _go(self, site: Site, resource: Resource) -> Answer:
        how, n = resource.how, resource.n
        if how.startswith("robots"):
            other = self.paths.sites[int(how[6:]) % len(self.paths.sites)]
            return self._rules(other) if n == 0 else redirect(f"/go/{how}/{n - 1}", 301)
        there = Resource(site.index, "page", n % site.pages)
        if how == "meta":
            refresh = f'<meta http-equiv="refresh" content="0; url={self.paths.path(there)}">'
            text = f"<html><head>{refresh}</head><body></body></html>"
            return Answer(200, text.encode(), (("Content-Type", HTML),))
        location = redirect_to(self.paths, site, resource)
        return redirect(location, int(how) if how.isdigit() else 302)

    def _dead(self, resource: Resource) -> Answer:
        status = int(resource.how)
        answer = error(status)
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
