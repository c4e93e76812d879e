"""The HTTP connection against a real socket that says exactly what a test wants said."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import time
import zlib
from collections.abc import Awaitable, Callable
from functools import partial
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.messages.headers import Headers
from crawler.fetch.connection import Answer, FetchLimits, HttpConnection, connect, suite_name
from crawler.fetch.errors import ConnectError, CutError, FetchTimeoutError, TlsError
from crawler.fetch.handler import headers_of
from crawler.fetch.pool import ConnectionPool

REQUEST = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
Talk = Callable[[HttpConnection], Awaitable[None]]


async def _serve(reply: bytes | list[bytes], end: str, talk: Talk, limits: FetchLimits) -> None:
    """A server that answers each request with the next of `reply`; `end` says what it does then."""
    replies = [reply] if isinstance(reply, bytes) else list(reply)
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for text in replies:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(text)
                await writer.drain()
            if end == "wait":
                await over.wait()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            if end == "reset":
                writer.transport.abort()
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        connection = await connect("127.0.0.1", port, None, None, limits)
        try:
            await talk(connection)
        finally:
            connection.close()
            over.set()
    finally:
        server.close()
        await server.wait_closed()


def ask(reply: bytes, end: str = "wait", limits: FetchLimits | None = None, timeout_s: float = 60) -> Answer:
    answers: list[Answer] = []

    async def talk(connection: HttpConnection) -> None:
        answers.append(await connection.exchange(REQUEST, timeout_s))

    asyncio.run(_serve(reply, end, talk, limits or FetchLimits()))
    return answers[0]


def test_the_head_is_kept_byte_for_byte() -> None:
    head = b"HTTP/1.1 200 Kulungile\r\nX-B: 1\r\nx-a:  two \r\nX-B: 3\r\nContent-Length: 2\r\n\r\n"
    answer = ask(head + b"ok")
    assert (answer.status, answer.reason, answer.head, bytes(answer.body)) == (200, "Kulungile", head, b"ok")
    assert answer.headers == [(b"X-B", b"1"), (b"x-a", b"two"), (b"X-B", b"3"), (b"Content-Length", b"2")]


def test_the_reason_is_kept_whole_however_it_comes() -> None:
    assert ask_in_drops(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").reason == "Not Found"


def test_chunks_are_put_together_and_the_head_still_says_chunked() -> None:
    answer = ask(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: 1\r\n\r\n"
    )
    assert bytes(answer.body) == b"abcde"
    assert b"chunked" in answer.head


@pytest.mark.parametrize(
    "said",
    [
        *(b"Content-Length: 1000", b"Content-Length: 0", b"A: b"),
        *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked"),
    ],
)
def test_no_body_is_waited_for_where_only_the_head_was_asked_for(said: bytes) -> None:
    async def talk(connection: HttpConnection) -> None:
        answer = await connection.exchange(REQUEST.replace(b"GET", b"HEAD"), 60)
        assert (answer.status, bytes(answer.body), answer.truncated) == (200, b"", None)
        assert not connection.usable

    asyncio.run(_serve(b"HTTP/1.1 200 OK\r\n" + said + b"\r\n\r\n", "wait", talk, FetchLimits()))


def test_trailers_are_no_headers() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = ask(head + b"2\r\nok\r\n0\r\nTransfer-Encoding: gzip\r\nLocation: /x\r\n\r\n")
    assert (answer.headers, bytes(answer.body)) == ([(b"Transfer-Encoding", b"chunked")], b"ok")


@pytest.mark.parametrize(
    ("first", "body"),
    [
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n", b"ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nno name\r\n\r\n", b"ok"),
    ],
)
def test_another_answer_behind_the_first_changes_nothing_of_it(first: bytes, body: bytes) -> None:
    async def talk(connection: HttpConnection) -> None:
        answer = await connection.exchange(REQUEST, 60)
        assert (answer.status, answer.head, bytes(answer.body)) == (int(first[9:12]), first, body)
        assert not connection.usable
        assert connection.hung_up

    second = b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nX-Robots-Tag: none\r\n\r\ngone"
    asyncio.run(_serve(first + body + second, "wait", talk, FetchLimits()))


def test_a_cr_alone_ends_no_line() -> None:
    with pytest.raises(CutError):
        ask(b"HTTP/1.1 200 OK\r\n\rhello", end="close")
    head = b"HTTP/1.1 200 OK\r\nX-A: a\rContent-Length: 2\r\nContent-Length: 5\r\n\r\n"
    assert bytes(ask(head + b"hello").body) == b"hello"


@pytest.mark.parametrize("odd", [b" \r\n", b"\t\n", b"X-A:\r\r\n", b" \r\n\t\r\nX-A: \r\r\n"])
@pytest.mark.parametrize(
    "interim", [b"", b"HTTP/1.1 103 Early\r\n%b\r\n", b"HTTP/1.1 103 Early\r\n%bX-B: " + b"b" * 60 + b"\r\n\r\n"]
)
def test_a_head_ends_with_an_empty_line_and_no_other(odd: bytes, interim: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + odd + b"Content-Length: 2\r\n\r\n"
    interim = interim.replace(b"%b", odd)
    reply = interim + head + b"ok"
    for answer in (ask(reply), ask_in_drops(reply), ask_in_drops(reply, max(1, len(interim) - 1))):
        assert (answer.head, bytes(answer.body)) == (head, b"ok")
    with pytest.raises(CutError):
        ask(b"HTTP/1.1 200 OK\r\n" + odd + b"ok", end="close")


def test_lines_of_blanks_and_more_behind_the_status_line_say_nothing() -> None:
    head = b"HTTP/1.1 200 OK\r\n Transfer-Encoding: chunked\r\n\tX-A: 1\r\nContent-Length: 2\r\n\r\n"
    for answer in (ask(head + b"ok"), ask_in_drops(head + b"ok")):
        assert (answer.head, answer.headers, bytes(answer.body)) == (head, [(b"Content-Length", b"2")], b"ok")
    assert Headers.parse(head.partition(b"\n")[2]).pairs == [("Content-Length", "2")]


def test_chunks_count_and_not_a_length_beside_them() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert bytes(ask(head + b"5\r\nhello\r\n0\r\n\r\n").body) == b"hello"
    with pytest.raises(CutError):
        ask(head + b"5\r\nhel", end="close")


def in_chunks(body: bytes, coding: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + coding + b", chunked\r\n\r\n"
    return head + b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("coding", "pack"), [(b"gzip", gzip.compress), (b"deflate", zlib.compress), (b"Identity", bytes)]
)
def test_what_is_packed_for_the_way_is_unpacked(coding: bytes, pack: Callable[[bytes], bytes]) -> None:
    answer = ask(in_chunks(pack(b"sawubona"), coding))
    assert (bytes(answer.body), answer.truncated) == (b"sawubona", None)
    assert coding in answer.head


def test_a_packing_for_the_way_that_is_none_or_a_bomb_is_told() -> None:
    whole = gzip.compress(bytes(100_000))
    for reply in (in_chunks(b"sawubona", b"gzip"), in_chunks(whole[:-9], b"gzip"), in_chunks(whole, b"compress")):
        with pytest.raises(CutError, match="transfer-coding"):
            ask(reply)
    answer = ask(in_chunks(whole, b"gzip"), limits=FetchLimits(max_body_bytes=1000))
    assert (bytes(answer.body), answer.truncated) == (bytes(1000), "length")


@pytest.mark.parametrize(
    ("coding", "pack"), [(b"gzip", gzip.compress), (b"x-gzip, identity", gzip.compress), (b"identity", bytes)]
)
def test_what_is_packed_and_not_chunked_ends_with_the_connection(coding: bytes, pack: Callable[[bytes], bytes]) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + coding + b"\r\n\r\n"
    answer = ask(head + pack(b"sawubona"), end="close")
    assert (bytes(answer.body), answer.truncated, answer.head) == (b"sawubona", None, head)


def test_a_packing_for_the_way_counts_and_not_a_length_beside_it() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nTransfer-Encoding: gzip\r\n\r\n"
    assert bytes(ask(head + gzip.compress(b"sawubona"), end="close").body) == b"sawubona"


@pytest.mark.parametrize(
    ("said", "body"),
    [
        (b"Transfer-Encoding: identity\r\nContent-Length: 8", b"sawubona"),
        (b"Content-Length: 8\r\ntransfer-encoding:\r\n Identity", b"sawubona"),
        (b"Transfer-Encoding:\r\nContent-Length: 8", b"sawubona"),
        (b"Transfer-Encoding: chunked, identity", b"8\r\nsawubona\r\n0\r\n\r\n"),
    ],
)
def test_a_coding_that_is_none_keeps_no_answer_from_its_end(said: bytes, body: bytes) -> None:
    """As servers said it by RFC 2616."""
    head = b"HTTP/1.1 200 OK\r\n" + said + b"\r\n\r\n"
    for size in (1, 1000):
        answer = ask_in_drops(head + body, size)
        assert (answer.head, bytes(answer.body), answer.truncated) == (head, b"sawubona", None)


def test_a_server_that_switches_protocols_unasked_gives_no_answer() -> None:
    with pytest.raises(CutError, match="switched protocols unasked"):
        ask(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")


def test_chunks_said_twice_are_taken_off_once() -> None:
    reply = in_chunks(b"sawubona", b"chunked")
    assert bytes(ask(reply).body) == b"sawubona"
    with pytest.raises(CutError):
        ask(reply[:-4], end="close")


def ask_in_drops(reply: bytes, size: int = 1) -> Answer:
    """The answer when it comes so many bytes at a time, and then the connection ends."""

    async def talk() -> Answer:
        connection = HttpConnection(FetchLimits())
        connection.connection_made(Mock(spec=asyncio.Transport, is_closing=lambda: False))
        answer = asyncio.ensure_future(connection.exchange(REQUEST, 60))
        await asyncio.sleep(0)
        for start in range(0, len(reply), size):
            connection.data_received(reply[start : start + size])
        connection.connection_lost(None)
        return await answer

    return asyncio.run(talk())


SAID = [
    *(b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 304 \n", b"HTTP/1.1 103 Hints\r\n\r\n", b"HTTP/1.0 404 No\r\n"),
    *(b"Content-Length: 2\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n", b"no name\r\n"),
    *(b"\r\n", b"\n", b"\r", b"ok", b"2\r\nok\r\n", b"0\r\n\r\n", b"0\r\nA: b\r\n\r\n"),
]


@given(
    st.sampled_from(SAID[:4]),
    st.lists(st.sampled_from(SAID[4:8]), max_size=2),
    st.lists(st.sampled_from(SAID), max_size=8),
    st.integers(1, 40),
)
def test_an_answer_is_the_same_however_it_comes(first: bytes, head: list[bytes], rest: list[bytes], size: int) -> None:
    reply = b"".join((first, *head, b"\r\n", *rest))

    def told(pieces: int) -> Answer | None:
        try:
            return ask_in_drops(reply, pieces)
        except CutError:
            return None

    answer = told(len(reply))
    assert answer == told(size)
    assert answer is None or (answer.head and answer.head in reply)


@pytest.mark.parametrize(
    "odd",
    [
        b"Content-Length: 5\r\nContent-Length: 5",
        b"Content-Length: 5, 5,5",
        b"Content-Length : 5",
        b"Warning: mysql\r\n<b>Notice</b> in line 3\r\nContent-Length: 5",
        b"X-Name: a\rb\r\nContent-Length: 5",
        b"X Y: 1\r\ncontent-length:5\r\nContent-Length: 5\r\n: 7",
        b"X-Folded: a\r\n Content-Length: 3\r\nno name\r\nContent-Length:\r\n\t5",
    ],
)
def test_odd_lines_of_a_head_are_passed_over_and_kept(odd: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + odd + b"\r\nX-Last: yes\r\n\r\n"
    for answer in (ask(head + b"hello"), ask_in_drops(head + b"hello")):
        assert (answer.status, bytes(answer.body), answer.head) == (200, b"hello", head)
        assert answer.headers[-1] == (b"X-Last", b"yes")
        assert [value for name, value in answer.headers if name.lower() == b"content-length"] == [b"5"]


@pytest.mark.parametrize("blank", [b"\r\n", b"\r\n\r\n", b"\n\n"])
def test_empty_lines_before_an_answer_are_none_of_its_head(blank: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    odd = head.replace(b"Content", b"no name\r\nContent")
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    for reply in (blank + head, blank + odd, blank + interim + blank + head):
        for answer in (ask(reply + b"hello"), ask_in_drops(reply + b"hello")):
            assert (answer.head, bytes(answer.body)) == (odd if odd in reply else head, b"hello")


def test_what_odd_lines_leave_in_doubt_is_refused() -> None:
    for head in (b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length: -5", b"Content-Length: 5, 6"):
        with pytest.raises(CutError):
            ask(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\nhello")
    with pytest.raises(CutError):
        ask(b"HTTP/1.1 200 OK\r\nno name\r\nContent-Length: 5\r\n", end="close")
    with pytest.raises(CutError, match="bytes of headers"):
        ask(b"HTTP/1.1 200 OK\r\nno name\r\n" + b"X-Filler: filler\r\n" * 10_000)


def test_without_a_length_the_end_of_the_connection_is_the_end() -> None:
    answer = ask(b"HTTP/1.0 200 OK\r\n\r\nall of it", end="close")
    assert (bytes(answer.body), answer.truncated) == (b"all of it", None)


def test_interim_answers_are_skipped() -> None:
    answer = ask(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
    assert answer.status == 200
    assert answer.head == b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"


def test_bare_line_feeds_are_understood() -> None:
    answer = ask(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok")
    assert (answer.head, bytes(answer.body)) == (b"HTTP/1.1 200 OK\nContent-Length: 2\n\n", b"ok")


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length : 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + gzip.compress(b"sawubona", mtime=0)[:-1],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n" + gzip.compress(b"0\r\n\r\n", mtime=0),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 9\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-",
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    ],
)
def test_an_answer_that_ends_early_is_never_whole(reply: bytes) -> None:
    with pytest.raises(CutError):
        ask(reply, end="close")


@pytest.mark.parametrize(
    ("rest", "end", "body", "why"),
    [
        (b"Content-Length: 100\r\n\r\nbusy", "close", b"busy", "disconnect"),
        (b"Transfer-Encoding: chunked\r\n\r\n4\r\nbusy\r\nzz\r\n", "wait", b"busy", "unspecified"),
        (b"Transfer-Encoding: gzip\r\n\r\n\x1f\x8b", "close", b"", "unspecified"),
        (b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n\x1f\x8b\r\n", "close", b"", "disconnect"),
    ],
)
@pytest.mark.parametrize("status", [400, 429, 502, 503])
def test_what_a_busy_server_asks_for_holds_without_the_end_of_its_answer(
    status: int, rest: bytes, end: str, body: bytes, why: str
) -> None:
    head = b"HTTP/1.1 %d Busy\r\nRetry-After: 60\r\n" % status
    answer = ask(head + rest, end)
    assert (answer.status, bytes(answer.body), answer.truncated) == (status, body, why)
    assert (b"Retry-After", b"60") in answer.headers


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_need_not_say_until_when(status: int) -> None:
    answer = ask(b"HTTP/1.1 %d Busy\r\nContent-Length: 100\r\n\r\nbusy" % status, "close")
    assert (answer.status, answer.truncated) == (status, "disconnect")


def test_a_busy_server_that_does_not_come_to_its_end_is_left_when_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers: list[Answer] = []

    async def talk(connection: HttpConnection) -> None:
        async def impatient(_done: object, _timeout_s: float) -> None:
            while not connection._answer.body:
                await asyncio.sleep(0)
            raise TimeoutError

        monkeypatch.setattr("crawler.fetch.connection.asyncio.wait_for", impatient)
        answers.append(await connection.exchange(REQUEST, 60))
        assert not connection.usable

    reply = b"HTTP/1.1 503 Busy\r\nRetry-After: 60\r\nContent-Length: 100\r\n\r\nb"
    asyncio.run(_serve(reply, "wait", talk, FetchLimits()))
    assert (answers[0].status, bytes(answers[0].body), answers[0].truncated) == (503, b"b", "time")


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 502 Bad\r\n",
        b"HTTP/1.1 200 OK\r\nRetry-After: 60\r\n",
        b"HTTP/1.1 404 No\r\nRetry-After: 60\r\n",
    ],
)
def test_a_cut_answer_that_asks_nothing_for_its_host_is_none(head: bytes) -> None:
    with pytest.raises(CutError):
        ask(head + b"Content-Length: 100\r\n\r\nbusy", "close")


def test_a_busy_server_whose_head_does_not_end_has_said_nothing() -> None:
    with pytest.raises(CutError):
        ask(b"HTTP/1.1 503 Busy\r\nRetry-After: 60\r\n", "close")


def test_a_reset_without_a_length_is_a_cut() -> None:
    with pytest.raises(CutError):
        ask(b"", end="reset")


def test_a_long_body_is_cut_at_the_limit_and_says_so() -> None:
    answer = ask(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 1000, limits=FetchLimits(max_body_bytes=100)
    )
    assert (len(answer.body), answer.truncated) == (100, "length")


@pytest.mark.parametrize("size", [99, 100])
@pytest.mark.parametrize("packed", [False, True])
def test_a_body_that_fills_its_limit_is_whole(size: int, *, packed: bool) -> None:
    plain = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
    reply = in_chunks(gzip.compress(b"x" * size), b"gzip") if packed else plain
    answer = ask(reply, limits=FetchLimits(max_body_bytes=100))
    assert (len(answer.body), answer.truncated) == (size, None)


def test_an_endless_head_is_cut() -> None:
    endless = b"HTTP/1.1 200 OK\r\n" + b"X-Filler: filler\r\n" * 10_000
    with pytest.raises(CutError, match="bytes of headers"):
        ask(endless)


def test_silence_ends_in_time() -> None:
    with pytest.raises(FetchTimeoutError, match=r"0\.2 s"):
        ask(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", timeout_s=0.2)


def test_a_connection_serves_again_and_is_dropped_when_the_server_says_close() -> None:
    async def talk(connection: HttpConnection) -> None:
        first = await connection.exchange(REQUEST, 60)
        assert bytes(first.body) == b"1"
        assert connection.usable
        second = await connection.exchange(REQUEST, 60)
        assert bytes(second.body) == b"2"
        assert not connection.usable
        with pytest.raises(CutError):
            await connection.exchange(REQUEST, 60)

    keep = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
    close = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n2"
    asyncio.run(_serve([keep, close], "wait", talk, FetchLimits()))


def test_an_idle_connection_holds_no_answer() -> None:
    async def talk(connection: HttpConnection) -> None:
        pool, key = ConnectionPool(most=1), ("http", "a.test", 80, "127.0.0.1")
        answer = await connection.exchange(REQUEST, 60)
        pool.give(key, connection)
        assert not any(held is answer for held in vars(connection).values())
        assert pool.take(key) is connection
        assert bytes((await connection.exchange(REQUEST, 60)).body) == b"2"

    keep = [b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + body for body in (b"1", b"2")]
    asyncio.run(_serve(keep, "wait", talk, FetchLimits()))


def test_connections_that_have_been_idle_for_long_are_closed_when_another_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr("crawler.fetch.pool.uptime_s", lambda: now[0])
    pool, closed = ConnectionPool(idle_s=30.0), []

    def give(number: int) -> None:
        connection = Mock(usable=True, close=lambda: closed.append(number))
        pool.give(("http", f"{number}.test", 80, "127.0.0.1"), connection)

    for number, now[0] in enumerate((0.0, 20.0, 30.0)):
        give(number)
    assert closed == []
    now[0] = 51.0
    give(3)
    assert closed == [0, 1]


def test_a_connection_of_before_the_machine_slept_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its server has given it up: the request would be lost, and its host would rest."""
    pool, key = ConnectionPool(), ("http", "a.test", 80, "127.0.0.1")
    connection = Mock(usable=True)
    pool.give(key, connection)
    woken = time.clock_gettime(time.CLOCK_BOOTTIME) + 3600
    monkeypatch.setattr(time, "clock_gettime", lambda _: woken)
    assert pool.take(key) is None
    connection.close.assert_called_once_with()


def test_so_many_connections_are_kept_and_the_longest_idle_is_closed() -> None:
    pool = ConnectionPool(most=2)
    closed: list[int] = []

    def key(number: int) -> tuple[str, str, int, str]:
        return "http", f"{number}.test", 80, "127.0.0.1"

    for number in range(4):
        pool.give(key(number), Mock(usable=True, close=partial(closed.append, number)))
        if number == 2:
            assert pool.take(key(1)) is not None
    assert closed == [0]
    pool.close()
    assert sorted(closed) == [0, 2, 3]


def test_the_end_of_a_connection_that_made_room_leaves_the_next_of_its_host() -> None:
    """Asyncio tells it later."""
    pool, key = ConnectionPool(), ("http", "a.test", 80, "127.0.0.1")
    first, second = Mock(usable=True), Mock(usable=True)
    pool.give(key, first)
    pool.give(key, second)
    first.close.assert_called_once_with()
    first.on_close(first)
    assert pool.take(key) is second


def test_nobody_listens() -> None:
    async def run() -> None:
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            port = deaf.getsockname()[1]
            with pytest.raises(ConnectError, match=str(port)):
                await connect("127.0.0.1", port, None, None, FetchLimits())

    asyncio.run(run())


def test_a_server_without_tls_is_a_tls_error() -> None:
    async def run() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(TlsError):
            await connect("127.0.0.1", port, "a.test", ssl.create_default_context(), FetchLimits())
        server.close()
        await server.wait_closed()

    asyncio.run(run())


