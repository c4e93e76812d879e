"""Vertical text: one token a line, structure in tags. Writing.

The format is that of corpus managers of the Manatee family (Sketch Engine: "Preparing corpus text"), with links as in
the public corpora of Brno University of Technology::

    <doc title="…" url="…" id="…">     title from the page, absolute URL, unique id; `& < > "` as entities;
                                       published, author, site, licence behind them where the page says them,
                                       published_from where no markup says the date
    <head> … </head>                   the title, in sentences
    <p lang="zu"> … </p>               a paragraph; lang (ISO 639-1, else 639-3) only when it is known;
                                       heading="1" on a heading, when headings are asked for
    <s> … </s>                         a sentence, within one paragraph
    <g/>                               between two tokens that no white space separates
    word⇥<link="URL">⇥<length=N>       the last of the N tokens of a link's text

UTF-8, a line feed after each line, no root element. A token that begins with ``<`` and ends with ``>`` is written with
``&lt;`` (and one that looks so, with ``&amp;``), so nothing else in a first column can be taken for a tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from corpus.document import SAID, Document, Link, Paragraph, host_of
from corpus.languages import html_tag
from corpus.vertical.tokens import Span, sentences, tokens

_LOOKS_ESCAPED = re.compile(r"&(?:amp;)*lt;.*>\Z", re.S)
_FOLD = re.compile(r"\s+")


def escape_token(form: str) -> str:
    """A token as it stands in the first column."""
    if not form.startswith(("<", "&")):
        return form
    if form.startswith("<") and form.endswith(">"):
        return "&lt;" + form[1:]
    return "&amp;" + form[1:] if _LOOKS_ESCAPED.match(form) else form


def unescape_token(written: str) -> str:
    """The reverse of :func:`escape_token`."""
    if not written.startswith("&") or not _LOOKS_ESCAPED.match(written):
        return written
    return "<" + written[4:] if written.startswith("&lt;") else "&" + written[5:]


def escape_value(value: str) -> str:
    """An attribute's value: white space folded, entities for ``& < > "``."""
    folded = _FOLD.sub(" ", value).strip()
    return folded.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def lines(document: Document, *, headings: bool = False, tokenised: bool = True) -> Iterator[str]:
    """The document in vertical form, line by line, without line ends. ``headings``: they are marked as such. Not
    ``tokenised``, it is a prevertical: a paragraph is one line of text, of the title there is only the attribute."""
    title, url, identity = map(escape_value, (document.title, document.url, document.id))
    known = {"date": document.date, "host": host_of(document.url), **{name: getattr(document, name) for name in SAID}}
    more = "".join(f' {name}="{said}"' for name, value in known.items() if (said := escape_value(value)))
    yield f'<doc title="{title}" url="{url}" id="{identity}"{more}>'
    if tokenised:
        yield "<head>"
        yield from _sentences(Paragraph(document.title))
        yield "</head>"
    for paragraph in document.paragraphs:
        tag = html_tag(paragraph.language)
        heading = ' heading="1"' if headings and paragraph.kind == "heading" else ""
        yield (f'<p lang="{tag}"' if tag else "<p") + f"{heading}>"
        yield from _sentences(paragraph) if tokenised else [escape_token(paragraph.text)]
        yield "</p>"
    yield "</doc>"


def text_of(document: Document, *, headings: bool = False, tokenised: bool = True) -> str:
    """The document in vertical form, with its last line end."""
    return "\n".join(lines(document, headings=headings, tokenised=tokenised)) + "\n"


def _sentences(paragraph: Paragraph) -> Iterator[str]:
    text = paragraph.text
    spans = tokens(text, _cuts(paragraph.links))
    ends = _link_ends(paragraph.links, spans)
    for sentence in sentences(text, spans):
        yield "<s>"
        last_end = -1
        for span in sentence:
            if span.start == last_end:
                yield "<g/>"
            link = ends.get(span.end)
            yield escape_token(span.form) + (f'\t<link="{link[0]}">\t<length={link[1]}>' if link else "")
            last_end = span.end
        yield "</s>"


def _cuts(links: Sequence[Link]) -> list[int]:
    return sorted({place for link in links for place in (link.start, link.end)})


def _link_ends(links: Sequence[Link], spans: Sequence[Span]) -> dict[int, tuple[str, int]]:
    """End of the last token of a link -> (URL, number of its tokens). Of links that end together the last counts."""
    found: dict[int, tuple[str, int]] = {}
    place = 0
    for link in links:
        while place < len(spans) and spans[place].start < link.start:
            place += 1
        count = 0
        while place + count < len(spans) and spans[place + count].end <= link.end:
            count += 1
        if count:
            found[spans[place + count - 1].end] = (escape_value(link.url), count)
    return found
