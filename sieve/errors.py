"""What can go wrong in the sieve; every error carries its facts."""

from __future__ import annotations


class SieveError(Exception):
    """Root of this package's errors."""


class SpecError(SieveError, ValueError):
    """A sieve specification that cannot be understood; `spec` is the text, `reason` says what is wrong."""

    def __init__(self, spec: str, reason: str) -> None:
        super().__init__(f"{reason} in sieve specification {spec!r}")
        self.spec = spec
        self.reason = reason


class ClosedError(SieveError):
    """The sieve was used after :meth:`close`."""


class LockedError(SieveError):
    """Another process has the sieve of `folder` open."""

    def __init__(self, folder: str) -> None:
        super().__init__(f"another process has the sieve in {folder} open")
        self.folder = folder


class DamagedError(SieveError):
    """Stored bytes are not what was written: `path`, and `reason` with the place and both checksums or lengths."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} is damaged: {reason}")
        self.path = path
        self.reason = reason


class StoreError(SieveError):
    """The store and the crawl do not belong together; the message says which is which."""


class FencedError(SieveError):
    """This process lost the flush lease to another; nothing of its last epoch was committed."""


class LinkError(SieveError):
    """Redis could not be reached or refused; the cause is attached."""


class LinkFull(LinkError):  # noqa: N818
    """Redis is at its memory limit; nothing of the call was done."""
