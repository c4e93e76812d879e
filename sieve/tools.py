"""Looking into a sieve, checking, repairing and rebuilding it; plain functions, for commands and scripts.

A folder is looked into read-only, since its sieve may be open in another process; what changes it (:func:`repair`)
takes the folder's lock.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sieve.disk.files import FolderLock, LogReader, Place, load
from sieve.errors import DamagedError, StoreError
from sieve.fingerprint import Fingerprints
from sieve.fleet.redis_sieve import RedisSieve
from sieve.kinds.mercator import MercatorSieve, is_of_another
from sieve.sets.runs import Run, salvage
from sieve.sets.store import MANIFEST, SALVAGED, distinct, lost_manifest, make_again
from sieve.types import Item, Sieve
from sieve.urls import UrlError, canonicalize

_REBUILD_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing :func:`check` found or :func:`repair` did; `lost_keys` known URLs were forgotten with it."""

    path: str
    what: str
    lost_keys: int = 0


@dataclass(slots=True)
class Rebuilt:
    """Counts of :func:`rebuild`: URLs read, known now, and refused as no URL."""

    read: int = 0
    known: int = 0
    refused: list[str] = field(default_factory=list)


def folder_stats(folder: Path) -> dict[str, Any]:
    """Bytes of the store in `folder`, and what its manifest says."""
    manifest = load(folder / MANIFEST)
    found: dict[str, Any] = {"folder": str(folder)}
    found["bytes"] = sum(_size(path) for path in folder.rglob("*"))
    if manifest is not None:
        found["runs"] = len(manifest["runs"])
        found["stored"] = sum(count for _, count in manifest["runs"])
        found["facts"] = manifest["facts"]
    return found


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:  # a run that a running sieve has merged meanwhile
        return 0


def fleet_stats(sieve: RedisSieve) -> dict[str, Any]:
    """Counts of URLs and sizes of the lists in Redis."""
    tally = sieve.tally()
    return {"kind": "redis", **tally._asdict(), "undecided": tally.put - tally.decided, **sieve.sizes()}


def check(folder: Path) -> Iterator[Finding]:
    """Verify every byte of the store and the logs in `folder`, changing nothing; yields what is wrong.

    A run that a running sieve merges meanwhile is passed over.
    """
    try:
        manifest = load(folder / MANIFEST) or {"runs": []}
        if lost_manifest(folder):
            raise DamagedError(str(folder / MANIFEST), "it is missing")
        if is_of_another(folder, manifest.get("facts", {})):
            raise DamagedError(str(folder / MANIFEST), "its seed is not the one in SEED")
    except DamagedError as error:
        yield Finding(error.path, error.reason)
        manifest = {"runs": [[path.name, None] for path in sorted(folder.glob("*.run"))]}
    for name, count in manifest["runs"]:
        path = folder / name
        try:
            found = len(Run.open(path))
        except DamagedError as error:
            yield Finding(error.path, error.reason)
        except FileNotFoundError:
            if _is_named(folder, name):
                yield Finding(str(path), "is missing")
        else:
            if count not in (None, found):
                yield Finding(str(path), f"has {found} keys, not {count}")
    for name in ("ready", "waiting", "taken"):
        yield from _check_log(folder, name)


def _is_named(folder: Path, run: str) -> bool:
    """Whether the run should still be there: of one that was merged the manifest is replaced before it is deleted."""
    with contextlib.suppress(DamagedError):
        manifest = load(folder / MANIFEST)
        return manifest is None or any(name == run for name, _ in manifest["runs"])
    return True


def _check_log(folder: Path, name: str) -> Iterator[Finding]:
    log, damage = LogReader(folder, name), list[DamagedError]()
    log.on_damage = damage.append
    for _ in log.records(Place(min(log.segments(), default=0), 0)):
        pass
    log.close()
    for error in damage:
        yield Finding(error.path, error.reason)


