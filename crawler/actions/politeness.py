"""``scrapy politeness verify``: proof, from what a crawl wrote down, that no delay was ever cut short.

Two independent witnesses: the frontier's audit stream (each gap against the delay in force when it began), and the
archive alone (WARC-Date and fetch time of every record against the configured delays).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from archive import Damage
from archive.terminal import printable
from crawler.console.crawl_state import Action, CrawlState
from crawler.console.hosts import authorities
from crawler.console.which_crawl import named_crawl, said
from crawler.errors import PreflightError
from crawler.records.fetch_times import fetch_times, warc_files, written_with
from crawler.work.opening import host_policies
from frontier.audit import Proof, verify, verify_plain
from frontier.types import HostPolicy
from seeds.crawl import Crawl

_MOST_SHOWN = 10
_DELAYS = ("FRONTIER_DELAY_S", "FRONTIER_IP_DELAY_S")
Least = Mapping[Path, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Archive:
    """WARC files and the delays they are held against: those each file says it was written with (`least`), else the
    settings' and the seed file's."""

    files: list[Path]
    settings: BaseSettings
    spec: Crawl | None
    least: Least


class Politeness(Action):
    """See the module."""

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or args[0] != "verify":
            raise UsageError
        proofs: dict[str, Proof] = {}
        # A request that is read twice, of a file that is named twice, would be no delay at all.
        named = list({file.resolve(): file for name in args[1:] for file in _files(Path(name))}.values())
        hosts = () if opts.host is None else authorities(opts.host)
        if named:
            archive = self._of_files(named, opts)
        else:
            with self.state(opts) as state:
                rows = state.frontier.audit()
                if hosts:
                    rows = (replace(row, address="") for row in rows if row.authority in hosts)
                proofs["audit"] = verify(rows, opts.tolerance_ms)
                archive = self._of_crawl(state, opts)
        proofs["archive"] = _by_archive(archive, opts, hosts, self._damaged)
        # Before anything is shown, since a reader may leave.
        if not all(proof.ok for proof in proofs.values()) or not any(proof.gaps for proof in proofs.values()):
            self.exitcode = 1
        if opts.json:
            self.show_json({name: _plain(proof) for name, proof in proofs.items()})
        else:
            self._tables(proofs, hosts)
            if proofs["archive"].gaps and not _asked(opts):
                self.show(_against(archive, by_name=bool(named)))
        if hosts and not any(proof.fetches for proof in proofs.values()):
            self.note(
                f"no request to {' or '.join(hosts)}; a host is named as `scrapy frontier hosts` does, with its port"
            )

    def _damaged(self, damage: Damage) -> None:
        """What is missing there proves nothing."""
        self.fault(f"damage: {damage}")

    def _of_files(self, files: list[Path], opts: argparse.Namespace) -> _Archive:
        """Of files nobody needs to have the Redis, nor knows whether they are a crawl's of ours; the seed file counts
        where one is named."""
        if missing := [str(path) for path in files if not path.is_file()]:
            raise PreflightError(f"no such WARC file: {', '.join(missing)}")
        settings = self.effective_settings()
        spec = None
        if opts.crawl or opts.seeds:
            name = named_crawl(settings, opts.crawl, opts.seeds)
            spec = getattr(self.spider(settings, name, opts.seeds), "spec", None)
        return _Archive(files, settings, spec, {})

    def _of_crawl(self, state: CrawlState, opts: argparse.Namespace) -> _Archive:
        """What the command line says of delays comes before what the files say."""
        if state.elsewhere:
            self.note(f"no archive of this crawl is on this machine; its workers ran on {state.elsewhere}")
        files = warc_files(state.folder / "warc")
        given = _asked(opts) or any(said(state.settings, name) for name in _DELAYS)
        return _Archive(files, state.settings, state.spec, {} if given else written_with(files))

    def _tables(self, proofs: dict[str, Proof], hosts: Collection[str]) -> None:
        table = Table("witness", title="Delays between requests", title_justify="left")
        for column in ("fetches", "gaps", "shortest of a host", "too short"):
            table.add_column(column, justify="right")
        table.add_column("")
        for name, proof in proofs.items():
            nothing = "nothing to check" + (" (needs FRONTIER_AUDIT=1)" if name == "audit" and not hosts else "")
            word = nothing if not proof.gaps else "holds" if proof.ok else "BROKEN"
            least = "" if proof.shortest_ms is None else f"{proof.shortest_ms / 1000:,.3f} s"
            table.add_row(name, f"{proof.fetches:,}", f"{proof.gaps:,}", least, f"{len(proof.short):,}", word)
        self.show(table)
        for name, proof in proofs.items():
            for gap in proof.short[:_MOST_SHOWN]:
                between = printable(f"between {gap.earlier} and {gap.later}")  # URLs of strangers' archives
                self.show(Text(f"{name}: {gap.of}: {gap.gap_ms} ms {between}, {gap.needed_ms} needed"))
            if (more := len(proof.short) - _MOST_SHOWN) > 0:
                self.show(f"{name}: {more:,} more (--json has all)")


def _asked(opts: argparse.Namespace) -> bool:
    """Whether the command's own options say which delays there were."""
    return opts.delay is not None or opts.ip_delay is not None


