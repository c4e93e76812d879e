"""Makes the store on disk again when it is lost, or does not go with what Redis has: one of them is an older copy.

What it knows then: what Redis has as admitted and on its way (``fresh``, ``ready``), the URLs that are given (of the
archive and the frontier), and of the folder what it has, if that was handed over to it: a folder that is ahead of Redis
knows URLs that Redis must be given again, and they are left out. The epoch is that of Redis. Until the new manifest
stands all is as it was; killed at any instant, the same call does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from sieve.disk.files import FolderLock, load
from sieve.errors import StoreError
from sieve.fingerprint import Fingerprints
from sieve.fleet.holder import EPOCH, name_store, says_no_epoch, store_id
from sieve.fleet.redis_link import RedisLink
from sieve.queues.items import Fingerprinter, chosen_items
from sieve.sets.runs import salvage
from sieve.sets.store import MANIFEST, distinct, make_again


def remake(
    link: RedisLink, epoch: int, folder: Path, fingerprinter: Fingerprinter, known: Iterable[Sequence[str]]
) -> int:
    """Make the store in `folder` again, also of `known`, batches of URLs; how many it knows. The caller holds the flush
    lease at `epoch`. StoreError when the seen URLs are in Redis, LockedError when a process has the folder open."""
    home = link.home()
    if not home:
        raise StoreError(f"the seen URLs of {link.keys.crawl!r} are in Redis")
    ours = store_id(folder) == home
    lock = FolderLock(folder)
    try:
        parts = [*(_earlier(folder, epoch, link.tally().seen) if ours else ()), *_fresh(link)]
        parts += (fingerprinter.batch(chosen_items(*pair)).keys for pair in link.ready())
        parts += (fingerprinter.batch(urls).keys for urls in known if urls)
        keys = distinct(np.sort(np.concatenate([*parts, np.zeros(0, np.uint64)])))
        make_again(folder, keys, {"epoch": epoch})
        name_store(folder, home)
    finally:
        lock.release()
    return len(keys)


def _earlier(folder: Path, epoch: int, admitted: int) -> Iterator[Fingerprints]:
    """What a store that is not ahead of `epoch` has; of one that does not say its own, that has not more than the
    `admitted`. DamagedError."""
    manifest = load(folder / MANIFEST)
    if manifest is None:
        return
    facts = manifest["facts"]
    count = sum(count for _, count in manifest["runs"])
    if count > admitted if says_no_epoch(facts) else facts.get("epoch", 0) > epoch:
        return
    for name, _ in manifest["runs"]:
        if (folder / name).exists():
            yield np.array(salvage(folder / name)[0])


def _fresh(link: RedisLink) -> Iterator[Fingerprints]:
    for element in link.fresh():
        yield np.frombuffer(element, "<u8", offset=EPOCH.size).astype(np.uint64)
