"""What scripts go on from: where it stands in a page, and that nothing made to harm does."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.pages.states import MOST_LETTERS, MOST_TRIES, Script, joined, unflattened, values
from tests.unit.relevance.drawn import ARTICLE, FIRST, LONG, MARKUP, SECOND, TITLE, blocks, linked, state, texts
from tests.web.drawn import flat, in_script, nuxt, pushed, rows

POST = {"title": TITLE, "content": LONG}
OTHER = {"title": "Ezinye izindaba", "content": f"<p>{SECOND}</p>" * 40}
WHOLE = [*ARTICLE, *ARTICLE, *ARTICLE]


def code(text: str, kind: str = "") -> str:
    return f"<script{kind}>{text}</script>"


def literal(value: Any, quote: str = '"') -> str:
    """As scripts give it to JSON.parse."""
    text = json.dumps(value).replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"{quote}{text.replace('<', chr(92) + 'x3C')}{quote}"


def element(value: Any) -> Any:
    """A part of a page that React's server has drawn, whose script gets this."""
    return ["$", "main", None, {"children": ["$", "$L5", None, value]}]


def both(*articles: dict[str, Any]) -> str:
    return in_script({"routes": {"/": [*articles]}})


@pytest.mark.parametrize(
    "data",
    [
        code(f"window.__INITIAL_STATE__={both(POST)};(function(){{var s}}())"),
        code(f"window.__PRELOADED_STATE__ =\n  {both(POST)}\n"),
        code(f"var a={{b:1}},c=[2],state = {both(OTHER, POST)}, d = {{}}"),
        code(f"window.a = {both(OTHER)}; window.b = {both(POST)};"),
        code(f'var a={{"b":c,"d":{both(OTHER)}}};window.state={both(POST)}'),
        code(f'if(a=="["){{b=["]}}window.state={both(POST)}'),
        code(f"window.__APOLLO_STATE__ = JSON.parse({literal({'Post:1': POST})});"),
        code(f"window.__STATE__ = JSON.parse( {literal([{'x': '<' * 600}, POST], chr(39))} )"),
        code(f"globalThis.state={both(POST)}", " type=module"),
        code(f"//<![CDATA[\nstate={both(POST)}\n//]]>", ' type="3ee7219802eb6dc15ed3809d-text/javascript"'),
        nuxt({"data": {"page": POST, "more": [OTHER]}}),
        nuxt({"data": {"page": POST}}).replace('data-nuxt-data="nuxt-app" ', ""),
        nuxt({"data": {"page": POST}}).replace('id="__NUXT_DATA__"', 'id="app-two"'),
        pushed(rows(element({"post": POST, "more": [OTHER]}))),
        f'<script type="application/json" data-sveltekit-fetched>{in_script({"body": json.dumps(POST)})}</script>',
    ],
    ids=[
        *("assigned", "lines", "among code", "two", "behind code like it", "a bracket", "JSON.parse", "single quotes"),
        *("module", "another word", "Nuxt", "Nuxt of old", "one of two of Nuxt", "Next", "SvelteKit"),
    ],
)
def test_a_state_is_read_wherever_it_stands(data: str) -> None:
    assert texts(data) == WHOLE


@pytest.mark.parametrize(
    "data",
    [
        code(f"state={both(OTHER)}"),
        code(f"state={both({'title': TITLE, 'content': MARKUP})}"),
        code(f"state={both(POST)}", ' type="text/template"'),
        code(f"start({both(POST)})"),
        code("state={title:" + json.dumps(TITLE) + ",content:" + in_script(LONG) + "}"),
        code("state=" + both(POST)[:-1]),
        code(f"state=JSON.parse({literal(both(POST))[:-1]}')"),
        nuxt({"title": TITLE, "more": [OTHER]}),
        state(flat(POST)),
        pushed(rows(element({"title": TITLE, "more": [OTHER]}))),
        pushed(rows(element({"post": POST}))).replace("push([1,", "push([3,"),
    ],
    ids=[
        "another",
        "short",
        "no code",
        "no value",
        "no JSON",
        "cut",
        "open",
        "its others",
        "a list",
        "theirs",
        "bytes",
    ],
)
def test_what_is_no_state_of_the_page_is_not_read(data: str) -> None:
    assert texts(data) == []


def test_a_page_that_shows_it_is_read_as_it_is() -> None:
    for data in (code(f"state={both(POST)}"), nuxt(POST), pushed(rows(element(POST)))):
        assert blocks(data, LONG) == blocks("", LONG)


@pytest.mark.parametrize(
    "said",
    [
        {"isAccessibleForFree": False},
        {"hasPart": [{"isAccessibleForFree": "False"}]},
        {"content_restrictions": {"content_code": "premium"}},
        {"content_restrictions": {"content_code": "Metered"}},
    ],
)
def test_what_is_for_money_stays_where_it_is(said: dict[str, Any]) -> None:
    for value in ({**POST, **said}, {"title": TITLE, **said, "body": POST}, [POST, {"title": TITLE, **said}]):
        for data in (code(f"state={in_script([value])}"), nuxt(value), pushed(rows(element({"a": value})))):
            assert texts(data) == []
    beside = [POST, {**OTHER, **said}]
    assert texts(code(f"state={in_script(beside)}")) == WHOLE


