"""The old collector's two commands for scripts, on this crawler's fetching: ``link_collector`` and ``page_downloader``.

``python -m crawler.collector links …`` collects the links of feeds, ``python -m crawler.collector pages …`` downloads
pages into one WARC file. Flags, log lines and exit statuses are the old ones (0 good, 1 some failed, 2 usage). What is
different: robots.txt and Crawl-delay are obeyed, private addresses are never asked, somebody must be named
(``--contact`` or the environment's CONTACT), -m counts requests under way instead of processes, a link is written
once, an archive that exists is not overwritten, and a run after one that was killed goes on where that was
(crawler/console/one_archive.py). No other state is kept between runs: that is ``scrapy crawl harvest``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import glob
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from scrapy import Spider
from scrapy.settings import Settings

from archive import ArchiveError
from archive.terminal import say
from crawler.addon import Ulwembu
from crawler.console.given_settings import dictionary_fault
from crawler.console.one_archive import SUFFIXES, OneArchiveError, finish, one_archive
from crawler.console.opted_out import OptedOut
from crawler.console.polite_client import PoliteClient, Visit
from crawler.console.terminal import INTERRUPTED, reader_may_leave, told
from crawler.errors import PreflightError
from crawler.preflight import settings_faults
from crawler.state.redis_link import RedisUnreachableError
from seeds import feeds
from seeds.survey.lists import ListError, read_list, read_some
from sieve.urls import authority

_MOST_HOSTS = 2000
_MOST_FEEDS_A_PAGE = 5
_STDOUT = ("-", "/dev/stdout")
_Clients = Callable[[float | None], PoliteClient]
"""Makes one, with its delay in seconds; None: as the settings say."""


class CollectorError(Exception):
    """What the person who started it must put right; `str()` says it."""


@dataclass(slots=True)
class Log:
    """Lines that begin with ``+OK``, ``-WARN`` or ``-ERR``, to a file or (None) to standard error; `failed` counts the
    last."""

    stream: TextIO | None = None
    failed: int = 0

    def say(self, marker: str, text: str) -> None:
        """One line."""
        self.failed += marker == "-ERR"
        line = f"{marker} {' '.join(text.split())}"
        if self.stream is None:
            say(line)
        else:
            print(line, file=self.stream, flush=True)


@dataclass(slots=True)
class _Links:
    """The links of the sources, in the order of these, each once."""

    log: Log
    test_only: bool
    known: set[str]
    by_source: dict[str, list[str]] = field(default_factory=dict)

    async def read(self, source: str, client: PoliteClient) -> None:
        """The links of one source; a page is searched for feeds, whose links are taken."""
        visit = await client.fetch(source)
        found = self._entries(source, visit)
        if found is not None or self.test_only:
            self.by_source[source] = found or []
            return
        links: list[str] = []
        page = visit.fetched
        for feed in feeds.discover(page.body, page.url, page.content_type)[:_MOST_FEEDS_A_PAGE]:
            links += self._entries(feed, await client.fetch(feed)) or []
        self.by_source[source] = links

    def _entries(self, source: str, visit: Visit) -> list[str] | None:
        """The links of a feed; None for a page that may name feeds (in a test that is a failure)."""
        answer = visit.fetched
        if not answer.ok:
            self.log.say("-ERR", f"{source} {answer.problem or f'status {answer.status}'}")
            return []
        try:
            feed = feeds.parse(answer.body, answer.url, answer.content_type)
        except feeds.FeedError as error:
            if not self.test_only and feeds.discover(answer.body, answer.url, answer.content_type):
                return None
            self.log.say("-ERR", f"{source} {error}")
            return []
        if not feed.format:
            self.log.say("-ERR", f"{source} is not a feed")
            return []
        self.log.say("+OK", f"{source} {feed.format}, {len(feed.entries)} items")
        return [entry.url for entry in feed.entries if entry.url]

    def lines(self, sources: Iterable[str]) -> Iterator[str]:
        """New links, one a line."""
        for source in sources:
            for url in self.by_source.get(source, ()):
                if url not in self.known:
                    self.known.add(url)
                    yield url + "\n"


def link_collector(argv: Sequence[str] | None = None) -> int:
    """Collect the links of feeds."""
    parser = _parser(
        "link_collector",
        "Collect the links that RSS, Atom and JSON feeds hold, one a line.",
        "links -i rss_sources/*.txt -o links.txt --contact you@example.org",
    )
    parser.add_argument("-o", "--output", default="-", help="file for the links (default: standard output)")
    parser.add_argument("-a", "--append", action="store_true", help="append, leaving out links that are there already")
    parser.add_argument("-t", "--test", action="store_true", help="only verify that the sources are feeds")
    options = parser.parse_args(argv)

    def work(log: Log, clients: _Clients) -> None:
        sources = _addresses(options.input, log)
        if options.output not in _STDOUT and not options.test:
            _expect_writable(Path(options.output), append=options.append)
        stays = options.append and Path(options.output).is_file()
        known = set(_words(Path(options.output)) if stays else ())
        links = _Links(log, options.test, known)
        asyncio.run(_each(sources, links.read, clients(None)))
        if not options.test:
            _write(options.output, links.lines(sources), append=options.append)

    return _run(work, options)


def page_downloader(argv: Sequence[str] | None = None) -> int:
    """Download pages into one WARC file."""
    parser = _parser(
        "page_downloader",
        "Download pages into a WARC file, politely.",
        "pages -i links.txt -o pages.warc.xz --contact you@example.org",
    )
    parser.add_argument("-o", "--output", required=True, help=f"the archive; its name ends with {', '.join(SUFFIXES)}")
    parser.add_argument(
        "-p", "--pause", type=_seconds, default=1.0, help="least seconds between requests to a host (1)"
    )
    options = parser.parse_args(argv)
    suffix = next((end for end in sorted(SUFFIXES, key=len) if options.output.endswith(end)), "")
    if not suffix:
        parser.error(f"-o {options.output}: must end with {', '.join(SUFFIXES)}")

    def work(log: Log, clients: _Clients) -> None:
        if Path(options.output).exists():
            finish(Path(options.output))
            raise CollectorError(f"-o {options.output}: exists")
        urls = _addresses(options.input, log)
        with one_archive(Path(options.output), suffix) as archive:

            def tell(url: str, problem: str, when: str = "") -> None:
                log.say("-ERR" if problem else "+OK", f"{url} {problem} {when}")

            async def download(url: str, client: PoliteClient) -> None:
                visit = await client.fetch(url)
                answer = visit.fetched
                problem = answer.problem or ("" if answer.ok else f"status {answer.status}")
                archive.keep(url, visit.captures, problem)  # before it is told
                tell(url, problem)

            missing = []
            for url in urls:
                if (problem := archive.found(url)) is None:
                    missing.append(url)
                else:
                    tell(url, problem, "(by the run before)")
            asyncio.run(_each(missing, download, clients(options.pause)))

    return _run(work, options)


def main(argv: Sequence[str] | None = None) -> int:
    """``links`` or ``pages``, then that command's flags."""
    words = list(sys.argv[1:] if argv is None else argv)
    commands = {"links": link_collector, "pages": page_downloader}
    if not words or words[0] not in commands:
        sys.stderr.write("usage: python -m crawler.collector links|pages …  (--help after either)\n")
        return 2
    return commands[words[0]](words[1:])


