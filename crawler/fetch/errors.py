"""Why a request got no usable answer; each error knows the outcome name that the frontier's table has for it."""

from __future__ import annotations


class FetchError(Exception):
    """What can go wrong between a lease and its answer; ``outcome`` is a key of the frontier's outcome table."""

    outcome = "cut"


class DnsError(FetchError):
    """The host has no address."""

    outcome = "dns"


class RefusedAddressError(FetchError):
    """Every address of the host lies in a network that this crawl may not fetch from, or the port is of a service that
    is no web server; nothing was sent."""

    outcome = "refused_address"


class ConnectError(FetchError):
    """No TCP connection came about."""

    outcome = "connect"


class TlsError(FetchError):
    """The TLS handshake failed, or the certificate did not verify."""

    outcome = "tls"


class FetchTimeoutError(FetchError):
    """The answer was not complete within its time."""

    outcome = "timeout"


class CutError(FetchError):
    """The connection ended before the answer did, or the answer was not HTTP."""

    outcome = "cut"


class NotGrantedError(FetchError):
    """The host's address is busy or resting; the frontier has taken the lease back, and nothing was sent."""

    outcome = ""


class OptedOutError(FetchError):
    """What was to be sent has opted out: since its lease was granted, or being another URL than the leased one."""

    outcome = "opted_out"


class StaleLeaseError(FetchError):
    """Too little of the lease is left for a whole fetch, or its connection ended before (the process was stopped, or
    Redis away); nothing was sent."""

    outcome = "released"


class HostClosedError(FetchError):
    """The host's robots.txt denies all, but did not before; nothing was sent, and the host rests."""

    outcome = "released"


class AbortedError(FetchError):
    """The crawl is stopping; nothing was sent."""

    outcome = "released"


class HungUpError(FetchError):
    """The crawl is stopping and does not wait for this answer: the host was asked, and rests from now."""

    outcome = "aborted"
