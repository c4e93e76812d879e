"""``scrapy seeds``: look at a crawl's seed file, and at sites that might go into one."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from scrapy import Spider
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from archive.terminal import printable
from crawler.addon import Ulwembu
from crawler.console.crawl_state import Action
from crawler.console.polite_client import BlockingFetch
from crawler.console.terminal import aside, clock
from crawler.errors import PreflightError
from crawler.pages.policy import model_of, open_policy
from crawler.preflight import settings_faults
from crawler.spiderloader import seeds_folder
from crawler.work.opening import host_policies
from relevance import read_page
from relevance.errors import ModelError, PolicyError, RelevanceError
from relevance.language.identification import Identifier
from relevance.language.model import shipped
from seeds.crawl import Crawl, crawls, load_crawl
from seeds.crawl.scope import seed_key
from seeds.errors import SeedsError
from seeds.sitemaps import SitemapEntry
from seeds.survey import check, lists
from seeds.survey.probe import Fetched
from seeds.survey.sitemap_walk import walk_site

_GOOD = ("alive", "moved")


class Seeds(Action):
    """See the module; `usage` is what is said to words that are none of its own."""

    def __init__(self, settings: Settings, usage: str) -> None:
        super().__init__(settings, "seeds")
        self._usage = usage
        self._before: BlockingFetch | None = None

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        actions: dict[str, Callable[[Sequence[str], argparse.Namespace], bool]] = {
            "check": self._check,
            "discover": self._discover,
            "pages": self._pages,
            "add": self._add,
            "import": self._import,
        }
        if len(args) < (3 if args[:1] == ["add"] else 2) or args[0] not in actions:
            raise UsageError(f"one of these is wanted: {self._usage}")
        if not actions[args[0]](args[1:], opts):
            self.exitcode = 1

    def fault(self, what: object) -> None:
        """Without the command's name: a seed file's faults begin with file and line."""
        aside(what)
        self.exitcode = 1

    def _check(self, names: Sequence[str], opts: argparse.Namespace) -> bool:
        good = True
        for name in names:
            try:
                crawl = load_crawl(self._path(name))
            except SeedsError as error:
                aside(error)
                good = False
                continue
            fault = self._policy_fault(crawl)
            if fault:
                aside(f"{crawl.path or crawl.name}: relevance policy: {fault}")
                good = False
            if not opts.offline:
                good &= self._online(crawl, opts)
            elif not fault:
                count = sum(1 for _ in crawl.seeds())
                said = f"{crawl.path or crawl.name}: {count} seeds, syntax good"
                print(_json({"crawl": crawl.name, "seeds": count}) if opts.json else said)
        return good

    def _policy_fault(self, crawl: Crawl) -> str:
        """Why the crawl would be refused for its policy, its options, its language or its model; "" for nothing."""
        try:
            open_policy(self.settings, crawl)
        except (PolicyError, ModelError) as error:
            return str(error)
        return ""

    def _online(self, crawl: Crawl, opts: argparse.Namespace) -> bool:
        good = True
        with _polite(self._polite_settings(crawl.contact), crawl, self._before) as fetch:
            self._before = fetch
            for found in check.check(crawl, fetch):
                good &= found.state in _GOOD
                row = (found.state, found.kind, found.url, found.detail)
                value = {"crawl": crawl.name, **asdict(found)}
                print(_json(value) if opts.json else _row(*row), flush=True)
        return good

    def _discover(self, urls: Sequence[str], opts: argparse.Namespace) -> bool:
        good = True
        crawl = load_crawl(self._path(opts.crawl)) if opts.crawl else None
        settings = self._polite_settings(crawl.contact if crawl else "")
        language = _language(settings, crawl)
        with _polite(settings, crawl) as fetch:
            for url in urls:
                found = check.discover(url, fetch, language)
                good &= found.state == "alive"
                if opts.json:
                    print(_json(asdict(found)), flush=True)
                    continue
                print(_row(found.state, found.url, found.language, found.detail), flush=True)
                for feed, items in found.feeds:
                    print(_row("feed", feed, f"{items} items"))
                for sitemap in found.sitemaps:
                    print(_row("sitemap", sitemap))
        return good

    def _pages(self, urls: Sequence[str], opts: argparse.Namespace) -> bool:
        good = True
        with _polite(self._polite_settings()) as fetch:

            def told(url: str) -> Fetched:
                sys.stdout.flush()
                aside(url)
                return fetch(url)

            def show(entry: SitemapEntry) -> None:
                date = clock(entry.dated_ms or 0)
                print(_json({"url": entry.loc, "date": date}) if opts.json else _row(entry.loc, date))

            for url in urls:
                found = walk_site(url, told, show)
                for sitemap, problem in found.problems.items():
                    aside(f"{sitemap}: {problem}")
                if not found.read:
                    aside(f"{url}: no sitemap")
                good &= bool(found.read) and not found.problems
        return good

    def _add(self, words: Sequence[str], opts: argparse.Namespace) -> bool:
        path, good = self._path(words[0]), True
        crawl = load_crawl(path)
        with _polite(self._polite_settings(crawl.contact), crawl) as fetch:
            for url in words[1:]:
                found = check.discover(url, fetch)
                if found.state != "alive":
                    aside(f"{url}: {found.detail}, not added")
                    good = False
                    continue
                known = _listed(crawl, "feed")
                new = tuple(feed for feed in found.feeds if seed_key(feed[0]) not in known)
                addition = check.to_add(replace(found, feeds=new), opts.scope)
                try:
                    crawl = check.add_to_file(path, addition)
                except SeedsError as error:  # it is listed already: the others need not be
                    aside(error)
                    good = False
                    continue
                print(f"{path}:{addition}", end="")
        return good

    def _import(self, names: Sequence[str], opts: argparse.Namespace) -> bool:
        good = True

        def tell(error: lists.ListError) -> None:
            nonlocal good
            good = False
            aside(error)

        path = self._path(opts.into) if opts.into else None
        known = _listed(load_crawl(path), opts.table) if path is not None else set()
        listed = lists.import_files([Path(name) for name in names], tell)
        new = [entry for entry in listed if seed_key(entry.url) not in known]
        if path is None:
            print(lists.to_toml(new, opts.table), end="")
        else:
            if new:
                check.add_to_file(path, "\n" + lists.to_toml(new, opts.table))
            print(f"{path}: {len(new)} added, {len(listed) - len(new)} there already")
        return good

    def _path(self, name: str) -> Path:
        """The seed file of a crawl's name, or the file itself."""
        if name.endswith(".toml"):
            return Path(name)
        known = crawls(seeds_folder(self.settings))
        if name not in known:
            raise PreflightError(f"no crawl named {name!r} (there are: {', '.join(sorted(known))})")
        return known[name]

    def _polite_settings(self, contact: str = "") -> Settings:
        """The project's settings with our defaults; PreflightError when one cannot be used or nobody is named."""
        settings = self.settings.copy()
        if contact:
            settings.set("CONTACT", contact, priority="spider")
        Ulwembu().update_settings(settings)
        faults = settings_faults(settings, Spider)
        if faults:
            raise PreflightError("\n".join(faults))
        return settings


