"""The vertical form keeps its rules, and gives the text back."""

import gzip
import io
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.cli import main
from corpus.document import Document, Link, Paragraph
from corpus.errors import CorpusError, FormatError, UsageFault
from corpus.forms import FORMS, WITH_HEADINGS
from corpus.outputs import open_output
from corpus.report import Report
from corpus.sources import documents
from corpus.tally import Tally
from corpus.vertical.manatee import ManateeWriter, registry
from corpus.vertical.reading import Token, VerticalParagraph, read_vertical
from corpus.vertical.rows import Raw, documents_of, raw_documents, tag_of
from corpus.vertical.tokens import sentences, tokens
from corpus.vertical.writing import escape_token, lines, text_of, unescape_token
from corpus.wikilinks.verticals import linked_documents

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80).map(lambda text: " ".join(text.split()))
WORDS = ["Yebo.", "uThabo", "(", ")", "!", "&lt;x>", "<b>", "3.5", "i-Afrika", '"', "Mnu."]
SENTENCES = st.lists(st.sampled_from(WORDS))


def document(*paragraphs: Paragraph, title: str = "Isihloko") -> Document:
    return Document("0-1", "https://a.example/x?a=1&b=2", title, "2024-01-02", "zul", paragraphs)


def rows_of(made: Document) -> list[str]:
    return text_of(made).split("\n")[:-1]


def test_whole_document() -> None:
    link = Link(0, 15, "https://b.example/?q=1&r=2")
    rows = rows_of(document(Paragraph("Isolezwe lethu. Yebo", "main", "zul", (link,)), title='A "b" <c>'))
    assert rows == [
        '<doc title="A &quot;b&quot; &lt;c&gt;" url="https://a.example/x?a=1&amp;b=2" id="0-1"'
        ' date="2024-01-02" host="a.example">',
        *("<head>", "<s>", "A", '"', "<g/>", "b", "<g/>", '"', "<", "<g/>", "c", "<g/>", ">", "</s>", "</head>"),
        '<p lang="zu">',
        *("<s>", "Isolezwe", "lethu", "<g/>", '.\t<link="https://b.example/?q=1&amp;r=2">\t<length=3>', "</s>"),
        *("<s>", "Yebo", "</s>"),
        "</p>",
        "</doc>",
    ]


@pytest.mark.parametrize(
    ("language", "tag"), [("zul", '<p lang="zu">'), ("nso", '<p lang="nso">'), ("und", "<p>"), ("eng", '<p lang="en">')]
)
def test_language_of_a_paragraph(language: str, tag: str) -> None:
    assert tag in rows_of(document(Paragraph("Yebo", "main", language)))


@given(st.tuples(*[TEXTS] * 5))
def test_publication_comes_back(said: tuple[str, ...]) -> None:
    names = ("published", "author", "site", "licence", "published_from")
    published, author, site, licence, source = said
    made = replace(document(Paragraph("Yebo")), published=published, author=author, site=site, licence=licence)
    made = replace(made, published_from=source)
    [found] = read_vertical(rows_of(made))
    assert {name: value for name, value in found.attributes.items() if name in names} == {
        name: value for name, value in zip(names, said, strict=True) if value
    }


def test_publication_is_read_from_a_file_and_by_manatee(tmp_path: Path) -> None:
    made = replace(document(Paragraph("Yebo")), published="2024-05-31", author='N "D"\n<Dube> & Zuma')
    made = replace(made, published_from="feed")
    other = replace(made, published="", author="", published_from="")
    (tmp_path / "a.vert").write_text(text_of(made) + text_of(other))
    one, two = documents([str(tmp_path / "a.vert")], Report(quiet=True), Tally())
    assert (one.published, one.published_from, one.date) == ("2024-05-31", "feed", "2024-01-02")
    assert (one.author, one.site) == ('N "D" <Dube> & Zuma', "")
    assert (two.published, two.author, two.published_from) == ("", "", "")
    writer = ManateeWriter(())
    assert [row for row in writer(rows_of(made)) if row.startswith("<doc")] == rows_of(made)[:1]
    assert "    ATTRIBUTE published\n" in registry(writer, None, tmp_path, "")


