"""What pages embed beside the pages: what is met as the one and is the other, budgets, and workers that are killed."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from archive import Reader
from archive.messages.fields import pairs_of
from tests.integration.crawler.harness import FORGETFUL, QUICK, ROOT, environment, run, run_here, scrapy, wait_for
from tests.integration.crawler.serving import Host, HostHandler, hosts

HERE, THERE = "127.71.0.8", "127.71.0.9"
SENTENCE = "Izindaba zanamuhla ngesiZulu zifundwa ngabantu abaningi ezweni lonke, futhi ziyathandwa kakhulu impela."
WORDS = [
    "ikati",
    "inja",
    "inyoni",
    "inkomo",
    "imbuzi",
    "ihhashi",
    "indlovu",
    "ibhubesi",
    "ingwe",
    "impala",
    "inyathi",
    "ufudu",
    "inyoka",
    "intaba",
]
PICTURE = b"\x89PNG\r\n\x1a\n"
Served = dict[str, tuple[str, bytes]]
"""Media type and body by path; where the type begins with "/" or "http", it is where the answer leads."""


def page(name: str, more: str = "") -> tuple[str, bytes]:
    """In isiZulu, unlike any of another name."""
    text = " ".join(random.Random(name).choices(WORDS, k=40))
    return "text/html", f"<html lang=zu><title>{name}</title><p>{SENTENCE}</p><p>{text}.</p>{more}</html>".encode()


def served(pages: Served) -> AbstractContextManager[Host]:
    """Two hosts that have these; every other picture, too, and nothing else."""

    class Handler(HostHandler):
        def asked(self) -> None:
            kind, body = pages.get(self.path, ("image/png", PICTURE + self.path.encode()))
            status, headers = 200, {"Content_Type": kind}
            if kind.startswith("/"):
                status, headers = 302, {"Location": kind}
            elif self.path not in pages and not self.path.endswith(".png"):
                status, body = 404, b""
            if "noindex" in self.path:
                headers["X_Robots_Tag"] = "noindex"
            self.answer(status, body.replace(b"PORT", str(self.server.port).encode()), **headers)

    return hosts(Handler, (HERE, THERE))


def seeds(folder: Path, web: Host, more: str = "") -> Path:
    path = folder / "shown.toml"
    path.write_text(
        '[crawl]\nname = "shown"\nlanguage = "zul"\ncontact = "me@a.test"\npage_requisites = true\n'
        f'{more}\n[[site]]\nurl = "http://{HERE}:{web.port}/"\n'
    )
    return path


def crawl(web: Host, folder: Path, *words: str, more: str = "", **settings: str) -> list[str]:
    """The paths that were asked for, in order, without robots.txt."""
    settings = {**QUICK, "DATA_DIR": str(folder / "data"), **settings}
    done = run("crawl", "shown", "-a", f"seeds={seeds(folder, web, more)}", *words, **settings)
    assert done.returncode == 0, done.stderr
    return [path for _, path in web.asked if path != "/robots.txt"]


def status(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(
        run_here("frontier", "status", "--crawl", "shown", "--json", DATA_DIR=str(folder / "data")).stdout
    )
    return found


def archived(folder: Path) -> tuple[Counter[str], dict[str, dict[str, str]]]:
    """Which paths' answers the archive has, and how often; what it says of each."""
    answers: Counter[str] = Counter()
    told = {}
    for path in (folder / "data" / "warc").glob("*.warc.xz"):
        for record in Reader(path):
            place = "/" + record.url.split("/", 3)[-1] if record.url else ""
            if record.type == "metadata":
                told[place] = pairs_of(record.block())
            elif record.type in ("response", "revisit"):
                answers[place] += 1
    return answers, told


def test_a_page_that_is_met_as_a_picture_is_a_page(tmp_path: Path) -> None:
    """The sieve lets a URL out once: what a page embeds before another one links to it would be read by nobody. What a
    site gives for all that is missing is none, nor is what may not be followed, nor a script's text."""
    missing = "text/html", f"<p>{SENTENCE}".encode()
    embedded = (
        '<img src="/first"><img src="/moved"><img src="/gone.png"><img src="/lost1"><img src="/lost2">'
        f'<script src="/a.txt"></script><img src="//{THERE}:PORT/elsewhere">'
    )
    pages = {
        "/": page("start", embedded),
        "/first": page("first", '<a href="/behind">1</a><img src="/own.png">'),
        "/behind": page("behind"),
        "/moved": ("/target", b""),
        "/target": page("target"),
        "/elsewhere": page("elsewhere", '<a href="/away">2</a>'),
        "/gone.png": page("gone", '<a href="/away">2</a>'),
        "/lost1": missing,
        "/lost2": missing,
        "/a.txt": ("text/plain", SENTENCE.encode()),
    }
    with served(pages) as web:
        asked = crawl(web, tmp_path, "-o", str(tmp_path / "items.jsonl"), WARC_KEEP="kept")
    assert sorted(asked) == sorted([*pages, "/own.png"])
    answers, told = archived(tmp_path)
    judged = {"/", "/first", "/behind", "/target", "/lost1"}
    assert {path for path, said in told.items() if "verdict" in said} == judged
    assert {path for path, said in told.items() if said["kind"] == "page"} == judged
    assert set(answers) - {"/robots.txt"} == {*pages, "/own.png"}
    items = map(json.loads, (tmp_path / "items.jsonl").read_text().splitlines())
    assert {"/" + item["url"].split("/", 3)[-1] for item in items} == judged - {"/lost1"}
    assert status(tmp_path)["pages"] == len(judged)


