"""What the client of the commands refuses before it asks anybody."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.console.polite_client import BlockingFetch
from tests.unit.crawler.test_opted_out import answering, given


@pytest.mark.parametrize(
    "address",
    ["www.a.test/private/1", "www.a.test/%70rivate/1", "www.a.test/x/%2e%2e/private/1", "me@A.test:80/private/1"],
)
def test_an_opt_out_holds_however_the_address_is_spelled(address: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a.test/private/\n")
    settings = Settings({"FRONTIER_OPT_OUT_FILE": str(tmp_path / "out")})
    Ulwembu().update_settings(settings)
    with BlockingFetch(settings) as fetch:
        assert fetch(f"http://{address}").problem == "opted_out"


@pytest.mark.parametrize(("status", "more"), [(403, {}), (301, {"Location": "/else"})])
def test_a_retry_after_is_obeyed_whatever_the_status(status: int, more: dict[str, str]) -> None:
    told = {"Retry-After": "3600", **more}
    with (
        answering(lambda path: (status, told) if path == "/page" else b"") as (home, asked),
        BlockingFetch(given(FRONTIER_DELAY_S=0)) as fetch,
    ):
        first = fetch(f"{home}/page")
        assert (first.status, first.problem) == (status, "resting" if status == 301 else "")
        assert (fetch(f"{home}/other").problem == "resting") == (status == 403)
    assert asked[:2] == ["/robots.txt", "/page"]
    assert "/else" not in asked
