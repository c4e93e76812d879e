"""``make demo``: the main job on a small web of its own.

Serves a synthetic web on loopback, lets two real ``scrapy crawl zulu`` workers crawl it on the private Redis, shows how
they get on, and judges them by the web's own request log. Ends with 0 only if everything that was promised held.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from crawler.state.embedded_redis import EmbeddedRedis, EmbeddedRedisError
from crawler.watch.figures import Figures, gather
from frontier.config import FrontierConfig
from frontier.errors import FrontierError
from frontier.redis_frontier import RedisFrontier
from tests.web.report import show as show_findings
from tests.web.requestlog import read_log
from tests.web.tables import host_table, language_table, warc_table
from tests.web.verify import Expectations, Findings, verify
from tests.web.warcs import check_archive
from tests.web.web import LOG_FILE, load_web

CRAWL = "zulu"
DELAY_S, IP_DELAY_S = 0.15, 0.1
_LONGEST_S = 85.0
_LOOK_S = 0.5
_MOST_HOSTS = 6
_LOG = "web.log"
# No line of the picture is folded.
_PICTURE_COLUMNS = 110


class DemoError(Exception):
    """The demo cannot go on; `str()` says why in a line."""


@dataclass(slots=True)
class Demo:
    """One run in `folder`; `kill_after_s` > 0 kills the first worker then, without warning, and starts another."""

    folder: Path
    workers: int = 2
    hosts: int = 16
    pages: int = 500
    seed: int = 1
    kill_after_s: float = 0.0
    console: Console = field(default_factory=Console)
    started: float = field(default_factory=time.monotonic)
    killed: int = 0

    def run(self) -> int:
        """The exit status."""
        say = self.console.print
        self._make_folder()
        say(f"Serving a synthetic web: {self.hosts} hosts, {self.pages} pages and much that can go wrong, on loopback.")
        with self._web():
            say(
                f"Crawling it with {self.workers} workers (scrapy crawl {CRAWL}); "
                f"at least {DELAY_S:g} s between two requests to a host."
            )
            with EmbeddedRedis(self.folder / "crawl" / "state" / "redis") as server:
                processes: list[subprocess.Popen[bytes]] = []
                try:
                    processes.extend(self._worker(number) for number in range(1, self.workers + 1))
                    with contextlib.closing(RedisFrontier(server.url, CRAWL, FrontierConfig())) as frontier:
                        figures = self._watch(processes, frontier)
                finally:
                    _end(processes)
        return self._judge(figures, [process.returncode for process in processes])

    def _make_folder(self) -> None:
        """Anew; one that holds anything else than a demo stays as it is."""
        if self.folder.exists() and any(self.folder.iterdir()) and not (self.folder / _LOG).is_file():
            raise DemoError(f"{self.folder} holds other files than a demo's; name an empty or new folder with --dir")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    @contextlib.contextmanager
    def _web(self) -> Iterator[None]:
        log = (self.folder / _LOG).open("wb")
        command = [sys.executable, "-m", "tests.web", "serve", "--dir", str(self.folder / "web")]
        sizes = ["--seed", str(self.seed), "--hosts", str(self.hosts), "--pages", str(self.pages)]
        sizes += ["--crawl-delay-s", "0.5", "--rate", "dead=0.03", "--rate", "trap=0.005", "--rate", "pdf=0.06"]
        sizes += ["--rate", "drawn=0.05"]
        with log, subprocess.Popen([*command, *sizes], stdout=subprocess.PIPE, stderr=log) as process:
            try:
                assert process.stdout is not None
                if not process.stdout.readline():
                    reason = (self.folder / _LOG).read_text().strip().rpartition("\n")[2]
                    raise DemoError(f"the synthetic web could not be served: {reason}")
                yield
            finally:
                process.terminate()

    def _worker(self, number: int) -> subprocess.Popen[bytes]:
        settings = {
            "DATA_DIR": str(self.folder / "crawl"),
            "FETCH_ALLOWED_NETWORKS": "127.0.0.0/8",
            "FETCH_HOSTS_FILE": str(self.folder / "web" / "hosts"),
            "FRONTIER_DELAY_S": str(DELAY_S),
            "FRONTIER_IP_DELAY_S": str(IP_DELAY_S),
            "FRONTIER_DELAY_FACTOR": "1",
            "FRONTIER_LEASE_S": "15",
            "FRONTIER_IDLE_CLOSE_S": "3",
            "DOWNLOAD_TIMEOUT": "5",
            "FRONTIER_AUDIT": "1",
            "FRONTIER_MAX_EQUAL_PAGES": "150",
            # Minutes and hours between retries would be longer than the demo.
            "FRONTIER_RETRY_FACTOR": "0.001",
            "LOG_FILE": str(self.folder / f"worker-{number}.log"),
        }
        command = [sys.executable, "-m", "scrapy", "crawl", CRAWL, "-a", f"seeds={self.folder / 'web' / 'crawl.toml'}"]
        for name, value in settings.items():
            command += ["-s", f"{name}={value}"]
        return subprocess.Popen(command, env=_without_redis_url())

    def _watch(self, processes: list[subprocess.Popen[bytes]], frontier: RedisFrontier) -> Figures:
        begun = time.monotonic()
        figures = gather(frontier)
        live = Live(console=self.console, refresh_per_second=4) if self.console.is_terminal else None
        next_line = begun + 5
        with live or contextlib.nullcontext():
            while any(process.poll() is None for process in processes):
                if time.monotonic() - begun > _LONGEST_S:
                    raise DemoError(f"the crawl did not end within {_LONGEST_S:g} s; see {self.folder}/worker-*.log")
                if self.kill_after_s and not self.killed and time.monotonic() - begun > self.kill_after_s:
                    processes[0].send_signal(signal.SIGKILL)
                    self.killed = processes[0].pid
                    processes.append(self._worker(len(processes) + 1))  # which closes the archive file of that one
                with contextlib.suppress(FrontierError):
                    figures = gather(frontier)
                if live is not None:
                    live.update(self._view(figures, processes, time.monotonic() - begun))
                elif time.monotonic() > next_line:
                    next_line += 5
                    self.console.print(f"{time.monotonic() - begun:5.0f} s: {figures.line()}")
                time.sleep(_LOOK_S)
            with contextlib.suppress(FrontierError):
                figures = gather(frontier)
        return figures

    def _view(self, figures: Figures, processes: list[subprocess.Popen[bytes]], passed_s: float) -> Group:
        states = [
            f"worker {number}: {'at work' if process.poll() is None else _ended(process.returncode)}"
            for number, process in enumerate(processes, 1)
        ]
        head = Text(f"{passed_s:4.0f} s   {figures.line()}\n{'   '.join(states)}")
        return Group(Panel(head, title="scrapy crawl zulu", title_align="left"), host_table(figures, 10))

    def _judge(self, figures: Figures, codes: list[int]) -> int:
        web = load_web(self.folder / "web")
        killed_pages = 20 if self.killed else 0
        expected = Expectations(DELAY_S, IP_DELAY_S, refetches=killed_pages)
        findings = verify(read_log(self.folder / "web" / LOG_FILE), web, expected)
        check_archive(self.folder / "crawl" / "warc", findings, web)
        (self.folder / "findings.json").write_text(json.dumps(findings.to_json(), indent=1) + "\n")
        traits = [web.graph.traits(web.sites[page.site], page.n) for page in web.truth.pages]
        self._summary(figures, findings, sum(one.pdf for one in traits), sum(one.drawn for one in traits))
        bad = [code for code in codes if code not in ((0, -signal.SIGKILL) if self.killed else (0,))]
        if bad:
            self.console.print(f"A worker ended with status {bad[0]}; see {self.folder}/worker-*.log", style="bold red")
        good = self._verify_politeness() and findings.ok and not bad
        self.console.print(
            "Every promise held." if good else "Not every promise held.", style="bold green" if good else "bold red"
        )
        return 0 if good else 1

    def _verify_politeness(self) -> bool:
        """What ``scrapy politeness verify`` says of the crawl's audit and archive."""
        command = [sys.executable, "-m", "scrapy", "politeness", "verify", "--crawl", CRAWL, "--json"]
        command += ["--seeds", str(self.folder / "web" / "crawl.toml"), "--delay", str(DELAY_S)]
        command += ["--ip-delay", str(IP_DELAY_S), "-s", f"DATA_DIR={self.folder / 'crawl'}"]
        ran = subprocess.run(command, env=_without_redis_url(), capture_output=True, text=True, timeout=60, check=False)
        if not ran.stdout:
            self.console.print(f"scrapy politeness verify: {ran.stderr.strip()[-500:]}", style="bold red")
            return False
        proofs = json.loads(ran.stdout)
        told = "; ".join(
            f"{witness}: {proof['too_short']} of {proof['gaps']} gaps too short" for witness, proof in proofs.items()
        )
        self.console.print(f"scrapy politeness verify: {told}.")
        return ran.returncode == 0 and all(proof["gaps"] for proof in proofs.values())  # none is for want of a witness

    def _summary(self, figures: Figures, findings: Findings, documents: int, drawn: int) -> None:
        show = self.console.print
        show(language_table(figures))
        show(host_table(figures, _MOST_HOSTS))
        show(warc_table(self.folder / "crawl" / "warc"))
        show_findings(findings, self.console)
        kept, pages = sum(figures.kept.values()), figures.pages
        show(
            f"{findings.requests} requests in {time.monotonic() - self.started:.0f} s; "
            f"{kept} of {pages} judged pages kept (harvest rate {figures.harvest_rate:.0%}; "
            f"{documents} are PDF, {drawn} drawn by a script)."
        )
        here = Path.cwd()
        show(f"Everything is in {self.folder.relative_to(here) if self.folder.is_relative_to(here) else self.folder}.")


def _without_redis_url() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "REDIS_URL"}


def _ended(code: int) -> str:
    return "finished" if code == 0 else f"ended ({code})"


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.web.demo",
        description="Crawl a synthetic web on loopback and judge the crawl by the web's own log.",
        epilog="example: python -m tests.web.demo --kill 5",
    )
    parser.add_argument(
        "--dir", type=Path, default=Path("demo-data"), help="folder to work in (made anew; empty, new or a demo's)"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--kill", type=float, default=0.0, metavar="S", help="kill -9 a worker after S seconds, start another"
    )
    parser.add_argument("--svg", type=Path, help="write what the terminal shows as a picture")
    options = parser.parse_args()
    console = Console(record=True, width=_PICTURE_COLUMNS) if options.svg else Console()
    sizes = options.workers, options.hosts, options.pages, options.seed, options.kill
    demo = Demo(options.dir.resolve(), *sizes, console)
    try:
        status = demo.run()
        if options.svg:
            options.svg.write_text(console.export_svg(title="make demo"), encoding="utf-8")
        return status
    except (DemoError, EmbeddedRedisError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"demo: {error.filename or options.dir}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: stopped; nothing runs on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
