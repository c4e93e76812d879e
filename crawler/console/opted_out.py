"""What has opted out, for the commands that fetch outside any crawl: `seeds`, `fetch`, `shell`, `view`, `check`,
the collector.

Guarantees: before each request ``FRONTIER_OPT_OUT_FILE`` is asked and, where there is a Redis, its tables, all as they
are at that moment: that of all crawls, and that of the crawl that is named, else those of all its crawls that its user
may see (who fetches by hand is none of them, so what any has been told holds). Where a file or a Redis is named and
cannot be asked, nothing is sent: :class:`OptOutsUnreadError`. Where no Redis is named, the private one of the named
crawl, or of the spider by which one fetches, is asked, if that has one.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Self

import redis
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request
from scrapy.settings import BaseSettings

from crawler.errors import PreflightError
from crawler.fetch.opt_outs import opt_outs_in
from crawler.state.folder import data_folder
from crawler.state.redis_link import client, forbidden, redis_home, without_password
from crawler.state.run_record import crawls_of
from frontier import opt_outs
from frontier.errors import FrontierError, OptOutsElsewhere
from frontier.redis_opt_outs import RedisOptOuts

logger = logging.getLogger(__name__)

_ALL = "all crawls of this Redis"


class OptOutsUnreadError(PreflightError):
    """The file or the Redis at `place` was to be asked what has opted out, and did not say: nothing may be sent."""

    def __init__(self, place: str, cause: object) -> None:
        super().__init__(f"what has opted out cannot be read from {place}, so nothing is fetched: {cause}")
        self.place = place


class OptedOut:
    """See the module; `settings` must have our defaults. PreflightError, RedisUnreachableError.

    `crawl` is named: in a fleet, no other crawl's table is asked. `spider` is the one that fetches by hand: all are.
    """

    def __init__(self, settings: BaseSettings, crawl: str = "", spider: str = "") -> None:
        self._opened = contextlib.ExitStack()
        self._tables: list[tuple[str, RedisOptOuts]] = []
        self._place = ""
        self.note = ""
        """What people should know: that no table was asked; "" when one is."""
        self._file = path = str(settings.get("FRONTIER_OPT_OUT_FILE") or "")
        self._in_file("")
        home_of = crawl or spider
        folder = data_folder(settings, home_of) if home_of else None
        if settings.get("REDIS_URL") or (folder is not None and (folder / "state" / "redis").is_dir()):
            with contextlib.ExitStack() as opening:
                home = opening.enter_context(redis_home(settings, folder or Path()))
                self._place = str(folder) if home.embedded else without_password(home.url)
                self._open_tables(home.url, home_of if home.embedded else crawl)
                self._opened = opening.pop_all()
        else:
            asked = f"only FRONTIER_OPT_OUT_FILE {path} was" if path else "nor was a FRONTIER_OPT_OUT_FILE given"
            self.note = f"no Redis was asked what has opted out (no REDIS_URL), {asked}"

    def _open_tables(self, url: str, crawl: str) -> None:
        server = client(url)
        self._opened.callback(server.close)
        self._tables = [(_ALL, RedisOptOuts(server, "", of_all=True))]
        for name in [crawl] if crawl else crawls_of(url):
            self._tables.append((f"crawl {name}", RedisOptOuts(server, name)))

    def against(self, url: str) -> str:
        """Who has opted out what `url` lies under, in words; "" when nobody has. :class:`OptOutsUnreadError`."""
        if prefix := opt_outs.against(url, self._in_file):
            return f"{prefix} (FRONTIER_OPT_OUT_FILE)"
        for whose, table in self._tables:
            if prefix := opt_outs.against(url, partial(self._rules, table)):
                return f"{prefix} ({whose})"
        return ""

    def _in_file(self, host: str) -> Sequence[str]:
        try:
            return opt_outs_in(Path(self._file)).get(host, ()) if self._file else ()
        except (OSError, ValueError) as error:
            raise OptOutsUnreadError("FRONTIER_OPT_OUT_FILE", error) from None

    def _rules(self, table: RedisOptOuts, host: str) -> list[str]:
        try:
            return table.at([host])[0]
        except OptOutsElsewhere:  # on a Cluster that of all crawls may say nothing to this node
            return []
        except (FrontierError, redis.RedisError) as error:
            raise OptOutsUnreadError(self._place, forbidden(error) or getattr(error, "cause", error)) from None

    def close(self) -> None:
        """Let go of the Redis."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OptOutGuard:
    """Downloader middleware, the last before the network: requests for robots.txt and those of a shell's own code come
    by it, too. Raises what :class:`OptedOut` does."""

    def __init__(self, opted_out: OptedOut) -> None:
        self._opted_out = opted_out

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        guard = cls(OptedOut(crawler.settings, spider=getattr(crawler.spidercls, "name", "")))
        crawler.signals.connect(guard._close, signals.engine_stopped)
        return guard

    def process_request(self, request: Request) -> None:
        """IgnoreRequest for what has opted out. ValueError for what is neither http nor https."""
        if prefix := self._opted_out.against(request.url):
            logger.warning("Not fetched, it has opted out: %s, by %s", request.url, prefix)
            raise IgnoreRequest(f"opted out: {prefix}")

    def _close(self) -> None:
        self._opted_out.close()
