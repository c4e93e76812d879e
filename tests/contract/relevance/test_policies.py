"""What every policy promises, and each one's own rule."""

import random
from dataclasses import replace
from typing import Any

import pytest

from relevance import LinkContext, PageContext, PolicyError, Verdict, make_policy, read_page
from relevance.steering.yield_policy import REPEATS, _evened
from tests.sample import sentences

NAMES = ("afriweb", "threshold", "yield")
SIBLINGS = ("xho", "nbl", "ssw")


def page(
    language: str, words: int, html_lang: str = "zu", host: str = "a.example", seed: int = 1, english: int = 0
) -> Any:
    text = sentences(language, random.Random(seed), words)
    more = sentences("eng", random.Random(seed), english)
    html = f"<html lang='{html_lang}'><body><p>{text}</p><p>{more}</p></body></html>"
    return read_page(html.encode(), f"http://{host}/news/{seed}.html")


@pytest.fixture(params=NAMES)
def policy(request: Any) -> Any:
    return make_policy(request.param, "zul", SIBLINGS)


def test_it_keeps_the_target_and_drops_the_rest(policy: Any) -> None:
    kept = policy.judge(page("zul", 150), PageContext())
    assert kept.keep
    assert kept.language == "zul"
    assert kept.words == pytest.approx(150, abs=30)
    assert kept.reason
    for language in ("xho", "nbl", "ssw", "eng", "ita"):
        assert not policy.judge(page(language, 150), PageContext()).keep
    assert not policy.judge(read_page(b"", "http://a.example/"), PageContext()).keep


@pytest.mark.parametrize("name", [*NAMES, "all"])
def test_a_text_that_is_known_is_worth_nothing_but_its_language_is_told(name: str) -> None:
    context = PageContext(fetched_bytes=3000)
    known, empty = make_policy(name, "zul", SIBLINGS), make_policy(name, "zul", SIBLINGS)
    found = known.judge(page("zul", 150), replace(context, known=True))
    assert (found.keep, found.words, found.language) == (False, 0, "zul")
    empty.judge(replace(page("zul", 150), blocks=()), context)
    learnt = {key: row for key, row in known.deltas().items() if not key.startswith(REPEATS)}
    assert learnt == empty.deltas()


@pytest.mark.parametrize("name", [*NAMES, "all"])
def test_a_page_that_may_not_be_kept_is_worth_nothing(name: str) -> None:
    context = PageContext(fetched_bytes=3000, may_keep=False)
    asked, empty = make_policy(name, "zul", SIBLINGS), make_policy(name, "zul", SIBLINGS)
    found = asked.judge(page("zul", 150), context)
    assert (found.keep, found.words, found.language) == (False, 0, "zul")
    empty.judge(replace(page("zul", 150), blocks=()), context)
    assert asked.deltas() == empty.deltas()


def test_priorities_are_between_0_and_1_and_batches_agree(policy: Any) -> None:
    rng = random.Random(2)
    verdicts = [policy.judge(page(rng.choice(["zul", "eng"]), 80, seed=n), PageContext()) for n in range(20)]
    links = [
        LinkContext(f"http://{rng.choice('abc')}.example/{n}", "funda kabanzi", "http://a.example/", verdict, 1, n % 5)
        for n, verdict in enumerate(verdicts)
    ]
    assert all(0 <= policy.link_priority(link) <= 1 for link in links)
    assert policy.link_priority(LinkContext("http://seed.example/")) >= 0.9
    assert {priority for priority, _ in policy.rank([one._replace(on_known=True) for one in links])} == {0.0}
    ranked = policy.rank(links)
    assert len(ranked) == 20
    assert all(0 <= priority <= 1 for priority, _ in ranked)
    assert all(len(bucket) <= 10 and bucket.isascii() for _, bucket in ranked)
    again = policy.rescore(
        [(one.url, one.since_relevant, bucket) for one, (_, bucket) in zip(links, ranked, strict=True)]
    )
    assert again == [] or again == [priority for priority, _ in ranked]


def test_a_link_of_a_relevant_page_goes_first(policy: Any) -> None:
    good = Verdict(True, "words", "zul", {}, 100)
    bad = Verdict(False, "few_words")
    link = LinkContext("http://new.example/x", "", "http://a.example/", good)
    other = LinkContext("http://new2.example/x", "", "http://b.example/", bad, since_relevant=1)
    named = LinkContext("http://new3.example/x", source_url="http://c.example/sitemap.xml")
    assert policy.link_priority(link) > policy.link_priority(named) > policy.link_priority(other)


def test_deltas_are_given_once_and_add_up(policy: Any) -> None:
    policy.judge(page("zul", 100), PageContext())
    first = policy.deltas()
    assert policy.deltas() == {}
    assert all(isinstance(v, int) and v >= 0 for counts in first.values() for v in counts)


def test_unknown_policies_and_options_are_named() -> None:
    with pytest.raises(PolicyError):
        make_policy("clever", "zul")
    with pytest.raises(PolicyError):
        make_policy("threshold", "zul", (), {"words": "many"})
    with pytest.raises(PolicyError, match="threshold has no option 'bogus'; it has share, words"):
        make_policy("threshold", "zul", (), {"bogus": 1})
    with pytest.raises(PolicyError, match="did you mean tunnel"):
        make_policy("yield", "zul", (), {"tunel": 1})
    with pytest.raises(PolicyError, match="below 0"):
        make_policy("threshold", "zul", (), {"share": -1.0})
    with pytest.raises(PolicyError, match="share: True is no number"):
        make_policy("threshold", "zul", (), {"share": True})
    for language in ("tlh", "und"):
        with pytest.raises(PolicyError, match=f"does not know '{language}'"):
            make_policy("yield", language)
    with pytest.raises(PolicyError, match="share: 30 is above 1"):
        make_policy("threshold", "zul", (), {"share": 30})
    with pytest.raises(PolicyError, match="full_yield: 0 is below"):
        make_policy("yield", "zul", (), {"full_yield": 0})
    for policy, option in (("threshold", "words"), ("afriweb", "words_english"), ("yield", "full_yield")):
        with pytest.raises(PolicyError, match=f"{option}: 1(0{{400}}) is above"):
            make_policy(policy, "zul", (), {option: 10**400})


def test_afriweb_sets() -> None:
    few, some = page("zul", 35, "en"), page("zul", 90, "en")
    three = make_policy("afriweb", "zul")
    assert not three.judge(few, PageContext()).keep
    assert three.judge(some, PageContext()).keep
    assert three.judge(page("zul", 35, "zu-ZA"), PageContext()).keep
    scores = three.judge(few, PageContext()).scores
    assert (scores["raw"], scores["wanted"]) == (35, 50)
    assert three.judge(page("zul", 90, "fr"), PageContext()).reason == "html_lang"
    assert three.judge(page("zul", 90, ""), PageContext()).reason == "html_lang"
    two = make_policy("afriweb", "zul", (), {"set": 2})
    assert two.judge(few, PageContext()).keep
    assert two.judge(page("zul", 90, ""), PageContext()).keep
    assert not two.judge(page("zul", 90, "fr"), PageContext()).keep
    assert make_policy("afriweb", "zul", (), {"set": 1}).judge(page("zul", 90, "fr"), PageContext()).keep
    with pytest.raises(PolicyError):
        make_policy("afriweb", "zul", (), {"set": 4})


def test_what_a_page_declares_is_evidence() -> None:
    policy = make_policy("threshold", "zul")
    few = [page("zul", 22, tag) for tag in ("zu-ZA", "", "en")]
    assert [policy.judge(one, PageContext()).keep for one in few][::2] == [True, False]
    assert policy.judge(few[1], PageContext(content_language="zu, en")).scores["declared"] == 1
    verdicts = [policy.judge(one, PageContext()) for one in few]
    assert [(one.scores["declared"], one.scores["wanted"]) for one in verdicts] == [(1, 10), (0, 20), (-1, 30)]
    assert all(one.keep == (one.words >= one.scores["wanted"]) for one in verdicts)


