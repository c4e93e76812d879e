from pathlib import Path

import pytest

from relevance import Page, PageContext
from relevance.language.identification import Identifier
from relevance.language.model import load, shipped
from relevance.language.storage import packed
from relevance.learning import training
from relevance.learning.described import read_description
from relevance.learning.making import make
from relevance.steering.hints import NEITHER, OTHER, OURS, Hints
from relevance.steering.languagetags import TAGS, declared, is_tag_of
from seeds.crawl.languages import meant


@pytest.mark.parametrize(("language", "tag"), [("zul", "zu-ZA"), ("hau", "ha_NG"), ("yor", "YO"), ("kde", "kde")])
def test_a_page_declares_any_language_by_its_tag(language: str, tag: str) -> None:
    assert is_tag_of(tag, language)
    assert declared(Page("http://a.example/", html_lang=tag), PageContext(), language) == 1
    assert declared(Page("http://a.example/", html_lang="en"), PageContext(), language) == -1


@pytest.mark.parametrize("tag", ["isiZulu", " Zulu ", "zu.UTF-8", "zu;q=1", "mul, zu", "zu@x"])
def test_a_tag_that_is_written_otherwise_is_understood(tag: str) -> None:
    assert declared(Page("http://a.example/", html_lang=tag), PageContext(), "zul") == 1
    assert declared(Page("http://a.example/", html_lang=tag), PageContext(), "xho") == -1


@pytest.mark.parametrize("tag", ["und", "mul", "zxx", "x-default", "*", "{{ lang }}", "undefined", "null", "_", "-zu"])
def test_a_tag_that_says_no_language_declares_none(tag: str) -> None:
    page = Page("http://a.example/", html_lang=tag)
    assert declared(page, PageContext(), "zul") == declared(page, PageContext(content_language=tag), "zul") == 0
    assert declared(page, PageContext(content_language="zu"), "zul") == 1
    assert not is_tag_of(tag, "zul")
    assert Hints("zul", (), Identifier(shipped())).tag(tag) == NEITHER


def test_each_tag_means_one_language() -> None:
    assert len(TAGS) == len(set(TAGS.values())) == 184
    assert all(len(language) == 3 and len(tag) == 2 for language, tag in TAGS.items())
    assert all(meant(tag) == language for language, tag in TAGS.items()), "seed files read the same tags"


def test_a_url_names_the_language_that_is_wanted_but_few_others() -> None:
    hints = Hints("yor", (), Identifier(shipped()))
    urls = ("https://a.example/yo/1", "https://a.example/fr/1", "https://a.example/my/account", "https://a.example/1")
    assert [hints.url(url) for url in urls] == [OURS, OTHER, NEITHER, NEITHER]
    assert (hints.tag("yo-NG"), hints.tag("my"), hints.tag("x-default")) == (OURS, OTHER, NEITHER)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://a.example/x?lang=zu", OURS),
        ("https://a.example/x?a=1&lang=zu-ZA&b=2", OURS),
        ("https://a.example/x?zu", OURS),
        ("https://a.example/zu/x?lang=en", OTHER),
        ("https://a.example/x.php?id=12", NEITHER),
        ("https://a.example/zu/x.php?id=12&no=3", OURS),
        ("https://zu.a.example/x?de=", OURS),
    ],
)
def test_a_query_names_a_language_by_its_values(url: str, said: int) -> None:
    assert Hints("zul", (), Identifier(shipped())).url(url) == said


def test_a_link_is_named_as_the_model_has_it(tmp_path: Path) -> None:
    toml = """
        name = "x"
        [[source]]
        name = "s"
        [[class]]
        name = "amh"
        called = ["አማርኛ", "Amharic"]
        [[class]]
        name = "tir"
        called = ["Tigrinya"]
    """
    (tmp_path / "x.toml").write_text(toml)
    text: training.Corpus = {"amh": {"s": ["ሰላም ነው"]}, "tir": {"s": ["ሰላም እዩ"]}}
    (tmp_path / "x.model").write_bytes(packed(make(read_description(tmp_path / "x.toml"), text)))
    hints = Hints("amh", ("tir",), Identifier(load(tmp_path / "x.model")))
    assert hints.anchors(["አማርኛ", "In Amharic", "Tigrinya", "እዩ"]) == [OURS, OURS, NEITHER, NEITHER]
    assert [hints.url(f"https://a.example/{name}/1") for name in ("amharic", "tigrinya")] == [OURS, OTHER]
    assert Hints("amh", ("tir",), Identifier(shipped())).anchors(["አማርኛ"]) == [NEITHER]


@pytest.mark.parametrize(
    ("language", "anchor", "url"),
    [("por", "Português", "portugues"), ("sna", "ChiShona", "shona"), ("ces", "Čeština", "cesky"), ("pol", "PL", "pl")],
)
def test_a_link_is_named_after_the_language_as_it_names_itself(language: str, anchor: str, url: str) -> None:
    hints = Hints(language, (), Identifier(shipped()))
    assert hints.anchors([anchor, "x"]) == [OURS, NEITHER]
    assert hints.url(f"https://a.example/{url}/1") == OURS
