"""StormCrawler 2.4 on Storm's LocalCluster, by its archetype's topology; the folder of its jars: ``STORMCRAWLER_HOME``.

Of its stores of URLs only the one in memory is in its core ("for testing"): what is fetched again and what a kill costs
says nothing of StormCrawler, and failed pages are not tried again, since in that store they would hold up all others.
Its politeness, which is the FetcherBolt's, is the real one.
"""

from __future__ import annotations

import json
from pathlib import Path

from bench.crawlers.peer import JavaPeer, Task

_TOPOLOGY = Path(__file__).with_name("StormTopology.java")


class StormCrawler(JavaPeer):
    """One JVM."""

    name = "StormCrawler"
    variable = "STORMCRAWLER_HOME"
    jar = "storm-crawler-core"

    def command(self, task: Task) -> list[str]:
        """A JVM that crawls until it is stopped."""
        config = {
            "topology.message.timeout.secs": 300,
            "topology.max.spout.pending": 500,
            "fetcher.threads.number": task.concurrency,
            "fetcher.server.delay": task.delay_s,
            "fetcher.server.delay.force": True,
            "fetchInterval.default": -1,
            "fetchInterval.fetch.error": -1,
            "http.agent.name": "bench",
            "http.agent.version": "1",
            "http.agent.description": "",
            "http.agent.url": "https://example.org/crawler",
            "http.agent.email": "crawler@example.org",
            "http.timeout": 5000,
            "topology.kryo.register": [
                "com.digitalpebble.stormcrawler.Metadata",
                "com.digitalpebble.stormcrawler.persistence.Status",
            ],
        }
        path = task.folder / "crawler.yaml"
        path.write_text(json.dumps({"config": config}))  # JSON is YAML, too
        command = ["java", "-Xmx1g", f"-Djava.io.tmpdir={task.folder}", "-cp", f"{self.home}/*"]
        return [*command, str(_TOPOLOGY), str(path), *task.seeds]
