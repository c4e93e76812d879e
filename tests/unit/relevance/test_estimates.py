"""What the estimates say is checked against worked examples and rules that hold for any history."""

import random
from collections.abc import Sequence
from math import isclose

import pytest

from relevance.steering.estimates import Estimates, logit, sigmoid
from relevance.steering.hints import places
from relevance.steering.inlinks import NO_LINKS, InLinks, Links


def filled(*rows: tuple[str, float, float, int]) -> Estimates:
    estimates = Estimates()
    for key, gain, expected, times in rows:
        for _ in range(times):
            estimates.add(key, gain, expected)
    return estimates


def placed(estimates: Estimates, places: Sequence[str]) -> tuple[float, float]:
    return estimates.place(places)


def test_what_was_as_expected_says_nothing() -> None:
    for p in (0.05, 0.5, 0.9):
        effect, pages = filled(("h:a", p, p, 50)).effect("h:a")
        assert abs(effect) < 1e-9
        assert pages == 50
    assert Estimates().effect("h:a") == (0.0, 0)


def test_an_effect_is_pulled_to_nothing_by_a_few_pages() -> None:
    effects = [filled(("h:a", 1.0, 0.5, n)).effect("h:a")[0] for n in (1, 5, 50)]
    assert 0 < effects[0] < effects[1] < effects[2]
    assert isclose(effects[0], logit((1 + 3 * 0.5) / 4))


def test_a_host_is_not_bad_for_having_been_unpromising() -> None:
    surprising, plain = filled(("h:a", 0.3, 0.1, 40)), filled(("h:a", 0.3, 0.8, 40))
    assert surprising.effect("h:a")[0] > 0 > plain.effect("h:a")[0]


def test_a_narrow_place_tells_only_what_its_wide_one_does_not() -> None:
    alone = filled(("h:a", 0.0, 0.5, 20), ("p:a/x", 0.0, 0.5, 20))
    assert placed(alone, ("h:a", "p:a/x")) == alone.effect("h:a")
    parts = filled(("h:a", 0.0, 0.5, 20), ("h:a", 1.0, 0.5, 20), ("p:a/x", 1.0, 0.5, 20), ("p:a/y", 0.0, 0.5, 20))
    assert placed(parts, ("h:a", "p:a/x"))[0] > 1 > -1 > placed(parts, ("h:a", "p:a/y"))[0]
    assert parts.known(("h:b", "p:a/x", "p:a/z", "p:a/y")) == ("p:a/x", "p:a/y")
    assert placed(parts, ("h:b", "p:b/x", "t:b/y")) == (0.0, 0.0)


def test_many_pages_of_one_section_say_as_few_of_another() -> None:
    """Sections of pages that were expected to be relevant and are not: one of 50 pages, fifty of one page."""
    one, many = Estimates(), Estimates()
    for page in range(50):
        one.add("h:a", 0.0, 0.5, sections=page == 0)
        one.add("t:a/x", 0.0, 0.5)
        many.add("h:a", 0.0, 0.5, sections=1)
        many.add(f"t:a/{page}", 0.0, 0.5)
    (another, few), (new, all_) = placed(one, ["h:a"]), placed(many, ["h:a"])
    assert new < another < 0
    assert all_ == 50
    assert 4 < few < 5
    own, whole = placed(one, ["h:a", "t:a/x"])
    assert whole == 50
    assert own == new  # what a section's pages say of itself they say in full


def test_it_finds_the_effects_that_made_the_pages() -> None:
    """Two kinds of links on two hosts, the good kind mostly on the good host: plain averages would mix them up."""
    rng, estimates = random.Random(5), Estimates()
    true = {"h:good": 1.5, "h:bad": -1.5, "c:good": 1.0, "c:bad": -1.0}
    for _ in range(4000):
        host = rng.choice(["h:good", "h:bad"])
        kind = "c:good" if (rng.random() < 0.8) == (host == "h:good") else "c:bad"
        gain = float(rng.random() < sigmoid(true[host] + true[kind]))
        for key, other in ((host, kind), (kind, host)):
            estimates.add(key, gain, sigmoid(estimates.effect(other)[0]))
    for one, two in (("h:good", "h:bad"), ("c:good", "c:bad")):
        found = estimates.effect(one)[0] - estimates.effect(two)[0]
        assert found == pytest.approx(true[one] - true[two], abs=0.8)  # plain averages of the kinds differ by 3.0


