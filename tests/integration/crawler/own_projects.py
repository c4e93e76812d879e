"""Scrapy projects with spiders of their own and the add-on, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.integration.crawler.harness import QUICK, environment

SETTINGS = """
SPIDER_MODULES = ["own"]
ADDONS = {"crawler.addon.Ulwembu": 100}
COMMANDS_MODULE = "crawler.commands"
CONTACT = "me@a.test"
FRONTIER_RETRY_FACTOR, FRONTIER_MAX_RETRIES = 0.00001, 2
# as Scrapy's own template and many a project have it
ROBOTSTXT_OBEY, DOWNLOAD_DELAY, CONCURRENT_REQUESTS_PER_DOMAIN, AUTOTHROTTLE_ENABLED = True, 30, 1, True
RETRY_ENABLED = REDIRECT_ENABLED = METAREFRESH_ENABLED = True
"""


def write_project(folder: Path, spiders: str, port: int, more_settings: str = "") -> Path:
    """A project in `folder`; PORT in its spiders is the web's."""
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (folder / "settings.py").write_text(SETTINGS + more_settings)
    (folder / "own.py").write_text(spiders.replace("PORT", str(port)))
    return folder


def crawl(project: Path, spider: str, **settings: str) -> tuple[list[dict[str, Any]], str]:
    """The items that a spider gives, and its log."""
    words = [sys.executable, "-m", "scrapy", "crawl", spider, "-O", "out.jsonl"]
    words += [word for name, value in {**QUICK, **settings}.items() for word in ("-s", f"{name}={value}")]
    done = subprocess.run(words, cwd=project, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (project / "out.jsonl").read_text().splitlines()]
    return sorted(found, key=json.dumps), done.stderr
