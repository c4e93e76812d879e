"""The synthetic web's commands: ``serve`` until SIGTERM or Ctrl-C, ``verify`` a folder that was served, ``truth``.

Exit codes: 0 all well; 1 what was asked for cannot be done, or the verifier found something; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from pathlib import Path

from tests.web.report import show
from tests.web.requestlog import read_log
from tests.web.server import PortTakenError, Server, bind
from tests.web.spec import STRUCTURES, FeedSpec, Rates, SpecError, WebSpec, calm, wild
from tests.web.verify import Expectations, verify
from tests.web.warcs import check_archive
from tests.web.web import CRAWL_FILE, HOSTS_FILE, LOG_FILE, load_web

_RAW = argparse.RawDescriptionHelpFormatter
_SERVE = """examples:
  python -m tests.web serve --mood calm --hosts 4 --pages 60 --dir web
  python -m tests.web serve --mood calm --language xho --others zul,eng --feed count=4,kind=atom,interval_s=30 --dir web

Then crawl it by the command that is printed: scrapy crawl NAME -a seeds=web/crawl.toml …
"""
_VERIFY = """example:
  python -m tests.web verify web --delay-s 0.5 --warc web/crawl/warc
"""
_TRUTH = """example:
  python -m tests.web truth web > truth.jsonl
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    arguments = parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except PortTakenError as error:
        print(f"tests.web: {error.strerror}", file=sys.stderr)
        return 1
    except (ValueError, FileNotFoundError, PermissionError, NotADirectoryError) as error:
        print(f"tests.web: {error}", file=sys.stderr)
        return 1
    return status


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m tests.web", description="A synthetic web on loopback.")
    commands = top.add_subparsers(required=True, metavar="serve|verify|truth")
    text = "serve a web until SIGTERM or Ctrl-C"
    serving = commands.add_parser("serve", help=text, description=text, epilog=_SERVE, formatter_class=_RAW)
    _spec_options(serving)
    serving.add_argument("--dir", type=Path, required=True, help="folder for web.json, crawl.toml, hosts and the log")
    serving.set_defaults(run=_serve)
    text = "judge a crawl by the log in DIR"
    judging = commands.add_parser("verify", help=text, description=text, epilog=_VERIFY, formatter_class=_RAW)
    judging.add_argument("dir", type=Path)
    judging.add_argument(
        "--delay-s", type=_number, default=0.0, help="shortest pause on an authority (Crawl-delay on top)"
    )
    judging.add_argument("--ip-delay-s", type=_number, default=0.0, help="shortest pause on an address")
    judging.add_argument("--coverage", choices=("all", "target", "none"), default="all")
    judging.add_argument("--refetches", type=int, default=0, help="repeats excused because workers were killed")
    judging.add_argument("--tolerance-ms", type=_number, default=1.0)
    judging.add_argument("--warc", type=Path, help="folder of WARC files to compare with what was served")
    judging.add_argument("--json", action="store_true")
    judging.set_defaults(run=_verify)
    text = "what a crawl must find: one JSON line a page"
    telling = commands.add_parser("truth", help=text, description=text, epilog=_TRUTH, formatter_class=_RAW)
    telling.add_argument("dir", type=Path)
    telling.set_defaults(run=_truth)
    return top


