"""Feeds, index pages and sitemaps as entries that come again: the wiring between seeds.harvest and a lease.

What a poll means is decided there, purely; here a lease becomes a request, an answer becomes facts, and the result
becomes a finding. The memory of a feed travels with its frontier entry (``Lease.memo``), so a poll is polite, made by
one worker at a time, and repeated when its worker died, as any fetch is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from scrapy.http import Response
from scrapy.settings import BaseSettings

from crawler.fetch.connection import ABSENT
from crawler.harvest.item_dates import item_memo
from crawler.harvest.revisits import archived_at
from crawler.pages import answers
from crawler.pages.findings import Finding
from crawler.pages.link_memo import read_link_memo
from frontier.outcomes import DAY
from frontier.payload import source_tag
from frontier.types import Candidate, Kind, Lease
from relevance.pages.encoding import decode
from relevance.pages.page import read_page
from relevance.steering.languagetags import NAMES, TAGS
from seeds import harvest
from seeds.crawl.model import Crawl, FeedSource, IndexSource
from seeds.feeds.types import FeedEntry
from seeds.harvest import stats as harvest_stats
from seeds.harvest.catch_up import as_what
from seeds.harvest.schedule import Polling, first_poll_in_ms
from sieve.urls import authority, canonicalize_many

Named = TypeVar("Named", FeedEntry, harvest.FollowUp)
RECURRING = (Kind.FEED, Kind.SITEMAP)
_FOLLOW_UPS = {"feed": Kind.FEED, "sitemap": Kind.SITEMAP}
_NEWS = 1.0
_NOFOLLOW = "nofollow"
_UNFIT = ("too_large", "part")
"""Answers of which only a part has come: the items behind it would be missed."""
_MOST_NESTED = 5
"""Sitemaps of a site that lead to one another; one that is made up may go on for ever."""
_MOST_LED_TO = 1000
"""Sitemaps of a site that one index leads to, the newest: each is asked for before the site's pages, and again."""
# A few feeds start at once; many start over some time, this long for each of them.
_SPREAD_A_FEED_S = 0.1


