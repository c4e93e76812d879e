"""Names of the sieve's keys in Redis; all of one crawl share a hash tag, so one cluster slot holds them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RedisKeys:
    """Key names of one crawl."""

    crawl: str

    def _name(self, what: str) -> str:
        return f"{{{self.crawl}}}:{what}"

    @property
    def waiting(self) -> str:
        """List: the fingerprints of each batch, packed, in order of arrival."""
        return self._name("waiting")

    @property
    def texts(self) -> str:
        """List: msgpack ``[urls, payloads]`` of the batches in :attr:`waiting`, element by element."""
        return self._name("texts")

    @property
    def ready(self) -> str:
        """List of pairs: places of the URLs admitted and not yet taken (16-bit, little-endian), then their batch."""
        return self._name("ready")

    @property
    def taken(self) -> str:
        """Counter that grows whenever something is taken from the head of :attr:`ready`."""
        return self._name("ready:taken")

    @property
    def state(self) -> str:
        """Hash: epoch, seed, put (URLs ever appended), decided, seen, home (id of the store on a disk), stored (the
        epoch up to which only that store has the fingerprints)."""
        return self._name("sieve")

    @property
    def lease(self) -> str:
        """String with an expiry: the fencing token of the process that decides."""
        return self._name("flush")

    @property
    def tokens(self) -> str:
        """Counter: the last fencing token given."""
        return self._name("flush:token")

    @property
    def runs(self) -> str:
        """List: chunks of sorted fingerprints, packed (empty when the store is on a disk)."""
        return self._name("runs")

    @property
    def fresh(self) -> str:
        """List: per epoch 8 bytes epoch and the fingerprints admitted in it, until they are in a run."""
        return self._name("fresh")
