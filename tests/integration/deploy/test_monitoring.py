"""Alerts, dashboard and targets of deploy/ against the page of a real crawl, and promtool's cases of each alert."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import promql_parser
import pytest

from frontier.outcomes import OUTCOMES
from frontier.types import Kind
from tests.integration.crawler.harness import ROOT
from tests.integration.crawler.scraping import HELD, Scrape, held_crawl, ports_of, settled
from tests.integration.deploy.test_deploy import RUNBOOK, in_yaml, spoken

DEPLOY = ROOT / "deploy"
OF_PROMETHEUS = {"up": {"job", "instance"}}
PORT = 9560


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrape]:
    """What a worker in the middle of its crawl serves."""
    with held_crawl(tmp_path_factory.mktemp("monitoring"), FRONTIER_AUDIT="1") as crawl:
        crawl.start()
        (port,) = ports_of(crawl)
        crawl.await_requests(HELD)
        yield settled(port)


def rules() -> list[dict[str, Any]]:
    """The alerts."""
    [file] = in_yaml(DEPLOY / "prometheus" / "rules.yml")
    [group] = file["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def dashboard() -> dict[str, Any]:
    """Grafana's."""
    found: dict[str, Any] = json.loads((DEPLOY / "grafana" / "dashboards" / "ulwembu.json").read_text())
    return found


def expressions() -> Iterator[tuple[str, str]]:
    """Name and PromQL of each alert and of each line of the dashboard, its variables filled in."""
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "5m").replace("$crawl", "zulu")


def selectors(text: str) -> list[promql_parser.VectorSelector]:
    """All series that an expression asks for; ValueError when it is no PromQL."""
    found: list[promql_parser.VectorSelector] = []

    def visit(part: object) -> None:
        if isinstance(part, promql_parser.MatrixSelector):
            part = part.vector_selector
        if isinstance(part, promql_parser.VectorSelector):
            found.append(part)

    promql_parser.walk(promql_parser.parse(text), visit)
    return found


def labels_by_name(page: Scrape) -> dict[str, set[str]]:
    """Labels of each sample, with those that Prometheus adds; of a metric without any yet those that it would have."""
    found = {name: {"crawl", "reason"} for name in page.names()}
    for name, has in page.values:
        found[name] = {label for label, _ in has}
    return {name: labels | {"job", "instance"} for name, labels in found.items()} | OF_PROMETHEUS


def test_what_alerts_and_dashboard_ask_for_is_what_workers_tell(page: Scrape) -> None:
    known = labels_by_name(page)
    asked: set[str] = set()
    for place, text in expressions():
        for selector in selectors(text):
            assert selector.name is not None
            assert selector.name in known, (place, selector.name)
            labels = {matcher.name for matcher in selector.matchers.matchers}
            assert labels <= known[selector.name], (place, selector.name, labels)
            asked.add(selector.name)
        grouped = {word.strip() for part in re.findall(r"\b(?:by|on) \(([^)]*)\)", text) for word in part.split(",")}
        assert grouped <= set().union(*(known[selector.name or ""] for selector in selectors(text))), (place, grouped)
    ours = {name for name in page.names() if name.startswith("ulwembu_")}
    # For other dashboards.
    assert ours - asked == {
        "ulwembu_crawl_started_timestamp_seconds",
        "ulwembu_crawl_gaps_total",
        "ulwembu_worker_archive_files_total",
    }


def test_an_alert_about_the_crawl_is_one_however_many_workers_tell_of_it() -> None:
    once = re.compile(r"(?:max|min) by \(crawl(?:, result)?\) \((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
    for rule in rules():
        assert not re.search(r"ulwembu_(?:crawl|redis)_", once.sub("", rule["expr"])), rule["alert"]


def test_what_is_asked_for_by_its_label_can_be_there(page: Scrape) -> None:
    """A misspelt result in a rule is a rule that never fires."""
    words = {
        "result": set(OUTCOMES), "kind": {str(kind) for kind in Kind}, "verdict": {"kept", "left"},
        "level": {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}, "crawl": {"zulu"}, "job": {"ulwembu"},
    }  # fmt: skip
    for place, text in expressions():
        for selector in selectors(text):
            for matcher in selector.matchers.matchers:
                assert set(matcher.value.split("|")) <= words[matcher.name], (place, str(matcher))


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    [cases] = in_yaml(DEPLOY / "prometheus" / "rules_test.yml")
    tried = {
        (case["alertname"], bool(case["exp_alerts"])) for test in cases["tests"] for case in test["alert_rule_test"]
    }
    assert tried == {(rule["alert"], fires) for rule in rules() for fires in (True, False)}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "--lint=all", "--lint-fatal", "rules.yml"),
        ("test", "rules", "rules_test.yml"),
    ],
    ids=" ".join,
)
def test_promtool_finds_nothing(arguments: tuple[str, ...]) -> None:
    folder = DEPLOY / "prometheus"
    done = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_figure_is_described(page: Scrape) -> None:
    """In words that the runbook has in its table, each metric once."""
    table = RUNBOOK.read_text(encoding="utf-8").partition("## The figures")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(ulwembu_\w+)", table, re.M)
    assert sorted(listed) == sorted({name for name in page.names() if name.startswith("ulwembu_")})


