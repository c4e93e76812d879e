"""A licence of Creative Commons that a page says itself to be under, in a sentence with a link to it.

A link alone says nothing: it may be of a picture, a script, a map or another's work. So the link must end a sentence of
a known form whose subject is the page or its text ("This article is licensed under a …", "Except where otherwise noted,
content on this site is available under the …") and nothing more ("photos in this article are …", "this site uses icons
that are …", "this website by …", which is of a theme); it must stand in no caption, quotation, example, comment, post
of a forum, box that opens or numbered list, and beside no picture, of "this work" also under none, nor under a heading
that names some; no other such sentence may say another licence. "Text is available under …" must begin its block, as
behind the name of a source it is said of what is taken from there. The sentences are known in English, Afrikaans and
German.

Guarantee: at most :data:`_MOST_LINKS` links are looked at, of each :data:`_MOST_AROUND` elements around it and before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

LICENCES = "creativecommons.org/"
"""In the addresses of all of them, in small letters or capitals."""
_LICENCE = re.compile(
    r"(?:https?:)?//(?:www\.)?creativecommons\.org/"
    r"(licenses/(?:by|by-sa|by-nd|by-nc|by-nc-sa|by-nc-nd)/\d\.\d(?:/[a-z]{2,3}(?![\w.]))?|publicdomain/(?:zero|mark)/1\.0)"
    r"(?:/(?:deed(?:\.[\w-]+)?|legalcode(?:\.[\w-]+)?)?)?(?:[?#].*)?\Z",
    re.I | re.S,
)
_PLACE = r"(?:site|website|web\s?site|blog|weblog|page|web\s?page)"
_SENTENCE = re.compile(
    r"(?:(?:except|unless)\s(?:(?:where|as|if)\s)?(?:otherwise\s)?(?:noted|stated|indicated|specified|marked),?\s)?"
    rf"(?:(?:this|our)\s(?:{_PLACE}"
    r"|(?:work|article|story|post|text|content|blog|weblog|page)"
    r"(?:\s(?:by|from)\s(?:(?!\b(?:which|that|who|whose|uses?|using|with|is|are)\b)[^.!?,;:|]){1,80}?)?)"
    r"|(?:all\s|the\s)?(?:original\s|written\s)?(?:contents?|texts?|articles|stories|(?:blog\s)?posts)"
    rf"(?:\s(?:published\s)?(?:on|of|in)\s(?:this|our|the)\s{_PLACE}|(?P<bare>)))"
    r"(?:\s(?:is|are))?(?:\s(?:made|hereby|also))?\s(?:licen[sc]ed|available|published|released|distributed)\sunder\b"
    r"|hierdie\s(?:werk|artikel|storie|webwerf|blad|teks|inhoud|blog)\sis\sgelisensieer\s(?:onder|kragtens)\b"
    rf"|diese[rs]?\s(?:werk|artikel|text|beitrag|inhalt|webseite|{_PLACE})\s(?:ist\slizenziert|steht)\sunter\b",
    re.I,
)
_ENDS = re.compile(r"[.!?](?=\s)|\|")
_WORD = re.compile(r"[^\W\d_]+")
_WORDS = """
a an the terms of conditions and following creative commons cc by sa nc nd zero attribution share alike sharealike non
commercial noncommercial no derivatives noderivatives international unported generic public domain open free license
licence n die der den einer dem lisensie lizenz
"""
_BETWEEN = frozenset(_WORDS.split())
"""The words that may stand between the sentence's verb and the link, which often has no more than `CC BY`."""
_PICTURES = re.compile(
    r"\b(?:photo|image|picture|illustration|icon|video|audio|map|font|theme|template|foto|bild|beeld|prent)", re.I
)
_ANOTHERS = frozenset(
    ("figure", "figcaption", "blockquote", "q", "cite", "table", "pre", "code", "details", "dialog", "ol")
)
_ANOTHERS_NAME = re.compile(
    r"comment|caption|gallery|related|quote|credit|signature|forum|bbc|example|\brepl(?:y|ies)\b|\brespon(?:d|ses?)\b",
    re.I,
)
_PICTURES_NAME = re.compile(r"\b(?:image|img|photo|picture|figure|video|embed|slide)", re.I)
"""Of the block or what it stands in; farther out they are names of layouts."""
_OF_ANYTHING = re.compile(r"\b(?:work|content|werk|inhoud|inhalt)\b", re.I)
_HEADINGS = frozenset(("h2", "h3", "h4", "h5", "h6"))
_SHOWN = frozenset(("img", "picture", "figure", "video", "iframe", "object"))
_INLINE = frozenset(("a", "abbr", "b", "em", "font", "i", "small", "span", "strong", "u"))
_LONGEST = 600
_MOST_LINKS = 20
_MOST_AROUND = 100


