"""The Redis user that docs/fleet.md gives to workers is enough for a crawl and for the commands about it."""

from __future__ import annotations

from pathlib import Path

import redis

from tests.integration.crawler.harness import ROOT, Crawl, run_here
from tests.redis_server import redis_server
from tests.web.server import serve
from tests.web.spec import WebSpec, calm

MANUAL = ROOT / "docs" / "fleet.md"
LOOKS = (
    "frontier status",
    "frontier hosts",
    "frontier parked",
    "frontier opt-outs",
    "sieve stats",
    "politeness verify",
)


def test_the_user_of_the_manual_runs_a_crawl_and_its_commands(tmp_path: Path) -> None:
    (line,) = (line for line in MANUAL.read_text(encoding="utf-8").splitlines() if line.startswith("ACL SETUSER "))
    (home := tmp_path / "redis").mkdir()
    with (
        redis_server(home) as path,
        redis.Redis(unix_socket_path=path, decode_responses=True) as server,
        serve(calm(WebSpec(hosts=3, pages=20)), tmp_path / "web") as running,
    ):
        server.execute_command(*line.split())
        server.acl_log_reset()
        settings = {"REDIS_URL": f"unix://workers:PASSWORD@{path}?db=0", "FRONTIER_AUDIT": "1"}
        crawl = Crawl(running, tmp_path / "crawl", settings)
        crawl.start()
        crawl.await_requests(3)
        server.lpush("zulu:start_urls", next(iter(running.server.web.truth.urls())))
        crawl.start()
        assert crawl.wait() == [0, 0], crawl.logs()
        assert crawl.judge().ok
        assert server.llen("zulu:start_urls") == 0
        for words in LOOKS:
            looked = run_here(*words.split(), REDIS_URL=settings["REDIS_URL"])
            assert looked.returncode == 0, looked.stderr
        for words in ("opt-out", "opt-out --withdraw"):
            told = run_here(
                "frontier", *words.split(), "nowhere.example", REDIS_URL=settings["REDIS_URL"], DATA_DIR=str(tmp_path)
            )
            assert told.returncode == 0, told.stderr
        # The client tells its name, and goes on where it may not: Redis 6.2 knows no part of CLIENT by itself.
        assert {entry["object"] for entry in server.acl_log()} <= {"client"}
        assert "NOPERM" not in crawl.logs()
