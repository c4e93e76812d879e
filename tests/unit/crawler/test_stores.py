"""What a seed file's sites mean to the frontier."""

from __future__ import annotations

from crawler.stores import host_policies
from frontier.types import HostPolicy
from seeds.crawl import Crawl
from seeds.model import Site


def test_sites_with_rules_of_their_own() -> None:
    sites = (
        Site("https://plain.example/", scope="host"),
        Site("https://slow.example/news", scope="prefix", delay_s=2.5, ip_delay_s=0.5),
        Site("http://small.example/", scope="host", max_pages=7),
        Site("http://light.example:8080/", scope="host", max_bytes=5_000_000),
    )
    assert host_policies(Crawl("x", "zul", sites=sites)) == {
        "https://slow.example": HostPolicy(delay_ms=2500, address_delay_ms=500),
        "http://small.example": HostPolicy(max_pages=7),
        "http://light.example:8080": HostPolicy(max_bytes=5_000_000),
    }
