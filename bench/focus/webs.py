"""Synthetic webs in memory: hosts, pages, links with anchors, some of it relevant. Every page is drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from relevance.language.model import Model
from relevance.steering.policy import Target

ZULU = ("funda kabanzi", "izindaba zanamuhla", "ezemidlalo", "umphakathi wethu", "bhala kithi", "ukuthola okuningi")
ENGLISH = ("read more", "latest news", "sport", "contact us", "about this site", "privacy policy")


ISIZULU = Target("zul", ("xho", "nbl", "ssw"))


@dataclass(slots=True)
class Node:
    """A page of a synthetic web."""

    url: str
    relevant: bool
    words: int  # clean target words
    total: int  # words of any language
    size: int  # bytes
    html_lang: str
    links: list[tuple[int, str, bool, str]] = field(default_factory=list)  # target, anchor, navigation?, hreflang


@dataclass(slots=True)
class Web:
    name: str
    nodes: list[Node]
    seeds: list[int]
    target: Target = ISIZULU
    model: Model | None = None  # None: the shipped one


class Builder:
    """Adds pages and links by simple rules."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.rng = random.Random(seed)
        self.nodes: list[Node] = []

    def page(self, url: str, relevant: bool) -> int:
        rng = self.rng
        total = int(rng.lognormvariate(5.7, 0.6)) + 30
        words = int(total * rng.uniform(0.6, 1.0)) if relevant else int(total * max(0.0, rng.gauss(-0.02, 0.03)))
        relevant = words >= 20 and words >= 0.3 * total
        lang = rng.choices(("zu", "en", ""), (3, 5, 2))[0] if relevant else rng.choices(("en", "", "fr"), (7, 2, 1))[0]
        self.nodes.append(Node(url, relevant, words, total, total * 7 + rng.randint(4000, 30000), lang))
        return len(self.nodes) - 1

    def link(self, source: int, target: int, nav: bool = False, telling: float = 0.5) -> None:
        """telling: how often the anchor is in the language of the page behind it."""
        rng = self.rng
        ours = self.nodes[target].relevant if rng.random() < telling else rng.random() < 0.1
        anchor = rng.choice(ZULU if ours else ENGLISH) if rng.random() < 0.8 else ""
        self.nodes[source].links.append((target, anchor, nav, ""))

    def host(self, name: str, pages: int, share: float, path: str = "/{n}/post-{n}.html") -> list[int]:
        """A host whose pages hang together: home page, menu, links among themselves (by preference to their like)."""
        rng = self.rng
        home = self.page(f"http://{name}/", share > 0.5)
        inner = [self.page(f"http://{name}" + path.format(n=n), rng.random() < share) for n in range(1, pages)]
        menu = inner[:8]
        for index, page in enumerate(inner):
            self.link(page, home, nav=True)
            for other in menu:
                self.link(page, other, nav=True)
            like = [p for p in inner if self.nodes[p].relevant == self.nodes[page].relevant] or inner
            for _ in range(8):
                self.link(page, rng.choice(like if rng.random() < 0.75 else inner))
            if index + 1 < len(inner):
                self.link(page, inner[index + 1])
        for page in menu + inner[:: max(1, len(inner) // 20)]:
            self.link(home, page)
        return [home, *inner]

    def join(self, source: list[int], target: list[int], count: int, telling: float = 0.5) -> None:
        for _ in range(count):
            where = target[0] if self.rng.random() < 0.5 else self.rng.choice(target)
            self.link(self.rng.choice(source), where, telling=telling)

    def done(self, seeds: list[int]) -> Web:
        return Web(self.name, self.nodes, seeds)


def clustered(seed: int) -> Web:
    """Eight isiZulu hosts that know each other, forty others that they also link to."""
    b = Builder("clustered", seed)
    ours = [b.host(f"izindaba{i}.example", b.rng.randint(60, 180), 0.92) for i in range(8)]
    others = [b.host(f"site{i}.example", b.rng.randint(60, 180), 0.005) for i in range(40)]
    for a in ours:
        for _ in range(3):
            b.join(a, b.rng.choice(ours), 3)
        for _ in range(8):
            b.join(a, b.rng.choice(others), 4)
    for a in others:
        for _ in range(6):
            b.join(a, b.rng.choice(others), 6)
    return b.done([ours[0][0], ours[3][0]])


def mixed(seed: int) -> Web:
    """Hosts in several languages, half of them with the language in the path, half without."""
    b = Builder("mixed", seed)
    hosts = []
    for i in range(14):
        name = f"multi{i}.example"
        if i % 2:
            hosts.append(b.host(name, 220, 0.2, "/item/{n}"))
            continue
        parts = [
            b.host(f"{name}/{tag}", 70, 0.95 if tag == "zu" else 0.0, "/news/{n}.html") for tag in ("zu", "en", "xh")
        ]
        for part in parts:
            for page in part:
                for other in parts:
                    b.link(page, other[0], nav=True)
        hosts.append([page for part in parts for page in part])
    others = [b.host(f"site{i}.example", b.rng.randint(60, 160), 0.0) for i in range(20)]
    for a in [*hosts, *others]:
        for _ in range(4):
            b.join(a, b.rng.choice(hosts if b.rng.random() < 0.4 else others), 5)
    for i in range(len(hosts)):
        b.join(hosts[i - 1], hosts[i], 6)
    return b.done([hosts[0][0], hosts[1][0]])


def gateways(seed: int) -> Web:
    """isiZulu sites that are linked from English directories and portals, hardly from each other."""
    b = Builder("gateways", seed)
    portals = [b.host(f"portal{i}.example", 40, 0.0, "/directory/{n}.html") for i in range(6)]
    ours = [b.host(f"isizulu{i}.example", b.rng.randint(40, 140), 0.9) for i in range(12)]
    others = [b.host(f"site{i}.example", b.rng.randint(60, 160), 0.003) for i in range(40)]
    for i, a in enumerate(ours):
        for _ in range(3):
            b.join(b.rng.choice(portals), a, 3)
        b.join(a, b.rng.choice(portals), 4)
        b.join(portals[i % 6], a, 4)
        b.join(a, b.rng.choice(others), 10)
    for i, a in enumerate(portals):
        b.join(a, portals[i - 1], 5)
        for _ in range(10):
            b.join(a, b.rng.choice(others), 4)
    for a in others:
        for _ in range(4):
            b.join(a, b.rng.choice(others), 6)
    return b.done([ours[0][0], portals[0][0]])


def noisy(seed: int) -> Web:
    """Small isiZulu sections inside large hosts full of calendars and listings."""
    b = Builder("noisy", seed)
    hosts = []
    for i in range(10):
        name = f"large{i}.example"
        section = b.host(f"{name}/isizulu", 90, 0.9, "/{n}.html")
        rest = b.host(name, 200, 0.01, "/story/{n}")
        trap = b.host(f"{name}/calendar", 150, 0.0, "/?month={n}&view=day")
        b.join(rest, section, 10)
        b.join(section, rest, 60)
        b.join(rest, trap, 60)
        b.join(section, trap, 30)
        hosts.append(section + rest + trap)
    for i in range(len(hosts)):
        b.join(hosts[i - 1][:90], hosts[i][:90], 5)
        b.join(hosts[i - 1], b.rng.choice(hosts), 20)
    return b.done([hosts[0][0]])


WEBS: dict[str, Callable[[int], Web]] = {
    "clustered": clustered,
    "mixed": mixed,
    "gateways": gateways,
    "noisy": noisy,
}
