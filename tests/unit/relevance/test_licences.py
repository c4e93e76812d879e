"""Licences of Creative Commons that a sentence says the page is under, and links to those of other things."""

import pytest

from relevance.pages.licences import licence_of
from relevance.pages.page import read_page

URL = "https://www.a.example/izindaba/1"
BY = "https://creativecommons.org/licenses/by/4.0/"
SA = BY.replace("by", "by-sa")
LINK = f'<a href="{BY}">Creative Commons Attribution 4.0 International License</a>'


def licence(html: str) -> str:
    return read_page(html.encode(), URL, captured="2024-07-01").publication.licence


@pytest.mark.parametrize(
    "html",
    [
        f"<p>This work is licensed under a {LINK}.</p>",
        f"<footer><div>© 2024 A. This article is licensed under a <span><b>{LINK}</b></span>. Republish it.</div>",
        f"<p>Except where otherwise noted, content on this site is licensed under a {LINK}.</p>",
        f"<p>This  work\nby <a href=/x>N Dube</a> is <i>licenced</i> under the {LINK}</p>",
        f"<li>Text is available under the {LINK}; additional terms may apply.</li>",
        f"<div>Hierdie werk is gelisensieer onder 'n {LINK}.</div>",
        f"<p>Dieses Werk ist lizenziert unter einer {LINK}.</p>",
        f"<p><a href={BY}deed.en><img></a><br>This story is published under {LINK}</p>",
        f"<div>© 2024 A<br>This article is published under the terms of the <a href={BY}>CC BY</a></div>",
        f"<p>This work is licensed under a {LINK}.</p><p>Photo: <a href={SA}>CC BY-SA</a></p>",
        f"<p>Photo: <a href={SA}>CC BY-SA</a></p><p>All blog posts on this site are licensed under {LINK}.</p>",
        f"<p>This work is licensed under a {LINK}.</p><p>This work is licensed under a <a href={BY}deed.en>CC</a></p>",
        f"<p><a href={BY}><img></a></p>\n<p>This work is licensed under a {LINK}.</p>",
        f"<figure><img></figure><p>This article is licensed under a {LINK}.</p>",
        f"<p>N <img></p><p>This work is licensed under a {LINK}.</p>",
        f"<div class=responsive><div class=photo-page><div><p>This work is licensed under a {LINK}.</p></div></div>",
        f"<p>This blog by N Dube is licensed under a {LINK}.</p>",
        f"<ul><li>This work is licensed under a {LINK}.</ul>",
        f"<h2>Izithombe</h2><h2>Video</h2><p>N</p><p>This article is licensed under a {LINK}.</p>",
        f"<h2>Video</h2><h2>Indaba</h2><p>This work is licensed under a {LINK}.</p>",
        f"<h1>Video</h1><p>This work is licensed under a {LINK}.</p>",
        f"<p>Text in this blog is licensed under the Creative Commons Attribution 4.0 licence (<a href={BY}>link</a>).",
    ],
)
def test_a_sentence_about_the_page(html: str) -> None:
    assert licence(html) == BY


def test_addresses_stay_as_they_are_written() -> None:
    capitals = BY.replace("creativecommons", "CreativeCommons")
    assert licence(f"<p>This work is licensed under <a href={capitals}>CC</a>") == capitals
    assert licence("<p>This work is licensed under <a href=//creativecommons.org/licenses/by-nd/3.0/za/>CC</a>") == (
        "https://creativecommons.org/licenses/by-nd/3.0/za/"
    )


