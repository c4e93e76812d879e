"""What the archive says of where its records come from: the program's commit, the page a URL was found on, the record
that holds the same payload."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

import msgpack

from archive import RevisitTarget
from crawler.state.shared_table import SharedTable
from frontier.payload import source_tag

# About 100 and 300 bytes an entry: at most some 13 and 20 MB of the fleet's Redis.
MOST_SOURCES = 1 << 17
MOST_PAYLOADS = 1 << 16

_HOME = Path(__file__).resolve().parents[2]


class Sources:
    """The URLs behind the tags that the frontier keeps of sources (:func:`frontier.payload.source_tag`)."""

    def __init__(self, table: SharedTable) -> None:
        self._table = table

    def urls(self, tags: Iterable[str], also: Iterable[str] = ()) -> dict[str, str]:
        """The URL behind each tag; tags of which it is not known any more are missing. From now on the URLs among the
        sources `also` are known ("", "seed" and tags are none). One round trip."""
        asked = {tag: _key(tag) for tag in tags if "#" in tag}
        urls = (source for source in also if "://" in source)
        entries = {_key(source_tag(source)): source.removeprefix("feed:").encode() for source in urls}
        found = self._table.exchange(set(asked.values()), entries)
        return {tag: found[key].decode() for tag, key in asked.items() if key in found}


class Payloads:
    """The fleet's payloads for :class:`archive.writing.seen.SeenPayloads`: digest -> the record that has it."""

    def __init__(self, table: SharedTable) -> None:
        self._table = table

    def find(self, checksums: Collection[str]) -> dict[str, RevisitTarget]:
        """The records that hold them, as far as they are known; one round trip."""
        asked = {checksum.encode(): checksum for checksum in checksums}
        found = self._table.get(asked)
        return {asked[key]: RevisitTarget(*msgpack.unpackb(packed)) for key, packed in found.items()}

    def remember(self, targets: Mapping[str, RevisitTarget]) -> None:
        """Keep which records hold these payloads; one round trip."""
        packed = {checksum: msgpack.packb((it.url, it.date, it.record_id)) for checksum, it in targets.items()}
        self._table.put({checksum.encode(): value for checksum, value in packed.items()})


@cache
def program_commit() -> str:
    """The program's git commit, "-dirty" behind it where files differ; "" when neither a checkout nor pip knows it."""
    if (_HOME / ".git").exists():
        asked = ["git", "-C", str(_HOME), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
        try:
            return subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
        except (OSError, subprocess.SubprocessError):
            return ""
    try:
        told = importlib.metadata.distribution("ulwembu").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return ""
    vcs = json.loads(told).get("vcs_info", {}) if told else {}
    return str(vcs.get("commit_id", ""))


def _key(tag: str) -> bytes:
    return bytes.fromhex(tag.rpartition("#")[2])
