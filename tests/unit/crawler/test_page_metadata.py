"""What the metadata record of a page says of its languages."""

import json
import random

from crawler.focus import page_metadata
from relevance.pages.blocks import Block
from relevance.pages.page import Page
from relevance.steering.policies import make_policy
from relevance.steering.policy import PageContext
from tests.sample import sentences

URL = "https://a.example/news/1"


def test_it_tells_the_languages_block_by_block() -> None:
    texts = [sentences(language, random.Random(1), 40) for language in ("zul", "eng")]
    page = Page(URL, blocks=tuple(Block(text, "main") for text in texts))
    told = page_metadata(page, make_policy("yield", "zul").judge(page, PageContext()))
    blocks = json.loads(json.dumps(told["blocks"]))
    assert [block[:2] for block in blocks] == [["zul", 40], ["eng", 40]]
    assert all(0.9 < block[2] <= 1 for block in blocks)