def test_threshold_wants_a_share() -> None:
    policy = make_policy("threshold", "zul")
    assert policy.judge(page("zul", 60, english=600), PageContext()).reason == "small_share"
    assert make_policy("threshold", "zul", (), {"share": 0.05}).judge(page("zul", 60, english=600), PageContext()).keep


def link(url: str, source: str = "http://a.example/", keep: bool = True, **more: Any) -> Any:
    return LinkContext(url, source_url=source, source_verdict=Verdict(keep, "x"), **more)


def test_a_switch_of_languages_in_navigation_is_followed() -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    anchors = ("isiZulu", "ZU", "Contact us", "English")
    links = [
        link(f"http://b.example/{n}", nav=True, keep=False, since_relevant=9, anchor=a) for n, a in enumerate(anchors)
    ]
    assert [priority > 0 for priority, _ in policy.rank(links)] == [True, True, False, False]


def test_links_that_another_policy_found_are_of_no_known_kind() -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    unknown = "http://a.example/1", 0, ""
    assert policy.rescore([unknown]) == policy.rescore([(unknown[0], 0, "100000")])
    assert policy.explain(*unknown)["priority"] == round(policy.rescore([unknown])[0], 3)


def test_yield_learns_hosts_and_paths_and_takes_it_back() -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    before = policy.link_priority(link("http://good.example/news/9.html"))
    for n in range(30):
        policy.judge(page("zul", 100, host="good.example", seed=n), PageContext())
        policy.judge(page("eng", 100, host="bad.example", seed=n), PageContext())
    assert policy.link_priority(link("http://good.example/news/9.html")) > before
    low = policy.link_priority(link("http://bad.example/news/9.html"))
    assert 0 < low < before / 2
    for n in range(60):
        policy.judge(page("zul", 100, host="bad.example", seed=n), PageContext())
    assert policy.link_priority(link("http://bad.example/news/9.html")) > 2 * low


def test_yield_reads_hints() -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    plain = policy.link_priority(link("http://n.example/x", since_relevant=1, keep=False))
    assert policy.link_priority(link("http://n.example/zu/x", since_relevant=1, keep=False)) > plain
    assert policy.link_priority(link("http://n.example/x", since_relevant=1, keep=False, hreflang="zu")) > plain
    assert policy.link_priority(link("http://n.example/x", since_relevant=1, keep=False, anchor="isiZulu")) > plain
    assert policy.link_priority(link("http://n.example/fr/x", since_relevant=1, keep=False)) < plain


def test_yield_learns_of_links_nothing_from_what_a_sitemap_names() -> None:
    """A large one of a site in another language must not make good links look like bad ones."""
    policy, home = make_policy("yield", "zul", SIBLINGS), "http://eng.example"
    good = "http://x.example/1", 0, "000000"
    worth = policy.explain(*good)
    for n in range(40):
        [(_, bucket)] = policy.rank([LinkContext(f"{home}/{n}", source_url=f"{home}/sitemap.xml", depth=1)])
        policy.judge(page("eng", 100, host="eng.example", seed=n), PageContext(bucket=bucket))
    assert {key: term for key, term in policy.explain(*good).items() if key[:2] in ("c:", "i:")} == {
        key: term for key, term in worth.items() if key[:2] in ("c:", "i:")
    }
    named = [LinkContext(f"{host}/x", source_url=f"{home}/sitemap.xml") for host in (home, "http://www.eng.example")]
    assert len({bucket for _, bucket in policy.rank(named)}) == 1, "it says nothing of which host keeps it"
    assert policy.rank(named)[0][0] < 0.1


