"""Flags of kept pages, and caps on them: one worker, a fleet of them on a real Redis, and none."""

from __future__ import annotations

import os
import random
import signal
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import redis

from crawler.pages.findings import Finding, Finished
from crawler.pages.kept_log import ENTRY_BYTES, MOST_PAGES, KeptLog, LogUpdate
from crawler.pages.known_texts import KnownTexts, Likeness, log_entry
from crawler.pages.quality_caps import QualityCaps
from crawler.state.embedded_redis import EmbeddedRedis
from frontier.errors import FrontierUnavailable
from frontier.types import Kind, Lease
from relevance.pages.blocks import Block
from relevance.pages.page import Page
from relevance.pages.simhash import NEAR
from relevance.steering.policy import Verdict
from tests.sample import sentences

HOST, OTHER = "http://a.example", "http://b.example"
KEPT = Verdict(True, "words_and_share", "zul", {}, 100)
BIBLE = "UNkulunkulu wathumela uJesu Kristu emhlabeni ukuba asindise abantu ezonweni zabo. " * 8


class Worker:
    """What a worker does with pages: look, then settle."""

    def __init__(self, client: redis.Redis, capped: str = "", most: int = 0, log_pages: int = MOST_PAGES) -> None:
        self.caps = QualityCaps(KeptLog(client, "zulu", log_pages), capped.split(), most)

    def look(self, text: str, host: str = HOST, path: str = "", again: bool = False, mark: bytes = b"") -> Finished:
        url = f"{host}/{path or zlib.crc32(text.encode())}"
        lease = Lease(url, url, Kind.PAGE, host, "", 0, 0)
        verdict, found = self.caps.look(lease, Page(url, blocks=(Block(text, "main"),)), KEPT, again)
        said = {"verdict": "keep", "quality": sorted(found.flags if found else ())}
        finding = Finding("ok", verdict, None if again else found, metadata=said, page_mark=mark)
        return Finished(lease, finding, None)

    def page(self, text: str, host: str = HOST, path: str = "") -> Finished:
        done = self.look(text, host, path)
        self.settle(done)
        return done

    def settle(self, *pages: Finished) -> None:
        self.caps.settle(pages, lambda call: call())

    def give_back(self, *pages: Finished) -> None:
        self.caps.give_back(pages, lambda call: call())


def texts(number: int) -> list[str]:
    rng = random.Random(7)
    return [sentences("zul", rng, 200) for _ in range(number)]


def edited(text: str) -> str:
    return text.replace(text.split()[50], "okunye", 1)


def flags(done: Finished) -> set[str]:
    assert done.finding.quality is not None
    return set(done.finding.quality.flags)


def reason(done: Finished) -> str:
    assert done.finding.verdict is not None
    return done.finding.verdict.reason


def entry(number: int, simhash: int = 1, mark: bytes = b"") -> bytes:
    return log_entry(Lease("t", f"{HOST}/{number}", Kind.PAGE, HOST, "", 0, 0), simhash, mark)


def test_texts_are_alike_up_to_so_many_bits() -> None:
    known = KnownTexts()
    known.add(entry(1, simhash=1 << 63))
    for bits, likeness in ((0, 0), (1, 1), (NEAR, NEAR), (NEAR + 1, None)):
        other = entry(2, simhash=1 << 63 | (1 << bits) - 1)
        assert known.likeness(other) == Likeness(likeness)
    assert known.likeness(entry(2, simhash=0)) == Likeness(), "it has no text to be compared"
    known.add(entry(3, simhash=0, mark=b"12345678") + entry(4, simhash=0, mark=b"\0" * 8))
    assert known.likeness(entry(5, simhash=0, mark=b"12345678")) == Likeness(equal=True)
    assert known.likeness(entry(6, simhash=0)) == Likeness(), "without a mark it is equal to none"


