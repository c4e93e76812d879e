"""From a host name to the one address that will be connected to.

Guarantees: an address is judged where it is used, after DNS, so neither a name nor a redirect leads into a private
network; only globally routable addresses and the networks that the crawl's own setting names are ever connected to.

Names come first from a hosts(5) file when the crawl gives one, then from the system's resolver; answers are kept for a
minute (the frontier remembers what a host was bound to for longer), failures for less. Of an address that could not be
connected to the name is looked up anew, and another of its addresses comes first. Names whose servers are dead take the
resolver many seconds each: no lookup waits for another, none is waited for longer than a connection, and none keeps the
process from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from crawler.fetch.errors import DnsError, RefusedAddressError
from sieve.urls import BAD_PORTS

_FOUND_TTL_S = 60.0
_FAILED_TTL_S = 30.0
_MOST_NAMES = 50_000
# RFC 6052: a NAT64 gateway sends to the IPv4 address in the last 32 bits.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Not public either, whatever `is_global` says: IPv4-compatible (RFC 4291), IPv4-translated (RFC 7915), local NAT64
# (RFC 8215), site-local (RFC 3879).
_NOT_PUBLIC = tuple(
    ipaddress.IPv6Network(network) for network in ("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "fec0::/10")
)


def check_port(port: int) -> int:
    """`port` itself; :class:`RefusedAddressError` for one of a service that is no web server (sieve.urls.ports)."""
    if port in BAD_PORTS:
        raise RefusedAddressError(f"port {port} is none of a web server")
    return port


class AddressGuard:
    """Says of an address whether this crawl may connect to it.

    `allowed_networks` are CIDR networks beyond the public Internet, for example ``("127.0.0.0/8",)``;
    ValueError names the one that is not a network.
    """

    def __init__(self, allowed_networks: Iterable[str] = ()) -> None:
        self._networks = tuple(ipaddress.ip_network(network, strict=False) for network in allowed_networks)

    def allows(self, address: str) -> bool:
        """Whether `address` (IPv4 or IPv6, without zone) may be connected to."""
        ip = ipaddress.ip_address(address.partition("%")[0])
        if isinstance(ip, ipaddress.IPv6Address):
            # The same machine under another spelling: judge the IPv4 address that it stands for.
            ip = _ipv4_inside(ip) or ip
        public = ip.is_global and not ip.is_multicast
        if public and not any(ip in network for network in _NOT_PUBLIC if network.version == ip.version):
            return True
        return any(ip in network for network in self._networks if network.version == ip.version)


def _ipv4_inside(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)


def _in_one_spelling(address: str) -> str:
    """IPv4 inside IPv6 (::ffff:192.0.2.1) leads to the same machine as without, which must not be asked twice at a
    time; ValueError for what is no address."""
    ip = ipaddress.ip_address(address)
    return str((ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None) or ip)


def read_hosts_file(path: Path) -> dict[str, tuple[str, ...]]:
    """``{name: addresses}`` of a hosts(5) file; ValueError with file and line on a line that is none."""
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            address = _in_one_spelling(words[0])
        except ValueError:
            raise ValueError(f"{path}:{number}: {words[0]!r} is not an IP address") from None
        for name in words[1:]:
            found[name.lower()] = (*found.get(name.lower(), ()), address)
    return found


class Resolver:
    """Host names to allowed addresses, with a cache. For use from one event loop."""

    def __init__(
        self,
        guard: AddressGuard,
        hosts: Mapping[str, tuple[str, ...]] | None = None,
        wait_s: float = 15.0,
        at_once: int = 64,
    ) -> None:
        """`wait_s`: how long a name may take to be looked up, else it has no address; `at_once`: most lookups waited
        for."""
        self._wait_s = wait_s
        self._room = asyncio.Semaphore(at_once)
        self._guard = guard
        self._hosts = dict(hosts or {})
        self._cache: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._failed: dict[tuple[str, str], float] = {}

    def check(self, address: str) -> str:
        """`address` itself; :class:`RefusedAddressError` when this crawl may not connect to it."""
        if not self._guard.allows(address):
            raise RefusedAddressError(f"{address} is not a public address (see the setting FETCH_ALLOWED_NETWORKS)")
        return address

    async def resolve(self, host: str) -> str:
        """The allowed address of `host` to use: none that has failed, IPv4 before IPv6, else the one whose last failure
        is the oldest.

        :class:`DnsError` when there is none, :class:`RefusedAddressError` when none is allowed.
        """
        literal = host.strip("[]")
        try:
            return self.check(_in_one_spelling(literal))
        except ValueError:
            addresses = await self._addresses(host.lower())
        allowed = [address for address in addresses if self._guard.allows(address)]
        if not allowed:
            return self.check(addresses[0])
        return min(allowed, key=lambda address: self._failed.get((host.lower(), address), 0.0))

    def failed(self, host: str, address: str) -> None:
        """No connection to `address` of `host` came about."""
        self._cache.pop(host.lower(), None)
        if len(self._failed) >= _MOST_NAMES:
            self._failed.clear()
        self._failed[host.lower(), address] = time.monotonic()

    async def _addresses(self, host: str) -> tuple[str, ...]:
        if host in self._hosts:
            return self._hosts[host]
        until, addresses = self._cache.get(host, (0.0, ()))
        if until < time.monotonic():
            addresses = await self._ask(host)
            if len(self._cache) >= _MOST_NAMES:
                self._cache.clear()
            ttl_s = _FOUND_TTL_S if addresses else _FAILED_TTL_S
            self._cache[host] = (time.monotonic() + ttl_s, addresses)
        if not addresses:
            raise DnsError(f"no address found for {host}")
        return addresses

    async def _ask(self, host: str) -> tuple[str, ...]:
        loop = asyncio.get_running_loop()
        async with self._room:
            answer: asyncio.Future[list[tuple[int, str]]] = loop.create_future()
            # Not of a pool: the interpreter waits for a pool's threads before it ends, however long the resolver takes.
            threading.Thread(target=_look_up, args=(host, loop, answer), name="dns", daemon=True).start()
            try:
                async with asyncio.timeout(self._wait_s):
                    rows = await answer
            except TimeoutError:
                return ()
        ordered = sorted(rows, key=lambda row: row[0] != socket.AF_INET)
        return tuple(dict.fromkeys(_in_one_spelling(address) for _, address in ordered))


def _look_up(host: str, loop: asyncio.AbstractEventLoop, answer: asyncio.Future[list[tuple[int, str]]]) -> None:
    found: list[tuple[int, str]] = []
    with contextlib.suppress(OSError, UnicodeError):
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        found = [(family, str(place[0])) for family, _, _, _, place in rows]
    with contextlib.suppress(RuntimeError):  # the loop is closed: whoever asked has gone
        loop.call_soon_threadsafe(_give, answer, found)


def _give(answer: asyncio.Future[list[tuple[int, str]]], rows: list[tuple[int, str]]) -> None:
    if not answer.done():
        answer.set_result(rows)