def test_yield_bounds_its_tunnels() -> None:
    policy = make_policy("yield", "zul", SIBLINGS, {"tunnel": 2})
    assert policy.link_priority(link("http://n.example/x", since_relevant=2, keep=False)) > 0
    assert policy.link_priority(link("http://n.example/x", since_relevant=3, keep=False)) == 0
    assert policy.link_priority(link("http://n.example/zu/x", since_relevant=3, keep=False)) > 0


def test_yield_fills_all_bands_of_a_frontier() -> None:
    """What is nearly sure must not lie in one band with what is likely, nor what is hopeless with what is unlikely."""
    bands = [int(_evened(worth) * 255) >> 5 for worth in (0.005, 0.02, 0.06, 0.2, 0.45, 0.7, 0.86, 0.97)]
    assert bands == list(range(8))
    assert [_evened(0.0), _evened(1.0)] == [0.0, 1.0]
    evened = [_evened(place / 1000) for place in range(1001)]
    assert evened == sorted(set(evened)), "a better one is never ranked as a worse one"


def test_yield_expects_more_of_an_unknown_section_than_of_a_bad_one() -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    for n in range(40):
        policy.judge(page("eng", 100, host="n.example", seed=n), PageContext())
    bad, unknown = ((f"http://n.example/{path}", 1, "100000") for path in ("news/99.html", "abc/99.html"))
    assert policy.rescore([unknown])[0] > 3 * policy.rescore([bad])[0]


def test_yield_blames_the_links_of_a_bad_page_once() -> None:
    """Host, kind of link, counts and anchors share the blame; were it all of each, one page would undo all others."""
    policy = make_policy("yield", "zul", SIBLINGS)
    for n in range(3):
        policy.judge(page("zul", 300, host="n.example", seed=n), PageContext(bucket="030000"))
    policy.judge(page("eng", 300, host="n.example", seed=3), PageContext(bucket="030000"))
    assert policy.explain("http://n.example/news/4.html", 0, "030000")["gain"] > 0.35


def test_yield_gives_a_site_without_a_relevant_page_a_longer_chance(monkeypatch: Any) -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    for n in range(12):
        policy.judge(page("eng", 100, host="unlucky.example", seed=n), PageContext())
        policy.judge(page("zul" if n == 3 else "eng", 100, host="poor.example", seed=n), PageContext())
    waiting = [(f"http://{host}.example/news/99.html", 1, "100000") for host in ("unlucky", "poor", "new")]
    unlucky, *others = policy.rescore(waiting)
    gain = policy.explain(*waiting[0])["gain"]
    monkeypatch.setattr("relevance.steering.yield_policy.OPENS", 0.0)
    assert policy.rescore(waiting)[0] < unlucky
    assert policy.explain(*waiting[0])["gain"] < gain, "what it may open is part of the explanation"
    assert policy.rescore(waiting)[1:] == others


def test_yield_expects_little_of_pages_like_others_unless_they_lead_to_good_ones() -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    host = "https://a.example"
    good, known = page("zul", 150), PageContext(bucket="000000", fetched_bytes=4000, known=True)
    plain = replace(known, known=False)

    def of(path: str) -> float:
        return policy.rescore([(f"{host}/{path}", 0, "000000")])[0]

    def found_on(source: str, path: str) -> tuple[float, PageContext]:
        link_there = LinkContext(f"{host}/{path}", "", f"{host}/{source}", Verdict(False, "x"), on_known=True)
        ((priority, bucket),) = policy.rank([link_there])
        return priority, replace(plain, bucket=bucket)

    for number in range(12):
        policy.judge(replace(good, url=f"{host}/izindaba/{number}"), plain)
    for name in ("visit", "list"):
        policy.judge(replace(good, url=f"{host}/{name}/0"), plain)
        for number in range(1, 3):
            policy.judge(replace(good, url=f"{host}/{name}/{number}"), known)
        assert of(f"{name}/90") > 0.5, "a copy or two"
        assert found_on(f"{name}/1", "izindaba/98")[0] == 0
    for number in range(3, 21):
        priority, context = found_on(f"list/{number}", f"izindaba/{number + 12}")
        policy.judge(replace(good, url=f"{host}/list/{number}"), known)
        policy.judge(replace(good, url=f"{host}/izindaba/{number + 12}"), context)
        _, context = found_on(f"visit/{number - 1}", f"visit/{number}")
        policy.judge(replace(good, url=f"{host}/visit/{number}"), replace(context, known=True))
    assert of("izindaba/99") > 0.5
    assert of("list/99") > 0.5
    assert of("visit/99") < 1 / 8, "the last of a frontier's bands"
    assert priority > 0.5
    assert found_on("visit/20", "izindaba/98")[0] == 0
    for source, goes_up in (("visit/20", False), ("list/20", True)):
        bucket = found_on(source, "izindaba/98")[1].bucket
        assert (policy.rescore([(f"{host}/izindaba/98", 0, bucket)])[0] > 0.5) is goes_up, source