def test_of_logs_the_last_two_are_known() -> None:
    known = KnownTexts()

    def are_known(*numbers: int) -> None:
        found = [
            number for number in range(9) if known.likeness(entry(9, simhash=1 << 40 | number * 0xFFF << 12)).bits == 0
        ]
        assert found == list(numbers)

    def of(number: int) -> bytes:
        return entry(number, simhash=1 << 40 | number * 0xFFF << 12)

    known.add(of(1))
    known.apply(LogUpdate(False, False, b"", of(2), {}))
    are_known(1, 2)
    known.apply(LogUpdate(False, True, of(3), of(4), {}))  # 1 to 3 are of the log before
    are_known(1, 2, 3, 4)
    known.apply(LogUpdate(False, True, b"", of(5), {}))
    are_known(4, 5)
    known.apply(LogUpdate(True, False, of(6), of(7), {}))  # all that there are
    are_known(6, 7)


def test_while_the_log_is_out_of_reach_as_many_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.pages.known_texts.MOST_PAGES", 2)
    known, rng = KnownTexts(), random.Random(3)
    simhashes = [rng.getrandbits(64) for _ in range(11)]
    held = []
    for number, simhash in enumerate(simhashes):
        known.add(entry(number, simhash))
        held.append(sum(known.likeness(entry(99, one)).bits == 0 for one in simhashes))
    assert held == [1, 2, 3, 4, 5, 6, 7, 8, 9, 5, 6]


def test_a_page_that_is_too_many_hides_none_behind_it(server: redis.Redis) -> None:
    one, two = Worker(server, "religious", 1), Worker(server, "religious", 1)
    plain = texts(1)[0]
    batch = [two.look(BIBLE), two.look(plain, path="2", mark=b"12345678")]
    one.page(BIBLE, path="x")
    one.settle(one.look(plain, path="1", mark=b"12345678"))
    two.settle(*batch)
    assert [reason(done) for done in batch] == ["capped_religious", "near_identical"]


def test_a_page_like_an_earlier_one_of_its_host_is_flagged(server: redis.Redis) -> None:
    worker, (text, other) = Worker(server), texts(2)
    pages = [worker.page(text), worker.page(other), worker.page(edited(text)), worker.page(text, OTHER)]
    assert [flags(done) for done in pages] == [set(), set(), {"near_duplicate"}, set()]
    assert {reason(done) for done in pages} == {"words_and_share"}
    assert pages[2].finding.quality is not None
    assert 0 < pages[2].finding.quality.terms["differing_bits"] <= 10


def test_beyond_the_cap_pages_of_the_host_are_left(server: redis.Redis) -> None:
    worker = Worker(server, "religious", 2)
    reasons = [reason(worker.page(f"{BIBLE} {text}")) for text in texts(3)]
    assert reasons == ["words_and_share", "words_and_share", "capped_religious"]
    left = worker.look(f"{BIBLE} iqiniso").finding.verdict
    assert left is not None
    assert (left.keep, left.words) == (False, 0)
    assert reason(worker.page(BIBLE, OTHER)) == reason(worker.page(texts(4)[3])) == "words_and_share"


def test_only_what_is_named_is_capped(server: redis.Redis) -> None:
    worker = Worker(server, "machine", 1)
    assert [reason(worker.page(BIBLE, path=str(n))) for n in range(4)] == ["words_and_share"] * 4


def test_a_page_fetched_again_is_no_duplicate_of_itself_and_not_counted(server: redis.Redis) -> None:
    worker = Worker(server, "religious", 1)
    worker.page(BIBLE, path="x")
    for _ in range(3):
        done = worker.look(BIBLE, path="x", again=True)
        assert reason(done) == "words_and_share"
        assert done.finding.metadata["quality"] == ["religious"]
        worker.settle(done)
    assert server.hgetall("{zulu}:kept:flagged") == {f"religious {HOST}".encode(): b"1"}


def test_pages_that_are_not_kept_are_not_looked_at(server: redis.Redis) -> None:
    left = Verdict(False, "few_words")
    lease = Lease("t", HOST, Kind.PAGE, HOST, "", 0, 0)
    assert Worker(server).caps.look(lease, Page(HOST), left, False) == (left, None)
    Worker(server).settle(Finished(lease, Finding("ok", left), None))
    assert server.keys() == []


