"""An answer is read line by line as it comes, and a bound holds for what is read at once."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
from berth.runtime.apiclient import MAX_RESPONSE_BYTES, ApiError, Connection, Request, Response, in_cluster

from tests.runtime.stub_server import Received, Reply, StubServer, reply
from tests.runtime.watched_cluster import HEAD, chunk, refused

GET = Request("GET", "/x?watch=1", accept="application/json;as=Other")
LONG_ENOUGH = 5.0


@contextmanager
def connected(
    answer: Callable[[Received], Reply], most: int = MAX_RESPONSE_BYTES
) -> Iterator[tuple[Connection, StubServer]]:
    with StubServer(answer) as server:
        connection = Connection(lambda: HTTPConnection("127.0.0.1", server.port), "", 1.0, 1.0, most)
        try:
            yield connection, server
        finally:
            connection.close()


def streamed(*parts: bytes, close: bool = False) -> Callable[[Received], Reply]:
    return lambda _: Reply(HEAD, close, parts)


def read(connection: Connection, silence: float = LONG_ENOUGH) -> list[bytes]:
    return [*connection.lines(GET, silence)]


def failure(connection: Connection, silence: float = LONG_ENOUGH) -> tuple[list[bytes], int, str]:
    """The lines before it, its status and its reason."""
    seen: list[bytes] = []
    with pytest.raises(ApiError) as caught:
        seen.extend(connection.lines(GET, silence))
    return seen, caught.value.status, caught.value.reason


def test_lines_are_the_same_however_they_are_cut_into_chunks() -> None:
    text = b'{"a":1}\n{"b":"' + b"x" * 20_000 + b'"}\n\n{"c":3}\n'
    for size in (1, 7, 8192, 100_000):
        parts = [chunk(text[at : at + size]) for at in range(0, len(text), size)]
        with connected(streamed(*parts, chunk(b""))) as (connection, _):
            assert read(connection) == text.splitlines(keepends=True)


def test_after_a_good_end_the_connection_serves_the_next_request() -> None:
    with connected(streamed(chunk(b"a\n"), chunk(b""))) as (connection, server):
        read(connection)
        read(connection)
        connection(GET)

    assert [received.connection for received in server.received] == [1, 1, 1]
    assert server.received[0].headers["Accept"] == "application/json;as=Other"
    assert "Authorization" not in server.received[0].headers


def test_a_line_is_told_when_it_comes_and_not_when_the_next_one_does() -> None:
    event = threading.Event()

    def parts() -> Iterator[bytes]:
        yield chunk(b"first\n")
        assert event.wait(LONG_ENOUGH)
        yield chunk(b"second\n") + chunk(b"")

    with connected(lambda _: Reply(HEAD, stream=parts())) as (connection, _):
        lines = connection.lines(GET, LONG_ENOUGH)
        assert next(lines) == b"first\n"
        event.set()
        assert [*lines] == [b"second\n"]


def test_a_server_that_tells_no_length_ends_by_closing() -> None:
    data = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na\nb\n"
    with connected(lambda _: Reply(data, close=True)) as (connection, server):
        assert read(connection) == read(connection) == [b"a\n", b"b\n"]

    assert [received.connection for received in server.received] == [1, 2]


@pytest.mark.parametrize(
    ("parts", "lines", "reason"),
    [
        pytest.param([chunk(b"a\nb")], [b"a\n"], "HTTPException", id="between-chunks"),
        pytest.param([chunk(b"a\n") + b"9\r\nhalf"], [b"a\n"], "IncompleteRead", id="in-a-chunk"),
        pytest.param([chunk(b"a\nb"), chunk(b"")], [b"a\n"], "HTTPException", id="an-end-in-a-line"),
    ],
)
def test_what_breaks_off_is_an_error_after_the_lines_before(
    parts: list[bytes], lines: list[bytes], reason: str
) -> None:
    with connected(streamed(*parts, close=True)) as (connection, server):
        assert failure(connection) == (lines, 0, reason)
        assert failure(connection) == (lines, 0, reason)

    assert [received.connection for received in server.received] == [1, 2]


@pytest.mark.parametrize("rest", [b"", b"nine\r\n"])
def test_a_break_between_two_lines_is_as_good_as_an_end(rest: bytes) -> None:
    with connected(streamed(chunk(b"a\n") + rest, close=True)) as (connection, server):
        assert read(connection) == read(connection) == [b"a\n"]

    assert [received.connection for received in server.received] == [1, 2]


def test_silence_is_an_error() -> None:
    done = threading.Event()

    def parts() -> Iterator[bytes]:
        yield chunk(b"a\n")
        done.wait(LONG_ENOUGH)

    with connected(lambda _: Reply(HEAD, stream=parts())) as (connection, _):
        assert failure(connection, 0.1) == ([b"a\n"], 0, "TimeoutError")
        done.set()


def test_a_refusal_is_an_error_with_what_the_server_says() -> None:
    answers = iter(
        [refused(403, "Forbidden"), reply(502, b"<html>"), reply(201, b"{}"), Reply(HEAD + chunk(b""))]
    )
    with connected(lambda _: next(answers)) as (connection, _):
        assert failure(connection) == ([], 403, "Forbidden")
        assert failure(connection) == ([], 502, "Unknown")
        assert read(connection) == []
        assert read(connection) == []


def test_a_line_above_the_bound_is_an_error_and_one_at_it_is_not() -> None:
    with connected(streamed(chunk(b"x" * 99 + b"\n"), chunk(b"y" * 100 + b"\n")), 100) as (connection, _):
        assert failure(connection) == ([b"x" * 99 + b"\n"], 0, "TooLarge")


@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_above_the_bound_is_an_error_and_one_at_it_is_not(chunked: bool) -> None:
    def answer(size: int) -> Reply:
        return Reply(HEAD + chunk(b"x" * size) + chunk(b"")) if chunked else reply(200, b"x" * size)

    sizes = iter([100, 150, 100])
    with connected(lambda _: answer(next(sizes)), 100) as (connection, server):
        assert connection(GET) == Response(200, b"x" * 100)
        with pytest.raises(ApiError) as caught:
            connection(GET)
        assert connection(GET) == Response(200, b"x" * 100)

    assert (caught.value.reason, str(caught.value)) == (
        "TooLarge",
        "the server sends more than 100 bytes at once",
    )
    assert [received.connection for received in server.received] == [1, 1, 2]


def test_an_answer_below_the_bound_that_breaks_off_is_an_error() -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"
    with connected(lambda _: Reply(data, close=True), 100) as (connection, _):
        with pytest.raises(ApiError) as caught:
            connection(GET)

    assert caught.value.reason == "IncompleteRead"


def test_whoever_waits_for_a_line_can_be_interrupted_over_tls(account: Path) -> None:
    reports, done = threading.Event(), threading.Event()

    def parts() -> Iterator[bytes]:
        yield chunk(b"a\n")
        done.wait(LONG_ENOUGH)

    with StubServer(lambda _: Reply(HEAD, stream=parts()), account) as server:
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(server.port)}
        connection = in_cluster(environment, str(account))

        def listen() -> None:
            with suppress(ApiError):
                for _ in connection.lines(GET, LONG_ENOUGH):
                    reports.set()

        thread = threading.Thread(target=listen)
        thread.start()
        assert reports.wait(LONG_ENOUGH)
        began = time.monotonic()
        connection.interrupt()
        thread.join(LONG_ENOUGH)
        took = time.monotonic() - began
        done.set()
        with pytest.raises(ApiError):
            connection(GET)

    assert not thread.is_alive()
    assert took < LONG_ENOUGH / 2
