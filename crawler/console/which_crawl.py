"""Which crawl a command means, and what its workers go by.

A crawl that is not named is the only one that the Redis, or the data folder, has. What the workers were given with
``-s`` they have left in Redis (crawler/state/run_record.py): it counts where the command line does not say otherwise.
"""

from __future__ import annotations

import contextlib
import glob
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from crawler.errors import PreflightError
from crawler.spiderloader import loader_of
from crawler.state.folder import data_folder
from crawler.state.redis_link import ping, redis_home, without_password
from crawler.state.run_record import FILES, RECORDED, WorkerRecord, crawls_of, differences
from seeds.crawl import load_crawl

_SAID = SETTINGS_PRIORITIES["cmdline"]


def named_crawl(settings: BaseSettings, name: str, seeds: str) -> str:
    """The name of the crawl that is meant: the seed file's, the one named, or the only one there is.
    PreflightError, SeedsError, RedisUnreachableError."""
    if seeds:
        found_there = load_crawl(Path(seeds)).name
        if name and name != found_there:
            raise PreflightError(f"--crawl {name}, but the crawl of --seeds {seeds} is {found_there!r}")
        return found_there
    if name:
        return name
    found = known_crawls(settings)
    if len(found) == 1:
        return found[0]
    if found:
        raise PreflightError(f"which crawl? --crawl NAME; in {_place(settings)} there are: {', '.join(found)}")
    raise PreflightError(
        f"no crawl is known in {_place(settings)}; one that is elsewhere: -s DATA_DIR=… or -s REDIS_URL=…, as it was "
        "started with; scrapy crawl NAME begins one"
    )


def known_crawls(settings: BaseSettings) -> list[str]:
    """The crawls that have state in the Redis of the settings, or in data folders that they may mean."""
    if url := str(settings.get("REDIS_URL") or ""):
        ping(url)
        return crawls_of(url)
    pattern = Path(str(settings.get("DATA_DIR"))).absolute()
    before, *after = str(pattern).split("{crawl}")
    if not after and _private(pattern):
        if name := _name_of(pattern, before, after):
            return [name]
        with redis_home(settings, pattern) as home:  # a spider without a seed file writes no name down
            return crawls_of(home.url)
    names = set()
    wild = "*".join(map(glob.escape, str(pattern.relative_to("/")).split("{crawl}")))
    for folder in Path("/").glob(wild):
        if _private(folder):
            names.add(_name_of(folder, before, after))
    return sorted(name for name in names if name and _private(data_folder(settings, name)))


def no_state(settings: BaseSettings, name: str) -> PreflightError:
    """What to say of a crawl that never ran where it was looked for."""
    folder = data_folder(settings, name)
    place = _place(settings) if settings.get("REDIS_URL") else str(folder)
    others = [other for other in known_crawls(settings) if other != name]
    known = f"; there are: {', '.join(others)}" if others else "; there is no other"
    fleet = ""
    if not settings.get("REDIS_URL") and _name_of(folder, "", ()) == name and not _private(folder):
        fleet = "; it was crawled with a REDIS_URL: that is needed here, too"
    seeds = name in loader_of(settings).list()
    begun = f"scrapy crawl {name} begins it" if seeds else "scrapy crawl NAME begins one of those of scrapy list"
    return PreflightError(f"crawl {name!r} has no state in {place} (DATA_DIR, REDIS_URL){fleet}{known}; {begun}")


def said(settings: BaseSettings, name: str) -> bool:
    """Whether the command line names the setting."""
    return (settings.getpriority(name) or 0) >= _SAID


@dataclass(frozen=True, slots=True)
class Taken:
    """What the workers' records gave: `folder` of the crawl on this machine, `seeds` file ("": as the settings say),
    machines that have its archive when this one has none, `notes` for whoever asks."""

    folder: Path
    seeds: str
    elsewhere: str
    notes: tuple[str, ...] = ()


