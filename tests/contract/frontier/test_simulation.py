"""Simulated crawls: hundreds of hosts for ten minutes, and hundreds of small worlds with all kinds of faults."""

from __future__ import annotations

import pytest
import redis

from frontier import FrontierConfig, MemoryFrontier
from frontier.redis_frontier import RedisFrontier
from tests.contract.frontier.conftest import Clock
from tests.contract.frontier.simulation import Simulation, World
from tests.effort import trials

FAULTS = {"killed": 0.05, "late": 0.05, "release": 0.05, "http_503": 0.03, "cut": 0.05, "dns": 0.02, "timeout": 0.03}


@pytest.mark.slow
def test_hundreds_of_hosts_for_ten_minutes(server: redis.Redis) -> None:
    clock = Clock()
    config = FrontierConfig(delay_ms=60_000, address_delay_ms=5_000, lease_ms=20_000)
    frontier = RedisFrontier(server, "hundreds", config, now_ms=clock)
    world = World(hosts=400, pages=15, addresses=120, seconds=600, batch=200, faults={"killed": 0.01, "late": 0.01})
    simulation = Simulation(frontier, config, clock, world, seed=1)
    simulation.run()
    # an address serves a lease each 5 s and the last fetch time; with 3 or so hosts each, hosts set the pace
    assert simulation.grants > 400 * 600 / 60 * 0.7


@pytest.mark.slow
def test_hosts_that_change_their_addresses(server: redis.Redis) -> None:
    """Each is asked for again after seconds, belongs to one host, then to several, is left, and is come back to."""
    config = FrontierConfig(delay_ms=1_000, address_delay_ms=2_500, lease_ms=6_000, address_ttl_ms=4_000)
    grants = 0
    for seed in trials(20):
        clock = Clock()
        frontier = RedisFrontier(server, f"moving{seed}", config, now_ms=clock)
        hosts = 2 + seed % 7
        world = World(hosts=hosts, pages=6, addresses=2 + seed % 11, seconds=60, moves_s=7, faults=FAULTS)
        simulation = Simulation(frontier, config, clock, world, seed)
        simulation.run()
        grants += simulation.grants
    assert grants > 300


@pytest.mark.slow
def test_many_small_worlds_with_faults() -> None:
    grants = 0
    config = FrontierConfig(delay_ms=2_000, address_delay_ms=700, lease_ms=6_000)
    for seed in trials(250):
        clock = Clock()
        world = World(hosts=2 + seed % 9, pages=4, addresses=1 + seed % 4, seconds=40, faults=FAULTS)
        simulation = Simulation(MemoryFrontier(config, clock), config, clock, world, seed)
        simulation.run()
        grants += simulation.grants
    assert grants > 4_250
