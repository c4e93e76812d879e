"""Texts made to take long: each is worked through in a fraction of a second, and in hours where the work on one place
begins anew at the next."""

from collections.abc import Callable

import pytest

from corpus.anchors import place_links
from corpus.vertical.reading import read_vertical
from corpus.vertical.tokens import sentences, tokens
from relevance import Page

SIZE = 60_000


def _sentences(text: str) -> list[list[str]]:
    return [[span.form for span in sentence] for sentence in sentences(text, tokens(text))]


WORK: dict[str, Callable[[], object]] = {
    "letters between stops": lambda: _sentences("a." * 10_000),
    "underlines": lambda: _sentences("_" * 20_000),
    "nothing but closing signs": lambda: _sentences("x." + ")" * 80_000),
    "a tag's name without end": lambda: list(read_vertical([f"<doc {'a' * SIZE}>", "</doc>"])),
    "links without end": lambda: place_links(b"<a " * SIZE, None, Page("http://h/")),
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_ends_at_once(work: Callable[[], object]) -> None:
    work()


def test_closing_signs_go_with_their_sentence() -> None:
    assert _sentences('"Yebo.") Cha! ) Hhayi') == [['"', "Yebo", ".", '"', ")"], ["Cha", "!", ")"], ["Hhayi"]]
    assert _sentences(") Yebo") == [[")", "Yebo"]]


def test_a_reference_to_no_character_is_none() -> None:
    (document,) = read_vertical([f'<doc title="a&#{"1" * 5000};b&#98;">', "</doc>"])
    assert document.attributes["title"] == "a\ufffdbb"


def test_mail_addresses_are_one_token() -> None:
    assert _sentences("ku-x.y+z@a-b.co.za!") == [["ku-x.y+z@a-b.co.za", "!"]]
