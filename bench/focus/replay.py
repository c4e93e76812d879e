"""A web for the focus bench out of WARC files: what was stored, and the links between it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urldefrag

from archive import Reader, Record
from bench.focus.webs import Node, Web
from relevance.language.identification import Identifier
from relevance.language.model import Model, shipped
from relevance.pages.measure import measure
from relevance.pages.page import Page, read_page
from relevance.steering.plain_policies import ThresholdPolicy
from relevance.steering.policy import PageContext, Target
from relevance.types import UNDETERMINED
from sieve.urls import resolve_many


class NothingToReplayError(ValueError):
    """The files hold no HTML page, or none at a URL asked for, or none could be told to be relevant."""


def read_web(paths: Sequence[Path], language: str, seeds: Sequence[str], model: Model | None = None) -> Web:
    """The HTML pages of the files (WARC or ARC, plain or compressed), relevant by the threshold policy; the first fetch
    of a URL counts, a link to a redirect leads to where it led. seeds are URLs among them; without any the first page
    is the seed. NothingToReplayError, OSError for a file that cannot be read."""
    model = model or shipped()
    target = _target(language, model)
    pages, nodes, moved = _stored(paths, target, model)
    places = {url: place for place, url in enumerate(pages)}
    places |= {url: places[target] for url, target in moved.items() if url not in places and target in places}
    for node, page in zip(nodes, pages.values(), strict=True):
        _link(node, page, places)
    unknown = [url for url in seeds if url not in places]
    if unknown or not nodes:
        raise NothingToReplayError(
            f"no stored page at {', '.join(unknown)}" if unknown else "no HTML page in these files"
        )
    return Web("replay", nodes, [places[url] for url in seeds] or [0], target, model)


def _target(language: str, model: Model) -> Target:
    if language == UNDETERMINED or language not in model.labels:
        raise NothingToReplayError(f"the model knows no {language!r}; one of your own: --model")
    siblings = {name for group in model.meta.get("siblings", ()) if language in group for name in group}
    return Target(language, sorted(siblings - {language}))


def _stored(paths: Sequence[Path], target: Target, model: Model) -> tuple[dict[str, Page], list[Node], dict[str, str]]:
    """The pages by URL, their nodes in the same order, and where redirects led."""
    identifier, policy = Identifier(model, wanted=target.language), ThresholdPolicy(target, {}, model)
    pages: dict[str, Page] = {}
    nodes: list[Node] = []
    moved: dict[str, str] = {}
    for url, record in _answers(paths):
        http = record.http
        assert http is not None
        location = http.headers.get("Location")
        if http.status // 100 == 3 and location:
            moved.setdefault(url, next(iter(_absolute([location], url)), "") or url)
        elif http.status == 200 and "html" in record.media_type and url not in pages:
            body = record.body()
            page = pages[url] = read_page(body, url, record.content_type)
            found = measure(page, target.language, identifier)
            keep = policy.decide(page, found, PageContext()).keep
            nodes.append(Node(url, keep, found.words, found.total, len(body), page.html_lang))
    return pages, nodes, moved


def _answers(paths: Sequence[Path]) -> Iterator[tuple[str, Record]]:
    for path in paths:
        with Reader(path) as reader:
            for record in reader:
                if record.type == "response" and record.http is not None:
                    yield urldefrag(record.url).url, record


def _link(node: Node, page: Page, places: dict[str, int]) -> None:
    """Gives a node its links to other stored pages."""
    base = next(iter(_absolute([page.base], node.url)), None) if page.base else None
    for link, url in zip(page.links, _absolute([link.href for link in page.links], base or node.url), strict=True):
        place = places.get(url or "")
        if place is not None and place != places[node.url]:
            node.links.append((place, link.text, link.context == "nav", link.hreflang))


def _absolute(hrefs: Sequence[str], base: str) -> list[str | None]:
    return [urldefrag(url).url if url else None for url in resolve_many(hrefs, base)]
