"""The focus bench on what a crawl has stored."""

import random
from pathlib import Path
from typing import Any

import pytest

from bench.focus.__main__ import main
from bench.focus.crawl import CRAWLS, curve
from bench.focus.replay import NothingToReplayError, read_web
from relevance.language.model import load
from tests.sample import sentences
from tests.small_model import CZECH, write_small_model

ZULU, ENGLISH = (sentences(language, random.Random(1), 80) for language in ("zul", "eng"))
HOST = "http://a.example"


def record(path: str, body: str, status: str = "200 OK", more: str = "") -> bytes:
    payload = body.encode()
    http = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{more}Content-Length: {len(payload)}\r\n\r\n".encode()
    block = http + payload
    head = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{random.Random(path).random()}>\r\n"
    head += f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {HOST}{path}\r\n"
    head += f"Content-Type: application/http;msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.warc"
    links = "<a href='en'>e</a><a href='old#x'>o</a><a href='/nowhere'>n</a><a href='http://[bad'>b</a>"
    path.write_bytes(
        record("/", f"<p>{ENGLISH}</p>{links}")
        + record("/en", f"<p>{ENGLISH}</p>")
        + record("/old", "", "301 Moved", "Location: /zu\r\n")
        + record("/zu", f"<p>{ZULU}</p><a href='/'>h</a>")
        + record("/zu", "<p>fetched again</p>")
        + record("/gone", "<p>no</p>", "404 Not Found")
    )
    return path


def test_stored_pages_become_a_web(warc: Path) -> None:
    web = read_web([warc], "zul", [])
    assert [(node.url.removeprefix(HOST), node.relevant) for node in web.nodes] == [
        ("/", False),
        ("/en", False),
        ("/zu", True),
    ]
    assert [[target for target, *_ in node.links] for node in web.nodes] == [[1, 2], [], [0]]
    assert web.seeds == [0]
    for name, crawl in CRAWLS.items():
        found = curve(web, crawl(web))
        assert found.reachable == 1
        assert found.relevant[-1] == 1, name


def test_wrong_input_is_named(warc: Path, tmp_path: Path) -> None:
    assert read_web([warc], "zul", [f"{HOST}/zu"]).seeds == [2]
    with pytest.raises(NothingToReplayError, match=f"no stored page at {HOST}/none"):
        read_web([warc], "zul", [f"{HOST}/none"])
    with pytest.raises(NothingToReplayError, match="the model knows no 'tlh'"):
        read_web([warc], "tlh", [])
    (tmp_path / "empty.warc").write_bytes(b"")
    with pytest.raises(NothingToReplayError, match="no HTML page"):
        read_web([tmp_path / "empty.warc"], "zul", [])
    with pytest.raises(OSError, match="none"):
        read_web([tmp_path / "none.warc"], "zul", [])


def test_policies_steer_for_the_language_of_the_replay(tmp_path: Path) -> None:
    path = tmp_path / "xho.warc"
    text = sentences("xho", random.Random(1), 80)
    page = f"<html lang=xh><p>{text}</p>"
    path.write_bytes(
        record("/", page + "<a href='one'>x</a><a href='two'>y</a>") + record("/one", page + "<p>Enye</p>")
    )
    web = read_web([path], "xho", [])
    assert (web.target.language, set(web.target.siblings)) == ("xho", {"zul", "nbl", "ssw"})
    found = {name: curve(web, crawl(web)).relevant[-1] for name, crawl in CRAWLS.items()}
    assert found == dict.fromkeys(CRAWLS, 2)


def test_a_replay_may_go_by_another_model(tmp_path: Path) -> None:
    path = tmp_path / "ces.warc"
    path.write_bytes(record("/", f"<p>{CZECH}. {CZECH}.</p>"))
    model = load(write_small_model(tmp_path / "small.model"))
    assert [node.relevant for node in read_web([path], "ces", [], model).nodes] == [True]
    with pytest.raises(NothingToReplayError, match="knows no 'ces'; one of your own: --model"):
        read_web([path], "ces", [])


def test_what_a_replay_cannot_reach_is_told(warc: Path, monkeypatch: Any, capsys: Any) -> None:
    for start, said in ((f"{HOST}/en", True), (f"{HOST}/", False)):
        monkeypatch.setattr("sys.argv", ["focus", "--warc", str(warc), "--seed-url", start])
        main()
        out = capsys.readouterr().out
        assert (f"1 relevant pages cannot be reached from {start}: see --seed-url" in out) is said


def test_a_replay_can_be_drawn(warc: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("sys.argv", ["focus", "--warc", str(warc), "--plot", str(tmp_path / "plots")])
    main()
    assert (tmp_path / "plots" / "focus-replay.png").stat().st_size > 1000
    for words in (["--quick", "--plot", "x"], ["--seeds", "0"]):
        monkeypatch.setattr("sys.argv", ["focus", *words])
        with pytest.raises(SystemExit):
            main()
