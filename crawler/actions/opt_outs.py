"""``scrapy frontier opt-out`` and ``opt-outs``: what must never be fetched is said, listed and withdrawn.

An opt-out holds for all crawls of the Redis, those that begin later, too, unless the command line names one. A private
Redis has one crawl, and what is said there is that crawl's own.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import redis
from rich.table import Table

from crawler.console.crawl_state import Action
from crawler.console.terminal import clock
from crawler.errors import PreflightError
from crawler.fetch.opt_outs import read_opt_outs
from crawler.state.redis_link import client, is_cluster, ping
from crawler.state.run_record import crawls_of
from frontier.errors import OptOutsElsewhere
from frontier.opt_outs import opt_out_rules
from frontier.redis_opt_outs import RedisOptOuts
from sieve.urls import authority as authority_of

_CLUSTER = "this Redis is a Cluster: crawls on its other nodes do not hear of it; --crawl NAME for each of them"

_BESIDE = "other ports of the host, and other names under it, have to be named, too, where they are meant"


@dataclass(frozen=True, slots=True)
class _Scope:
    """Whom an opt-out holds for: `crawl` "" is all of them. `log`: where what is said and withdrawn is noted; `file`:
    the opt-outs that the crawl's workers read as they start, "" for none."""

    server: redis.Redis
    crawl: str
    others: tuple[str, ...]
    log: Path
    file: str = ""

    def __str__(self) -> str:
        return _named(self.crawl)

    def rules(self, crawl: str) -> list[str]:
        """What holds for `crawl` alone, "": for all of them."""
        with contextlib.suppress(OptOutsElsewhere):
            return self.table(crawl).listed()
        return []

    def table(self, crawl: str) -> RedisOptOuts:
        """That of one crawl, or of all."""
        return RedisOptOuts(self.server, crawl, of_all=not crawl)


def opt_out(action: Action, prefix: str, opts: argparse.Namespace) -> None:
    """Say it, or withdraw it. PreflightError."""
    try:
        rules = _spelled_out([prefix])
    except ValueError as error:
        raise PreflightError(f"{prefix!r} is neither a host nor an http or https URL: {error}") from None
    with _scope(action, opts, others=opts.withdraw) as scope:
        if opts.withdraw:
            _withdraw(action, prefix, rules, scope, opts)
            return
        new = scope.table(scope.crawl).add([prefix])
        said = f"{prefix}: {'opted out' if new else 'was opted out already'} of {scope}"
        action.tell(opts, {"crawl": scope.crawl or None, "prefix": prefix, "new": bool(new)}, said)
        if new:
            try:
                _write_down(scope, "opted out", prefix, rules)
            except OSError as error:
                action.note(f"it holds, but could not be noted in {scope.log}: {error}")
        action.note(f"that is what begins with {', '.join(sorted(rules))}; {_BESIDE}")
        if not scope.crawl and is_cluster(scope.server):
            action.note(_CLUSTER)


def show_opt_outs(action: Action, opts: argparse.Namespace) -> None:
    """All of them, however many: what holds for all crawls first."""
    with _scope(action, opts) as scope:
        crawls = ["", scope.crawl] if scope.crawl else ["", *scope.others]
        rows = [(crawl, rule) for crawl in crawls for rule in scope.rules(crawl)]
        if not scope.crawl and is_cluster(scope.server):
            action.note(_CLUSTER)
    if opts.json:
        for crawl, rule in rows:
            action.show_json({"crawl": crawl or None, "prefix": rule})
        return
    table = Table("holds for", title="Opt-outs", title_justify="left")
    table.add_column("what begins with", overflow="fold")
    for crawl, rule in rows:
        table.add_row(_named(crawl), rule)
    action.show(table)


@contextlib.contextmanager
def _scope(action: Action, opts: argparse.Namespace, *, others: bool = True) -> Iterator[_Scope]:
    """`others`: whether those of the other crawls are asked for, too; the user need not be let see any of them."""
    settings = action.effective_settings()
    url = str(settings.get("REDIS_URL") or "")
    if url and not (opts.crawl or opts.seeds):
        ping(url)
        before, named, _ = str(Path(str(settings.get("DATA_DIR"))).absolute()).partition("{crawl}")
        folder = Path(before) if before.endswith("/") or not named else Path(before).parent
        with contextlib.closing(client(url)) as server:
            yield _Scope(server, "", tuple(crawls_of(url) if others else ()), folder / "opt-outs.log")
        return
    with action.state(opts) as state, contextlib.closing(client(state.home.url)) as server:
        log = state.folder / "reports" / "opt-outs.log"
        yield _Scope(server, state.name, ("",), log, state.opt_outs_file)


def _withdraw(action: Action, prefix: str, rules: set[str], scope: _Scope, opts: argparse.Namespace) -> None:
    """Take back the opt-out of just `prefix`. It is written down first: what cannot be is not done."""
    there = scope.table(scope.crawl).listed()
    also = ", ".join(_named(other) for other in scope.others if rules.issubset(scope.rules(other)))
    if not rules.issubset(there):
        hosts = {authority_of(rule) for rule in rules}
        near = ", ".join(rule for rule in there if authority_of(rule) in hosts)
        hint = f"; of {also} it has (--crawl says whose is meant)" if also else ""
        raise PreflightError(
            f"{prefix} has not opted out of {scope} by just this name; of its host: {near or 'none'}{hint}"
        )
    try:
        if scope.file and rules & _spelled_out(read_opt_outs(Path(scope.file))):
            raise PreflightError(
                f"{scope.file} has {prefix}, too, for every worker that starts: take it out there first"
            )
        _write_down(scope, "withdrawn", prefix, rules)
    except (OSError, ValueError) as error:
        raise PreflightError(f"{prefix} stays opted out: {error}") from None
    scope.table(scope.crawl).withdraw(prefix)
    said = f"{prefix}: opt-out of {scope} withdrawn, noted in {scope.log}; URLs dropped meanwhile do not come back"
    action.tell(opts, {"crawl": scope.crawl or None, "prefix": prefix, "withdrawn": True}, said)
    if also:
        action.note(f"{prefix} stays opted out of {also}, where it was said, too")


def _write_down(scope: _Scope, done: str, prefix: str, rules: set[str]) -> None:
    """A line of the log; OSError."""
    scope.log.parent.mkdir(parents=True, exist_ok=True)
    with scope.log.open("a", encoding="utf-8") as file:
        said = f"{done}: {prefix} of {scope} ({', '.join(sorted(rules))})"
        file.write(f"{clock(time.time_ns() // 1_000_000)} {said}\n")


def _spelled_out(prefixes: Iterable[str]) -> set[str]:
    """All that opt-outs stand for, as the tables list them; ValueError."""
    return {authority + path for authority, path in opt_out_rules(prefixes)}


def _named(crawl: str) -> str:
    return f"crawl {crawl}" if crawl else "all crawls of this Redis"