def repair(folder: Path) -> list[Finding]:
    """Make a damaged store open again from what is sound: what was lost may come out once more.

    Runs keep their sound blocks; a manifest that is lost or not theirs is made again from the runs there are. Nothing
    is deleted before what was sound is stored anew. Damaged log records are skipped by every opening already. Takes
    the folder's lock.
    """
    lock = FolderLock(folder)
    try:
        findings = list(check(folder))
        if not any(finding.path.endswith((".run", MANIFEST)) for finding in findings):
            return findings
        return [*_repair(folder), *(finding for finding in findings if finding.path.endswith(".log"))]
    finally:
        lock.release()


def _repair(folder: Path) -> Iterator[Finding]:
    manifest = _manifest_of(folder)
    if manifest is None:
        yield Finding(str(folder / MANIFEST), "made again from the runs, with the seed kept in SEED")
    names = [name for name, _ in manifest["runs"]] if manifest else [path.name for path in folder.glob("*.run")]
    facts = manifest["facts"] if manifest else {SALVAGED: 0}
    parts: list[Fingerprints] = []
    for name in names:
        keys, lost = salvage(folder / name)
        parts.append(np.array(keys))
        if lost:
            yield Finding(str(folder / name), f"kept {len(keys)} keys, lost {lost}", lost)
        if SALVAGED in facts:
            facts[SALVAGED] += lost
    keys = np.concatenate([*parts, np.zeros(0, np.uint64)])
    make_again(folder, distinct(np.sort(keys)), facts)


def _manifest_of(folder: Path) -> dict[str, Any] | None:
    """The manifest, but for one that is lost, or is an older copy or another store's: a run that it names is missing,
    or is sound and has another number of keys."""
    try:
        manifest = load(folder / MANIFEST)
    except DamagedError:
        return None
    if manifest is None or is_of_another(folder, manifest["facts"]):
        return None
    for name, count in manifest["runs"]:
        with contextlib.suppress(DamagedError):
            if not (folder / name).exists() or len(Run.open(folder / name)) != count:
                return None
    return manifest


def rebuild(sieve: Sieve, known: Iterable[str], ready: Iterable[Item] = ()) -> Rebuilt:
    """Fill a sieve with URLs that were fetched or are in the frontier (`known`: they do not come out again).

    `known` are the URLs of WARC or CDXJ files and of the frontier's states and queues; `ready`, which then come out,
    are those that should be fetched again. A fleet's sieve may know URLs already, and whatever became of an earlier
    call; its store on disk is made again where it is lost or out of step with Redis. Any other, and where some are to
    be `ready`, must be empty, else it is a :class:`~sieve.errors.StoreError`.
    """
    result = Rebuilt()
    if isinstance(sieve, RedisSieve) and not ready:
        result.known = sieve.learn(_sound(batch, result) for batch in _batches(known))
        return result
    if not _is_empty(sieve):
        raise StoreError("only an empty sieve can be rebuilt; this one knows URLs")
    for batch in _batches(known):
        result.known += _admit(sieve, batch, result)
    for batch in _batches(ready):
        result.read += len(batch)
        sieve.enqueue(batch)
    sieve.flush()
    return result


def _is_empty(sieve: Sieve) -> bool:
    if isinstance(sieve, RedisSieve):
        return sieve.tally().put == 0
    if isinstance(sieve, MercatorSieve):
        return not len(sieve.seen) and not sieve.pending()
    return not sieve.drain(1)


def _admit(sieve: Sieve, batch: list[Item], result: Rebuilt) -> int:
    sieve.enqueue(_sound(batch, result))
    sieve.flush()
    return len(sieve.drain())


def _sound(batch: list[Item], result: Rebuilt) -> list[str]:
    """URLs of the batch that are some, the others told in `result`."""
    sound: list[str] = []
    for item in batch:
        url = item if isinstance(item, str) else item.url
        result.read += 1
        try:
            canonicalize(url)
        except UrlError as error:
            result.refused.append(str(error))
        else:
            sound.append(url)
    return sound


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, _REBUILD_BATCH)):
        yield batch