def test_a_page_like_one_that_another_worker_kept_is_flagged_at_the_latest_when_it_is_stored(
    server: redis.Redis,
) -> None:
    one, two = Worker(server, "near_duplicate", 1), Worker(server, "near_duplicate", 1)
    first, second, third = texts(3)
    waits = two.look(edited(first))
    assert flags(waits) == set()
    one.page(first)
    two.settle(waits)
    assert flags(waits) == {"near_duplicate"}
    assert waits.finding.metadata["quality"] == ["near_duplicate"]
    assert waits.finding.metadata["verdict"] == "keep"
    # the second of its kind: told of by one, stored by two
    one.page(second)
    over = two.look(edited(second))
    assert reason(over) == "words_and_share"
    two.settle(over)
    assert reason(over) == over.finding.metadata["verdict-reason"] == "capped_near_duplicate"
    assert over.finding.metadata["target-words"] == 0
    assert server.hget("{zulu}:kept:flagged", f"near_duplicate {HOST}") == b"1"
    # and from now on known at once, by the text and by the count
    two.page(third)
    assert reason(two.look(edited(third))) == "capped_near_duplicate"


def test_a_page_like_a_kept_one_but_for_numbers_is_left_whichever_worker_kept_it(server: redis.Redis) -> None:
    one, two = Worker(server), Worker(server)
    first, second, third = texts(3)
    kept, waits = one.look(first, mark=b"samesame"), two.look(f"{BIBLE} {second}", mark=b"samesame")
    assert not two.caps.repeats(waits.lease, b"samesame")
    one.settle(kept)
    two.settle(waits)
    assert reason(kept) == "words_and_share"
    assert reason(waits) == waits.finding.metadata["verdict-reason"] == "near_identical"
    assert server.hgetall("{zulu}:kept:flagged") == {f"religious {HOST}".encode(): b"0"}
    new, elsewhere = two.look(third), two.look(third, OTHER)
    assert two.caps.repeats(new.lease, b"samesame")
    assert not two.caps.repeats(new.lease, b"another!")
    assert not two.caps.repeats(new.lease, b"")
    assert not two.caps.repeats(elsewhere.lease, b"samesame")
    assert not two.caps.repeats(kept.lease, b"samesame")  # it is the page itself


def test_a_page_whose_worker_was_killed_before_its_report_is_kept_whatever_came_meanwhile(server: redis.Redis) -> None:
    killed, two = Worker(server), Worker(server)
    text, mark = texts(1)[0], b"samesame"
    killed.settle(killed.look(text, path="first", mark=mark))
    copy = two.look(text, path="copy", mark=mark)
    assert not two.caps.repeats(copy.lease, mark), "it has not heard of the first"
    two.settle(copy)
    assert reason(copy) == "near_identical"
    three = Worker(server)
    three.page(BIBLE)  # and hears of both
    for worker in (two, three):
        again = worker.look(text, path="first", mark=mark)
        assert not worker.caps.repeats(again.lease, mark, met=True)
        worker.settle(again)
        assert reason(again) == "words_and_share"
        assert flags(again) == set()
        assert worker.caps.repeats(copy.lease, mark)
        assert worker.caps.repeats(worker.look(text, path="other").lease, mark)


def test_a_worker_that_starts_knows_what_was_kept(server: redis.Redis) -> None:
    before, (text, other) = Worker(server, "religious near_duplicate", 1), texts(2)
    before.page(text)
    before.page(BIBLE)
    after = Worker(server, "religious near_duplicate", 1)
    assert flags(after.page(edited(text))) == {"near_duplicate"}
    assert reason(after.page(f"{BIBLE} {other}")) == "capped_religious"


def test_a_page_that_goes_to_another_worker_is_counted_once(server: redis.Redis) -> None:
    slow, quick = Worker(server, "religious", 1), Worker(server, "religious", 1)
    late = slow.page(BIBLE, path="x")
    slow.give_back(late)
    done = quick.page(BIBLE, path="x")
    assert (reason(done), flags(done)) == ("words_and_share", {"religious"})
    left = slow.page(BIBLE, path="y")
    assert reason(left) == "capped_religious"
    slow.give_back(left)
    assert server.hget("{zulu}:kept:flagged", f"religious {HOST}") == b"1"


