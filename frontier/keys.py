"""Names of the frontier's keys in Redis; nothing else makes any (the Lua scripts put the same suffixes to the prefix).

All of a crawl's keys carry the hash tag ``{crawl}``, so that on a Cluster they lie in one slot and scripts may reach
them; two crawls on one Redis do not meet. Behind ``{crawl}:f:`` come

==================  =======================================================================================
``meta``            hash: queued, parked, pages, bytes, words, started, seq (last lease number), intakes, buckets,
                    newcomers (authorities in them), better, credit, credited, cleared (lua/_line.lua)
``a:AUTHORITY``     the authority's record: struct and msgpack map (frontier/host.py, lua/_visits.lua), from its first
                    lease on, or from a lease() that looked ahead to the end of its parking
``b:NUMBER``        records of authorities without a lease yet, some eight of them (lua/_newcomers.lua)
``qN:AUTHORITY``    list, its queue of band N (0 best .. 7), elements as in frontier/payload.py; a host's queue lies in
                    its record while they are at most 2,000 bytes
``h:AUTHORITY``     list, redirected robots.txt files to fetch there
``p:AUTHORITY``     zset, parked: reason NUL element, by the end of parking
``r:AUTHORITY``     msgpack [kind, body, fetched, expires]: robots record
``v:AUTHORITY``     string of 16-bit counters: query variants (frontier/traps.py)
``i:ADDRESS``       byte "some wait", byte "a lease holds it", double next fetch; while one authority has it, only that
                    one's name: its record has the rest; it goes a lease's time after that one has another
``w:ADDRESS``       zset, authorities in line that wait for the address, by place in line
``due``             zset, authorities (and "@ADDRESS" with others waiting) not yet in line, by the time they are due;
                    leased ones by 2^50 and the time their lease expires
``hot``             zset, those in line: band x 2^44 + number of their last lease
``done:N``          bitmap of accepted reports, by lease number, 2^20 a key; expires two weeks after its last
``new``             list, authorities by first sight that no lease() has looked at yet; those only have no place in
                    ``due`` or ``hot``, which would cost four times the room
``known``           list, the others
``unparks``         zset, authorities with parked URLs, by the earliest end
``configured``      set, authorities whose record has rules of its own
``optout``          hash, authority -> msgpack list of path prefixes; that of all crawls is :data:`OPT_OUTS_OF_ALL`
``results``         hash, counts by result; ``reasons`` counts of parked URLs by reason
``c:NAME``          hash, a table of counters
``once:CALLER``     number of the last call that has added to them, of each caller for a day
``audit``           stream, field r: msgpack row
==================  =======================================================================================
"""

from __future__ import annotations

# Beside this and the turns (frontier/turns.py) all crawls share ``{ulwembu}:clock``: by how much the frontier's clock
# is ahead of Redis' own, and since when: three doubles (lua/_clock.lua).
OPT_OUTS_OF_ALL = "{ulwembu}:optout"
"""The opt-outs that hold for every crawl of the Redis, beside the turns (frontier/turns.py); a hash as ``optout``."""


class Keys:
    """The names for one crawl."""

    def __init__(self, crawl: str) -> None:
        if not crawl or "{" in crawl or "}" in crawl:
            raise ValueError(f"a crawl's name must not be empty or have braces: {crawl!r}")
        self.prefix = f"{{{crawl}}}:f:"
        self.meta = self.prefix + "meta"
        self.due = self.prefix + "due"
        self.hot = self.prefix + "hot"
        self.new = self.prefix + "new"
        self.known = self.prefix + "known"
        self.unparks = self.prefix + "unparks"
        self.configured = self.prefix + "configured"
        self.opt_out = self.prefix + "optout"
        self.results = self.prefix + "results"
        self.reasons = self.prefix + "reasons"
        self.audit = self.prefix + "audit"
        self.ready = f"{{{crawl}}}:ready"
        self.ready_taken = f"{{{crawl}}}:ready:taken"

    def record(self, authority: str) -> str:
        """Record of an authority."""
        return f"{self.prefix}a:{authority}"

    def hops(self, authority: str) -> str:
        """Its redirected robots.txt files."""
        return f"{self.prefix}h:{authority}"

    def parked(self, authority: str) -> str:
        """Its parked URLs."""
        return f"{self.prefix}p:{authority}"

    def robots(self, authority: str) -> str:
        """Its robots record."""
        return f"{self.prefix}r:{authority}"

    def done(self, chunk: int) -> str:
        """Bitmap of accepted reports."""
        return f"{self.prefix}done:{chunk}"

    def counters(self, name: str) -> str:
        """A table of counters."""
        return f"{self.prefix}c:{name}"
