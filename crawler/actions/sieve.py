"""``scrapy sieve``: look into a crawl's table of seen URLs, check it, repair it, or make it again."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from rich.table import Table
from scrapy.exceptions import UsageError

from archive import Damage, Reader
from crawler.console.crawl_state import Action, CrawlState
from crawler.console.terminal import aside, writing
from crawler.console.terms import SIEVE
from crawler.work.opening import open_sieve
from sieve.errors import SieveError, StoreError
from sieve.tools import Finding, check, fleet_stats, folder_stats, rebuild, repair
from sieve.urls import UrlError

_ALL = 1 << 40
_SHOWN = 5


class SieveTools(Action):
    """See the module."""

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        files = [Path(name) for name in args[1:]] if args[:1] == ["rebuild"] else []
        if missing := [path for path in files if not path.is_file()]:
            aside(f"scrapy sieve rebuild: no file {missing[0]}")
            self.exitcode = 1
            return
        with self.state(opts, anew=bool(files)) as state:
            try:
                if args in (["stats"], ["check"], ["repair"]):
                    {"stats": self._stats, "check": self._check, "repair": self._repair}[args[0]](state, opts)
                elif len(args) == 2 and args[0] == "contains":
                    self._contains(state, args[1], opts)
                elif files:
                    self._rebuild(state, files, opts)
                else:
                    raise UsageError
            except (SieveError, UrlError) as error:
                aside(f"scrapy sieve {args[0]}: {error}")
                self.exitcode = 1

    def _stats(self, state: CrawlState, opts: argparse.Namespace) -> None:
        with contextlib.closing(open_sieve(state.settings, state.home, state.name, state.folder)) as sieve:
            found = fleet_stats(sieve)
        if (folder := state.folder / "state" / "sieve").is_dir():
            found |= {f"disk_{name}": value for name, value in folder_stats(folder).items()}
        if opts.json:
            self.show_json(found)
            return
        table = Table("", title=f"Sieve of {state.name}", title_justify="left")
        table.add_column("figure", justify="right", overflow="fold")
        table.add_column("meaning", overflow="fold")
        for name, value in found.items():
            table.add_row(name, _figure(value), SIEVE.get(name, ""))
        self.show(table)

    def _check(self, state: CrawlState, opts: argparse.Namespace) -> None:
        found = list(check(_store(state)))
        self.exitcode = 1 if found else 0
        self._tell_findings(found, opts)
        if not opts.json:
            self.show(f"{len(found)} faults in {_store(state)}")

    def _repair(self, state: CrawlState, opts: argparse.Namespace) -> None:
        with writing(state.folder):
            found = repair(_store(state))
        self._tell_findings(found, opts)
        if not opts.json:
            lost = sum(finding.lost_keys for finding in found)
            self.show(f"{lost} known URLs were forgotten and may be fetched again")

    def _tell_findings(self, findings: Iterable[Finding], opts: argparse.Namespace) -> None:
        for finding in findings:
            self.tell(opts, asdict(finding), f"{finding.path}: {finding.what}")

    def _contains(self, state: CrawlState, url: str, opts: argparse.Namespace) -> None:
        admitted = state.admitted(url)
        said = {True: "known", False: "not known", None: "a running worker holds the table"}[admitted]
        self.exitcode = 0 if admitted else 1
        self.tell(opts, {"url": url, "known": admitted}, said)

    def _rebuild(self, state: CrawlState, files: list[Path], opts: argparse.Namespace) -> None:
        damages: list[Damage] = []
        sieve = open_sieve(state.settings, state.home, state.name, state.folder)
        with writing(state.folder), contextlib.closing(sieve):
            done = rebuild(sieve, _known(state, files, damages))
        for damage in damages:
            self.note(f"damage: {damage}")
        for reason in done.refused[:_SHOWN]:
            self.note(f"refused: {reason}")
        if more := len(done.refused[_SHOWN:]):
            self.note(f"refused: and {more:,} more")
        counts = {"read": done.read, "known": done.known, "refused": len(done.refused)}
        self.tell(opts, counts, f"{done.read} URLs read, {done.known} known now, {len(done.refused)} refused")
        self.exitcode = 0 if done.known and not damages and not done.refused else 1


def _figure(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return f"{value:,}" if isinstance(value, int) else str(value)


def _store(state: CrawlState) -> Path:
    folder = state.folder / "state" / "sieve"
    if not folder.is_dir():
        raise StoreError(f"no store in {folder}: the seen URLs of this crawl are in Redis")
    return folder


def _known(state: CrawlState, files: list[Path], damages: list[Damage]) -> Iterator[str]:
    for path in files:
        yield from _urls(path, damages)
    for host in state.frontier.hosts(_ALL):
        if host.leased_url:  # of a worker that was killed: it waits again when the lease ends
            yield host.leased_url
        for waiting in state.frontier.peek(host.authority, _ALL):  # the parked ones, too
            yield waiting.url


def _urls(path: Path, damages: list[Damage]) -> Iterator[str]:
    """URLs of a WARC file's responses, a CDXJ file's lines or a list of URLs. `damages`: of a WARC file, to be told."""
    if ".warc" in path.name and path.suffix != ".cdxj":
        with Reader(path, types={"response", "revisit"}) as reader:
            for record in reader:
                yield record.url
            damages += reader.damages
        return
    # What cannot be read as a URL is refused by name later: half a rebuilt sieve would be worse than a line less.
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        yield from (_url_of(line.strip()) for line in lines if line.strip())


def _url_of(line: str) -> str:
    _, brace, fields = line.partition("{")
    try:
        return str(json.loads(brace + fields)["url"]) if brace else line
    except (KeyError, RecursionError, ValueError):
        return line
