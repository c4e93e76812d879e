"""The hosts of a synthetic web: names, addresses, languages, sizes, and which host leads to which.

All of it is computed once from the specification (a few hundred bytes a host); the pages themselves are not.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from tests.web.hashing import draw, draws, pick, share
from tests.web.spec import OPEN_ROBOTS, WebSpec

BRANCHING = 12
TEMPLATES = ("news", "blog", "wiki", "forum", "government")
#: Kinds with rules of which one closes the section `private` (the last one).
RULED_ROBOTS = (
    "normal", "shapes", "delay", "bom", "redirect", "agents", "flaky503", "redirect_host", "slow", "huge", "crlf",
    "delay_fraction", "redirect5", "delay_huge",
)  # fmt: skip
_STEMS = {
    "zul": ("izindaba", "ibhulogi", "ulwazi", "inkundla", "uhulumeni"),
    "xho": ("iindaba", "iblogi", "ulwazi-xh", "iqonga", "urhulumente"),
    "eng": ("news", "blog", "wiki", "forum", "gov"),
    "afr": ("nuus", "blogjoernaal", "kennis", "gesels", "regering"),
}
_SECTIONS = {
    "zul": ("izindaba", "ezemidlalo", "amasiko", "umnotho", "imfundo", "ezempilo", "umculo", "umphakathi", "uhambo",
            "ezolimo", "imibono", "izaziso"),
    "eng": ("news", "sport", "culture", "business", "education", "health", "music", "community", "travel", "farming",
            "opinion", "notices"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """One host. `role`: target | mixed | gateway | other. `languages[s]`: of section `s` (0: the home page)."""

    index: int
    name: str
    address: str
    port: int
    authority: str  # "http://host:port", without a path
    role: str
    language: str
    languages: tuple[str, ...]
    sections: tuple[str, ...]  # path segment(s) of each section; [0] is ""
    template: str
    robots: str
    pages: int

    @property
    def host(self) -> str:
        """Value of the Host header that names this site."""
        return self.authority.removeprefix("http://")

    @property
    def opens(self) -> bool:
        """Can pages of it be fetched at all, by its robots.txt?"""
        return self.robots in OPEN_ROBOTS


def build_sites(spec: WebSpec) -> tuple[Site, ...]:
    """The hosts in order; host 0 is always open and leads to all others."""
    addresses = spec.addresses or spec.hosts
    weights = [0.3 + share(draw(spec.seed, "size", h)) for h in range(spec.hosts)]
    total, spare = sum(weights), spec.pages - spec.hosts
    sizes = [1 + int(spare * w / total) for w in weights]
    sizes[0] += spec.pages - sum(sizes)
    on_address: dict[int, int] = defaultdict(int)
    sites = []
    for h in range(spec.hosts):
        a = h if h < addresses else draw(spec.seed, "address", h) % addresses
        role, language = _role(spec, h)
        template = pick(TEMPLATES, draw(spec.seed, "template", h))
        stem = _STEMS.get(language, _STEMS["eng"])[TEMPLATES.index(template)]
        if language not in _STEMS:
            stem = f"{stem}-{language}"
        name = f"{stem}-{h:02d}.test"
        address = f"127.{70 + a // 62500}.{a // 250 % 250}.{1 + a % 250}"
        port = spec.port if spec.named else spec.port + on_address[a]
        on_address[a] += 1
        authority = f"http://{name if spec.named else address}" + ("" if port == 80 else f":{port}")
        languages, sections = _sections(spec, h, role, language)
        robots = "normal" if h == 0 else spec.robots[(h - 1) % len(spec.robots)]
        sections = _with_styles(sections, robots)
        sites.append(
            Site(h, name, address, port, authority, role, language, languages, sections, template, robots, sizes[h])
        )
    return tuple(sites)


def _role(spec: WebSpec, h: int) -> tuple[str, str]:
    """Role and main language of host `h`; the shares follow the structure, and 12 hosts show all roles."""
    others = spec.others or ("eng",)
    other = others[0] if h == 0 else pick(others, draw(spec.seed, "other", h))
    # A low-discrepancy sequence: any prefix of the hosts has about the right share of target hosts.
    target = (h * 0.6180339887 + 0.11) % 1.0 < spec.target_share
    if spec.structure == "clustered":
        return ("target", spec.language) if target else ("other", other)
    if spec.structure == "mixed":
        return ("mixed", spec.language) if target else ("other", other)
    if spec.structure == "gateways":
        if h % 4 == 0:
            return "gateway", others[0]
        return ("target", spec.language) if target else ("other", other)
    if h == 0:
        return "target", spec.language
    if target:
        return ("mixed" if h % 4 == 3 else "target"), spec.language
    return ("gateway", others[0]) if h % 5 == 4 else ("other", other)


def _sections(spec: WebSpec, h: int, role: str, language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    numbers = draws(2 * BRANCHING + 2, spec.seed, "sections", h)
    languages, sections = [language], [""]
    others = spec.others or ("eng",)
    for s in range(1, BRANCHING + 1):
        tongue = language
        if role == "mixed":
            tongue = language if s % 2 else others[0]
        elif role == "target" and numbers[s] % 12 == 0:
            tongue = others[0]
        elif role in ("other", "gateway") and numbers[s] % 40 == 0:
            tongue = spec.language
        words = _SECTIONS.get(tongue, _SECTIONS["eng"])
        word = words[s - 1]
        languages.append(tongue)
        sections.append(f"{short_code(tongue)}/{word}" if role == "mixed" else word)
    return tuple(languages), tuple(sections)


def _with_styles(sections: tuple[str, ...], robots: str) -> tuple[str, ...]:
    """Section names as the robots rules of that kind need them (see `tests.web.robots`)."""
    named = list(sections)
    if robots == "shapes":
        named[9], named[10], named[11] = "closed", "uhlu", "caf%C3%A9"
    if robots in RULED_ROBOTS:
        named[12] = "private"
    return tuple(named)


_SHORT_CODES = {
    "zul": "zu", "xho": "xh", "eng": "en", "afr": "af", "ssw": "ss", "nbl": "nr", "sot": "st", "tsn": "tn",
    "nso": "nso", "tso": "ts", "ven": "ve", "sna": "sn", "nya": "ny", "swh": "sw", "por": "pt", "fra": "fr",
    "deu": "de", "ces": "cs", "slk": "sk", "ita": "it",
}  # fmt: skip


def short_code(language: str) -> str:
    """ISO 639-1 code where there is one (what sites put into paths and `lang`)."""
    return _SHORT_CODES.get(language, language)


def host_links(spec: WebSpec, sites: tuple[Site, ...]) -> dict[tuple[int, int], tuple[int, ...]]:
    """(host, page) -> hosts whose home page that page links to, such that every host is reached from host 0.

    A target host hangs on a gateway or another target host where there is one, others on others.
    """
    table: dict[tuple[int, int], list[int]] = defaultdict(list)
    kin: dict[bool, list[int]] = {True: [], False: []}
    opened: list[int] = []
    for site in sites:
        if site.index:
            near = kin[site.role in ("target", "mixed")] or opened
            crowd = near if draw(spec.seed, "kin", site.index) % 5 else opened
            parent = sites[pick(crowd, draw(spec.seed, "parent", site.index))]
            # Pages 0 … 6: the home page and section heads that no robots rule or oddity touches.
            page = draw(spec.seed, "parent page", site.index) % min(parent.pages, 7)
            table[parent.index, page].append(site.index)
        if site.opens:
            opened.append(site.index)
            kin[site.role in ("target", "mixed")].append(site.index)
            if site.role == "gateway":
                kin[True].append(site.index)
    return {place: tuple(hosts) for place, hosts in table.items()}
