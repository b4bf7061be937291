"""Requests reach a real server over real sockets, and whatever it does becomes an answer or one error."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
from berth.runtime.apiclient import MAX_RESPONSE_BYTES, ApiError, Connection, Request, Response, in_cluster

from tests.runtime.stub_server import Received, Reply, StubServer, make_account, reply
from tests.runtime.watched_cluster import HEAD, chunk

# Answers


GET = Request("GET", "/x?y=z")
PATCH = Request("PATCH", "/x", b'{"a": 1}')
OK = reply(200, b"{}")


@contextmanager
def connected(
    token: Path, answer: Callable[[Received], Reply], seconds: float = 5.0
) -> Iterator[tuple[Connection, StubServer]]:
    with StubServer(answer) as server:
        connection = Connection(
            lambda: HTTPConnection("127.0.0.1", server.port, timeout=seconds), str(token), seconds, 5.0
        )
        yield connection, server
        connection.close()


@pytest.fixture
def token(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text("first\n", encoding="ascii")
    return file


def failure(connection: Connection, request: Request = GET) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        connection(request)
    return caught.value.status, caught.value.reason


def test_requests_share_one_connection_and_send_the_current_token(token: Path) -> None:
    with connected(token, lambda _: OK) as (connection, server):
        answers = [connection(GET)]
        token.write_text("second", encoding="ascii")
        answers.append(connection(PATCH))
        host = f"127.0.0.1:{server.port}"

    common = {"Host": host, "Accept-Encoding": "identity"}
    ours = {"Accept": "application/json", "User-Agent": "berth"}
    patch = {"Content-Length": "8", "Content-Type": "application/merge-patch+json"}
    assert answers == [Response(200, b"{}"), Response(200, b"{}")]
    assert server.received == [
        Received(1, "GET", "/x?y=z", common | {"Authorization": "Bearer first"} | ours, b""),
        Received(1, "PATCH", "/x", common | {"Authorization": "Bearer second"} | ours | patch, b'{"a": 1}'),
    ]


def test_a_connection_that_was_closed_while_idle_is_opened_again(token: Path) -> None:
    with connected(token, lambda _: OK._replace(close=True)) as (connection, server):
        for _ in range(3):
            connection(PATCH)
            time.sleep(0.05)

    assert [received.connection for received in server.received] == [1, 2, 3]


@pytest.mark.parametrize(
    "answer",
    [reply(200, b"{}", "Connection: close"), reply(500, b"")],
    ids=["it-says-that-it-closes", "after-an-error-another-one-may-be-reached"],
)
def test_a_request_after_a_close_header_or_a_server_error_reconnects(token: Path, answer: Reply) -> None:
    with connected(token, lambda _: answer) as (connection, server):
        connection(GET)
        connection(GET)

    assert [received.connection for received in server.received] == [1, 2]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("Retry-After: 7", 7.0), ("Retry-After: Wed, 21 Oct 2026 07:28:00 GMT", 0.0), ("Retry-After: -1", 0.0)],
)
def test_only_a_retry_after_with_positive_seconds_is_used(token: Path, header: str, seconds: float) -> None:
    with connected(token, lambda _: reply(429, b"", header)) as (connection, _):
        assert connection(GET) == Response(429, b"", seconds)


NO_ANSWERS = {
    "nothing": (b"", "RemoteDisconnected"),
    "cut-off": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "IncompleteRead"),
    "half-a-chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{", "IncompleteRead"),
    "another-protocol": (b"SSH-2.0-OpenSSH_9.2\r\n", "BadStatusLine"),
    "too-many-headers": (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 101 + b"\r\n", "HTTPException"),
}


@pytest.mark.parametrize(("data", "reason"), NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_an_invalid_answer_is_an_error_and_the_next_request_succeeds(
    token: Path, data: bytes, reason: str
) -> None:
    replies = iter([Reply(data, close=True), OK])
    with connected(token, lambda _: next(replies)) as (connection, _):
        assert failure(connection) == (0, reason)
        assert connection(GET) == Response(200, b"{}")


def test_a_read_without_an_answer_times_out_and_a_write_has_more_time(token: Path) -> None:
    def slow(_received: Received) -> Reply:
        time.sleep(0.5)
        return OK

    with connected(token, slow, seconds=0.1) as (connection, server):
        assert failure(connection) == (0, "TimeoutError")
        assert connection(PATCH) == Response(200, b"{}")  # writes have more time
        assert failure(connection) == (0, "TimeoutError")

    assert [received.method for received in server.received] == ["GET", "PATCH", "GET"]


def test_a_refused_connection_is_an_error(token: Path) -> None:
    with StubServer(lambda _: OK) as server:
        port = server.port

    connection = Connection(lambda: HTTPConnection("127.0.0.1", port), str(token))
    assert failure(connection) == (0, "ConnectionRefusedError")


def test_a_missing_or_malformed_token_is_an_error_that_does_not_quote_it(token: Path) -> None:
    with connected(token, lambda _: OK) as (connection, server):
        token.write_bytes(b"se\ncr\ret\n")
        connection(GET)
        token.write_bytes(b"secr\xe9t")
        with pytest.raises(ApiError) as spoilt:
            connection(GET)
        token.unlink()
        missing = failure(connection)

    assert server.received[0].headers["Authorization"] == "Bearer secret"
    assert "secr" not in str(spoilt.value)
    assert missing == (0, "FileNotFoundError")


def environment(server: StubServer) -> dict[str, str]:
    return {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(server.port)}


def test_in_a_cluster_the_ca_certificate_of_the_account_verifies_the_server(account: Path) -> None:
    with StubServer(lambda _: OK, account) as server:
        connection = in_cluster(environment(server), str(account))
        answers = [connection(GET), connection(GET)]
        connection.close()

    assert answers == [Response(200, b"{}"), Response(200, b"{}")]
    assert [received.connection for received in server.received] == [1, 1]
    assert server.received[0].headers["Authorization"] == "Bearer first-token"


def test_a_server_with_another_certificate_gets_no_token(account: Path, tmp_path: Path) -> None:
    stranger = make_account(tmp_path / "stranger")
    with StubServer(lambda _: OK, account) as server:
        assert failure(in_cluster(environment(server), str(stranger))) == (0, "SSLCertVerificationError")

    assert server.received == []


# Lines


WATCH = Request("GET", "/x?watch=1", accept="application/json;as=Other")
LONG_ENOUGH = 5.0


@contextmanager
def streaming(
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
    return [*connection.lines(WATCH, silence)]


def line_failure(connection: Connection, silence: float = LONG_ENOUGH) -> tuple[list[bytes], int, str]:
    """The lines before it, its status and its reason."""
    seen: list[bytes] = []
    with pytest.raises(ApiError) as caught:
        seen.extend(connection.lines(WATCH, silence))
    return seen, caught.value.status, caught.value.reason


def test_lines_do_not_depend_on_the_sizes_of_chunks() -> None:
    text = b'{"a":1}\n{"b":"' + b"x" * 20_000 + b'"}\n\n{"c":3}\n'
    for size in (1, 7, 8192, 100_000):
        parts = [chunk(text[at : at + size]) for at in range(0, len(text), size)]
        with streaming(streamed(*parts, chunk(b""))) as (connection, _):
            assert read(connection) == text.splitlines(keepends=True)


def test_an_answer_without_a_length_ends_when_the_server_closes_the_connection() -> None:
    data = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na\nb\n"
    with streaming(lambda _: Reply(data, close=True)) as (connection, server):
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
def test_an_incomplete_line_is_an_error_after_the_complete_lines(
    parts: list[bytes], lines: list[bytes], reason: str
) -> None:
    with streaming(streamed(*parts, close=True)) as (connection, server):
        assert line_failure(connection) == (lines, 0, reason)
        assert line_failure(connection) == (lines, 0, reason)

    assert [received.connection for received in server.received] == [1, 2]


@pytest.mark.parametrize("rest", [b"", b"nine\r\n"])
def test_a_break_between_two_lines_counts_as_the_end_of_the_stream(rest: bytes) -> None:
    with streaming(streamed(chunk(b"a\n") + rest, close=True)) as (connection, server):
        assert read(connection) == read(connection) == [b"a\n"]

    assert [received.connection for received in server.received] == [1, 2]


def test_only_a_line_above_the_size_limit_is_an_error() -> None:
    with streaming(streamed(chunk(b"x" * 99 + b"\n"), chunk(b"y" * 100 + b"\n")), 100) as (connection, _):
        assert line_failure(connection) == ([b"x" * 99 + b"\n"], 0, "TooLarge")


@pytest.mark.parametrize("chunked", [False, True])
def test_only_an_answer_above_the_size_limit_is_an_error(chunked: bool) -> None:
    def answer(size: int) -> Reply:
        return Reply(HEAD + chunk(b"x" * size) + chunk(b"")) if chunked else reply(200, b"x" * size)

    sizes = iter([100, 150, 100])
    with streaming(lambda _: answer(next(sizes)), 100) as (connection, server):
        assert connection(WATCH) == Response(200, b"x" * 100)
        with pytest.raises(ApiError) as caught:
            connection(WATCH)
        assert connection(WATCH) == Response(200, b"x" * 100)

    assert (caught.value.reason, str(caught.value)) == (
        "TooLarge",
        "the server sends more than 100 bytes at once",
    )
    assert [received.connection for received in server.received] == [1, 1, 2]


def test_a_thread_that_waits_for_a_line_over_tls_can_be_interrupted(account: Path) -> None:
    reports, done = threading.Event(), threading.Event()

    def parts() -> Iterator[bytes]:
        yield chunk(b"a\n")
        done.wait(10 * LONG_ENOUGH)

    with StubServer(lambda _: Reply(HEAD, stream=parts()), account) as server:
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(server.port)}
        connection = in_cluster(environment, str(account))

        def listen() -> None:
            with suppress(ApiError):
                for _ in connection.lines(WATCH, 10 * LONG_ENOUGH):
                    reports.set()

        thread = threading.Thread(target=listen)
        thread.start()
        assert reports.wait(LONG_ENOUGH)
        connection.interrupt()
        thread.join(LONG_ENOUGH)
        done.set()
        with pytest.raises(ApiError):
            connection(WATCH)

    assert not thread.is_alive()