def _listed(crawl: Crawl, table: str) -> set[str]:
    """The keys of what no table of this kind may name again."""
    polled = [seed.url for seed in crawl.seeds() if seed.kind != "page"]
    return set(map(seed_key, [site.url for site in crawl.sites] if table == "site" else polled))


def _polite(settings: Settings, crawl: Crawl | None = None, before: BlockingFetch | None = None) -> BlockingFetch:
    """Fetches for a crawl, after what fetched for the one `before`; what it was not asked about opt-outs is said."""
    fetch = BlockingFetch(settings, crawl.name if crawl else "", before)
    if crawl:
        fetch.keep_to(host_policies(crawl))
    if note := fetch.opted_out.note:
        aside(f"scrapy seeds: {note}")
    return fetch


def _language(settings: Settings, crawl: Crawl | None) -> check.Language:
    """Names a page's language as the crawl does: by its model, with a lean to the language that it looks for.
    PreflightError when the model cannot be used."""
    try:
        identifier = Identifier(model_of(settings, crawl) or shipped(), wanted=crawl.language if crawl else None)
    except ModelError as error:
        raise PreflightError(str(error)) from error

    def language(body: bytes, url: str, content_type: str) -> str:
        try:
            return identifier([read_page(body, url, content_type or None).text()])[0].language
        except RelevanceError:
            return "und"

    return language


def _row(*cells: str) -> str:
    """A line of text; what strangers' pages say steers no terminal and begins no other line."""
    return printable("\t".join(cells).rstrip())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
