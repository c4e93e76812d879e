"""Who published a page, when, where and under which licence: each source, and what is none."""

import json
from typing import Any

import pytest

from relevance.pages import marked
from relevance.pages.page import read_page
from relevance.pages.publication import Publication, clean

URL = "https://www.a.example/izindaba/1"
DAY = "2024-05-31"
TIME = "2024-05-31T10:20:30+02:00"
LATER = "2024-06-02T08:00:00+02:00"


def said(html: str, url: str = URL, captured: str = "2024-07-01T00:00:00Z") -> Publication:
    return read_page(html.encode("utf-8", "surrogatepass"), url, captured=captured).publication


def meta(name: str, content: str, kind: str = "name") -> str:
    return f'<meta {kind}="{name}" content="{content}">'


def linked(*tops: Any) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(top)}</script>' for top in tops)


def article(**more: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": "NewsArticle", "datePublished": TIME, **more}


def test_it_is_read_only_when_asked_for() -> None:
    assert read_page(linked(article()).encode(), URL).publication == Publication()


@pytest.mark.parametrize(
    "top",
    [
        article(),
        [article()],
        {"@graph": [{"@type": "WebSite", "name": "S"}, article()]},
        {"@type": "WebPage", "datePublished": "2020-01-01", "mainEntity": article()},
        article(**{"@type": ["Article", "BlogPosting"]}),
        article(**{"@type": "http://schema.org/BlogPosting"}),
        article(datePublished=[TIME]),
        article(datePublished={"@type": "DateTime", "@value": TIME}),
        article(datePublished=None, dateCreated=TIME, dateModified=LATER),
        {"@type": "WebPage", "datePublished": TIME, "dateModified": LATER},
        article(hasPart=[article(datePublished="2020-01-01")], comment={"@type": "Comment", "datePublished": LATER}),
    ],
)
def test_date_of_linked_data(top: Any) -> None:
    assert said(linked(top)).published == TIME


def test_linked_data_as_people_write_it() -> None:
    for script in (
        '\n<!-- {"@type": "Article", "datePublished": "2024-05-31"} -->',
        '//<![CDATA[\n{"@type": "Article", "datePublished": "2024-05-31"}\n//]]>',
        '{"@type": "Article", "datePublished": "2024-05-31", "tags": ["a", "b", ], };',
        '{"@type": "Article", "description": "one\ntwo", "datePublished": "2024-05-31"}',
    ):
        assert said(f"<script type=application/ld+json>{script}</script>").published == DAY


def test_the_pages_own_article_of_several() -> None:
    other = article(url="https://a.example/other", datePublished="2020-01-01", author="Other")
    own = article(mainEntityOfPage={"@id": "http://a.example/izindaba/1/#x"}, author={"name": "Own"})
    assert said(linked(other, own)) == Publication(TIME, "Own")
    assert said(linked(other, article(url="https://a.example/third", author="Third"))) == Publication()


@pytest.mark.parametrize("kind", ["CollectionPage", "SearchResultsPage", "ProfilePage"])
def test_a_list_is_no_article(kind: str) -> None:
    teaser = "<article><h2>Isihloko</h2><time class=published datetime=2024-05-31>31</time></article>"
    assert said(linked({"@type": kind, "datePublished": TIME, "publisher": {"name": "S"}}) + teaser).published == ""


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ("Nomusa Dube", "Nomusa Dube"),
        ({"@type": "Person", "name": "Nomusa Dube"}, "Nomusa Dube"),
        ([{"name": "Nomusa Dube"}, "Sipho Zuma", {"name": "nomusa dube"}], "Nomusa Dube; Sipho Zuma"),
        ({"@id": "#n"}, "N. Dube"),
        ("By Nomusa Dube", "Nomusa Dube"),
        ("Nomusa&nbsp;O&#8217;Dube", "Nomusa O\u2019Dube"),
        ('Nomusa "N"\n\x00Dube\ud800<b>', 'Nomusa "N" Dube'),
        *(
            (nobody, "")
            for nobody in (
                "admin",
                "https://a.example/n",
                "fb.com/n",
                "@n",
                "n@a.example",
                "Isolezwe",
                "A.example",
                "12",
                "",
            )
        ),
        *((wrong, "") for wrong in (None, 5, True, {}, [], [[["x"]]], {"name": {"name": "x"}}, {"name": 5}, "x" * 400)),
    ],
)
def test_author_of_linked_data(author: Any, name: str) -> None:
    html = linked(article(author=author), {"@type": "Person", "@id": "#n", "name": "N. Dube", "author": 1})
    assert said(meta("og:site_name", "Isolezwe", "property") + html).author == name


