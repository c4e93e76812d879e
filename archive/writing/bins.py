"""Accepted pages waiting to be packed, by host: pages of one site side by side compress far better than mixed ones."""

from __future__ import annotations

from archive.writing.journal import Group


class Bins:
    """At most ``capacity_bytes`` wait; what comes out fills a pack of ``pack_bytes`` as nearly as groups allow.

    A host with a pack's worth of pages comes out at once. When too much waits, the largest host comes out, topped up
    with the hosts that have waited longest. Every group put in comes out exactly once.
    """

    def __init__(self, pack_bytes: int, capacity_bytes: int) -> None:
        self._pack_bytes = pack_bytes
        self._capacity_bytes = capacity_bytes
        self._hosts: dict[str, list[Group]] = {}
        self._sizes: dict[str, int] = {}
        self.waiting_bytes = 0

    def add(self, group: Group) -> list[Group]:
        """Take a group in; returns the groups of a pack that became due, or nothing."""
        host = group.host
        self._hosts.setdefault(host, []).append(group)
        size = self._sizes[host] = self._sizes.get(host, 0) + group.size
        self.waiting_bytes += group.size
        if size >= self._pack_bytes:
            return self._take(host)
        if self.waiting_bytes > self._capacity_bytes:
            return self._fill(max(self._sizes, key=self._sizes.__getitem__))
        return []

    def flush(self) -> list[list[Group]]:
        """Everything, in packs."""
        packs = []
        while self._hosts:
            packs.append(self._fill(next(iter(self._hosts))))
        return packs

    def _fill(self, first: str) -> list[Group]:
        groups = self._take(first)
        size = sum(group.size for group in groups)
        for host in list(self._hosts):
            if size + self._sizes[host] <= self._pack_bytes:
                size += self._sizes[host]
                groups += self._take(host)
        return groups

    def _take(self, host: str) -> list[Group]:
        self.waiting_bytes -= self._sizes.pop(host)
        return self._hosts.pop(host)