@pytest.mark.parametrize(
    "html",
    [
        LINK,
        f"<p>This website by <a href=https://colorlib.com>Colorlib</a> is licensed under {LINK}.</p>",
        f"<details><summary>N</summary><p>This work is licensed under a {LINK}.</p></details>",
        f"<dialog open><p>This work is licensed under a {LINK}.</p></dialog>",
        f"<h3>Video</h3><p>This work is licensed under a {LINK}.</p>",
        f"<h3>Photos</h3><p>N</p> <p>This work is licensed under a {LINK}.</p>",
        f"<ol><li>Write this below your page:<li>This work is licensed under a {LINK}.</ol>",
        f"<footer>{LINK}</footer>",
        f"<p>Lightbox2 © L. Dhakar licensed under the {LINK}</p>",
        f"<p>This photo is licensed under a {LINK}.</p>",
        f"<p>The theme of this site is by N. It is licensed under a {LINK}.</p>",
        f"<p>This work is not licensed under a {LINK}.</p>",
        f"<p>Photos in this article are licensed under a {LINK}.</p>",
        f"<p>The photos on this site are licensed under a {LINK}.</p>",
        f"<p>This site uses icons that are licensed under a {LINK}.</p>",
        f"<p>This site by N, using icons, is licensed under a {LINK}.</p>",
        f"<p>This site is made with a theme licensed under a {LINK}.</p>",
        f"<p>This story by N with pictures is licensed under a {LINK}.</p>",
        f"<p>This article is published under our terms; its pictures under a {LINK}.</p>",
        f"<p>This article is published under our terms and its pictures under a {LINK}.</p>",
        f"<p>Except for articles, content on this site is available under a {LINK}.</p>",
        f"<p>This article is published under an open licence; Creative Commons: {LINK}.</p>",
        f"<p>The book is available under a {LINK}.</p>",
        f"<p>Photo: N Dube. This work is licensed under a {LINK}.</p>",
        f"<p><img src=a.jpg> This work is licensed under a {LINK}.</p>",
        f"<table><tr><td>This work is licensed under a {LINK}.</table>",
        f"<p>This work is licensed under terms of its own. Pictures: {LINK}.</p>",
        f"<p>This work is licensed under a <a href=/terms>licence</a></p><p>{LINK}</p>",
        f"<p>Photo: {LINK}. This work is licensed under terms of its own.</p>",
        f"<figure><figcaption>This work is licensed under a {LINK}</figcaption></figure>",
        f"<blockquote><p>This work is licensed under a {LINK}</p></blockquote>",
        f"<div class=comment-body><p>This work is licensed under a {LINK}</p></div>",
        f"<p>This work is licensed under a {LINK}</p><p>This work is licensed under a <a href={SA}>CC BY-SA</a></p>",
        f"<div class=wp-block-image><div>This work by N is licensed under a {LINK}</div></div>",
        f"<figure><img><figcaption>N</figcaption></figure> <p>This work is licensed under a {LINK}</p>",
        f"<p><img></p>\n<p>This work by N is licensed under a {LINK}</p>",
        f"<ol class=reply-list><li>This work is licensed under a {LINK}</ol>",
        f"<div class=responses><p>This work is licensed under a {LINK}</p></div>",
        f"<div class=example>This work is licensed under a {LINK}</div>",
        f"<p>Content from Wikipedia is available under {LINK}.</p>",
        f"<p>Source: Wiktionary. Text is available under {LINK}.</p>",
        f"<div class=signature>This work is licensed under a {LINK}.</div>",
        f"<p>This work is licensed under a <a class=bbc_link href={BY}>CC BY</a>.</div>",
        "<p>This work is licensed under a <a href=https://creativecommons.org/about/>licence</a>",
        f"<p>This work is licensed under {'a' * 700} {LINK}",
        f"<p>This work is licensed under {'<b></b>' * 200} {LINK}",
    ],
)
def test_other_links(html: str) -> None:
    assert licence(html) == ""


def test_what_the_markup_says_comes_first() -> None:
    assert licence(f"<p>This work is licensed under a {LINK}.</p><a rel=license href=/own>L</a>").endswith("/own")
    assert licence(f"<link rel=license href={SA}><p>This work is licensed under a {LINK}.</p>") == SA


@pytest.mark.parametrize(
    ("address", "known"),
    [
        (BY, "licenses/by/4.0"),
        ("http://www.creativecommons.org/licenses/by/4.0", "licenses/by/4.0"),
        (f"{BY}deed.en", "licenses/by/4.0"),
        (f"{BY}legalcode?x", "licenses/by/4.0"),
        ("//creativecommons.org/licenses/BY-NC-ND/2.5/za/deed.af", "licenses/by-nc-nd/2.5/za"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "publicdomain/zero/1.0"),
        ("https://creativecommons.org/licenses/", ""),
        ("https://creativecommons.org/licenses/by-xx/4.0/", ""),
        ("https://creativecommons.org/licenses/by/4.0/more/than/that", ""),
        ("https://a.example/?u=https://creativecommons.org/licenses/by/4.0/", ""),
        ("https://i.creativecommons.org/l/by/4.0/88x31.png", ""),
    ],
)
def test_addresses(address: str, known: str) -> None:
    assert licence_of(address) == known
