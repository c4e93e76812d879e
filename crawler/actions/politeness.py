"""``scrapy politeness verify``: proof, from what a crawl wrote down, that no delay was ever cut short.

Two independent witnesses: the frontier's audit stream (each gap against the delay in force when it began), and the
archive alone (WARC-Date and fetch time of every record against the configured delays).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from crawler.console.crawl_state import Action
from crawler.console.which_crawl import said
from crawler.errors import PreflightError
from crawler.records.fetch_times import fetch_times, warc_files, written_with
from crawler.work.stores import host_policies
from frontier.audit import Proof, verify, verify_plain
from frontier.types import HostPolicy
from seeds.crawl import Crawl

_MOST_SHOWN = 10
_DELAYS = ("FRONTIER_DELAY_S", "FRONTIER_IP_DELAY_S")
Least = Mapping[Path, tuple[int, int]]


class Politeness(Action):
    """See the module."""

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or args[0] != "verify":
            raise UsageError
        proofs: dict[str, Proof] = {}
        files = [Path(name) for name in args[1:]]
        if missing := [str(path) for path in files if not path.is_file()]:
            raise PreflightError(f"no such WARC file: {', '.join(missing)}")
        settings = self.effective_settings()
        if files:
            # Of files nobody needs to have the Redis; the seed file counts where one is named.
            named = opts.crawl or opts.seeds
            spec = getattr(self.spider(settings, opts.crawl, opts.seeds), "spec", None) if named else None
        else:
            with self.state(opts) as state:
                proofs["audit"] = verify(state.frontier.audit(), opts.tolerance_ms)
                files, settings, spec = warc_files(state.folder / "warc"), state.settings, state.spec
                if state.elsewhere:
                    self.note(f"no archive of this crawl is on this machine; its workers ran on {state.elsewhere}")
        # What the command line says comes first; of files named nobody knows whether they are a crawl's of ours.
        least = {} if args[1:] or _given(settings, opts) else written_with(files)
        proofs["archive"] = _by_archive(files, settings, spec, opts, least)
        if opts.json:
            self.show_json({name: _plain(proof) for name, proof in proofs.items()})
        else:
            self._tables(proofs)
            if proofs["archive"].gaps and opts.delay is None and opts.ip_delay is None:
                more = "; a crawl that was given others with -s needs them here, too" if args[1:] else ""
                more = ", as its files say they were written with" if least else more
                self.show(f"The archive was held against {_against(settings, files, least)}{more}")
        if not all(proof.ok for proof in proofs.values()) or not any(proof.gaps for proof in proofs.values()):
            self.exitcode = 1

    def _tables(self, proofs: dict[str, Proof]) -> None:
        table = Table("witness", title="Delays between requests", title_justify="left")
        for column in ("fetches", "gaps", "too short"):
            table.add_column(column, justify="right")
        table.add_column("")
        for name, proof in proofs.items():
            nothing = "nothing to check" + (" (needs FRONTIER_AUDIT=1)" if name == "audit" else "")
            word = nothing if not proof.gaps else "holds" if proof.ok else "BROKEN"
            table.add_row(name, f"{proof.fetches:,}", f"{proof.gaps:,}", f"{len(proof.short):,}", word)
        self.show(table)
        for name, proof in proofs.items():
            for gap in proof.short[:_MOST_SHOWN]:
                between = f"between {gap.earlier} and {gap.later}"
                self.show(Text(f"{name}: {gap.of}: {gap.gap_ms} ms {between}, {gap.needed_ms} needed"))


def _given(settings: BaseSettings, opts: argparse.Namespace) -> bool:
    """Whether the command line says which delays there were."""
    return opts.delay is not None or opts.ip_delay is not None or any(said(settings, name) for name in _DELAYS)


def _against(settings: BaseSettings, files: list[Path], least: Least) -> str:
    usual = tuple(round(1000 * settings.getfloat(name)) for name in _DELAYS)
    used = {least.get(path, usual) for path in files}
    parts = zip(_DELAYS, zip(*used, strict=True), strict=True)
    return " and ".join(
        f"{name}={', '.join(f'{value / 1000:g}' for value in sorted(set(values)))}" for name, values in parts
    )


def _by_archive(
    files: list[Path], settings: BaseSettings, spec: Crawl | None, opts: argparse.Namespace, least: Least
) -> Proof:
    """The proof by the WARC files alone; with ``--delay`` or ``--ip-delay`` the seed file's delays do not count."""
    delay_ms = round(1000 * (settings.getfloat("FRONTIER_DELAY_S") if opts.delay is None else opts.delay))
    address_ms = round(1000 * (settings.getfloat("FRONTIER_IP_DELAY_S") if opts.ip_delay is None else opts.ip_delay))
    own = host_policies(spec) if spec is not None and opts.delay is None and opts.ip_delay is None else {}
    by_host = {host: _delays(policy, delay_ms, address_ms) for host, policy in own.items()}
    return verify_plain(
        fetch_times(files, settings["ROBOTS_USER_AGENT"], least), delay_ms, address_ms, opts.tolerance_ms, by_host
    )


def _delays(policy: HostPolicy, delay_ms: int, address_ms: int) -> tuple[int, int]:
    own, address = policy.delay_ms, policy.address_delay_ms
    return delay_ms if own is None else own, address_ms if address is None else address


def _plain(proof: Proof) -> dict[str, Any]:
    short = [gap._asdict() for gap in proof.short]
    return {"ok": proof.ok, "fetches": proof.fetches, "gaps": proof.gaps, "too_short": len(short), "short": short}