def test_no_title_no_sentence() -> None:
    assert rows_of(document(title=""))[1:3] == ["<head>", "</head>"]


def test_a_link_inside_a_word_cuts_it() -> None:
    rows = rows_of(document(Paragraph("kuleNdlu yethu", links=(Link(4, 8, "https://b.example/"),))))
    assert rows[rows.index("kule") :][:4] == ["kule", "<g/>", 'Ndlu\t<link="https://b.example/">\t<length=1>', "yethu"]


def test_a_link_over_two_sentences_counts_all_its_tokens() -> None:
    found = next(read_vertical(rows_of(document(Paragraph("Yebo. Cha.", links=(Link(0, 10, "https://b.example/"),))))))
    last = found.paragraphs[0].sentences[1][-1]
    assert (last.form, last.link, last.length) == (".", "https://b.example/", 4)


@pytest.mark.parametrize("form", ["<b>", "</s>", "&lt;b>", "&amp;lt;b>", "<", ">", "<>", "&lt;", "a<b>", "&amp;"])
def test_tokens_that_look_like_tags(form: str) -> None:
    written = escape_token(form)
    assert unescape_token(written) == form
    assert not re.fullmatch(r"<.*>", written)


@given(st.text(st.sampled_from("<>&;ltamp/gx"), min_size=1, max_size=12))
def test_escaping_loses_nothing(form: str) -> None:
    assert unescape_token(escape_token(form)) == form
    assert not (escape_token(form).startswith("<") and escape_token(form).endswith(">"))


@given(st.lists(st.one_of(TEXTS, SENTENCES.map(" ".join)), max_size=4), TEXTS)
def test_round_trip(texts: list[str], title: str) -> None:
    made = document(*(Paragraph(text) for text in texts), title=title)
    [found] = read_vertical(text_of(made).split("\n"))
    assert [paragraph.text for paragraph in found.paragraphs] == texts
    assert found.head.text == title
    assert found.attributes == {"title": title, "url": made.url, "id": made.id, "date": made.date, "host": "a.example"}


@given(TEXTS, st.data())
def test_every_link_has_the_tokens_of_its_anchor(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    links = tuple(
        Link(start, end, f"https://b.example/{start}")
        for start, end in zip(places[::2], places[1::2], strict=False)
        if not text[start].isspace() and not text[end - 1].isspace()
    )
    [found] = read_vertical(text_of(document(Paragraph(text, links=links))).split("\n"))
    flat = [token for sentence in found.paragraphs[0].sentences for token in sentence]
    anchors = {
        token.link: "".join(one.form for one in flat[place + 1 - token.length : place + 1])
        for place, token in enumerate(flat)
        if token.link
    }
    assert anchors == {link.url: "".join(text[link.start : link.end].split()) for link in links}


@given(st.one_of(TEXTS, SENTENCES.map(" ".join)))
def test_tokens_are_the_text_without_white_space(text: str) -> None:
    spans = tokens(text)
    assert "".join(span.form for span in spans) == "".join(text.split())
    assert all(text[span.start : span.end] == span.form and not re.search(r"\s", span.form) for span in spans)
    assert [span for sentence in sentences(text, spans) for span in sentence] == spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sawubona Mnu. Zuma.", ["Sawubona", "Mnu.", "Zuma", "."]),
        ("i-Afrika, eGoli; o'clock", ["i-Afrika", ",", "eGoli", ";", "o'clock"]),
        ("R1,000.50 ngo-12:30... (50%)", ["R1,000.50", "ngo-12:30", "...", "(", "50%", ")"]),
        ("u-R2.5 nge-COVID-19. u-30%", ["u-R2.5", "nge-COVID-19", ".", "u-30%"]),
        ("isiphi\u2010ke e.g. i.e.", ["isiphi\u2010ke", "e.g.", "i.e."]),
        ("ok\U0001f44d\U0001f3fd.\U0001f468\u200d\U0001f467 \u2764\ufe0f\U0001f1ff\U0001f1e6\U0001f1ff\U0001f1fc",
         ["ok", "\U0001f44d\U0001f3fd", ".", "\U0001f468\u200d\U0001f467", "\u2764\ufe0f",
          "\U0001f1ff\U0001f1e6", "\U0001f1ff\U0001f1fc"]),
        ("1,000.50 2024-01-31 50%", ["1,000.50", "2024-01-31", "50%"]),
        ("www.isolezwe.co.za. @abc #xyz a@b.co.za", ["www.isolezwe.co.za", ".", "@abc", "#xyz", "a@b.co.za"]),
        ("U-J. Zuma", ["U-J", ".", "Zuma"]),
        ("J. G. Zuma", ["J.", "G.", "Zuma"]),
        ("“Cha!?” — yebo", ["“", "Cha", "!?", "”", "—", "yebo"]),
        ("नमस्ते दुनिया। #हिन्दी", ["नमस्ते", "दुनिया", "।", "#हिन्दी"]),
        ("می\u200cخواهم كِتَابٌ؟ שָׁלוֹם", ["می\u200cخواهم", "كِتَابٌ", "؟", "שָׁלוֹם"]),
    ],
)  # fmt: skip
def test_tokens(text: str, expected: list[str]) -> None:
    assert [span.form for span in tokens(text)] == expected


