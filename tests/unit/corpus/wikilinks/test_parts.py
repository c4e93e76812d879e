"""Contexts, choices, tables and dumps, without files of pages."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.anchors import absolute
from corpus.document import Document, Link, Paragraph, Source
from corpus.duplicates.hashes import text_hash
from corpus.errors import FormatError
from corpus.outputs import open_output
from corpus.wikilinks.address import Target, target_of
from corpus.wikilinks.choice import LinkChoice, of_wikimedia
from corpus.wikilinks.dumps import rows, table_of
from corpus.wikilinks.mentions import Mention, mentions
from corpus.wikilinks.pages import may_link
from corpus.wikilinks.rows import COLUMNS, form_of, jsonl, tsv
from corpus.wikilinks.similarity import alike
from corpus.wikilinks.tables import Names, Tables, Titles, load
from relevance import read_page

WIKI = "https://zu.wikipedia.org/wiki/"


def linked(text: str, kind: str = "main", url: str = WIKI + "A") -> Paragraph:
    """A paragraph whose text between brackets is a link."""
    before, _, rest = text.partition("[")
    anchor, _, after = rest.partition("]")
    links = (Link(len(before), len(before) + len(anchor), url),) if rest else ()
    return Paragraph(before + anchor + after, kind, links=links)


def found(*paragraphs: Paragraph, words: int = 10) -> list[tuple[str, str, str]]:
    document = Document("id", "https://a.example/", paragraphs=paragraphs)
    return [(one.before, one.anchor, one.after) for one in mentions(document, lambda target, _: target, words)]


def refused(fault: FormatError) -> None:
    """Hears of faults where there are to be none."""
    raise AssertionError(fault)


# -- contexts


def test_words_around_a_link() -> None:
    text = "nye mbili thathu e[Goli]ni, nne hlanu"
    assert found(linked(text), words=3) == [("mbili thathu e", "Goli", "ni, nne hlanu")]
    assert found(linked(text), words=0) == [("", "Goli", "")]
    assert found(linked("[A]")) == [("", "A", "")]


def test_a_context_goes_on_in_the_paragraphs_around() -> None:
    paragraphs = (linked("1 2"), linked("3"), Paragraph(""), linked("[A]"), linked("4 5"), linked("6"))
    assert found(*paragraphs, words=2) == [("2 3", "A", "4 5")]
    assert found(*paragraphs) == [("1 2 3", "A", "4 5 6")]


def test_navigation_stands_for_itself() -> None:
    paragraphs = (linked("1"), linked("menu [A] x", "nav"), linked("2 [B]", "nav"), linked("3 [C] 4"), linked("5"))
    assert found(*paragraphs) == [("menu", "A", "x"), ("2", "B", ""), ("1 3", "C", "4 5")]


def test_of_words_without_end_a_context_has_a_part() -> None:
    [(before, _, after)] = found(linked("a" * 50_000 + "[A]" + "b" * 50_000), words=2)
    assert (before, after) == ("a" * 202, "b" * 202)


def test_no_titles_are_no_table(tmp_path: Path) -> None:
    """All links would be left out, as those to titles that there are not."""
    (tmp_path / "t").write_bytes(b"\n")
    assert len(load({"disambiguations": str(tmp_path / "t")}, refused).disambiguations or ()) == 0
    with pytest.raises(FormatError, match="t:1: no titles"):
        load({"titles": str(tmp_path / "t")}, refused)


def test_lines_that_can_be_no_titles_are_told_and_left_out(tmp_path: Path) -> None:
    bad = ["7\tDurban", "A [b]", "{a}", "a|b", "<a", "a>", "a\x01", "a\x7f", "a" * 256, "é" * 128, "a\udcff"]
    good = ["Durban", "Isi-Zulu: (i)", "é" * 127, "a" * 255]
    path, told = tmp_path / "t", list[FormatError]()
    path.write_bytes("\n".join([good[0], "", *bad, *good[1:]]).encode("utf-8", "surrogateescape"))
    titles = load({"titles": str(path)}, told.append).titles
    assert titles is not None
    assert len(titles) == len(good)
    assert all(title in titles for title in good)
    assert [(one.path, one.line) for one in told] == [(str(path), number) for number in range(3, 3 + len(bad))]
    assert str(told[0]) == f"{path}:3: '7\\tDurban' can be no title; left out"
    path.write_text("7\tDurban\n")
    with pytest.raises(FormatError, match="t:1: no titles"):
        load({"titles": str(path)}, told.append)


@given(st.lists(st.text("ab é\u2003", min_size=1, max_size=30), min_size=1, max_size=5), st.data())
def test_a_context_is_the_words_of_the_document(texts: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(texts) - 1))
    start = data.draw(st.integers(0, len(texts[place])))
    end = data.draw(st.integers(start, len(texts[place])))
    words = data.draw(st.integers(0, 12))
    paragraphs = [Paragraph(text) for text in texts]
    paragraphs[place] = Paragraph(texts[place], links=(Link(start, end, WIKI),))
    before = "\n".join((*texts[:place], texts[place][:start])).split()
    after = "\n".join((texts[place][end:], *texts[place + 1 :])).split()
    expected = (" ".join(before[max(0, len(before) - words) :]), texts[place][start:end], " ".join(after[:words]))
    assert found(*paragraphs, words=words) == [expected]


# -- lines


def test_a_line_has_eleven_columns_whatever_is_in_them() -> None:
    link = Link(0, 1, "u", Source("a\tb", " <b>\r\n x\u2028y</b>", 7, -1))
    document = Document("id", "https://a.example/\n", date="2024-01-01", charset="utf-8", place="f.warc:9+0")
    mention = Mention(Target("zu", "A b", fragment="c"), link, "A", "x", "", Paragraph("A", "list", "zul"), document)
    line = tsv(mention)
    assert line.endswith("\n")
    assert line[:-1].split("\t") == [
        "a b", WIKI + "A_b", "A", "<b> x y</b>", "x", "", "utf-8", "7", "", "f.warc:9+0", "https://a.example/"
    ]  # fmt: skip
    assert len(line.splitlines()) == 1
    row = json.loads(jsonl(mention))
    assert tuple(row)[:11] == COLUMNS
    assert (row["title"], row["fragment"], row["language"], row["kind"]) == ("A b", "c", "zul", "list")
    assert (row["address_at"], row["anchor_at"]) == (7, None)


def test_form_by_name() -> None:
    assert [form_of(name) for name in ("a.tsv.xz", "a.jsonl.gz", "a.json", "-", "a")] == [
        "tsv", "jsonl", "jsonl", "tsv", "tsv"
    ]  # fmt: skip


# -- what is looked at


@pytest.mark.parametrize(
    ("body", "url", "expected"),
    [
        (b"<a href=//en.WikiPedia.org>", "", True),
        ("<a href=//en.wikipedia.org>".encode("utf-16"), "", True),
        (b"<a href=/wiki/A>", "https://zu.wikipedia.org/", True),
        (b"<a href='http://en.wi&#107;ipe%64ia.org/'>", "", True),
        (b"<a href='//en.wikipedia&period;org'>", "", True),
        (b"//a.example&quot;", "", False),
        (b"<a href='http://a.example/?q=%20&amp;'>", "http://a.example/", False),
        (b"//" * 50_000 + b"x" * 50_000, "", False),
        (b'href="' * 50_000 + b"wikipedia", "", False),
        (b"href=" + b" " * 50_000 + b"wikipedia", "", False),
        (b"<a href=/>of Wikipedia</a> <script>a = '//en.wikipedia.org/wiki/A'</script>", "", False),
        (b"<a href=https://upload.wikimedia.org/wikipedia/commons/a.jpg>", "", False),
        (b"<a href=https://www.a.example%2F>", "", False),
        (b"<a HREF = https://secure.wikimedia.org/wikipedia/en/wiki/A>", "", True),
        (b"<script>a = '<a href=\"' + b</script><a href=//en.wikipedia.org>", "", True),
        (b"wikipedia" + b"href=&a" * 50_000, "", True),  # each has a thousand letters: looking costs more than parsing
    ],
)
def test_which_pages_are_read(body: bytes, url: str, expected: bool) -> None:
    assert may_link(body, url) is expected


PARTS = """<a href="|<a HREF = '|<a href=|<area title="'" href= "|<base href=|">|'>|>|">x</a>|</a>|<script>|</script>
<!--|-->|<title>|</title>|href="|"|'| |=|//en.wikipedia.org/|zu.Wikipedia.org/wiki/B|wiki/C|//en.wi&#107;ipe%64ia.org/
https://secure.wikimedia.org/wikipedia/en/D|//a.example/|&quot;|&amp;|x""".replace("\n", "|").split("|")


