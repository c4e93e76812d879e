"""The model file: small on disk, arrays in memory that all processes share.

On disk (`*.model`): magic, a JSON header, sections compressed with zstandard. N-grams are a trie in order of their
letters (number of children, last letter); each value is stored as the difference to the next shorter n-gram's, which
is 0 in a language that never saw the n-gram, so the sections shrink to a fifth.

In memory: the same model laid out as plain arrays (a trie and rows). It is written once to a cache folder
(`RELEVANCE_CACHE`, else `XDG_CACHE_HOME`, else `~/.cache`; named by the model file's hash, written aside and renamed)
and memory-mapped from there; where no such folder can be written the arrays are private to the process.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash
import zstandard

from relevance.errors import ModelError
from relevance.language.alphabet import BITS, Alphabet

MAGIC = b"ulwembu-langid 2\n"
ABSENT = 255
"""In a word row: not in the list of that language."""
LONG = 5
"""Letters of n-grams whose values are levelled."""
LAYOUT = 10
"""Version of the arrays in the cache; part of their file name."""
KEPT_DAYS = 60
"""For so long the cache has a model's arrays, once those of another one are written."""
_WRITTEN_S = 60
"""Who has written to a part since may still be about to lock it, or to give it its name after it has let it go."""

MOST = {"step": 1.0, "word_share": 0.999, "clip": 12.75}
"""Of settings that a model is read with: a word has both letters and a share, and evidence fits in bytes."""