@pytest.mark.parametrize(
    "name",
    [
        *("article:published_time", "date", "DC.date.issued", "dcterms.created", "parsely-pub-date", "sailthru.date"),
        *("citation_publication_date", "pubdate"),
    ],
)
@pytest.mark.parametrize("kind", ["name", "property"])
def test_date_of_meta(name: str, kind: str) -> None:
    assert said(meta(name, TIME, kind)).published == TIME
    assert said(meta(name, TIME, kind) + meta(name, "2020-01-01", kind)).published == ""


def test_best_source_first() -> None:
    html = meta("date", "2024-05-28") + meta("article:published_time", "2024-05-30", "property")
    assert said(html).published == "2024-05-30"
    assert said(html + linked(article())).published == TIME
    assert said(meta("article:published_time", TIME) + linked(article(datePublished=DAY))).published == TIME


OTHER_DAY = "2020-01-01"


@pytest.mark.parametrize(
    "html",
    [
        linked(article(datePublished=[TIME, OTHER_DAY])),
        linked(article(url=URL), article(url=URL, datePublished=OTHER_DAY)),
        linked({"@type": "WebPage", "datePublished": TIME}, {"@type": "WebPage", "datePublished": OTHER_DAY}),
        meta("pubdate", TIME) + meta("citation_date", OTHER_DAY),
        meta("date", TIME) + meta("dc.date", OTHER_DAY),
    ],
)
def test_of_two_days_neither_is_taken(html: str) -> None:
    assert said(html).published == ""
    assert said(html + "<article><time datetime=2024-05-31>").published == DAY
    elsewhere = URL.replace("//www.a.example/", "//www.a.example/2024/05/31/")
    assert said(html + meta("og:url", URL, "property"), elsewhere).published[:10] == DAY


def test_a_day_may_be_another_elsewhere() -> None:
    late, early = "2024-05-31T23:30:00Z", "2024-06-01T01:30:00+02:00"
    assert said(linked(article(datePublished=late, url=URL), article(datePublished=early, url=URL))).published == late
    assert said(meta("pubdate", early) + meta("publishdate", late)).published in (late, early)


def test_a_change_is_no_publishing() -> None:
    assert said(meta("article:modified_time", LATER) + meta("date", LATER)).published == ""
    assert said(meta("og:updated_time", LATER, "property")).published == ""
    assert said(linked(article(datePublished=None, dateModified=LATER))).published == ""
    assert said(f"<article><time class=updated datetime={LATER}>x</time></article>").published == ""


def test_days_that_cannot_be() -> None:
    assert said(meta("date", "2024-07-03"), captured="2024-07-01T00:00:00Z").published == ""
    assert said(meta("date", "2024-07-02"), captured="20240701000000").published == "2024-07-02"  # of another zone
    assert said(meta("date", "2124-07-03"), captured="").published == "2124-07-03"
    assert said(linked(article(datePublished="1970-01-01T00:00:00Z")) + meta("date", DAY)).published == DAY


@pytest.mark.parametrize("path", ["", "/", "/index.html", "/tag/zulu", "/category/news/", "/news/page/2", "/author/n"])
def test_start_pages_and_lists_have_site_and_licence_only(path: str) -> None:
    html = linked(article(author="N", license="https://a.example/l")) + meta("og:site_name", "S", "property")
    assert said(html, f"https://a.example{path}") == Publication(site="S", licence="https://a.example/l")
    assert said(html, "https://a.example/?p=5").published == TIME


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("2024/05/31/umongameli", DAY),
        ("news/2024-05-31-umongameli.html", DAY),
        ("story/2024-05-31/umongameli", DAY),
        *(
            ("2024/05/31/", ""),
            ("2024/05/umongameli", ""),
            ("2024/13/31/x", ""),
            ("2024/07/31/x", ""),
            ("a?b=/2024/05/31/x", ""),
        ),
    ],
)
def test_date_of_the_address(path: str, day: str) -> None:
    assert said("<p>Yebo", f"https://a.example/{path}").published == day


