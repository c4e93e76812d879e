"""A trap that no rule knows, on a host that is worth a crawl: it costs some of its pages, and no others."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.integration.crawler.harness import QUICK, run, run_here
from tests.integration.crawler.serving import Host, HostHandler, hosts
from tests.sample import sentences

GOOD, ENGLISH, MOST_OF_A_TRAP, MOST_OF_SESSIONS = 60, 20, 45, 150
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


class Sessions(HostHandler):
    """Twelve articles, each linked at an ever new address: more of them than the frontier remembers the texts of."""

    def asked(self) -> None:
        if self.path == "/robots.txt":
            self.answer(404, b"")
            return
        *_, session, article = f"0{self.path}0".split("/")
        text = sentences("zul", random.Random(article), 120)
        links = [f"/{int(session) * 12 + number}/0{number}" for number in range(1, 13)]
        body = f"<html><p>{text}</p>" + "".join(f'<p><a href="{link}">bheka</a></p>' for link in links)
        self.answer(200, body.encode(), Content_Type="text/html; charset=utf-8")


def crawl(web: Host, folder: Path) -> tuple[list[str], dict[str, int]]:
    """The paths that were asked for, and what is parked why."""
    seeds = folder / "trap.toml"
    site = f'[[site]]\nurl = "http://{web.host}:{web.port}/"\n'
    seeds.write_text(f'[crawl]\nname = "trap"\nlanguage = "zul"\ncontact = "me@a.test"\n{site}')
    settings = QUICK | {"DATA_DIR": str(folder / "data"), "FRONTIER_DELAY_S": "0.02"}
    done = run("crawl", "trap", "-a", f"seeds={seeds}", **settings)
    assert done.returncode == 0, done.stderr
    status = run_here("frontier", "status", "--json", **settings)
    return [path for _, path in web.asked], json.loads(status.stdout)["by_reason"]


def test_a_host_gives_all_but_its_trap(tmp_path: Path) -> None:
    with hosts(Handler, ["127.71.0.8"]) as web:
        paths, parked = crawl(web, tmp_path)
    articles = [f"/izindaba/{n}" for n in range(1, GOOD + 1)] + [f"/news/{n}" for n in range(1, ENGLISH + 1)]
    assert sorted(path for path in paths if "visit" not in path) == sorted(["/robots.txt", "/", *articles])
    assert len(paths) - len(articles) - 2 <= MOST_OF_A_TRAP
    assert parked.keys() == {"trap_equal_pages"}


def test_articles_at_ever_new_addresses_come_to_an_end(tmp_path: Path) -> None:
    with hosts(Sessions, ["127.71.0.9"]) as web:
        paths, parked = crawl(web, tmp_path)
    assert {path.rpartition("/")[2] for path in paths} >= {f"0{number}" for number in range(1, 13)}
    assert len(paths) <= MOST_OF_SESSIONS
    assert parked.keys() == {"trap_equal_pages"}
