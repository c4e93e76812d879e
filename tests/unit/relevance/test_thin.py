import random

import relevance
from relevance.sample import sentences


def test_drawn_text_is_recognised():
    rng = random.Random(1)
    for language in ("zul", "xho", "nbl", "ssw", "sot", "eng", "afr", "ita"):
        assert relevance.codes([sentences(language, rng, 120)]) == [language]


def test_a_page_is_read_and_judged():
    text = sentences("zul", random.Random(2), 120)
    page = relevance.read_page(f'<html lang=zu><body><p>{text}</p><a href=" x ">y</a>'.encode(), "http://a.example/")
    assert page.html_lang == "zu"
    assert page.links[0].href == "x"
    for name in ("afriweb", "threshold", "yield"):
        assert relevance.make_policy(name, "zul").judge(page, relevance.PageContext()).keep