def test_a_picture_that_is_met_as_a_link_is_archived(tmp_path: Path) -> None:
    """A gallery links to what it shows, and another page to what a later one does."""
    pages = {
        "/": page("start", '<a href="/both.png"><img src="/both.png"></a><a href="/later.png">1</a><a href="/2">2</a>'),
        "/2": page("second", '<img src="/later.png"><img src="/noindex.png"><a href="/a.zip">3</a>'),
        "/a.zip": ("application/zip", b"PK"),
    }
    with served(pages) as web:
        asked = crawl(web, tmp_path, WARC_KEEP="kept")
    assert sorted(asked) == sorted([*pages, "/both.png", "/later.png", "/noindex.png"])
    answers, told = archived(tmp_path)
    assert set(answers) - {"/robots.txt"} == {"/", "/2", "/both.png", "/later.png"}
    assert told["/both.png"]["kind"] == "requisite"


@pytest.mark.parametrize("how", ["links", "sitemap"])
def test_a_budget_of_pages_leaves_no_page_without_its_pictures(how: str, tmp_path: Path) -> None:
    """Also not the last ones; and what is missing or has moved counts no more than what is there."""
    links = "".join(f'<a href="/{number}">{number}</a>' for number in range(30))
    named = "".join(f"<url><loc>http://{HERE}:PORT/{number}</loc></url>" for number in range(30))
    gone = "".join(f'<img src="/gone{number}"><img src="/away{number}">' for number in range(6))
    pages = {
        "/": page("start", links * (how == "links") + gone),
        "/map": ("application/xml", f"<urlset>{named}</urlset>".encode()),
        **{f"/{number}": page(f"{number}", f'<img src="/{number}.png">') for number in range(30)},
        **{f"/away{number}": (f"/gone{number}", b"") for number in range(6)},
    }
    with served(pages) as web:
        sitemap = f'[[sitemap]]\nurl = "http://{HERE}:{web.port}/map"\n' * (how == "sitemap")
        asked = crawl(web, tmp_path, more=f"max_pages = 10\n{sitemap}")
    fetched = [path for path in asked if path in pages and not path.startswith(("/away", "/map"))]
    assert len(fetched) == 10 - (how == "sitemap")
    assert status(tmp_path)["pages"] == 10
    assert {path + ".png" for path in fetched[1:]} | {f"/gone{number}" for number in range(6)} <= set(asked)


def test_of_the_last_pages_all_is_fetched_that_they_embed_and_no_page_any_more(tmp_path: Path) -> None:
    """What their sheets name, and the sheets of these; what its server wants to be asked for by another spelling; what
    turns out to be a page stays what it was found as."""
    sheet, spelling = f"//{THERE}:PORT/a.css", "/moved.png?utm_source=a"
    shown = f'<link rel=stylesheet href="{sheet}"><img src="/html"><img src="{spelling}"><a href="/next">1</a>'
    pages = {
        "/": page("start", shown),
        "/next": page("next"),
        "/html": page("html", '<a href="/behind">2</a><img src="/own.png">'),
        spelling: ("/moved.png", b""),
        "/a.css": ("text/css", b"@import '/b.css';"),
        "/b.css": ("text/css", b"@import '/c.css'; p { background: url(/b.png) }"),
        "/c.css": ("text/css", b"p { background: url(/c.png) }"),
    }
    with served(pages) as web:
        crawled = crawl(web, tmp_path, more="max_pages = 1", LOG_FILE=str(tmp_path / "log"))
        assert crawl(web, tmp_path, more="max_pages = 1") == crawled, "nor when it is started again"
        next_page = f"http://{HERE}:{web.port}/next"
    wanted = {"/", "/html", "/a.css", "/b.css", "/c.css", "/b.png", "/c.png", spelling, "/moved.png"}
    assert sorted(crawled) == sorted(wanted)
    answers, told = archived(tmp_path)
    assert set(answers) - {"/robots.txt"} == wanted
    assert {path for path, said in told.items() if said["kind"] == "page"} == {"/"}
    assert "The crawl's budget of pages is spent\n" in (tmp_path / "log").read_text()
    folder = {"DATA_DIR": str(tmp_path / "data")}
    said = run_here("frontier", "status", "--crawl", "shown", **folder)
    assert "max_pages of the seed file is spent: what pages embed alone is fetched" in said.stderr
    assert status(tmp_path)["pages"] == 1
    why = run_here("why", next_page, "--crawl", "shown", **folder)
    assert "waits for its turn; but max_pages of the seed file is spent" in why.stdout


