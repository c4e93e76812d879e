"""A page that a script draws, as tests put it together: an article, and what has it as data."""

import html
import json
from typing import Any

from relevance.pages.blocks import Block
from relevance.pages.page import read_page

URL = "https://www.a.example/izindaba/1"
TITLE = "Umfula ugcwele emuva kwezimvula"
FIRST = "Umfula omkhulu ugcwele ngemva kwezimvula ezine kakhulu izolo ebusuku, kusho abahlali bendawo."
SECOND = "Abafundi abaningi abafikanga esikoleni ngoba ibhuloho lisengaphansi kwamanzi namhlanje."
THIRD = "Umasipala uthe uzolungisa umgwaqo uma amanzi esehlile & ibhuloho selivuliwe <ngoLwesine>."
ARTICLE = (FIRST, SECOND, THIRD)
MARKUP = "".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in ARTICLE)
LONG = MARKUP * 3
"""More than a notice has."""


def article(**more: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "NewsArticle", "headline": TITLE, **more}


def linked(*tops: Any) -> str:
    data = (json.dumps(top).replace("</", "<\\/") for top in tops)
    return "".join(f'<script type="application/ld+json">{text}</script>' for text in data)


def state(top: Any, kind: str = "application/json") -> str:
    data = json.dumps(top).replace("<", "\\u003c").replace("&", "\\u0026")
    return f'<script id="__NEXT_DATA__" type="{kind}">{data}</script>'


def blocks(data: str, shown: str = "<div id=root></div>") -> tuple[Block, ...]:
    page = f"<title>{TITLE} - Izindaba</title><nav><a href=/>Ekhaya</a></nav><h1>{TITLE}</h1>{shown}{data}"
    return read_page(page.encode("utf-8", "surrogatepass"), URL).blocks


def texts(data: str, shown: str = "<div id=root></div>") -> list[str]:
    """Of the page's main text."""
    return [block.text for block in blocks(data, shown) if block.kind == "main" and not block.apart]
