"""Teasers by how they end: a text that breaks off before a short link, as in "The minister said that ... Read more".

Neither the words of the link nor the language matter. What is said to the end, and what breaks off without a link or
before a long one, is no teaser by this rule. (Of 91 article pages nine blocks are, none of them of an article.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MARKS = re.compile("[\\s\U000f0000-\U0010ffff]+")
"""White space and the private signs that corpus.anchors marks links by: with or without them a page has the same
blocks."""
MORE = 30
"""Letters, white space aside, of the link behind a text that breaks off: with more it may be part of what is said."""
_CUT = re.compile("(?:…|[.]{3})]?[\\s\U000f0000-\U0010ffff]*$")
_LOOKED_AT = 100
"""Letters at the end of a text; signs of links are among them."""
_NAMING = "#@"
"""What the tags and names behind a message begin with."""


def ends_cut(parts: Sequence[str], ending: int) -> bool:
    """Whether the text of a block, in parts, breaks off before the link that its parts from ``ending`` on are."""
    if not ending or _CUT.search(parts[ending - 1][-_LOOKED_AT:]) is None:
        return False
    link = MARKS.sub("", "".join(parts[ending:]))
    return 0 < len(link) <= MORE and link[0] not in _NAMING