MISFITS = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""What is met where the parts of a model do not fit one another."""

Rows = npt.NDArray[np.uint8]
Keys = npt.NDArray[np.int64]
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Parameters:
    """A model as trained. `rows` belong to the n-grams of all orders, shortest first, sorted by key within an order."""

    meta: Mapping[str, Any]
    keys: tuple[Keys, ...]  # by order, from 1
    rows: Rows  # -log p in steps, n-gram x class
    words: tuple[str, ...]
    word_rows: Rows  # -log p in steps, 255 = not in that language's list
    evidence: Rows | None = None  # Model.listed_evidence: spares the look-ups of frequent words
    contrasts: tuple[npt.NDArray[np.int8], ...] = ()  # of each group of siblings: relevance.language.contrast.Table


def in_steps(values: npt.NDArray[np.floating[Any]]) -> Rows:
    """-log p in steps as it is stored: whole and short of ABSENT."""
    whole: Rows = np.clip(np.rint(values), 0, ABSENT - 1).astype(np.uint8)
    return whole


def levelled(model: Parameters) -> Parameters:
    """The model with values of n-grams of LONG letters or more that are one step from the next shorter n-gram's made
    equal to it: with differences of zero the file is a twenty-fifth smaller."""
    rows, shorter = model.rows.copy(), parents(model.keys)
    start = sum(map(len, model.keys[: LONG - 1]))
    for size in map(len, model.keys[LONG - 1 :]):
        here = slice(start, start + size)
        above = rows[shorter[here]]
        near = np.abs(rows[here].astype(np.int16) - above) <= 1
        rows[here] = np.where(near, above, rows[here])
        start += size
    return replace(model, rows=rows)


def packed(model: Parameters) -> bytes:
    """What is in a model file."""
    sections: list[tuple[str, bytes]] = []
    for order, keys in enumerate(model.keys, start=1):
        sections.append((f"letters{order}", (keys & 63).astype(np.uint8).tobytes()))
        if order > 1:
            sections.append((f"children{order}", _children(keys, model.keys[order - 2])))
    deltas = (model.rows - model.rows[parents(model.keys)]).astype(np.uint8)
    sections.append(("rows1", model.rows[: len(model.keys[0])].tobytes()))
    sections.append(("rows", deltas[len(model.keys[0]) :].T.tobytes()))
    sections.append(("words", "\n".join(model.words).encode()))
    sections.append(("word_rows", model.word_rows.T.tobytes()))
    if model.evidence is not None:
        sections.append(("evidence", model.evidence.T.tobytes()))
    for group, table in enumerate(model.contrasts):
        used = table.any(axis=1)
        sections.append((f"contrast{group}rows", np.packbits(used).tobytes()))
        sections.append((f"contrast{group}", table[used].T.tobytes()))
    squeezer = zstandard.ZstdCompressor(level=19, write_checksum=True)
    squeezed = [(name, squeezer.compress(data)) for name, data in sections]
    header = {**model.meta, "sections": [[name, len(data)] for name, data in squeezed]}
    head = json.dumps(header, ensure_ascii=False).encode()
    return MAGIC + struct.pack("<I", len(head)) + head + b"".join(data for _, data in squeezed)


def read(path: Path) -> Parameters:
    """The parameters of a model file; ModelError where it cannot be used."""
    return unpacked(path, content(path))


def unpacked(path: Path, data: bytes) -> Parameters:
    """The same of what was in it."""
    try:
        return _read(*_sections(path, data))
    except MISFITS as error:
        raise damaged(path, error) from error


def damaged(path: Path, error: BaseException) -> ModelError:
    """What to say of a file when one of MISFITS is met."""
    return ModelError(path, f"is damaged: {str(error) or type(error).__name__}")


def _check(header: Mapping[str, Any]) -> None:
    """What is asked of it later is there: one of MISFITS otherwise."""
    names = {c["name"] for c in header["classes"] if c["label"]}
    Alphabet.of(header)
    for key, most in MOST.items():
        if not 0 < float(header[key]) <= most:
            raise ValueError(f"{key} = {header[key]}")
    for spec in header["classes"]:
        float(spec["words"])
        "".join((spec["label"], *spec.get("called", ())))
    "".join((header.get("wanted", ""), *header.get("family", ())))
    stages = header.get("second_stage", {})
    spoken_of = {name for group in header.get("siblings", ()) for name in group}.union(stages, stages.values())
    if unknown := spoken_of - names:
        raise LookupError(f"no class {min(unknown)}")


def _read(header: dict[str, Any], sections: dict[str, bytes]) -> Parameters:
    _check(header)
    classes = len(header["classes"])
    keys = [_codes(sections["letters1"])]
    for order in range(2, int(header["order"]) + 1):
        children = np.frombuffer(sections[f"children{order}"], np.uint8)
        keys.append((np.repeat(keys[-1], children) << BITS) | _codes(sections[f"letters{order}"]))
    longer = sum(len(k) for k in keys[1:])
    rows = np.empty((len(keys[0]) + longer, classes), dtype=np.uint8)
    rows[: len(keys[0])] = np.frombuffer(sections["rows1"], np.uint8).reshape(-1, classes)
    deltas = np.frombuffer(sections["rows"], np.uint8).reshape(classes, longer).T
    shorter = parents(tuple(keys))
    start = len(keys[0])
    for size in map(len, keys[1:]):
        rows[start : start + size] = rows[shorter[start : start + size]]
        rows[start : start + size] += deltas[start - len(keys[0]) : start - len(keys[0]) + size]
        start += size
    words = tuple(sections["words"].decode().split("\n")) if sections["words"] else ()
    word_rows = np.frombuffer(sections["word_rows"], np.uint8).reshape(classes, len(words)).T
    evidence = None
    if "evidence" in sections:
        evidence = np.ascontiguousarray(
            np.frombuffer(sections["evidence"], np.uint8).reshape(classes + 2, len(words)).T
        )
    groups = [(f"contrast{n}", len(group)) for n, group in enumerate(header.get("siblings", ()))]
    contrasts = tuple(_table(sections, name, size) for name, size in groups if name in sections)
    return Parameters(header, tuple(keys), rows, words, np.ascontiguousarray(word_rows), evidence, contrasts)


def _table(sections: Mapping[str, bytes], name: str, siblings: int) -> npt.NDArray[np.int8]:
    used = np.unpackbits(np.frombuffer(sections[f"{name}rows"], np.uint8)).astype(bool)
    table = np.zeros((len(used), siblings), dtype=np.int8)
    table[used] = np.frombuffer(sections[name], np.int8).reshape(siblings, -1).T
    return table


def header_of(path: Path) -> dict[str, Any]:
    """The JSON header alone: classes, settings, training facts."""
    return header(path, content(path))


def header(path: Path, data: bytes) -> dict[str, Any]:
    """The same of what was in it."""
    return _sections(path, data, only_header=True)[0]


def content(path: Path) -> bytes:
    """What is in a model file; ModelError where it is none. Who needs it twice keeps it: the file may be replaced."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(path, error.strerror or str(error)) from error
    if not data.startswith(MAGIC):
        raise ModelError(path, "is no language model of this version")
    return data


def _sections(path: Path, data: bytes, only_header: bool = False) -> tuple[dict[str, Any], dict[str, bytes]]:
    at = len(MAGIC) + 4
    try:
        (size,) = struct.unpack_from("<I", data, len(MAGIC))
        header: dict[str, Any] = json.loads(data[at : at + size])
        sections: dict[str, bytes] = {}
        at += size
        for name, length in [] if only_header else header["sections"]:
            sections[name] = zstandard.ZstdDecompressor().decompress(data[at : at + length])
            at += length
    except (*MISFITS, struct.error, zstandard.ZstdError) as error:
        raise damaged(path, error) from error
    return header, sections


