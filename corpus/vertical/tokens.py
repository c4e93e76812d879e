"""Text -> sentences -> tokens by plain rules, for languages that write words apart, first those of the Latin script.

Guarantees: tokens in order are the text without its white space, none is lost or changed; a token has no white space.
Not a morphological tokeniser: isiZulu words are left whole (``ngiyakuthanda`` is one token), as is ``i-Afrika`` or
``eGoli``. A sentence ends only where white space follows; scripts without spaces give one sentence a paragraph.

Rules: one token each are web and mail addresses, @names and #tags, numbers with their separators (1 000 is two; also
behind letters, ``u-R2.5``), words with inner apostrophes, hyphens and marks, abbreviations of :data:`ABBREVIATIONS`
and single initials with their full stop, ``e.g.``, ``...``, an emoji with all that makes it up; any other sign is a
token by itself. A sentence ends after ``. ! ? …`` (or their like in Arabic, Devanagari, Ethiopic, also ``፡፡``, Burmese,
Khmer, Armenian, N'Ko, Vai, Ol Chiki and Canadian syllabics) and the quotes and brackets that close with it, when the
next word begins with a capital (also after a prefix, as in ``uThabo``) or a letter of a script without them, a digit or
an opening sign; never after an abbreviation or initial.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from relevance.language.marks import SIGN

_SHORT_FORMS = """
mnu mnz mnuz nksz nkk nks dkt dr gqr prof solw mfu adv rev hon st mr mrs ms jr sr nr vs etc ak isb isib njll njalonjalo
bk kk cf eg ie
jan feb mar apr jun jul aug sep sept oct nov dec pty ltd inc
"""
ABBREVIATIONS = frozenset(_SHORT_FORMS.split())
"""In lower case, without the stop: titles and short forms of isiZulu, isiXhosa and English. A prefix may stand before
them: ``uMnu.``, ``ku-Dkt.``, ``UMNU.``"""

_LETTER = r"[^\W\d_]"
_EMOJI = "(?:[\U0001f1e6-\U0001f1ff]{2}|\\S(?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d\\S)*)"
"""A flag; a sign with its colour and form, and those joined to it; or any other sign."""
_IN_WORD = rf"\w*+(?:(?:[\u0300-\u036f\u200c\u200d]|{SIGN})\w*+)*+"
"""Marks belong to the letter before them: accents, and vowels of many scripts."""
_WORD = rf"{_LETTER}{_IN_WORD}(?:['’ʼ\-‐‑](?=\w){_IN_WORD})*(?:(?<=\d)[.,:/]\d+)*(?:(?<=\d)%)?"
_TOKEN = re.compile(
    rf"""
      (?:https?://|www\.)[^\s<>"“”]*[^\s<>"“”.,;:!?)\]}}'’]   # web address, without the sentence's own sign after it
    | [\w.+-]{{1,64}}+@\w[\w-]*(?:\.[\w-]+)+                     # mail address (64: RFC 5321 4.5.3.1.1)
    | [@\#](?=\w){_IN_WORD}                                      # @name, #tag
    | (?i:e\.g|i\.e)\.(?!\w)
    | \d+(?:[.,:/\-]\d+)*(?:{_LETTER}+)?%?                      # 1,000.5  12:30  2024-01-31  3rd  50%
    | {_WORD}
    | \.{{2,}} | [!?]{{2,}} | -{{2,}} | ፡{{2,}}
    | {_EMOJI}
    """,
    re.X,
)
_ENDS = re.compile(r"(?:\.+|[!?]+|[…؟।॥۔።፧။។։߹᙮᱾᱿꘎꘏]|፡{2,})\Z")
_CLOSING = frozenset("\"'”’»)]}")
_OPENING = frozenset("\"'“‘«([{¿¡•–—-*")
_STARTS = re.compile(r"(?:[a-z]{1,4}-?)?([^\W\d_a-z])|\d")
_PREFIXED = re.compile(
    r"""
      [A-Z]{0,3}?[AEIOU]([A-Z]{3,})               # UMNU; but not PIE, COST
    | (?:[a-z]{1,4}|[A-Za-z]{1,4}-)([A-Z]+)       # uDR, KU-DKT
    | [A-Za-z]{1,4}?-?([A-Z][a-z]*)               # uMnu, ku-Dkt
    """,
    re.X,
)


class Span(NamedTuple):
    """A token and its place in the text."""

    form: str
    start: int
    end: int


def tokens(text: str, cuts: Sequence[int] = ()) -> list[Span]:
    """The tokens of a text. ``cuts``: places where a token must not go over (ends of links), ascending."""
    found: list[Span] = []
    borders = iter([*(cut for cut in cuts if 0 < cut < len(text)), len(text)])
    start = 0
    for border in borders:
        found += _within(text, start, border)
        start = max(start, border)
    return found


def _within(text: str, start: int, end: int) -> list[Span]:
    spans = [Span(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text, start, end)]
    joined: list[Span] = []
    for span in spans:
        if span.form == "." and joined and joined[-1].end == span.start and _takes_stop(joined[-1].form):
            joined[-1] = Span(joined[-1].form + ".", joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _takes_stop(form: str) -> bool:
    if form.lower() in ABBREVIATIONS or (len(form) == 1 and form.isupper()):
        return True
    prefixed = _PREFIXED.fullmatch(form)
    return prefixed is not None and prefixed[prefixed.lastindex or 0].lower() in ABBREVIATIONS


def sentences(text: str, spans: Sequence[Span]) -> list[list[Span]]:
    """The tokens of a text, sentence by sentence; every token is in one, none is empty."""
    found: list[list[Span]] = []
    current: list[Span] = []
    ended = False
    for place, span in enumerate(spans):
        current.append(span)
        if span.form not in _CLOSING:  # what closes goes with the end before it
            ended = _ENDS.match(span.form) is not None
        if ended and place + 1 < len(spans) and _begins(text, span, spans, place + 1):
            found.append(current)
            current, ended = [], False
    if current:
        found.append(current)
    return found


def _begins(text: str, last: Span, spans: Sequence[Span], place: int) -> bool:
    """Does a sentence begin at this token, after ``last``?"""
    if not text[last.end : spans[place].start].isspace():
        return False
    first = spans[place].form
    begins = _STARTS.match(first)
    if begins is None:
        return first[0] in _OPENING
    letter = begins[1] or ""
    return letter == letter.title()  # Georgian letters are small to `islower`, but begin sentences, too