def test_a_place_is_named_by_host_path_and_shape() -> None:
    for url, prefix, template in [
        ("http://a.example/", "", ""),
        ("http://a.example/news", "", "news"),
        ("https://u:p@A.example:81/news/2024/12/a-long-title?b=1&a=2&b=3#x", "news", "news/N/N/*?a&b"),
        ("http://a.example//zu//id99/x1", "zu", "zu/idN/xN"),
        ("http://a.example/1/2/3/4/a-title", "1", "N/N/N/N"),
        ("http://a.example/123456789012345678", "", "N"),
        ("http://a.example/averylongname12", "", "*"),
        ("http://a.example/notsolongone", "", "notsolongone"),
        ("http://a.example/justlongerone", "", "*"),
    ]:
        assert places(url) == ("h:a.example", f"p:a.example/{prefix}", f"t:a.example/{template}")
    assert [places(f"http://{host}/x")[0] for host in ("[::1]", "[::1]:80", "u@[::1]:80")] == ["h:[::1]"] * 3


def test_many_links_to_many_urls_are_told_apart() -> None:
    links = InLinks()
    for n in range(2000):
        for _ in range(n % 3):
            links.add(f"http://a.example/{n}", (0, 2))
        if n % 5 == 0:
            links.add(f"http://a.example/{n}", (1, 3))
    seen = [links.seen(f"http://a.example/{n}") for n in range(2000)]
    expected = [Links(n % 3, int(n % 5 == 0), n % 3, int(n % 5 == 0)) for n in range(2000)]
    assert sum(a != b for a, b in zip(seen, expected, strict=True)) <= 2, "rarely more than there were"
    for _ in range(300):
        links.add("http://b.example/", (0,))
    assert links.seen("http://b.example/") == Links(good=255)
    assert links.seen("http://c.example/") == NO_LINKS


def test_however_many_links_there_were_others_do_not_seem_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    """After three million linked URLs, four in ten of all others had seemed linked from relevant pages."""
    monkeypatch.setattr("relevance.steering.inlinks.SLOTS", 1 << 10)
    monkeypatch.setattr("relevance.steering.inlinks.MOST_URLS", 1 << 8)
    links = InLinks()
    for n in range(5000):
        links.add(f"http://many.example/{n}", (0,))
        if n % 100 == 0:
            links.add("http://often.example/", (0, 2))
    assert sum(links.seen(f"http://unlinked.example/{n}").good > 0 for n in range(1000)) < 100
    assert all(links.seen(f"http://many.example/{n}").good for n in range(4800, 5000))
    assert links.seen("http://often.example/").good > 1, "from before the last sketch, too"


def test_counts_of_two_workers_add_up_to_those_of_one() -> None:
    one, two, alone = Estimates(), Estimates(), Estimates()
    totals: dict[str, tuple[int, ...]] = {}
    rng = random.Random(6)
    for _ in range(200):
        key, gain = rng.choice(["h:a", "h:b"]), rng.random()
        rng.choice([one, two]).add(key, gain, 0.4)
        alone.add(key, gain, 0.4)
        if rng.random() < 0.2:
            for worker in (one, two):
                for name, row in worker.deltas().items():
                    totals[name] = tuple(a + b for a, b in zip(totals.get(name, (0,) * 4), row, strict=True))
            one.absorb(totals)
            two.absorb(totals)
    for worker in (one, two):
        for name, row in worker.deltas().items():
            totals[name] = tuple(a + b for a, b in zip(totals.get(name, (0,) * 4), row, strict=True))
    one.absorb(totals)
    assert one.counts("h:a") == alone.counts("h:a")