def test_every_alert_has_its_section_in_the_runbook() -> None:
    text = RUNBOOK.read_text(encoding="utf-8")
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names) > 8
    assert re.findall(r"^### (Ulwembu\w+)", text, re.M) == names
    for rule in rules():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= {"crawl", "instance", "store"}
        assert re.fullmatch(r"\d+[mh]", rule.get("for", "5m"))


def test_the_runbook_names_commands_and_log_lines_that_there_are() -> None:
    text = RUNBOOK.read_text(encoding="utf-8")
    commands = {path.stem for path in (ROOT / "crawler" / "commands").glob("[a-z]*.py")}
    assert set(re.findall(r"scrapy (\w+) ", text)) <= commands
    said, code = re.findall(r"`([A-Z]\w+ [^`]*…[^`]*|[a-z]+ not [^`]*…)`", text), spoken()
    assert len(said) > 4
    for part in (part.strip() for line in said for part in line.split("…")):
        assert not part or any(part in line for line in code), part


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    board = dashboard()
    assert board["uid"] == "ulwembu"
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(set(numbers)) == len(numbers)
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        assert panel["type"] in ("stat", "timeseries")
        assert panel["datasource"]["uid"] == "${datasource}"
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
        place = panel["gridPos"]
        across, down = range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])
        cells = {(x, y) for x in across for y in down}
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
    [provider] = in_yaml(DEPLOY / "grafana" / "provider.yaml")
    [source] = in_yaml(DEPLOY / "grafana" / "datasource.yaml")
    [compose] = in_yaml(DEPLOY / "compose.yaml")
    grafana = compose["services"]["grafana"]
    assert f"./grafana/dashboards:{provider['providers'][0]['options']['path']}:ro" in grafana["volumes"]
    assert grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"].endswith("/ulwembu/ulwembu.json")
    assert source["datasources"][0]["url"] == "http://prometheus:9090"


def test_the_port_is_the_same_everywhere() -> None:
    [prometheus] = in_yaml(DEPLOY / "prometheus" / "prometheus.yml")
    [scraped] = prometheus["scrape_configs"]
    assert scraped["job_name"] == "ulwembu"
    assert scraped["dns_sd_configs"][0]["port"] == PORT
    assert prometheus["rule_files"] == ["rules.yml"]
    [compose] = in_yaml(DEPLOY / "compose.yaml")
    assert scraped["dns_sd_configs"][0]["names"] == ["worker"]
    assert f"METRICS_PORT={PORT}" in compose["services"]["worker"]["command"]
    parts = in_yaml(DEPLOY / "kubernetes" / "worker.yaml") + in_yaml(DEPLOY / "kubernetes" / "network.yaml")
    [workers] = [part for part in parts if part["kind"] == "StatefulSet"]
    template = workers["spec"]["template"]
    [container] = template["spec"]["containers"]
    assert f"METRICS_PORT={PORT}" in container["args"]
    assert container["ports"] == [{"name": "metrics", "containerPort": PORT}]
    assert template["metadata"]["annotations"]["prometheus.io/port"] == str(PORT)
    [policy] = [
        part["spec"] for part in parts if part["kind"] == "NetworkPolicy" and part["metadata"]["name"] == "worker"
    ]
    assert policy["ingress"][0]["ports"] == [{"port": PORT, "protocol": "TCP"}]
    assert f"METRICS_PORT={PORT}" in (DEPLOY / "systemd" / "worker.env").read_text()