def test_a_mark_stays_with_its_letter() -> None:
    signs = map(chr, range(0x300, 0x1F000))
    marks = [sign for sign in signs if unicodedata.category(sign) in ("Mn", "Mc") and not "\ufe00" <= sign <= "\ufe0f"]
    words = [f"a{mark}e{mark}" for mark in marks]
    assert [span.form for span in tokens(" ".join(words))] == words
    assert len(words) > 2000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yebo. Cha! Ngani? Hhayi…", 4),
        ("UMnu. Zuma uthe yebo.", 1),
        ("Sifike. uThabo wahamba.", 2),
        ("Sifike. iNingizimu Afrika.", 2),
        ("Uthe: “Yebo.” Wahamba.", 2),
        ("Ngo-3.5 million. abantu", 1),
        ("a.b.C. d", 1),
        ("u-Dkt. Zuma noMnuz. Dube, kuka-Prof. Xaba noSolw. Cele", 1),
        ("UMNU. ZUMA NO-DR. DUBE, KUDKT. CELE, uDR. XABA", 1),
        ("EAT PIE. THAT COST. IT WAS LAST. GO", 4),
        ("Bheka e.g. Thabo, isb. Thabo", 1),
        ("na. étude. naïve. Čeština. šest", 2),
        ("مرحبا بالعالم. كيف حالك؟ بخير", 3),
        ("ሰላም ነው። ማን ነው፧ እሱ ነው።", 3),
        ("Բարեւ։ Ես եմ։", 2),
        ("ሰላም ነው፡፡ ማን ነው፡፡ እሱ፡ነው፡፡", 3),
        ("ეს არის. ის იყო? დიახ.", 3),
        ("ߒߞߏ߹ ߞߊ߲. ߞߊ߲", 3),
        ("ꕙꔤ꘎ ꕉꕜ꘏ ꕮ", 3),
        ("ᐃᓄᒃ᙮ ᐃᓄ", 2),
        ("ᱥᱟᱱ᱾ ᱥᱟ᱿ ᱥ", 3),
        ("", 0),
    ],
)
def test_sentences(text: str, expected: int) -> None:
    assert len(sentences(text, tokens(text))) == expected


