"""Trap defence: limits that a URL, or a host's URLs together, must keep; pure rules, no state.

Anchor: Heritrix 3, ``TooManyHopsDecideRule`` (max-hops 20), ``TooManyPathSegmentsDecideRule`` (20),
``PathologicalPathDecideRule`` (a segment repeated more than 2 times in a row) and its ``QueueTotalBudget``. Beyond
Heritrix: repeated segments are also found when others stand between them (``/a/b/a/b/a/b``), equal query parameters
are counted, and variants of the query of one path are limited by host. What breaks a rule is parked with the rule's
name, so that a person can look at it and let it go.

The state a host needs for its limits (URLs admitted, query variants, equal pages) is the frontier's; the sketch that
counts query variants is a count-min sketch of two rows of :data:`SKETCH_WIDTH` 16-bit counters, at most 2 KiB a host,
which never counts too low."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import xxhash

SKETCH_WIDTH = 512
SKETCHED_FROM = 100
MARK_BYTES = 8
MARKS_KEPT = 8


@dataclass(frozen=True, slots=True)
class TrapLimits:
    """0 turns a limit off. `host_urls`: URLs ever admitted of one authority; `query_variants`: of one path;
    `equal_pages`: balance of pages of a host that look like one of its last few, at which it rests; `parked_traps`:
    URLs of a host kept parked for having broken a rule (more are only counted)."""

    depth: int = 20
    url_chars: int = 2048
    path_segments: int = 20
    repeated_segments: int = 3
    query_parameters: int = 20
    repeated_parameters: int = 3
    host_urls: int = 1_000_000
    query_variants: int = 10_000
    equal_pages: int = 200
    parked_traps: int = 1000

    @property
    def some_equal_pages(self) -> int:
        """The balance of equal pages at which a host's URLs of least worth are parked, long before it rests."""
        return -(-self.equal_pages // 5)

    @property
    def few_equal_pages(self) -> int:
        """The balance at which another section of a host that has such URLs parked joins them: more than the copy or
        two that many a page has."""
        return min(3, self.some_equal_pages)


def check(url: str, depth: int, limits: TrapLimits) -> str:
    """Name of the rule that `url` breaks ("trap_depth", …), "" when none."""
    if limits.depth and depth > limits.depth:
        return "trap_depth"
    if limits.url_chars and len(url) > limits.url_chars:
        return "trap_length"
    head, _, query = url.partition("?")
    if head.count("/") > 4:
        segments = [segment for segment in _path(head).split("/") if segment]
        if limits.path_segments and len(segments) > limits.path_segments:
            return "trap_segments"
        if limits.repeated_segments and _most_common(segments) > limits.repeated_segments:
            return "trap_repeated_segment"
    if query:
        parameters = query.partition("#")[0].split("&")
        if limits.query_parameters and len(parameters) > limits.query_parameters:
            return "trap_parameters"
        names = [parameter.partition("=")[0] for parameter in parameters]
        if limits.repeated_parameters and _most_common(names) > limits.repeated_parameters:
            return "trap_repeated_parameter"
    return ""


def sketch_places(url: str) -> tuple[int, int] | None:
    """The two counters (0..2*SKETCH_WIDTH-1) of `url`'s path in its host's sketch; None when it has no query."""
    head, mark, _ = url.partition("?")
    if not mark:
        return None
    value = xxhash.xxh3_64_intdigest(_path(head).encode("utf-8", "surrogatepass"))
    return value % SKETCH_WIDTH, SKETCH_WIDTH + (value >> 32) % SKETCH_WIDTH


def _path(head: str) -> str:
    rest = head.partition("://")[2]
    return rest.partition("/")[2].partition("#")[0]


def _most_common(words: list[str]) -> int:
    if len(words) < 3:
        return 0
    return Counter(words).most_common(1)[0][1]
