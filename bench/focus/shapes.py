"""Synthetic webs of other shapes than the four of `bench.focus.webs`: where steering by host and path is harder."""

from __future__ import annotations

from collections.abc import Callable

from bench.focus.webs import Builder, Web


def few(seed: int) -> Web:
    """Four hosts: one nearly all isiZulu, one three tenths, two not at all."""
    b = Builder("few", seed)
    hosts = [b.host(f"a{i}.example", 300, share) for i, share in enumerate((0.9, 0.3))]
    hosts += [b.host(f"b{i}.example", 400, 0.0) for i in range(2)]
    for i, host in enumerate(hosts):
        for j, other in enumerate(hosts):
            if i != j:
                b.join(host, other, 8)
    return b.done([hosts[0][0], hosts[2][0]])


def huge(seed: int) -> Web:
    """One host with six sections of 500 pages, each of another share, and a small section that few pages link to."""
    b = Builder("huge", seed)
    large: list[int] = []
    for section in ("news", "sport", "blog", "forum", "docs", "wiki"):
        large += b.host(f"big.example/{section}", 500, b.rng.choice((0.0, 0.05, 0.5, 0.9)), "/{n}.html")
    hidden = b.host("big.example/abc", 250, 0.9, "/{n}.html")
    for _ in range(200):
        b.link(b.rng.choice(large), b.rng.choice(large))
    for _ in range(8):
        b.link(b.rng.choice(large), b.rng.choice(hidden))
    for home in range(0, len(large), 500):
        b.link(large[0], large[home])
    for small in [b.host(f"s{i}.example", 60, 0.0) for i in range(10)]:
        b.join(large + hidden, small, 10)
        b.join(small, large + hidden, 5)
    return b.done([large[0]])


def sections(seed: int) -> Web:
    """English hosts, a third of them with a small isiZulu section, most of these without a tag in the URL."""
    b = Builder("sections", seed)
    hosts = []
    for i in range(15):
        name = f"eng{i}.example"
        pages = b.host(name, b.rng.randint(100, 250), 0.0, "/story/{n}")
        if i % 3 == 0:
            section = b.host(f"{name}/{'zu' if i % 2 else 'local'}", b.rng.randint(30, 90), 0.95, "/{n}")
            b.join(pages, section, 5)
            b.join(section, pages, 20)
            pages = pages + section
        hosts.append(pages)
    _knit(b, hosts, 4, 6)
    return b.done([hosts[0][0], hosts[1][0]])


def blogs(seed: int) -> Web:
    """150 hosts of 8-40 pages, a fifth of them isiZulu, which link to their like."""
    b = Builder("blogs", seed)
    hosts: list[list[int]] = []
    ours: list[list[int]] = []
    for i in range(150):
        is_ours = b.rng.random() < 0.2
        pages = b.rng.randint(8, 40)
        host = b.host(f"blog{i}.example", pages, 0.9 if is_ours else b.rng.choice((0, 0, 0, 0.05)), "/{n}/title-{n}")
        hosts.append(host)
        if is_ours:
            ours.append(host)
    for host in hosts:
        to_ours = 0.5 if host in ours else 0.08
        for _ in range(5):
            b.join(host, b.rng.choice(ours if b.rng.random() < to_ours else hosts), 2)
    return b.done([ours[0][0], ours[1][0]])


def grades(seed: int) -> Web:
    """30 hosts of any share, none of which says so."""
    b = Builder("grades", seed)
    hosts = [b.host(f"g{i}.example", b.rng.randint(60, 250), b.rng.random() ** 3) for i in range(30)]
    _knit(b, hosts, 5, 4)
    return b.done([hosts[0][0], hosts[1][0]])


def rare(seed: int) -> Web:
    """One page in a hundred is isiZulu, at random: nothing can be known."""
    b = Builder("rare", seed)
    hosts = [b.host(f"r{i}.example", b.rng.randint(60, 160), 0.01) for i in range(30)]
    _knit(b, hosts, 5, 4)
    return b.done([hosts[0][0], hosts[1][0]])


def _knit(b: Builder, hosts: list[list[int]], others: int, along: int) -> None:
    """Links from each host to some others, and so many to the next one."""
    for host in hosts:
        for _ in range(others):
            b.join(host, b.rng.choice(hosts), 5)
    for i in range(len(hosts)):
        b.join(hosts[i - 1], hosts[i], along)


SHAPES: dict[str, Callable[[int], Web]] = {
    "few": few,
    "huge": huge,
    "sections": sections,
    "blogs": blogs,
    "grades": grades,
    "rare": rare,
}