def after(web: Host, number: int) -> None:
    """Waits for so many requests more."""
    least = len(web.asked) + number
    wait_for(lambda: len(web.asked) >= least)


def crawl_with_kills(
    web: Host, folder: Path, moments: Sequence[Callable[[], None]], more: str = "", **settings: str
) -> set[str]:
    """By two workers; at each moment, which waits for itself, a new one begins and the oldest is killed. What had been
    asked for when the last one was. Those that are left end by themselves."""
    workers: list[subprocess.Popen[bytes]] = []
    settings = {**QUICK, **FORGETFUL, "FRONTIER_IDLE_CLOSE_S": "8", "DATA_DIR": str(folder / "data")} | settings

    def start() -> None:
        log = {"LOG_FILE": str(folder / f"{len(workers)}.log")}
        command = scrapy("crawl", "shown", "-a", f"seeds={seeds(folder, web, more)}", **settings, **log)
        workers.append(subprocess.Popen(command, cwd=ROOT, env=environment()))

    try:
        start()
        start()
        for oldest, moment in enumerate(moments):
            moment()
            start()
            workers[oldest].kill()
        before = {path for _, path in web.asked}
        wait_for(lambda: all(worker.poll() is not None for worker in workers), 120)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert [worker.returncode for worker in workers[len(moments) :]] == [0, 0]
    return before


def test_each_once_when_workers_are_killed(tmp_path: Path) -> None:
    sheet = "text/css", b"@font-face { src: url(/font.png) } a { background: url(/back.png) }"
    count = 12
    pages = {
        "/": page("start", "".join(f'<a href="/{number}">{number}</a>' for number in range(count))),
        "/a.css": sheet,
    }
    for number in range(count):
        shown = "".join(f'<img src="//{host}:PORT/{number}-{host[-1]}{i}.png">' for host in (HERE, THERE) for i in "ab")
        pages[f"/{number}"] = page(f"{number}", f'<link rel="stylesheet" href="/a.css">{shown}')
    with served(pages) as web:
        crawl_with_kills(web, tmp_path, [lambda: after(web, 20), lambda: after(web, 20)])
        asked = {path for _, path in web.asked}
    answers, told = archived(tmp_path)
    wanted = {*pages, "/font.png", "/back.png"} | {f"/{n}-{h}{i}.png" for n in range(count) for h in "89" for i in "ab"}
    assert asked - {"/robots.txt"} == wanted
    del answers["/robots.txt"]
    assert answers == Counter(dict.fromkeys(wanted, 1))
    assert Counter(said["kind"] for said in told.values())["requisite"] == len(wanted) - count - 1


def test_the_last_pages_are_whole_also_when_workers_are_killed_then(tmp_path: Path) -> None:
    count, most = 12, 4
    pages = {"/": page("start", "".join(f'<a href="/{number}">{number}</a>' for number in range(count)))}
    pictures = {
        f"/{number}": [f"/{number}-{host[-1]}{i}.png" for host in (HERE, THERE) for i in range(12)]
        for number in range(count)
    }
    for path, shown in pictures.items():
        hosts_of = ((THERE if "-9" in one else HERE, one) for one in shown)
        pages[path] = page(path, "".join(f'<img src="//{host}:PORT{one}">' for host, one in hosts_of))
    with served(pages) as web:

        def spent() -> None:
            wait_for(lambda: sum(path in pages for _, path in web.asked) == most)
            after(web, 3)

        moments = [spent, lambda: after(web, 7)]
        before = crawl_with_kills(web, tmp_path, moments, f"max_pages = {most}", FRONTIER_DELAY_S="0.2")
        asked = {path for _, path in web.asked} - {"/robots.txt"}
    fetched = asked.intersection(pages)
    wanted = fetched.union(*(pictures[path] for path in fetched - {"/"}))
    assert len(fetched) == most
    assert asked == wanted
    assert not wanted <= before, "they were killed too late"
    answers, _ = archived(tmp_path)
    del answers["/robots.txt"]
    assert answers == Counter(dict.fromkeys(wanted, 1))
    assert status(tmp_path)["pages"] == most
    proved = run_here("politeness", "verify", "--crawl", "shown", DATA_DIR=str(tmp_path / "data"))
    assert proved.returncode == 0, proved.stdout + proved.stderr
