"""``scrapy why URL``: what a crawl did with a URL, or which rule kept it from doing anything."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich.text import Text
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from archive.terminal import printable
from crawler.console.crawl_state import Action, CrawlState
from crawler.console.terminal import budget_words, clock, host_words
from crawler.harvest.polls import RECURRING
from crawler.pages.answers import PAGE_TYPES
from crawler.pages.link_memo import read_link_memo
from crawler.pages.policy import open_policy
from crawler.records.captures import Place, Tell, captures
from frontier.admin import FAR_BEHIND, LOOKED_THROUGH
from frontier.payload import is_embedded, is_least
from frontier.types import Explanation, Kind, Waiting
from relevance.errors import ModelError, PolicyError
from seeds.crawl import Crawl
from seeds.harvest.history import FeedHistory, HistoryError
from seeds.harvest.stats import duration
from sieve.errors import DamagedError, LinkError, StoreError
from sieve.fingerprint import fingerprint
from sieve.urls import canonicalize, canonicalize_many

_UNKNOWN = "cannot be told now: a worker has the table of seen URLs, or `scrapy sieve contains URL` says what ails it"
_MOST_DIGITS = 9
_JUDGED = (*PAGE_TYPES, "unk", "warc/revisit")
_FROM_PAGE = ("languages", "verdict", "verdict-reason", "verdict-scores", "target-words", "quality", "charset")


class Why(Action):
    """See the module."""

    def __init__(self, settings: Settings, command: str) -> None:
        super().__init__(settings, command)
        self._told: set[str] = set()

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError
        try:
            canonical = canonicalize(args[0])
        except ValueError as error:
            answer = f"no URL that a crawl could fetch: {error}"
            self.tell(opts, {"url": args[0], "answer": answer}, f"{args[0]}: {answer}")
            self.exitcode = 1
            return
        with self.state(opts) as state:
            if state.elsewhere:
                self.note(f"no archive of this crawl is on this machine; its workers ran on {state.elsewhere}")
            facts = gather(state, args[0], canonical, self._passed_over)
        if opts.json:
            self.show_json(facts)
        else:
            self.show(_text(facts))

    def _passed_over(self, what: str) -> None:
        """The answer may lack something."""
        if what not in self._told:
            self._told.add(what)
            self.note(what)
        self.exitcode = 1


def gather(state: CrawlState, url: str, canonical: str, tell: Tell) -> dict[str, Any]:
    """Everything known of `url`, as plain values. ``tell``: of what cannot be read of it."""
    found = state.frontier.explain(url)
    warc = state.folder / "warc"
    fetches = captures(warc, url, tell)
    waiting, told = found.waiting, fetches[-1].told if fetches else {}
    source = waiting.source if waiting else told.get("source", "")
    depth = waiting.depth if waiting else _number(told.get("depth", ""))
    admitted = True if waiting or fetches or found.place == "leased" else _admitted(state, url)
    refused = _refused(state, found, depth, admitted)
    return {
        "url": url,
        "answer": _answer(found, fetches, refused, admitted, state.settings.getfloat("FRONTIER_LEAST_SHARE"))
        + _polling(state, found, fetches)
        + _beyond(state, found.waiting),
        "canonical": canonical,
        "fingerprint": f"{fingerprint(canonical):016x}",
        "admitted": admitted,
        "place": found.place,
        "source": source,
        "source_url": state.url_of(source, tell),
        "depth": depth if waiting or told else None,
        "score": round(waiting.score, 3) if waiting else None,
        "score_terms": _terms(state, waiting) if waiting else {},
        "attempt": waiting.attempt if waiting else None,
        "expiries": waiting.expiries if waiting else None,
        "parked_reason": waiting.reason if waiting else "",
        "parked_until_ms": waiting.until_ms if waiting else 0,
        "polls": _polls(waiting) if waiting else {},
        "refused": refused,
        "robots": found.robots,
        "host": asdict(found.host) if found.host else None,
        "host_state": host_words(found.host, state.frontier.status().now_ms) if found.host else "never met",
        "fetches": [asdict(fetch) for fetch in fetches],
    }


def _number(text: str) -> int:
    """What a metadata record says; 0 where others have written no number there."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0


