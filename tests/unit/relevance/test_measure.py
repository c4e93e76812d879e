import json
import random

import pytest

from relevance.language.identification import Identifier
from relevance.language.model import shipped
from relevance.pages.blocks import Block
from relevance.pages.measure import MOST_BLOCKS, REMEMBERED, measure
from relevance.pages.page import Page
from relevance.steering.policies import make_policy
from relevance.steering.policy import PageContext
from tests.sample import sentences

ZULU, ENGLISH = (sentences(language, random.Random(3), 60) for language in ("zul", "eng"))


def test_languages_block_by_block() -> None:
    blocks = (Block(ENGLISH, "main"), Block("Ikhaya", "heading"), Block(ZULU, "main"), Block(ENGLISH, "nav"))
    found = measure(Page("http://a.example/", blocks=blocks), "zul", Identifier(shipped()))
    assert [block.language for block in found.blocks] == ["eng", "zul"]
    assert [block.words for block in found.blocks] == [60, 60]
    assert all(0.9 < block.score <= 1 for block in found.blocks)
    assert json.loads(json.dumps(found.blocks[1])) == ["zul", 60, found.blocks[1].score]


def test_a_block_without_words_ends_nothing() -> None:
    blocks = (Block("1 2 3 4 5 6", "main"), Block(ZULU, "main"), Block(ENGLISH, "list"))
    found = measure(Page("http://a.example/", blocks=blocks), "zul", Identifier(shipped()))
    assert (found.language, found.words, found.raw, found.total) == ("zul", 60, 60, 78)
    assert (found.by_language, found.share) == ({"zul": 60.0, "eng": 18.0}, 60 / 78)
    empty = measure(Page("http://a.example/", blocks=blocks[:1]), "zul", Identifier(shipped()))
    assert (empty.language, empty.words, empty.raw, empty.total, empty.share) == ("und", 0, 0, 0, 0.0)


def test_the_share_of_the_family_is_that_of_the_words_of_its_blocks() -> None:
    blocks = (Block(ENGLISH, "main"), Block(ZULU, "main"), Block(ZULU, "main"))
    found = measure(Page("http://a.example/", blocks=blocks), "zul", Identifier(shipped()))
    assert found.family_share == pytest.approx(2 / 3, abs=0.1)


def test_the_list_of_blocks_is_bounded_and_the_sums_are_not() -> None:
    page = Page("http://a.example/", blocks=(Block(ZULU, "main"),) * (MOST_BLOCKS + 50))
    found = measure(page, "zul", Identifier(shipped()))
    assert len(found.blocks) == MOST_BLOCKS
    assert found.words == 60 * (MOST_BLOCKS + 50)


def test_a_long_block_counts_with_all_its_words() -> None:
    page = Page("http://a.example/", blocks=(Block(sentences("zul", random.Random(4), 3000), "main"),))
    found = measure(page, "zul", Identifier(shipped()))
    assert abs(found.words - 3000) <= 60
    assert found.blocks[0].words == found.words


def test_a_block_of_five_words_is_judged_by_itself_and_shorter_ones_together() -> None:
    blocks = (Block("read more of the news", "main"), *[Block("izindaba zakamuva zabantu bakithi", "main")] * 2)
    found = measure(Page("http://a.example/", blocks=blocks), "zul", Identifier(shipped()))
    assert [(block.language, block.words) for block in found.blocks] == [("eng", 5), ("zul", 8)]


def test_words_in_a_table_of_numbers_count_once() -> None:
    numbers = "12 345 " * 800
    page = Page("http://a.example/", blocks=(Block(f"{numbers}{ZULU} {numbers}", "main"),))
    assert measure(page, "zul", Identifier(shipped())).words == 60


def test_every_policy_gives_the_blocks_on() -> None:
    page = Page("http://a.example/", html_lang="zu", blocks=(Block(ZULU, "main"),))
    for name in ("afriweb", "threshold", "yield", "all"):
        assert [block.language for block in make_policy(name, "zul").judge(page, PageContext()).blocks] == ["zul"]


def test_no_more_is_remembered_of_what_comes_again_than_that() -> None:
    """Nor after a single page that has more of it; and answers are those of a page that is met first."""
    identifier = Identifier(shipped())

    def menu(first: int, count: int) -> Page:
        blocks = tuple(
            Block(f"{number} ngiyabonga kakhulu ngosizo lwakho", "nav") for number in range(first, first + count)
        )
        return Page("http://a.example/", blocks=blocks)

    for first, count in (
        (0, REMEMBERED - 1),
        (REMEMBERED - 1, 1),
        (REMEMBERED, 1),
        (1, 3),
        (5, REMEMBERED + 1),
        (7, 9),
    ):
        assert measure(menu(first, count), "zul", identifier) == measure(
            menu(first, count), "zul", Identifier(shipped())
        )
        assert len(identifier.repeated) <= REMEMBERED


@pytest.mark.parametrize(("text", "kind"), [("Sawubona", "short"), ("Sawubona", "list"), ("Ikhaya lami", "nav")])
def test_the_policy_of_all_pages_with_words_keeps_those_with_few(text: str, kind: str) -> None:
    page = Page("http://a.example/", blocks=(Block(text, kind),))
    assert make_policy("all", "zul").judge(page, PageContext()).keep
    assert not make_policy("all", "zul").judge(page, PageContext(known=True)).keep
    assert not make_policy("all", "zul").judge(Page("http://a.example/"), PageContext()).keep
