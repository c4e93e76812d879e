"""Connections kept alive between visits to a host.

Since a host is asked by one lease at a time, one idle connection a server is enough; a few hundred are kept (with TLS
each costs some 100 KiB), the longest unused is closed first. None is used that has been idle for longer than servers
usually allow, be it while the machine slept; such are closed when another comes to be kept.
"""

from __future__ import annotations

from collections import OrderedDict

from crawler.fetch.connection import HttpConnection
from frontier.clock_line import uptime_s

PoolKey = tuple[str, str, int, str]


class ConnectionPool:
    """Idle connections by (scheme, host, port, address)."""

    def __init__(self, most: int = 300, idle_s: float = 30.0) -> None:
        self._idle: OrderedDict[PoolKey, tuple[float, HttpConnection]] = OrderedDict()
        self._most = most
        self._idle_s = idle_s

    def take(self, key: PoolKey) -> HttpConnection | None:
        """An idle, still usable connection, taken out; None when there is none."""
        since, connection = self._idle.pop(key, (0.0, None))
        if connection is None:
            return None
        connection.on_close = None
        if connection.usable and uptime_s() - since < self._idle_s:
            return connection
        connection.close()
        return None

    def give(self, key: PoolKey, connection: HttpConnection) -> None:
        """Keep `connection` for the next visit, or close it when it cannot serve one."""
        if not connection.usable:
            connection.close()
            return
        if (old := self._idle.pop(key, None)) is not None:
            old[1].close()
        connection.let_go()
        now = uptime_s()
        self._idle[key] = (now, connection)
        connection.on_close = lambda closed: self._forget(key, closed)
        while len(self._idle) > self._most or now - next(iter(self._idle.values()))[0] > self._idle_s:
            _, (_, oldest) = self._idle.popitem(last=False)
            oldest.close()

    def close(self) -> None:
        """Close all idle connections."""
        while self._idle:
            _, (_, connection) = self._idle.popitem()
            connection.on_close = None
            connection.close()

    def _forget(self, key: PoolKey, connection: HttpConnection) -> None:
        if self._idle.get(key, (0.0, None))[1] is connection:
            del self._idle[key]
