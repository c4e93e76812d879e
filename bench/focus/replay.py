"""A web for the focus bench out of WARC files: what was stored, and the links between it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from fastwarc.warc import ArchiveIterator, WarcRecordType

from bench.focus.webs import Node, Web
from relevance.identification import Identifier
from relevance.measure import measure
from relevance.model import shipped
from relevance.page import Page, read_page
from relevance.plain_policies import ThresholdPolicy
from relevance.policy import PageContext, Target


def read_web(paths: Sequence[Path], language: str, seeds: Sequence[str]) -> Web:
    """The HTML pages of the files, relevant by the threshold policy; seeds are URLs among them."""
    identifier, policy = Identifier(shipped()), ThresholdPolicy(Target(language), {})
    pages: dict[str, Page] = {}
    nodes: list[Node] = []
    for path in paths:
        with path.open("rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
                kind = record.http_content_type or ""
                url = urldefrag(str(record.headers.get("WARC-Target-URI", ""))).url
                if "html" not in kind or record.http_headers.status_code != 200 or url in pages:
                    continue
                body = record.reader.read()
                page = pages[url] = read_page(body, url, record.http_headers.get("Content-Type"))
                found = measure(page, language, identifier)
                keep = policy.decide(page, found, PageContext()).keep
                nodes.append(Node(url, keep, found.words, found.total, len(body), page.html_lang))
    places = {url: place for place, url in enumerate(pages)}
    for node, page in zip(nodes, pages.values(), strict=True):
        base = urljoin(node.url, page.base or "")
        for link in page.links:
            try:
                target = urldefrag(urljoin(base, link.href)).url
            except ValueError:
                continue
            if target in places and target != node.url:
                node.links.append((places[target], link.text, link.context == "nav", link.hreflang))
    starts = [places[url] for url in seeds if url in places] or [0]
    return Web("replay", nodes, starts)