@given(*[st.lists(st.sampled_from(PARTS), max_size=8).map("".join)] * 3, st.sampled_from(["utf-8", "utf-16"]))
def test_no_page_with_links_is_passed_over(before: str, within: str, after: str, encoding: str) -> None:
    body = f"{before}<a {within} href=//en.wikipedia.org/{after}>x</a>".encode(encoding)
    page = read_page(body, "https://a.example/")
    if any(target_of(link.href, absolute("", page)) for link in page.links):
        assert may_link(body, page.url)


# -- choice

ROWS = {"Thekwini": "Durban", "Thekwini (meanings)": "Durban"}
TABLES = Tables(
    titles=Names(["Durban", "IGoli", "A"]),
    disambiguations=Names(["A", "Thekwini (meanings)"]),
    redirects=Titles((text_hash(title), target) for title, target in ROWS.items()),
    pages=Titles([(7, "Thekwini"), (8, "Category:X")]),
)


@pytest.mark.parametrize(
    ("target", "anchor", "expected"),
    [
        (Target("zu", "Thekwini"), "thekwini", "Durban"),
        (Target("zu", "Thekwini"), "durban", "Durban"),
        (Target("zu", page_id=7), "eThekwini", "Durban"),
        (Target("zu", page_id=9), "x", "number"),
        (Target("zu", page_id=8), "x", "namespace"),
        (Target("en", page_id=7), "x", "edition"),
        (Target("zu"), "x", "no_title"),
        (Target("zu", "Home", fragment="cite"), "1", "itself"),
        (Target("zu", "IGoli", revision="3"), "igoli", "version"),
        (Target("zu", "IGoli", action="edit"), "igoli", "action"),
        (Target("zu", "IGoli", fragment="x"), "igoli", "fragment"),
        (Target("zu", "A"), "A", "disambiguation"),
        (Target("zu", "Thekwini (meanings)"), "Thekwini", "disambiguation"),
        (Target("xh", "Home"), "Home", "Home"),
        (Target("zu", "B"), "B", "unknown"),
        (Target("zu", "IGoli"), "lapha", "dissimilar"),
        (Target("xh", "Anything"), "anything", "Anything"),
    ],
)
def test_choice(target: Target, anchor: str, expected: str) -> None:
    choice = LinkChoice(frozenset(("zu", "xh")), {"zu": TABLES}, similar=True, fragments=False)
    chosen = choice.of_document(WIKI + "Home")(target, anchor)
    if chosen is None:
        assert choice.dropped == {expected: 1}
    else:
        assert chosen.title == expected
        assert not choice.dropped


