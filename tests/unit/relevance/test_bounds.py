"""How much of a page is read: up to each bound all of it, behind it nothing."""

import json
from types import SimpleNamespace

import pytest

from relevance import PdfError
from relevance.pages.blocks import FULL, Block
from relevance.pages.carried import PIECE, is_shown
from relevance.pages.encoding import decode
from relevance.pages.linked_data import MOST_NODES, plain_address, read_linked_data
from relevance.pages.marked import MOST_LOOKED_AT
from relevance.pages.outline import LEAD
from relevance.pages.page import MAX_BODY, MAX_LINKS, Page, read_page
from relevance.pages.publication import MOST_LETTERS as MOST_VALUE
from relevance.pages.quality import MANY_LANGUAGES, quality
from relevance.pages.states import LITTLE, MOST_ROWS, joined
from relevance.pages.teasers import MORE
from relevance.pdf import PdfReader, is_pdf, reader

URL = "https://a.example/izindaba/1"


def read(html: str) -> Page:
    return read_page(html.encode(), URL, "text/html; charset=utf-8", captured="2025-01-01T00:00:00Z")


def carried(text: str) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "Article", "articleBody": text})}</script>'


@pytest.mark.parametrize(("links", "frames"), [(0, 3), (2, 1), (3, 0), (7, 0)])
def test_so_many_links_are_told_frames_last(links: int, frames: int) -> None:
    shown = "<a href=x>y" * (MAX_LINKS - 3 + links) + "".join(f"<iframe src=f{n}></iframe>" for n in range(4))
    found = [link.href for link in read(shown).links]
    assert len(found) == MAX_LINKS
    assert found[MAX_LINKS - 3 + min(links, 3) :] == [f"f{n}" for n in range(frames)]


@pytest.mark.parametrize(("shown", "told"), [(0, 2), (MAX_LINKS - 1, 1), (MAX_LINKS, 0)])
def test_links_of_a_text_that_is_carried_count_among_them(shown: int, told: int) -> None:
    text = f"<p>{'Umongameli uthe namhlanje '} <a href=n0>izindaba</a> <a href=n1>ezintsha</a> {'yebo ' * 30}</p>"
    page = read("<a href=x>y" * shown + carried(text))
    assert "yebo yebo" in page.text()
    assert [link.href for link in page.links if link.href != "x"] == [f"n{n}" for n in range(told)]
    assert len(page.links) == shown + told


@pytest.mark.parametrize(("letters", "taken"), [(FULL - 1, False), (FULL, True)])
def test_a_carried_text_is_one_from_a_full_paragraph_on(letters: int, taken: bool) -> None:
    assert (read(carried("a" * letters)).text() != "") == taken


@pytest.mark.parametrize(("by", "shown"), [("ab", True), ("a", True), ("b", True), ("", False), ("c", False)])
def test_a_text_of_which_half_is_shown_is_shown(by: str, shown: bool) -> None:
    assert is_shown(["a" * PIECE + "b" * PIECE], [letter * PIECE for letter in by]) == shown
    assert is_shown([], [])


@pytest.mark.parametrize(("before", "seen"), [(MOST_NODES - 2, True), (MOST_NODES - 1, False)])
def test_so_many_objects_of_json_ld_are_looked_at(before: int, seen: bool) -> None:
    article = {"@type": "Article", "datePublished": "2024-05-31"}
    top = {"@graph": [*([{"@type": "Thing"}] * before), article]}
    html = f'<script type="application/ld+json">{json.dumps(top)}</script>'
    assert (read(html).publication.published == "2024-05-31") == seen


@pytest.mark.parametrize(("around", "seen"), [(8, True), (9, False)])
def test_so_deep_is_an_article_looked_for(around: int, seen: bool) -> None:
    """Deeper than any page has it, but not as deep as one may nest."""
    text = '{"mainEntity":' * around + '{"@type":"Article","datePublished":"2024-05-31"}' + "}" * around
    assert (read_linked_data([text], frozenset({plain_address(URL)})).published != "") == seen


@pytest.mark.parametrize(("before", "seen"), [(MOST_LOOKED_AT - 1, True), (MOST_LOOKED_AT, False)])
def test_so_many_properties_are_looked_at(before: int, seen: bool) -> None:
    item = "<div itemscope itemtype=https://schema.org/{}><meta itemprop=datePublished content=2024-05-31></div>"
    html = item.format("Comment") * before + item.format("Article")
    assert (read(f"<body>{html}").publication.published != "") == seen


@pytest.mark.parametrize(("languages", "many"), [(MANY_LANGUAGES - 1, False), (MANY_LANGUAGES, True)])
def test_so_many_languages_are_those_of_a_machine(languages: int, many: bool) -> None:
    links = "".join(f"<link rel=alternate hreflang=a{chr(97 + n)} href=/{n}>" for n in range(languages))
    assert ("machine" in quality(read(f"<head>{links}</head><p>Umongameli uthe.")).flags) == many


