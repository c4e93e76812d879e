"""The picture of a harvest can be read."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from matplotlib.figure import Figure
from scrapy.settings import Settings

from crawler.actions.harvest import Harvest
from crawler.console.harvest_plot import draw
from seeds.harvest.stats import HarvestRow
from seeds.harvest.types import PollStats

ODD = "https://a.example/feed?$filter=x^^y&$top=10"
END = "/of/a/name/of/a/feed/that/is/longer/than/there/is/room/in/it/feed.xml"


@pytest.mark.parametrize("days", [0, 1, 23, 47, 62])
def test_dates_and_feeds_stand_apart(days: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dates of more than a week were printed over one another, feeds with the same end shared a bar, and a dollar sign
    began a formula, of which there was a traceback."""
    drawn: list[Figure] = []
    save = Figure.savefig

    def keep(figure: Figure, *words: Any, **options: Any) -> None:
        drawn.append(figure)
        save(figure, *words, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    dates = [f"2026-{1 + day // 31:02}-{1 + day % 31:02}" for day in range(days)]
    feeds = [ODD, "https://b.example/新闻", f"https://c.example{END}", f"https://d.example{END}"]
    rows = [HarvestRow(feed, PollStats(new_items=3), None) for feed in feeds]
    draw(dict.fromkeys(dates, rows[0]), rows, tmp_path / "reports" / "harvest.png")
    assert (tmp_path / "reports" / "harvest.png").stat().st_size > 10_000
    above, below = drawn[0].axes
    labels = [label for label in above.get_xticklabels() if label.get_text()]
    assert len(labels) in range(days // 4 + (days > 0), 25)
    assert all(label.get_rotation() == 45 for label in labels)
    assert [label.get_text() for label in below.get_yticklabels()] == [
        END[-60:],
        END[-60:],
        "https://b.example/??",
        ODD.replace("$", r"\$"),
    ]
    assert len({round(bar.get_y(), 3) for bar in below.containers[0]}) == len(feeds)


def test_a_picture_that_does_not_fit_on_the_disk_is_named_and_costs_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (picture := tmp_path / "reports" / "harvest.png").parent.mkdir()
    picture.symlink_to("/dev/full")
    state = Mock(folder=tmp_path)
    state.name = "zulu"
    monkeypatch.setattr(Harvest, "state", Mock(return_value=nullcontext(state)))
    monkeypatch.setattr("crawler.actions.harvest._counters", lambda *_: {})
    options = argparse.Namespace(days=1, json=False, by_day=False, plot=True)
    assert Harvest(Settings(), "harvest").perform(["status"], options) == 1
    told = capsys.readouterr()
    assert told.err == f"scrapy harvest: {picture}: No space left on device\n"
    assert told.out == "No feed of zulu was polled in these days\n"
