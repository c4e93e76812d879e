"""Flags of kept pages, and caps on them."""

import random

from crawler.quality_caps import QualityCaps
from relevance.page import Block, Page
from relevance.policy import Verdict
from relevance.sample import sentences

HOST, OTHER = "http://a.example", "http://b.example"
KEPT = Verdict(True, "words_and_share", "zul", {}, 100)
BIBLE = "UNkulunkulu wathumela uJesu Kristu emhlabeni ukuba asindise abantu ezonweni zabo. " * 8


def page(text: str) -> Page:
    return Page(f"{HOST}/x", blocks=(Block(text, "main"),))


def texts(number: int) -> list[str]:
    rng = random.Random(7)
    return [sentences("zul", rng, 200) for _ in range(number)]


def test_a_page_like_an_earlier_one_of_its_host_is_flagged() -> None:
    caps, (text, other) = QualityCaps([], 0), texts(2)
    for authority, words, flags in (
        (HOST, text, set()),
        (HOST, other, set()),
        (HOST, text.replace(text.split()[50], "okunye", 1), {"near_duplicate"}),
        (OTHER, text, set()),
    ):
        verdict, found = caps.look(authority, page(words), KEPT, False)
        assert verdict == KEPT
        assert found is not None
        assert found.flags == flags


def test_beyond_the_cap_pages_of_the_host_are_left() -> None:
    caps = QualityCaps(["religious"], 2)
    reasons = [caps.look(HOST, page(f"{BIBLE} {text}"), KEPT, False)[0].reason for text in texts(3)]
    assert reasons == ["words_and_share", "words_and_share", "capped_religious"]
    verdict, found = caps.look(HOST, page(f"{BIBLE} iqiniso"), KEPT, False)
    assert (verdict.keep, verdict.words) == (False, 0)
    assert found is not None
    assert caps.look(OTHER, page(BIBLE), KEPT, False)[0].keep
    assert caps.look(HOST, page(texts(4)[3]), KEPT, False)[0].keep


def test_only_what_is_named_is_capped() -> None:
    caps = QualityCaps(["machine"], 1)
    assert all(caps.look(HOST, page(BIBLE), KEPT, False)[0].keep for _ in range(4))


def test_a_page_fetched_again_is_no_duplicate_of_itself() -> None:
    caps, (text,) = QualityCaps(["near_duplicate"], 1), texts(1)
    caps.look(HOST, page(text), KEPT, False)
    for _ in range(3):
        verdict, found = caps.look(HOST, page(text), KEPT, True)
        assert verdict.keep
        assert found is not None
        assert not found.flags


def test_pages_that_are_not_kept_are_not_looked_at() -> None:
    left = Verdict(False, "few_words")
    assert QualityCaps([], 0).look(HOST, page(BIBLE), left, False) == (left, None)