@pytest.mark.parametrize("code_of_content", ["free", "Free", "", None, 3])
def test_what_is_free_is_read(code_of_content: Any) -> None:
    post = {**POST, "isAccessibleForFree": True, "content_restrictions": {"content_code": code_of_content}}
    assert texts(code(f"state={in_script(post)}")) == WHOLE


def test_what_linked_data_calls_for_money_is_not_taken_from_code() -> None:
    paid = linked({"@type": "NewsArticle", "isAccessibleForFree": False})
    assert texts(paid + code(f"state={both(POST)}")) == []


def test_a_story_of_arc() -> None:
    """Its titles are by what they are for; that of a quotation and a list are within."""
    parts = [
        {"type": "text", "content": f"<i>{FIRST}</i>"},
        {"type": "interstitial_link", "url": "/"},
        {"type": "quote", "content_elements": [{"type": "text", "content": SECOND}]},
        {"type": "list", "items": [{"type": "text", "content": f"{number}. {FIRST}"} for number in range(5)]},
        {"type": "image", "caption": SECOND},
    ]
    headlines = {"basic": "Umfula", "mobile": None, "meta_title": TITLE}
    story = {"type": "story", "headlines": headlines, "content_elements": parts, "related_content": {"basic": [OTHER]}}
    config = {"source": "story", "query": {"uri": "/izindaba/1"}}
    cache = {"story": {"{}": {"data": [OTHER, {"headlines": {"basic": "Okunye"}, "content_elements": parts * 2}]}}}
    made = "".join(
        f"Fusion.{name}={in_script(value)};"
        for name, value in {"globalContent": story, "globalContentConfig": config, "contentCache": cache}.items()
    )
    data = code(f"window.Fusion=window.Fusion||{{}};Fusion.arcSite='a';{made}", ' type="application/javascript"')
    assert texts(data) == [FIRST, SECOND, *(f"{number}. {FIRST}" for number in range(5))]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (r'"[\"\\u0041\\\"\\n\"]"', 'A"\n'),
        (r"""'["it\'s \x41 \\"\u005c"a\\\\b"]'""", 'it\'s A ""a\\b'),
        (r'''"[\"\!--\"]"''', "!--"),
        ("'[\"a\\\nb\"]'", "a\nb"),
    ],
)
def test_a_literal_says_what_it_says_in_scripts(written: str, said: str) -> None:
    padded = written[:-1].rstrip("]") + "," + "0," * 300 + "0]" + written[-1]
    assert next(values([Script(f"x=JSON.parse({padded})")]))[0] == said


def test_values_of_elements_come_first_and_each_within_its_own_bounds() -> None:
    long = "a" * 600
    found = [Script(f'a=["{long}"];b=["{long}b"]'), Script(f'["{long}c"]', "json")]
    assert [value[0][600:] for value in values(found)] == ["c", "", "b"]
    large = "x" * MOST_LETTERS
    assert [value[0][600:] for value in values([Script(f'["{large}"]', "json"), *found])] == ["", "b"]
    assert [value[0][600:] for value in values([Script(f'a=["{large}"]'), *found]) if value[0] != large] == ["c"]


def test_what_stands_in_the_texts_of_a_value_is_not_tried() -> None:
    found = [["a=["] * (MOST_TRIES + 2), [LONG]]
    assert list(values([Script(";".join(f"a={json.dumps(value)}" for value in found))])) == found


def test_code_that_looks_like_values_is_tried_so_many_times() -> None:
    for tries in (MOST_TRIES, MOST_TRIES + 2):
        found = list(values([Script('={"a":b}' * tries + f'={{"a":"{LONG}"}}')]))
        assert found == ([{"a": LONG}] if tries == MOST_TRIES else [])


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text("$:a\nš0", max_size=5),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text("ab$", max_size=2), parts, max_size=4),
)


@given(json_values)
def test_what_was_flattened_is_as_it_was(value: Any) -> None:
    assert unflattened(json.loads(json.dumps(flat([value])))) == [value]


@given(json_values)
def test_what_react_sends_is_as_it_was(value: Any) -> None:
    value = json.loads(json.dumps(value).replace("$", "_"))  # which begins what is no text
    assert next(joined("0:" + json.dumps([value, "$a"]) + f"\na:T{2 * len(LONG):x}," + "š" * len(LONG))) == [
        value,
        "š" * len(LONG),
    ]


def test_what_is_in_itself_comes_once() -> None:
    author: dict[str, Any] = {"name": "Nomusa"}
    post = {"title": TITLE, "author": author, "content": LONG, "tags": ["a", "a"]}
    author["post"] = post
    assert unflattened(flat({"post": post})) == {"post": {**post, "author": {"name": "Nomusa"}}}
    assert list(joined('1:["a"]\n0:["$1"]\n2:["b"]\n')) == [[["a"]], ["b"]], "each once, the page's own first"
    found = list(joined('2:["$0","$2","$L1"]\n0:{"a":"$2","b":"$2","c":"$2:0"}\n1:["$2"]\n'))
    assert found == [{"a": [None, None, [None]], "b": None, "c": "$2:0"}]