@pytest.mark.parametrize("seed", range(3))
def test_whoever_keeps_and_dies_a_host_never_gives_more_than_the_cap(server: redis.Redis, seed: int) -> None:
    rng, most, capped = random.Random(seed), 3, "religious near_duplicate"
    workers = [Worker(server, capped, most) for _ in range(3)]
    waiting: list[tuple[Worker, list[Finished]]] = []
    kept: Counter[str] = Counter()
    claimed: Counter[str] = Counter()
    bases = texts(4)
    for number in range(90):
        worker = rng.choice(workers)
        host, text = rng.choice((HOST, OTHER)), rng.choice(bases)
        text = rng.choice((text, edited(text), f"{BIBLE} {number} {text}"))
        waiting.append((worker, [worker.look(text, host, str(number))]))
        if rng.random() < 0.6:
            worker, batch = waiting.pop(rng.randrange(len(waiting)))
            worker.settle(*batch)
            stay = [done for done in batch if reason(done) == "words_and_share"]
            counted = [f"{flag} {done.lease.authority}" for done in stay for flag in flags(done)]
            fate = rng.random()
            if fate < 0.1:  # killed before its report: what it claimed stays claimed
                workers[workers.index(worker)] = fresh = Worker(server, capped, most)
                waiting = [(fresh if owner is worker else owner, done) for owner, done in waiting]
                claimed.update(counted)
            elif fate < 0.2:
                worker.give_back(*batch)
            else:
                kept.update(counted)
    rows = cast("dict[bytes, bytes]", server.hgetall("{zulu}:kept:flagged"))
    table = {field.decode(): int(count) for field, count in rows.items()}
    assert table == {field: kept[field] + claimed[field] for field in table}
    assert set(kept + claimed) <= set(table)
    assert max(table.values()) == most


def test_the_log_is_bounded_and_knows_the_newest(server: redis.Redis) -> None:
    one, two, three = (Worker(server, log_pages=4) for _ in range(3))
    bases = texts(30)
    three.page(bases[0], OTHER)
    for text in bases:
        one.page(text)
        two.look(text)
    held = sum(server.strlen(f"{{zulu}}:kept:texts{end}") for end in ("", ":before"))
    assert 4 * ENTRY_BYTES <= held <= 2 * 4 * ENTRY_BYTES
    # two and three hear of it only now, after many turns of the log
    for worker, old in ((two, bases[0]), (three, bases[1])):
        assert flags(worker.page(edited(bases[-1]))) == {"near_duplicate"}
        assert flags(worker.page(edited(old))) == set()


def test_what_redis_forgets_the_fleet_learns_anew(server: redis.Redis) -> None:
    one, two = Worker(server), Worker(server)
    first, second, third = texts(3)
    one.page(first)
    one.page(second)
    two.page(third)
    server.flushdb()
    one.page(first, path="again")
    assert flags(two.page(edited(first), path="x")) == {"near_duplicate"}
    assert flags(two.page(edited(third), path="y")) == set()


def test_without_redis_pages_are_judged_and_wait(tmp_path: Path) -> None:
    with EmbeddedRedis(tmp_path / "redis") as server, redis.Redis.from_url(server.url) as client:
        worker, (text,) = Worker(client), texts(1)
        worker.page(text)
        os.kill(server.server_pid(), signal.SIGKILL)
        done = worker.look(edited(text))
        assert flags(done) == {"near_duplicate"}
        with pytest.raises(FrontierUnavailable):
            worker.settle(done)
        tries: list[FrontierUnavailable] = []

        def patiently(call: Callable[[], LogUpdate | None]) -> LogUpdate | None:
            while True:
                try:
                    return call()
                except FrontierUnavailable as error:
                    tries.append(error)
                    server.revive()

        worker.caps.settle([done], patiently)
        assert tries
        assert client.hget("{zulu}:kept:flagged", f"near_duplicate {HOST}") == b"1"
        assert flags(Worker(client).page(text, path="other")) == {"near_duplicate"}


