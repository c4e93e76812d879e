"""The text of a page that has it as data alone, for a script to draw.

Such a page shows a reader without scripts a frame, or the first lines of its article. The article is there for
machines: in JSON-LD (`articleBody`, :mod:`relevance.pages.linked_data`), or in what the script goes on from
(:mod:`relevance.pages.states`). It comes as plain text or as HTML, escaped once more or not, and often its paragraphs
were glued together when their tags were taken away; or as a list of its parts, each with a type, as editors keep it
(Portable Text, Draft.js, Editor.js, ProseMirror, Lexical, Contentful, Arc). Here it becomes HTML again, which is read
as any other.

Guarantees: any text and any types of values are read without an error, at the cost of their length, and the walk does
not recurse.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from relevance.language.noise import unescaped
from relevance.pages.linked_data import is_for_money
from relevance.pages.states import LITTLE, Script, values

PIECE = 40
"""Letters of a piece of text that is looked for on a page: more than any two texts have in common by chance."""
MOST_PIECES = 32
"""What is looked for of one text, evenly over it."""
MOST_COMPARED = 1 << 28
"""Letters that what a page shows is compared with, block by block."""
SHOWN = 0.5
"""The share of a text's pieces with which a page shows it."""
_TAG = re.compile(r"<(?:p|br|div|h[1-6]|ul|ol|li|section|article|blockquote|table|figure)\b[^<>]*>", re.I)
_END = re.compile(r"</[a-z][a-z0-9]*+\s*+>", re.I)
_SIGNS = re.compile(r"[\W_]+")
_GLUED = re.compile(r"(?<=[^\W\d_]{2}[.!?])([\"'”’)]?)(?=[\"'“‘(]?([^\W\d_])[\w'’-]*+[\s,])")
"""The end of a sentence with no space behind it, before a word that is not a part of an address (www.Name.com)."""
_TITLES = ("title", "headline", "heading", "name")
_HEADLINES = "headlines"
"""Arc's titles, by what they are for."""
_MOST_HEADLINES = 20
_LEAST_TITLE, _MOST_TITLE = 8, 1000
"""Letters of a title, below which it is in others by chance, and that are looked at."""
_TYPES = ("type", "_type", "nodeType")
_LEAVES = ("text", "value", "html", "content")
_BLOCKS = ("items", "content_elements")
_INNER = (*_LEAVES, "children", "data", *_BLOCKS)
"""Keys of a part of a text: what it is, its text, and where else that may be: in entries, which are paragraphs (of a
list, of a quotation in Arc), or in parts of any kind."""
_LEAST_PARTS = 3
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def markup(text: str) -> str:
    """A text that a page carries as HTML with its paragraphs."""
    text = _as_it_was(text)
    if _TAG.search(text):
        return text
    if not _END.search(text):
        text = html.escape(unescaped(text), quote=False)
    return "".join(f"<p>{paragraph}</p>" for paragraph in _paragraphs(text))


def _as_it_was(text: str) -> str:
    """HTML that was escaped as a whole as it was before."""
    return unescaped(text) if "<" not in text and "&lt;" in text else text


