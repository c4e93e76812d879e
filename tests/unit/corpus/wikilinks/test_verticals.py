"""A document and its vertical form have the same mentions."""

import io

from hypothesis import given
from hypothesis import strategies as st

from corpus.document import Document, Link, Paragraph
from corpus.errors import FormatError
from corpus.vertical.writing import text_of
from corpus.wikilinks.mentions import mentions
from corpus.wikilinks.verticals import linked_documents

WIKI = "https://zu.wikipedia.org/wiki/"
_LETTERS = "ab.,-'<>&\";é\u0301 1Ü…"


@st.composite
def paragraphs(draw: st.DrawFn) -> Paragraph:
    """Running text, as blocks are, with links that begin and end with letters and lie apart."""
    text = " ".join(draw(st.text(_LETTERS, max_size=40)).split())
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    links: list[Link] = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        anchor = text[start:end]
        begin, last = start + len(anchor) - len(anchor.lstrip(" ")), start + len(anchor.rstrip(" "))
        if begin < last:
            links.append(Link(begin, last, f"{WIKI}A{begin}&{len(links)}"))
    return Paragraph(text, links=tuple(links))


def found(document: Document, words: int) -> list[tuple[str, str, str, str]]:
    given_all = mentions(document, lambda target, _: target, words)
    return [(one.target.title, one.before, one.anchor, one.after) for one in given_all]


@given(st.lists(paragraphs(), max_size=4), st.integers(0, 12))
def test_mentions_survive_the_vertical_form(some: list[Paragraph], words: int) -> None:
    document = Document("id", "https://a.example/", 'A "title"', paragraphs=tuple(some))
    plain = text_of(document).encode()
    faults: list[FormatError] = []
    read = list(linked_documents("f", io.BytesIO(plain), faults.append))
    assert not faults
    if not any(paragraph.links for paragraph in some):
        assert read == [None]
        return
    [again] = read
    assert again is not None
    assert found(again, words) == found(document, words)
    for paragraph in again.paragraphs:
        for link in paragraph.links:
            assert link.source is not None
            assert plain.startswith(b'<link="', link.source.address_at)
            assert plain.rfind(b"\n", 0, link.source.anchor_at + 1) == link.source.anchor_at - 1


def test_links_lie_apart_whatever_their_lengths_say() -> None:
    row = f'a\t<link="{WIKI}A">\t<length=99999>\n'
    rows = f'<doc url="https://a.example/">\n<p>\nb\n{row}b\n{row * 20_000}</p>\n</doc>\n'
    faults: list[FormatError] = []
    [document] = linked_documents("f", io.BytesIO(rows.encode()), faults.append)
    assert document is not None
    [paragraph] = document.paragraphs
    first, second, *others = (paragraph.text[link.start : link.end] for link in paragraph.links)
    assert (first, second, set(others)) == ("b a", "b a", {"a"})


def test_links_of_images_have_no_anchor_and_are_left_out() -> None:
    rows = f'<doc url="u">\n<p>\na\n<img="i.png">\t<link="{WIKI}A">\t<length=1>\nb\n</p>\n</doc>\n'
    faults: list[FormatError] = []
    [document] = linked_documents("f", io.BytesIO(rows.encode()), faults.append)
    assert document is not None
    assert [(paragraph.text, paragraph.links) for paragraph in document.paragraphs] == [("a b", ())]
