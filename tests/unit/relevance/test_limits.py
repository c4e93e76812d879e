"""Where a policy, its hints and its estimates change their mind: just before the limit, and at it."""

import random
from typing import Any

import pytest

from relevance import LinkContext, Page, PageContext, Verdict, make_policy
from relevance.language.identification import Identifier
from relevance.language.model import shipped
from relevance.pages.blocks import Block
from relevance.steering import hints as hints_module
from relevance.steering.estimates import CAP, PULL, Estimates, logit
from relevance.steering.hints import NEITHER, OTHER, OURS, SIBLING, Hints
from relevance.steering.inlinks import NO_LINKS, Links
from relevance.steering.yield_policy import FEW_KNOWN, REPEATS, _counting, _evidence
from tests.sample import sentences


def hints(language: str = "zul") -> Hints:
    return Hints(language, ("xho", "nbl", "ssw"), Identifier(shipped()))


def page(zulu: int, english: int = 0, html_lang: str = "") -> Page:
    texts = [sentences(language, random.Random(3), n) for language, n in (("zul", zulu), ("eng", english)) if n]
    return Page("http://a.example/", html_lang=html_lang, blocks=tuple(Block(text, "main") for text in texts))


@pytest.mark.parametrize(
    ("name", "options", "html_lang", "least"),
    [
        ("threshold", {}, "", 20),
        ("threshold", {"words": 31}, "zu", 16),
        ("threshold", {"words": 31}, "en", 47),
        ("afriweb", {}, "zu", 20),
        ("afriweb", {}, "en-ZA", 50),
        ("afriweb", {"set": 2}, "en", 20),
    ],
)
def test_so_many_words_do_and_one_less_does_not(name: str, options: dict[str, int], html_lang: str, least: int) -> None:
    policy = make_policy(name, "zul", options=options)
    enough, short = (policy.judge(page(words, html_lang=html_lang), PageContext()) for words in (least, least - 1))
    assert (enough.words, enough.keep, enough.scores["wanted"]) == (least, True, least)
    assert (short.words, short.keep, short.reason) == (least - 1, False, "few_words")


@pytest.mark.parametrize(("share", "keep"), [(0.5, True), (0.51, False)])
def test_a_share_that_is_just_enough_does(share: float, keep: bool) -> None:
    verdict = make_policy("threshold", "zul", options={"share": share}).judge(page(60, 60), PageContext())
    assert (verdict.keep, verdict.scores["share"]) == (keep, 0.5)


@pytest.mark.parametrize(
    ("anchor", "said"),
    [
        ("izindaba", NEITHER),
        ("izindaba zakamuva", OURS),
        ("siyabulela kakhulu nonke", SIBLING),
        ("read more", OTHER),
        ("news in isizulu", OURS),
        ("read news in isizulu", OTHER),
        ("zu", OURS),
        ("", NEITHER),
    ],
)
def test_an_anchor_is_identified_from_two_words_and_a_name_up_to_three(anchor: str, said: int) -> None:
    assert hints().anchors([anchor]) == [said]


def test_an_anchor_of_which_the_language_is_in_doubt_says_none_and_hides_no_other() -> None:
    doubtful = "Nelson Mandela"
    assert hints()._identifier([doubtful])[0].score < 0.5
    assert hints().anchors([doubtful, "izindaba zakamuva"]) == [NEITHER, OURS]


@pytest.mark.parametrize(
    ("nav", "anchor", "hreflang", "bucket"),
    [
        (True, "isiZulu", "", "030310"),
        (True, "isiZulu", "en", "030210"),
        (True, "izindaba zakamuva", "", "030010"),
        (False, "isiZulu", "", "030000"),
        (False, "English", "zu", "000300"),
    ],
)
def test_a_name_of_the_language_is_a_tag_in_navigation_without_one(
    nav: bool, anchor: str, hreflang: str, bucket: str
) -> None:
    link = LinkContext(
        "http://a.example/1", anchor, "http://a.example/", Verdict(True, "x"), hreflang=hreflang, nav=nav
    )
    assert hints().buckets([link]) == [bucket]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://zu.a.example/1", OURS),
        ("http://zu.example/1", NEITHER),
        ("http://en.zu.a.example/1", OURS),
        ("http://zu.a.example/en/1", OTHER),
        ("http://a.example/zu-za/1", OURS),
        ("http://a.example/zu_ZA/1", OURS),
        ("http://a.example/id-12/1", NEITHER),
        ("http://a.example/zu/st_01", OURS),
        ("http://a.example/zulus/1", NEITHER),
        ("http://zu:en@a.example:80/", NEITHER),
    ],
)
def test_a_host_names_a_language_in_front_of_its_last_two_labels(url: str, said: int) -> None:
    assert hints().url(url) == said


