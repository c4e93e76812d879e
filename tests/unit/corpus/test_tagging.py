"""Vertical text keeps its rows when it is tagged, and is read back as it was; training text is read to the letter."""

import lzma
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus.tagging.tagger
from corpus.document import Document, Link, Paragraph
from corpus.errors import FormatError, UsageFault
from corpus.tagging.tagger import MAX_SENTENCE, DocumentTagger, columns_named, language_key
from corpus.tagging.training import Word, accuracy, tagged_sentences
from corpus.vertical.reading import Token, VerticalDocument, read_vertical
from corpus.vertical.writing import escape_token, text_of
from tests.unit.corpus.taggers import PAIRS, TREEBANK, write_model

WORDS = ["Yebo.", "<b>", "&lt;b>", '<link="u">', "<a", 'x">', "_", "😀", "i-Afrika", "<g/>"]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60).map(lambda text: " ".join(text.split())),
    st.lists(st.sampled_from(WORDS)).map(" ".join),
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model") / "small.udpipe", TREEBANK)


@pytest.fixture(scope="module")
def tagger(model: Path) -> DocumentTagger:
    return DocumentTagger({"zu": model}, ["lemma", "tag", "xpos", "feats"])


def document(*paragraphs: Paragraph, title: str = "Inja") -> Document:
    return Document("0-1", "https://a.example/", title, paragraphs=paragraphs)


def rows_of(made: Document) -> list[str]:
    return text_of(made, headings=True).split("\n")[:-1]


def test_a_document(model: Path) -> None:
    link = Link(0, 4, "https://b.example/")
    rows = rows_of(document(Paragraph("Inja ilele.", language="zul", links=(link,)), Paragraph("Cha", language="eng")))
    tagged, counts = DocumentTagger({"zu": model}, ["lemma", "tag"])(rows)
    assert tagged == [
        rows[0],
        *("<head>", "<s>", "Inja\tinja\tNOUN", "</s>", "</head>"),
        *('<p lang="zu">', "<s>", 'Inja\tinja\tNOUN\t<link="https://b.example/">\t<length=1>'),
        *("ilele\tlala\tVERB", "<g/>", ".\t.\tPUNCT", "</s>", "</p>"),
        *('<p lang="en">', "<s>", "Cha\t\t", "</s>", "</p>"),
        "</doc>",
    ]
    assert counts == {"zu": 4, "en": 1}


def test_columns_in_the_order_asked_for(model: Path) -> None:
    rows = rows_of(document(Paragraph("ilele", language="zul"), title=""))
    tagged, _ = DocumentTagger({"zu": model}, ["feats", "xpos", "tag", "lemma"])(rows)
    assert tagged[5] == "ilele\tTense=Past\tV\tVERB\tlala"


def test_a_token_of_one_low_line_has_a_lemma(tagger: DocumentTagger) -> None:
    [[lemma], _, _, [feats]] = tagger.taggers["zu"](["_"])
    assert lemma == "_"
    assert feats != "_"


@given(st.lists(st.tuples(TEXTS, st.sampled_from(["zul", "eng", "und"])), max_size=4), TEXTS, st.data())
def test_rows_stay_where_they_are(
    tagger: DocumentTagger, texts: list[tuple[str, str]], title: str, data: st.DataObject
) -> None:
    paragraphs = []
    for text, language in texts:
        end = data.draw(st.integers(0, len(text)))
        links = (Link(0, end, 'https://b.example/?"<'),) if end and not text[end - 1].isspace() else ()
        paragraphs.append(Paragraph(text, data.draw(st.sampled_from(["main", "heading"])), language, links))
    made = document(*paragraphs, title=title)
    rows = rows_of(made)
    tagged, counts = tagger(rows)
    assert len(tagged) == len(rows)
    for before, after in zip(rows, tagged, strict=True):
        if re.fullmatch("<[a-z/].*>", before) and "\t" not in before:
            assert after == before
        else:
            form, *rest = before.split("\t")
            columns = after.split("\t")
            assert (columns[0], columns[5:]) == (form, rest)
    [was], [found] = read_vertical(rows), read_vertical(tagged)
    assert (found.text, found.head.text, found.attributes) == (was.text, was.head.text, was.attributes)
    assert [(token.form, token.glued, token.link, token.length) for token in _tokens(found)] == [
        (token.form, token.glued, token.link, token.length) for token in _tokens(was)
    ]
    assert all(len(token.columns) == 4 for token in _tokens(found))
    assert counts.total() == len(_tokens(found))
    assert tagger(tagged)[0] == tagged