def test_the_address_settles_a_contradiction() -> None:
    html = linked(article(datePublished=LATER)) + meta("article:published_time", TIME, "property")
    assert said(html).published == LATER
    address = "https://a.example/2024/05/31/umongameli"
    assert said(html, address).published == TIME
    next_day = "2024-06-01T08:00:00+02:00"
    assert said(linked(article(datePublished=LATER)) + meta("pubdate", next_day), address).published == next_day
    assert said(linked(article(datePublished=LATER)) + meta("date", TIME), address).published == TIME


def test_microdata() -> None:
    name = '<span itemprop=author itemscope><a><b itemprop=name>Nomusa "N" Dube</b></a> writes</span>'
    comment = (
        f"<div itemprop=comment itemscope itemtype=http://schema.org/Comment><i itemprop=datePublished content={LATER}>"
    )
    start = "<div itemscope itemtype=https://schema.org/NewsArticle>"
    day = f'<meta itemprop=datePublished content="{TIME}">'
    assert said(f"{start}{day}{name}{comment}</div></div>") == Publication(TIME, 'Nomusa "N" Dube')
    assert said(f"{start}{day.replace('Published', 'Created')}</div>").published == TIME
    assert said(comment).published == ""
    assert said(f"{start}{day}</div>{start}<meta itemprop=datePublished content=2020-01-01></div>").published == ""
    assert said(f"<div itemscope itemtype=https://schema.org/Product>{day}</div>").published == ""
    several = '<div itemscope itemtype=" https://schema.org/NewsArticle  https://example.org/Izindaba">'
    assert said(f"{several}{day}</div>").published == TIME
    assert said(f"{several}{start}{day}</div></div>").published == "", "an article in an article"


def test_white_space_around_a_type_says_nothing() -> None:
    assert said(linked(article()).replace("application/ld+json", " application/ld+json\n")).published == TIME


@pytest.mark.parametrize(
    ("body", "day"),
    [
        ("<article><h1>I</h1>{}</article>", DAY),
        ("<main><h1>I</h1>{}</main>", DAY),
        ("<article><h1>I</h1><header><a href=/1>{}</a></header></article>", DAY),
        ("<article><h1>I</h1>{}</article><article><h2>O</h2><time datetime=2020-01-01></time></article>", DAY),
        ("<article><h1>I</h1>{}<div class=comments><time datetime=2024-06-05></time></div></article>", DAY),
        ("<article><h1>I</h1>{}<article><time datetime=2024-06-05></time></article></article>", DAY),
        ("<article>{}</article><article><time datetime=2020-01-01></time></article>", ""),
        ("<article>{}<p><time datetime=2020-01-01></time></article>", ""),
        ("<p>{}", ""),
        ("<nav>{}</nav><article></article>", ""),
        ("<article><blockquote>{}</blockquote></article>", ""),
        ("<article><ul><li>{}</li></ul></article>", ""),
    ],
)
def test_times(body: str, day: str) -> None:
    assert said(body.format(f"<time datetime={DAY}>31</time>")).published == day


def test_marked_times() -> None:
    marked = f"<time class='entry-date published' datetime={DAY}></time>"
    assert said(f"<div>{marked}</div>").published == DAY
    assert said(f"<div>{marked}<time class=published datetime=2020-01-01></time></div>").published == ""
    assert said(f"<article>{marked}<time datetime=2020-01-01></time></article>").published == DAY
    assert said(f"<div><abbr class=published title={TIME}>31</abbr></div>").published == TIME


def test_author_of_other_sources() -> None:
    assert said(meta("author", "Nomusa Dube")).author == "Nomusa Dube"
    assert said(meta("author", "Webmakers GmbH")).author == ""
    assert said(meta("article:author", "https://facebook.example/n", "property")).author == ""
    assert (
        said(meta("citation_author", "Dube, N.") + meta("citation_author", "Zuma, S.")).author == "Dube, N.; Zuma, S."
    )
    link = '<a rel="Author" href=/a/{0}>{1}</a>'
    assert said(f"<article>{link.format(1, 'N Dube')}{link.format(1, 'All of N Dube')}</article>").author == "N Dube"
    assert said(f"<article>{link.format(1, 'N Dube')}{link.format(2, 'S Zuma')}</article>").author == ""
    assert said(f"<div class=related>{link.format(1, 'N Dube')}</div>").author == ""
    assert said(f"<article>{link.format(1, 'All →')}</article>").author == ""