@pytest.mark.parametrize(
    "columns",
    [
        '<link="U">\t<length=2>',
        '<link="U"/>\t<length="2"/>',
        '<link="U">\t<lenght=2>',
        '<link="U"/>\t<length="2">',
    ],
)
def test_all_spellings_of_links_are_read(columns: str) -> None:
    rows = ["<doc>", "<head>", "</head>", "<p>", "indlu\tindlu\tNN\t" + columns, "</p>", "</doc>"]
    [found] = read_vertical(rows)
    assert found.paragraphs[0].sentences == [[Token("indlu", columns=("indlu", "NN"), link="U", length=2)]]


def test_headings_images_and_unknown_structures_are_read() -> None:
    text = '<doc id="1">|<h2>|<s>|Yebo|</s>|</h2>|<align>|<p>|<img="u.png">\t<length=1>|</p>|</align>|</doc>'
    rows = text.split("|")
    [found] = read_vertical(rows)
    assert [paragraph.heading for paragraph in found.paragraphs] == [2, 0]
    assert found.paragraphs[1].sentences[0][0].image == "u.png"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ('<s>|a|<img="u">|b|</s>|<s>|<img="u">|</s>|<s>|c|</s>', "a b c"),
        ('a|<img="u">|<g/>|b', "a b"),
        ('a|<g/>|<img="u">|b', "a b"),
        ('a|<g/>|<img="u">|<g/>|.', "a."),
        ('<img="u">|a', "a"),
        ("<s>|a|</s>|<s>|<g/>|b|</s>", "a b"),
    ],
)
def test_sentences_and_images_leave_one_space(rows: str, text: str) -> None:
    """Also where links are looked for, which reads the same rows another time."""
    link = '\n_\t<link="https://zu.wikipedia.org/wiki/X">\t<length=1>'
    file = f"<doc>|<p>|{rows}|</p>|<p>{link}|</p>|</doc>|".replace("|", "\n")
    [found] = read_vertical(file.splitlines())
    [linked] = linked_documents("x", io.BytesIO(file.encode()), lambda error: pytest.fail(str(error)))
    assert linked is not None
    assert [found.paragraphs[0].text, linked.paragraphs[0].text] == [text, text]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("<doc>|<p>|a", 3),
        ("</doc>", 1),
        ("<doc>|<doc>", 2),
        ("<doc>|a", 2),
        ("<doc>|<p>|<p>", 3),
        ("<doc>|</p>", 2),
        ("<doc>|<p>|</s>", 3),
        ("<doc>|<s>", 2),
        ("<doc>|<p>|</doc>", 3),
        ("<p>", 1),
    ],
)
def test_broken_files_are_refused_with_the_line(rows: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        list(read_vertical(rows.split("|"), "x.vert"))
    assert caught.value.line == line
    assert str(caught.value).startswith(f"x.vert:{line}: ")


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("<doc", "\ufeff<doc"), ('title="t"', 'title="a > b"')])
def test_files_of_other_systems_are_read(change: tuple[str, str]) -> None:
    text = '<doc title="t" url="u" id="1">\n<p>\n<s>\n<b\t<link="u">\t<length=1>\n</s>\n</p>\n</doc>\n'
    [found] = read_vertical(text.replace(*change).split("\n"))
    assert found.text == "<b"
    assert found.attributes == {"title": "a > b" if ">" in change[1] else "t", "url": "u", "id": "1"}
    assert found.paragraphs[0].sentences[0][0].link == "u"


@pytest.mark.parametrize(
    ("row", "title"),
    [
        ("<doc title='it is' url='u' id='1'>", "it is"),
        ("<doc title='a &lt; \"b\" > c' url=\"u\" id='1'>", 'a < "b" > c'),
        ("<doc title=\"it's\" url = 'u' id= '1' >", "it's"),
        ("<doc title='' url='u' id='1'/>", ""),
    ],
)
def test_attributes_are_read_in_single_quotes_too(row: str, title: str) -> None:
    tag = tag_of(row)
    assert tag is not None
    assert tag.attributes == {"title": title, "url": "u", "id": "1"}


