"""Real OPML lists: every feed of them, once."""

from __future__ import annotations

import re

import pytest

from seeds.survey.lists import read_list
from tests.conformance.seeds.data import FEEDS

LISTS = sorted((FEEDS / "opml").glob("*.opml")) if FEEDS.exists() else []


@pytest.mark.skipif(not LISTS, reason=f"no outside cases at {FEEDS}")
@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.name)
def test_opml(path: object) -> None:
    body = path.read_bytes()  # type: ignore[attr-defined]
    named = {url.replace("&amp;", "&") for url in re.findall(r'xmlUrl="([^"]+)"', body.decode("utf-8"))}
    assert {listed.url for listed in read_list(body)} == named