def _against(archive: _Archive, *, by_name: bool) -> str:
    """A sentence: the delays that the archive was held against. `by_name`: its files were named, whoever wrote them."""
    usual = tuple(round(1000 * archive.settings.getfloat(name)) for name in _DELAYS)
    used = {archive.least.get(path, usual) for path in archive.files}
    delays = " and ".join(
        f"{name}={', '.join(f'{value / 1000:g}' for value in sorted(set(values)))}"
        for name, values in zip(_DELAYS, zip(*used, strict=True), strict=True)
    )
    more = "; a crawl that was given others with -s needs them here, too" if by_name else ""
    more = ", as its files say they were written with" if archive.least else more
    return f"The archive was held against {delays}{more}"


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    if found := warc_files(path):
        return found
    raise PreflightError(f"no closed WARC files in {path}")


def _by_archive(
    archive: _Archive, opts: argparse.Namespace, hosts: Collection[str], tell: Callable[[Damage], None]
) -> Proof:
    """The proof by the WARC files alone; with ``--delay`` or ``--ip-delay`` the seed file's delays do not count. Of
    `hosts` alone, where any are named: the gaps of an address are between requests to whatever hosts it has."""
    settings = archive.settings
    delay_ms = round(1000 * (settings.getfloat("FRONTIER_DELAY_S") if opts.delay is None else opts.delay))
    address_ms = round(1000 * (settings.getfloat("FRONTIER_IP_DELAY_S") if opts.ip_delay is None else opts.ip_delay))
    own = host_policies(archive.spec) if archive.spec is not None and not _asked(opts) else {}
    by_host = {host: _delays(policy, delay_ms, address_ms) for host, policy in own.items()}
    fetches = fetch_times(archive.files, settings["ROBOTS_USER_AGENT"], archive.least, tell)
    if hosts:
        fetches = (visit._replace(address="") for visit in fetches if visit.host in hosts)
    return verify_plain(fetches, delay_ms, address_ms, opts.tolerance_ms, by_host)


def _delays(policy: HostPolicy, delay_ms: int, address_ms: int) -> tuple[int, int]:
    own, address = policy.delay_ms, policy.address_delay_ms
    return delay_ms if own is None else own, address_ms if address is None else address


def _plain(proof: Proof) -> dict[str, Any]:
    short = [gap._asdict() for gap in proof.short]
    return {
        "ok": proof.ok,
        "fetches": proof.fetches,
        "gaps": proof.gaps,
        "shortest_ms": proof.shortest_ms,
        "too_short": len(short),
        "short": short,
    }