def test_what_is_published_again_since_its_answer_was_lost_counts_once(server: redis.Redis) -> None:
    def lost(call: Callable[[], LogUpdate | None]) -> LogUpdate | None:
        call()
        return call()

    worker, (text,) = Worker(server, "near_duplicate", 2), texts(1)
    worker.page(text)
    for path in "ab":
        worker.caps.settle([done := worker.look(text, path=path)], lost)
        assert done.finding.verdict is not None
        assert done.finding.verdict.keep, "the first and the second of two that may be kept"
    assert server.hget("{zulu}:kept:flagged", f"near_duplicate {HOST}") == b"2"
    assert server.strlen("{zulu}:kept:texts") == 3 * ENTRY_BYTES
    worker.caps.give_back([done], lost)
    assert server.hget("{zulu}:kept:flagged", f"near_duplicate {HOST}") == b"1"


def test_at_redis_memory_limit_a_worker_goes_by_what_it_knows(url: str, server: redis.Redis) -> None:
    worker, (text,) = Worker(server), texts(1)
    worker.page(text, path="x")
    server.config_set("maxmemory", 1)
    try:
        assert flags(worker.page(edited(text))) == {"near_duplicate"}
        assert flags(worker.page(BIBLE)) == {"religious"}
    finally:
        server.config_set("maxmemory", 0)
    assert flags(Worker(server).page(BIBLE, path="other")) == {"religious"}  # it was never told of


def test_what_was_not_counted_while_redis_was_full_is_not_given_back(server: redis.Redis) -> None:
    worker, other = Worker(server, "religious", 1), Worker(server, "religious", 1)
    pages = [worker.look(f"{BIBLE} {text}", path=f"p{place}") for place, text in enumerate(texts(4))]
    server.config_set("maxmemory", 1)
    try:
        worker.settle(*pages[:3])
    finally:
        server.config_set("maxmemory", 0)
    worker.give_back(*pages[:3])
    assert reason(other.page(f"{BIBLE} q", path="q")) == KEPT.reason
    worker.settle(pages[3])
    worker.give_back(pages[3])
    assert reason(other.page(f"{BIBLE} r", path="r")) == "capped_religious"
    assert server.hgetall("{zulu}:kept:flagged") == {f"religious {HOST}".encode(): b"1"}


def test_no_count_falls_below_zero(server: redis.Redis) -> None:
    worker = Worker(server, "religious", 1)
    kept = worker.page(BIBLE)
    server.delete("{zulu}:kept:flagged")  # as a Redis that was killed would have it
    worker.give_back(kept)
    assert server.hgetall("{zulu}:kept:flagged") == {f"religious {HOST}".encode(): b"0"}


def test_a_worker_that_has_missed_a_log_reads_all_there_is(server: redis.Redis) -> None:
    """And no more than a log's worth is written before the next is begun."""
    slow, quick = KeptLog(server, "zulu", 2), KeptLog(server, "zulu", 2)
    entries = [bytes([number]) * ENTRY_BYTES for number in range(5)]
    slow.publish(entries[0], {}, 1)
    rotated = []
    for number in (1, 2, 3):
        update = quick.publish(entries[number], {}, number)
        assert update is not None
        rotated.append(update.rotated)
    assert rotated == [True, True, False]
    update = slow.publish(entries[4], {}, 2)
    assert update is not None
    assert (update.whole, update.older, update.newer) == (True, entries[2] + entries[3], b"")


def test_counts_outlive_their_table_once_and_are_not_added_up_twice(
    server: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.pages.kept_log.MOST_COUNTS", 2)
    log = KeptLog(server, "zulu")

    def count(field: str, number: int) -> int:
        update = log.publish(b"", {field: 1}, number)
        assert update is not None
        return update.counts[field]

    assert [count(field, number) for number, field in enumerate("abcaaaab", 1)] == [1, 1, 1, 2, 3, 4, 5, 1]
    assert all(server.hlen(f"{{zulu}}:kept:flagged{end}") <= 2 for end in ("", ":before"))


def test_a_worker_remembers_the_counts_that_it_met_last(server: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.pages.quality_caps._MOST_COUNTS", 2)
    worker, third = Worker(server, "religious", 2), "http://c.example"
    for host, text in zip((HOST, OTHER, HOST, third), texts(4), strict=True):
        worker.page(f"{BIBLE} {text}", host)
    assert worker.caps._counts == {f"religious {HOST}": 2, f"religious {third}": 1}