def test_statistics_read_vertical_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paragraphs = (Paragraph("Sawubona, mhlaba!", language="zul"), Paragraph("one", language="eng"), Paragraph("x y z"))
    known = Document("1", "https://a.example/", "T", language="zul", paragraphs=paragraphs)
    for name in ("x.vert.xz", "no-suffix"):
        with open_output(str(tmp_path / name)) as out:
            out.write(text_of(known).encode() * 2)
        tally = Tally()
        assert list(documents([str(tmp_path / name)], Report(quiet=True), tally)) == [known, known]
        assert (tally.documents, tally.faults) == (2, 0)
    member = gzip.compress(text_of(known).encode())
    for data, count, said in (
        (member + member[:20] + b"\xff" * 9 + member[29:] + member, 2, "breaks off: "),
        (gzip.compress(text_of(known).encode() + b"<p>\n") + member, 2, "<p> outside of a document; left out"),
        (gzip.compress(b"no document"), 0, ":1: a token outside"),
    ):
        (tmp_path / "y.vert.gz").write_bytes(data)
        assert len(list(documents([str(tmp_path / "y.vert.gz")], Report(quiet=True), tally))) == count
        assert said in capsys.readouterr().err
    assert tally.faults == 3


def test_what_is_not_closed_or_has_nothing_in_it() -> None:
    rows = ["<doc>", "<p>", '<a href="u">', "</a>", "<s>", "a", "</p>", "<p>", "<s>", "b", "</s>", "</p>", "</doc>"]
    [found] = read_vertical(rows)
    assert [paragraph.sentences for paragraph in found.paragraphs] == [[[Token("a")]], [[Token("b")]]]


# -- row by row


def test_documents_that_keep_to_the_form_are_given_row_by_row() -> None:
    told: list[str] = []
    good = ["<doc>", "<x y>", '<p a="b > c">', "a", "</p>", "</doc>"]
    parts = ["x", "", "</doc>", *good, "<corpus>", "<doc>", "b", "</doc>", *good, "<doc>", *good, "<doc>"]
    found = documents_of([f"{row}\r\n" for row in parts], "f", lambda error: told.append(str(error)))
    assert list(found) == [good, good, good]
    left = "; left out up to the next document"
    assert told == [
        f"f:1: a token outside of a paragraph{left}",
        f"f:10: <corpus> outside of a document{left}",
        f"f:12: a token outside of a paragraph{left}",
        f"f:21: <doc> inside a document{left}",
        "f:27: the file ends inside a document, which is left out",
    ]


# -- for Manatee


def manatee(*documents: list[str], columns: tuple[str, ...] = ("lemma", "tag")) -> tuple[list[str], ManateeWriter]:
    writer = ManateeWriter(columns)
    return [row for made in documents if not writer.check(made) for row in writer(made)], writer


def inside(rows: list[str]) -> list[str]:
    """What Manatee gets for the rows of a paragraph."""
    return manatee(["<doc>", "<p>", *rows, "</p>", "</doc>"])[0][2:-2]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ('a|b\t<link="u">\t<length=1>', 'a|<a href="u">|b|</a>'),
        ('a|<g/>|b\t<link="u?a=1&amp;b">\t<length=2>', '<a href="u?a=1&amp;b">|a|<g/>|b|</a>'),
        ('<s>|a|</s>|<s>|b|c\t<link="u"/>\t<lenght="3">|</s>',
         '<s>|<a href="u">|a|</a>|</s>|<s>|<a href="u">|b|c|</a>|</s>'),
        ('a|b\t<link="u">\t<length=1>|c\t<link="v">\t<length=3>', 'a|<a href="u">|b|</a>|<a href="v">|c|</a>'),
        ('a\t<link="u">\t<length=9>|</p>|<p>|b\t<link="v">\t<length=2>',
         '<a href="u">|a|</a>|</p>|<p>|<a href="v">|b|</a>'),
        ('a\t<link="u">', '<a href="u">|a|</a>'),
        ('a|b\t<link="u">', 'a|<a href="u">|b|</a>'),
        ('a|</p>|<p>|b\t<link="v">\t<length=2>', 'a|</p>|<p>|<a href="v">|b|</a>'),
        ("</p>|<h2 >|a|</h2>|<p>", '</p>|<p heading="1">|a|</p>|<p>'),
        ('<img="u>">\t<length=1>|a', '<img src="u&gt;"/>|a'),
        ('</p>|<h2 id="x">|a|</h2>|<p>', '</p>|<p id="x" heading="1">|a|</p>|<p>'),
        ('&lt;b>|<|<unknown a="b"/>', '&lt;b>|<|<unknown a="b"/>'),
    ],
)  # fmt: skip
def test_what_manatee_gets(rows: str, expected: str) -> None:
    assert inside(rows.split("|")) == expected.split("|")