def _parser(name: str, description: str, example: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=name,
        description=description,
        epilog=f"Example: python -m crawler.collector {example}. Inputs are plain lists (a URL a line, # comments) "
        "or OPML: files, patterns, folders, @file (a list of files), - for standard input; "
        ".xz is unpacked. Exit: 0 good, 1 some failed, 2 usage.",
    )
    parser.add_argument("-i", "--input", nargs="+", default=["-"], help="lists of addresses (default: standard input)")
    parser.add_argument("-e", "--errors", default="-", help="file for the log (default: standard error)")
    parser.add_argument("-w", "--wait", type=_seconds, default=1.0, help="most seconds to wait for an answer (1)")
    parser.add_argument("-m", "--multiprocessing", type=int, default=0, help="further requests at a time (0)")
    parser.add_argument("--contact", default=os.environ.get("CONTACT", ""), help="whom site owners can turn to")
    parser.add_argument(
        "-s", "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the crawler"
    )
    return parser


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < (value := float(text)) < 3600:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0, below 3600")


def _run(work: Callable[[Log, _Clients], None], options: argparse.Namespace) -> int:
    with contextlib.ExitStack() as opened:
        try:
            settings = _settings(options)
            to_file = options.errors != "-"
            log = Log(opened.enter_context(Path(options.errors).open("a", encoding="utf-8")) if to_file else None)
            opted_out = opened.enter_context(OptedOut(settings))
            if opted_out.note:
                log.say("-WARN", opted_out.note)
            at_once = 1 + max(0, options.multiprocessing)
            work(log, lambda delay_s: PoliteClient(settings, opted_out, options.wait, delay_s, at_once))
        except (
            CollectorError, OneArchiveError, PreflightError, RedisUnreachableError, ListError, ArchiveError, OSError
        ) as error:  # fmt: skip
            say(f"-ERR {told(error) if isinstance(error, OSError) else error}")
            return 2
        except KeyboardInterrupt:
            say("-ERR interrupted")
            return INTERRUPTED
        return 1 if log.failed else 0


