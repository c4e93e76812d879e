"""What is to be said of a corpus that is published, as far as its documents and archives know: how much, in which
languages, from whom, under which licences, of when, and how it was made.

After Gebru et al., Datasheets for Datasets (2021), and Bender and Friedman, Data Statements (2018). Markdown whose head
is what the Hugging Face Hub reads of a data set. Nothing is guessed: what no document says is counted as not said.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from archive import Damage, Reader
from archive.messages.fields import pairs_of
from corpus.document import Document, host_of
from corpus.statistics import UNKNOWN, Row, Statistics, shortened
from relevance.pages.licences import licence_of
from relevance.types import UNDETERMINED

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
)
_MANY = "1B<n<10B"
_KNOWN_TO_HUBS = frozenset(
    (
        *("cc0-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
        *("cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0"),
        *("cc-by-nd-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0"),
    )
)
"""Licences of Creative Commons that the head may name: another word there makes it invalid."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_WORDS = frozenset(("yes", "off"))
"""Languages that YAML takes for something else, as it does "no"."""
_YEAR = re.compile(r"[0-9]{4}")
_DAY = re.compile(r"([0-9]{4})(-?)(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])")
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
"""What moves a terminal's cursor, turns the direction of what follows, or may not stand in YAML."""
_LEAST_SHARE = 0.01
"""Of the words: languages with less are in the table, not in the head."""
_MOST_ROWS = 25
_QUANTILES = (0.1, 0.5, 0.9)
_LONGEST_LICENCE = 200
_MOST_LICENCES = 10_000
_MOST_OF_A_HOST = 20
_REST = "others"
_UNTITLED = "Corpus"


@dataclass(slots=True)
class Host:
    """What is known of a host's part, beside its amount: the licences that it states, and when it was captured."""

    licences: Counter[str] = field(default_factory=Counter)
    first: str = ""
    last: str = ""


@dataclass(slots=True)
class Datasheet:
    """Memory grows with the number of hosts, and of different lengths. Of licences, of which each page may word its
    own, the first 10,000 are counted one by one."""

    statistics: Statistics = field(default_factory=Statistics)
    hosts: dict[str, Host] = field(default_factory=dict)
    licences: dict[str, Row] = field(default_factory=dict)
    years: dict[str, Row] = field(default_factory=dict)
    lengths: Counter[int] = field(default_factory=Counter)

    def add(self, document: Document) -> None:
        self.statistics.add(document)
        size = (1, document.words, document.size_bytes)
        self.lengths[document.words] += 1
        licence = self._counted(_licence(document.licence))
        self.licences.setdefault(licence, Row()).count(*size)
        year = _YEAR.match(document.published)
        self.years.setdefault(year[0] if year else UNKNOWN, Row()).count(*size)
        host = self.hosts.setdefault(host_of(document.url) or UNKNOWN, Host())
        if licence != UNKNOWN and (licence in host.licences or len(host.licences) < _MOST_OF_A_HOST):
            host.licences[licence] += 1
        if said := _DAY.match(document.date):
            day = f"{said[1]}-{said[3]}-{said[4]}"
            host.first = min(host.first or day, day)
            host.last = max(host.last, day)

    def _counted(self, licence: str) -> str:
        """The licence, once in memory for all hosts; of too many the rest."""
        known = licence in self.licences or licence == UNKNOWN or len(self.licences) < _MOST_LICENCES
        return sys.intern(licence) if known else _REST


@dataclass(frozen=True, slots=True)
class Crawl:
    """What the first record of an archive file says of the crawl that it is of."""

    name: str
    software: str
    operator: str
    user_agent: str
    robots: str
    delay_s: str
    policy: str
    language: str