@pytest.mark.parametrize(
    ("blocks", "flags"),
    [
        ([("ujesu " + "umuntu " * 49, "main")], {"religious"}),
        ([("ujesu " + "umuntu " * 48, "main")], set()),
        ([("ujesu " + "umuntu " * 50, "main")], set()),
        ([("a" * 40, "main"), ("b" * 60, "list")], {"list"}),
        ([("a" * 41, "main"), ("b" * 59, "list")], set()),
        ([("a" * 40, "main")] * 2 + [("b" * 40, "main"), ("c" * 40, "main")], set()),
        ([("a" * 40, "main")] * 4 + [(letter * 40, "main") for letter in "bcdefg"], {"machine"}),
        ([("a" * 39, "main")] * 9, set()),
        ([("a" * 40, "main")] * 3, set()),
        ([], set()),
    ],
)
def test_shares_from_which_a_page_is_flagged(blocks: list[tuple[str, str]], flags: set[str]) -> None:
    assert quality(Page(URL, blocks=tuple(Block(*block) for block in blocks))).flags == flags


def test_words_are_compared_up_to_so_many_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevance.pages.quality.MOST_LETTERS", 24)
    three, more, other = (
        quality(Page(URL, blocks=(Block(text, "main"),))).simhash
        for text in ("umongameli uthe namhlanje", "umongameli uthe namhlanj!ngoba", "umongameli uthe namhlanB")
    )
    assert three == more != other


@pytest.mark.parametrize(("letters", "apart"), [(LEAD - 1, True), (LEAD, False)])
def test_so_long_a_heading_is_the_lead(letters: int, apart: bool) -> None:
    text = "<p>Lesi yisigaba eside esinamagama anele ukuba sibhekwe sodwa, singesinye sezindaba zanamuhla."
    page = read(f"<h1>Isihloko</h1><h2>{'a' * letters}</h2><div>{text * 3}</div>")
    assert [block.apart for block in page.blocks] == [False, apart, False, False, False]


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(("letters", "told"), [(8, False), (9, True), (100, True)])
def test_zeros_tell_utf_16_from_nine_letters_on(name: str, letters: int, told: bool) -> None:
    found = decode(("ikhaya " * 20)[:letters].encode(name))
    assert (found.source == "utf16", found.charset == name) == (told, told)


@pytest.mark.parametrize(("letters", "believed"), [(998, False), (999, True), (5000, True)])
def test_one_stray_byte_in_a_thousand_letters_is_believed_to_be_utf_8(letters: int, believed: bool) -> None:
    body = b"<p>" + b"a" * (letters - 3) + b"\xe9"
    assert (decode(body, "text/html; charset=utf-8").source == "http") == believed


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("ሰላም ነው".encode()[:-1], "utf-8"),
        ("ሰላም ነው".encode()[:-2], "utf-8"),
        ("ሰላም".encode() + b" caf\xe9.", "utf-8"),
        ("ሰላ".encode() + b" caf\xe9.", "cp1252"),
        ("ሰላም ነው".encode() + b" caf\xe9 caf\xe9.", "cp1252"),
        ("ibhešu".encode("iso-8859-2"), "cp1252"),
        ("Привет мир, как дела".encode("cp1251"), "cp1252"),
        ("你好世界欢迎光临".encode("gbk"), "cp1252"),
        (b"caf\xe9", "cp1252"),
        (b"CAF\xc9\xbb", "utf-8"),
    ],
)
def test_utf_8_that_nothing_declares_may_have_a_few_wrong_bytes(body: bytes, charset: str) -> None:
    assert decode(body).charset == charset


