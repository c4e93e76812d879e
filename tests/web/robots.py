"""robots.txt of every kind, and an own small reader of RFC 9309 by which the verifier judges.

The reader is written from the RFC (section 2.2: groups, longest match, `*` and `$`, octets compared percent-decoded),
apart from the crawler's, so that the two can disagree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from tests.web.hashing import draw
from tests.web.sites import Site
from tests.web.spec import CLOSED_ROBOTS, UNCLEAR_ROBOTS, WebSpec

LIMIT_BYTES = 500 * 1024
#: How many redirects lead to the rules, by kind.
HOPS = {"redirect": 1, "redirect_host": 1, "redirect5": 5, "redirect8": 8}
_STATUS = {"missing": 404, "gone": 410, "forbidden": 403, "error500": 500, "down503": 503}


def status_of(kind: str) -> int:
    """Status of the answer that counts (after redirects and passing failures); 0: none comes."""
    return 0 if kind in ("cut", "hang", "redirect_loop") else _STATUS.get(kind, 200)


def verdict(kind: str) -> str:
    """What the host's robots.txt means as a whole: "rules" | "allow" | "deny" | "unclear"."""
    if kind in UNCLEAR_ROBOTS or kind == "delay_huge":
        return "unclear"
    if kind in CLOSED_ROBOTS:
        return "deny"
    return "allow" if status_of(kind) != 200 or kind in ("html", "empty") else "rules"


def body(spec: WebSpec, site: Site) -> bytes:
    """The bytes of the final answer."""
    return _body(site.robots, spec.agent, spec.crawl_delay_s, f"{site.authority}/sitemap.xml", site.sections)


@lru_cache(maxsize=4096)
def _body(kind: str, agent: str, delay_s: float, sitemap: str, sections: tuple[str, ...]) -> bytes:
    rules = "User-agent: *\nDisallow: /private/\n"
    tail = f"\nSitemap: {sitemap}\n"
    match kind:
        case "shapes":
            text = _SHAPES.format(section7=sections[7], section8=sections[8]) + tail
        case "delay":
            text = f"{rules}Crawl-delay: {delay_s:g}\n{tail}"
        case "delay_fraction":
            text = f"user-agent:*\ncrawl-delay : {delay_s / 2:g} # seconds\ndisallow:/private/\n"
        case "delay_huge":
            text = f"{rules}Crawl-delay: 86400\n"
        case "agents":
            text = (
                f"User-agent: *\nDisallow: /\n\nUser-agent: otherbot\nUser-agent: {agent}\nDisallow: /private/\n{tail}"
            )
        case "deny":
            text = "User-agent: *\nDisallow: /\n"
        case "empty":
            text = ""
        case "html":
            text = "<!DOCTYPE html><html><body><h1>Ikhasi alitholakali</h1>\n<p>Disallow: nothing</p></body></html>\n"
        case "huge":
            filler = "".join(f"# {n:08d} {'ulwembu' * 12}\n" for n in range(6500))
            text = rules + filler + "User-agent: *\nDisallow: /\n"
        case _:
            text = rules + tail
    if kind == "bom":
        return b"\xef\xbb\xbf" + text.encode()
    return text.replace("\n", "\r\n").encode() if kind == "crlf" else text.encode()


_SHAPES = """# every shape of a rule
User-agent: *   # all
Disallow: /private
Disallow: /*/print$
Disallow: /{section8}/*?view=raw
Disallow: /closed/
Allow: /closed/open-
Disallow: /Uhlu
Disallow: /caf%c3%a9/
Disallow:
Noindex: /{section7}/
Disallow: /*.exe$
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one robots.txt for one agent."""

    lines: tuple[tuple[int, bool, re.Pattern[bytes]], ...]  # longest first, Allow before Disallow
    delay_s: float | None

    def allowed(self, target: str) -> bool:
        """`target`: path and query as requested."""
        octets = _octets(target)
        for _length, allow, pattern in self.lines:
            if pattern.match(octets):
                return allow
        return True


@lru_cache(maxsize=4096)
def parse(text: bytes, agent: str) -> Rules:
    """Rules of the group of `agent` (a product token), else of `*`. Lines after 500 KiB are not looked at."""
    groups: dict[str, list[tuple[str, str]]] = {}
    current: list[str] = []
    open_group = False
    for raw in text[:LIMIT_BYTES].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").splitlines():
        name, colon, value = raw.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon:
            continue
        if name == "user-agent":
            current = [*current, value.lower()] if open_group else [value.lower()]
            open_group = True
            groups.setdefault(value.lower(), [])
        elif name in ("allow", "disallow", "crawl-delay"):
            open_group = False
            for one in current:
                groups[one].append((name, value))
    lines = groups.get(agent.lower(), groups.get("*", []))
    delays = [float(v) for n, v in lines if n == "crawl-delay" and re.fullmatch(r"\d+(\.\d+)?", v)]
    rules = [(len(v.encode()), n == "allow", _pattern(v)) for n, v in lines if n != "crawl-delay" and v]
    rules.sort(key=lambda rule: (-rule[0], not rule[1]))
    return Rules(tuple(rules), delays[0] if delays else None)


def _octets(text: str) -> bytes:
    """Percent-decoded, but that an encoded "/" or "%" stays different from a plain one."""
    return unquote_to_bytes(re.sub(r"%(2[fF]|25)", lambda m: "%25" + m[1].upper(), text))


def _pattern(value: str) -> re.Pattern[bytes]:
    anchored = value.endswith("$")
    octets = _octets(value.removesuffix("$") if anchored else value)
    return re.compile(b".*".join(map(re.escape, octets.split(b"*"))) + (b"$" if anchored else b""), re.DOTALL)


def rules_of(spec: WebSpec, site: Site, agent: str) -> Rules:
    """The rules that hold for the site once its robots.txt has been answered; unlimited where that means "allow"."""
    if verdict(site.robots) in ("rules", "unclear"):
        return parse(body(spec, site), agent)
    return Rules((), None)


def chain(spec: WebSpec, sites: tuple[Site, ...], site: Site) -> list[tuple[Site, str]]:
    """(site, path) of each request that reading this robots.txt takes, the last one gives the rules."""
    hops = HOPS.get(site.robots, 0)
    places = [(site, "/robots.txt")]
    for n in range(1, hops + 1):
        there = site
        if site.robots == "redirect_host":
            opened = [other for other in sites if other.opens and other.index != site.index]
            there = opened[draw(spec.seed, "robots host", site.index) % len(opened)] if opened else site
        places.append((there, f"/go/robots{site.index}/{hops - n}"))
    return places
