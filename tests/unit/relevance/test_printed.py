"""What is printed above a text of its date and author: what counts, and what must not."""

import pytest

from relevance.pages.blocks import Block
from relevance.pages.months import month_of
from relevance.pages.page import read_page
from relevance.pages.printed import MOST_LETTERS, MOST_LINES, printed_day
from relevance.pages.publication import PRINTED, Publication, date_in

URL = "https://www.a.example/izindaba/1"
TITLE = "Umfula uchichimile eThekwini"
TEXT = "Imvula enkulu ine ebusuku bonke, kwathi ekuseni umfula wawususichichimile emigwaqweni emikhulu yedolobha. " * 2


def said(*around: str, url: str = URL, captured: str = "2024-07-01T00:00:00Z") -> Publication:
    """Of a page with these lines behind its title; a line `^ …` stands before it, `$ …` behind the text."""
    before = "".join(f"<div>{line[2:]}</div>" for line in around if line.startswith("^ "))
    after = "".join(f"<div>{line[2:]}</div>" for line in around if line.startswith("$ "))
    behind = "".join(f"<div>{line}</div>" for line in around if line[:2] not in ("^ ", "$ "))
    html = f"<title>{TITLE}</title><div>{before}<h1>{TITLE}</h1>{behind}<p>{TEXT}</p><p>{TEXT[:150]}</p>{after}</div>"
    return read_page(html.encode(), url, captured=captured).publication


@pytest.mark.parametrize(
    "line",
    [
        "12 May 2023",
        "May 12, 2023",
        "12th of May, 2023",
        "Friday, 12 May 2023 at 10:20 a.m.",
        "2023-05-12 10:20",
        "2023/05/12",
        "12.05.2023",
        "NgoMeyi 12, 2023",
        "12 kuNhlaba 2023",
        "ngoLwesihlanu, 12 uNhlaba 2023",
        "Ishicilelwe ngo 12 Meyi 2023",
        "12 uCanzibe 2023",
        "12 Mei 2023",
        "12 Motsheganong 2023",
        "Labotlhano 12 Motsheganong 2023",
        "Ibhalwe nguThandi Dlamini ngoLwesine, 12 Meyi 2023",
        "12 de mayo de 2023",
        "12 maja 2023",
        "News | 12 May 2023 | 3 comments",
        "Published: 12 May 2023",
        "Posted on 12 May 2023 by admin",
        "By Thandi Dlamini on 12 May 2023",
        "Published 12 May 2023 / Updated 14 May 2023",
        "^ 12 May 2023",
        "^ <h2>Friday, 12 May 2023</h2>",
        "$ First published on 12 May 2023",
    ],
)
def test_day_above_the_text(line: str) -> None:
    found = said(line)
    assert (found.published, found.published_from) == ("2023-05-12", PRINTED)


@pytest.mark.parametrize(
    "lines",
    [
        ["5/6/2023"],  # of May or of June?
        ["Updated 12 May 2023"],
        ["Last updated", "12 May 2023"],
        ["^ Last updated", "^ 12 May 2023"],
        ["Kubuyekezwe | 12 Meyi 2023"],
        ["Deadline: 12 May 2023"],
        ["Venue and date:", "12 May 2023"],
        ["12 - 14 May 2023"],
        ["May 12 to 14, 2023"],
        ["12 May 2023 - 14 May 2023"],
        ["12 May 2023, 10:00 - 12:00"],
        ["The council meets on 12 May 2023"],
        ["12 May 2023 was a Friday, wasn't it?"],
        ["12 Phupu 2023"],  # July in Sesotho, June in Sepedi
        ["31 June 2023"],
        ["12 May 1985"],
        ["12 May 2025"],  # was to come
        ["12 May 2023", "13 June 2023"],
        ["$ 12 May 2023"],  # of something else
        ["$ Published on 12 May 2023", "$ Published on 13 June 2023"],
        ["12 May 2023" + " ." * MOST_LETTERS],
        ["Closing date", "12 May 2023"],
        ["Usuku lokuvala", "12 Meyi 2023"],
        ["Wazalwa", "12 Meyi 1992"],
        ["Sluitingsdatum", "12 Mei 2023"],
        ["Kick-off: 15:00", "12 May 2023"],
        ["Release Date", "12 May 2023"],  # as names of people are written
        ["Date Of Judgment", "12 May 2023"],
        ["Last Reviewed", "12 May 2023"],
        ["12 Meyi 2023 Yini?"],
        ["Usuku lokugcina lokufaka izicelo", "12 Meyi 2023"],
        ["Last Day To Apply | 12 May 2023"],
        ["Closing Date | 12 May 2023"],
        ["File photo | 12 May 2023"],
        ["Released: 12 May 2023"],
        ["Laas Opgedateer", "12 Mei 2023"],
        ["<table><tr><th>Born</th><td>12 May 1992</td></tr></table>"],
        ["12 May 1994 – Nelson Mandela is sworn in"],
        ["Another story is told here | 12 May 2023"],
        ["<a href=/x>Another story is told here</a>", "12 May 2023"],
        ["^ Another story", "^ 12 May 2023"],
        ["^ Another story is told here", "^ 12 May 2023"],
        ["^ <a href=/x>Another story is told here</a>", "^ 12 May 2023"],
        ["<h2>Enye indaba</h2>", "12 May 2023"],
        ["<a href=/x>Ikhaya</a>", "<h2>Okunye</h2>", "<a href=/y>Emakhaya</a>", "12 May 2023"],
        ["$ Posted on 12 May 2023"],  # by somebody who answers
        ["$ <h3>Enye indaba</h3>", "$ Published on 12 May 2023"],
        ["$ <ul><li>Incwadi: Published 12 May 2003</li></ul>"],
    ],
)
def test_no_day_rather_than_a_wrong_one(lines: list[str]) -> None:
    found = said(*lines)
    assert (found.published, found.published_from) == ("", "")


