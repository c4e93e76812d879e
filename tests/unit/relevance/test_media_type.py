"""The media type that an answer tells, and when it tells none."""

import pytest

from relevance import read_page
from relevance.pages.media_type import media_type


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("text/html", "text/html"),
        (" Text/HTML ; charset=utf-8", "text/html"),
        ("application/xhtml+xml;", "application/xhtml+xml"),
        ("text/html, text/html; charset=utf-8", "text/html"),
        ("text/html,charset=utf-8", "text/html"),
        ("text/plain;charset=x,text/html", "text/html"),
        ("text/html, */*", "text/html"),
        ('text/html; x="a, image/png"', "text/html"),
        ("image/png", "image/png"),
        ("text/html charset=utf-8", ""),
        ("text/html: charset=utf-8", ""),
        ("charset=utf-8", ""),
        ("html", ""),
        ("text/", ""),
        ("*/*", ""),
        ("", ""),
    ],
)
def test_the_type_is_what_browsers_take(header: str, told: str) -> None:
    assert media_type(header) == told


def test_plain_text_is_so_behind_a_comma_too() -> None:
    assert read_page(b"<p>x", "http://h/", "text/plain, text/plain; charset=utf-8").blocks[0].text == "<p>x"