@pytest.mark.parametrize(
    ("anchor", "title", "expected"),
    [
        ("Albert Einstein", "Albert Einstein", True),
        ("EINSTEIN", "Albert Einstein", True),
        ("in Durban, then", "Durban (city)", True),
        ("Durban city", "Durban (city)", True),
        ("Ｄｕｒｂａｎ", "Durban", True),
        ("eGoli", "Goli", True),
        ("Johannesburg", "IGoli", False),
        ("here", "Durban", False),
        ("", "Durban", False),
        ("…", "!!!", False),
    ],
)
def test_anchors_and_titles_that_are_alike(anchor: str, title: str, expected: bool) -> None:
    assert alike(anchor, title) is expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://zu.m.wikipedia.org/wiki/A", True),
        ("https://www.wikidata.org/", True),
        ("https://wikipedia.example.org/", True),
        ("https://mywikipedia.example/", False),
        ("https://a.example/wikipedia", False),
        ("http://[", False),
    ],
)
def test_documents_of_wikimedia(url: str, expected: bool) -> None:
    assert of_wikimedia(url) is expected


# -- tables


@given(st.dictionaries(st.integers(0, 2**64 - 1), st.text(st.characters(exclude_characters="\n", codec="utf-8"))))
def test_titles_are_a_dictionary(expected: dict[int, str]) -> None:
    titles = Titles(expected.items())
    assert len(titles) == len(expected)
    assert {key: titles.get(key) for key in expected} == expected
    assert titles.get(next(key for key in range(len(expected) + 1) if key not in expected)) is None


def test_of_a_number_that_comes_twice_the_first_title_counts() -> None:
    titles = Titles((place * 7919 % 10, str(place)) for place in range(1000))
    assert [titles.get(place * 7919 % 10) for place in range(10)] == list("0123456789")


@given(st.sets(st.text()), st.text())
def test_names_are_a_set(names: set[str], other: str) -> None:
    known = Names(names)
    assert all(name in known for name in names)
    assert (other in known) is (other in names)


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_tables_of_files(tmp_path: Path, suffix: str) -> None:
    contents = {
        "titles": "\ufeffDurban\r\nIGoli\n\nNew_York\n",
        "redirects": "Durban\tThekwini|eThekwini\nIGoli\tGoli\n",
        "pages": "7\tDurban\n",
    }
    paths = {}
    for name, content in contents.items():
        paths[name] = str(tmp_path / f"{name}{suffix}")
        with open_output(paths[name]) as out:
            out.write(content.encode())
    tables = load(paths, refused)
    assert tables.titles is not None
    assert [name in tables.titles for name in ("Durban", "IGoli", "New York", "New_York", "")] == [True] * 3 + [
        False
    ] * 2
    assert [tables.followed(name) for name in ("Thekwini", "eThekwini", "Goli", "X")] == [
        "Durban",
        "Durban",
        "IGoli",
        "X",
    ]
    assert (tables.title_of_page(7), tables.title_of_page(8)) == ("Durban", "")
    assert tables.disambiguations is None
    assert Tables().followed("X") == "X"


