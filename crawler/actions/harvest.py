"""``scrapy harvest``: what a crawl's feeds gave, day by day."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import asdict

from rich.table import Table
from scrapy.exceptions import UsageError

from crawler.console.crawl_state import Action, CrawlState
from crawler.console.harvest_plot import draw
from crawler.console.terminal import aside, writing
from frontier.outcomes import DAY
from seeds.harvest.stats import HarvestRow, counter_name, rows, table

_ALL = "all feeds"
_MOST_DAYS = 36_500
Days = Mapping[str, Mapping[str, tuple[int, ...]]]


class Harvest(Action):
    """See the module."""

    def work(self, args: list[str], opts: argparse.Namespace) -> None:
        if args != ["status"]:
            raise UsageError("the one thing that can be asked for is: status")
        if not 1 <= opts.days <= _MOST_DAYS:
            raise UsageError(f"--days {opts.days}: from 1 to {_MOST_DAYS} days can be shown")
        with self.state(opts) as state:
            days = _counters(state, opts.days)
            if opts.json:
                self._lines(days)
            else:
                self._tables(state, days, by_day=opts.by_day)
            if opts.plot:
                self._plot(state, days)

    def _lines(self, days: Days) -> None:
        for day, counts in days.items():
            for row in rows([counts]):
                delays = {"mean_delay_s": row.delay_s, "mean_fetch_delay_s": row.fetch_delay_s}
                self.show_json({"day": day, "feed": row.feed, **asdict(row.stats), **delays})

    def _tables(self, state: CrawlState, days: Days, *, by_day: bool) -> None:
        if not days:
            self.show(f"No feed of {state.name} was polled in these days")
        elif by_day:
            for day, counts in days.items():
                self._table(f"Harvest of {state.name}, {day}", rows([counts]))
        else:
            found = rows(days.values())
            span = f"{min(days)} to {max(days)}" if len(days) > 1 else min(days)
            self._table(f"Harvest of {state.name}, {span}", [*found, _total(days)] if len(found) > 1 else found)

    def _table(self, title: str, found: list[HarvestRow]) -> None:
        """On a terminal a table, elsewhere lines with tabs."""
        lines = table(found)
        if not sys.stdout.isatty():
            print(title, *("\t".join(line) for line in lines), sep="\n")
            return
        drawn = Table(title=title, title_justify="left")
        drawn.add_column(lines[0][0], min_width=28, overflow="fold")
        for name in lines[0][1:]:
            drawn.add_column(name, justify="right")
        for line in lines[1:]:
            drawn.add_row(*line)
        self.show(drawn)

    def _plot(self, state: CrawlState, days: Days) -> None:
        path = state.folder / "reports" / "harvest.png"
        with writing(path):
            draw({day: _total({day: counts}) for day, counts in days.items()}, rows(days.values()), path)
        aside(path)


def _counters(state: CrawlState, most: int) -> dict[str, Mapping[str, tuple[int, ...]]]:
    """The counts of each of the last days on which there are any, oldest first."""
    now_ms = state.frontier.date_ms()
    names = [counter_name(now_ms - back * DAY) for back in reversed(range(most))]
    found = {name.partition(":")[2]: state.frontier.get_counts(name) for name in names}
    return {day: counts for day, counts in found.items() if counts}


def _total(days: Days) -> HarvestRow:
    (row,) = rows({_ALL: figures} for counts in days.values() for figures in counts.values())
    return row
