"""From a specification to a sieve.

A kind is imported when it is named: who only asks which URLs are the same, as everything does that knows a sieve, needs
no numpy, and no kind the packages of another.
"""

from __future__ import annotations

from collections.abc import Callable

from sieve.errors import SpecError
from sieve.spec import Spec
from sieve.types import Sieve

_KINDS = ("memory", "mercator", "bloom", "offline", "lsm", "redis", "rediss", "unix")


def open_sieve(spec: str) -> Sieve:
    """The sieve that `spec` names, made or continued; :class:`~sieve.errors.SpecError` when it names none."""
    parsed = Spec.parse(spec)
    if parsed.kind not in _KINDS:
        raise SpecError(spec, f"unknown kind {parsed.kind!r} (known: {', '.join(_KINDS)})")
    return _opening(parsed.kind)(parsed)


def _opening(kind: str) -> Callable[[Spec], Sieve]:
    match kind:
        case "memory":
            from sieve.kinds.memory import MemorySieve

            return MemorySieve.open
        case "mercator":
            from sieve.kinds.mercator import MercatorSieve

            return MercatorSieve.open
        case "bloom":
            from sieve.kinds.bloom import BloomSieve

            return BloomSieve.open
        case "offline":
            from sieve.kinds.offline import OfflineSieve

            return OfflineSieve.open
        case "lsm":
            from sieve.kinds.lsm import LsmSieve

            return LsmSieve.open
    from sieve.fleet.redis_sieve import RedisSieve

    return RedisSieve.open
