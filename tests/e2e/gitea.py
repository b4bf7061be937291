"""A Gitea on this machine: a real git forge with issues, issue forms, comments and pull requests.

It has no runner of workflows. Its pages are those of the Go module, without the scripts for a browser.
"""

import http.cookiejar
import json
import os
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.binaries import binary, source
from tests.e2e.errors import E2EError
from tests.e2e.waiting import wait_for

PORT = 3391
URL = f"http://127.0.0.1:{PORT}"
API = f"{URL}/api/v1"
_PASSWORD = "correct-horse-1"
_CONFIG = """\
APP_NAME = forge
RUN_MODE = prod
WORK_PATH = {folder}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = {url}/
STATIC_ROOT_PATH = {pages}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = {folder}/gitea.db
[security]
INSTALL_LOCK = true
SECRET_KEY = of-a-test
[log]
LEVEL = Warn
[service]
DISABLE_REGISTRATION = true
[cron]
ENABLED = false
[actions]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
"""


class Gitea:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._program = str(binary("gitea"))
        pages = source("gitea", "code.gitea.io/gitea")
        self._config = folder / "app.ini"
        self._config.write_text(_CONFIG.format(folder=folder, port=PORT, url=URL, pages=pages))
        # The tests run as root, which it otherwise refuses.
        self._environment = {**os.environ, "GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT": "true"}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Gitea":
        self._run("migrate")
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._program, "--config", str(self._config), "web"],
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_for(lambda: _answers(f"{API}/version"), 60, "Gitea to answer")
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(30)

    def _run(self, *words: str) -> None:
        done = subprocess.run(
            [self._program, "--config", str(self._config), *words],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise E2EError(f"gitea {words[0]} failed: {done.stderr or done.stdout}")

    def user(self, name: str) -> str:
        """Create a user; return a token."""
        words = ("--username", name, "--password", _PASSWORD, "--email", f"{name}@example.org")
        self._run("admin", "user", "create", *words, "--must-change-password=false")
        fields = {"name": "test", "scopes": ["write:repository", "write:issue", "write:user"]}
        request = urllib.request.Request(f"{API}/users/{name}/tokens", json.dumps(fields).encode())
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Basic {b64encode(f'{name}:{_PASSWORD}'.encode()).decode()}")
        with urllib.request.urlopen(request, timeout=30) as answer:
            token: str = json.load(answer)["sha1"]
        return token

    def submit_form(self, user: str, repository: str, template: str, answers: Mapping[str, str]) -> int:
        """Fill in an issue form as somebody with a browser does; return the number of the issue."""
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        browser = urllib.request.build_opener(cookies)
        login = {"user_name": user, "password": _PASSWORD}
        browser.open(f"{URL}/user/login", urllib.parse.urlencode(login).encode(), timeout=30).close()
        fields = {"title": "Seats for a course", "template-file": template}
        fields |= {f"form-field-{field}": text for field, text in answers.items()}
        page = f"{URL}/{repository}/issues/new"
        with browser.open(page, urllib.parse.urlencode(fields).encode(), timeout=30) as answer:
            return int(json.load(answer)["redirect"].rpartition("/")[2])


def _answers(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return json.load(answer)
    except (OSError, urllib.error.HTTPError) as error:
        raise E2EError(str(error)) from error
