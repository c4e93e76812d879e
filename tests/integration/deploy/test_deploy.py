"""The files of deploy/: as far as they can be checked without a container engine or a cluster."""

import ast
import importlib.metadata
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from crawler.options import OPTIONS
from seeds.crawl import load_crawl
from tests.redis_server import redis_server

REPO = Path(__file__).parents[3]
DEPLOY = REPO / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANUAL = REPO / "docs" / "fleet.md"
RUNBOOK = REPO / "docs" / "runbook.md"


def in_yaml(path: Path) -> list[Any]:
    yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redis.Redis]:
    """A server with deploy/redis.conf, on a socket instead of its port."""
    with (
        redis_server(tmp_path_factory.mktemp("redis"), str(DEPLOY / "redis.conf")) as path,
        redis.Redis(unix_socket_path=path, decode_responses=True) as client,
    ):
        yield client


def test_redis_starts_with_our_configuration(configured: redis.Redis) -> None:
    assert configured.ping()
    wanted = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "save": ""}
    assert {name: configured.config_get(name)[name] for name in wanted} == wanted
    assert configured.config_get("maxmemory") == {"maxmemory": str(1 << 30)}


def test_redis_refuses_at_its_limit_and_evicts_nothing(configured: redis.Redis) -> None:
    configured.mset({"kept": "1", **{f"filler:{number}": "x" * 50_000 for number in range(100)}})
    configured.config_set("maxmemory", "1mb")
    try:
        # The data that is there is above the limit already.
        with pytest.raises(redis.OutOfMemoryError):
            configured.set("one", "more")
        assert configured.get("kept") == "1"
    finally:
        configured.config_set("maxmemory", "1gb")


def test_compose() -> None:
    [compose] = in_yaml(DEPLOY / "compose.yaml")
    usual = {name for name, service in compose["services"].items() if "profiles" not in service}
    assert usual == {"redis", "worker"}
    assert {name for name in usual if "ports" in compose["services"][name]} == set()
    published = [port for service in compose["services"].values() for port in service.get("ports", [])]
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []
    for service in compose["services"].values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert source in compose["volumes"] or (DEPLOY / source).exists()
        assert set(service["networks"]) <= set(compose["networks"])
    assert (DEPLOY / compose["services"]["worker"]["build"]["context"] / "deploy" / "Dockerfile").exists()


def copy_to(folder: Path) -> Path:
    """What a setup goes by; the program."""
    (folder / "deploy").mkdir(parents=True, exist_ok=True)
    for file in ("requirements.lock", "pyproject.toml", "deploy/bootstrap.py"):
        shutil.copy(REPO / file, folder / file)
    return folder / "deploy" / "bootstrap.py"


def test_a_copy_of_the_project_has_an_environment_of_its_own(tmp_path: Path) -> None:
    here, moved, again = (
        runpy.run_path(str(copy_to(tmp_path / name)))["wanted"]() for name in ("here", "moved", "moved")
    )
    assert here != moved == again


def test_the_lock_names_all_that_its_packages_need() -> None:
    requirements = [
        Requirement(line) for half in runpy.run_path(str(DEPLOY / "bootstrap.py"))["halves"]() for line in half
    ]
    locked = {canonicalize_name(found.name) for found in requirements}
    missing = [
        f"{found.name} needs {needed}"
        for found in requirements
        if found.marker is None or found.marker.evaluate()
        for line in importlib.metadata.requires(found.name) or ()
        if (needed := Requirement(line)) and (needed.marker is None or needed.marker.evaluate({"extra": ""}))
        if canonicalize_name(needed.name) not in locked
    ]
    assert missing == []
    assert len(requirements) > 90


def test_a_setup_that_is_interrupted_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "call", interrupted)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(copy_to(tmp_path)), run_name="__main__")
    assert (ended.value.code, capsys.readouterr().err) == (130, "setup: interrupted\n")


def test_a_setup_waits_for_another_and_for_what_a_killed_one_has_left(tmp_path: Path) -> None:
    """Else one would clear the environment that the pips of the other write to."""
    script = copy_to(tmp_path)
    setup = runpy.run_path(str(script))
    held = setup["alone"]()
    left = subprocess.Popen(["sleep", "100"], pass_fds=[held])
    os.close(held)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "setup: another one is at work in this folder; waiting for it\n"
        (tmp_path / ".venv").mkdir()
        (tmp_path / ".venv" / "ulwembu-ready").write_text(setup["wanted"]())
        left.kill()
        left.wait()
        assert waiting.communicate(timeout=100)[0] == ""
    assert waiting.returncode == 0, "the other one has done it"


def test_what_the_image_copies_exists() -> None:
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copies = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    copied = [name for names in copies for name in names]
    assert {"requirements.lock", "crawler", "sieve"} <= set(copied)
    # Those that pyproject.toml names are the build's to miss.
    named = (REPO / "pyproject.toml").read_text(encoding="utf-8")
    assert [name for name in copied if not (REPO / name).exists() and f'"{name}"' not in named] == []
    allowed = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert allowed == set(copied)
    packages = {path.parent.name for path in REPO.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages <= set(copied)
    assert any(line.startswith("USER 10001") for line in lines)


def test_kubernetes() -> None:
    [kustomization] = in_yaml(DEPLOY / "kustomization.yaml")
    found = [part for name in kustomization["resources"] for part in in_yaml(DEPLOY / name)]
    kinds = sorted((part["kind"], part["metadata"]["name"]) for part in found)
    assert [name for kind, name in kinds if kind == "StatefulSet"] == ["redis", "worker"]
    assert [name for kind, name in kinds if kind == "NetworkPolicy"] == ["redis", "worker"]
    for part in found:
        if part["kind"] == "StatefulSet":
            template = part["spec"]["template"]
            assert template["metadata"]["labels"].items() >= part["spec"]["selector"]["matchLabels"].items()
            assert template["spec"]["securityContext"]["runAsNonRoot"] is True
            claims = {claim["metadata"]["name"] for claim in part["spec"]["volumeClaimTemplates"]}
            volumes = claims | {volume["name"] for volume in template["spec"]["volumes"]}
            [container] = template["spec"]["containers"]
            assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    assert load_crawl(DEPLOY / "kubernetes" / "crawl.toml").name == "zulu"


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_builds() -> None:
    done = subprocess.run(["kubectl", "kustomize", str(DEPLOY)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\nkind: ") == 11 - 1
    assert "maxmemory-policy noeviction" in done.stdout


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_units() -> None:
    done = subprocess.run(["systemd-analyze", "verify", *UNITS], capture_output=True, text=True, timeout=240)
    said = [line for line in done.stderr.splitlines() if line and "is not executable" not in line]
    assert said == []


def test_both_units_are_held_as_narrowly() -> None:
    held = [
        {
            line
            for line in path.read_text().splitlines()
            if re.match(r"(Protect|Private|Restrict|Lock|NoNew|System|MemoryDeny)", line)
        }
        for path in UNITS
    ]
    redis_unit, worker = held
    assert len(worker) > 15
    # Python's foreign functions need memory that is both written and run.
    assert redis_unit ^ worker == {"MemoryDenyWriteExecute=yes"}


def test_workers_have_a_folder_that_they_may_write_the_unpacked_model_to() -> None:
    unit = (DEPLOY / "systemd" / "ulwembu-worker@.service").read_text().splitlines()
    assert {"CacheDirectory=ulwembu", "Environment=RELEVANCE_CACHE=/var/cache/ulwembu"} <= set(unit)
    worker = in_yaml(DEPLOY / "compose.yaml")[0]["services"]["worker"]
    assert worker["read_only"] is True
    assert "data:/data" in worker["volumes"]
    assert Path(worker["environment"]["RELEVANCE_CACHE"]).parent == Path("/data")
    [pods] = [part for part in in_yaml(DEPLOY / "kubernetes" / "worker.yaml") if part["kind"] == "StatefulSet"]
    [container] = pods["spec"]["template"]["spec"]["containers"]
    writable = {Path(mount["mountPath"]) for mount in container["volumeMounts"] if not mount.get("readOnly")}
    [cache] = [Path(one["value"]) for one in container["env"] if one["name"] == "RELEVANCE_CACHE"]
    assert cache.parent in writable


@pytest.mark.parametrize(
    "path", [*UNITS, DEPLOY / "compose.yaml", DEPLOY / "kubernetes" / "worker.yaml", MANUAL, RUNBOOK]
)
def test_only_settings_that_exist_are_set(path: Path) -> None:
    known = {option.name for option in OPTIONS} | {"LOGSTATS_INTERVAL", "CRAWL"}
    used = set(re.findall(r"(?:-s |- )([A-Z_]{4,})=", path.read_text(encoding="utf-8")))
    assert used - known == set()


def spoken() -> set[str]:
    """Every string in the code of the rooms that speak to the log, joined as the code joins them."""
    rooms = ("archive", "crawler", "frontier", "sieve")
    found = set()
    for path in [path for room in rooms for path in (REPO / room).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(" ".join(node.value.split()))
    return found


def test_the_log_lines_of_the_manual_are_those_of_the_code() -> None:
    table = MANUAL.read_text(encoding="utf-8").partition("## What failures look like")[2].partition("\n## ")[0]
    quoted = re.findall(r"^\| `([^`]+)`", table, re.M)
    assert len(quoted) > 8
    code = spoken()
    for line in quoted:
        for part in (part.strip() for part in line.split("…")):
            assert not part or any(part in said for said in code), f"nothing says {part!r}"


def test_no_port_is_left_open(configured: redis.Redis) -> None:
    """The configuration listens on this machine only."""
    bound = str(configured.config_get("bind")["bind"]).split()
    assert all(address.lstrip("-") in ("127.0.0.1", "::1") for address in bound)
