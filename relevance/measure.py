"""How much clean text of the target language a page holds, block by block.

Short blocks are judged together: a menu of one-word entries says more as one text than as forty.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from relevance.identification import UNDETERMINED, Identification, Identifier
from relevance.page import Page

ALONE = 5
"""Words from which a block is judged by itself."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Words of a page by language. `words` are clean: each block's words times the block's weight."""

    language: str = UNDETERMINED
    words: int = 0  # of the target, weighted
    total: int = 0  # of any language, weighted
    raw: int = 0  # of the target, unweighted
    family_share: float = 0.0
    by_language: dict[str, float] = field(default_factory=dict)

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
    found = identifier([text for text, _ in texts])
    return _sum(language, [(one, weight, text) for one, (text, weight) in zip(found, texts, strict=True)])


def _sum(language: str, found: list[tuple[Identification, float, str]]) -> Measured:
    by_language: defaultdict[str, float] = defaultdict(float)
    family = total = raw = 0.0
    for one, weight, text in found:
        if not one.words:
            continue
        count = max(one.words, text.count(" ") + 1) if one.words > 300 else one.words
        by_language[one.language] += count * weight
        family += one.family_share * count * weight
        total += count * weight
        raw += count if one.language == language else 0
    if not total:
        return Measured()
    best = max(by_language, key=lambda code: by_language[code])
    leading = sorted(by_language.items(), key=lambda item: -item[1])[:6]
    rounded = {code: round(value, 1) for code, value in leading}
    return Measured(best, round(by_language[language]), round(total), int(raw), family / total, rounded)
