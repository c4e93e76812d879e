"""Against outside cases: links and languages of saved pages, the encoding prescan, near-duplicates."""

import base64
import gzip
import hashlib
import json
import lzma
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest
from selectolax.lexbor import LexborHTMLParser

from relevance.language.alphabet import words
from relevance.pages.encoding import decode, known, prescan
from relevance.pages.page import read_page
from relevance.pages.simhash import NEAR, distance, simhash

DATA = Path(__file__).parents[3].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the shared data is not here")


def _load(name: Any) -> Any:
    path = DATA / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def _absolute(page: Any, hrefs: Any) -> Any:
    out, base = set(), urljoin(page.url, page.base or "")
    for href in hrefs:
        try:
            url = urldefrag(urljoin(base, href)).url
        except ValueError:
            continue
        if url.startswith(("http://", "https://")):
            out.add(url)
    return hashlib.sha1("\n".join(sorted(out)).encode()).hexdigest()


AREAS = {"aeb/65408257dbe4b41f.html.gz", "trafilatura/0c55e3a3cdac.html.gz"}
"""Pages with <area href>, which the reference does not count and we do."""


def test_links_and_language_of_saved_pages() -> None:
    compared = 0
    for case in _load("pages/features.json"):
        path = DATA / "pages" / case["file"]
        if not path.exists() or not case["url"].startswith("http"):
            continue
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        page = read_page(body, case["url"])
        if "links_sha1" in case and case["file"] not in AREAS:
            frames = LexborHTMLParser(decode(body).text).css("frame[src],iframe[src],embed[src],object[data]")
            links = page.links[: len(page.links) - len(frames)]  # the reference does not count these, which come last
            assert _absolute(page, [link.href for link in links]) == case["links_sha1"], case["file"]
            compared += 1
        if case.get("lang"):
            assert page.html_lang == case["lang"].lower(), case["file"]
        if case.get("canonical") and len(case["canonical"]) == 1:
            assert urljoin(page.url, page.canonical or "") == case["canonical"][0].strip(), case["file"]
    assert compared > 50


@pytest.mark.parametrize("case", _load("encoding/html5lib_encoding.json"), ids=lambda case: str(case.get("id")))
def test_the_encoding_prescan(case: Any) -> None:
    given = case.get("html")
    html = base64.b64decode(case["html_b64"]) if given is None else given.encode("latin-1", "replace")
    expected = known(case["expected_encoding"])
    if expected == "cp1252":
        assert prescan(html[:8192]) in (None, "cp1252")
    elif b"document.write" in html or html.startswith(b"<!-- multi-script test"):
        pytest.skip("written by a script, which is not run")
    else:
        assert decode(html).charset == expected


def test_real_texts_keep_their_letters() -> None:
    """Where the declared or guessed encoding is the true one; undeclared legacy encodings are not guessed."""
    right = total = 0
    for case in _load("encoding/chardet_truth.json"):
        path = DATA / "encoding" / case["file"]
        if path.exists() and known(case["encoding"]) in ("utf-8", "utf-16-le", "utf-16-be", "cp1252"):
            total += 1
            right += decode(path.read_bytes()).charset in (known(case["encoding"]), "utf-8")
    assert right >= 0.9 * total


def test_near_duplicates() -> None:
    pages = {}
    path = DATA / "neardup" / "wikipedia_variants" / "pages.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            page = json.loads(line)
            blocks = read_page(page["html"].encode(), page["url"]).blocks
            pages[page["id"]] = simhash(words("\n".join(block.text for block in blocks if block.weight >= 0.9)))
    right = {True: [0, 0], False: [0, 0]}
    for pair in _load("neardup/wikipedia_variants/pairs.json"):
        same = distance(pages[pair["a"]], pages[pair["b"]]) <= NEAR
        right[pair["near_duplicate"]][0] += same == pair["near_duplicate"]
        right[pair["near_duplicate"]][1] += 1
    assert right[False][0] == right[False][1]
    assert right[True][0] >= 0.85 * right[True][1]
