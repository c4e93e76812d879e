"""What a link says about the language behind it before it is fetched: its URL, its anchor, its hreflang, its place."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Sequence
from functools import lru_cache

import xxhash

from relevance.language.alphabet import words
from relevance.language.identification import Identifier, sampled
from relevance.steering.languagetags import NAMES, TAGS, primary
from relevance.steering.policy import LinkContext

_OTHER_TEXT = (
    "en fr de es pt it nl ru pl cs sk ar he hi zh ja ko tr vi id ms sw sn ny rw lg ln am so ha yo ig om ti zu xh nr "
    "ss nd st tn ts ve af eng fra deu spa por ita nld ces slk swa sna nya kin lug lin zul xho nbl ssw nde sot tsn tso "
    "ven afr"
)
_OTHER_TAGS = frozenset(_OTHER_TEXT.split())
"""Not all tags there are: /my/, /to/ or /co/ in a URL is seldom a language."""
_DIGITS = re.compile(r"\d+")
_TITLE = 12
"""Letters of a path's last segment beyond which it looks like a title."""
_DEEPEST = 4
"""Segments of a path that are looked at."""
_REMEMBERED = 20_000
"""Anchors and URLs remembered before starting anew."""
_SHORT = 2
"""Words from which an anchor is identified."""
_LIKELY = 0.5
"""Probability from which on an anchor is said to be in its language."""

SIBLING, NEITHER, OTHER, OURS = 1, 0, 2, 3
"""What a hint says; the digits of a bucket."""
AT_SINCE, AT_ANCHOR, AT_URL, AT_TAG, AT_NAV, AT_AWAY = range(6)
"""Places of a bucket's characters, see :meth:`Hints.buckets`."""
KIND = 6
"""Characters of a bucket that say what kind of link it is; behind them stands who links."""


class Hints:
    """Reads hints for one target language. Anchors are identified in batches and remembered (navigation repeats)."""

    def __init__(self, target: str, siblings: Collection[str], identifier: Identifier) -> None:
        self._target = target
        self._siblings = frozenset(siblings)
        self._identifier = identifier
        called: dict[str, set[str]] = {}
        for one in identifier.model.meta["classes"]:
            called.setdefault(one["label"], set()).update(one.get("called", ()))
        self._ours = frozenset({target, TAGS.get(target, target), *NAMES.get(target, ()), *called.get(target, ())})
        others = _OTHER_TAGS.union(*NAMES.values(), *called.values())
        self._said_of = {**dict.fromkeys(others, OTHER), **dict.fromkeys(self._ours, OURS)}
        self._anchors: dict[str, int] = {}
        self._urls: dict[str, int] = {}
        self._hosts: dict[str, int] = {}

    def tag(self, language: str) -> int:
        """A language tag (hreflang, html lang)."""
        if not (first := primary(language)):
            return NEITHER
        return OURS if first in self._ours else OTHER

    def url(self, url: str) -> int:
        """Language tags among host labels, path segments and query values; the last one said counts."""
        known = self._urls.get(url)
        if known is None:
            if len(self._urls) >= _REMEMBERED:
                self._urls.clear()
            known = self._urls[url] = self._said(url)
        return known

    def _said(self, url: str) -> int:
        host, path, query = split(url)
        if (said := self._hosts.get(host)) is None:
            if len(self._hosts) >= _REMEMBERED:
                self._hosts.clear()
            said = self._hosts[host] = self._last_said(host.split(".")[:-2], NEITHER)
        pieces = path.lower().split("/")
        if query:
            pieces += [pair.rpartition("=")[2] for pair in query.lower().split("&")]  # id=12 is no Indonesian
        return self._last_said(pieces, said)

    def _last_said(self, pieces: Sequence[str], said: int) -> int:
        """By the last of these pieces that is a tag; `said` where none is."""
        known = self._said_of
        for piece in pieces:
            if piece in known:
                said = known[piece]
            elif len(piece) == 5 and piece[2] in "-_" and piece[3:].isalpha():  # a region; id-12 is a number
                said = known.get(piece[:2], said)
        return said

    def anchors(self, texts: Sequence[str]) -> list[int]:
        """What anchors are written in, or name."""
        new = [text for text in dict.fromkeys(texts) if text not in self._anchors]
        if len(self._anchors) + len(new) > _REMEMBERED:
            self._anchors.clear()
            new = list(dict.fromkeys(texts))
        tokens = {text: words(sampled(text)) for text in new}
        said = {text: OURS if self._names(some) else NEITHER for text, some in tokens.items()}
        open_ = [text for text, some in tokens.items() if len(some) >= _SHORT and not said[text]]
        for text, found in zip(open_, self._identifier.of_words([tokens[text] for text in open_]), strict=True):
            if found.score < _LIKELY:
                continue
            if found.language == self._target:
                said[text] = OURS
            else:
                said[text] = SIBLING if found.language in self._siblings else OTHER
        self._anchors.update(said)
        return [self._anchors[text] for text in texts]

    def _names(self, tokens: Sequence[str]) -> bool:
        """Whether an anchor of these words is the language's name."""
        return len(tokens) <= 3 and not self._ours.isdisjoint(tokens)

    def buckets(self, links: Sequence[LinkContext]) -> list[str]:
        """The buckets of links: strings of KIND characters by which alike links are known.

        Irrelevant pages since the last relevant one (at most 4; "s": a seed; "m": of a sitemap, for which no page
        vouches); what the anchor, the URL and the hreflang say (SIBLING, NEITHER, OTHER, OURS); 1 for navigation; 1 for
        a link to another host. Behind these six characters of such a link a tag of the host that it stands on, and of
        another one on a page with a known text a tag of that page's template.
        """
        out = []
        tags: dict[str, int] = {"": NEITHER}
        source, home = "", ""
        for link, anchor in zip(links, self.anchors([link.anchor for link in links]), strict=True):
            if link.source_url != source:
                source, home = link.source_url, host_of(link.source_url)
            if (tag := tags.get(link.hreflang)) is None:
                tag = tags[link.hreflang] = self.tag(link.hreflang)
            if link.nav and anchor == OURS and tag == NEITHER and self._names(words(link.anchor)):
                tag = OURS  # a switch of languages says as much as hreflang; other anchors of navigation do not count
            named = link.source_verdict is None
            since = min(link.since_relevant, 4) if not named else "m" if source else "s"
            away = not named and host_of(link.url) != home  # a site's sitemap may well be kept by another of its hosts
            stands_on = home if away else places(source)[-1] if link.on_known else ""
            kind = _kind(since, anchor, self.url(link.url), tag, link.nav, away)
            out.append(kind + short_tag(stands_on) if stands_on else kind)
        return out


