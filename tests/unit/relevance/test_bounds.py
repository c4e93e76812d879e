"""How much of a page is read: up to each bound all of it, behind it nothing."""

import json

import pytest

from relevance.pages.carried import PIECE, is_shown
from relevance.pages.linked_data import MOST_NODES
from relevance.pages.page import FULL, MAX_LINKS, Page, read_page

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