def _number(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (value := float(text)) < inf:
            return value
    raise argparse.ArgumentTypeError(f"{text} is no number from 0 on")


def _spec_options(parser: argparse.ArgumentParser) -> None:
    plain = WebSpec()
    for name in ("seed", "hosts", "pages", "addresses", "port", "seed_hosts", "min_links", "max_links", "page_bytes"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(plain, name))
    for name in ("target_share", "crawl_delay_s", "time_scale", "slow_s"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=_number, default=getattr(plain, name))
    parser.add_argument("--retry-after-s", type=int, default=plain.retry_after_s)
    parser.add_argument(
        "--language", default=plain.language, help="of its pages; made-up syllables, where the model has none such"
    )
    parser.add_argument("--others", default=",".join(plain.others), help="other languages, with commas")
    parser.add_argument("--structure", choices=STRUCTURES, default=plain.structure)
    parser.add_argument("--robots", default="", help="robots.txt kinds of hosts 1, 2, …, with commas")
    parser.add_argument(
        "--named", action="store_true", help="authorities by name (see the hosts file) instead of by IP"
    )
    parser.add_argument("--mood", choices=("usual", "calm", "wild"), default="usual", help="how much misbehaviour")
    parser.add_argument("--rate", action="append", default=[], metavar="NAME=SHARE", help="e.g. flaky=0.1; repeatable")
    parser.add_argument(
        "--feed",
        action="append",
        default=[],
        metavar="KEY=VALUE,…",
        help="e.g. count=10,kind=atom,interval_s=30,window=8",
    )


def spec_from(arguments: argparse.Namespace) -> WebSpec:
    """The specification that the options of ``serve`` give."""
    fields = (
        "seed", "hosts", "pages", "addresses", "port", "seed_hosts", "min_links", "max_links", "page_bytes",
        "target_share", "crawl_delay_s", "time_scale", "slow_s", "retry_after_s", "language", "structure", "named",
    )  # fmt: skip
    spec = WebSpec(
        others=tuple(filter(None, arguments.others.split(","))), **{name: getattr(arguments, name) for name in fields}
    )
    if arguments.mood != "usual":
        spec = (calm if arguments.mood == "calm" else wild)(spec)
    if arguments.robots:
        spec = spec.replace(robots=tuple(arguments.robots.split(",")))
    rates = {name: getattr(spec.rates, name) for name in Rates.__dataclass_fields__}
    for change in arguments.rate:
        name, _, value = change.partition("=")
        if name not in rates:
            raise SpecError(f"--rate {change}: names are {', '.join(rates)}")
        rates[name] = float(value)
    return spec.replace(rates=Rates(**rates), feeds=tuple(map(_feed, arguments.feed)))


def _feed(text: str) -> FeedSpec:
    values: dict[str, object] = {}
    for pair in text.split(","):
        name, _, value = pair.partition("=")
        field = FeedSpec.__dataclass_fields__.get(name)
        if field is None:
            raise SpecError(f"--feed {text}: names are {', '.join(FeedSpec.__dataclass_fields__)}")
        values[name] = _convert(str(field.type), value)
    return FeedSpec(**values)  # type: ignore[arg-type]


def _convert(kind: str, value: str) -> object:
    match kind:
        case "int":
            return int(value)
        case "float":
            return float(value)
        case "bool":
            return value.lower() not in ("0", "false", "no")
        case _:
            return value


def _serve(arguments: argparse.Namespace) -> int:
    web, sockets = bind(spec_from(arguments))
    arguments.dir.mkdir(parents=True, exist_ok=True)
    server = Server(web, arguments.dir / LOG_FILE, sockets)
    web.write(arguments.dir, _crawl_name(web.spec), server.started_epoch_s)
    asyncio.run(_until_signal(server, arguments.dir))
    return 0


def _crawl_name(spec: WebSpec) -> str:
    return "zulu" if spec.language == "zul" else spec.language


def crawl_command(spec: WebSpec, folder: Path) -> str:
    """What is to be typed to crawl the web that is served in this folder."""
    words = ["scrapy", "crawl", _crawl_name(spec), "-a", f"seeds={folder / CRAWL_FILE}"]
    words += ["-s", "FETCH_ALLOWED_NETWORKS=127.0.0.0/8", "-s", f"DATA_DIR={folder / 'crawl'}"]
    if spec.named:
        words += ["-s", f"FETCH_HOSTS_FILE={folder / HOSTS_FILE}"]
    return shlex.join(words)


async def _until_signal(server: Server, folder: Path) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    spec = server.web.spec
    print(
        f"ready: {spec.hosts} hosts, {spec.pages} pages on port {spec.port}; seeds in {folder / CRAWL_FILE}, "
        f"log in {folder / LOG_FILE}\n{crawl_command(spec, folder)}",
        flush=True,
    )
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)  # link blocks are many small tuples that stay
    await server.run(stop)


def _verify(arguments: argparse.Namespace) -> int:
    web = load_web(arguments.dir)
    expected = Expectations(
        arguments.delay_s, arguments.ip_delay_s, arguments.coverage, arguments.refetches, arguments.tolerance_ms
    )
    findings = verify(read_log(arguments.dir / LOG_FILE), web, expected)
    if arguments.warc:
        check_archive(arguments.warc, findings, web)
    if arguments.json:
        print(json.dumps(findings.to_json(), indent=1))
    else:
        show(findings)
    return 0 if findings.ok else 1


def _truth(arguments: argparse.Namespace) -> int:
    web = load_web(arguments.dir)
    for resource, known in web.truth.pages.items():
        print(json.dumps({"url": web.paths.url(resource), **known._asdict()}))
    return 0