@pytest.mark.parametrize(
    ("kind", "row"), [("redirects", "no tab"), ("pages", "x\tA"), ("pages", "1"), ("pages", "²\tA")]
)
def test_tables_that_are_none(tmp_path: Path, kind: str, row: str) -> None:
    (tmp_path / "t").write_text(f"1\tA\n{row}\n")
    with pytest.raises(FormatError, match="t:2: no "):
        load({kind: str(tmp_path / "t")}, refused)


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    with open_output(str(tmp_path / "t.gz")) as out:
        out.write(b"Durban\n" * 10_000)
    (tmp_path / "t.gz").write_bytes((tmp_path / "t.gz").read_bytes()[:-10])
    with pytest.raises(FormatError):
        load({"titles": str(tmp_path / "t.gz")}, refused)


# -- dumps

PAGE = r"""-- MySQL dump 10.19  Distrib 10.3.38-MariaDB
DROP TABLE IF EXISTS `page`;
CREATE TABLE `page` (
  `page_id` int(8) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL DEFAULT 0,
  `page_title` varbinary(255) NOT NULL DEFAULT '',
  `page_random` double unsigned NOT NULL DEFAULT 0,
  `page_lang` varbinary(35) DEFAULT NULL,
  PRIMARY KEY (`page_id`),
  UNIQUE KEY `page_name_title` (`page_namespace`,`page_title`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
/*!40000 ALTER TABLE `page` DISABLE KEYS */;
"""
INSERT = (
    r"INSERT INTO `page` VALUES (1,0,'A',0.5,NULL),(2,0,'O\'Neil_(x),_\"y\"\\',1e-05,'zu'),(3,-1,'C''est;',0.1,NULL);"
)
WANTED = ("page_title", "page_id")


def read(text: str, columns: Sequence[str] = WANTED) -> list[tuple[str, ...]]:
    return list(rows(iter(text.encode().split(b"\n")), "page", columns))


def test_rows_of_a_dump() -> None:
    assert read(PAGE + INSERT) == [("A", "1"), ('O\'Neil_(x),_"y"\\', "2"), ("C'est;", "3")]
    assert read(PAGE + INSERT, ["page_namespace", "page_lang"]) == [("0", "NULL"), ("0", "zu"), ("-1", "NULL")]
    lines = (PAGE + INSERT).encode().split(b"\n")
    for dump, expected in ((lines, "page"), ([b"-- nothing"] * 200 + lines, "")):
        table, again = table_of(iter(dump))
        assert (table, list(again)) == (expected, dump)


def test_rows_may_stand_in_lines_of_their_own() -> None:
    assert read(PAGE + INSERT.replace("VALUES ", "VALUES\n").replace("),(", "),\n(")) == read(PAGE + INSERT)
    assert read(PAGE + INSERT + "\n" + INSERT) == read(PAGE + INSERT) * 2
    assert read(PAGE + INSERT.replace("page", "other") + "\n" + INSERT) == read(PAGE + INSERT)


def test_rows_with_the_columns_that_they_name() -> None:
    insert = "INSERT INTO `page` (`page_title`, `page_id`) VALUES\n(_binary 'A' , 1),\n(0x42c3a9, 2),\n(0x4, 3);"
    assert read(insert) == [("A", "1"), ("Bé", "2"), ("0x4", "3")]


@pytest.mark.parametrize(
    "text",
    [
        INSERT,
        PAGE + INSERT[:-20],
        PAGE + "INSERT INTO `page` VALUES (1,0,'A',0.5);",
        PAGE + "INSERT INTO `page` VALUES (1,0,'A,0.5,NULL),",
        PAGE + "INSERT INTO `page` VALUES (1,0,'A',0.5,NULL)",
        PAGE + "INSERT INTO `page` VALUES (1,0,'" + "\\'" * 100_000,
        PAGE + "INSERT INTO `page` VALUES " + "(" * 100_000,
        "INSERT INTO `page` (`page_id`, `page_id`, `page_title`) VALUES (1,2,'A');",
    ],
)
def test_what_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        read(text)


_WRITTEN = {"\\": r"\\", "'": r"\'", '"': r"\"", "\n": r"\n", "\r": r"\r", "\0": r"\0", "\x1a": r"\Z"}


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=5))
def test_any_text_survives_a_dump(titles: list[str]) -> None:
    def written(text: str) -> str:
        return "".join(_WRITTEN.get(letter, letter) for letter in text)

    insert = ",".join(f"({number},0,'{written(title)}',0.5,NULL)" for number, title in enumerate(titles))
    assert read(f"{PAGE}INSERT INTO `page` VALUES {insert};") == [
        (title, str(number)) for number, title in enumerate(titles)
    ]