def test_columns_for_manatee() -> None:
    rows = ["<doc>", "<p>", 'a\tx\ty\t<link="u">\t<length=1>', "b\tx", "c", "</p>", "</doc>"]
    found, writer = manatee(rows)
    assert found[2:-2] == ['<a href="u">', "a\tx\ty", "</a>", "b\tx\t", "c\t\t"]
    assert writer.width == 2
    image = manatee(["<doc>", "<p>", '<img="u">\t<length=1>', "a\tx\ty", "</p>", "</doc>"])
    assert (image[0][2:-2], image[1].width) == (['<img src="u"/>', "a\tx\ty"], 2)
    with pytest.raises(CorpusError, match="columns after the word 'a': 3, but 2 are expected"):
        manatee(["<doc>", "<p>", "a\t1\t2\t3", "</p>", "</doc>"])
    with pytest.raises(CorpusError, match="columns after the word 'b': 1, but 0 are expected"):
        manatee(["<doc>", "<p>", "a", "b\t1", "</p>", "</doc>"])
    more = ["<doc>", "<p>", "d\t1\t2\t3", "</p>", "</doc>"]
    assert writer.check(more) == "columns after the word 'd': 3, but 2 are expected, as in the first document"


@given(st.lists(TEXTS | SENTENCES.map(" ".join), max_size=3), TEXTS, st.data())
def test_what_manatee_gets_is_read_back(texts: list[str], title: str, data: st.DataObject) -> None:
    paragraphs = []
    for text in texts:
        places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
        links = tuple(
            Link(start, end, f"https://b.example/{start}?&")
            for start, end in zip(places[::2], places[1::2], strict=False)
            if not text[start].isspace() and not text[end - 1].isspace()
        )
        kind = data.draw(st.sampled_from(["main", "heading"]))
        paragraphs.append(Paragraph(text, kind, data.draw(st.sampled_from(["zul", "und"])), links))
    rows = text_of(document(*paragraphs, title=title), headings=True).split("\n")[:-1]
    turned, writer = manatee(rows)
    [was], [found] = read_vertical(rows), read_vertical(turned)
    assert (found.text, found.head.text, found.attributes) == (was.text, was.head.text, was.attributes)
    assert [(one.lang, one.heading) for one in found.paragraphs] == [(one.lang, one.heading) for one in was.paragraphs]
    assert [one.heading for one in found.paragraphs] == [int(one.kind == "heading") for one in paragraphs]
    for before, after in zip(was.paragraphs, found.paragraphs, strict=True):
        assert _linked(after) == _linked(before)
    assert list(manatee(turned)[0]) == turned
    assert writer.structures.keys() <= {"doc", "head", "p", "s", "g", "a"}


def _linked(paragraph: VerticalParagraph) -> list[tuple[str, str]]:
    """Each token and the link that it is in."""
    found = [token for sentence in paragraph.sentences for token in sentence]
    links = [""] * len(found)
    for place, token in enumerate(found):
        if token.link:
            links[place + 1 - token.length : place + 1] = [token.link] * token.length
    return [(token.form, link) for token, link in zip(found, links, strict=True)]


