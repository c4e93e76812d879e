"""A table of opt-outs in Redis: a hash, authority -> msgpack list of path prefixes; each change is one script, of a
long list one for each :data:`MOST_PREFIXES`, so that whoever is killed has changed all that a prefix stands for or
nothing, and may say it again. It passes in a Redis at its memory limit, too.

That of all crawls is one of its own, beside the turns that they take. In a Redis Cluster it may lie on another node
than a crawl; then it says nothing to that crawl, and cannot be changed from there: :class:`OptOutsElsewhere`. What is
no such list is neither read as one nor written over: :class:`OptOutsDamaged`.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgpack
import redis

from frontier import opt_outs, wire
from frontier.answering import answering
from frontier.errors import FrontierElsewhere, OptOutsDamaged, OptOutsElsewhere
from frontier.keys import OPT_OUTS_OF_ALL, Keys
from frontier.opt_outs import Rule, Table

MOST_PREFIXES = 500
"""In one step, in which nobody else is answered."""


class RedisOptOuts:
    """See the module. `crawl`: whose; with `of_all` who asks for that of all, "" for nobody."""

    def __init__(self, server: Any, crawl: str, *, of_all: bool = False) -> None:
        self._server = server
        self._crawl = crawl or "any"
        self._key = OPT_OUTS_OF_ALL if of_all else Keys(crawl).opt_out
        self._write = server.register_script((files("frontier") / "lua" / "opt_out.lua").read_text("utf-8"))

    def add(self, prefixes: Iterable[str]) -> int:
        """See :meth:`frontier.types.Frontier.opt_out`."""
        rules = [list(opt_outs.opt_out_rules([prefix])) for prefix in prefixes]
        parts = (rules[start : start + MOST_PREFIXES] for start in range(0, len(rules), MOST_PREFIXES))
        return sum(self._change(opt_outs.add, list(itertools.chain.from_iterable(part))) for part in parts)

    def withdraw(self, prefix: str) -> int:
        """See :meth:`frontier.types.Frontier.withdraw_opt_out`."""
        return self._change(opt_outs.withdraw, list(opt_outs.opt_out_rules([prefix])))

    def listed(self) -> list[str]:
        """All of it, as prefixes of URLs."""
        with self._answering():
            table = self._server.hgetall(self._key)
        names = (host.decode("utf-8", "backslashreplace") for host in table)
        return opt_outs.listed(dict(map(self._read, names, table.values())))

    def at(self, hosts: Sequence[str]) -> list[list[str]]:
        """Path prefixes of each authority, in one call."""
        with self._answering():
            table = self._server.hmget(self._key, hosts) if hosts else []
        return [self._read(host, data)[1] for host, data in zip(hosts, table, strict=True)]

    def _change(self, how: Callable[[Table, Iterable[Rule]], int], rules: list[Rule]) -> int:
        """Do `how` to the hosts of `rules`; again when another has changed them meanwhile."""
        hosts = list(dict.fromkeys(host for host, _ in rules))
        while hosts:
            with self._answering():
                before = self._server.hmget(self._key, hosts)
                table = dict(map(self._read, hosts, before))
                if (number := how(table, rules)) == 0:
                    break
                after = [wire.encode(paths) if paths else b"" for paths in table.values()]
                triples = zip(hosts, (data or b"" for data in before), after, strict=True)
                if self._write(keys=[self._key], args=[*itertools.chain.from_iterable(triples)]):
                    return number
        return 0

    def _read(self, host: str, data: bytes | None) -> tuple[str, list[str]]:
        """A host and its path prefixes; OptOutsDamaged, also of none: such a field is taken out."""
        if data is None:
            return host, []
        if paths := _paths(data):
            return host, [*paths]
        raise OptOutsDamaged(self._key, host)

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            with answering(self._crawl):
                yield
        except FrontierElsewhere as error:
            if self._key != OPT_OUTS_OF_ALL:
                raise
            raise OptOutsElsewhere(error.node) from error
        except redis.ResponseError as error:
            if "WRONGTYPE" in str(error):  # also in what a script says
                raise OptOutsDamaged(self._key) from error
            raise


@lru_cache(maxsize=1 << 9)  # nearly all hosts have the same: all of it
def _paths(data: bytes) -> tuple[str, ...]:
    """The path prefixes in a field; () where it is no list of such."""
    with contextlib.suppress(ValueError, msgpack.UnpackException):
        paths = wire.decode(data)
        if type(paths) is list and all(type(path) is bytes for path in paths):
            return tuple(path.decode("utf-8", "surrogatepass") for path in paths)
    return ()


def paths_at(tables: Sequence[RedisOptOuts], hosts: Sequence[str]) -> list[list[str]]:
    """Path prefixes of each authority in the crawl's own table and in that of all, where that one says anything to
    it."""
    own, of_all = tables
    found = own.at(hosts)
    with contextlib.suppress(OptOutsElsewhere):
        found = [paths + others for paths, others in zip(found, of_all.at(hosts), strict=True)]
    return found