def test_what_markup_and_address_say_goes_before() -> None:
    html = (
        f"<title>{TITLE}</title><meta name=pubdate content=2023-05-11><h1>{TITLE}</h1><p>13 May 2023</p><p>{TEXT}</p>"
    )
    found = read_page(html.encode(), URL, captured="").publication
    assert (found.published, found.published_from) == ("2023-05-11", "")
    found = said("13 May 2023", url="https://a.example/2023/05/12/umfula")
    assert (found.published, found.published_from) == ("2023-05-12", "")


def test_the_readers_day_in_the_head_of_a_site_is_not_the_articles() -> None:
    for today in ("2024-07-01", "30 June 2024", "Tuesday, July 2, 2024"):
        assert said(f"^ {today}").published == ""
        assert said(f"^ {today}", "12 May 2023").published == "2023-05-12"
    assert said("1 July 2024").published == "2024-07-01"
    assert said("^ 29 June 2024").published == "2024-06-29"
    assert said("^ Published on 1 July 2024").published == "2024-07-01"
    assert said("^ 12 May 2023", captured="").published == "2023-05-12"


@pytest.mark.parametrize(
    "before",
    [
        "Thandi Dlamini",
        "PTI, Pretoria,",
        "By THANDI dlamini",
        "Umbhali: www.a.example",
        "Media statement",
        "Umfula wonke nemigwaqo kuvaliwe namuhla",
        "THE LAST DAY OF IT",
        "<a href=/ezemidlalo>Ezemidlalo</a>",
        "2 min read",
        "Emakhaya | Ezemidlalo",
    ],
)
def test_a_day_under_what_is_no_label(before: str) -> None:
    assert said(before, "12 May 2023").published == "2023-05-12"


def test_the_way_to_a_page_is_no_title_of_another() -> None:
    way = f"^ <a href=/x>Ikhaya</a> > <a href=/y>Izindaba zonke zakithi</a> > {TITLE}"
    assert said(way, "^ 12 May 2023").published == "2023-05-12"
    assert said(f"^ {TITLE}", "^ <a href=/x>Ikhaya</a>", "^ 12 May 2023").published == "2023-05-12"
    assert said("Ikhaya > Izindaba > 12 May 2023").published == "2023-05-12"


@pytest.mark.parametrize("mark", ["–", "--", "|"])
def test_a_paragraph_that_begins_with_its_day(mark: str) -> None:
    assert said(f"<p>12 May 2023 {mark} {TEXT}</p>").published == "2023-05-12"
    assert said(f"<p>12 May 2023 was a Friday {mark} {TEXT}</p>").published == ""
    assert said(f"<p>27 April 1994 {mark} {TEXT}</p><p>10 May 1994 {mark} {TEXT}</p>").published == ""  # a history


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("13/5/2023", "2023-05-13"),
        ("5/13/2023", "2023-05-13"),
        ("12/12/2023", "2023-12-12"),
        ("5/6/2023", ""),
        ("5.6.2023", "2023-06-05"),
        ("13.13.2023", ""),
    ],
)
def test_days_in_digits(line: str, day: str) -> None:
    assert said(line).published == day


@pytest.mark.parametrize(("between", "told"), [(5, "2023-05-12"), (6, "")])
def test_so_far_behind_a_title_a_day_stands(between: int, told: str) -> None:
    assert said(*["<a href=/x>Ezemidlalo</a>"] * between, "12 May 2023").published == told


def test_what_is_said_to_be_the_publication_goes_before_a_mere_date() -> None:
    assert said("10 May 2023", "Published: 12 May 2023").published == "2023-05-12"


def test_dates_of_teasers_are_not_the_pages() -> None:
    html = f"<title>{TITLE}</title><h2>Enye indaba</h2><p>10 May 2023</p><h1>{TITLE}</h1><p>{TEXT}</p><p>{TEXT}</p>"
    html += "<h2>Okunye</h2><p>9 May 2023</p>"
    assert read_page(html.encode(), URL, captured="").publication.published == ""


