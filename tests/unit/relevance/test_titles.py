"""Titles without the name of the site."""

from __future__ import annotations

import pytest

from relevance import read_page
from relevance.pages.titles import LONGEST, own_title

URL = "https://news.example/izindaba/1"
NEWS = "Umphakathi News"


def title(html: str, url: str = URL) -> str:
    return read_page(html.encode(), url, captured="2024-05-31").publication.title


@pytest.mark.parametrize("mark", [" | ", " - ", " – ", " — ", " » ", " « ", " · ", ": ", " / ", " :: ", " [", " ("])
def test_what_the_page_names_is_taken_from_before_a_mark(mark: str) -> None:
    whole = f"Izindaba zanamuhla{mark}{NEWS}"
    assert own_title(whole, ["Izindaba  Zanamuhla"], [], []) == "Izindaba zanamuhla"
    assert own_title(whole, [], ["Izindaba zanamuhla"], []) == "Izindaba zanamuhla"
    assert own_title(whole, [], [], []) == whole


@pytest.mark.parametrize("mark", [" | ", " - ", " – ", " » ", ": ", " :: "])
def test_or_from_behind_one_where_no_heading_says_so(mark: str) -> None:
    whole = f"{NEWS}{mark}Izindaba zanamuhla"
    assert own_title(whole, ["Izindaba zanamuhla"], [], []) == "Izindaba zanamuhla"
    assert own_title(whole, [], ["Izindaba zanamuhla"], []) == whole, "it may be the site's name"


@pytest.mark.parametrize(
    ("whole", "named"),
    [
        ("Izindaba zanamuhla", "Izindaba"),  # no mark between
        ("Izindaba", "Izindaba"),
        ("Izindaba", "Izindaba zanamuhla | News"),
        ("Ezinye | News", "Izindaba zanamuhla"),
        ("Ama | News", "Ama"),  # short
        ("News", ""),
        ("İzindaba | News", "i̇zindaba"),  # of another length in small letters
    ],
)
def test_else_it_is_as_it_stands(whole: str, named: str) -> None:
    assert own_title(whole, [named], [named], []) == whole


def test_the_name_of_the_site_is_left_out() -> None:
    assert own_title(f"Izindaba | {NEWS}", [], [], [NEWS]) == "Izindaba"
    assert own_title(f"{NEWS.upper()} - Izindaba", [], [], [NEWS]) == "Izindaba"
    assert own_title(f"Izindaba | {NEWS}", [NEWS], [NEWS], [NEWS]) == "Izindaba"
    assert own_title(NEWS, [NEWS], [], [NEWS]) == NEWS
    assert own_title(f"Izindaba ze{NEWS}", [], [], [NEWS]) == f"Izindaba ze{NEWS}"
    assert own_title(f"| {NEWS}", [], [], [NEWS]) == f"| {NEWS}"


@pytest.mark.parametrize("mark", ["::", "||", "--", ">>", "|", ":", "\u200f|\u200f", "- -"])
def test_with_all_the_marks_beside_it(mark: str) -> None:
    assert own_title(f"{NEWS} {mark} Izindaba", [], [], [NEWS]) == "Izindaba"
    assert own_title(f"Izindaba {mark} {NEWS}", [], [], [NEWS]) == "Izindaba"


def test_but_quotation_marks_that_are_two_stay() -> None:
    assert own_title(f"«Izindaba» zanamuhla | {NEWS}", [], [], [NEWS]) == "«Izindaba» zanamuhla"
    assert own_title(f"{NEWS}: «Izindaba»", [], [], [NEWS]) == "«Izindaba»"
    assert own_title(f"Izindaba » {NEWS}", [], [], [NEWS]) == "Izindaba"


def test_marks_of_other_scripts_and_letters_of_other_sizes() -> None:
    assert own_title("今日標題｜新聞", [], [], ["新聞"]) == "今日標題"
    assert own_title("عنوان الخبر - موقع", [], ["عنوان الخبر"], []) == "عنوان الخبر"
    assert own_title("Straßenbau | Große Straße", [], [], ["Große Straße"]) == "Straßenbau"
    assert own_title("Izindaba ze-Zulu", [], [], ["Zulu"]) == "Izindaba ze-Zulu"


def test_a_heading_that_is_all_of_the_title_says_that_the_name_belongs_to_it() -> None:
    assert own_title("Isolezwe: izindaba", [], ["Isolezwe: izindaba"], ["Isolezwe"]) == "Isolezwe: izindaba"


def test_where_the_rest_is_a_heading_too_the_first_level_one_may_be_the_name_of_the_site_or_a_part_of_it() -> None:
    for first in (NEWS, "Ezemidlalo"):
        whole = f"{first} | Izindaba zanamuhla"
        assert own_title(whole, [], [first], [], ["Okunye", "Izindaba zanamuhla"]) == whole
        assert own_title(whole, [], [first], [], ["Okunye"]) == first
    assert own_title(f"Izindaba | {NEWS}", [], ["Izindaba"], [NEWS], [NEWS]) == "Izindaba"