def test_what_is_remembered_of_links_is_bounded_and_never_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a page has anchors that are known and others that fill the memory."""
    monkeypatch.setattr(hints_module, "_REMEMBERED", 8)
    remembering, rng = hints(), random.Random(4)
    known = [f"izindaba zakamuva {n}" if n % 2 else f"read more {n}" for n in range(30)]
    for count in (8, 1, 7, 8, 2, 9, 3, 5, 4, 8):
        texts = rng.sample(known, count)
        assert remembering.anchors(texts) == [OURS if "zakamuva" in text else OTHER for text in texts]
        assert len(remembering._anchors) <= max(8, count)
        for n in range(count):
            assert remembering.url(f"http://{rng.randrange(30)}.example/zu/{rng.randrange(30)}") == OURS, n
            assert len(remembering._urls) <= 8
            assert len(remembering._hosts) <= 8


def test_no_key_weighs_more_than_so_many_pages() -> None:
    """So none is ever sure."""
    effects = []
    for pages in (int(CAP), 10 * int(CAP)):
        estimates = Estimates()
        for _ in range(pages):
            estimates.add("c:x", 0.9, 0.5)
        effects.append(estimates.effect("c:x")[0])
    assert effects[0] == effects[1] == pytest.approx(logit((0.9 * CAP + PULL["c"] * 0.5) / (CAP + PULL["c"])))


def test_what_came_since_a_fleet_was_told_is_added_to_its_totals() -> None:
    estimates = Estimates()
    estimates.add("h:a", 1.0, 0.5, sections=1)
    told = estimates.deltas()
    estimates.add("h:a", 0.25, 0.5, sections=1)
    fleet = {"h:a": tuple(3 * count for count in told["h:a"]), "h:b": (2, 1000, 500, 1)}
    estimates.absorb(fleet)
    assert estimates.counts("h:a") == (4, 3.25, 2.0)
    assert estimates.counts("h:b") == (2, 1.0, 0.5)
    assert estimates.deltas() == {"h:a": (1, 250, 500, 1)}


def test_the_fleet_is_told_of_what_lies_below_a_host_with_the_first_page_of_either_or_its_own_second_one() -> None:
    """On many sites nearly every page is the only one of its template; the counts of each stayed in Redis for ever."""
    estimates = Estimates()
    for key in ("h:a", "p:a/x", "t:a/x/y"):
        estimates.add(key, 1.0, 0.5)
    assert estimates.deltas() == dict.fromkeys(("h:a", "p:a/x", "t:a/x/y"), (1, 1000, 500, 0))
    for key in ("h:a", "p:a/x", "t:a/x/z"):
        estimates.add(key, 0.5, 0.25)
    assert estimates.deltas() == dict.fromkeys(("h:a", "p:a/x"), (1, 500, 250, 0))
    assert estimates.counts("t:a/x/z") == (1, 0.5, 0.25)
    for key in ("h:a", "p:a/x", "t:a/x/z"):
        estimates.add(key, 0.25, 0.25)
    assert estimates.deltas() == {"h:a": (1, 250, 250, 0), "p:a/x": (1, 250, 250, 0), "t:a/x/z": (2, 750, 500, 0)}


@pytest.mark.parametrize("why", ["it is started again", "it has forgotten the host"])
def test_a_worker_that_meets_a_host_as_if_for_the_first_time_hears_all_that_is_known_of_its_page(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more hosts that take turns than a worker remembers no path or template was ever told, and each page was the
    first of its section; with a worker that is started again after a few pages it was nearly so."""
    monkeypatch.setattr("relevance.steering.estimates.MOST_KEYS", 80)
    totals: dict[str, tuple[int, ...]] = {}
    one: Any = make_policy("yield", "zul")
    for n in range(300):
        if why == "it is started again" and n % 3 == 0:
            one = make_policy("yield", "zul")
        one._learn(f"http://{n % 60}.example/news/{n}", "400000", 0.0)
        learnt = one.deltas()
        for key, row in learnt.items():
            totals[key] = tuple(map(sum, zip(totals.get(key, (0,) * 4), row, strict=True)))
        one.absorb({key: totals[key] for key in learnt})
    one.deltas()
    assert [totals[key][0] for key in ("h:7.example", "p:7.example/news", "t:7.example/news/N")] == [5, 5, 5]
    assert totals["h:7.example"][3] == 1
    assert one._estimates.counts("t:59.example/news/N")[0] == 5