@lru_cache(maxsize=4096)  # there are few
def _kind(since: int | str, anchor: int, url: int, tag: int, nav: bool, away: bool) -> str:
    return f"{since}{anchor}{url}{tag}{nav:d}{away:d}"


@lru_cache(maxsize=4096)
def short_tag(name: str) -> str:
    """Four characters that stand for a host or a template."""
    return base64.urlsafe_b64encode(xxhash.xxh32_digest(name.encode())[:3]).decode()


@lru_cache(maxsize=4096)
def split(url: str) -> tuple[str, str, str]:
    """Host (without user and port), path and query of an http URL; much faster than urlsplit and as forgiving."""
    rest = url.partition("://")[2].partition("#")[0]
    rest, _, query = rest.partition("?")
    host, _, path = rest.partition("/")
    host = host.rpartition("@")[2]
    if not host.endswith("]"):
        host = host.partition(":")[0] if not host.startswith("[") else host.rpartition(":")[0]
    return host.lower(), path, query


def host_of(url: str) -> str:
    return split(url)[0]


@lru_cache(maxsize=4096)
def places(url: str) -> tuple[str, str, str]:
    """Keys of a URL's host, path prefix and template, from the widest to the narrowest.

    Prefix: the first path segment where there is another behind it. Template: path with numbers as N and the last
    segment as * where it looks like a title, plus the names of the query's fields.
    """
    host, path, query = split(url)
    folder, _, last = path.rstrip("/").rpartition("/")
    host_key, prefix_key, template, is_whole = _folder(host, folder)
    if not is_whole:
        if "-" in last or "_" in last or len(last := _DIGITS.sub("N", last)) > _TITLE:
            last = "*"
        template += last
    if query:
        template += "?" + "&".join(sorted({pair.partition("=")[0] for pair in query.split("&") if pair})[:4])
    return host_key, prefix_key, f"t:{host}/{template[:64]}"


@lru_cache(maxsize=4096)
def _folder(host: str, folder: str) -> tuple[str, str, str, bool]:
    """Of URLs that differ in the last segment only: the keys of host and prefix, their template up to that segment, and
    whether it is all of it."""
    segments = [*filter(None, folder.split("/"))]
    prefix = segments[0] if segments else ""
    is_whole = len(segments) >= _DEEPEST
    template = _DIGITS.sub("N", "/".join(segments[:_DEEPEST]))
    return f"h:{host}", f"p:{host}/{prefix[:24]}", template + "/" if segments and not is_whole else template, is_whole
