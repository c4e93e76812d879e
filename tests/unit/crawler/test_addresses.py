import asyncio
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from crawler.fetch.addresses import AddressGuard, Resolver, read_hosts_file
from crawler.fetch.errors import DnsError, RefusedAddressError


@pytest.mark.parametrize("address", ["8.8.8.8", "196.25.1.1", "2001:4860:4860::8888", "64:ff9b::808:808"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert AddressGuard().allows(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "fec0::1",
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    assert not AddressGuard().allows(address)


def test_a_named_network_is_allowed_and_no_other() -> None:
    guard = AddressGuard(["127.0.0.0/8"])
    assert guard.allows("127.9.8.7")
    assert guard.allows("::ffff:127.9.8.7")
    assert not guard.allows("10.0.0.1")
    assert not guard.allows("::1")


def test_a_wrong_network_is_named() -> None:
    with pytest.raises(ValueError, match="not-a-network"):
        AddressGuard(["not-a-network"])


def resolve(resolver: Resolver, host: str) -> str:
    return asyncio.run(resolver.resolve(host))


def test_hosts_file_comes_before_dns(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("# made for a test\n127.0.0.7 izindaba.test Eyethu.test # two names\n\n10.0.0.1 eyethu.test\n")
    resolver = Resolver(AddressGuard(["127.0.0.0/8"]), read_hosts_file(hosts))
    assert resolve(resolver, "izindaba.test") == "127.0.0.7"
    assert resolve(resolver, "EYETHU.test") == "127.0.0.7"


def test_comments_of_a_hosts_file_may_be_in_any_coding(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_bytes(b"\xef\xbb\xbf127.0.0.1 a.test  # caf\xe9\n")
    assert read_hosts_file(hosts) == {"a.test": ("127.0.0.1",)}


def test_a_broken_hosts_file_is_named_with_its_line(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 a.test\nnonsense b.test\n")
    with pytest.raises(ValueError, match=r"hosts:2: 'nonsense'"):
        read_hosts_file(hosts)


def test_a_name_that_leads_into_a_private_network_is_refused() -> None:
    resolver = Resolver(AddressGuard(), {"inside.test": ("10.0.0.1",)})
    with pytest.raises(RefusedAddressError, match=r"10\.0\.0\.1"):
        resolve(resolver, "inside.test")


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "169.254.169.254"])
def test_a_private_literal_is_refused(host: str) -> None:
    with pytest.raises(RefusedAddressError):
        resolve(Resolver(AddressGuard()), host)


def test_no_such_name() -> None:
    with pytest.raises(DnsError, match=r"nowhere\.invalid"):
        resolve(Resolver(AddressGuard()), "nowhere.invalid")


def test_names_whose_servers_are_slow_keep_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(64)

    def slow(*_: object, **__: object) -> list[object]:
        together.wait()
        raise OSError("no server could be reached")

    async def ask_all(resolver: Resolver) -> list[str | BaseException]:
        return await asyncio.gather(*(resolver.resolve(f"{n}.slow.test") for n in range(64)), return_exceptions=True)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    found = asyncio.run(ask_all(Resolver(AddressGuard(), wait_s=600, at_once=64)))
    assert {type(error) for error in found} == {DnsError}


def test_a_lookup_without_end_is_given_up_and_keeps_no_process_from_ending() -> None:
    code = """
import asyncio, socket, threading
from crawler.fetch.addresses import AddressGuard, Resolver
from crawler.fetch.errors import DnsError
socket.getaddrinfo = lambda *_, **__: threading.Event().wait()
try:
    asyncio.run(Resolver(AddressGuard(), wait_s=0.01).resolve("dead.test"))
except DnsError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "no address found for dead.test\n"


def test_ipv4_comes_before_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 0, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
    assert resolve(Resolver(AddressGuard(["127.0.0.0/8", "::1/128"])), "both.test") == "127.0.0.1"


def test_an_address_has_one_spelling_wherever_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frontier keeps apart what it does not know to be one machine."""
    hosts = tmp_path / "hosts"
    hosts.write_text("::FFFF:127.0.0.7 a.test\n0:0::1 b.test\n")
    rows = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, 0, 0, 0))
        for address in ("::ffff:127.0.0.7", "fe80::1%lo")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
    resolver = Resolver(AddressGuard(["127.0.0.0/8", "::1/128"]), read_hosts_file(hosts))
    for host in ("a.test", "c.test", "127.0.0.7", "[::ffff:7f00:7]", "[::ffff:127.0.0.7]"):
        assert resolve(resolver, host) == "127.0.0.7"
    assert resolve(resolver, "b.test") == resolve(resolver, "[0::0:1]") == "::1"


def test_an_address_that_fails_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = Resolver(AddressGuard(["127.0.0.0/8"]), {"two.test": ("127.0.0.1", "127.0.0.2")})
    instants = iter((1.0, 2.0))
    monkeypatch.setattr("crawler.fetch.addresses.time", SimpleNamespace(monotonic=lambda: next(instants)))
    assert resolve(resolver, "two.test") == "127.0.0.1"
    resolver.failed("TWO.test", "127.0.0.1")
    assert resolve(resolver, "two.test") == "127.0.0.2"
    resolver.failed("two.test", "127.0.0.2")
    assert resolve(resolver, "two.test") == "127.0.0.1"


def test_a_name_whose_address_fails_is_looked_up_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(("127.0.0.1", "127.0.0.2"))

    def look_up(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 0))]

    async def ask(resolver: Resolver) -> list[str]:
        found = [await resolver.resolve("moved.test"), await resolver.resolve("moved.test")]
        resolver.failed("moved.test", "127.0.0.1")
        return [*found, await resolver.resolve("moved.test")]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    found = asyncio.run(ask(Resolver(AddressGuard(["127.0.0.0/8"]), wait_s=600)))
    assert found == ["127.0.0.1", "127.0.0.1", "127.0.0.2"]


def test_names_and_failures_are_kept_for_a_while_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as a crawl that leads anywhere finds in weeks would be all memory."""
    now = [1000.0]
    asked: list[str] = []

    def look_up(host: str, *_: object, **__: object) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        asked.append(host)
        if host.startswith("dead"):
            raise OSError("no such name")
        return [(socket.AF_INET, 0, 0, "", ("127.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr("crawler.fetch.addresses.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("crawler.fetch.addresses._MOST_NAMES", 3)
    resolver = Resolver(AddressGuard(["127.0.0.0/8"]))

    async def ask(*hosts: str) -> list[str]:
        asked.clear()
        await asyncio.gather(*map(resolver.resolve, hosts), return_exceptions=True)
        return sorted(asked)

    async def work() -> None:
        assert await ask("dead.test", "a.test") == ["a.test", "dead.test"]
        now[0] += 29
        assert await ask("dead.test", "a.test") == []
        now[0] += 2
        assert await ask("dead.test", "a.test") == ["dead.test"]
        now[0] += 30
        assert await ask("a.test") == ["a.test"]
        for number in range(9):
            await ask(f"{number}.test")
            resolver.failed(f"dead{number}.test", "127.0.0.1")
        assert len(resolver._cache) <= 3
        assert len(resolver._failed) <= 3

    asyncio.run(work())
