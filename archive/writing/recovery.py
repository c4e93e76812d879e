"""After a crash: finish the files of writers that died, with what their journals hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from archive.errors import Damage, JournalBusy, JournalUnreadable
from archive.messages.digests import digest
from archive.storage.codecs import compression_of
from archive.storage.warcfile import OPEN
from archive.writing.config import PERSISTED, WriterConfig
from archive.writing.journal import Group, Journal, State
from archive.writing.packing import thaw
from archive.writing.records import Style, build, entity
from archive.writing.writer import WarcWriter

Accepted = Callable[[Sequence[str]], Collection[str]]
_NOT_OURS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What comes of values that no writer of this version puts into a journal."""


@dataclass(slots=True)
class Recovery:
    """What :func:`recover` did: exchanges ``kept`` and ``dropped``, files ``finished``.

    ``busy``: journals of live writers, left alone.
    """

    finished: list[Path] = field(default_factory=list)
    kept: int = 0
    dropped: int = 0
    busy: list[Path] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)


def recover(folder: str | Path, accepted: Accepted, config: WriterConfig | None = None) -> Recovery:
    """Finish every dead writer's ``.open`` file in the folder.

    ``accepted`` is asked with the tokens whose fate the journal does not know and answers with those the frontier
    accepted; their pages are kept, the others dropped. Safe to be killed at any instant and called again, and to be
    called by several processes at once. ``config`` gives only callbacks and limits; how records are written stands in
    the journal. What no crash of ours leaves behind (a journal of another version, a file cut short) is told in
    ``damage`` and left alone; an exchange of which no records can be made is told and left out.
    """
    result = Recovery()
    for path in sorted(Path(folder).glob("*.journal")):
        try:
            journal, state = Journal.take_over(path)
        except JournalBusy:
            result.busy.append(path)
            continue
        except FileNotFoundError:
            continue
        except (JournalUnreadable, OSError) as error:
            # One journal that cannot be read must not keep those of other writers, or the next crawl, from going on.
            reason = error.reason if isinstance(error, JournalUnreadable) else error.strerror or str(error)
            result.damage.append(Damage(str(path), 0, -1, f"journal left as it is: {reason}"))
            continue
        try:
            _finish(journal, state, accepted, config or WriterConfig(), result)
        finally:
            journal.close(remove=False)
    return result


def _finish(journal: Journal, state: State, accepted: Accepted, config: WriterConfig, result: Recovery) -> None:
    result.damage += state.damage
    folder = journal.path.parent
    for group in [group for group in state.groups.values() if not _makes_records(group)]:
        del state.groups[group.ident]
        result.damage.append(Damage(str(journal.path), 0, -1, "no exchange in a journal frame", len(group.body)))
    if not state.config and not state.groups:
        journal.close(remove=True)
        return
    kind = compression_of(Path(state.open_name)) if state.open_name else "xz"
    state.config = {"prefix": "recovered", "compression": kind, "max_bytes": 0, **state.config}
    settings = {name: state.config[name] for name in (*PERSISTED, "dictionary", "warcinfo") if name in state.config}
    tokens = sorted({g.token for g in state.groups.values() if g.token and g.ident not in state.accepted})
    kept = set(accepted(tokens)) if tokens else set()
    count = sum(g.ident in state.accepted or not g.token or g.token in kept for g in state.groups.values())
    dropped = len(state.groups) - count
    try:
        result.damage += _missing(folder, state)
        with WarcWriter.resume(journal, state, replace(config, **settings)) as writer:
            writer.settle(kept, [token for token in tokens if token not in kept])
    except _NOT_OURS as error:
        result.damage.append(Damage(str(journal.path), 0, -1, f"journal left as it is: {error}"))
        return
    result.kept += count
    result.dropped += dropped
    result.finished += writer.finished


def _makes_records(group: Group) -> bool:
    try:
        exchange = thaw(group.body)
        build(exchange, digest("sha1", entity(exchange)), None, Style())
    except _NOT_OURS:
        return False
    return True


def _missing(folder: Path, state: State) -> list[Damage]:
    """What the journal vouches for and the file does not have. A file cut short is left alone; a new one is begun."""
    if not state.good_bytes or (folder / state.open_name).exists():
        return []
    path = folder / (state.open_name + OPEN)
    if not path.exists():
        return [Damage(str(folder / state.open_name), 0, -1, "the file that was being written is gone")]
    size = path.stat().st_size
    if size >= state.good_bytes:
        return []
    lost = state.good_bytes - size
    state.open_name, state.good_bytes = "", 0
    return [Damage(str(path), size, -1, "cut short outside of the crawl; `archive repair` takes what is sound", lost)]