def licence_of(address: str) -> str:
    """Which licence of Creative Commons an address is of, the same for all its forms; "": none."""
    found = _LICENCE.match(address.strip())
    return found[1].lower() if found else ""


def said_of_the_page(links: Sequence[LexborNode]) -> str:
    """The address in those of these links that a sentence of the page's own licence has; "": none has, or several that
    differ."""
    hrefs = [link.attributes.get("href") or "" for link in links[:_MOST_LINKS]]
    own = [href for link, href in zip(links, hrefs, strict=False) if licence_of(href) and _is_own(link)]
    return own[0] if len(set(map(licence_of, own))) == 1 else ""


def _is_own(link: LexborNode) -> bool:
    block = link.parent
    for _ in range(_MOST_AROUND):
        if block is None or block.tag not in _INLINE:
            break
        block = block.parent
    said = "" if block is None else _said_in(_before(link, block))
    if block is None or not said or _is_of_a_picture(block, said):
        return False
    around: LexborNode | None = link
    for _ in range(_MOST_AROUND):
        if around is None or around.tag == "body":
            return True
        if around.tag in _ANOTHERS or _ANOTHERS_NAME.search(_name(around)):
            return False
        around = around.parent
    return False


def _name(node: LexborNode) -> str:
    attributes = node.attributes
    return f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:400]


def _is_of_a_picture(block: LexborNode, said: str) -> bool:
    """Is it by its place? "This work" is what stands above, or what the heading names, "this article" is neither."""
    around = block.parent
    if any(node is not None and node.tag != "body" and _PICTURES_NAME.search(_name(node)) for node in (block, around)):
        return True
    if not _OF_ANYTHING.search(said):
        return False
    above = block.prev
    if above is not None and above.tag == "-text" and not (above.text_content or "").strip():
        above = above.prev
    return above is not None and (_is_picture(above) or _is_under_pictures(above))


def _is_under_pictures(above: LexborNode) -> bool:
    """Does the heading over it name pictures or the like? That of the page, an <h1>, says nothing."""
    node: LexborNode | None = above
    for _ in range(_MOST_AROUND):
        if node is None:
            break
        if node.tag in _HEADINGS:
            return _PICTURES.search(node.text()[:_LONGEST]) is not None
        node = node.prev
    return False


def _is_picture(node: LexborNode) -> bool:
    """A picture without text, but that of a licence."""
    shown = False
    for number, part in enumerate(node.traverse(include_text=True)):
        if number > _MOST_AROUND or (part.tag == "-text" and (part.text_content or "").strip()):
            return node.tag == "figure"
        shown = shown or (part.tag in _SHOWN and not _is_mark(part))
    return shown


def _is_mark(picture: LexborNode) -> bool:
    around = picture.parent
    return around is not None and licence_of(around.attributes.get("href") or "") != ""


def _before(link: LexborNode, block: LexborNode) -> str:
    """What stands in a block before a link, with `|` where a line or an element in it begins; "" when there is a
    picture that is none of a licence, or too much."""
    pieces: list[str] = []
    letters = 0
    for number, node in enumerate(block.traverse(include_text=True)):
        if node.mem_id == link.mem_id:
            return " ".join("".join(pieces).split())
        if number > _MOST_AROUND or letters > _LONGEST:
            break
        if node.tag == "-text":
            pieces.append(node.text_content or "")
            letters += len(pieces[-1])
        elif node.tag == "img":
            if not _is_mark(node):
                break
        elif node.tag not in _INLINE:
            pieces.append(" | ")
    return ""


def _said_in(text: str) -> str:
    """The sentence at the end of a text that says that what stands here is under the licence behind it; "" for none."""
    text, start = text.lstrip(" |"), 0
    for end in _ENDS.finditer(text):
        start = end.end()
    sentence = text[start:].lstrip()
    said = _SENTENCE.match(sentence)
    if said is None or (said["bare"] is not None and len(sentence) < len(text)) or _PICTURES.search(text):
        return ""
    between = sentence[said.end() :]
    return sentence if ";" not in between and _BETWEEN.issuperset(_WORD.findall(between.casefold())) else ""
