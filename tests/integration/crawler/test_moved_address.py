"""A host of which one address cannot be reached: its pages come from another, by the pace of the host."""

from __future__ import annotations

from pathlib import Path

from tests.integration.crawler.harness import QUICK, run
from tests.integration.crawler.serving import SomePages, hosts

DEAD, ALIVE = "127.71.6.1", "127.71.6.2"


def test_the_other_address_is_tried(tmp_path: Path) -> None:
    seeds, names = tmp_path / "x.toml", tmp_path / "hosts"
    names.write_text(f"{DEAD} two.test\n{ALIVE} two.test\n")
    with hosts(SomePages, (ALIVE,)) as web:
        site = f'[[site]]\nurl = "http://two.test:{web.port}/"\n'
        seeds.write_text(f'[crawl]\nname = "x"\nlanguage = "zul"\ncontact = "me@a.test"\n{site}')
        settings = QUICK | {
            "DATA_DIR": str(tmp_path / "d"),
            "FETCH_HOSTS_FILE": str(names),
            "FRONTIER_RETRY_FACTOR": "0.0001",
        }
        done = run("crawl", "x", "-a", f"seeds={seeds}", **settings)
    assert done.returncode == 0, done.stderr
    assert sorted(path for _, path in web.asked) == ["/", "/0", "/1", "/2", "/robots.txt"]
