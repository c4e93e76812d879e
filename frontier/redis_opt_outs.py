"""A crawl's opt-outs in Redis: a hash, authority -> msgpack list of path prefixes; each change is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from frontier import wire
from frontier.answering import answering
from frontier.opt_outs import Rule, Table


class RedisOptOuts:
    """See the module; `key` is the hash of `crawl`."""

    def __init__(self, server: Any, crawl: str, key: str) -> None:
        self._server = server
        self._crawl = crawl
        self._key = key

    def change(self, how: Callable[[Table, Iterable[Rule]], int], rules: list[Rule]) -> int:
        """Do `how`, which is `add` or `withdraw` of `frontier.opt_outs`, to the hosts of `rules`."""
        hosts = list(dict.fromkeys(host for host, _ in rules))

        def transaction(pipe: Any) -> int:
            table = dict(zip(hosts, map(_paths, pipe.hmget(self._key, hosts)), strict=True))
            number = how(table, rules)
            pipe.multi()
            for host, paths in table.items() if number else ():
                if paths:
                    pipe.hset(self._key, host, wire.encode(paths))
                else:
                    pipe.hdel(self._key, host)
            return number

        if not hosts:
            return 0
        with answering(self._crawl):
            return int(self._server.transaction(transaction, self._key, value_from_callable=True))

    def of(self, host: str) -> list[str]:
        """Path prefixes of one authority."""
        with answering(self._crawl):
            return _paths(self._server.hget(self._key, host))

    def table(self) -> Table:
        """All of it."""
        with answering(self._crawl):
            return {host.decode(): _paths(rules) for host, rules in self._server.hgetall(self._key).items()}


def _paths(data: bytes | None) -> list[str]:
    return [bytes(path).decode("utf-8", "surrogatepass") for path in wire.decode(data)] if data else []