def test_long_titles_of_marks_take_no_longer_than_others() -> None:
    for marks in ("|" * 10**6, "| " * 10**6, " \u200f" * 10**6, ": - " * 10**6):
        assert own_title(f"x{marks}y{NEWS}", [], [], [NEWS]).endswith(NEWS)
        assert own_title(f"x {marks} {NEWS}", [], [], [NEWS]).startswith("x")


@pytest.mark.parametrize(("letters", "parted"), [(LONGEST, True), (LONGEST + 1, False)])
def test_in_a_title_without_end_no_name_is_looked_for(letters: int, parted: bool) -> None:
    """Each of hundreds would be held against all of it."""
    title = "Izindaba | " + "a" * (letters - 11)
    assert (own_title(title, ["Izindaba"], [], []) == "Izindaba") == parted


def test_a_page_without_a_title_has_what_it_names() -> None:
    assert own_title("", ["", " Izindaba\nzanamuhla "], ["Other"], [NEWS]) == "Izindaba zanamuhla"
    assert own_title("", [], ["Izindaba"], [NEWS]) == "Izindaba"
    assert own_title("", [], [], [NEWS]) == ""


def test_a_title_that_is_the_name_of_the_site_alone_is_no_title_where_the_page_names_another() -> None:
    """As of sites that have one `<title>`, or one og:title, for all their pages."""
    for whole in ("", NEWS, NEWS.upper()):
        assert own_title(whole, [NEWS], ["Izindaba zanamuhla"], [NEWS]) == "Izindaba zanamuhla"
        assert own_title(whole, [NEWS, "Izindaba zanamuhla"], [], [NEWS]) == "Izindaba zanamuhla"
        assert own_title(whole, [], [NEWS, "Izindaba zanamuhla", "Okunye"], [NEWS]) == (whole or "Izindaba zanamuhla")
        assert own_title(whole, [NEWS], [NEWS], [NEWS]) == (whole or NEWS)
    assert own_title(NEWS, [NEWS], ["Izindaba", "Ezemidlalo"], [NEWS]) == NEWS, "of several headings none"


def test_a_host_has_the_name_of_its_site_too() -> None:
    head = "<title>Umphakathi</title><meta property=og:title content=Umphakathi>"
    url = "https://www.umphakathi.co.za/izindaba/1"
    assert title(f"{head}<h1>Izindaba zanamuhla</h1>", url) == "Izindaba zanamuhla"
    assert title(f"{head}<h1>Izindaba zanamuhla</h1>") == "Umphakathi"
    assert title("<title>Izindaba zanamuhla | Umphakathi</title>", url) == "Izindaba zanamuhla"
    assert title("<title>Izindaba zanamuhla - umphakathi.co.za</title>", url) == "Izindaba zanamuhla"


def test_of_a_page() -> None:
    head = f"<title>Izindaba &amp; ezinye | {NEWS}</title><meta property=og:site_name content='{NEWS}'>"
    assert title(f"{head}<h1>{NEWS}</h1><h1>Izindaba &amp; <b>ezinye</b></h1>") == "Izindaba & ezinye"
    assert title(head) == "Izindaba & ezinye"
    assert title(head, "https://news.example/") == "Izindaba & ezinye", "a start page has a title, too"
    assert title(f"<title>{NEWS}: Izindaba</title><h1>{NEWS}</h1><h3>Izindaba</h3>") == f"{NEWS}: Izindaba"
    assert title("<meta name=twitter:title content=Izindaba><p>x</p>") == "Izindaba"
    assert read_page(head.encode(), URL).publication.title == "", "who does not ask does not pay"


@pytest.mark.parametrize("href", ["/", "https://news.example", "../", "/izindaba/", "//www.news.example/index.html"])
def test_a_heading_with_a_link_to_what_the_page_lies_in_is_the_name_of_a_site(href: str) -> None:
    for heading in (f"<h1><a href={href}>{NEWS}</a></h1>", f"<a href={href}><h1>{NEWS}</h1></a>"):
        assert title(f"<title>{NEWS}: Izindaba zanamuhla</title>{heading}<h3>Okunye</h3>") == "Izindaba zanamuhla"


@pytest.mark.parametrize("href", ["/izindaba/1", "#x", "", "https://other.example/izindaba", "http://["])
def test_with_one_to_the_page_itself_or_elsewhere_it_is_not(href: str) -> None:
    assert title(f"<title>Izindaba | {NEWS}</title><h1><a href='{href}'>Izindaba</a></h1>") == "Izindaba"


def test_of_a_heading_that_was_not_closed_nothing_is_taken() -> None:
    assert title(f"<title>Izindaba | {NEWS}</title>" + "<h1><div>Izindaba " * 400) == f"Izindaba | {NEWS}"