def test_types_of_devalue() -> None:
    """Of a list with a name what it is of; numbers that are no places stand for what JSON cannot say."""
    made = [
        ["ShallowReactive", 1],
        {"a": 2, "b": -1, "c": 99, "d": True, "e": 3, "f": 4},
        ["Date", "1970"],
        7,
        ["Set", 5],
    ]
    assert unflattened([*made, "x"]) == [{"a": [], "e": 7, "f": ["x"]}]
    assert [unflattened(odd) for odd in ([], ["a"], [3], [[0], 1])] == [None, "a", 3, []]


def test_rows_of_text_are_as_long_as_they_say() -> None:
    text = 'š\n0:["no row"]\n'
    stream = f':HL[]\n1:I[3]\nno row\n2:T{len(text.encode()):x},{text}0:["$2","$3","$$2"]\n3:T5,abc'
    assert next(joined(stream)) == [text, "abc", "$$2"]


def test_texts_at_many_places_stay_within_bounds() -> None:
    text = "a" * 100_000
    for value in (
        unflattened([[1] * 9000, text]),
        next(joined(f"1:T{len(text):x},{text}0:{json.dumps(['$1'] * 9000)}")),
    ):
        assert MOST_LETTERS - len(text) < sum(len(one) for one in value if one and one != "$1") <= MOST_LETTERS


MANY = 2_000_000
HOSTILE = {
    **{
        f"beginnings {text}": text * (MANY // len(text))
        for text in ('={"', '={"a":', '=["a",', '=[["', "=", "= ", "=[ ")
    },
    "texts that begin values": '=["a=["' + ',"a=["' * (MANY // 6),
    "nesting": "=" + '{"a":' * (MANY // 5),
    "nesting, again and again": ("=" + '{"a":' * 500 + "x") * (MANY // 2500),
    "values": '={"a":1};' * (MANY // 9),
    "a value that is cut": '=["a"' + ",1" * (MANY // 2),
    "many that are cut": ('=["a"' + ",1" * 1000) * (MANY // 2000),
    "a number": '={"a":' + "9" * 5000 + "}" + f'={{"title":"{TITLE}","b":NaN,"c":-Infinity}}',
    "literals": 'JSON.parse("' * (MANY // 12),
    "literals in one another": "JSON.parse('JSON.parse(\"" * (MANY // 24),
    "an open literal": 'JSON.parse("' + '\\"' * (MANY // 2),
    "escapes": "JSON.parse('" + "\\x22" * (MANY // 8) + '"' * (MANY // 2) + "')",
    "chunks": '__next_f.push([1,""])' * (MANY // 22),
    "chunks that are none": "__next_f.push([" * (MANY // 15),
    "lone halves of signs": "__next_f.push(" + json.dumps([1, "0:" + json.dumps(["\ud800"] * 900)]) + ")",
}
ROWS = {
    **{
        f"rows {text!r}": text * (MANY // len(text))
        for text in ("0:x\n", "0:[\n", "x\n", "0:T0,", "0:Tffffffff,", "0:[")
    },
    "rows in circles": "".join(
        f'{n:x}:[["${(n + 1) % 9999:x}"],"$L{n * 7 % 9999:x}",{{"title":"{TITLE}"}}]\n' for n in range(9999)
    ),
    "a row of names": "0:[" + '"$1",' * (MANY // 5) + "1]\n1:[1]",
}
LISTS = {
    "a list of itself": "[" + "[0]," * (MANY // 4) + "0]",
    "a chain": "[" + ",".join(f"[{n}]" for n in range(1, MANY // 9)) + ",1]",
    "nothing": "[]",
    "depth": "[" * 100_000,
    "odd places": '[[true,1.5,-1,99999999999999999999,NaN,Infinity,"x",null,[1]],{"a":true}]',
}


@pytest.mark.parametrize(
    "data",
    [
        *map(code, HOSTILE.values()),
        *(code(f"__next_f.push({in_script([1, stream])})") for stream in ROWS.values()),
        *(f"<script type='application/json' data-nuxt-data>{text}</script>" for text in LISTS.values()),
    ],
    ids=[*HOSTILE, *ROWS, *LISTS],
)
def test_what_is_made_to_harm_does_not(data: str) -> None:
    """A second each, at most; minutes where each beginning costs the whole rest, or a walk goes around in circles."""
    assert texts(data) == []


@given(
    st.lists(
        st.sampled_from([*'={}[]",:\\$T01a\n', '"title"', f'"{TITLE}"', "JSON.parse(", "__next_f.push([1,", "</p>"])
    )
)
def test_any_text_is_read(parts: list[str]) -> None:
    text = "".join(parts)
    list(values([Script(text), Script(text, "json"), Script(text, "nuxt")]))
    list(joined(text))