def test_site() -> None:
    assert said(linked(article(publisher={"name": "Isolezwe"}))).site == "Isolezwe"
    assert (
        said(meta("og:site_name", "  Ilanga\t&amp;amp; Co ", "property") + linked(article(publisher="x"))).site
        == "Ilanga & Co"
    )
    assert said(meta("og:site_name", "https://a.example/")).site == ""


BY = "https://creativecommons.org/licenses/by/4.0/"


@pytest.mark.parametrize(
    ("html", "licence"),
    [
        (linked(article(license=BY)), BY),
        (linked(article(license={"@type": "CreativeWork", "url": BY})), BY),
        (f"<link rel=license href={BY}><a rel=license href=/other>x</a>", BY),
        ("<footer><a rel='nofollow License' href=/terms>x</a></footer>", "https://www.a.example/terms"),
        (f"<a rel=license href={BY}>x</a><a rel=license href={BY}>y</a>", BY),
        (f"<a rel=license href={BY}>x</a><a rel=license href=/other>y</a>", ""),
        (meta("dcterms.license", BY), BY),
        (meta("dc.rights", "CC BY-SA 4.0"), "CC BY-SA 4.0"),
        (meta("copyright", "© 2024 A"), ""),
        ("<a rel=license href='javascript:x()'>x</a>", ""),
        ("<a rel=license href='http://[bad'>x</a>", ""),
        (linked(article(license=5)) + linked(article(license=[[]])), ""),
        ("<a rel=license href='#license'>x</a>", ""),
        (f"<a rel=license href='{URL.replace('www.', '')}/#license'>x</a>", ""),
        ("<base href=/><link rel=license href='#license'>", ""),
        (linked(article(license={"@id": f"{URL}#license"})), ""),
        (f"<a rel=license href='#license'>x</a><p id=license><a rel=license href={BY}>y</a>", BY),
        ("<a rel=license href='/terms#license'>x</a>", "https://www.a.example/terms#license"),
    ],
)
def test_licence(html: str, licence: str) -> None:
    assert said(html).licence == licence


@pytest.mark.parametrize(
    "script",
    [
        '{"@graph":' * 100_000,
        "[" * 500_000,
        json.dumps(article(author=[{"name": "x" * 100}] * 80_000)),
        '{"@type": "Article", "datePublished": ' + "9" * 100_000 + "}",
        '{"@type": {"a": 1}, "datePublished": {"b": []}, "@id": [], "author": {"@id": {}}, "mainEntityOfPage": 5}',
        '{"datePublished" ' + "," * 200_000,
        '{"datePublished": 1' + ", " * 200_000 + "}",
        "null datePublished",
        '"datePublished"',
        json.dumps([article(url=f"/{number}", mainEntity={"@graph": []}) for number in range(3_000)]),
    ],
)
def test_hostile_linked_data(script: str) -> None:
    assert said(meta("date", DAY) + f"<script type=application/ld+json>{script}</script>").published in (DAY, TIME)


def test_of_megabytes_of_linked_data_only_the_first_count() -> None:
    long = linked(article(articleBody="x" * 7_000_000))
    assert said(linked(article(author="N Dube")) + long + meta("date", "2020-01-01")) == Publication(TIME, "N Dube")
    assert said(long).published == ""


def test_hostile_markup_is_read_at_its_length() -> None:
    deep = "<div class=x>" * 2000 + "<time datetime=2024-05-31>" * 2000
    assert said(deep).published == ""
    scopes = (
        "<div itemscope itemtype=http://schema.org/Article>" * 1000 + "<i itemprop='datePublished author'>x</i>" * 3000
    )
    assert said(scopes) == Publication(author="x") or said(scopes) == Publication()


def test_what_stands_around_many_dates_is_looked_through_once() -> None:
    """Else a page of 50 KB takes seconds."""
    deep = "".join(f"<div class='a{n} {'x' * 190}'>" for n in range(100)) + "<time datetime=2024-05-31></time>" * 300
    for look in (marked.is_named_beside, marked.is_of_change):
        look.cache_clear()
    assert said(deep).published == ""
    for look in (marked.is_named_beside, marked.is_of_change):
        assert look.cache_info().misses <= 110


def test_values_are_one_short_line() -> None:
    assert clean(" a\r\n\tb\x85\u2028c\x1b\u202e\u2066 ") == "a b c"
    assert clean("&#" + "9" * 1100 + ";")[:1] in ("", "\ufffd") or len(clean("&#" + "9" * 1100 + ";")) <= 300
    assert clean("x" * 301) == ""
    assert clean("<" * 1000) == ""