class Polls:
    """The polls of one crawl; `spec` None: items may lead anywhere.

    `now_ms`: Redis' clock. A feed's memory goes from worker to worker, whose own clocks may be hours apart.
    """

    def __init__(self, settings: BaseSettings, spec: Crawl | None, now_ms: answers.Clock = answers.system_ms) -> None:
        self._spec = spec
        self._now_ms = now_ms
        self._indexes = frozenset(index.url for index in spec.indexes) if spec else frozenset()
        sources: list[FeedSource | IndexSource] = [*spec.feeds, *spec.indexes] if spec else []
        self._polling = {
            source.url: polling_of(settings, source.min_poll_s, source.max_poll_s)
            for source in sources
            if source.min_poll_s is not None or source.max_poll_s is not None
        }
        self._listed = frozenset(source.url for source in (*sources, *(spec.sitemaps if spec else ())))
        self._seeds = {source_tag(_source_of(url)): url for url in self._listed}
        self._of_feeds = polling_of(settings, None, None)
        self._of_sitemaps = Polling(
            min_s=settings.getfloat("HARVEST_SITEMAP_MIN_POLL_S"), max_s=settings.getfloat("HARVEST_SITEMAP_MAX_POLL_S")
        )
        self._newer = _newer_than(spec) if spec else {}
        language = spec.language if spec else ""
        self._languages = frozenset({language, TAGS.get(language, language), *NAMES.get(language, ())} - {""})
        self._version = str(settings["WARC_VERSION"])
        self._user_agent = str(settings["ROBOTS_USER_AGENT"])

    def request(self, lease: Lease) -> harvest.PollRequest:
        """What to send for a feed's lease: its URL or an older page, and the conditions."""
        return harvest.request(lease.url, lease.memo, self._now_ms())

    def facts(
        self, response: Response, lease: Lease, asked: str, sitemaps: Sequence[str] = (), fetched_us: int = 0
    ) -> harvest.Answer:
        """An answer as `seeds.harvest` wants it; `sitemaps` are those that the host's robots.txt names, `fetched_us` is
        when it was asked for."""
        headers = {name.lower(): values[-1] for name, values in response.headers.items() if values}
        result = answers.result_of(response)
        headers[b"cache-control"] = b", ".join(response.headers.getlist("Cache-Control"))  # a list (RFC 9110 5.3)
        facts = harvest.Answer(
            asked=asked,
            status=response.status,
            now_ms=self._now_ms(),
            headers={name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()},
            body=response.body,
            kind=as_what(self._kind(lease), lease.memo, asked),
            problem=result if result in _UNFIT else "",
            location=answers.location_of(response),
            retry_after_ms=answers.page_wait_ms(response, self._now_ms),
            sitemaps=tuple(sitemaps),
            fetched_us=fetched_us,
            languages=self._languages,
        )
        if self._spec is not None and self.is_of_a_site(lease):
            facts = replace(facts, wants_sitemap=self._spec.wants_sitemaps, most_sitemaps=_MOST_LED_TO)
        said = answers.directives(response, frozenset(), self._user_agent)
        return replace(facts, problem=_NOFOLLOW) if facts.is_page and not answers.may_follow(said) else facts

    def poll(self, lease: Lease, facts: harvest.Answer) -> harvest.PollResult:
        """What came of the poll; the costly part, pure, so that it may run in any thread."""
        if facts.is_page and not facts.problem:
            kind = facts.header("content-type") or None
            page = read_page(facts.body, facts.asked, kind, self._user_agent)
            if answers.may_follow(page.robots_meta):
                facts = replace(facts, body=decode(facts.body, kind).text.encode("utf-8", "replace"))
            else:
                facts = replace(facts, problem=_NOFOLLOW)
        polled = harvest.poll(lease.url, lease.memo, facts, self._bounds(lease))
        return replace(polled, new_items=_sound(polled.new_items), follow_ups=_sound(polled.follow_ups))

    def fail(self, lease: Lease, asked: str, result: str) -> Finding:
        """The finding of a poll that got no answer."""
        facts = harvest.Answer(asked=asked, status=0, now_ms=self._now_ms(), kind=self._kind(lease), problem=result)
        return self.finding(lease, facts, self.poll(lease, facts), result)

    def finding(self, lease: Lease, facts: harvest.Answer, polled: harvest.PollResult, result: str) -> Finding:
        """A poll as the rest of the crawler sees it."""
        stored_us = harvest.stored_us(lease.url, lease.memo, facts)
        polled = self._without_hope(lease, facts, polled)
        return Finding(
            result,
            links=self._links(lease, polled, facts),
            retry_after_ms=answers.of_host_ms(facts.status, facts.retry_after_ms),
            memo=polled.memo,
            again_in_ms=polled.again_in_ms,
            warnings=tuple(f"{lease.url}: {warning.reason} {warning.detail}".strip() for warning in polled.warnings),
            feed_counts=harvest_stats.as_counts(lease.url, polled.stats),
            not_modified=archived_at(facts.asked, stored_us, self._version),
        )

    def arrived(self, lease: Lease) -> dict[str, tuple[int, ...]]:
        """The counts to add for the page of an item of a feed, under the feed's tag; empty for any other page.

        When it was published came with the URL, so it does not matter who found the item, nor when.
        """
        link = read_link_memo(lease.memo)
        if link is None or not link.counted:
            return {}
        delay_s = max(0, self._now_ms() // 1000 - link.published_s)
        return harvest_stats.as_counts(lease.source, harvest.PollStats(fetched=1, fetch_delay_s=delay_s))

    def is_of_a_site(self, lease: Lease) -> bool:
        """Whether it is a sitemap that the seed file does not name, but a site's robots.txt, or one that this led to.
        So it stays, whatever the seed file says by now: its source is no feed."""
        if lease.kind is not Kind.SITEMAP or self._spec is None or lease.url in self._listed:
            return False
        return lease.source not in ("", "seed") and not lease.source.startswith("feed")

    def _without_hope(self, lease: Lease, facts: harvest.Answer, polled: harvest.PollResult) -> harvest.PollResult:
        """Of a site that keeps none where one was looked for: it is asked as rarely as sitemaps are, and nobody is told
        of what no person has written down."""
        missing = facts.status in ABSENT
        if not (polled.stats.errors and (missing or 200 <= facts.status < 300) and self.is_of_a_site(lease)):
            return polled
        again_in_ms = polled.again_in_ms
        if again_in_ms is not None:
            again_in_ms = max(again_in_ms, round(self._of_sitemaps.max_s * 1000))
        return replace(polled, again_in_ms=again_in_ms, warnings=() if missing else polled.warnings)

    def _kind(self, lease: Lease) -> str:
        if lease.kind is Kind.SITEMAP:
            return "sitemap"
        return "index" if self._seed(lease) in self._indexes else "feed"

    def _bounds(self, lease: Lease) -> Polling:
        if lease.kind is Kind.SITEMAP:
            return self._of_sitemaps
        return self._polling.get(self._seed(lease), self._of_feeds)

    def _seed(self, lease: Lease) -> str:
        """The URL by which the seed file knows what is polled: where it has moved to, and for the sitemaps that an
        index leads to, what the file says of it still holds, unless the file names that place, too."""
        if lease.url in self._listed:
            return lease.url
        return self._seeds.get(lease.source, lease.url)

    def _links(self, lease: Lease, polled: harvest.PollResult, facts: harvest.Answer) -> list[Candidate]:
        if self._spec is not None and self.is_of_a_site(lease):
            return self._links_of_a_site(self._spec, lease, polled, facts)
        depth, source = lease.depth + 1, _source_of(lease.url)
        recent = self._recent(lease, polled, facts.now_ms)
        entries = [entry for entry in recent if self._spec is None or self._spec.wants_item(entry.url)]
        links = _items(entries, source, depth, polled, facts)
        seed = _source_of(self._seed(lease))
        links += [Candidate(up.url, _FOLLOW_UPS[up.kind], seed, depth, _NEWS, memo=up.memo) for up in polled.follow_ups]
        return links

    def _links_of_a_site(
        self, spec: Crawl, lease: Lease, polled: harvest.PollResult, facts: harvest.Answer
    ) -> list[Candidate]:
        """Within the scopes, as links of a page are; an index of sitemaps is no step. Nothing when the seed file does
        not want them any more."""
        if not spec.wants_sitemaps(lease.url):
            return []
        entries = [entry for entry in polled.new_items if spec.may_follow(entry.url, 1)]
        links = _items(entries, lease.url, 1, polled, facts)
        if lease.depth < _MOST_NESTED:
            more = [up for up in polled.follow_ups if spec.wants_sitemaps(up.url)]
            depth = lease.depth + 1
            links += [Candidate(up.url, Kind.SITEMAP, lease.url, depth, _NEWS, memo=up.memo) for up in more]
        return links

    def _recent(self, lease: Lease, polled: harvest.PollResult, now_ms: int) -> Iterable[FeedEntry]:
        """The new items, of a sitemap with a limit of age only those within it."""
        days = 0
        if lease.kind is Kind.SITEMAP:
            days = self._newer.get(self._seed(lease), self._newer.get(lease.authority, 0))
        since_ms = now_ms - days * DAY
        return (entry for entry in polled.new_items if not days or (entry.published_ms or 0) >= since_ms)


def _sound(named: Sequence[Named]) -> tuple[Named, ...]:
    """Those with URLs: people write into feeds and sitemaps what is none, and the sieve takes no such."""
    urls = canonicalize_many([one.url for one in named])
    return tuple(one for one, url in zip(named, urls, strict=True) if url)


def _items(
    entries: Iterable[FeedEntry], source: str, depth: int, polled: harvest.PollResult, facts: harvest.Answer
) -> list[Candidate]:
    """The pages of entries, each once: the last of an address counts."""
    counted = bool(polled.stats.dated or polled.stats.recovered)  # what the first poll finds may be of any age
    return [
        Candidate(url, source=source, depth=depth, score=_NEWS, memo=item_memo(entry, facts, counted=counted))
        for url, entry in {entry.url: entry for entry in entries}.items()
    ]


def _source_of(feed: str) -> str:
    """How the frontier is told that a URL came out of a feed."""
    return f"feed:{feed}"


def polling_of(settings: BaseSettings, min_s: float | None, max_s: float | None) -> Polling:
    """The bounds of a feed's schedule: its own, else the settings'."""
    return Polling(
        min_s=min_s if min_s is not None else settings.getfloat("HARVEST_MIN_POLL_S"),
        max_s=max_s if max_s is not None else settings.getfloat("HARVEST_MAX_POLL_S"),
    )


def first_poll_ms(settings: BaseSettings, url: str, feeds: int, now_ms: int) -> int:
    """When a seed that is polled is asked first: all of a crawl's `feeds` within HARVEST_SPREAD_S, a few at once."""
    spread_s = min(settings.getfloat("HARVEST_SPREAD_S"), feeds * _SPREAD_A_FEED_S)
    return now_ms + first_poll_in_ms(url, spread_s) if feeds > 1 and spread_s > 0 else 0


def _newer_than(spec: Crawl) -> Mapping[str, int]:
    """Days by sitemap (0: all), and by authority for the sitemaps that an index leads to."""
    found: dict[str, int] = {}
    for sitemap in spec.sitemaps:
        found[sitemap.url] = sitemap.newer_than_days
        if sitemap.newer_than_days:
            home = str(authority(sitemap.url))
            found[home] = max(found.get(home, 0), sitemap.newer_than_days)
    return found
