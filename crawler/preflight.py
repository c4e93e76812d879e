"""What must hold before a crawl starts; each fault is one line that says what to do.

Checked before the reactor runs, so a wrong setting costs no half-started crawl.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import math
import os
import re
import socket
import ssl
from pathlib import Path

from scrapy import Spider
from scrapy.settings import BaseSettings

from archive import ArchiveError
from archive.index import checking
from archive.writing.earlier import indexes_of
from crawler.addon import user_agent
from crawler.errors import PreflightError
from crawler.fetch.addresses import AddressGuard, read_hosts_file
from crawler.fetch.opt_outs import read_opt_outs
from crawler.options import CHOICES, problems
from crawler.pages.policy import model_of, open_policy
from crawler.pages.quality_caps import ALL_FLAGS
from crawler.scrapy_settings import crawl_faults, guard_faults, log_faults, value_faults
from crawler.spiders.seeded import SeededSpider
from crawler.state.folder import data_folder
from relevance.errors import ModelError, PolicyError
from seeds.crawl.reader import check_contact

METRICS_PORTS = 10
"""So many workers of a machine may have the same settings."""
_PARTS = ("warc", "state", "reports")
_DAY_S = 86_400
_OF_POLICY = ("RELEVANCE_POLICY", "RELEVANCE_OPTIONS", "RELEVANCE_MODEL")
_LONGEST_PREFIX_BYTES = 100


def check(settings: BaseSettings, spider: type[Spider]) -> None:
    """Raise :class:`PreflightError` with every fault of the settings; nothing is written."""
    faults: list[str] = []
    if issubclass(spider, SeededSpider):
        try:
            open_policy(settings, spider.spec)
        except (PolicyError, ModelError) as error:
            given = [name for name in _OF_POLICY if settings.get(name)]
            named = f" (with {', '.join(given)})" if given else ""
            faults.append(f"relevance policy of {spider.spec.path or spider.spec.name}{named}: {error}")
    faults += settings_faults(settings, spider)
    faults += crawl_faults(settings)
    if faults:
        raise PreflightError("\n".join(faults))
    if settings.getint("METRICS_PORT"):
        metrics_socket(settings).close()


def take_folder(settings: BaseSettings, spider: type[Spider]) -> None:
    """Create the data folder of a crawl, and its LOG_FILE, or :class:`PreflightError`: why it cannot have them. To be
    called when nothing else is against the start, as one that is refused should leave no folder."""
    if not issubclass(spider, SeededSpider):
        faults = log_faults(settings)
    else:
        folder = data_folder(settings, spider.spec.name)
        log_is_inside = _comes_with(folder, Path(settings.get("LOG_FILE") or "").absolute().parent)
        faults = [] if log_is_inside else log_faults(settings)
        faults = faults or _folder_faults(folder) or _owner_faults(folder, spider.spec.name)
        faults = faults or (log_faults(settings) if log_is_inside else [])
    if faults:
        raise PreflightError("\n".join(faults))


def _comes_with(folder: Path, parent: Path) -> bool:
    """Whether a folder is not there before the data folder is."""
    folder = folder.absolute()
    return not parent.exists() and parent in (folder, *folder.parents, *(folder / part for part in _PARTS))


def settings_faults(settings: BaseSettings, spider: type[Spider]) -> list[str]:
    """What is wrong with the settings by themselves, in whatever project and however the crawl is started."""
    faults = list(problems(settings))
    spec = spider.spec if issubclass(spider, SeededSpider) else None
    if not settings.get("CONTACT") and not (spec and spec.contact):
        where = f", or `contact` in {spec.path or 'the seed file'}" if spec else ""
        faults.append(
            "no contact: set CONTACT (a web page or mail address that site owners can turn to)"
            f"{where}; without one nothing is fetched"
        )
    try:
        check_contact(str(settings.get("CONTACT") or ""))
    except ValueError as error:
        faults.append(f"CONTACT: {error}")
    if spec is None:  # else it is opened with the policy, in `check`
        try:
            model_of(settings, None)
        except ModelError as error:
            faults.append(f"RELEVANCE_MODEL {error}")
    faults += _network_faults(settings)
    faults += _file_faults(settings)
    faults += _choice_faults(settings)
    faults += _name_faults(settings)
    faults += _limit_faults(settings)
    faults += value_faults(settings)
    faults += guard_faults(settings)
    return faults


def _folder_faults(folder: Path) -> list[str]:
    try:
        str(folder.resolve()).encode()  # as part of an address of Redis
        for part in _PARTS:
            (folder / part).mkdir(parents=True, exist_ok=True)
            if not os.access(folder / part, os.W_OK | os.X_OK):
                raise PermissionError(13, os.strerror(13))
    except OSError as error:
        return [f"cannot write to DATA_DIR {folder}: {error.strerror}"]
    except UnicodeEncodeError:
        return [f"DATA_DIR {folder}: its name is no UTF-8"]
    return []


def _owner_faults(folder: Path, crawl: str) -> list[str]:
    """A folder is one crawl's: another's sieve would mix with it, and its journals would be held against another
    frontier, which knows none of their pages."""
    owner = folder / "state" / "crawl"
    try:
        with owner.open("a+", encoding="utf-8", errors="replace") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # of two that are the first, one is
            file.seek(0)
            if not (found := file.read().strip()):
                file.write(found := crawl)
    except OSError as error:
        return [f"cannot write to DATA_DIR {folder}: {error.strerror}"]
    if found == crawl:
        return []
    return [
        f"DATA_DIR {folder} is the folder of the crawl {found!r} (its file state/crawl says so); "
        f"{crawl!r} needs one of its own, as DATA_DIR={folder.parent}/{{crawl}} gives each"
    ]


def _choice_faults(settings: BaseSettings) -> list[str]:
    unknown = [flag for flag in settings.getlist("RELEVANCE_CAPPED") if flag not in ALL_FLAGS]
    faults = [f"RELEVANCE_CAPPED: {flag!r} is none of {', '.join(ALL_FLAGS)}" for flag in unknown]
    levels = tuple(logging.getLevelNamesMapping())
    for name, choices in {**CHOICES, "LOG_LEVEL": levels}.items():  # Scrapy itself would have a traceback for it
        value = settings.get(name)
        if value not in choices and not (name == "LOG_LEVEL" and isinstance(value, int)):
            faults.append(f"{name}={value!r} is none of {', '.join(map(repr, filter(None, choices)))}")
    return faults


def _name_faults(settings: BaseSettings) -> list[str]:
    """Words that go into requests and file names."""
    faults = []
    if not re.fullmatch("[A-Za-z_-]+", token := str(settings.get("ROBOTS_USER_AGENT"))):
        faults.append(f"ROBOTS_USER_AGENT={token!r} is no product token (letters, _ and -: RFC 9309, 2.2.1)")
    agent = str(settings.get("USER_AGENT"))
    if agent != user_agent(settings) and not (agent.strip() and agent.isascii() and agent.isprintable()):
        faults.append(f"USER_AGENT={agent!r} must be one line of ASCII")
    if not re.fullmatch(r"(?!\.)[\w{}.-]*", prefix := str(settings.get("WARC_PREFIX"))):
        faults.append(f"WARC_PREFIX={prefix!r} must be letters, digits, _, . and -, and not begin with .")
    if len(os.fsencode(prefix)) > _LONGEST_PREFIX_BYTES:
        faults.append(f"WARC_PREFIX={prefix!r} must be no longer than {_LONGEST_PREFIX_BYTES} bytes")
    return faults


def _file_faults(settings: BaseSettings) -> list[str]:
    """Files that the settings name and that nothing reads before the crawl is under way."""
    faults = []
    if not settings.get("DATA_DIR"):  # as of a variable that is not set: it is not the folder where one happens to be
        faults.append("DATA_DIR is empty")
    if path := settings.get("FETCH_CA_FILE"):
        try:
            ssl.create_default_context(cafile=path)
        except ssl.SSLError:
            faults.append(f"FETCH_CA_FILE {path}: no PEM certificate in it")
        except OSError as error:
            faults.append(f"FETCH_CA_FILE {path}: {error.strerror}")
    if path := settings.get("FRONTIER_OPT_OUT_FILE"):
        try:
            read_opt_outs(Path(path))
        except OSError as error:
            faults.append(f"FRONTIER_OPT_OUT_FILE {path}: {error.strerror}")
        except UnicodeDecodeError:
            faults.append(f"FRONTIER_OPT_OUT_FILE {path}: not UTF-8 text")
        except ValueError as error:
            faults.append(f"FRONTIER_OPT_OUT_FILE {error}")
    return faults + _earlier_faults(settings)


def _earlier_faults(settings: BaseSettings) -> list[str]:
    """Indexes of earlier crawls in which nothing would be found."""
    try:
        indexes = indexes_of(settings.getlist("WARC_EARLIER"))
    except (OSError, ValueError) as error:
        return [f"WARC_EARLIER {error}"]
    faults, wanted, kinds = [], str(settings.get("WARC_DIGEST")), set[str]()
    for index in indexes:
        try:
            kinds |= checking.check(index, checking.WHOLE_BYTES // len(indexes))
        except OSError as error:
            faults.append(f"WARC_EARLIER {index}: {error.strerror}")
        except ArchiveError as error:
            faults.append(f"WARC_EARLIER {error}")
    if kinds and wanted not in kinds and not faults:
        faults.append(
            f"WARC_EARLIER: digests there are {', '.join(sorted(kinds))}, but WARC_DIGEST={wanted}: none would be found"
        )
    return faults


def metrics_socket(settings: BaseSettings) -> socket.socket:
    """Listens on the first port for figures that is free; PreflightError when none can be had."""
    # An empty address would mean all of the machine's.
    host, first = settings.get("METRICS_HOST") or "127.0.0.1", settings.getint("METRICS_PORT")
    try:
        host.encode("idna")
    except UnicodeError:  # else a TypeError later
        raise PreflightError(f"METRICS_HOST={host!r} is no name of a host") from None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    last = min(first + METRICS_PORTS, 1 << 16) - 1
    for port in range(first, last + 1):
        try:
            return socket.create_server((host, port), family=family)
        except OSError as error:
            why = error.strerror
    raise PreflightError(f"METRICS_PORT: no port from {first} to {last} of METRICS_HOST {host} can be used: {why}")


def _limit_faults(settings: BaseSettings) -> list[str]:
    """Numbers that would let the crawl hang or fetch without limits."""
    faults = []
    limits: dict[str, float] = {}
    for name in (
        "DOWNLOAD_TIMEOUT",
        "FETCH_CONNECT_TIMEOUT_S",
        "DOWNLOAD_MAXSIZE",
        "FRONTIER_BUFFER",
        "FRONTIER_MAX_RETRIES",
    ):
        limits[name] = _number(settings, name)
        if not 0 < limits[name] < math.inf or ("TIMEOUT" not in name and not limits[name].is_integer()):
            faults.append(f"{name}={settings.get(name)!r} must be a number above 0")
    if not 0 <= _number(settings, "LOGSTATS_INTERVAL") < math.inf:
        faults.append(f"LOGSTATS_INTERVAL={settings.get('LOGSTATS_INTERVAL')!r} must be seconds, not below 0")
    for kind in ("HARVEST", "HARVEST_SITEMAP"):
        least, most = f"{kind}_MIN_POLL_S", f"{kind}_MAX_POLL_S"
        if _number(settings, least) > _number(settings, most):
            faults.append(f"{least}={settings.get(least)} is above {most}={settings.get(most)}")
    with contextlib.suppress(TypeError, ValueError):  # said by `problems` already
        if not 0 < settings.getfloat("ROBOTS_MAX_AGE_S") <= _DAY_S:
            faults.append(
                f"ROBOTS_MAX_AGE_S={settings.get('ROBOTS_MAX_AGE_S')} must be above 0 and at most {_DAY_S} "
                "(RFC 9309, 2.4)"
            )
        if settings.getfloat("FRONTIER_LEASE_S") <= limits["DOWNLOAD_TIMEOUT"] + 1:
            faults.append(
                f"FRONTIER_LEASE_S={settings.get('FRONTIER_LEASE_S')} must be over a second longer than "
                f"DOWNLOAD_TIMEOUT={settings.get('DOWNLOAD_TIMEOUT')}: no request could start within its lease"
            )
    return faults


def _number(settings: BaseSettings, name: str) -> float:
    """A setting as a number; NaN when it is none."""
    try:
        return float(settings.get(name))
    except (TypeError, ValueError):
        return math.nan


def _network_faults(settings: BaseSettings) -> list[str]:
    try:
        AddressGuard(settings.getlist("FETCH_ALLOWED_NETWORKS"))
        if settings.get("FETCH_HOSTS_FILE"):
            read_hosts_file(Path(settings.get("FETCH_HOSTS_FILE")))
    except ValueError as error:
        return [f"FETCH_ALLOWED_NETWORKS or FETCH_HOSTS_FILE: {error}"]
    except OSError as error:
        return [f"FETCH_HOSTS_FILE {error.filename}: {error.strerror}"]
    return []
