"""Looking at a seed file against the live web: `scrapy seeds check`, `discover` and `add` without their command line.

Everything is fetched through one injected function that is polite and obeys robots.txt (`seeds.survey.probe.Fetch`);
language is told by another. Nothing is written but by `add_to_file`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from seeds import feeds, sitemaps
from seeds.crawl import parse_crawl
from seeds.crawl.model import Crawl
from seeds.crawl.scope import seed_key
from seeds.errors import Problem, SeedError
from seeds.harvest.answers import Answer, read
from seeds.harvest.history import FeedHistory
from seeds.survey.lists import quoted
from seeds.survey.probe import Fetch, Fetched, reach
from sieve.urls import as_parsed

__all__ = ["Discovery", "Finding", "Language", "add_to_file", "check", "discover", "to_add"]

Language = Callable[[bytes, str, str], str]  # body, url, content type -> ISO 639-3 or "und"
_MOST_TRIES = 6
_BLOCKED = ("robots_denied", "robots_unreachable", "opted_out")


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one seed: `state` is alive, moved, blocked (robots, opt-out), dead or wrong (answers, but not
    as what it is listed as)."""

    url: str
    kind: str
    state: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a site offers: feeds with the number of their items, sitemaps (not asked for, where its robots.txt names
    them), and the language of the page looked at. `state` is alive, blocked or dead."""

    url: str
    state: str
    feeds: tuple[tuple[str, int], ...] = ()
    sitemaps: tuple[str, ...] = ()
    language: str = ""
    detail: str = ""


def check(crawl: Crawl, fetch: Fetch) -> Iterator[Finding]:
    """Each seed of the crawl in turn; for sites also the feeds they name that the crawl does not list."""
    listed = {seed_key(feed.url) for feed in crawl.feeds}
    for seed in crawl.seeds():
        answer = fetch(seed.url)
        if not answer.ok:
            yield Finding(seed.url, seed.kind, *_without(answer))
            continue
        wrong = _wrong(seed.kind, answer)
        if wrong:
            yield Finding(seed.url, seed.kind, "wrong", wrong)
        elif _moved(seed.url, answer.url):
            note = "" if crawl.in_scope(answer.url) or seed.kind != "page" else ", outside the crawl's scope"
            yield Finding(seed.url, seed.kind, "moved", f"to {answer.url}{note}")
        else:
            named = feeds.discover(answer.body, answer.url, answer.content_type) if seed.kind == "page" else []
            unlisted = [url for url in named if seed_key(url) not in listed]
            note = f"feeds not listed: {' '.join(unlisted[:3])}" if unlisted else ""
            yield Finding(seed.url, seed.kind, "alive", note)


def discover(url: str, fetch: Fetch, language: Language | None = None) -> Discovery:
    """The feeds of a site that answer, from one of its pages, and its sitemaps; `url` may lack its scheme."""
    url, page = reach(url, fetch)
    if not page.ok:
        state, detail = _without(page)
        return Discovery(url, state, detail=detail)
    named = feeds.discover(page.body, page.url, page.content_type)
    found = _reading(named[:_MOST_TRIES], fetch) or _reading(
        feeds.likely_feeds(page.body, page.url)[:_MOST_TRIES], fetch
    )
    root = "{0.scheme}://{0.netloc}".format(urlsplit(page.url))
    robots = fetch(f"{root}/robots.txt")
    maps = sitemaps.in_robots(robots.body, robots.url) if robots.ok else []
    for guess in sitemaps.well_known(page.url)[:3] if not maps else ():
        answer = fetch(guess)
        if answer.ok and not _wrong("sitemap", answer):
            maps.append(answer.url)
            break
    spoken = language(page.body, page.url, page.content_type) if language else ""
    return Discovery(url, "alive", tuple(found), tuple(maps), spoken)


def to_add(discovery: Discovery, scope: str = "host") -> str:
    """The tables that put a site and its feeds into a seed file."""
    text = f'\n[[site]]\nurl = {quoted(discovery.url)}\nscope = "{scope}"\n'
    for url, _ in discovery.feeds[:1]:
        text += f"\n[[feed]]\nurl = {quoted(url)}\n"
    return text


def add_to_file(path: Path, addition: str) -> Crawl:
    """Append tables to a seed file; raises SeedError, with nothing written, if the file would then be wrong. Of several
    processes that add to one file, each adds to what the others have written. A symbolic link stays one, and who may
    read and write the file the same."""
    file = path.resolve()
    try:
        with _locked(file.parent):
            text = file.read_text(encoding="utf-8-sig")
            changed = text.rstrip("\n") + "\n" + addition
            crawl = parse_crawl(changed, str(path))
            _replace(file, changed)
    except OSError as error:
        raise SeedError(str(path), [Problem(0, error.strerror or str(error))]) from error
    return crawl


def _replace(file: Path, text: str) -> None:
    """By a whole new one that is on the disk, or not at all."""
    new = file.with_name(file.name + ".new")
    try:
        with new.open("w", encoding="utf-8") as written:
            written.write(text)
            written.flush()
            os.fsync(written.fileno())
        shutil.copymode(file, new)
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """The folder, as the file itself is replaced; the lock ends with the process, and waiting for it takes moments."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # NFS has no locks of folders
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _without(answer: Fetched) -> tuple[str, str]:
    """State and detail of what gave nothing to read."""
    return "blocked" if answer.problem in _BLOCKED else "dead", answer.problem or f"status {answer.status}"


def _reading(urls: list[str], fetch: Fetch) -> list[tuple[str, int]]:
    found = []
    for url in urls:
        answer = fetch(url)
        if answer.ok:
            with suppress(feeds.FeedError):
                feed = feeds.parse(answer.body, answer.url, answer.content_type)
                if feed.format:
                    found.append((url, len(feed.entries)))
    return found


def _wrong(kind: str, answer: Fetched) -> str:
    """Why the answer is not what it is listed as, "" when it is; of what is polled as a first poll would say."""
    headers = {"content-type": answer.content_type}
    try:
        if kind != "page":
            read(Answer(answer.url, answer.status, 0, headers, answer.body, kind), answer.url, FeedHistory())
    except (feeds.FeedError, sitemaps.SitemapError) as error:
        return str(error)
    return ""


def _moved(asked: str, answered: str) -> bool:
    return as_parsed(asked).rstrip("/") != as_parsed(answered).rstrip("/")
