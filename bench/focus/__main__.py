"""`python -m bench.focus [--seeds N] [--first N] [--web NAME] [--plot FOLDER | --quick | --delay S]`: policies on
synthetic webs.

Prints, per web (mean over seeds): fetches until 95 % of the reachable relevant pages, as a share of breadth first's and
multiples of the oracle's (it knows which of the URLs it has found are relevant) and of the all-knowing one's (it knows
the whole web); harvest rate and recall at 10, 50 and 100 % of the budget (all pages of the web); and at how many equal
budgets yield is ahead of afriweb or behind, and how far. --quick is for many webs: a line for each kind with the mean
and the most over its webs, of yield alone, which stops at 95 %. --delay crawls with delays, in simulated time: fetches
and seconds until 95 %. --warc replays what a crawl has stored instead: links lead to stored pages only. Without --web:
clustered, mixed, gateways and noisy.

Examples: `python -m bench.focus --plot plots`; `python -m bench.focus --quick --first 100 --seeds 12 --web huge`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

from bench.ending import end_with
from bench.focus import replay
from bench.focus.crawl import CRAWLS, Found, afriweb, breadth_first, by_yield, curve, oracle
from bench.focus.delayed import Crawled, Delayed
from bench.focus.shapes import SHAPES
from bench.focus.webs import WEBS, Web
from relevance.errors import ModelError
from relevance.language.model import load

LEAST_SHARES = (0.1, 1.0)
"""Of the fetches, for what is worth least while better URLs are to be had: the crawl's default, and no bound."""
ENOUGH = 0.95
"""Share of the reachable relevant pages until which fetches are counted."""


def run(web: Web) -> dict[str, Found]:
    return {name: curve(web, crawl(web)) for name, crawl in CRAWLS.items()}


def _share(values: list[tuple[int | None, int]]) -> str:
    if any(a is None for a, _ in values):
        return "   -"
    return f"{mean(a / b for a, b in values if a is not None):4.2f}"


def table(name: str, runs: list[tuple[Web, dict[str, Found]]]) -> list[str]:
    """Lines for one kind of web."""
    pages, relevant = mean(len(w.nodes) for w, _ in runs), mean(r["oracle"].reachable for _, r in runs)
    out = [f"{name}: {pages:.0f} pages, {relevant:.0f} relevant"]
    out.append(f"{'':14} 95%/bf  /oracle  /all-knowing   harvest 10/50/100 %      recall 10/50/100 %   words at 50 %")
    for crawl in CRAWLS:
        bf = [(r[crawl].fetches_for(ENOUGH), r["breadth first"].fetches_for(ENOUGH) or len(w.nodes)) for w, r in runs]
        best, bound = (
            [(r[crawl].fetches_for(ENOUGH), r[name].fetches_for(ENOUGH) or len(w.nodes)) for w, r in runs]
            for name in ("oracle", "all-knowing")
        )
        parts = [
            ("harvest", 0.1),
            ("harvest", 0.5),
            ("harvest", 1.0),
            ("recall", 0.1),
            ("recall", 0.5),
            ("recall", 1.0),
        ]
        cells = [
            mean(_at(r[crawl], what, part * len(w.nodes)) for w, r in runs) for what, part in [*parts, ("words", 0.5)]
        ]
        texts = [f"{100 * cell:5.1f}" for cell in cells]
        line = " ".join(texts[:3]) + "      " + " ".join(texts[3:6])
        out.append(
            f"{crawl:14} {_share(bf)}    {_share(best)}     {_share(bound)}         {line}      {100 * cells[6]:5.1f}"
        )
    pairs = [
        (_at(r["yield"], "recall", part * len(w.nodes)), _at(r["afriweb"], "recall", part * len(w.nodes)))
        for w, r in runs
        for part in (0.1, 0.5, 1.0)
    ]
    below = sum(own < theirs for own, theirs in pairs)
    out.append(f"at 10, 50 and 100 % of the budget yield's recall is below afriweb's {below} times of {len(pairs)}")
    return [*out, against_afriweb([found for _, found in runs])]


def quick(name: str, webs: Iterable[Web]) -> str:
    """One line for many webs of a kind: yield against breadth first, oracle and afriweb until it has enough."""
    runs = []
    for web in webs:
        others = {crawl.__name__: curve(web, crawl(web)) for crawl in (breadth_first, oracle, afriweb)}
        runs.append({"yield": curve(web, by_yield(web, ENOUGH)), **others})
    shares, times = (
        [len(run["yield"].relevant) / (run[peer].fetches_for(ENOUGH) or 1) for run in runs]
        for peer in ("breadth_first", "oracle")
    )
    return (
        f"{name}, {len(runs)} webs: of breadth first's fetches {mean(shares):.2f}, most {max(shares):.2f} "
        f"({sum(share > 0.5 for share in shares)} above 0.5); of the oracle's {mean(times):.2f}, most {max(times):.2f} "
        f"({sum(part > 1.25 for part in times)} above 1.25); {against_afriweb(runs)}"
    )


