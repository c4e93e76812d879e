"""References that name no character cost nothing but themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from seeds import feeds, sitemaps
from seeds.markup.references import mended
from seeds.survey.lists import import_files

EMOJI = "\U0001f600"
NOTHING = "\ufffd"
HOME = "https://a.test/"


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("&#55357;&#56832;", EMOJI),
        ("&#xD83D;&#xde00;", EMOJI),
        ("&#x00D83D;&#056832;", EMOJI),
        ("&#55000;&#55357;&#56832;&#57999;", f"\ud6d8{EMOJI}\ue28f"),
        ("&#xD83D;", NOTHING),
        ("&#56832;&#55357;", NOTHING * 2),
        ("&#1114112;&#x110000;&#99999999999;", NOTHING * 3),
        ("&#1114111;&#x10FFFF;&#0000065;&#x000041;", "&#1114111;&#x10FFFF;&#0000065;&#x000041;"),
        ("&#553570;&#xD83D0;&#5535;&amp;#55357;", "&#553570;&#xD83D0;&#5535;&amp;#55357;"),
        ("&#00000000000000000000", "&#00000000000000000000"),
    ],
)
def test_halves_are_put_together(told: str, meant: str) -> None:
    expected = b"a" + meant.encode("ascii", "xmlcharrefreplace") + b"b"
    assert mended(f"a{told}b".encode()) == expected


@pytest.mark.parametrize(
    ("told", "meant"), [("&#55357;&#56832;", EMOJI), ("&#xD800;", NOTHING), ("&#x110000;", NOTHING)]
)
def test_no_document_is_lost_for_one(told: str, meant: str, tmp_path: Path) -> None:
    item = f"<item><title>{told}</title><link>{HOME}{told}</link></item>"
    feed = f'<rss version="2.0"><channel><title>Izindaba{told}</title>{item}</channel></rss>'
    (entry,) = feeds.parse(feed.encode(), HOME, "application/rss+xml").entries
    assert (entry.title, entry.url) == (meant, HOME + meant)
    news = f'<n:news xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"><n:title>{told}</n:title></n:news>'
    sitemap = f"<urlset><url><loc>{HOME}1</loc>{news}</url><url><loc>{HOME}2</loc></url></urlset>"
    found = sitemaps.parse(sitemap.encode(), HOME).entries
    assert [one.loc for one in found] == [f"{HOME}1", f"{HOME}2"]
    assert found[0].news is not None
    assert found[0].news.title == meant
    listed = tmp_path / "list.opml"
    listed.write_text(f'<opml><body><outline text="{told}" xmlUrl="{HOME}feed"/></body></opml>')
    assert [(one.url, one.title) for one in import_files([listed])] == [(f"{HOME}feed", meant)]


def test_a_reference_means_the_same_in_every_encoding(tmp_path: Path) -> None:
    listed = tmp_path / "list.opml"
    text = f'<opml><body><outline text="é&#55000;" xmlUrl="{HOME}"/></body></opml>'
    listed.write_bytes(f'<?xml version="1.0" encoding="iso-8859-1"?>{text}'.encode("latin-1"))
    assert [one.title for one in import_files([listed])] == ["é\ud6d8"]


def test_json_may_name_half_a_character() -> None:
    half = b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "https://a.test/\\ud800"}], "title": ""}'
    (entry,) = feeds.parse(half, HOME, "application/json").entries
    assert entry.url == HOME + NOTHING
