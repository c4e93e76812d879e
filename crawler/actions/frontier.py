"""``scrapy frontier``: look at and steer what a crawl will fetch, while it runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from typing import Literal

from rich.table import Table
from scrapy.exceptions import UsageError

from archive.terminal import printable
from crawler.actions.opt_outs import opt_out, show_opt_outs
from crawler.console.crawl_state import Action, CrawlState
from crawler.console.hosts import authorities
from crawler.console.terminal import budget_words, clock, host_words
from crawler.console.terms import COLUMNS, COUNTS, meaning
from crawler.state.redis_link import fullness
from frontier.types import Waiting

_MOST_ROWS = 1 << 40
"""Redis takes no number of more than 64 bits."""
_WIDE = 110
_LEAST = {"host": 20, "state": 13}


class Frontier(Action):
    """See the module."""

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        listing: dict[str, Callable[[CrawlState, argparse.Namespace], None]] = {
            "status": self._status,
            "hosts": self._hosts,
            "parked": self._parked,
        }
        steering = ("peek", "release", "drop", "pause", "resume")
        if opts.limit < 1:
            raise UsageError(f"--limit {opts.limit}: at least 1 row must be shown")
        opts.limit = min(opts.limit, _MOST_ROWS)
        if opts.withdraw and args[:1] != ["opt-out"]:
            raise UsageError("--withdraw: only an opt-out can be withdrawn")
        if len(args) == 2 and args[0] == "opt-out":
            opt_out(self, args[1], opts)
        elif args == ["opt-outs"]:
            show_opt_outs(self, opts)
        elif len(args) == 1 and args[0] in listing:
            with self.state(opts) as state:
                listing[args[0]](state, opts)
        elif len(args) == 2 and args[0] in steering:
            with self.state(opts) as state:
                self._steer(args[0], args[1], state, opts)
        else:
            raise UsageError

    def _status(self, state: CrawlState, opts: argparse.Namespace) -> None:
        status = state.frontier.status()
        if full := fullness(state.home.url):
            self.note(full)
        if spent := budget_words(status, state.frontier.config.budget):
            self.note(spent)
        if opts.json:
            self.show_json(asdict(status))
            return
        table = Table("", title=f"Frontier of {state.name}", title_justify="left")
        table.add_column("count", justify="right")
        table.add_column("meaning", overflow="fold")
        for name, said in COUNTS.items():
            table.add_row(name, f"{getattr(status, name):,}", said)
        for title, counts in (("parked", status.by_reason), ("reported", status.results)):
            for word, count in sorted(counts.items()):
                table.add_row(f"{title}: {word}", f"{count:,}", meaning(word))
        self.show(table)

    def _hosts(self, state: CrawlState, opts: argparse.Namespace) -> None:
        rows = state.frontier.hosts(opts.limit)
        now_ms = state.frontier.status().now_ms
        gone = state.frontier.wholly_opted_out([row.authority for row in rows])
        if opts.json:
            for row in rows:
                self.show_json({**asdict(row), "opted_out": row.authority in gone})
            return
        table = Table(
            title=f"Hosts of {state.name}", title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0)
        )
        # On a narrow terminal, where columns would be cut into pieces, without the last.
        shown = [column for column in COLUMNS if column != "address" or self.width() >= _WIDE]
        for column in shown:
            justify: Literal["left", "right"] = "left" if column in ("host", "state", "address") else "right"
            table.add_column(column, justify=justify, overflow="fold", min_width=_LEAST.get(column))
        for row in rows:
            figures = (row.queued, row.parked, row.pages, row.words, f"{row.delay_ms / 1000:g}", row.failures)
            words = "opted out" if row.authority in gone else host_words(row, now_ms)
            cells = (row.authority, *map(str, figures), words, row.address)
            table.add_row(*cells[: len(shown)])
        self.show(table)

    def _parked(self, state: CrawlState, opts: argparse.Namespace) -> None:
        rows = state.frontier.parked(opts.limit)
        if opts.json:
            for authority, waiting in rows:
                self.show_json({"authority": authority, **_waiting(waiting)})
            return
        table = Table("until", "reason", "tries", title=f"Parked in {state.name}", title_justify="left")
        table.add_column("URL", overflow="fold")
        for _, waiting in rows:
            tries = str(waiting.attempt + waiting.expiries)
            table.add_row(clock(waiting.until_ms), waiting.reason, tries, printable(waiting.url))
        self.show(table)

    def _steer(self, action: str, host: str, state: CrawlState, opts: argparse.Namespace) -> None:
        frontier = state.frontier
        found = [authority for authority in authorities(host) if frontier.host(authority) is not None]
        if not found:
            tell = self.note if opts.json else self.show
            tell(f"{host}: this crawl knows no such host (name it as `scrapy frontier hosts` does, with its port)")
            self.exitcode = 1
        for authority in found:
            if action == "peek":
                self._peek(authority, state, opts)
                continue
            actions: dict[str, Callable[[str], int]] = {
                "release": frontier.unpark,
                "drop": frontier.drop,
                "pause": frontier.pause,
                "resume": frontier.resume,
            }
            done = int(actions[action](authority))
            urls = done if action in ("release", "drop") else None
            text = f"{authority}: {action} done" + ("" if urls is None else f", URLs: {urls}")
            self.tell(opts, {"authority": authority, "action": action, "urls": urls}, text)

    def _peek(self, authority: str, state: CrawlState, opts: argparse.Namespace) -> None:
        rows = state.frontier.peek(authority, opts.limit)
        if opts.json:
            for row in rows:
                self.show_json(_waiting(row))
            return
        table = Table("score", "depth", "tries", "parked", title=f"Next of {authority}", title_justify="left")
        table.add_column("URL", overflow="fold")
        for row in rows:
            parked = f"{row.reason} until {clock(row.until_ms)}" if row.until_ms else ""
            tries = str(row.attempt + row.expiries)
            table.add_row(f"{row.score:.2f}", str(row.depth), tries, parked, printable(row.url))
        self.show(table)


def _waiting(row: Waiting) -> dict[str, object]:
    """A row for JSON, without its memo: a spider's own request may have put cookies and passwords there."""
    return {name: value for name, value in asdict(row).items() if name != "memo"}
