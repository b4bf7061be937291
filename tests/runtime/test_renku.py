"""The templates of Renku's projects, asked for once, and again where nobody could tell."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from berth.core.sessions import UNKNOWN_TEMPLATE
from berth.plugins.renku.projecttemplates import MAX_THREADS, ProjectTemplates, RenkuClient, template_in
from berth.runtime.apiclient import ApiError, Response
from berth.runtime.program import Log

from tests.runtime.stub_server import Received, Reply, StubServer, reply

# Renku's API


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


def test_requests_send_the_current_token_or_no_token(tmp_path: Path) -> None:
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
def test_project_ids_are_quoted_and_the_url_may_have_a_path(
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


PROJECTS: list[tuple[object, str | None]] = [  # what is answered, and the template; None: it is no project
    ({"id": PROJECT, "template_id": TEMPLATE}, TEMPLATE),
    ({"template_id": TEMPLATE}, TEMPLATE),
    ({"id": PROJECT}, ""),
    ({"id": PROJECT, "template_id": None}, ""),
    ({"id": PROJECT, "template_id": 7}, None),
    ({"id": "another", "template_id": TEMPLATE}, None),
    ({}, None),
    ("T", None),
]


@pytest.mark.parametrize(("tree", "expected"), PROJECTS)
def test_a_project_has_a_template_or_none_and_anything_else_is_an_error(
    tree: object, expected: str | None
) -> None:
    answer = Response(200, json.dumps(tree).encode())
    if expected is not None:
        assert template_in(answer, PROJECT) == expected
        return
    with pytest.raises(ApiError, match=f"the response is not the project {PROJECT}: ") as caught:
        template_in(answer, PROJECT)
    assert caught.value.reason == "InvalidResponse"


@pytest.mark.parametrize(
    "url", ["", "renkulab.io", "ftp://renkulab.io", "https://", "http://[::1", "http://host:port"]
)
def test_an_invalid_url_is_an_error(url: str) -> None:
    with pytest.raises(ApiError) as caught:
        RenkuClient(url, "")

    assert str(caught.value) == f"{url!r} is not a URL of Renku"


def over_tls(server: StubServer) -> str:
    renku = RenkuClient(f"https://127.0.0.1:{server.port}", "")
    try:
        return renku.template_of(PROJECT)
    finally:
        renku.close()


def test_only_the_certificates_of_the_system_are_trusted_over_tls(
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


# Look-ups


LONG_ENOUGH = 10.0


class Office(RenkuClient):
    """Looks projects up: at once, or when it is told to."""

    def __init__(self) -> None:
        self.answers: dict[str, str | Exception] = {}
        self.asked: list[str] = []
        self.at_once = threading.Event()
        self.at_once.set()
        self.closed = 0
        self._news = threading.Condition()
        self.lines: list[str] = []
        self.templates = ProjectTemplates(lambda: self, self._wake, self._log(), lambda: 0.0)

    def template_of(self, project: str) -> str:
        with self._news:
            self.asked.append(project)
            self._news.notify_all()
        assert self.at_once.wait(LONG_ENOUGH)
        answer = self.answers[project]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        with self._news:
            self.closed += 1
            self._news.notify_all()

    def until(self, reached: Callable[[], bool]) -> None:
        with self._news:
            assert self._news.wait_for(reached, LONG_ENOUGH)

    def answer(self, now: float, number: int = 1) -> None:
        """Waits for so many answers, and takes them."""
        self.until(lambda: len(self.templates._answers) >= number)
        assert self.templates.news(now)
        assert not self.templates.news(now)

    def _wake(self) -> None:
        with self._news:
            self._news.notify_all()

    def _log(self) -> Log:
        def write(line: str) -> None:
            self.lines.append(json.loads(line)["event"])

        return Log(write, lambda: 0.0, "course")


@pytest.fixture
def office() -> Office:
    return Office()


def test_the_pause_grows_to_five_minutes(office: Office) -> None:
    office.answers = {"p": ApiError(500, "InternalError", "no")}
    office.templates.of("p", 0)
    now = 0.0
    for number, pause in enumerate([0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300], 1):
        office.answer(now)
        office.templates.of("p", now + pause - 0.1)
        assert len(office.asked) == number
        now += pause
        office.templates.of("p", now)
        office.until(lambda: len(office.asked) == number + 1)  # noqa: B023 (called before the next turn)

    office.answer(now)


def test_a_burst_of_requests_uses_a_few_threads_that_end_afterward(office: Office) -> None:
    office.answers = {f"p{n}": f"T{n}" for n in range(50)}
    office.at_once.clear()
    for name in office.answers:
        office.templates.of(name, 0)
    office.until(lambda: len(office.asked) == MAX_THREADS)

    office.at_once.set()
    office.answer(0, 50)
    office.until(lambda: office.closed == MAX_THREADS)
    assert [office.templates.of(f"p{n}", 0) for n in range(50)] == [f"T{n}" for n in range(50)]


def test_an_unexpected_exception_is_logged_and_the_template_is_unknown(office: Office) -> None:
    office.templates.of("unheard-of", 0)
    office.answer(0)

    assert office.templates.of("unheard-of", 0) == UNKNOWN_TEMPLATE
    assert office.lines == ["failed"]


def test_the_oldest_of_too_many_templates_are_forgotten_after_they_were_reported(office: Office) -> None:
    office.answers = {f"p{n}": "T" for n in range(4097)}
    for name in office.answers:
        office.templates.of(name, 0)
    office.until(lambda: len(office.templates._answers) == 4097)

    first, rest = office.templates.news(0), office.answers.keys()
    assert len(first) == 4096
    assert {office.templates.of(name, 9) for name in first} == {"T"}
    assert office.templates.news(0) == rest - first
    known = [office.templates.of(name, 9) for name in office.answers]
    assert (known.count("T"), known.count(None)) == (4096, 1)


def test_closed_templates_send_no_more_requests(office: Office) -> None:
    office.answers = dict.fromkeys("pqrstuv", "T")
    office.at_once.clear()
    for name in office.answers:
        office.templates.of(name, 0)
    office.until(lambda: len(office.asked) == MAX_THREADS)
    office.templates.close()
    office.at_once.set()
    office.until(lambda: office.closed == MAX_THREADS)

    assert len(office.asked) == MAX_THREADS
