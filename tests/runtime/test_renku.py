"""Renku is asked as its API wants it, with the token of the moment, and whatever it answers becomes a
template or one kind of error.
"""

import json
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from berth.plugins.renku.projecttemplates import RenkuClient, _system_trust, template_in
from berth.runtime.apiclient import ApiError, Response

from tests.runtime.stub_server import Received, Reply, StubServer, reply

PROJECT, TEMPLATE = "01JC3CB5426KC7P5STS5X3KSS9", "01JC3CB5426KC7P5STS5X3KSS8"
COPIED = json.dumps({"id": PROJECT, "template_id": TEMPLATE}).encode()


@contextmanager
def asking(
    answer: Callable[[Received], Reply], token_file: Path, path: str = ""
) -> Iterator[tuple[RenkuClient, StubServer]]:
    with StubServer(answer) as server:
        renku = RenkuClient(f"http://127.0.0.1:{server.port}{path}", str(token_file))
        try:
            yield renku, server
        finally:
            renku.close()


def test_it_asks_with_the_token_of_the_moment_or_with_none(tmp_path: Path) -> None:
    token = tmp_path / "token"
    with asking(lambda _: reply(200, COPIED), token) as (renku, server):
        found = [renku.template_of(PROJECT)]
        token.write_text("first\n", encoding="ascii")
        found.append(renku.template_of(PROJECT))
        token.write_text("second", encoding="ascii")
        found.append(renku.template_of(PROJECT))
        token.unlink()
        found.append(renku.template_of(PROJECT))

    assert found == [TEMPLATE] * 4
    assert [received.headers.get("Authorization") for received in server.received] == [
        None,
        "Bearer first",
        "Bearer second",
        None,
    ]
    assert {received.path for received in server.received} == {f"/api/data/projects/{PROJECT}"}


@pytest.mark.parametrize(
    ("path", "project", "expected"),
    [
        ("/", "a/../b?c", "/api/data/projects/a%2F..%2Fb%3Fc"),
        ("/renku/", "p", "/renku/api/data/projects/p"),
        ("", "ü %", "/api/data/projects/%C3%BC%20%25"),
    ],
)
def test_ids_are_quoted_and_the_api_may_lie_below_a_path(
    tmp_path: Path, path: str, project: str, expected: str
) -> None:
    with asking(lambda _: reply(200, b'{"template_id": "T"}'), tmp_path / "none", path) as (renku, server):
        renku.template_of(project)

    assert [received.path for received in server.received] == [expected]


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret", encoding="ascii")
    with StubServer(lambda _: reply(200, COPIED)) as other:
        location = f"Location: http://127.0.0.1:{other.port}/"
        with (
            asking(lambda _: reply(302, b"", location), token) as (renku, _),
            pytest.raises(ApiError) as caught,
        ):
            renku.template_of(PROJECT)

    assert (caught.value.status, other.received) == (302, [])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (COPIED, TEMPLATE),
        (json.dumps({"id": PROJECT}).encode(), ""),
        (json.dumps({"id": PROJECT, "template_id": None}).encode(), ""),
        (json.dumps({"template_id": TEMPLATE}).encode(), TEMPLATE),
    ],
)
def test_a_project_may_have_a_template_or_none(body: bytes, expected: str) -> None:
    assert expected == template_in(Response(200, body), PROJECT)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b"[]",
        b'"T"',
        json.dumps({"id": PROJECT, "template_id": 7}).encode(),
        json.dumps({"id": "another", "template_id": TEMPLATE}).encode(),
    ],
)
def test_what_is_no_project_is_an_error(body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        template_in(Response(200, body), PROJECT)

    assert (caught.value.reason, str(caught.value)) == (
        "InvalidResponse",
        f"the response is not the project {PROJECT}: {body.decode()}",
    )


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (reply(401, b'{"error": {"message": "no"}}'), 401),
        (reply(404, b""), 404),
        (reply(500, b"<html>"), 500),
        (reply(200, b"x" * (1 << 20) + b"x"), 0),
        (Reply(b"", close=True), 0),
    ],
)
def test_a_refusal_is_an_error_and_the_next_request_is_answered(
    tmp_path: Path, answer: Reply, status: int
) -> None:
    answers = iter([answer, reply(200, COPIED)])
    with asking(lambda _: next(answers), tmp_path / "none") as (renku, _):
        with pytest.raises(ApiError) as caught:
            renku.template_of(PROJECT)
        assert renku.template_of(PROJECT) == TEMPLATE

    assert caught.value.status == status


@pytest.mark.parametrize(
    "url", ["", "renkulab.io", "ftp://renkulab.io", "https://", "http://[::1", "http://host:port"]
)
def test_a_url_that_is_none_is_an_error(url: str) -> None:
    with pytest.raises(ApiError) as caught:
        RenkuClient(url, "")

    assert str(caught.value) == f"{url!r} is not a URL of Renku"


def over_tls(server: StubServer) -> str:
    renku = RenkuClient(f"https://127.0.0.1:{server.port}", "")
    try:
        return renku.template_of(PROJECT)
    finally:
        renku.close()


def test_over_tls_it_believes_the_certificates_of_the_system_alone(
    account: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder of hashed names, or from a file where there is no such folder."""
    folder, empty = tmp_path / "certs", tmp_path / "empty"
    folder.mkdir()
    empty.mkdir()
    certificate = (account / "ca.crt").read_text(encoding="ascii")
    (folder / f"{subject_hash(account / 'ca.crt')}.0").write_text(certificate, encoding="ascii")
    found = []
    with StubServer(lambda _: reply(200, COPIED), account) as server:
        for directory, file in ((folder, empty / "none"), (empty, account / "ca.crt")):
            monkeypatch.setenv("SSL_CERT_DIR", str(directory))
            monkeypatch.setenv("SSL_CERT_FILE", str(file))
            found.append(over_tls(server))
        monkeypatch.setenv("SSL_CERT_FILE", str(empty / "none"))
        with pytest.raises(ApiError) as caught:
            over_tls(server)

    assert found == [TEMPLATE, TEMPLATE]
    assert caught.value.reason == "SSLCertVerificationError"


def subject_hash(certificate: Path) -> str:
    """Under which OpenSSL looks a certificate up in a folder."""
    command = ["openssl", "x509", "-in", str(certificate), "-noout", "-subject_hash"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_folder_is_not_loaded_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, account: Path, tmp_path: Path
) -> None:
    text = (account / "ca.crt").read_text(encoding="ascii")
    (tmp_path / "00000000.0").write_text(text, encoding="ascii")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    context = _system_trust()

    assert (context.cert_store_stats()["x509"], context.verify_mode) == (0, ssl.CERT_REQUIRED)
