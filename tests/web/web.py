"""A synthetic web as a whole: the specification bound to a port, with everything that is derived from it."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tests.web.answers import Answers
from tests.web.feeds import Feeds
from tests.web.graph import Graph
from tests.web.pages import Pages
from tests.web.paths import Paths, Resource
from tests.web.sites import Site, build_sites
from tests.web.spec import SpecError, WebSpec

if TYPE_CHECKING:
    from tests.web.truth import Truth

WEB_FILE, LOG_FILE, HOSTS_FILE = "web.json", "requests.jsonl", "hosts"
CRAWL_FILE, HARVEST_FILE = "crawl.toml", "harvest.toml"


class Web:
    """Read-only. `spec.port` must be a real port (the server picks one where it is 0 and rebuilds)."""

    def __init__(self, spec: WebSpec) -> None:
        if not spec.port:
            raise SpecError("port=0: a web has a port; serve() picks a free one")
        self.spec = spec
        self.sites: tuple[Site, ...] = build_sites(spec)
        self.paths = Paths(spec, self.sites)
        self.graph = Graph(spec, self.sites)
        self.pages = Pages(spec, self.paths, self.graph)
        self.answers = Answers(spec, self.paths, self.graph, self.pages)
        self._by_host = {site.host: site for site in self.sites}

    @property
    def feeds(self) -> Feeds:
        """All feeds."""
        return self.answers.feeds

    def site(self, host: str) -> Site | None:
        """The site that a Host header (any case) or ``host:port`` names."""
        return self._by_host.get(host.lower())

    def endpoints(self) -> list[tuple[str, int]]:
        """(address, port) pairs to listen on."""
        return sorted({(site.address, site.port) for site in self.sites})

    @cached_property
    def seeds(self) -> tuple[str, ...]:
        """Home pages from which every host can be reached."""
        opened = [site for site in self.sites if site.opens][: max(1, self.spec.seed_hosts)]
        return tuple(site.authority + "/" for site in opened)

    @cached_property
    def truth(self) -> Truth:
        """What is reachable from the seeds (computed once; about 50 us a page)."""
        from tests.web.truth import explore

        return explore(self)

    def read_url(self, url: str) -> Resource | None:
        """The resource that an absolute URL means; None when it is not of this web."""
        scheme, _, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        if "?" in host or "#" in host:
            cut = min(host.find(c) for c in "?#" if c in host)
            host, path, slash = host[:cut], host[cut:] + slash + path, ""
        site = self.site(host) if scheme.lower() == "http" else None
        return self.paths.read(site, "/" + path) if site else None

    def write(self, folder: Path, name: str = "zulu", started_epoch_s: float = 0.0) -> None:
        """Write web.json, the hosts file and the crawl's seed file into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        facts = {
            "spec": self.spec.to_json(),
            "port": self.spec.port,
            "seeds": self.seeds,
            "authorities": [site.authority for site in self.sites],
            "addresses": sorted({site.address for site in self.sites}),
            "feeds": [feed.site.authority + feed.path for feed in self.feeds.all],
            "started_epoch_s": started_epoch_s,
            "hosts_file": HOSTS_FILE,
            "log": LOG_FILE,
            "crawl": CRAWL_FILE,
            "harvest": HARVEST_FILE,
        }
        (folder / HOSTS_FILE).write_text(self.hosts_file())
        (folder / CRAWL_FILE).write_text(self.crawl_file(name))
        (folder / HARVEST_FILE).write_text(self.crawl_file(name, with_feeds=True))
        (folder / WEB_FILE).write_text(json.dumps(facts, indent=1) + "\n")

    def hosts_file(self) -> str:
        """hosts(5) lines for the names of all sites."""
        return "".join(f"{site.address}\t{site.name}\n" for site in self.sites)

    def crawl_file(self, name: str, *, with_feeds: bool = False) -> str:
        """A seed file for ``scrapy crawl <name> -a seeds=FILE``."""
        lines = [
            "# A crawl of a synthetic web.", "[crawl]", f'name = "{name}"', f'language = "{self.spec.language}"',
            'contact = "https://example.org/crawler"',
        ]  # fmt: skip
        for url in self.seeds:
            lines += ["", "[[site]]", f'url = "{url}"', 'scope = "open"']
        if with_feeds:
            for feed in self.feeds.all:
                table = "index" if feed.spec.kind == "index" else "feed"
                lines += ["", f"[[{table}]]", f'url = "{feed.site.authority}{feed.path}"']
        return "\n".join(lines) + "\n"


def load_web(folder: Path) -> Web:
    """The web that a server described in ``folder/web.json``."""
    facts = json.loads((folder / WEB_FILE).read_text())
    return Web(WebSpec.from_json(facts["spec"]))