def crawls_of(names: Iterable[str], tell: Callable[[Damage], None]) -> dict[Crawl, int]:
    """The crawls that archive files are of, and of how many each. ``tell``: of damage up to where it is said. OSError,
    ArchiveError."""
    found: Counter[Crawl] = Counter()
    for name in names:
        with Reader(name) as reader:
            first = next(iter(reader), None)
            if first is None or first.type != "warcinfo" or not first.in_memory:  # of another tool, or none
                told: Mapping[str, str] = {}
            else:
                told = pairs_of(first.block())
            for damage in reader.damages:
                tell(damage)
        found[_crawl(told)] += 1
    return dict(found)


def _crawl(told: Mapping[str, str]) -> Crawl:
    frontier, relevance = (_object(told.get(name, "")) for name in ("frontier", "relevance"))
    delay_ms = frontier.get("delay_ms")
    commit = told.get("commit", "")[:12]
    return Crawl(
        name=told.get("isPartOf", ""),
        software=told.get("software", "") + (f" ({commit})" if commit else ""),
        operator=told.get("operator", ""),
        user_agent=told.get("http-header-user-agent", ""),
        robots=told.get("robots", ""),
        delay_s=f"{delay_ms / 1000:g}" if isinstance(delay_ms, int | float) else "",
        policy=str(relevance.get("policy") or ""),
        language=str(relevance.get("language") or ""),
    )


