"""What the pages for people lead to, and the files and settings that they name, are there."""

from __future__ import annotations

import re
from pathlib import Path

from crawler.options import OPTIONS, PREFIXES

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_FENCED = re.compile(r"^```.*?^```", re.M | re.S)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """Those that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ +(.+)$", _FENCED.sub("", text_of(page)), re.M)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain}


def test_links_between_pages_lead_somewhere() -> None:
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page))]
    inside = [(page, *link.partition("#")[::2]) for page, link in links if not link.startswith("http")]
    assert len(inside) > 100
    for page, file, anchor in inside:
        there = page.parent / file if file else page
        assert there.exists(), f"{page.name}: {file}"
        assert not anchor or anchor in anchors(there), f"{page.name}: {file}#{anchor}"


def test_settings_that_pages_name_are_there() -> None:
    known = {option.name for option in OPTIONS}
    pattern = re.compile(rf"\b(?:{'|'.join(PREFIXES)})[A-Z_]*[A-Z]\b(?!\*)")
    named = {name for page in PAGES for name in pattern.findall(text_of(page))}
    assert len(named) > 40
    assert named - known == {"RELEVANCE_CACHE"}  # of the environment


def test_files_that_pages_name_are_there() -> None:
    rooms = "sieve|frontier|relevance|archive|seeds|crawler|corpus|deploy|tests|bench"
    pattern = re.compile(rf"`((?:{rooms})/[a-z_./-]+\.(?:py|lua|toml|txt|conf|yaml|yml|json|md))`")
    named = {name for page in PAGES for name in pattern.findall(text_of(page))}
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []
