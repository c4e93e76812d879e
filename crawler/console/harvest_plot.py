"""A picture of a harvest: polls, items, losses and errors a day, and items by feed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from seeds.harvest.stats import HarvestRow

_WIDEST = 20
_DATES = 24


def draw(days: Mapping[str, HarvestRow], feeds: Sequence[HarvestRow], path: Path) -> None:
    """Write a PNG file: totals by day above, the feeds with the most new items below.

    `days` maps dates to the totals of all feeds on that day.
    """
    # Imported when asked for: that alone takes half a second.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 8), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, height_ratios=(2, 3))
    names = list(days)
    places = range(len(names))
    for offset, (label, figures) in enumerate(
        {
            "polls": [row.stats.polls for row in days.values()],
            "new items": [row.stats.new_items for row in days.values()],
            "missed": [row.stats.missed for row in days.values()],
            "errors": [row.stats.errors for row in days.values()],
        }.items()
    ):
        above.bar([place + (offset - 1.5) * 0.2 for place in places], figures, 0.2, label=label)
    step = len(names) // _DATES + 1
    above.set_xticks(places[::step], names[::step], rotation=45, ha="right")
    above.set_title("Harvest by day")
    above.legend()
    shown = list(feeds[:_WIDEST])[::-1]
    places = range(len(shown))
    below.barh(places, [row.stats.new_items for row in shown], label="new items")
    below.barh(places, [row.stats.missed for row in shown], label="missed")
    below.set_yticks(places, [_plain(row.feed) for row in shown])
    below.set_title(f"New items by feed (the first {len(shown)} of {len(feeds)})")
    below.tick_params(axis="y", labelsize=7)
    below.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def _plain(feed: str) -> str:
    """A dollar sign would begin a formula; letters that the font lacks would be warned of."""
    return feed[-60:].encode("ascii", "replace").decode("ascii").replace("$", r"\$")
