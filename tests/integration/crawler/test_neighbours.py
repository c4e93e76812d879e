"""Two crawls of different names on one Redis that want the same hosts: by the web's log no host or address is asked
faster than one crawl would ask it, and both get all."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

from crawler.state.embedded_redis import EmbeddedRedis
from frontier.audit import verify_plain
from tests.integration.crawler.fleet import ADDRESS_DELAY_S, spec
from tests.integration.crawler.harness import FORGETFUL, QUICK, ROOT, environment, scrapy, wait_for
from tests.web.server import serve
from tests.web.web import CRAWL_FILE, HOSTS_FILE

DELAY_S = 0.2


def test_two_crawls_ask_a_host_by_turns_though_one_is_killed(tmp_path: Path) -> None:
    settings = {**QUICK, **FORGETFUL, "FRONTIER_DELAY_S": str(DELAY_S), "FRONTIER_IP_DELAY_S": str(ADDRESS_DELAY_S)}
    workers: list[subprocess.Popen[bytes]] = []
    with (
        EmbeddedRedis(tmp_path / "redis") as server,
        serve(spec(hosts=8, pages=80), tmp_path / "web") as running,
    ):
        # Neither ends while all of its hosts rest for the other.
        settings |= {
            "REDIS_URL": server.url,
            "FRONTIER_IDLE_CLOSE_S": "30",
            "FETCH_HOSTS_FILE": str(running.folder / HOSTS_FILE),
        }

        def start(crawl: str) -> subprocess.Popen[bytes]:
            seeds = tmp_path / f"{crawl}.toml"
            seeds.write_text((running.folder / CRAWL_FILE).read_text().replace('name = "zulu"', f'name = "{crawl}"'))
            log = str(tmp_path / f"{crawl}-{len(workers)}.log")
            more = settings | {"DATA_DIR": str(tmp_path / crawl), "LOG_FILE": log}
            workers.append(
                subprocess.Popen(scrapy("crawl", crawl, "-a", f"seeds={seeds}", **more), cwd=ROOT, env=environment())
            )
            return workers[-1]

        try:
            start("zulu")
            victim = start("xhosa")
            wait_for(lambda: running.server.requests >= 40)
            victim.kill()
            victim.wait()
            start("xhosa")
            assert [worker.wait(240) for worker in workers] == [0, -9, 0]
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
        log = running.logged()
        pages = set(running.server.web.truth.urls())
    rows = ((entry.authority, entry.address, entry.start_us / 1000, entry.end_us / 1000) for entry in log)
    proof = verify_plain(rows, round(DELAY_S * 1000), round(ADDRESS_DELAY_S * 1000), 1)
    assert proof.ok, proof.short[:5]
    asked = Counter(f"{entry.authority}{entry.path}" for entry in log)
    fetched = {url: asked[url] for url in pages}
    assert min(fetched.values()) == 2, "each crawl fetches each page"