def test_yield_explores_a_share_of_its_fetches() -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    unknown = ("http://n.example/x", 0, "000000")
    assert policy.explain(*unknown)["novelty"] > 0, "nothing fetched, nothing explored"
    for n in range(19):  # two of them were explored
        policy.judge(page("zul", 100, host="a.example", seed=n), PageContext(bucket="000000"))
        assert policy.explain(*unknown)["novelty"] == 0
    policy.judge(page("zul", 100, host="a.example", seed=20), PageContext(bucket="000000"))
    assert policy.explain(*unknown)["novelty"] > 0


def test_yield_counts_later_links_to_a_url() -> None:
    policy = make_policy("yield", "zul", SIBLINGS)
    ((first, bucket),) = policy.rank([link("http://n.example/x", since_relevant=2, keep=False)])
    for n in range(3):
        policy.rank([link("http://n.example/x", f"http://b.example/{n}", anchor="funda kabanzi ngalokhu")])
    ((later, _),) = policy.rank([link("http://m.example/x", since_relevant=2, keep=False)])
    assert policy.rescore([("http://n.example/x", 2, bucket)])[0] > first + 0.2
    assert later == first, "other URLs have no part in it"
    ((menu, _),) = policy.rank([link("http://o.example/x", since_relevant=2, keep=False, nav=True)])
    for n in range(3):
        policy.rank([link("http://o.example/x", f"http://b.example/{n}", nav=True)])
    assert policy.rank([link("http://o.example/x", since_relevant=2, keep=False, nav=True)])[0][0] == menu


def test_yield_values_pages_that_lead_to_new_relevant_hosts() -> None:
    hub, plain = make_policy("yield", "zul", SIBLINGS), make_policy("yield", "zul", SIBLINGS)
    for policy, keep in ((hub, "zul"), (plain, "eng")):
        for n in range(4):
            ((_, bucket),) = policy.rank([link(f"http://new{n}.example/", "http://portal.example/", keep=False)])
            policy.judge(page(keep, 100, host=f"new{n}.example", seed=n), PageContext(bucket=bucket))
    inside = ("http://portal.example/list/9", 1, "100000")
    assert hub.explain(*inside)["hub"] > 0.3 > plain.explain(*inside)["hub"]


def test_a_fleet_shares_what_it_learns() -> None:
    one, two = make_policy("yield", "zul", SIBLINGS), make_policy("yield", "zul", SIBLINGS)
    totals: dict[str, tuple[int, ...]] = {}
    for n in range(20):
        one.judge(page("zul", 100, host="good.example", seed=n), PageContext(bucket="000000"))
    for worker in (one, two):
        for key, counts in worker.deltas().items():
            old = totals.get(key, (0,) * len(counts))
            totals[key] = tuple(a + b for a, b in zip(old, counts, strict=True))
    target = link("http://good.example/news/7.html")
    for worker in (one, two):
        worker.absorb(totals)
    assert two.link_priority(target) == pytest.approx(one.link_priority(target))
