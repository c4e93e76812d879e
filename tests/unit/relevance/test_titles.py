"""Titles without the name of the site."""

from __future__ import annotations

import pytest

from relevance import read_page
from relevance.pages.titles import own_title

URL = "https://news.example/izindaba/1"
NEWS = "Umphakathi News"


def title(html: str, url: str = URL) -> str:
    return read_page(html.encode(), url, captured="2024-05-31").publication.title


@pytest.mark.parametrize("mark", [" | ", " - ", " – ", " — ", " » ", " « ", " · ", ": ", " / ", " :: ", " [", " ("])
def test_what_the_page_names_is_taken_from_before_a_mark(mark: str) -> None:
    whole = f"Izindaba zanamuhla{mark}{NEWS}"
    assert own_title(whole, ["Izindaba  Zanamuhla"], [], "") == "Izindaba zanamuhla"
    assert own_title(whole, [], ["Izindaba zanamuhla"], "") == "Izindaba zanamuhla"
    assert own_title(whole, [], [], "") == whole


@pytest.mark.parametrize("mark", [" | ", " - ", " – ", " » ", ": ", " :: "])
def test_or_from_behind_one_where_no_heading_says_so(mark: str) -> None:
    whole = f"{NEWS}{mark}Izindaba zanamuhla"
    assert own_title(whole, ["Izindaba zanamuhla"], [], "") == "Izindaba zanamuhla"
    assert own_title(whole, [], ["Izindaba zanamuhla"], "") == whole, "it may be the site's name"


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
    assert own_title(whole, [named], [named], "") == whole


def test_the_name_of_the_site_is_left_out() -> None:
    assert own_title(f"Izindaba | {NEWS}", [], [], NEWS) == "Izindaba"
    assert own_title(f"{NEWS.upper()} - Izindaba", [], [], NEWS) == "Izindaba"
    assert own_title(f"Izindaba | {NEWS}", [NEWS], [NEWS], NEWS) == "Izindaba"
    assert own_title(NEWS, [NEWS], [], NEWS) == NEWS
    assert own_title(f"Izindaba ze{NEWS}", [], [], NEWS) == f"Izindaba ze{NEWS}"
    assert own_title(f"| {NEWS}", [], [], NEWS) == f"| {NEWS}"


def test_a_page_without_a_title_has_what_it_names() -> None:
    assert own_title("", ["", " Izindaba\nzanamuhla "], ["Other"], NEWS) == "Izindaba zanamuhla"
    assert own_title("", [], ["Izindaba"], NEWS) == "Izindaba"
    assert own_title("", [], [], NEWS) == ""


def test_of_a_page() -> None:
    head = f"<title>Izindaba &amp; ezinye | {NEWS}</title><meta property=og:site_name content='{NEWS}'>"
    assert title(f"{head}<h1>{NEWS}</h1><h1>Izindaba &amp; <b>ezinye</b></h1>") == "Izindaba & ezinye"
    assert title(head) == "Izindaba & ezinye"
    assert title(head, "https://news.example/") == "Izindaba & ezinye", "a start page has a title, too"
    assert title("<meta name=twitter:title content=Izindaba><p>x</p>") == "Izindaba"
    assert read_page(head.encode(), URL).publication.title == "", "who does not ask does not pay"