def test_a_page_without_a_word_of_its_encoding_is_read_up_to_the_bound() -> None:
    assert MAX_BODY % 3, "else the bound is no cut within a letter"
    text = read_page("ሰ".encode() * (MAX_BODY // 3 + 1), URL).blocks[0].text
    assert (text[0], len(text)) == ("ሰ", MAX_BODY // 3 + 1)


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (f"<p>{'b' * FULL}", "main"),
        (f"<p>{'b' * (FULL - 1)}", "short"),
        (f"<p>{'b' * (FULL - 2)}.", "main"),
        (f"<p><a href=x>{'a' * 80}</a>{'b' * 20}", "main"),
        (f"<p><a href=x>{'a' * 81}</a>{'b' * 19}", "links"),
        (f"<div><a href=x>{'a' * 66}</a>{'b' * 33}</div>", "main"),
        (f"<div><a href=x>{'a' * 67}</a>{'b' * 33}</div>", "links"),
        (f"<div><a href=x>{'a' * 10}</a>{'b' * 20}</div>", "short"),
        (f"<div><a href=x>{'a' * 11}</a>{'b' * 20}</div>", "links"),
        (f"<li><a href=x>{'a' * 20}</a>{'b' * 10}</li>", "list"),
        (f"<li><a href=x>{'a' * 21}</a>{'b' * 10}</li>", "links"),
    ],
)
def test_of_what_kind_a_block_is_by_its_letters_and_those_in_links(html: str, kind: str) -> None:
    assert [block.kind for block in read(html).blocks] == [kind]


@pytest.mark.parametrize(("before", "told"), [(0, True), (1019, True), (1020, False)])
def test_a_document_tells_itself_in_its_first_kilobyte(before: int, told: bool) -> None:
    body = b"x" * before + b"%PDF-1.7"
    assert [is_pdf(media, body) for media in ("", "application/octet-stream", "text/html")] == [told, told, False]
    assert is_pdf("application/pdf", b"")


def test_of_a_document_that_is_too_large_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def told(_: object, body: bytes, __: float) -> bytes:
        asked.append(len(body))
        return b'{"reason": "damaged"}'

    monkeypatch.setattr(reader, "MAX_BODY", 100)
    monkeypatch.setattr(reader, "_begun", lambda _: SimpleNamespace(poll=lambda: None, kill=lambda: None))
    monkeypatch.setattr(reader, "_told", told)
    for size in (99, 100, 101):
        with pytest.raises(PdfError, match="damaged"):
            PdfReader().read(b"x" * size, URL)
    assert asked == [99, 100, 100]


@pytest.mark.parametrize(("letters", "kind"), [(1, "links"), (MORE, "links"), (MORE + 1, "main")])
def test_a_text_that_breaks_off_before_a_short_link_is_a_teaser(letters: int, kind: str) -> None:
    html = f"<p>Umongameli uthe abantu bakithi kufanele basebenze … <a href=/1>{'a' * letters}</a></p>"
    assert read(html).blocks[0].kind == kind


@pytest.mark.parametrize(("letters", "told"), [(MOST_VALUE, True), (MOST_VALUE + 1, False)])
def test_a_value_of_so_many_letters_may_be_a_name(letters: int, told: bool) -> None:
    name = "Nomusa".ljust(letters, "a")
    site, author = (
        read(f'<meta name="{kind}" content="{name}">').publication for kind in ("og:site_name", "dc.creator")
    )
    assert (site.site, author.author) == ((name, name) if told else ("", ""))
    two = "".join(f'<meta name="dc.creator" content="{one}">' for one in (name[: letters - 9], "Nkosana"))
    assert (read(two).publication.author != "") == told, "with the sign between them"


@pytest.mark.parametrize(("letters", "told"), [(60, True), (61, False)])
def test_a_link_to_an_author_names_them_shortly(letters: int, told: bool) -> None:
    assert (
        read(f"<article><a rel=author href=/n>{'Nomusa'.ljust(letters, 'a')}</a></article>").publication.author != ""
    ) == told


def drawn(title: str, state: str) -> str:
    """The text of a page that a script draws from this state."""
    return read(f"<title>{title}</title><div id=root></div><script>window.state={state}</script>").text()


@pytest.mark.parametrize(("letters", "told"), [(LITTLE, False), (LITTLE + 1, True)])
def test_a_text_in_a_state_is_one_beyond_what_a_page_without_one_shows(letters: int, told: bool) -> None:
    text = "<p>".ljust(letters, "a")
    assert (drawn("Umongameli", json.dumps({"title": "Umongameli", "body": text})) != "") == told


@pytest.mark.parametrize(("title", "told"), [("Umfula1", False), ("Umfula12", True)])
def test_a_title_of_eight_letters_may_be_looked_for(title: str, told: bool) -> None:
    assert (drawn(title, json.dumps({"title": title, "body": "<p>" + "a" * 600})) != "") == told


@pytest.mark.parametrize(
    ("one", "told"), [("Umongameli uthe", True), ("wezwe namhlanje", True), ("wezwe namhlanj", False)]
)
def test_a_title_may_begin_the_pages_or_be_half_of_it(one: str, told: bool) -> None:
    title = "Umongameli uthe wezwe namhlanje!"  # 28 letters
    assert (drawn(title, json.dumps({"title": one, "body": "<p>" + "a" * 600})) != "") == told


@pytest.mark.parametrize(("others", "told"), [(19, True), (20, False)])
def test_so_many_headlines_are_looked_at(others: int, told: bool) -> None:
    headlines = {**{str(n): "Okunye nje" for n in range(others)}, "web": "Umongameli"}
    assert (drawn("Umongameli", json.dumps({"headlines": headlines, "body": "<p>" + "a" * 600})) != "") == told


@pytest.mark.parametrize(("before", "told"), [(MOST_ROWS - 1, True), (MOST_ROWS, False)])
def test_so_many_rows_are_read(before: int, told: bool) -> None:
    assert (list(joined("5:1\n" * before + '0:"a"\n')) == ["a", 1]) == told
