"""What a page embeds, by its elements and styles."""

from __future__ import annotations

import pytest

from relevance import read_page
from relevance.pages.requisites import page_requisites, stylesheet_requisites

ELEMENTS = [
    ('<link rel="stylesheet" href=" a.css ">', ["a.css"]),
    ("<link rel='shortcut ICON' href=a.ico>", ["a.ico"]),
    ('<link rel=preload as=image href=a.png imagesrcset="b.png 1x, c.png 2x">', ["a.png", "b.png", "c.png"]),
    ("<link rel=canonical href=a><link rel=alternate hreflang=zu href=b><link rel=next href=c>", []),
    ("<script src=a.js></script><script>var a = 'url(b.js)'</script>", ["a.js"]),
    ('<img src=a.jpg srcset="b-1,2.jpg 300w,c.jpg 2x , d.jpg">', ["a.jpg", "b-1,2.jpg", "c.jpg", "d.jpg"]),
    ("<img src=data:image/gif;base64,AA data-src=a.jpg data-srcset='b.jpg 2x'>", ["a.jpg", "b.jpg"]),
    ("<picture><source srcset=a.webp><img src=a.webp></picture>", ["a.webp"]),
    ("<video src=a.mp4 poster=a.jpg><track src=a.vtt></video><audio src=a.mp3>", ["a.mp4", "a.jpg", "a.vtt", "a.mp3"]),
    ("<noscript><img src=a.png></noscript>", ["a.png"]),
    ("<svg><image href=a.png /><use xlink:href='#a' /><use href='b.svg#c' /></svg>", ["a.png", "b.svg#c"]),
    ("<input type=image src=a.gif><input src=b.gif>", ["a.gif"]),
    ("<table background=a.gif><td background=b.gif></table>", ["a.gif", "b.gif"]),
    ("<p style=\"background: url('a.png')\">", ["a.png"]),
    ("<style>@import 'a.css'; b { background: url(b.png) }</style>", ["a.css", "b.png"]),
    ("<a href=a.jpg>a</a><iframe src=b></iframe><embed src=c.pdf><object data=d.pdf></object>", []),
    (
        "<object data=a.svg type=image/svg+xml></object><embed type='video/mp4' src=b><iframe type=image/png src=c>",
        ["a.svg", "b"],
    ),
]


@pytest.mark.parametrize(("html", "found"), ELEMENTS)
def test_what_a_browser_fetches_to_show_a_page(html: str, found: list[str]) -> None:
    assert page_requisites(f"<!doctype html><body>{html}".encode()) == found


STYLES = [
    ("a { b: url(a.png) } c { d: url( \"b.png\" ), url('c.png') }", ["a.png", "b.png", "c.png"]),
    ("@import url(a.css); @IMPORT 'b.css' print; @import \"c.css\";", ["a.css", "b.css", "c.css"]),
    ("@font-face { src: url(a.woff2) format('woff2'), url(a.woff) }", ["a.woff2", "a.woff"]),
    ("/* url(a.png) */ b { c: url(b.png) } /* url(c.png)", ["b.png"]),
    ("a { b: url(data:image/png;base64,AA==) ; c: url(#d); e: url() }", []),
    (r"a { b: url(a\ b\29 .png) }", ["a b).png"]),
    ("a { b: url(ä.png) }", ["ä.png"]),
    (r"a { b: url(\1 x), url(\10fffe x), url(\0 x), url(\110000 x) }", ["\x01x", "\U0010fffex", "\ufffdx"]),
]


@pytest.mark.parametrize(("css", "found"), STYLES)
def test_what_a_style_sheet_names(css: str, found: list[str]) -> None:
    assert stylesheet_requisites(css.encode(), "text/css") == found


@pytest.mark.parametrize(
    "css", ["/*" * 500_000, "/*/" * 300_000, 'url("' * 200_000, "url(" * 200_000 + " " * 500_000, "@import " * 100_000]
)
@pytest.mark.timeout(20)
def test_none_takes_more_than_its_length(css: str) -> None:
    assert stylesheet_requisites(css.encode()) == []


@pytest.mark.parametrize("several", ["a," * 500_000, ", " * 500_000, "a b " * 300_000])
@pytest.mark.timeout(20)
def test_no_list_of_pictures_either(several: str) -> None:
    assert len(page_requisites(f"<img srcset='{several}'>".encode())) <= 1


def test_what_is_empty_in_xhtml_hides_nothing() -> None:
    html = b"<html><head><script src='a.js'/></head><body><img src='b.png'/></body></html>"
    assert page_requisites(html, "application/xhtml+xml") == ["a.js", "b.png"]


def test_frames_and_embedded_documents_are_links() -> None:
    html = (
        "<frameset><frame src=a title=Izindaba></frameset>",
        "<a href=a>b</a><iframe src=c title=Ividiyo></iframe><embed src=d.pdf><object data=e.pdf></object>",
        "<object data=a type='application/pdf'></object><object data=b.svg type=image/svg+xml></object>"
        "<embed src=c.swf type=application/x-shockwave-flash><embed src=d type='Text/HTML; charset=utf-8'>",
    )
    found = [[(link.href, link.text) for link in read_page(page.encode(), "https://a.example/").links] for page in html]
    assert found == [
        [("a", "Izindaba")],
        [("a", "b"), ("c", "Ividiyo"), ("d.pdf", ""), ("e.pdf", "")],
        [("a", ""), ("d", "")],
    ]
