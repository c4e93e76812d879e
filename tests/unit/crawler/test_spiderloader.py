from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.addon import Ulwembu
from crawler.errors import PreflightError
from crawler.pages.policy import open_policy
from crawler.preflight import check, take_folder
from crawler.spiderloader import CrawlLoader, find_spider
from crawler.spiders.seeded import SeededSpider
from relevance import PageContext, read_page
from tests.small_model import CZECH, write_small_model

GOOD = '[crawl]\nname = "ndwedwe"\nlanguage = "zul"\n{contact}\n[[site]]\nurl = "https://a.test/"\n'


def loader(folder: Path, **values: object) -> tuple[CrawlLoader, Settings]:
    settings = Settings()
    Ulwembu().update_settings(settings)
    settings.setdict({"SPIDER_MODULES": [], "SEEDS_DIR": str(folder), **values}, priority="cmdline")
    return CrawlLoader.from_settings(settings), settings


def test_a_seed_file_is_a_spider(tmp_path: Path) -> None:
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact='contact = "https://a.test/about"'))
    found, settings = loader(tmp_path, DATA_DIR=str(tmp_path / "data"))
    assert found.list() == ["harvest", "ndwedwe"]
    spider = find_spider(found, "ndwedwe", {})
    assert spider.name == "ndwedwe"
    check(settings, spider)
    assert not (tmp_path / "data").exists()
    take_folder(settings, spider)
    assert (tmp_path / "data" / "warc").is_dir()


def test_the_shipped_crawls_load() -> None:
    found, _ = loader(Path(__file__).parents[3] / "seeds")
    assert {"zulu", "xhosa"} <= set(found.list())
    for name in found.list():
        if name != "harvest":
            assert find_spider(found, name, {}).name == name


def test_an_argument_that_no_crawl_has_is_refused() -> None:
    """With `-a seed=FILE` the crawl of that name would be run, not that of the file."""
    found, _ = loader(Path(__file__).parents[3] / "seeds")
    with pytest.raises(PreflightError, match=r"-a seed=…; there are -a seeds=FILE"):
        find_spider(found, "zulu", {"seed": "my.toml"})