def delayed(name: str, webs: list[Web], delay_s: float) -> list[str]:
    """Lines for one kind of web crawled with delays: fetches and seconds until enough is found, mean of the webs."""
    delay_ms = round(1000 * delay_s)
    kinds: dict[str, list[Crawled]] = {
        f"yield, least worth {share:g}": [Delayed(web, delay_ms, share).crawl(ENOUGH) for web in webs]
        for share in LEAST_SHARES
    }
    kinds["each host's in order"] = [Delayed(web, delay_ms, 1.0, steered=False).crawl(ENOUGH) for web in webs]
    out = [f"{name}, {len(webs)} webs of {mean(len(web.nodes) for web in webs):.0f} pages, {delay_s:g} s of delay"]
    for crawl, runs in kinds.items():
        out.append(f"{crawl:22} {mean(r.fetches for r in runs):7.0f} fetches {mean(r.seconds for r in runs):7.0f} s")
    return out


def against_afriweb(runs: list[dict[str, Found]]) -> str:
    """Yield's relevant pages against afriweb's after each number of fetches that both came to."""
    apart = [
        (own - theirs, fetches)
        for found in runs
        for fetches, (own, theirs) in enumerate(
            zip(found["yield"].relevant, found["afriweb"].relevant, strict=False), start=1
        )
    ]
    ahead, behind = [pages for pages, _ in apart if pages > 0], [one for one in apart if one[0] < 0]
    said = f"of {len(apart)} budgets yield leads afriweb at {len(ahead)}, by {mean(ahead or [0]):.0f} pages in the mean"
    if not behind:
        return f"{said}, and never trails"
    early = sum(fetches <= 60 for _, fetches in behind)
    return (
        f"{said}, and trails at {len(behind)}, by {-min(behind)[0]} at most ({early} of them in the first 60 fetches)"
    )


def _at(found: Found, what: str, fetches: float) -> float:
    n = max(1, min(round(fetches), len(found.relevant)))
    if what == "harvest":
        return found.relevant[n - 1] / n
    if what == "words":
        return found.words[n - 1] / max(1, found.words_reachable)
    return found.recall_at(n)


def plot(folder: Path, name: str, found: dict[str, Found]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (pages, words) = pyplot.subplots(1, 2, figsize=(13, 4.5))
    for crawl, one in found.items():
        pages.plot([100 * n / max(1, one.reachable) for n in one.relevant], label=crawl)
        words.plot(one.words, label=crawl)
    for axes, what in ((pages, "relevant pages found, %"), (words, "target words found")):
        axes.set_xlabel("pages fetched")
        axes.set_ylabel(what)
    pages.legend()
    figure.suptitle(name)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"focus-{name}.png", dpi=110)
    pyplot.close(figure)


def main() -> None:
    kinds = {**WEBS, **SHAPES}
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.focus", description=__doc__, formatter_class=shown)
    parser.add_argument("--seeds", type=int, default=3, help="webs of each kind")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the first web's seed (default: 0)")
    parser.add_argument("--web", choices=sorted(kinds), action="append", help="this kind (repeatable)")
    parser.add_argument(
        "--delay",
        type=float,
        metavar="S",
        help="in simulated time, so many seconds from an answer to the next request",
    )
    parser.add_argument("--quick", action="store_true", help="a line for each kind, of yield alone")
    parser.add_argument(
        "--plot", type=Path, metavar="FOLDER", help="draw pages and words found against fetches (not with --quick)"
    )
    parser.add_argument("--warc", type=Path, action="append", help="replay stored pages (repeatable)")
    parser.add_argument(
        "--seed-url", action="append", default=[], help="where a replay starts (repeatable; default: first page)"
    )
    parser.add_argument("--language", default="zul", help="target language of a replay")
    parser.add_argument("--model", type=Path, help="language model of a replay (default: the shipped one)")
    arguments = parser.parse_args()
    if arguments.plot and arguments.quick:
        parser.error("--quick draws nothing: --plot goes without it")
    if arguments.delay is not None and not 0 <= arguments.delay <= 3600:
        parser.error(f"--delay: {arguments.delay:g} is no number of seconds from 0 to 3600")
    if arguments.delay is not None and (arguments.quick or arguments.plot or arguments.warc):
        parser.error("--delay has a table of its own: --quick, --plot and --warc go without it")
    if arguments.seeds < 1:
        parser.error(f"--seeds: {arguments.seeds} is below 1")
    if arguments.warc:
        try:
            model = load(arguments.model) if arguments.model else None
            web = replay.read_web(arguments.warc, arguments.language, arguments.seed_url, model)
        except (OSError, ModelError, replay.NothingToReplayError) as error:
            parser.error(str(error))
        found = run(web)
        print("\n".join(table("replay", [(web, found)])))
        if beyond := sum(node.relevant for node in web.nodes) - found["oracle"].reachable:
            print(f"{beyond} relevant pages cannot be reached from {web.nodes[web.seeds[0]].url}: see --seed-url")
        if arguments.plot:
            plot(arguments.plot, "replay", found)
        return
    for name in arguments.web or WEBS:
        webs = (kinds[name](seed) for seed in range(arguments.first, arguments.first + arguments.seeds))
        if arguments.delay is not None:
            print("\n".join(delayed(name, list(webs), arguments.delay)) + "\n", flush=True)
            continue
        if arguments.quick:
            print(quick(name, webs), flush=True)
            continue
        runs = [(web, run(web)) for web in webs]
        print("\n".join(table(name, runs)) + "\n", flush=True)
        if arguments.plot:
            plot(arguments.plot, name, runs[0][1])


if __name__ == "__main__":
    end_with(main)