def _tokens(found: VerticalDocument) -> list[Token]:
    paragraphs = (found.head, *found.paragraphs)
    return [token for paragraph in paragraphs for sentence in paragraph.sentences for token in sentence]


def test_text_without_a_model_keeps_columns_that_are_as_many(tagger: DocumentTagger) -> None:
    rows = ["<doc>", '<p lang="en">', "a\t1\t2\t3\t4", "b\t1", "</p>", "<p>", "Inja", "</p>", "</doc>"]
    tagged, counts = tagger(rows)
    assert tagged[2:4] == ["a\t1\t2\t3\t4", "b\t\t\t\t"]
    assert tagged[6] == "Inja\t\t\t\t"
    assert counts == {"en": 2, "": 1}


def test_files_of_other_systems(model: Path) -> None:
    tagger = DocumentTagger({"": model, "cs": model}, ["tag"])
    odd = ["<align>", '<named-entity type="x">', "<tei:lb/>", "<_.>", '<img="u">\t<length=1>']
    rows = ["<doc>", "<h1>", "Inja", "</h1>", '<p lang="CS-cz">', *odd, "ilele\tX\tY"]
    tagged, counts = tagger([*rows, "</p>", "<head>", ".", "</head>", "</doc>"])
    expected = [*rows[:2], "Inja\tNOUN", *rows[3:-1], "ilele\tVERB"]
    assert tagged == [*expected, "</p>", "<head>", ".\tPUNCT", "</head>", "</doc>"]
    assert counts == {"": 1, "cs": 2}


def test_a_title_goes_with_most_of_its_document(tagger: DocumentTagger) -> None:
    english = Paragraph("one two three four", language="eng")
    for paragraphs, expected in (
        ((Paragraph("Inja ilele", language="zul"), Paragraph("one", language="eng")), "Inja\tinja\tNOUN\tN\t"),
        ((Paragraph("Inja ilele", language="zul"), english), "Inja\t\t\t\t"),
        ((Paragraph("Inja ilele izolo namuhla nje"),), "Inja\t\t\t\t"),
    ):
        assert tagger(rows_of(document(*paragraphs)))[0][3] == expected