def test_start_pages_and_lists_have_none() -> None:
    assert said("12 May 2023", "By Thandi Dlamini", url="https://a.example/") == Publication(title=TITLE)
    assert said("12 May 2023", url="https://a.example/tag/umfula").published == ""


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("By Thandi Dlamini", "Thandi Dlamini"),
        ("BY: Thandi Dlamini | 12 May 2023", "Thandi Dlamini"),
        ("Written by Thandi Dlamini, MS, RD on November 14, 2019", "Thandi Dlamini"),
        ("By Thandi Dlamini and Sipho Zulu", "Thandi Dlamini; Sipho Zulu"),
        ("NguThandi Dlamini", "Thandi Dlamini"),
        ("Ngu-Thandi Dlamini", "Thandi Dlamini"),
        ("Ibhalwe nguThandi Dlamini ngoLwesine, 12 Meyi 2023", "Thandi Dlamini"),
        ("Deur Piet van der Merwe", "Piet van der Merwe"),
        ("By the numbers", ""),
        ("By Our Own Reporter", ""),
        ("By Staff Writer", ""),
        ("Photo by Thandi Dlamini", ""),
        ("By signing up you agree", ""),
        ("By Umphakathi News", ""),
        ("By Thandi Dlamini who was there when it rained", ""),
        ("By Thandi Dlamini, Sipho Zulu and Piet Retief", "Thandi Dlamini; Sipho Zulu; Piet Retief"),
        ("By Thandi Dlamini, Sipho Zulu, and Piet Retief", "Thandi Dlamini; Sipho Zulu; Piet Retief"),
        ("By Thandi Dlamini & Sipho Zulu", "Thandi Dlamini; Sipho Zulu"),
        ("By Thandi Dlamini, Cape Town", ""),
        ("By Sipho Zulu For The Star", ""),
        ("By Most Recent", ""),
        ("By City Of Johannesburg", ""),
        ("Published by Penguin Random House", ""),
        ("Published by Thandi Dlamini", ""),
        ("Ka Lerato Mokoena", "Lerato Mokoena"),
        ("Ka Labone La Bobedi", ""),
        ("Nga Mudyaxihi Lowu", ""),
        ("^ By Thandi Dlamini", "Thandi Dlamini"),
    ],
)
def test_author_above_the_text(line: str, author: str) -> None:
    assert said(line).author == author


def test_authors_of_teasers_are_not_the_pages() -> None:
    assert said("^ Another story", "^ By Thandi Dlamini").author == ""
    assert said("<a href=/x>Another story is told here</a>", "By Thandi Dlamini").author == ""
    assert said(f"^ By Thandi Dlamini | {TEXT}").author == ""


def test_day_in_an_address_with_the_name_of_the_month() -> None:
    assert date_in("https://a.example/2023/may/12/umfula") == "2023-05-12"
    assert date_in("https://a.example/2023/abc/12/umfula") == ""
    assert date_in("https://a.example/2023/mag/12/umfula") == ""  # the twelfth magazine, or in Italian of May?


@pytest.mark.parametrize(
    ("name", "month"),
    [
        ("ngo-Septhemba", 9),
        ("langoMashi", 3),
        ("kuMasingana", 1),
        ("iNhlaba", 6),
        ("uNhlaba", 5),
        ("kweyoKwindla", 3),
        ("ngeyoMsintsi", 9),
        ("eyeSilimela", 6),
        ("N’wendzamhala", 12),
        ("Sept.", 9),
        ("hlakola", 0),
        ("listopada", 0),
        ("listopadu", 11),
        ("", 0),
        ("ku", 0),
    ],
)
def test_months(name: str, month: int) -> None:
    assert month_of(name) == month


@pytest.mark.parametrize(("before", "told"), [(MOST_LINES - 1, "2023-05-12"), (MOST_LINES, "")])
def test_so_many_lines_are_looked_at(before: int, told: str) -> None:
    lines = [Block("x", "short")] * before
    assert printed_day([*lines, Block("Published on 12 May 2023", "short")], TITLE) == told


@pytest.mark.parametrize(("before", "told"), [(MOST_LINES - 1, "2023-05-12"), (MOST_LINES, "")])
def test_in_so_many_lines_the_title_is_looked_for(before: int, told: str) -> None:
    lines = [*[Block("x", "short")] * before, Block(TITLE, "heading"), Block("12 May 2023", "short")]
    assert printed_day(lines, TITLE) == told


@pytest.mark.parametrize(("heading", "told"), [("Umfula uchich", "2023-05-12"), ("Umfula uchic", "")])
def test_so_long_a_part_of_a_title_is_it(heading: str, told: str) -> None:
    day = Block("12 May 2023", "short")
    assert printed_day([Block(heading, "heading"), day], TITLE) == told
    assert printed_day([Block(TITLE, "heading"), day], heading) == told
    assert printed_day([Block(heading, "heading"), day], heading) == "2023-05-12"


@pytest.mark.parametrize(("letters", "told"), [(MOST_LETTERS, "2023-05-12"), (MOST_LETTERS + 1, "")])
def test_so_long_a_line_may_be_a_date(letters: int, told: str) -> None:
    line = "News | 12 May 2023".rjust(letters, "x")
    assert printed_day([Block(TITLE, "heading"), Block(line, "short")], TITLE) == told