def _paragraphs(text: str) -> list[str]:
    """Of a plain text: between blank lines, else lines, else where a sentence begins right behind another."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if _BLANK_LINE.search(text):
        return _BLANK_LINE.split(text)
    if "\n" in text:
        return text.split("\n")
    return _GLUED.sub(lambda end: f"{end[1]}\n" if end[2].isupper() else end[0], text).split("\n")


def is_shown(texts: Sequence[str], by: Sequence[str]) -> bool:
    """Does a page with the texts `by` show most of these?"""
    letters = squeezed(texts)
    if not letters:
        return True
    step = max(PIECE, len(letters) // MOST_PIECES)
    pieces = [letters[at : at + PIECE] for at in range(0, max(1, len(letters) - PIECE + 1), step)]
    page = squeezed(by)
    return sum(piece in page for piece in pieces) >= SHOWN * len(pieces)


def squeezed(texts: Sequence[str]) -> str:
    """The letters and digits of texts, to be compared: what is shown may differ from what is carried in its signs."""
    return "".join(_SIGNS.sub("", text) for text in texts)


def in_state(scripts: Iterable[Script], title: str, site: str = "") -> str:
    """The text, in HTML, of what has the page's own title, in what its scripts go on from; "": there is none, or what
    has this title is for money.

    Such data is of the whole page, its menus, notices and other articles, too, so that length alone says nothing.
    `site`: the name of the page's site, which is in many a title, and what has it is no page.
    """
    title, site = _folded(title), _folded(site)
    if len(title) < _LEAST_TITLE:
        return ""
    found = (0, "")
    for value in values(scripts):
        for named, text in _texts(value, title, site):
            if text is None:
                return ""
            found = max(found, (named, text), key=lambda one: (one[0], len(one[1])))  # a title has its section's, too
    return found[1]


def _texts(top: Any, title: str, site: str) -> Iterator[tuple[int, str | None]]:
    """What is marked up in objects with this title, and in what they are made of; with the letters of theirs. None: for
    money."""
    waiting: list[tuple[Any, int, bool]] = [(top, 0, False)]  # True: it is in parts that were read
    while waiting:
        value, named, read = waiting.pop()
        if isinstance(value, str):
            if named and len(value) > LITTLE and _TAG.search(text := _as_it_was(value)):
                yield named, text
        elif isinstance(value, list):
            if named and not read and sum(map(_is_part, value)) >= _LEAST_PARTS:
                read = True
                if len(text := _of_parts(value)) > LITTLE:
                    yield named, text
            waiting += [(one, named, read) for one in value]
        elif isinstance(value, dict):
            if said := _titles(value):  # what has another title is another's: the articles beside it
                named = max((len(one) for one in said if one != site and _is_title(one, title)), default=0)
                read = False
            if named and _is_for_money(value):
                yield named, None
            waiting += [(one, named, read) for one in value.values()]


def _is_for_money(value: dict[str, Any]) -> bool:
    """Does it say so, in schema.org's words or those of Arc, where only `free` is?"""
    restrictions = value.get("content_restrictions")
    code = restrictions.get("content_code") if isinstance(restrictions, dict) else None
    return is_for_money(value) or (isinstance(code, str) and code.strip().lower() not in ("", "free"))


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _TYPES)


def _of_parts(parts: list[Any]) -> str:
    """The text of a list of parts in HTML. Each is a paragraph, as is each part of it, unless it stands among text, as
    what is bold or a link does. What has a title is left out."""
    paragraphs: list[list[str]] = []
    waiting = [(part, True) for part in reversed(parts)]
    while waiting:
        part, begins = waiting.pop()
        if not isinstance(part, dict) or _titles(part):
            continue
        if begins:
            paragraphs.append([])
        inner: list[tuple[Any, bool]] = []
        for key in _INNER:
            value = part.get(key)
            if isinstance(value, list):
                among_text = key not in _BLOCKS and (not begins or any(map(_has_text, value)))
                inner += [(one, not among_text) for one in value]
            else:
                inner.append((value, False))
        paragraphs[-1] += [part[key] for key in _LEAVES if isinstance(part.get(key), str)]
        waiting += reversed(inner)
    return "".join(markup(text) for paragraph in paragraphs if (text := "".join(paragraph).strip()))


def _has_text(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _LEAVES)


def _titles(value: dict[str, Any]) -> list[str]:
    said = [value[key] for key in _TITLES if key in value]
    if isinstance(headlines := value.get(_HEADLINES), dict):
        said += list(headlines.values())[:_MOST_HEADLINES]
    return [one for title in said if (one := _folded(title))]


def _is_title(one: str, title: str) -> bool:
    """Is it the page's, which has the name of its site behind it, or before it? That name itself is none."""
    return len(one) >= _LEAST_TITLE and one in title and (title.startswith(one) or 2 * len(one) >= len(title))


def _folded(title: Any) -> str:
    """A title, which may be an object as WordPress has it, to be compared."""
    if isinstance(title, dict):
        title = title.get("rendered")
    if not isinstance(title, str):
        return ""
    return _SIGNS.sub("", unescaped(title[:_MOST_TITLE]).casefold())