def _settings(options: argparse.Namespace) -> Settings:
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    for word in options.set:
        name, found, value = word.partition("=")
        if not found:
            raise CollectorError(f"-s {word}: NAME=VALUE")
        if fault := dictionary_fault(settings, name, value):
            raise CollectorError(fault)
        settings.set(name, value, priority="cmdline")
    if options.contact:
        settings.set("CONTACT", options.contact, priority="cmdline")
    Ulwembu().update_settings(settings)
    if not settings.get("CONTACT"):
        raise CollectorError("no contact: --contact or the environment's CONTACT; without one nothing is fetched")
    if faults := settings_faults(settings, Spider):
        raise CollectorError("; ".join(faults))
    return settings


async def _each(
    urls: Sequence[str], handle: Callable[[str, PoliteClient], Awaitable[None]], client: PoliteClient
) -> None:
    """Call `handle` for each address: hosts beside one another, the addresses of one host in order. Closes `client`."""
    hosts: dict[str, list[str]] = {}
    for url in urls:
        hosts.setdefault(str(authority(url)), []).append(url)
    room = asyncio.Semaphore(_MOST_HOSTS)

    async def visit(waiting: list[str]) -> None:
        async with room:
            for url in waiting:
                await handle(url, client)

    try:
        await asyncio.gather(*map(visit, hosts.values()))
    finally:
        await client.close()


def _addresses(inputs: Iterable[str], log: Log) -> list[str]:
    """All addresses of the inputs, each once, in order; lines that are none are told. A list that cannot be read at all
    is the caller's mistake, and raises."""

    def tell(error: ListError) -> None:
        log.say("-ERR", str(error))

    found: dict[str, None] = {}
    for path in _paths(inputs):
        body = sys.stdin.buffer.read() if path == "-" else read_some(Path(path))
        name = "standard input" if path == "-" else path
        found.update(dict.fromkeys(listed.url for listed in read_list(body, name, tell)))
    return list(found)


def _paths(inputs: Iterable[str], within: frozenset[str] = frozenset()) -> Iterator[str]:
    """`within`: the lists of files that these stand in."""
    for word in inputs:
        if word.startswith("@"):
            real = os.path.realpath(word[1:])
            if real in within:
                raise CollectorError(f"{word}: this list of files names itself")
            yield from _paths(_words(Path(word[1:])), within | {real})
        elif word != "-" and Path(word).is_dir():
            yield from sorted(str(path) for path in Path(word).iterdir() if path.is_file())
        else:
            yield from sorted(glob.glob(word)) or [word]  # noqa: PTH207 - absolute patterns too


def _words(path: Path) -> list[str]:
    """File names need not be UTF-8."""
    return path.read_text(encoding="utf-8", errors="surrogateescape").split()


def _expect_writable(path: Path, *, append: bool) -> None:
    """CollectorError, before anything is fetched, when the results could not be written."""
    if path.is_dir():
        raise CollectorError(f"-o {path}: is a folder")
    stays = path.exists() and (append or not path.is_file())
    place = path if stays else path.resolve().parent
    if not os.access(place, os.W_OK if stays else os.W_OK | os.X_OK):
        raise CollectorError(f"-o {path}: cannot write {'to it' if stays else f'in {place}'}")


def _write(name: str, lines: Iterable[str], *, append: bool) -> None:
    if name in _STDOUT:  # by its name, too: what a file has to which it is led stays
        with reader_may_leave():
            sys.stdout.writelines(lines)
        return
    path = Path(name)
    try:
        # /dev/fd/3 into a pipe leads to no path; a link to a file stays one
        _write_file(path.resolve() if path.is_file() or not path.exists() else path, "".join(lines), append=append)
    except OSError as error:
        error.filename = name  # to write does not say of which file
        raise


def _write_file(path: Path, text: str, *, append: bool) -> None:
    if path.exists() and not path.is_file():  # a named pipe, /dev/null
        path.write_text(text, encoding="utf-8")
    elif append:
        with path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            # A last line that was never ended (by an editor, a full disk, a kill) must not swallow the first new one.
            start = b"" if file.read(1) in (b"", b"\n") else b"\n"
            file.write(start + text.encode("utf-8"))
    else:
        new = path.with_name(path.name + ".new")
        try:
            new.write_text(text, encoding="utf-8")
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


if __name__ == "__main__":
    raise SystemExit(main())