GRAMMAR = re.compile(
    r"""(?:
      (?:PATH|VERTICAL|ENCODING|LANGUAGE)\ "[^"\n]*"\n
    | ATTRIBUTE\ [a-z]\w*\n
    | STRUCTURE\ [a-z]\w*(?:\ \{\n(?:\ +(?:ATTRIBUTE\ [A-Za-z_]\w*|DISPLAYTAG\ 0|DISPLAYBEGIN\ "_EMPTY_")\n)+\})?\n
    )+""",
    re.X,
)
"""Of the configuration of a corpus, as Sketch Engine's documentation has it, what is used here."""


def test_the_configuration_names_all_that_is_there() -> None:
    rows = [
        '<doc id="1" x:y="">',
        '<p lang="zu">',
        "<no-name/>",
        'a\tb\tc\t<link="u">\t<length=1>',
        "<g/>",
        ".",
        "</p>",
        "</doc>",
    ]
    _, writer = manatee(rows)
    made = registry(writer, Path("/x y/z.vert.xz"), Path("/x y/data"), "Zulu")
    assert GRAMMAR.fullmatch(made)
    assert made == (
        'PATH "/x y/data"\nVERTICAL "| xzcat \'/x y/z.vert.xz\'"\nENCODING "UTF-8"\nLANGUAGE "Zulu"\n'
        "ATTRIBUTE word\nATTRIBUTE lemma\nATTRIBUTE tag\nSTRUCTURE doc {\n    ATTRIBUTE id\n}\n"
        "STRUCTURE p {\n    ATTRIBUTE lang\n}\nSTRUCTURE a {\n    ATTRIBUTE href\n}\n"
        'STRUCTURE g {\n    DISPLAYTAG 0\n    DISPLAYBEGIN "_EMPTY_"\n}\n'
    )
    plain = registry(manatee(["<doc>", "<p>", "a", "</p>", "</doc>"])[1], Path("/z.vert"), Path("/d"), "")
    assert plain == ('PATH "/d"\nVERTICAL "/z.vert"\nENCODING "UTF-8"\nATTRIBUTE word\nSTRUCTURE doc\nSTRUCTURE p\n')
    assert "VERTICAL" not in registry(writer, None, Path("/d"), "")
    with pytest.raises(UsageFault, match="cannot stand in a configuration"):
        registry(writer, Path('/a"b'), Path("/d"), "")


# -- headings, and text that is not cut into tokens


def test_headings_are_marked_on_demand() -> None:
    made = document(Paragraph("Isihloko", "heading", "zul"), Paragraph("Yebo", "heading"), Paragraph("Cha"))
    assert [row for row in lines(made, headings=True) if row.startswith("<p")] == [
        '<p lang="zu" heading="1">', '<p heading="1">', "<p>"]  # fmt: skip
    assert "heading" not in text_of(made)


def test_prevertical() -> None:
    made = document(Paragraph("Yebo, uThabo.", "heading", "zul"), Paragraph("<g/>"), title="A <b>")
    rows = FORMS["prevertical"](made).split("\n")
    assert rows[1:] == ['<p lang="zu">', "Yebo, uThabo.", "</p>", "<p>", "&lt;g/>", "</p>", "</doc>", ""]
    assert WITH_HEADINGS["prevertical"](made).split("\n")[1] == '<p lang="zu" heading="1">'
    [found] = read_vertical(rows)
    assert found.text == made.text
    assert found.attributes["title"] == "A <b>"


LINES = st.sampled_from([b"<doc>", b'<doc id="1">', b"</doc>", b"</DOC >", b"<p>", b"</p>", b"a", b"<docs>", b"", b" "])
TEXT_LIKE_DOC = st.sampled_from([b"<doc a", b"</doc a", b"<doc> a", b"</doc", b"<doc>\ta"])


