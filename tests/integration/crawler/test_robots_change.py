"""A robots.txt that denies all for a while, as of a site that is taken down: nobody asks, nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import serving

ADDRESS = "127.71.0.3"
PAGES = {f"/story/{number}" for number in range(8)}


class Web(ThreadingHTTPServer):
    """`asked` are the paths in order, `wrong` those that were denied. The first robots.txt after a page denies all, the
    others nothing; or, if `shut`, all of them do."""

    def __init__(self, shut: bool) -> None:
        super().__init__((ADDRESS, 0), Handler)
        self.shut = shut
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.open = True
        """Whether pages may be asked for, by the robots.txt sent last."""
        self.denials = 0

    def change(self) -> None:
        """What the robots.txt says that is sent now."""
        self.open = not self.shut and (self.denials > 0 or set(self.asked) == {"/robots.txt"})
        self.denials += not self.open


class Handler(BaseHTTPRequestHandler):
    """Says what Web has."""

    server: Web

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        links = "".join(f'<a href="{path}">udaba</a>' for path in sorted(PAGES))
        body = f"<html lang=zu><p>Izindaba zanamuhla ngesiZulu.</p>{links}</html>"
        if self.path == "/robots.txt":
            self.server.change()
            body = "" if self.server.open else "User-agent: *\nDisallow: /\n"
        elif not self.server.open:
            self.server.wrong.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(params=[False, True], ids=["open at first", "shut from the start"])
def web(request: pytest.FixtureRequest) -> Iterator[Web]:
    with Web(request.param) as server, serving(server):
        yield server


def test_a_host_that_denies_all_for_a_while(web: Web, tmp_path: Path) -> None:
    home = f"http://{ADDRESS}:{web.server_address[1]}"
    seeds = tmp_path / "shut.toml"
    seeds.write_text(
        '[crawl]\nname = "shut"\nlanguage = "zul"\ncontact = "me@a.test"\n'
        f'[[site]]\nurl = "{home}/"\n[relevance]\npolicy = "all"\n'
    )
    settings = QUICK | {"FETCH_ALLOWED_NETWORKS": "127.71.0.3/32", "ROBOTS_MAX_AGE_S": "1", "FRONTIER_DELAY_S": "0.3"}
    settings |= {"FRONTIER_IP_DELAY_S": "0", "FRONTIER_IDLE_CLOSE_S": "4"}
    done = run("crawl", "shut", "-a", f"seeds={seeds}", **settings, DATA_DIR=str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert not web.wrong
    asked = [path for path in web.asked if path != "/robots.txt"]
    if web.shut:
        # Else it would be asked again every second, and the crawl had no end.
        assert not asked, "one that never gave a page is believed"
        assert web.denials
    else:
        assert sorted(asked) == sorted({"/", *PAGES})
        assert web.denials == 1