def test_a_flood_of_interim_answers_is_cut() -> None:
    with pytest.raises(CutError, match="interim"):
        ask(b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000)


def test_each_answer_may_have_so_many_interim_ones_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.fetch.connection._MOST_INTERIM", 3)

    async def talk(connection: HttpConnection) -> None:
        for _ in range(2):
            assert (await connection.exchange(REQUEST, 60)).status == 204
        with pytest.raises(CutError, match="more than 3 interim"):
            await connection.exchange(REQUEST, 60)

    interim, last = b"HTTP/1.1 103 Early\r\n\r\n", b"HTTP/1.1 204 None\r\n\r\n"
    asyncio.run(_serve([interim * number + last for number in (3, 3, 4)], "wait", talk, FetchLimits()))


def test_a_head_that_fills_its_limit_is_taken() -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    assert ask(reply, limits=FetchLimits(max_head_bytes=len(reply) - 2)).body == b"ok"
    with pytest.raises(CutError, match="bytes of headers"):
        ask(reply, limits=FetchLimits(max_head_bytes=len(reply) - 3))


def test_a_head_beyond_its_limit_is_cut_when_it_comes_at_once() -> None:
    head = b"HTTP/1.1 200 OK\r\n" + b"a:\r\n" * 300 + b"Content-Length: 2\r\n\r\nok"
    with pytest.raises(CutError, match="bytes of headers"):
        ask(head, limits=FetchLimits(max_head_bytes=1000))
    assert ask(head).body == b"ok"


