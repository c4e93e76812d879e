"""Articles as frameworks leave them for a script to draw: in linked data, or in what their scripts go on from, where
another article is beside it. The forms are those of pages that Next 15 and Nuxt 3 have made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

_TAG = re.compile(r"<[^>]*>|\n")
_CHUNK = 7000
_LONG = 1024
"""Letters of a text that React gives a row of its own."""


def drawn(kind: int, title: str, paragraphs: list[bytes]) -> bytes:
    """A page's frame with its text as data; `kind`: any number."""
    make = _KINDS[kind % len(_KINDS)]
    return f'<div id="root"></div>{make(title, b"".join(paragraphs).decode())}'.encode()


def _linked_data(title: str, markup: str) -> str:
    """As publishers offer it to search engines: its text alone."""
    body = "\n".join(_TAG.sub("", paragraph) for paragraph in markup.splitlines())
    article = {"@context": "https://schema.org", "@type": "NewsArticle", "headline": title, "articleBody": body}
    return f'<script type="application/ld+json">{json.dumps(article)}</script>'


def _articles(title: str, markup: str) -> dict[str, Any]:
    other = "".join(reversed(markup.splitlines(keepends=True)))
    return {"post": {"title": title, "html": markup}, "more": [{"title": f"{title[::-1]} 0", "html": other * 2}]}


def _next_data(title: str, markup: str) -> str:
    state = in_script({"props": {"pageProps": _articles(title, markup)}})
    return f'<script id="__NEXT_DATA__" type="application/json">{state}</script>'


def _assigned(title: str, markup: str) -> str:
    state = in_script(_articles(title, markup))
    return f'<script>window.site={{"debug":false}};window.__INITIAL_STATE__ = {state};start(window.site)</script>'


def _nuxt_data(title: str, markup: str) -> str:
    return nuxt({"data": {"page": _articles(title, markup)}, "serverRendered": True})


def _rows(title: str, markup: str) -> str:
    return pushed(rows(["$", "main", None, {"children": ["$", "$L5", None, _articles(title, markup)]}]))


_KINDS: tuple[Callable[[str, str], str], ...] = (_linked_data, _next_data, _assigned, _nuxt_data, _rows)


def in_script(value: Any) -> str:
    """As JSON that may stand in a script, in ASCII, whatever the page says of its charset."""
    return json.dumps(value).replace("<", "\\u003c")


def nuxt(value: Any) -> str:
    data = in_script(flat(value))
    return (
        f'<script type="application/json" data-nuxt-data="nuxt-app" data-ssr="true" id="__NUXT_DATA__">{data}</script>'
    )


def flat(value: Any) -> list[Any]:
    """As devalue has it: all that there is in one list, in which objects and lists have places in it. What is the same
    object, and equal texts and numbers, have one place."""
    found: list[Any] = []
    places: dict[Any, int] = {}

    def place(one: Any) -> int:
        key = (type(one), id(one) if isinstance(one, dict | list) else one)
        if key not in places:
            places[key] = at = len(found)
            found.append(one)
            if isinstance(one, dict):
                found[at] = {name: place(part) for name, part in one.items()}
            elif isinstance(one, list):
                found[at] = [place(part) for part in one]
        return places[key]

    place(value)
    return found


def rows(page: Any) -> str:
    """As React sends it: the row 0 and what it names, long texts in rows whose length in bytes is told."""
    texts: list[str] = []

    def outlined(one: Any) -> Any:
        if isinstance(one, dict):
            return {name: outlined(part) for name, part in one.items()}
        if isinstance(one, list):
            return [outlined(part) for part in one]
        if isinstance(one, str) and len(one) >= _LONG:
            texts.append(one)
            return f"${len(texts) + 15:x}"
        return one

    model = outlined(page)
    long = "".join(f"{at:x}:T{len(text.encode()):x},{text}" for at, text in enumerate(texts, 16))
    return (
        '1:"$Sreact.fragment"\n5:I[9944,["162","static/chunks/app/page.js"],"default"]\n:HL["/a.css","style"]\n'
        f'0:{{"P":null,"b":"1","f":[["",["$","$1","c",{{"children":"$L4"}}]]]}}\n{long}4:{json.dumps(model)}\n6:null\n'
    )


def pushed(stream: str) -> str:
    chunks = [stream[at : at + _CHUNK] for at in range(0, len(stream), _CHUNK)]
    calls = "".join(f"<script>self.__next_f.push({in_script([1, chunk])})</script>" for chunk in chunks)
    return f"<script>(self.__next_f=self.__next_f||[]).push([0])</script>{calls}"