def test_keys_that_have_had_no_page_for_long_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relevance.steering.estimates.MOST_KEYS", 80)
    estimates = Estimates()
    for n in range(1000):
        for key in ("h:a", "h:b")[: 1 + (n == 0)]:
            estimates.add(key, 0.5, 0.5)
        estimates.add(f"t:a/{n}", 0.5, 0.5)
        estimates.deltas()
        assert len(estimates._all) <= 80
    assert [estimates.counts(key)[0] for key in ("h:a", "t:a/0", "t:a/999")] == [1000, 0, 1]
    estimates.absorb({"t:a/0": (7, 3500, 3500, 0)})
    assert estimates.counts("t:a/0")[0] == 7, "of the fleet, once it comes again"


def test_what_is_known_of_a_host_outlasts_its_being_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more hosts that take turns than a worker remembers each was unknown at its next page, however bad or good."""
    monkeypatch.setattr("relevance.steering.estimates.MOST_KEYS", 80)
    estimates, hosts = Estimates(), [f"h:{n}.ex\udcffample" for n in range(200)]
    for turn in range(1, 4):
        for host in hosts:
            estimates.add(host, 1.0, 0.5, sections=1)
        assert estimates.place(hosts[:1])[0] == pytest.approx(logit((turn + 1.5) / (turn + 3)))
        assert [estimates.counts(host) for host in hosts] == [(turn, turn, turn / 2)] * 200
        assert estimates.counts("h:unknown") == (0, 0.0, 0.0)
        assert len(estimates._all) <= 80
        assert estimates.deltas() == dict.fromkeys(hosts, (1, 1000, 500, 1)), "the fleet is told of new pages only"


def test_a_section_that_several_workers_meet_is_one() -> None:
    """Each had added it when it met it first, and again after each start: in weeks pages of one section, which say
    little of the others of their host, became as many as said nearly all of them."""
    totals: dict[str, tuple[int, ...]] = {}
    workers = [make_policy("yield", "zul") for _ in range(3)]
    for n in range(60):
        if n == 30:
            workers = [make_policy("yield", "zul") for _ in range(3)]
        one: Any = workers[n % 3]
        one._learn(f"http://a.example/news/{n}", "400000", 0.0)
        learnt = one.deltas()
        for key, row in learnt.items():
            totals[key] = tuple(map(sum, zip(totals.get(key, (0,) * 4), row, strict=True)))
        one.absorb({key: totals[key] for key in learnt})
    assert totals["h:a.example"][::3] == (60, 1)
    assert totals["t:a.example/news/N"][0] == 60


def test_of_a_section_that_has_had_pages_the_others_are_those_that_are_left() -> None:
    """Two sections of 30 and 2 pages: to the first the others are one of 2 pages, which say as much as 1.67 do."""
    estimates = Estimates()
    for section, pages in (("x", 30), ("y", 2)):
        for n in range(pages):
            estimates.add("h:a", 0.0, 0.5, sections=n == 0)
            estimates.add(f"t:a/{section}", 0.0, 0.5)
    assert estimates.place(["h:a", "t:a/x"])[1] == pytest.approx(30 + 2 / 1.2)
    assert estimates.place(["h:a", "t:a/y"])[1] == pytest.approx(2 + 30 / 6.8)
    assert estimates.place(["h:a", "t:a/z"])[1] == pytest.approx(32 / 4.0)


@pytest.mark.parametrize(
    ("seen", "counted"),
    [
        (Links(3, 3, 3, 3), Links(3, 3, 3, 3)),
        (Links(4, 4, 4, 4), Links(4, 4, 3, 3)),
        (Links(9, 0, 0, 9), Links(4, 0, 0, 3)),
        (Links(0, 255, 4, 0), Links(0, 4, 3, 0)),
        (NO_LINKS, Links(1, 0, 1, 0)),
    ],
)
def test_links_count_up_to_a_few(seen: Links, counted: Links) -> None:
    assert _counting(seen, "030000") == counted


def test_links_to_a_seed_leave_it_a_seed() -> None:
    assert [_evidence(0, bucket, Links(1)).since for bucket in ("s00000", "m00000", "400000")] == ["s", "0", "0"]
    assert [_evidence(0, bucket, NO_LINKS).since for bucket in ("s00000", "m00000", "400000")] == ["s", "m", "4"]


@pytest.mark.parametrize(("repeats", "expects"), [(FEW_KNOWN - 1, False), (FEW_KNOWN, True)])
def test_so_many_repeats_make_a_template_suspected(repeats: int, expects: bool) -> None:
    policy: Any = make_policy("yield", "zul")
    for _ in range(repeats):
        policy._estimates.add(f"{REPEATS}:a.example/N", 0.0, 0.0)
        policy._estimates.add("t:a.example/N", 0.0, 0.0)
    assert (policy._repeats("t:a.example/N") > 0) == expects


def test_a_host_is_known_from_half_a_gain_on() -> None:
    for gain, known in ((0.499, False), (0.5, True)):
        policy: Any = make_policy("yield", "zul")
        policy._estimates.add("h:a.example", gain, 0.5)
        assert policy._place(("h:a.example", "p:a.example/", "t:a.example/")).known == known


@pytest.mark.parametrize(
    ("keep", "words", "fetched_bytes", "gain"),
    [
        (True, 100, 10240, 1.0),
        (True, 900, 10240, 1.0),
        (True, 50, 10240, 0.75),
        (True, 100, 0, 1.0),
        (True, 0, 10240, 0.5),
        (False, 100, 10240, 0.3),
        (False, 50, 10240, 0.15),
        (False, 50, 102400, 0.3 * 0.05),
        (False, 0, 10240, 0.0),
    ],
)
def test_a_page_s_gain_is_half_for_being_relevant_and_half_for_its_yield(
    keep: bool, words: int, fetched_bytes: int, gain: float
) -> None:
    policy: Any = make_policy("yield", "zul")
    assert policy.gain(Verdict(keep, "x", words=words), fetched_bytes) == pytest.approx(gain)


def test_a_link_counts_for_its_page_and_its_anchor() -> None:
    policy: Any = make_policy("yield", "zul", ("xho",))
    url = "http://n.example/1"
    for keep, anchor in (
        (True, "izindaba zakamuva"),
        (True, "siyabulela kakhulu nonke"),
        (False, "read more"),
        (False, "read it"),
        (False, ""),
    ):
        policy.rank([LinkContext(url, anchor, "http://a.example/", Verdict(keep, "x"))])
    assert policy._inlinks.seen(url) == Links(good=2, bad=3, ours=1, other=2)


@pytest.mark.parametrize(
    ("fetched", "pages", "bonus"),
    [(0, 0, 0.1), (250, 0, 0.15), (500, 0, 0.2), (5000, 0, 0.2), (0, 1, 0.05), (0, 2, 0.0)],
)
def test_what_an_unknown_host_gets_grows_with_the_crawl_and_ends_with_its_second_page(
    fetched: int, pages: int, bonus: float
) -> None:
    policy: Any = make_policy("yield", "zul")
    policy.absorb({"all": (fetched, 0, 0, 0), "h:n.example": (pages, 0, 0, 0)})
    assert policy.explain("http://n.example/1", 0, "000000")["novelty"] == pytest.approx(bonus)


@pytest.mark.parametrize(
    ("pages", "repeats", "probable"), [(4, 3, 3.5 / 4), (9, 3, 3.5 / 9), (3, 5, 5.5 / 6), (9, 8, 8.5 / 9)]
)
def test_repeats_are_as_probable_as_those_of_a_template_s_pages_but_the_first(
    pages: int, repeats: int, probable: float
) -> None:
    policy: Any = make_policy("yield", "zul")
    policy.absorb({"t:a.example/N": (pages, 0, 0, 0), "r:a.example/N": (repeats, 0, 0, 0)})
    assert policy.explain("http://a.example/7", 0, "000000")["repeats"] == round(probable, 3)


@pytest.mark.parametrize(("pages", "found", "hub"), [(6, 2.0, 0.6), (6, 0.0, 0.0), (0, 9.0, 0.8), (26, 4.0, 0.4)])
def test_a_hub_is_worth_what_was_found_through_each_of_its_pages(pages: int, found: float, hub: float) -> None:
    policy: Any = make_policy("yield", "zul")
    estimates = {f"l:{hints_module.short_tag('a.example')}": (9, round(1000 * found), 0, 0)}
    policy.absorb({**estimates, "h:a.example": (pages, 0, 0, 0)})
    assert policy.explain("http://a.example/7", 0, "000000")["hub"] == hub


@pytest.mark.parametrize(("gain", "leads_on"), [(500, True), (499, False)])
def test_links_of_a_list_lead_on_from_a_gain_of_a_tenth_on(gain: int, leads_on: bool) -> None:
    """Found and scored anew; of one page found so far, as if there were four more without any."""
    policy: Any = make_policy("yield", "zul")
    policy.absorb({f"o:a.example/{hints_module.short_tag('t:a.example/list')}": (1, gain, 0, 0)})
    link = LinkContext("http://a.example/7", "", "http://a.example/list", Verdict(False, "x"), on_known=True)
    ((priority, bucket),) = policy.rank([link])
    assert (priority > 0) == leads_on == (policy.rescore([(link.url, 0, bucket)])[0] > 0)


def test_a_picture_and_its_caption_are_one_link() -> None:
    picture, caption = LinkContext("http://a.example/1"), LinkContext("http://a.example/1", "Izindaba")
    assert picture.together("Izindaba", "zu", False) == caption._replace(hreflang="zu")
    assert caption.together("", "", True) == caption.together("Okunye", "", True) == caption
    menu = caption._replace(nav=True, hreflang="xh")
    assert menu.together("Izindaba ezintsha", "zu", False) == menu._replace(nav=False), (
        "the first of each is what counts"
    )
    assert menu.together("Okunye", "", True) == menu
    assert picture.together("Okunye", "", True) == picture._replace(anchor="Okunye"), "it stands in the text, too"
    assert picture._replace(nav=True).together("Okunye", "", True) == picture._replace(nav=True, anchor="Okunye")


def test_priorities_of_a_batch_are_those_of_each_alone() -> None:
    """URLs looked at together share what is alike; with all that tells them apart, none gets another one's."""
    policy, rng = make_policy("yield", "zul", ("xho",)), random.Random(5)
    good, bad = Verdict(True, "words", "zul", {}, 100), Verdict(False, "few_words")
    queued = []
    for n in range(60):
        host, folder = rng.choice("abc"), rng.choice(["", "zu/", "izindaba/", "en/x/"])
        url = f"http://{host}.example/{folder}{rng.choice(['indaba', str(n)])}"
        context = PageContext(bucket=rng.choice(["000000", "130000", "s00000", ""]), known=n % 7 == 0)
        policy.judge(Page(url, blocks=page(rng.choice([0, 40]), 30).blocks), context)
        link = LinkContext(
            url + "/x", rng.choice(["", "izindaba zakamuva"]), "http://a.example/", rng.choice([good, bad])
        )
        [(_, bucket)] = policy.rank([link])
        queued.append((link.url, n % 5, bucket))
    assert policy.rescore(queued) == [policy.rescore([one])[0] for one in queued]
    assert len(set(policy.rescore(queued))) > 10