def _admitted(state: CrawlState, url: str) -> bool | None:
    try:
        return state.admitted(url)
    except (StoreError, DamagedError, LinkError):
        return None


def _polls(waiting: Waiting) -> dict[str, Any]:
    """What a feed, an index page or a sitemap remembers of its polls; empty before the first, and for any other URL."""
    if waiting.kind not in RECURRING or not waiting.memo:
        return {}
    try:
        history = FeedHistory.unpack(waiting.memo)
    except HistoryError:  # the next poll begins anew, and warns
        return {}
    names = ("polls", "last_s", "interval_s", "errors", "failing_since_s", "problem")
    return {name: getattr(history, name) for name in names}


def _poll_rows(polls: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    good = f"last good {clock(polls['last_s'] * 1000)}" if polls["last_s"] else "none good yet"
    every = f", then due {duration(polls['interval_s'])} later" if polls["last_s"] else ""
    yield "polls", f"{polls['polls']}, {good}{every}"
    if polls["failing_since_s"]:
        why = f": {polls['problem']}" if polls["problem"] else ""
        yield "", f"failing since {clock(polls['failing_since_s'] * 1000)}, {polls['errors']} time(s) in a row{why}"


def _terms(state: CrawlState, waiting: Waiting) -> dict[str, float]:
    """What the policy would say of the URL now, but for the links to it, which the workers count for themselves."""
    link = read_link_memo(waiting.memo) if waiting.kind is Kind.PAGE else None
    if link is None or not link.bucket or state.spec is None:
        return {}
    try:
        policy = open_policy(state.settings, state.spec)
    except (ModelError, PolicyError):  # a model of the workers' machines
        return {}
    policy.absorb(state.frontier.get_counts("yield"))
    return policy.explain(waiting.url, link.since_relevant, link.bucket)


def _refused(state: CrawlState, found: Explanation, depth: int, admitted: bool | None) -> str:
    """The rule that speaks against the URL: trap, opt-out, seed file, robots.txt; "" for none. A scope says where links
    may lead: it is not asked of what the seed file names, nor of what was `admitted` (an item of a feed, what a page
    embeds)."""
    if found.refused:
        return found.refused
    spec = state.spec
    if spec is not None and not (admitted or spec.may_follow(found.url, depth) or _is_named(spec, found.url)):
        return f"scope: outside what {spec.path or spec.name} allows"
    return f"robots.txt {found.robots}" if found.robots.startswith("denied") else ""


def _is_named(spec: Crawl, url: str, *, to_poll: bool = False) -> bool:
    """Does the seed file name it? ``to_poll``: as a feed, an index page or a sitemap."""
    named = [seed.url for seed in spec.seeds() if seed.kind != "page" or not to_poll]
    return canonicalize(url) in canonicalize_many(named)


def _answer(
    found: Explanation, fetches: list[Place], refused: str, admitted: bool | None = None, least_share: float = 1.0
) -> str:
    """The short answer, one sentence; `admitted`: by the sieve, None where that cannot be known."""
    if fetches:
        last = fetches[-1]
        judged = ""
        if verdict := last.told.get("verdict"):
            judged = f"; verdict: {verdict} ({last.told.get('verdict-reason', '')})"
        elif unread := last.told.get("unread"):
            judged = f"; a PDF that could not be read ({unread}), so it was not judged"
        elif last.told.get("kind") == "requisite":
            judged = "; a page embeds it, so it was not judged"
        elif last.told.get("kind") == Kind.PAGE and last.status == "200" and last.mime not in _JUDGED:
            judged = f"; {last.mime} was not read as a page, so it was not judged"
        return f"fetched {len(fetches)} time(s), last with status {last.status or 'unknown'}{judged}"
    if found.waiting and found.waiting.until_ms:
        return f"parked ({found.waiting.reason}) until {clock(found.waiting.until_ms)}"
    if found.place == "leased":
        return "being fetched now"
    if refused:
        return f"refused: {refused}"
    if found.place == "queued":
        if least_share < 1 and found.waiting and is_least(found.waiting.score):
            share = f"{least_share:.0%} of the fetches"
            return f"waits for its turn; worth least, and those have {share} while better URLs are to be had"
        return "waits for its turn"
    if found.host is None:
        return "never admitted: no URL of this host was"
    if admitted is False:
        return "never admitted: it was not found on any page that was read, nor in a seed"
    if found.place == FAR_BEHIND:
        return f"not among the first {LOOKED_THROUGH:,} URLs that wait of its host: behind them, parked, or done with"
    gone = (
        "in a file still open, moved away or in another DATA_DIR, given up after its last try, without an answer, "
        "or dropped (by an opt-out, robots.txt, a limit of its host, or `scrapy frontier drop`)"
    )
    return f"not waiting and in no closed WARC file here: {gone if admitted else f'never found, {gone}'}"


def _polling(state: CrawlState, found: Explanation, fetches: list[Place]) -> str:
    """What becomes of a feed, an index page or a sitemap that has been fetched; "" for any other URL."""
    waiting = found.waiting
    if not fetches or found.place == "leased":
        return ""
    if waiting:
        again = clock(waiting.until_ms) if waiting.until_ms else "now"
        return f"; polled again {again}" if waiting.kind in RECURRING else ""
    if any(fetch.told.get("kind") in RECURRING for fetch in fetches):
        return "; not polled any more"
    named = state.spec is not None and _is_named(state.spec, found.url, to_poll=True)
    return "; to be polled from the next start on" if named else ""


def _beyond(state: CrawlState, waiting: Waiting | None) -> str:
    """The budget of the crawl that keeps a URL that waits; "" for none."""
    budget, status = state.frontier.config.budget, state.frontier.status()
    embedded = waiting is not None and is_embedded(waiting.kind, waiting.score, waiting.memo)
    if waiting is None or (embedded and budget.narrowed(status.spent(budget))):
        return ""
    return f"; but {said}" if (said := budget_words(status, budget)) else ""


def _rows(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    admitted = {True: "yes", False: "never", None: _UNKNOWN}
    yield "answer", facts["answer"]
    yield "canonical form", facts["canonical"]
    yield "fingerprint", facts["fingerprint"]
    yield "admitted", admitted[facts["admitted"]]
    yield "found on", facts["source_url"] or facts["source"] or "unknown"
    yield "place", facts["place"]
    if facts["depth"] is not None:
        yield "depth", str(facts["depth"])
    if facts["score"] is not None:
        yield "score", f"{facts['score']:.2f}, tries so far {facts['attempt']}"
    for name, term in facts["score_terms"].items():
        yield "", f"{name}: {term:g}"
    if polls := facts["polls"]:
        yield from _poll_rows(polls)
    yield "robots.txt", facts["robots"]
    yield "refused by", facts["refused"] or "no rule"
    yield "host", facts["host_state"] or "has nothing to do"
    if host := facts["host"]:
        yield "", f"{host['queued']} queued, {host['parked']} parked, {host['pages']} pages fetched"
        yield "", f"delay {host['delay_ms'] / 1000:g} s, address {host['address'] or 'unknown'}"
    for fetch in facts["fetches"]:
        inner = f" + {fetch['inner_offset']}" if fetch["inner_offset"] else ""
        gone = "" if fetch["path"].exists() else "  (the file is not there any more, only its index)"
        yield f"fetch {fetch['timestamp']}", f"{fetch['status']}  {fetch['path']}  at {fetch['offset']}{inner}{gone}"
        for name in _FROM_PAGE:
            if value := fetch["told"].get(name):
                yield "", f"{name}: {value}"


def _text(facts: Mapping[str, Any]) -> Text:
    """Lines, no table: paths and URLs stay whole, to be copied; what strangers' feeds say steers no terminal."""
    text = Text(printable(facts["url"]), style="bold")
    for name, value in _rows(facts):
        text.append(f"\n  {name:<21}", style="bold" if name == "answer" else "dim")
        text.append(f" {printable(value)}", style="bold" if name == "answer" else "not bold")
    return text
