"""Names of the sieve's keys in Redis; all of one crawl share a hash tag, so one cluster slot holds them."""

from __future__ import annotations


class RedisKeys:
    """Key names of one crawl."""

    def __init__(self, crawl: str) -> None:
        self.crawl = crawl
        # List: the fingerprints of each batch, packed, in order of arrival.
        self.waiting = f"{{{crawl}}}:waiting"
        # List: msgpack ``[urls, payloads]`` of the batches in `waiting`, element by element.
        self.texts = f"{{{crawl}}}:texts"
        # List of pairs: places of the URLs admitted and not yet taken (16-bit, little-endian), then their batch.
        self.ready = f"{{{crawl}}}:ready"
        # Counter that grows whenever something is taken from the head of `ready`.
        self.taken = f"{{{crawl}}}:ready:taken"
        # Hash: epoch, seed, put (URLs ever appended), decided, seen, home (id of the store on a disk), stored (the
        # epoch up to which only that store has the fingerprints).
        self.state = f"{{{crawl}}}:sieve"
        # String with an expiry: the fencing token of the process that decides.
        self.lease = f"{{{crawl}}}:flush"
        # Counter: the last fencing token given.
        self.tokens = f"{{{crawl}}}:flush:token"
        # List: chunks of sorted fingerprints, packed (empty when the store is on a disk).
        self.runs = f"{{{crawl}}}:runs"
        # List: per epoch 8 bytes epoch and the fingerprints admitted in it, until they are in a run.
        self.fresh = f"{{{crawl}}}:fresh"
