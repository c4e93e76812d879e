"""What a synthetic web is made of: values only. The same specification is the same web, to the byte.

`WebSpec()` is a small web with some of everything; :func:`calm` takes all misbehaviour out of a specification and
:func:`wild` puts all of it in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STRUCTURES = ("blend", "clustered", "mixed", "gateways")
#: Robots kinds whose rules let most pages be fetched, in the order in which hosts get them by default.
OPEN_ROBOTS = (
    "normal", "shapes", "delay", "missing", "bom", "redirect", "agents", "html", "flaky503", "redirect_host",
    "slow", "forbidden", "huge", "empty", "crlf", "delay_fraction", "redirect5", "gone",
)  # fmt: skip
#: Robots kinds that close the whole host (unreachable, server errors, refused).
CLOSED_ROBOTS = ("down503", "cut", "deny", "error500", "hang", "delay_huge")
#: Kinds on which RFC 9309 leaves the crawler a choice: nothing of such a host is demanded or forbidden.
UNCLEAR_ROBOTS = ("redirect_loop", "redirect8")
ROBOTS_KINDS = OPEN_ROBOTS + CLOSED_ROBOTS + UNCLEAR_ROBOTS
SPELLINGS = ("case", "tilde", "dots", "fragment", "order", "utm", "question", "escape", "session")
BAD_KINDS = (
    "hang", "cut", "short", "long", "bomb", "large", "endless", "headers", "garbage", "silence", "reset", "badgzip",
    "drip",
)  # fmt: skip
TRAP_KINDS = ("calendar", "visit", "deeper", "shop", "lost")


class SpecError(ValueError):
    """A specification that cannot be a web; the message names the field and the value."""


@dataclass(frozen=True, slots=True)
class FeedSpec:
    """Feeds that publish and expire on a clock. Times are seconds of the web's own clock (see `WebSpec.time_scale`).

    `burst` items appear together, each `interval_s * burst`; the mean rate stays one item an `interval_s`. The feed
    shows the newest `window` items, and none older than `keep_s` (0: no limit). `archive`: older items can be paged
    back to.
    """

    count: int = 1
    kind: str = "rss"  # rss | atom | json | index (an HTML page that lists the newest items)
    interval_s: float = 60.0
    window: int = 20
    burst: int = 1
    keep_s: float = 0.0
    archive: bool = True
    language: str = ""  # "": the language of the host
    correct_s: float = 0.0  # an item's page changes once, so long after it appeared (0: never)
    validators: bool = False  # the items' pages have an ETag and answer 304

    def __post_init__(self) -> None:
        if self.kind not in ("rss", "atom", "json", "index"):
            raise SpecError(f"feed kind {self.kind!r} is none of rss, atom, json, index")
        if self.interval_s <= 0 or self.window < 1 or self.burst < 1 or self.count < 0:
            raise SpecError(f"feed with interval_s={self.interval_s} window={self.window} burst={self.burst}")


@dataclass(frozen=True, slots=True)
class Rates:
    """How often something odd happens. First group: share of pages; second: of links; third: links a page."""

    flaky: float = 0.03  # 503, 429 or 500 at first, or cut short; sound when asked again in time
    slow: float = 0.01
    encoded: float = 0.12  # chunked, gzip, deflate, br
    charset: float = 0.08  # odd, wrong or missing charset
    lang: float = 0.15  # html lang wrong or missing
    robots_meta: float = 0.03  # noindex / nofollow by meta or X-Robots-Tag
    copied: float = 0.0  # nearly the text of a page nearer to the host's top
    pdf: float = 0.0  # of the pages that none lies below: a PDF document
    drawn: float = 0.0  # the text is there for a script to draw, as JSON

    redirect: float = 0.06
    spelling: float = 0.10
    nofollow: float = 0.02

    dead: float = 0.15
    bad: float = 0.02
    trap: float = 0.05
    foreign: float = 0.10  # mailto:, javascript:, ftp:, private addresses, redirects to such


@dataclass(frozen=True, slots=True)
class WebSpec:
    """A web. `pages` counts the plain pages of all hosts; error pages, traps, feeds and sitemaps come on top."""

    seed: int = 1
    hosts: int = 12
    pages: int = 600
    addresses: int = 0  # 0: one a host
    port: int = 0  # 0: any free one
    named: bool = False  # authorities by name (with a hosts file) instead of IP literals
    language: str = "zul"
    others: tuple[str, ...] = ("eng", "xho", "ssw", "nbl", "afr", "sot")
    structure: str = "blend"
    target_share: float = 0.5  # of the hosts: those with pages in `language`
    min_links: int = 20
    max_links: int = 60
    seed_hosts: int = 2
    robots: tuple[str, ...] = (*OPEN_ROBOTS[:6], "down503", *OPEN_ROBOTS[6:12], "cut", *OPEN_ROBOTS[12:], "deny")
    crawl_delay_s: float = 1.0
    robots_failures: int = 2  # how often flaky503 fails first
    rates: Rates = field(default_factory=Rates)
    spellings: tuple[str, ...] = SPELLINGS
    bad_kinds: tuple[str, ...] = BAD_KINDS
    trap_kinds: tuple[str, ...] = TRAP_KINDS
    feeds: tuple[FeedSpec, ...] = (
        FeedSpec(2, "rss", 3600, 8), FeedSpec(1, "atom", 3600, 8), FeedSpec(1, "json", 3600, 8)
    )  # fmt: skip
    time_scale: float = 1.0  # seconds of the web's clock a real second
    slow_s: float = 0.5
    retry_after_s: int = 1
    agent: str = "ulwembu"  # product token that robots.txt groups of kind "agents" name
    page_bytes: int = 16_000  # median size of a page

    def __post_init__(self) -> None:
        if not 1 <= self.hosts <= 60_000:
            raise SpecError(f"hosts={self.hosts}: 1 to 60000")
        if self.pages < self.hosts:
            raise SpecError(f"pages={self.pages} is less than hosts={self.hosts}")
        if not 0 <= self.addresses <= self.hosts:
            raise SpecError(f"addresses={self.addresses}: 0 to hosts={self.hosts}")
        if self.structure not in STRUCTURES:
            raise SpecError(f"structure={self.structure!r} is none of {', '.join(STRUCTURES)}")
        for name, known in (
            ("robots", ROBOTS_KINDS),
            ("spellings", SPELLINGS),
            ("bad_kinds", BAD_KINDS),
            ("trap_kinds", TRAP_KINDS),
        ):
            if unknown := set(getattr(self, name)) - set(known):
                raise SpecError(f"{name}: unknown {', '.join(sorted(unknown))}; known: {', '.join(known)}")
        if not 4 <= self.min_links <= self.max_links <= 400:
            raise SpecError(f"links {self.min_links} to {self.max_links}: within 4 to 400")

    def replace(self, **changes: Any) -> WebSpec:
        """A copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Plain values for ``json.dumps``."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> WebSpec:
        """Inverse of :meth:`to_json`."""
        changed: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        changed["rates"] = Rates(**values["rates"])
        changed["feeds"] = tuple(FeedSpec(**feed) for feed in values["feeds"])
        return cls(**changed)


NO_ODDITIES = Rates(**{f.name: 0.0 for f in dataclasses.fields(Rates)})


def calm(spec: WebSpec | None = None) -> WebSpec:
    """`spec` without any misbehaviour: every page answers 200 at once, robots.txt is of the normal kind."""
    return (spec or WebSpec()).replace(rates=NO_ODDITIES, robots=("normal",))


def wild(spec: WebSpec | None = None) -> WebSpec:
    """`spec` with every kind of misbehaviour, often."""
    rates = Rates(flaky=0.06, slow=0.02, bad=0.3, trap=0.4, dead=0.4, foreign=0.4, robots_meta=0.06, charset=0.2)
    return (spec or WebSpec()).replace(rates=rates, robots=ROBOTS_KINDS)
