"""A trap that no rule knows, on a host that is worth a crawl: it costs some of its pages, and no others."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import Host, HostHandler, hosts
from tests.sample import sentences

GOOD, ENGLISH, MOST_OF_A_TRAP = 60, 20, 45
TRAP_TEXT = sentences("zul", random.Random("trap"), 80)


class Handler(HostHandler):
    """Articles of two languages, each with links to two more and two into a trap, whose pages have ten."""

    def asked(self) -> None:
        if self.path == "/robots.txt":
            self.answer(404, b"")
            return
        _, section, name = self.path.split("/") if self.path != "/" else ("", "", "0")
        number = int(name)
        if section == "visit":
            text, links = TRAP_TEXT, [f"/visit/{number * 10 + step}" for step in range(10)]
        else:
            language = "eng" if section == "news" else "zul"
            text = sentences(language, random.Random(f"{section} {number}"), 120)
            links = [f"/visit/{hash_of(section, number) + step}" for step in range(2)]
            if not section:
                links += ["/news/1", "/izindaba/1"]
            else:
                last = ENGLISH if section == "news" else GOOD
                links += [f"/{section}/{n}" for n in (2 * number, 2 * number + 1) if n <= last]
        body = f"<html><p>{text}</p>" + "".join(f'<p><a href="{link}">bheka</a></p>' for link in links)
        self.answer(200, body.encode(), Content_Type="text/html; charset=utf-8")


def hash_of(section: str, number: int) -> int:
    """Not met by chance within the trap."""
    return (len(section) * 1000 + number) * 10**9 + 7


@pytest.fixture
def web() -> Iterator[Host]:
    with hosts(Handler, ["127.71.0.8"]) as first:
        yield first


def test_a_host_gives_all_but_its_trap(web: Host, tmp_path: Path) -> None:
    seeds = tmp_path / "trap.toml"
    site = f'[[site]]\nurl = "http://127.71.0.8:{web.port}/"\n'
    seeds.write_text(f'[crawl]\nname = "trap"\nlanguage = "zul"\ncontact = "me@a.test"\n{site}')
    settings = QUICK | {"DATA_DIR": str(tmp_path / "data"), "FRONTIER_DELAY_S": "0.02"}
    done = run("crawl", "trap", "-a", f"seeds={seeds}", **settings)
    paths = [path for _, path in web.asked]
    assert done.returncode == 0, done.stderr
    articles = [f"/izindaba/{n}" for n in range(1, GOOD + 1)] + [f"/news/{n}" for n in range(1, ENGLISH + 1)]
    assert sorted(path for path in paths if "visit" not in path) == sorted(["/robots.txt", "/", *articles])
    assert len(paths) - len(articles) - 2 <= MOST_OF_A_TRAP
    status = run("frontier", "status", "--json", **settings)
    assert json.loads(status.stdout)["by_reason"].keys() == {"trap_equal_pages"}
