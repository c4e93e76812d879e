"""From a specification to a sieve."""

from __future__ import annotations

from collections.abc import Callable

from sieve.errors import SpecError
from sieve.kinds.bloom import BloomSieve
from sieve.kinds.memory import MemorySieve
from sieve.kinds.mercator import MercatorSieve
from sieve.kinds.offline import OfflineSieve
from sieve.spec import Spec
from sieve.types import Sieve


def _redis(spec: Spec) -> Sieve:
    # Imported when asked for: the local kinds need no Redis client.
    from sieve.fleet.redis_sieve import RedisSieve

    return RedisSieve.open(spec)


def _lsm(spec: Spec) -> Sieve:
    # An optional dependency.
    from sieve.kinds.lsm import LsmSieve

    return LsmSieve.open(spec)


_KINDS: dict[str, Callable[[Spec], Sieve]] = {
    "memory": MemorySieve.open,
    "mercator": MercatorSieve.open,
    "bloom": BloomSieve.open,
    "offline": OfflineSieve.open,
    "lsm": _lsm,
    "redis": _redis,
    "rediss": _redis,
    "unix": _redis,
}


def open_sieve(spec: str) -> Sieve:
    """The sieve that `spec` names, made or continued; :class:`~sieve.errors.SpecError` when it names none."""
    parsed = Spec.parse(spec)
    kind = _KINDS.get(parsed.kind)
    if kind is None:
        raise SpecError(spec, f"unknown kind {parsed.kind!r} (known: {', '.join(_KINDS)})")
    return kind(parsed)