def _children(keys: Keys, shorter: Keys) -> bytes:
    places = np.searchsorted(shorter, keys >> BITS)
    return np.bincount(places, minlength=len(shorter)).astype(np.uint8).tobytes()


def _codes(letters: bytes) -> Keys:
    return np.frombuffer(letters, np.uint8).astype(np.int64)


def parents(keys: tuple[Keys, ...]) -> npt.NDArray[np.int64]:
    """Row of the n-gram without its first letter; order 1: the row itself."""
    parts = [np.arange(len(keys[0]))]
    start = 0
    for order in range(2, len(keys) + 1):
        mask = (np.int64(1) << (BITS * (order - 1))) - 1
        parts.append(start + np.searchsorted(keys[order - 2], keys[order - 1] & mask))
        start += len(keys[order - 2])
    return np.concatenate(parts)


def replace_file(path: Path, data: bytes) -> None:
    """Writes aside and renames: nobody sees half a file. Of a symbolic link, what it leads to is replaced; a device or
    pipe is written to as it is. An OSError names the file."""
    as_it_is = path.exists() and not path.is_file()
    if not as_it_is:  # a pipe's link, as /dev/stdout, leads to no name
        path = Path(os.path.realpath(path))
    try:
        if as_it_is:
            path.write_bytes(data)
        else:
            _replace(path, data)
    except OSError as error:
        error.filename = str(path)  # not of what is written aside
        raise


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def cache_folder() -> Path | None:
    """Where arrays are kept between processes; None where there is no place."""
    given = os.environ.get("RELEVANCE_CACHE")
    if given is not None:
        return Path(given) if given else None
    root = os.environ.get("XDG_CACHE_HOME") or (os.environ.get("HOME", "") and os.environ["HOME"] + "/.cache")
    return Path(root) / "ulwembu" if root else None


def cache_path(model: Path, data: bytes) -> Path | None:
    """Where the arrays of a model file that has these bytes are kept."""
    folder = cache_folder()
    if folder is None:
        return None
    return folder / f"{model.stem}-{xxhash.xxh3_64_hexdigest(data)}-{LAYOUT}.arrays"


def save_arrays(path: Path, arrays: Arrays) -> bool:
    """Writes arrays for mapping; False where the folder cannot be written. Not synced: its size tells a torn file."""
    table, at = {}, 0
    parts = [np.ascontiguousarray(array) for array in arrays.values()]
    for name, array in zip(arrays, parts, strict=True):
        table[name] = (at, array.dtype.str, array.shape)
        at += array.nbytes + -array.nbytes % 64
    head = json.dumps(table).encode()
    head += b" " * (-(len(head) + 4) % 64)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            file.write(struct.pack("<I", len(head)) + head)
            for array in parts:
                file.write(array.data)
                file.write(bytes(-array.nbytes % 64))
        Path(name).replace(path)
    except OSError:  # a full disk: each process would leave another part of it there
        Path(name).unlink(missing_ok=True)
        return False
    _clear(path.parent)
    return True


def _clear(folder: Path) -> None:
    """Deletes parts that killed processes left, and what is older than KEPT_DAYS: models that there are no more.
    Whoever maps a file keeps it, and one that is still wanted is made anew."""
    now = time.time()
    for file in folder.glob(f"*-{'[0-9a-f]' * 16}-*.arrays*"):
        with suppress(OSError):
            age_s = now - file.stat().st_mtime
            is_left = file.suffix != ".arrays" and age_s > _WRITTEN_S and _is_let_go(file)
            if is_left or age_s > KEPT_DAYS * 24 * 3600:
                file.unlink()


def _is_let_go(part: Path) -> bool:
    """Whether nobody is writing it; OSError where that cannot be said."""
    with part.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def map_arrays(path: Path) -> Arrays | None:
    """The arrays of a cache file, read-only and shared; None where it is absent or does not hold together."""
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<I", file.read(4))
            table = json.loads(file.read(size))
        whole = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)
    except (OSError, ValueError, struct.error):
        return None
    out: Arrays = {}
    try:
        for name, (at, kind, shape) in table.items():
            length = int(np.prod(shape)) * np.dtype(kind).itemsize
            start = 4 + size + at
            out[name] = whole[start : start + length].view(kind).reshape(shape)
    except (ArithmeticError, AttributeError, SyntaxError, TypeError, ValueError):  # cut short, or another program's
        return None
    return out