def test_a_spider_written_in_python_has_arguments_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that crawls what a seed file says; that of the file itself, or of another that is named, has none."""
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact=""))
    (tmp_path / "own_ndwedwe.py").write_text(
        "from pathlib import Path\n"
        "from crawler.spiders.seeded import SeededSpider\n"
        "from seeds.crawl import load_crawl\n"
        "class Longer(SeededSpider):\n"
        "    name = 'longer'\n"
        "    spec = load_crawl(Path(__file__).with_name('ndwedwe.toml'))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found, _ = loader(tmp_path, SPIDER_MODULES=["own_ndwedwe"])
    spider = find_spider(found, "longer", {"least": "500"})
    assert spider.__name__ == "Longer"
    assert vars(spider(least="500"))["least"] == "500"
    for name, arguments in (("ndwedwe", {}), ("longer", {"seeds": str(tmp_path / "ndwedwe.toml")})):
        with pytest.raises(PreflightError, match="unknown argument -a least=…"):
            find_spider(found, name, {**arguments, "least": "500"})


def test_harvest_is_a_crawl_that_stays() -> None:
    found, _ = loader(Path(__file__).parents[3] / "seeds")
    spider = find_spider(found, "harvest", {"crawl": "zulu"})
    assert spider.name == "zulu"
    assert getattr(spider, "stays", None) is True
    with pytest.raises(PreflightError, match="which crawl"):
        find_spider(found, "harvest", {})


def test_a_crawl_may_be_called_harvest(tmp_path: Path) -> None:
    (tmp_path / "harvest.toml").write_text(GOOD.format(contact="").replace("ndwedwe", "harvest"))
    found, _ = loader(tmp_path)
    assert found.list() == ["harvest"]
    for arguments, stays in (({}, False), ({"crawl": "harvest"}, True)):
        spider = find_spider(found, "harvest", arguments)
        assert (spider.name, getattr(spider, "stays", None)) == ("harvest", stays)
    with pytest.raises(PreflightError, match="which crawl"):  # as of a variable that is not set
        find_spider(found, "harvest", {"crawl": ""})


def test_no_such_crawl_is_one_line_that_names_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact=""))
    found, _ = loader(tmp_path)
    with pytest.raises(PreflightError, match=r"no crawl named 'nosuch'.*ndwedwe.*--seeds FILE") as caught:
        find_spider(found, "nosuch", {})
    assert "\n" not in str(caught.value)


def test_a_broken_file_is_named_with_its_line_and_spoils_no_other(tmp_path: Path) -> None:
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact=""))
    (tmp_path / "broken.toml").write_text('[crawl]\nname = "broken"\nlanguage = \n')
    found, _ = loader(tmp_path)
    assert found.list() == ["broken", "harvest", "ndwedwe"]
    assert find_spider(found, "ndwedwe", {}).name == "ndwedwe"
    with pytest.raises(PreflightError, match=r"broken\.toml:3"):
        find_spider(found, "broken", {})


def test_without_a_contact_nothing_starts(tmp_path: Path) -> None:
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact=""))
    found, settings = loader(tmp_path, DATA_DIR=str(tmp_path / "data"))
    with pytest.raises(PreflightError, match="set CONTACT"):
        check(settings, find_spider(found, "ndwedwe", {}))
    settings.set("CONTACT", "crawler@a.test", priority="cmdline")
    check(settings, find_spider(found, "ndwedwe", {}))


def test_another_file_by_argument(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(GOOD.format(contact=""))
    found, _ = loader(tmp_path)
    assert find_spider(found, "anything", {"seeds": str(other)}).name == "ndwedwe"
    with pytest.raises(PreflightError, match=r"missing\.toml"):
        find_spider(found, "anything", {"seeds": str(tmp_path / "missing.toml")})


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact='contact = "me@a.test"'))
    (tmp_path / "file").write_text("")
    found, settings = loader(tmp_path, DATA_DIR=str(tmp_path / "file" / "data"))
    with pytest.raises(PreflightError, match="cannot write to DATA_DIR") as caught:
        take_folder(settings, find_spider(found, "ndwedwe", {}))
    assert "\n" not in str(caught.value)


def test_a_wrong_network_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact='contact = "me@a.test"'))
    found, settings = loader(tmp_path, DATA_DIR=str(tmp_path / "data"), FETCH_ALLOWED_NETWORKS="127.0.0.0/99")
    with pytest.raises(PreflightError, match="FETCH_ALLOWED_NETWORKS"):
        check(settings, find_spider(found, "ndwedwe", {}))


def test_a_language_that_the_model_lacks_needs_a_policy_that_keeps_all(tmp_path: Path) -> None:
    text = GOOD.format(contact='contact = "me@a.test"').replace('"zul"', '"ces"')
    (tmp_path / "ndwedwe.toml").write_text(text)
    found, settings = loader(tmp_path, DATA_DIR=str(tmp_path / "data"))
    with pytest.raises(PreflightError, match="does not know 'ces'"):
        check(settings, find_spider(found, "ndwedwe", {}))
    settings.set("RELEVANCE_POLICY", "all", priority="cmdline")
    check(settings, find_spider(found, "ndwedwe", {}))


def test_a_crawl_by_a_model_of_ones_own(tmp_path: Path) -> None:
    write_small_model(tmp_path / "czech.model")
    text = GOOD.format(contact='contact = "me@a.test"').replace('"zul"', '"ces"')
    (tmp_path / "ndwedwe.toml").write_text(text + '\n[relevance]\nmodel = "czech.model"\n')
    found, settings = loader(tmp_path, DATA_DIR=str(tmp_path / "data"))
    spider = find_spider(found, "ndwedwe", {})
    check(settings, spider)
    assert issubclass(spider, SeededSpider)
    page = read_page(f"<p>{CZECH} {CZECH}</p>".encode(), "http://a.test/", "text/html; charset=utf-8")
    verdict = open_policy(settings, spider.spec).judge(page, PageContext())
    assert (verdict.keep, verdict.language) == (True, "ces")
    settings.set("RELEVANCE_MODEL", str(tmp_path / "none.model"), priority="cmdline")
    with pytest.raises(PreflightError, match=r"none\.model: No such file") as caught:
        check(settings, spider)
    assert "\n" not in str(caught.value)


def test_wrong_policy_options_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact='contact = "me@a.test"'))
    found, settings = loader(tmp_path, DATA_DIR=str(tmp_path / "data"), RELEVANCE_OPTIONS="words=many")
    with pytest.raises(PreflightError, match="words"):
        check(settings, find_spider(found, "ndwedwe", {}))
    for form in ({"words": 5}, [5], 5):  # of a project's settings.py
        settings.set("RELEVANCE_OPTIONS", form, priority="cmdline")
        with pytest.raises(PreflightError, match=r"RELEVANCE_OPTIONS is a comma list of name=value, not "):
            check(settings, find_spider(found, "ndwedwe", {}))
    for good in ("words=5,share=0.5", ["words=5", "share=0.5"]):
        settings.set("RELEVANCE_OPTIONS", good, priority="cmdline")
        check(settings, find_spider(found, "ndwedwe", {}))


def test_an_empty_name_of_a_seed_file_is_told(tmp_path: Path) -> None:
    found, _ = loader(tmp_path)
    with pytest.raises(PreflightError, match="-a seeds=FILE: an empty name"):
        find_spider(found, "ndwedwe", {"seeds": ""})


def test_unknown_policy_options_and_flags_are_named(tmp_path: Path) -> None:
    toml = GOOD.format(contact='contact = "me@a.test"') + "\n[relevance]\nbogus = 1\n"
    (tmp_path / "ndwedwe.toml").write_text(toml)
    found, settings = loader(tmp_path, DATA_DIR=str(tmp_path / "data"), RELEVANCE_CAPPED="machine,spam")
    with pytest.raises(PreflightError, match=r"no option 'bogus'[^\0]*RELEVANCE_CAPPED: 'spam' is none of"):
        check(settings, find_spider(found, "ndwedwe", {}))
    settings.set("RELEVANCE_CAPPED", "machine", priority="cmdline")
    settings.set("RELEVANCE_POLICY", "threshold", priority="cmdline")  # another than the file's: its options are not
    check(settings, find_spider(found, "ndwedwe", {}))
    settings.set("RELEVANCE_OPTIONS", "tunnel=2", priority="cmdline")
    with pytest.raises(PreflightError, match="threshold has no option 'tunnel'"):
        check(settings, find_spider(found, "ndwedwe", {}))


def test_the_crawls_language_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "ndwedwe.toml").write_text(GOOD.format(contact=""))
    found, settings = loader(tmp_path)
    find_spider(found, "ndwedwe", {}).update_settings(settings)
    assert settings.getdict("DEFAULT_REQUEST_HEADERS")["Accept-Language"] == "zu, en;q=0.3"
