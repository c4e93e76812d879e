import math
import tomllib
from pathlib import Path

import pytest
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list

from crawler.addon import Ulwembu
from crawler.options import OPTIONS, problems, table
from crawler.version import VERSION
from crawler.work.opening import frontier_config
from frontier.intake import arrivals
from frontier.outcomes import MOST_RETRIES, OUTCOMES
from frontier.types import Candidate
from seeds.crawl.model import MOST_STEPS


def settings_with(**values: object) -> Settings:
    settings = Settings()
    Ulwembu().update_settings(settings)
    settings.setdict(values, priority="cmdline")
    return settings


def test_the_defaults_are_sound() -> None:
    assert list(problems(settings_with())) == []


def test_an_unknown_setting_of_ours_is_named_with_the_nearest() -> None:
    (problem,) = problems(settings_with(FRONTIER_DELAYS=3))
    assert problem == "unknown setting FRONTIER_DELAYS (did you mean FRONTIER_DELAY_S?)"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("REDIS_URI", "REDIS_URL"),
        ("CONTACTS", "CONTACT"),
        ("contact", "CONTACT"),
        ("frontier_delay_s", "FRONTIER_DELAY_S"),
    ],
)
def test_a_name_typed_nearly_as_one_of_ours_is_refused(typed: str, meant: str) -> None:
    assert list(problems(settings_with(**{typed: 3}))) == [f"unknown setting {typed} (did you mean {meant}?)"]
    settings = settings_with()
    settings.set(typed, 3, priority="project")
    assert list(problems(settings)) == [], "in a project it may be somebody else's"


def test_other_peoples_settings_are_theirs() -> None:
    assert list(problems(settings_with(MY_OWN_THING=1, DOWNLOAD_DELAY=2))) == []


@pytest.mark.parametrize("value", ["soon", "-1", "nan"])
def test_an_unusable_delay_is_refused(value: str) -> None:
    (problem,) = problems(settings_with(FRONTIER_DELAY_S=value))
    assert "FRONTIER_DELAY_S" in problem


def test_the_longest_waits_that_settings_allow_can_be_told_to_redis() -> None:
    most = {
        option.name: option.most for option in OPTIONS if option.name in ("FRONTIER_RETRY_FACTOR", "FRONTIER_DELAY_S")
    }
    settings = settings_with(**most)
    assert list(problems(settings)) == []
    config = frontier_config(settings, None)
    assert max(config.rule(result).cap_ms for result in OUTCOMES) < 2**53
    assert config.delay_ms < 2**53


@pytest.mark.parametrize("value", [2**64, str(2**64), math.inf, "inf", math.nan, "nan", "9" * 5000])
def test_a_count_that_is_none_is_refused(value: object) -> None:
    (problem,) = problems(settings_with(FRONTIER_MAX_DEPTH=value))
    assert "FRONTIER_MAX_DEPTH" in problem


def test_steps_are_bounded_as_far_as_they_are_counted() -> None:
    deep = Candidate("http://a.example/x", depth=1000)
    settings = settings_with(FRONTIER_MAX_DEPTH=MOST_STEPS)
    assert list(problems(settings)) == []
    assert arrivals([deep], frontier_config(settings, None))[0][0].trap == "trap_depth"
    (problem,) = problems(settings_with(FRONTIER_MAX_DEPTH=255))
    assert problem == "setting FRONTIER_MAX_DEPTH=255 must be a whole number from 0 to 254"


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("FRONTIER_AUDIT", "ja", "True or False"),
        ("FRONTIER_DELAY_S", "5s", "a number from 0 to 1000000000000"),
        ("HARVEST_REVISIT_AFTER_S", "1h", "a comma list of seconds above 0"),
    ],
)
def test_what_can_be_given_is_said_in_words(name: str, value: str, wanted: str) -> None:
    assert list(problems(settings_with(**{name: value}))) == [f"setting {name}={value!r} must be {wanted}"]


@pytest.mark.parametrize("value", ["3600,soon", "0", "-5,7", "1e300"])
def test_unusable_times_of_a_list_are_refused(value: str) -> None:
    (problem,) = problems(settings_with(HARVEST_REVISIT_AFTER_S=value))
    assert "HARVEST_REVISIT_AFTER_S" in problem


def test_unsafe_handlers_and_extensions_are_off() -> None:
    settings = settings_with()
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    assert [scheme for scheme in ("file", "ftp", "s3", "data") if handlers[scheme] is not None] == []
    assert not settings.getbool("TELNETCONSOLE_ENABLED")
    assert not settings.getbool("REMOTE_CONTROL_ENABLED")
    assert not settings.getbool("HTTPPROXY_ENABLED")
    assert settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")


def test_a_projects_own_components_stay() -> None:
    settings = Settings()
    settings.set("EXTENSIONS", {"their.Extension": 5}, priority="project")
    settings.set("DOWNLOAD_MAXSIZE", 7, priority="project")
    Ulwembu().update_settings(settings)
    assert settings.getint("DOWNLOAD_MAXSIZE") == 7
    assert settings.getdict("EXTENSIONS")["their.Extension"] == 5
    assert "crawler.work.worker.Worker" in settings.getdict("EXTENSIONS")


def test_what_is_not_used_is_not_even_imported() -> None:
    components = settings_with().get_component_priority_dict_with_base
    assert not [name for name in components("EXTENSIONS") if "remote_control" in name or "throttle" in name]
    found = list(components("DOWNLOADER_MIDDLEWARES"))
    assert not [name for name in found if name.rpartition(".")[2] in ("CookiesMiddleware", "RetryMiddleware")]
    assert "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware" in found


def test_what_a_project_switches_on_is_there() -> None:
    settings = Settings({"COOKIES_ENABLED": True}, priority="project")
    Ulwembu().update_settings(settings)
    found = settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    assert "scrapy.downloadermiddlewares.cookies.CookiesMiddleware" in found


@pytest.mark.parametrize("priority", ["project", "spider", "cmdline"])
def test_what_has_no_place_here_has_none_in_a_base_that_a_project_sets_either(priority: str) -> None:
    own = {RetryMiddleware: 550, "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": 600, "own.Middleware": 1}
    settings = Settings()
    settings.set("DOWNLOADER_MIDDLEWARES_BASE", own, priority)
    settings.set("RETRY_ENABLED", True, priority)
    Ulwembu().update_settings(settings)
    assert settings.getdict("DOWNLOADER_MIDDLEWARES_BASE") == {"own.Middleware": 1}


def test_what_a_project_names_itself_is_there_and_where_it_wants_it() -> None:
    named = {RetryMiddleware: 551, "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None}
    settings = Settings({"DOWNLOADER_MIDDLEWARES": named, "COOKIES_ENABLED": True}, priority="project")
    Ulwembu().update_settings(settings)
    found = build_component_list(settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES"))
    assert RetryMiddleware in found
    assert not [name for name in found if "cookies" in str(name)]


def test_the_table_has_every_option() -> None:
    text = table()
    assert all(f"`{option.name}`" in text for option in OPTIONS)


def test_the_most_retries_are_those_of_the_table_of_outcomes() -> None:
    """A number of its own, so that commands which need no frontier import none."""
    assert {option.name: option.default for option in OPTIONS}["FRONTIER_MAX_RETRIES"] == MOST_RETRIES


def test_the_settings_page_is_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "settings.md"
    assert table() in page.read_text(encoding="utf-8"), "run `make settings`"


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION
