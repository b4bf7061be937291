"""Requests reach a real server over real sockets, and whatever it does becomes an answer or one kind of
error.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from berth.runtime.apiclient import ApiError, Connection, Request, Response, in_cluster

from tests.runtime.stub_server import Received, Reply, StubServer, make_account, reply

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


def test_requests_travel_over_one_connection_with_the_token_of_the_moment(token: Path) -> None:
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


def test_a_server_that_says_it_closes_is_believed(token: Path) -> None:
    with connected(token, lambda _: reply(200, b"{}", "Connection: close")) as (connection, server):
        connection(GET)
        connection(GET)

    assert [received.connection for received in server.received] == [1, 2]


def test_after_an_error_of_the_server_the_next_request_may_reach_another_one(token: Path) -> None:
    with connected(token, lambda _: reply(500, b"")) as (connection, server):
        answers = [connection(GET), connection(GET)]

    assert answers == [Response(500, b""), Response(500, b"")]
    assert [received.connection for received in server.received] == [1, 2]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("Retry-After: 7", 7.0), ("Retry-After: Wed, 21 Oct 2026 07:28:00 GMT", 0.0), ("Retry-After: -1", 0.0)],
)
def test_the_server_may_ask_for_patience(token: Path, header: str, seconds: float) -> None:
    with connected(token, lambda _: reply(429, b"", header)) as (connection, _):
        assert connection(GET) == Response(429, b"", seconds)


def test_a_redirect_is_an_answer(token: Path) -> None:
    with connected(token, lambda _: reply(302, b"", "Location: /elsewhere")) as (connection, server):
        assert connection(GET) == Response(302, b"")

    assert [received.path for received in server.received] == ["/x?y=z"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "RemoteDisconnected", id="nothing"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "IncompleteRead", id="cut-off"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{",
            "IncompleteRead",
            id="half-a-chunk",
        ),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", "BadStatusLine", id="another-protocol"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 101 + b"\r\n", "HTTPException", id="too-many-headers"
        ),
    ],
)
def test_what_is_no_answer_is_an_error_and_the_next_request_starts_afresh(
    token: Path, data: bytes, reason: str
) -> None:
    replies = iter([Reply(data, close=True), OK])
    with connected(token, lambda _: next(replies)) as (connection, _):
        assert failure(connection) == (0, reason)
        assert connection(GET) == Response(200, b"{}")


def test_a_server_that_does_not_answer_is_given_up(token: Path) -> None:
    def slow(_received: Received) -> Reply:
        time.sleep(0.5)
        return OK

    with connected(token, slow, seconds=0.1) as (connection, server):
        assert failure(connection) == (0, "TimeoutError")
        assert connection(PATCH) == Response(200, b"{}")  # writes have more time
        assert failure(connection) == (0, "TimeoutError")

    assert [received.method for received in server.received] == ["GET", "PATCH", "GET"]


def test_nobody_there_is_an_error(token: Path) -> None:
    with StubServer(lambda _: OK) as server:
        port = server.port

    connection = Connection(lambda: HTTPConnection("127.0.0.1", port), str(token))
    assert failure(connection) == (0, "ConnectionRefusedError")


def test_a_missing_or_spoilt_token_is_an_error_that_does_not_quote_it(token: Path) -> None:
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


def test_in_a_cluster_the_server_is_known_by_the_accounts_certificate(account: Path) -> None:
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


def test_outside_of_a_cluster_there_is_no_connection() -> None:
    with pytest.raises(KeyError):
        in_cluster({})
