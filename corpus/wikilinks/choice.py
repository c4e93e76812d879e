"""Which links are wanted, and why the others are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from corpus.document import host_of
from corpus.wikilinks.address import Target, target_of
from corpus.wikilinks.namespaces import is_article
from corpus.wikilinks.similarity import alike
from corpus.wikilinks.tables import Tables

REASONS = {
    "edition": "to an edition that is not wanted",
    "itself": "of a page of Wikipedia to itself",
    "number": "by the number of a page that no table of pages has",
    "version": "to a page as it once was (oldid, diff)",
    "action": "to edit a page, to its history, …",
    "no_title": "to no page: the start page, files, titles that cannot be",
    "namespace": "to what is no article: files, users, categories, …",
    "fragment": "to a part of a page (#…)",
    "disambiguation": "to a list of meanings",
    "unknown": "to a title that the table of titles lacks",
    "dissimilar": "anchor and title are not alike",
}
_SISTERS = """
wikipedia wikidata wiktionary wikimedia wikisource wikibooks wikinews wikiquote wikiversity wikivoyage wikispecies
wikifunctions mediawiki wmflabs wmcloud
"""
_WIKIMEDIA = frozenset(_SISTERS.split())
_NONE = Tables()


def of_wikimedia(url: str) -> bool:
    """Does a document stand on Wikipedia or one of its sisters?"""
    return not _WIKIMEDIA.isdisjoint(host_of(url).split("."))


@dataclass(slots=True)
class LinkChoice:
    """``editions`` empty: all. ``tables``: by edition; links to others are not looked up. ``similar``: only anchors
    that are like the title. ``fragments``: also links with one. ``dropped`` counts by :data:`REASONS`."""

    editions: frozenset[str] = frozenset()
    tables: Mapping[str, Tables] = field(default_factory=dict)
    similar: bool = False
    fragments: bool = True
    dropped: Counter[str] = field(default_factory=Counter)

    def of_document(self, url: str) -> _Choosing:
        """The choice for the links of one document."""
        return _Choosing(self, target_of(url))


@dataclass(frozen=True, slots=True)
class _Choosing:
    choice: LinkChoice
    itself: Target | None

    def __call__(self, found: Target, anchor: str) -> Target | None:
        target, reason = self._judge(found, anchor)
        if reason:
            self.choice.dropped[reason] += 1
            return None
        return target

    def _judge(self, found: Target, anchor: str) -> tuple[Target, str]:
        choice, tables = self.choice, self.choice.tables.get(found.edition, _NONE)
        if choice.editions and found.edition not in choice.editions:
            return found, "edition"
        title = tables.title_of_page(found.page_id) if found.page_id else found.title
        if reason := _no_article(found, title, self.itself):
            return found, reason
        if found.fragment and not choice.fragments:
            return found, "fragment"
        followed = tables.followed(title)
        target = found if followed == found.title else replace(found, title=followed)
        if tables.disambiguations is not None and (
            followed in tables.disambiguations or title in tables.disambiguations
        ):
            return target, "disambiguation"
        if tables.titles is not None and followed not in tables.titles:
            return target, "unknown"
        if choice.similar and not (alike(anchor, title) or alike(anchor, followed)):
            return target, "dissimilar"
        return target, ""


def _no_article(found: Target, title: str, itself: Target | None) -> str:
    """Why a target is no article to be read; "" when it is one."""
    if found.page_id and not title:
        return "number"
    if itself is not None and (itself.edition, itself.title) == (found.edition, title):
        return "itself"
    if found.revision:
        return "version"
    if found.action:
        return "action"
    if not title:
        return "no_title"
    return "" if is_article(title, found.edition) else "namespace"