def test_a_sentence_of_any_length_is_tagged_in_pieces(tagger: DocumentTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    one = tagger.taggers["zu"]
    given: list[int] = []
    tag = one._tag

    def counted(forms: Sequence[str]) -> list[list[str]]:
        given.append(len(forms))
        return tag(forms)

    monkeypatch.setattr(one, "_tag", counted)
    assert one(["Inja"] * (2 * MAX_SENTENCE + 1))[1] == ["NOUN"] * (2 * MAX_SENTENCE + 1)
    assert given == [MAX_SENTENCE, MAX_SENTENCE, 1]


ODD = ["", " ", "a\0b", "a\rb", "a\x0bb", "\u2028", "\udcff", "#", "1-2", "_", "ž" * 100_000]


@pytest.mark.parametrize("form", ODD, ids=[ascii(form[:9]) for form in ODD])
def test_odd_tokens(tagger: DocumentTagger, form: str) -> None:
    tagged, _ = tagger(["<doc>", '<p lang="zu">', f"{form}\tx", "Inja", "</p>", "</doc>"])
    assert tagged[2].split("\t")[0] == form
    assert tagged[2].count("\t") == 4
    assert tagged[3].split("\t")[2] == "NOUN"


def test_no_row_with_columns_is_a_tag(tagger: DocumentTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        tagger.taggers["zu"], "_tag", lambda forms: [[value] * len(forms) for value in ("", "", "", "x>")]
    )
    assert tagger(["<doc>", '<p lang="zu">', "<b", "b", "</p>", "</doc>"])[0][2:4] == ["<b\t\t\t\t", "b\t\t\t\tx>"]


def test_lemmas_that_look_like_links_or_tags(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagger, values = DocumentTagger({"": model}, ["lemma"]), corpus.tagging.tagger._values
    for form in ('<link="u">', "<length=2>", "<b>", "&lt;b>"):
        monkeypatch.setattr(corpus.tagging.tagger, "_values", lambda column, forms, form=form: values([form], forms))
        tagged, _ = tagger(["<doc>", "<p>", escape_token(form), "</p>", "</doc>"])
        [found] = read_vertical(tagged)
        assert found.paragraphs[0].sentences == [[Token(form, columns=(form,))]]


def test_models_without_lemmas(tmp_path: Path) -> None:
    model = write_model(tmp_path / "m", PAIRS)
    one = DocumentTagger({"": model}, ["lemma", "tag", "xpos", "feats"]).taggers[""]
    assert not one.has_lemmas
    assert one(["Inja", "ilele", "."]) == [[""] * 3, ["NOUN", "VERB", "PUNCT"], [""] * 3, [""] * 3]


def test_files_that_are_no_model(model: Path, tmp_path: Path) -> None:
    data = model.read_bytes()
    for damaged in (
        b"",
        b"WARC/1.1",
        lzma.compress(data),
        b"\xef\xbb\xbf<doc>",
        data[:-1],
        data[9:],
        data[:5000] + b"x" + data[5001:],
    ):
        (tmp_path / "m").write_bytes(damaged)
        with pytest.raises(UsageFault, match="/m: is no model of UDPipe 1"):
            DocumentTagger({"": tmp_path / "m"}, ["tag"])
    with pytest.raises(OSError, match="absent"):
        DocumentTagger({"": tmp_path / "absent"}, ["tag"])


def test_without_the_library(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ufal.udpipe", None)
    with pytest.raises(UsageFault, match=r"pip install ufal\.udpipe"):
        DocumentTagger({"": model}, ["tag"])


def test_names_of_columns() -> None:
    for text in ("form,tag,lemma", "word,tag,lemma", "tag,lemma"):
        assert columns_named(text) == ["tag", "lemma"]
    for wrong in ("", "word", "tag,word", "tag,tag", "tag,", "pos", "tag lemma"):
        with pytest.raises(UsageFault, match=f"--columns {wrong}: some of lemma, tag, xpos, feats"):
            columns_named(wrong)


def test_languages_have_one_name() -> None:
    found = [language_key(language) for language in ("zul", "ZU", "zu-ZA", "nso", "und", "")]
    assert found == ["zu", "zu", "zu", "nso", "", ""]


# -- training


def test_words_and_tags() -> None:
    rows = ["Inja NOUN\r", "ilele\tVERB", "", "# SYM", ". PUNCT", " ", "", "Cha\xa0cha INTJ"]
    assert list(tagged_sentences([row.removesuffix("\r") for row in rows], "f")) == [
        [Word("Inja", "NOUN"), Word("ilele", "VERB")],
        [Word("#", "SYM"), Word(".", "PUNCT")],
        [Word("Cha\xa0cha", "INTJ")],
    ]


def test_conllu() -> None:
    rest = "\t0\troot\t_\t_"
    rows = [
        "# sent_id = 1",
        "1-2\tcan't" + "\t_" * 8,
        "1\tca\tcan\tAUX\tMD\tMood=Ind" + rest,
        "2\tn't\tnot\tPART\t_\t_" + rest,
        "2.1\tx" + "\t_" * 8,
        "3\t_\t_\tPUNCT\t_\t_" + rest,
    ]
    words = [Word("ca", "AUX", "can", "MD", "Mood=Ind"), Word("n't", "PART", "not"), Word("_", "PUNCT", "_")]
    assert list(tagged_sentences(rows, "f")) == [words]


@pytest.mark.parametrize(
    ("rows", "line", "reason"),
    [
        ("a NOUN|b", 2, "a word and its tag (or ten columns, of CoNLL-U) are needed, here are 1"),
        ("a NOUN x", 1, "here are 3"),
        ("# newdoc|a NOUN", 1, None),
        ("# a comment|a NOUN", 1, "here are 3"),
        ("1" + "\t_" * 9, 1, "a word without its form or part of speech"),
        ("1\ta\ta\tX" + "\t_" * 6 + "|2\tb", 2, "the ten columns of CoNLL-U are needed, here are 2"),
        ("a\tb\ta\tX" + "\t_" * 6, 1, "'a' is no number of a word"),
    ],
)
def test_lines_that_are_no_words(rows: str, line: int, reason: str | None) -> None:
    if reason is None:
        assert len(list(tagged_sentences(rows.split("|"), "f"))) == 1
        return
    with pytest.raises(FormatError, match=re.escape(reason)) as caught:
        list(tagged_sentences(rows.split("|"), "f"))
    assert str(caught.value).startswith(f"f:{line}: ")


def test_accuracy(model: Path) -> None:
    heldout = [[Word("Inja", "NOUN", "inja", "N"), Word("ilele", "NOUN", "lala", "V", "Tense=Past")]]
    found = list(accuracy(model.read_bytes(), heldout))
    assert found == [("lemma", 1.0, 2), ("tag", 0.5, 2), ("xpos", 1.0, 2), ("feats", 1.0, 1)]