def test_headers_keep_order_and_repeats_at_the_cost_of_their_number() -> None:
    found = headers_of([(b"x-b", b"1"), (b"X-A", b"2"), (b"X-B", b"3")])
    assert list(found.items()) == [(b"X-B", [b"1", b"3"]), (b"X-A", [b"2"])]
    assert len(headers_of([(b"a", b"")] * 30_000).getlist("A")) == 30_000


@pytest.mark.parametrize(
    ("cipher", "suite"),
    [
        ("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
        ("ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
        ("ECDHE-ECDSA-AES256-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384"),
        ("ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
        ("DHE-RSA-AES256-SHA", "TLS_DHE_RSA_WITH_AES_256_CBC_SHA"),
        ("AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256"),
        ("PSK-NULL-SHA", ""),
    ],
)
def test_a_cipher_suite_has_the_name_that_iana_gives_it(cipher: str, suite: str) -> None:
    assert suite_name(cipher) == suite


def test_the_facts_of_a_tls_connection_are_those_that_archives_name() -> None:
    tls = Mock(version=lambda: "TLSv1.2", cipher=lambda: ("ECDHE-RSA-AES128-GCM-SHA256", "TLSv1.2", 128))
    connection = HttpConnection(FetchLimits())
    connection.connection_made(Mock(spec=asyncio.Transport, get_extra_info=lambda _: tls))
    assert connection.tls_facts() == ("tls/1.2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")


def test_every_cipher_that_python_offers_has_a_name() -> None:
    context = ssl.create_default_context()
    # Python's own list: some builds offer all that their OpenSSL does.
    context.set_ciphers("ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:DHE+AES:!aNULL:!aDSS:!AESCCM")
    ciphers = [str(cipher["name"]) for cipher in context.get_ciphers()]
    assert ciphers
    assert [cipher for cipher in ciphers if not suite_name(cipher)] == []
