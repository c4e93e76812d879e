"""Addresses and titles of Wikipedia."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.wikilinks.address import Target, address_of, target_of, title_of
from corpus.wikilinks.namespaces import is_article


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("https://zu.wikipedia.org/wiki/iGoli", Target("zu", "IGoli")),
        (" //zu.m.wikipedia.org/wiki/IsiZulu#Imvelaphi\n", Target("zu", "IsiZulu", fragment="Imvelaphi", mobile=True)),
        ("HTTP://WWW.Wikipedia.ORG./wiki/Durban", Target("en", "Durban")),
        ("https://user:pw@en.wikipedia.org:443/wiki/A", Target("en", "A")),
        ("https://en.%77ikipedia.org/wiki/A", Target("en", "A")),
        ("https://en.wiki\npedia.org/wiki/A", Target("en", "A")),
        ("http://en.wikipedia.org/wiki/index.html?curid=75960", Target("en", page_id=75960)),
        ("https://en.wikipedia.org/?curid=75960&title=X", Target("en", page_id=75960)),
        ("https://en.wikipedia.org/?curid=0&title=X", Target("en", "X")),
        ("https://en.wikipedia.org/?curid=٣&title=X", Target("en", "X")),
        ("https://en.wikipedia.org/w/index.php?title=A&title=B+c", Target("en", "B c")),
        ("https://en.wikipedia.org/w/index.php/Shaka?oldid=12", Target("en", "Shaka", revision="12")),
        ("https://en.wikipedia.org/w/index.php?title=A&diff=next&oldid=3", Target("en", "A", revision="3")),
        ("https://en.wikipedia.org/wiki/A?veaction=edit", Target("en", "A", action="edit")),
        ("https://en.wikipedia.org/wiki/A?title=B", Target("en", "A")),
        ("https://en.wikipedia.org/wiki/A+B", Target("en", "A+B")),
        ("https://en.wikipedia.org/wiki/C%23", Target("en", "C")),
        ("https://en.wikipedia.org/wiki/100%_Zulu", Target("en", "100% Zulu")),
        ("https://zh.wikipedia.org/zh-tw/PuTTY", Target("zh", "PuTTY", variant="zh-tw")),
        ("https://zh.wikipedia.org/w/index.php?title=A&variant=zh-hk", Target("zh", "A", variant="zh-hk")),
        ("https://en.wikipedia.org/zh-tw/PuTTY", Target("en")),
        ("https://en.wikipedia.org/static/logo.png", Target("en")),
        ("https://zu.wikipedia.org", Target("zu")),
        ("\x00 en.wikipedia.org/wiki/A ", Target("en", "A")),
        ("https://en.wikipedia.org/w/index.php?title=A&diff=next", Target("en", "A", revision="next")),
        ("zh-min-nan.wikipedia.org", Target("zh-min-nan")),
    ],
)
def test_what_an_address_leads_to(href: str, expected: Target) -> None:
    assert target_of(href) == expected


@pytest.mark.parametrize(
    "href",
    [
        "",
        "#top",
        "/wiki/A",
        "mailto:a@en.wikipedia.org",
        "ftp://en.wikipedia.org/wiki/A",
        "http://en.wikipedia.org@evil.example/wiki/A",
        "http://en.wikipedia.org.evil.example/wiki/A",
        "http://evilwikipedia.org/wiki/A",
        "http://en.wikipedia.com/wiki/A",
        "https://evil.example/?https://en.wikipedia.org/wiki/A",
        "https://meta.wikipedia.org/wiki/A",
        "https://ten.wikipedia.org/wiki/A",
        "https://a.b.wikipedia.org/wiki/A",
        "https://secure.wikimedia.org/wikipedia/meta/wiki/A",
        "http://[en.wikipedia.org/wiki/A",
        "\ud800",
    ],
)
def test_what_is_no_address_of_wikipedia(href: str) -> None:
    assert target_of(href) is None


def test_relative_addresses() -> None:
    assert target_of("/wiki/A#b", "https://zu.wikipedia.org/wiki/C") == Target("zu", "A", fragment="b")
    assert target_of("A", "https://zu.wikipedia.org/wiki/C") == Target("zu", "A")
    assert target_of("//xh.wikipedia.org/wiki/A", "http://a.example/") == Target("xh", "A")
    assert target_of("/wiki/A", "https://a.example/") is None


@pytest.mark.parametrize(
    ("written", "edition", "title"),
    [
        ("  Albert__Einstein_ ", "en", "Albert Einstein"),
        ("İ\u200eeGoli\xa0x", "zu", "İeGoli x"),
        ("cafe\u0301", "fr", "Café"),
        ("istanbul", "tr", "İstanbul"),
        ("istanbul", "en", "Istanbul"),
        ("ßa", "de", "ßa"),
        ("აბა", "ka", "აბა"),
        ("zis", "jbo", "zis"),
        (":A", "en", "A"),
        ("::A", "en", ""),
        ("::", "en", ""),
        ("a<b", "en", ""),
        ("[[A]]", "en", ""),
        ("..", "en", ""),
        ("A/../B", "en", ""),
        ("./A", "en", ""),
        ("A/.", "en", ""),
        ("A/.B/...", "en", "A/.B/..."),
        ("A%20B", "en", ""),
        ("A&eacute;", "en", ""),
        ("A&B; C", "en", ""),
        ("A & B;", "en", "A & B;"),
        ("A~~~", "en", ""),
        ("é" * 128, "en", ""),
        ("é" * 127, "en", "É" + "é" * 126),
        ("a" * 9_999_999, "en", ""),
        ("", "en", ""),
    ],
)
def test_titles(written: str, edition: str, title: str) -> None:
    assert title_of(written, edition) == title


@given(st.text(max_size=40), st.sampled_from(["zu", "en", "tr", "ka", "jbo", "zh-min-nan"]))
def test_the_address_of_a_title_leads_to_it(text: str, edition: str) -> None:
    title = title_of(text, edition)
    if title:
        assert title_of(title, edition) == title
        assert target_of(address_of(edition, title)) == Target(edition, title)


_PIECES = "http:// // en. m. wikipedia.org /wiki/ /w/index.php ? title= & curid= % E9 # [ ] @ : 9 \\ \0 \ud800"
_BASES = ["", "https://en.wikipedia.org/wiki/A", "x"]


def test_a_title_has_255_bytes_at_most() -> None:
    for most in ("A" * 255, "É" * 127 + "a"):
        assert title_of(most, "zu") == most
        assert title_of(most + "a", "zu") == ""


@given(st.lists(st.sampled_from(_PIECES.split()) | st.text(max_size=3), max_size=12), st.sampled_from(_BASES))
def test_any_string_is_an_address_or_none(pieces: list[str], base: str) -> None:
    found = target_of("".join(pieces), base)
    if found is not None and found.title:
        assert target_of(found.address) == Target(found.edition, found.title)


@pytest.mark.parametrize(
    ("title", "edition", "article"),
    [
        ("Durban", "zu", True),
        ("Category:Izilimi", "zu", False),
        ("template talk:X", "zu", False),
        ("Hamba:Kahle", "zu", True),
        ("Gebruiker:X", "af", False),
        ("Lêerbespreking:X", "af", False),
        ("2001: A Space Odyssey", "de", True),
        ("12:01 PM", "en", True),
        ("CSI:Miami", "en", True),
        ("Benutzer:X", "de", False),
        ("Bild : X", "de", True),
        ("de:Haus", "en", False),
        ("wikt:house", "en", False),
        ("Talk:", "de", False),
        ("Uyabuza:", "zu", True),
    ],
)
def test_which_titles_are_articles(title: str, edition: str, article: bool) -> None:
    assert is_article(title, edition) is article
