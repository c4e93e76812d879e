"""The default policy on small webs in memory, and the commands."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench import langid
from bench.focus import __main__ as focus
from bench.focus.crawl import afriweb, breadth_first, by_yield, curve, oracle, reachable
from bench.focus.delayed import Delayed
from bench.focus.shapes import SHAPES
from bench.focus.webs import Builder, gateways, mixed

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "langid"


def small_web(seed: Any) -> Any:
    b = Builder("small", seed)
    ours = [b.host(f"izindaba{i}.example", 50, 0.92) for i in range(4)]
    portal = b.host("portal.example", 20, 0.0)
    others = [b.host(f"site{i}.example", 60, 0.0) for i in range(12)]
    for i, host in enumerate(ours):
        b.join(host, ours[i - 1] if i != 2 else portal, 6)
        b.join(portal, host, 6)
        for other in others[i * 3 : i * 3 + 4]:
            b.join(host, other, 4)
    for i, host in enumerate(others):
        b.join(host, others[i - 1], 5)
    return b.done([ours[0][0]])


@pytest.mark.slow
@pytest.mark.parametrize(("make", "seeds"), [(small_web, (1, 2, 3, 4)), (mixed, (0,)), (gateways, (0,))])
def test_yield_beats_breadth_first_and_afriweb(make: Any, seeds: Sequence[int]) -> None:
    """Of small webs several together: how a single one goes is half luck."""
    ours, others = 0, {breadth_first: 0, oracle: 0}
    for web in map(make, seeds):
        found, thesis = curve(web, by_yield(web, 0.95)), curve(web, afriweb(web))
        fetches = found.fetches_for(0.95)
        assert fetches is not None
        ours += fetches
        for crawl in others:
            others[crawl] += curve(web, crawl(web)).fetches_for(0.95) or 0
        assert max(theirs - own for theirs, own in zip(thesis.relevant, found.relevant, strict=False)) <= 4
    assert ours <= 0.5 * others[breadth_first]
    assert ours <= 1.25 * others[oracle]


@pytest.mark.slow
def test_yield_crosses_english_pages_from_the_start() -> None:
    web = gateways(0)
    web.seeds = [next(place for place, node in enumerate(web.nodes) if node.url == "http://portal1.example/")]
    ours, plain = curve(web, by_yield(web, 0.95)), curve(web, breadth_first(web))
    assert (ours.fetches_for(0.95) or 10_000) <= 0.5 * (plain.fetches_for(0.95) or 0)


@pytest.mark.slow
def test_with_delays_a_bound_on_what_is_worth_least_saves_fetches() -> None:
    web = small_web(1)
    bound, free, plain = (
        Delayed(web, 5000, 0.1).crawl(0.95),
        Delayed(web, 5000, 1.0).crawl(0.95),
        Delayed(web, 5000, 1.0, steered=False).crawl(0.95),
    )
    assert bound.fetches <= 0.85 * free.fetches
    assert bound.fetches <= 0.75 * plain.fetches
    assert bound.seconds <= 1.25 * free.seconds  # of simulated time


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--delay", "nan"], "no number of seconds"),
        (["--delay", "-1"], "no number"),
        (["--delay", "5", "--quick"], "own"),
    ],
)
def test_delays_that_mean_nothing_are_refused(more: list[str], said: str, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["focus", *more])
    with pytest.raises(SystemExit):
        focus.main()
    assert said in capsys.readouterr().err


def test_the_bench_can_begin_at_any_seed(monkeypatch: Any, capsys: Any) -> None:
    def tiny(seed: int) -> Any:
        seeds.append(seed)
        builder = Builder("tiny", seed)
        return builder.done([builder.host("izindaba.example", 9, 0.9)[0]])

    seeds: list[int] = []
    monkeypatch.setattr(focus, "WEBS", {"tiny": tiny})
    monkeypatch.setattr(sys, "argv", ["focus", "--seeds", "2", "--first", "5"])
    focus.main()
    assert seeds == [5, 6]
    assert "tiny: 9 pages" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["focus", "--seeds", "3", "--quick"])
    focus.main()
    assert seeds[2:] == [0, 1, 2]
    assert "tiny, 3 webs: of breadth first's fetches" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["focus", "--seeds", "2", "--delay", "5"])
    focus.main()
    assert "tiny, 2 webs of 9 pages, 5 s of delay" in capsys.readouterr().out


@pytest.mark.parametrize("name", SHAPES)
def test_webs_of_other_shapes_can_be_crawled(name: str) -> None:
    web = SHAPES[name](3)
    order = breadth_first(web)
    assert len(set(order)) == len(order) == len(reachable(web)) > 0.9 * len(web.nodes)
    assert SHAPES[name](3) == web


def test_a_crawl_can_stop_when_it_has_enough() -> None:
    web = small_web(4)
    whole, part = by_yield(web), by_yield(web, 0.5)
    assert part == whole[: len(part)]
    assert len(part) == curve(web, whole).fetches_for(0.5)


@pytest.mark.skipif(not DATA.exists(), reason="the shared data is not here")
def test_figures_on_development_text() -> None:
    from relevance.language.model import shipped
    from relevance.learning.evaluation import deciding, figures, folder_texts

    decide = deciding(shipped())
    for source, kind, least in (("dev-flores", "sentence", 99.0), ("dev-afrixnli", "sentence", 97.0), ("dev-afrixnli", "short", 80.0)):  # fmt: skip  # noqa: E501
        assert (
            figures(decide, folder_texts(DATA / source, ["zul", "xho", "eng", "sot", "nso", "tso"], kind)).macro
            >= least
        )
    italian = (DATA / "mozilla-www" / "ita.txt").read_text(encoding="utf-8").splitlines()
    assert decide(italian).count("zul") <= 0.001 * len(italian) + 1


def test_the_langid_bench_names_what_it_cannot_measure(monkeypatch: Any, capsys: Any, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.argv", ["langid", str(tmp_path), "--sources", "none"])
    with pytest.raises(SystemExit):
        langid.main()
    assert f"no zul.txt in {tmp_path / 'none'}" in capsys.readouterr().err