def take_over(settings: BaseSettings, records: Sequence[WorkerRecord], now_ms: int, folder: Path) -> Taken:
    """Put into `settings` those of the worker that started last (of those that run, if any does), but for what the
    command line says. `folder` is the data folder as the settings have it."""
    if not records:
        return Taken(folder, "", "")
    running = [one for one in records if one.runs(now_ms)]
    last = (running or records)[0]
    here = [one for one in (last, *records) if one.host == socket.gethostname()]
    notes = _differing(settings, running, last, now_ms)
    folder = _folder_of(settings, here, folder)
    notes += _take_settings(settings, last, folder)
    seeds = "" if said(settings, "SEEDS_DIR") else _seeds_of([last, *records])
    return Taken(folder, seeds, "" if here else _machines_of(records, folder), tuple(notes))


def _folder_of(settings: BaseSettings, here: Sequence[WorkerRecord], folder: Path) -> Path:
    """That of the first of the workers of this machine whose is there; `folder` where the command line says another, or
    there is no such worker, or no fleet."""
    if not settings.get("REDIS_URL") or said(settings, "DATA_DIR"):
        return folder
    return next((Path(one.folder) for one in here if _is_dir(Path(one.folder))), folder)


def _take_settings(settings: BaseSettings, last: WorkerRecord, folder: Path) -> list[str]:
    """Put in what that worker had; a line for a model that only its machine has."""
    lines = []
    for name in RECORDED:
        if name not in last.settings or said(settings, name):
            continue
        value = last.settings[name]
        if _is_here(name, value, folder):
            settings.set(name, value, priority="spider")
        elif name == "RELEVANCE_MODEL":
            lines.append(f"{name} {value} of this crawl is not on this machine")
    return lines


def _seeds_of(records: Sequence[WorkerRecord]) -> str:
    """The seed file, where this machine has it, of any worker: containers of one image have many names and the same
    paths."""
    return next((one.seeds for one in records if one.seeds and _is_file(Path(one.seeds))), "")


def _machines_of(records: Sequence[WorkerRecord], folder: Path) -> str:
    """Those that have the archive, where it is not in `folder`."""
    return "" if _is_dir(folder / "warc") else ", ".join(sorted({one.host for one in records}))


def _differing(settings: BaseSettings, running: Sequence[WorkerRecord], last: WorkerRecord, now_ms: int) -> list[str]:
    """A line for each setting that the workers that run do not have alike."""
    lines = []
    for name, values in differences(running).items():
        theirs = ", ".join(f"{value} ({one.words(now_ms)})" for value, one in values.items())
        taken = settings.get(name) if said(settings, name) else last.settings.get(name)
        lines.append(f"workers of this crawl go by different {name}: {theirs}; taken here: {taken}")
    return lines


def _is_here(name: str, value: Any, folder: Path) -> bool:
    """Whether a worker's setting means something on this machine: its files may be on another."""
    if name in FILES and value:
        return _is_file(Path(value))
    return name != "SIEVE_STORE" or value != "disk" or _is_dir(folder / "state" / "sieve")


def _private(folder: Path) -> bool:
    """Whether it is the data folder of a crawl with a private Redis."""
    return _is_dir(folder / "state" / "redis")


def _is_dir(path: Path) -> bool:
    """Whether it is a folder that this user may look into: workers may be another's, and paths another machine's."""
    with contextlib.suppress(OSError, ValueError):
        return path.is_dir()
    return False


def _is_file(path: Path) -> bool:
    """As :func:`_is_dir`, of files."""
    with contextlib.suppress(OSError, ValueError):
        return path.is_file()
    return False


def _name_of(folder: Path, before: str, after: Sequence[str]) -> str:
    """The name of the crawl whose folder this is: as it has been written down, else by its place; "" for none."""
    try:
        if name := (folder / "state" / "crawl").read_text(encoding="utf-8", errors="replace").strip():
            return name
    except OSError:
        pass
    place = re.fullmatch(re.escape(before) + "([^/]+)" + ".*".join(map(re.escape, after)), str(folder))
    return place[1] if place else ""


def _place(settings: BaseSettings) -> str:
    if url := str(settings.get("REDIS_URL") or ""):
        return without_password(url)
    return str(Path(str(settings.get("DATA_DIR"))).absolute())
