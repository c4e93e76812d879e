"""How much clean text of the target language a page holds, block by block.

Short blocks are judged together: a menu of one-word entries says more as one text than as forty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from relevance.language.alphabet import words
from relevance.language.identification import LONG, Identifier, sampled
from relevance.pages.page import Page
from relevance.types import UNDETERMINED, Identification

ALONE = 5
"""Words from which a block is judged by itself."""
MOST_BLOCKS = 200
"""Blocks told of one page; what lies behind them counts in its sums only."""
MAIN = 0.9
"""Weight from which a block is main text."""
REMEMBERED = 4096
"""Texts that are no main text, remembered before starting anew: some 2 MB, 10 MB at most."""


class BlockShare(NamedTuple):
    """One block of main text: its language ("und": another or none), its words, and how sure that is (0 to 1)."""

    language: str
    words: int
    score: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Words of a page by language. `words` are clean: each block's words times the block's weight."""

    language: str = UNDETERMINED
    words: int = 0  # of the target, weighted
    total: int = 0  # of any language, weighted
    raw: int = 0  # of the target, unweighted
    family_share: float = 0.0
    by_language: dict[str, float] = field(default_factory=dict)
    blocks: tuple[BlockShare, ...] = ()  # of main text with ALONE words or more, in document order; MOST_BLOCKS at most

    @property
    def share(self) -> float:
        """Target words of all words, weighted; 0 on an empty page."""
        return self.words / self.total if self.total else 0.0


def measure(page: Page, language: str, identifier: Identifier) -> Measured:
    """Identifies the blocks of a page and adds up their words."""
    texts: list[tuple[str, float]] = []
    short: dict[float, list[str]] = {}
    for block in page.blocks:
        if block.text.count(" ") + 1 >= ALONE:
            texts.append((block.text, block.weight))
        else:
            short.setdefault(block.weight, []).append(block.text)
    texts += [(" \n ".join(parts), weight) for weight, parts in short.items()]
    found = _identified(texts, identifier)
    return _sum(language, [(one, weight, text) for one, (text, weight) in zip(found, texts, strict=True)])


def _identified(texts: Sequence[tuple[str, float]], identifier: Identifier) -> list[Identification]:
    """The languages of weighted texts. What is no main text comes again on other pages of its site, as menus and
    notices do, and is remembered."""
    repeated = identifier.repeated
    before = [repeated.get(text) if weight < MAIN else None for text, weight in texts]
    new = iter(identifier([text for (text, _), one in zip(texts, before, strict=True) if one is None]))
    found = [one or next(new) for one in before]
    again = {text: one for (text, weight), one in zip(texts, found, strict=True) if weight < MAIN and len(text) <= LONG}
    if len(repeated) + len(again) > REMEMBERED:
        repeated.clear()
    repeated.update(islice(again.items(), REMEMBERED))
    return found


def _counted(one: Identification, text: str) -> int:
    """Words of a text; of a long one a sample was looked at, which stands for the rest."""
    if len(text) <= LONG or not words(sample := sampled(text)):
        return one.words
    return round(one.words * (text.count(" ") + 1) / (sample.count(" ") + 1))


def _sum(language: str, found: list[tuple[Identification, float, str]]) -> Measured:
    by_language: defaultdict[str, float] = defaultdict(float)
    blocks: list[BlockShare] = []
    family = total = raw = 0.0
    for one, weight, text in found:
        if not one.words:
            continue
        count = _counted(one, text)
        by_language[one.language] += count * weight
        family += one.family_share * count * weight
        total += count * weight
        raw += count if one.language == language else 0
        if weight >= MAIN and count >= ALONE and len(blocks) < MOST_BLOCKS:
            blocks.append(BlockShare(one.language, count, round(one.score, 3)))
    if not total:
        return Measured()
    best = max(by_language, key=lambda code: by_language[code])
    leading = sorted(by_language.items(), key=lambda item: -item[1])[:6]
    rounded = {code: round(value, 1) for code, value in leading}
    shares = tuple(blocks)
    return Measured(best, round(by_language[language]), round(total), int(raw), family / total, rounded, shares)