@given(st.lists(LINES | TEXT_LIKE_DOC, max_size=30))
def test_raw_documents_are_the_file_in_pieces(rows: list[bytes]) -> None:
    begins, ends = (b"<doc>", b'<doc id="1">'), (b"</doc>", b"</DOC >")
    place, stray = 0, False
    for raw in raw_documents(rows):
        assert raw.at == sum(len(row) + 1 for row in rows[: raw.number])
        assert rows[raw.number : raw.number + len(raw.rows)] == raw.rows
        assert raw.ends == (raw.rows[-1] in ends)
        assert not any(row in ends for row in raw.rows[:-1])
        assert sum(row in begins for row in raw.rows) <= 1
        assert not any(row in begins if stray else row.strip() for row in rows[place : raw.number])
        stray = not any(row in begins for row in raw.rows)
        assert sum(bool(row.strip()) for row in raw.rows) == 1 or not stray
        place = raw.number + len(raw.rows)
    assert not any(row in begins if stray else row.strip() for row in rows[place:])


def test_of_what_is_no_document_not_all_is_in_memory() -> None:
    """As of a file whose documents are called <text>."""
    rows = [b" ", b'<text id="1">', *[b"word"] * 10, b"</text>"] * 2
    assert list(raw_documents(rows)) == [Raw(rows[:2], 0, 0)]
    assert list(raw_documents([*rows, b"<doc>"])) == [Raw(rows[:2], 0, 0), Raw([b"<doc>"], 26, 148)]


def test_a_byte_order_mark_hides_no_document() -> None:
    rows = [b"\xef\xbb\xbf<doc>", b"word", b"</doc>"]
    assert list(raw_documents([*rows, *rows])) == [Raw(rows, 0, 0, ends=True), Raw(rows[:1], 3, 21)], "but the first"


def test_text_that_begins_as_a_document_does_is_text(tmp_path: Path) -> None:
    """As in pages about markup: in a prevertical a line is a paragraph."""
    source, output = tmp_path / "x.prevert", tmp_path / "y.prevert"
    texts = ("<doc id=1 is how a document begins", "</doc is how it ends, but for its last sign")
    source.write_text(FORMS["prevertical"](document(*map(Paragraph, texts))) * 2)
    assert main(["dedup", str(source), "-o", str(output), "-q"]) == 0
    assert output.read_text() * 2 == source.read_text()
    assert main(["select", str(source), "-o", str(output), "-q"]) == 0
    assert output.read_text() == source.read_text()


def test_of_a_document_without_measure_the_beginning() -> None:
    rows = [b"<doc>", b"aaaa", b"bbbb", b"</doc>", b"<doc>", b"</doc>"]
    assert list(raw_documents(rows, 16)) == [Raw(rows[:3], 0, 0, cut=True), Raw(rows[4:], 4, 23, ends=True)]
    assert list(raw_documents(rows, 15)) == [Raw(rows[:2], 0, 0, cut=True), Raw(rows[4:], 4, 23, ends=True)]


@pytest.mark.parametrize(
    "before", ['<?xml version="1.0"?>\n<corpus name="x">\n', "<corpus>\n\n", "word\n", "<p>\n</p>\n"]
)
def test_what_stands_before_a_document_takes_it_along_nowhere(before: str, tmp_path: Path) -> None:
    """As the root that files of CWB have, told by its line."""
    link = '<link="https://zu.wikipedia.org/wiki/X">\t<length=1>'
    rows = [
        f'<doc id="{number}" url="https://a.example/">\n<p>\nword{number}\t{link}\n</p>\n</doc>\n' for number in "12"
    ]
    source = tmp_path / "x.vert"
    source.write_text(before + rows[0] + before + rows[1])
    for command, output in (("dedup", "a.vert"), ("select", "b.vert"), ("manatee", "c.vert"), ("links", "d.tsv")):
        assert main([command, str(source), "-o", str(tmp_path / output), "-q"]) == 1
    assert [(tmp_path / name).read_text() for name in ("a.vert", "b.vert")] == ["".join(rows)] * 2
    assert (tmp_path / "c.vert").read_text().count("<doc") == len((tmp_path / "d.tsv").read_text().splitlines()) == 2