def _object(text: str) -> Mapping[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _licence(said: str) -> str:
    """As it is known by, of Creative Commons ("cc-by-4.0"); else as the page says it."""
    kind, _, rest = licence_of(said).partition("/")
    if kind == "publicdomain":
        return "cc0-1.0" if rest.startswith("zero") else "public domain mark 1.0"
    if kind:
        return "cc-" + "-".join(rest.split("/")[:2])
    return _shown(said)[:_LONGEST_LICENCE].strip() or UNKNOWN


def written(sheet: Datasheet, title: str, files: Sequence[str], crawls: Mapping[Crawl, int]) -> str:
    """The card. `files`: what the documents were read from, as it is to be named."""
    title = _shown(title) or _UNTITLED
    parts = (
        _head(sheet, title),
        _amount(sheet, title),
        _origin(sheet),
        _rights(sheet),
        _times(sheet),
        _making(files, crawls),
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def _head(sheet: Datasheet, title: str) -> Iterator[str]:
    total = sheet.statistics.total
    languages = [
        name
        for name, row in sheet.statistics.ranked("language")
        if name != UNDETERMINED and _LANGUAGE.fullmatch(name) and row.words >= _LEAST_SHARE * total.words
    ]
    only = next(iter(sheet.licences)) if len(sheet.licences) == 1 else ""
    size = next((name for most, name in _SIZES if total.documents < most), _MANY)
    yield "---"
    yield f"pretty_name: {json.dumps(title, ensure_ascii=False)}"
    if languages:
        yield "language:"
        yield from (f"- {name if len(name) == 3 and name not in _WORDS else json.dumps(name)}" for name in languages)
    yield f"license: {only if only in _KNOWN_TO_HUBS else 'other'}"
    yield "size_categories:"
    yield f"- {size}"
    yield "task_categories:"
    yield "- text-generation"
    yield "---"


def _amount(sheet: Datasheet, title: str) -> Iterator[str]:
    total = sheet.statistics.total
    yield from ("", f"# {_plain(title)}", "")
    yield (
        f"{total.documents:,} documents, {total.words:,} words, {total.bytes:,} bytes of text in UTF-8, "
        f"from {len(sheet.hosts.keys() - {UNKNOWN}):,} hosts."
    )
    if total.documents:
        least, middle, most = (_quantile(sheet.lengths, share) for share in _QUANTILES)
        yield f"Half of them have {middle:,} words or more, a tenth {least:,} at most, a tenth {most:,} at least."
    yield from _table("Languages", "language, by paragraph", sheet.statistics.ranked("language"), total)


def _quantile(lengths: Counter[int], share: float) -> int:
    wanted = share * lengths.total()
    seen = 0
    for length in sorted(lengths):
        seen += lengths[length]
        if seen >= wanted:
            return length
    return 0


def _origin(sheet: Datasheet) -> Iterator[str]:
    ranked = sheet.statistics.ranked("host")
    yield from (
        "",
        "## Where it is from",
        "",
        "| host | documents | words | licence stated | captured |",
        "|---|---:|---:|---|---|",
    )
    for name, row in ranked[:_MOST_ROWS]:
        host = sheet.hosts[name]
        licences = ", ".join(_plain(licence) for licence, _ in host.licences.most_common(3))
        when = host.first if host.first == host.last else f"{host.first} to {host.last}"
        yield f"| {_named(name)} | {row.documents:,} | {row.words:,} | {licences} | {when} |"
    for others, rest in islice(shortened(ranked, _MOST_ROWS), _MOST_ROWS, None):
        yield f"| {others} | {rest.documents:,} | {rest.words:,} | | |"


def _rights(sheet: Datasheet) -> Iterator[str]:
    # Where none is stated comes first: of many licences the last rows are summed up.
    ranked = sorted(sheet.licences.items(), key=lambda item: (item[0] != UNKNOWN, -item[1].words, item[0]))
    named = [(name if name != UNKNOWN else "none stated", row) for name, row in ranked]
    yield from _table("Rights", "licence that the page states of itself", named, sheet.statistics.total)
    yield from ("", "Where none is stated the text is its publisher's. Each document has its URL.")


def _times(sheet: Datasheet) -> Iterator[str]:
    years = sorted(sheet.years.items())
    total = sheet.statistics.total
    yield from _table("Published", "year, as page or feed say", years, total, most=0)
    yield from _table("Captured", "month", sheet.statistics.ranked("month"), total, most=0)


def _making(files: Sequence[str], crawls: Mapping[Crawl, int]) -> Iterator[str]:
    yield from ("", "## How it was made", "", "Read from " + ", ".join(map(_code, files)) + ".")
    for crawl, count in crawls.items():
        facts = {
            "software": crawl.software,
            "operator, to whom site owners can turn": crawl.operator,
            "user agent": crawl.user_agent,
            "robots.txt": crawl.robots,
            "least seconds between requests to a host, but where a site has its own": crawl.delay_s,
            "policy": crawl.policy,
            "language looked for": crawl.language,
        }
        told = [f"* {name}: {_plain(value)}" for name, value in facts.items() if value]
        files_of_it = "1 archive file" if count == 1 else f"{count} archive files"
        yield from ("", f"Crawl {_plain(crawl.name) or 'of an unknown name'}, {files_of_it}{':' if told else '.'}")
        yield from ("", *told) if told else ()


def _table(
    heading: str, what: str, rows: Sequence[tuple[str, Row]], total: Row, most: int = _MOST_ROWS
) -> Iterator[str]:
    yield from ("", f"## {heading}", "", f"| {what} | documents | words | share |", "|---|---:|---:|---:|")
    for name, row in shortened(list(rows), most):
        share = f"{row.words / total.words:.1%}" if total.words else ""
        yield f"| {_named(name)} | {row.documents:,} | {row.words:,} | {share} |"


def _named(name: str) -> str:
    return _plain(name) if name != UNKNOWN else "not said"


def _shown(text: str) -> str:
    """In one line; what documents say may be anything."""
    return " ".join(_ODD.sub(" ", text).split())


def _plain(text: str) -> str:
    """In a cell or a line, as nothing but text."""
    return re.sub(r"([\\`*_|<>\[\]#&~$])", r"\\\1", _shown(text))


def _code(name: str) -> str:
    """A file's name, in which nothing can be escaped."""
    name = _shown(name)
    ticks = "`" * (max(map(len, re.findall("`+", name)), default=0) + 1)
    return f"{ticks} {name} {ticks}" if "`" in name else f"`{name}`"
