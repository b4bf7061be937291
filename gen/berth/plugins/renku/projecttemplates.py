"""The template of a Renku project, looked up in Renku's API.

Lookups run in threads of their own and each result is kept. As long as a template is not known, the result
is UNKNOWN_TEMPLATE, and the lookup is repeated after a pause.
"""

import os
import ssl
import threading
from collections import deque
from collections.abc import Callable
from http.client import HTTPConnection, HTTPSConnection
from itertools import takewhile
from urllib.parse import quote, urlsplit

from berth.core.sessions import NO_TEMPLATE, UNKNOWN_TEMPLATE
from berth.runtime.apiclient import ApiError, Connection, Request, Response, response_object
from berth.runtime.program import NO_PAUSE, Log, Pause, backoff
from berth.runtime.watch import start_thread

RENKU_TIMEOUT = 3.0  # for each part of a look-up
_MAX_ANSWER_BYTES = 1 << 20  # bytes of an answer


class RenkuClient:
    """A client of Renku's API over a kept-alive connection. It follows no redirect and uses no proxy."""

    def __init__(self, url: str, token_file: str) -> None:
        """Without the token file, requests have no token. Raises ApiError for an invalid URL."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            host = ""
        if not host or parts.scheme not in ("http", "https"):
            raise ApiError(0, "InvalidURL", f"{url!r} is not a URL of Renku")

        def connect() -> HTTPConnection:
            if parts.scheme == "http":
                return HTTPConnection(host, port, timeout=RENKU_TIMEOUT)
            return HTTPSConnection(host, port, timeout=RENKU_TIMEOUT, context=_system_trust())

        self._base = parts.path.rstrip("/")
        self._token_file = token_file
        self._connections = {
            file: Connection(connect, file, RENKU_TIMEOUT, RENKU_TIMEOUT, _MAX_ANSWER_BYTES)
            for file in (token_file, "")
        }

    def template_of(self, project: str) -> str:
        file = self._token_file if os.path.exists(self._token_file) else ""  # noqa: PTH110 (pathlib is memory)
        request = Request("GET", f"{self._base}/api/data/projects/{quote(project, safe='')}")
        return template_in(self._connections[file](request), project)

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


def template_in(answer: Response, project: str) -> str:
    """Return the template in a response. A project without a template has no `template_id`."""
    tree = response_object(answer)
    template = tree.get("template_id")
    if not tree or tree.get("id", project) != project or not isinstance(template, str | None):
        text = answer.body[:200].decode(errors="replace")
        raise ApiError(answer.status, "InvalidResponse", f"the response is not the project {project}: {text}")
    return template or NO_TEMPLATE


def _system_trust() -> ssl.SSLContext:
    """Trust the certificates of the system; a folder needs less memory than a bundle."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    paths = ssl.get_default_verify_paths()
    folder = paths.capath
    if folder and any(name.endswith(".0") for name in os.listdir(folder)):  # noqa: PTH208
        context.load_verify_locations(capath=folder)
    else:
        context.set_default_verify_paths()
    return context


HOLD_SECONDS = 3.0  # seconds for which a first look-up may hold a session back
MAX_LOOKUP_PAUSE = 300.0  # seconds between two look-ups of one project
MAX_THREADS = 3
_MAX_PROJECTS = 4096  # projects
_SUBJECT = "project templates"


class _Lookup:
    """The look-ups of a project whose template is not known."""

    is_running = is_trouble = False
    failures = 0
    pause = NO_PAUSE


class ProjectTemplates:
    """The templates of projects, looked up by threads that end when nothing is left to look up."""

    def __init__(
        self,
        connect: Callable[[], RenkuClient],
        wake: Callable[[], object],
        log: Log,
        jitter: Callable[[], float],
        needs_all: Callable[[], bool] = lambda: True,
    ) -> None:
        """`connect` is called by each thread, and `wake` from any thread when there is a result.

        `needs_all`: whether a project that is not public is a trouble.
        """
        self._needs_all = needs_all
        self._connect, self._wake, self._log, self._jitter = connect, wake, log, jitter
        self._known: dict[str, str] = {}
        self._lookups: dict[str, _Lookup] = {}
        self._failing = 0  # look-ups that have failed
        self._holding: dict[str, float] = {}  # when first look-ups began that hold sessions back
        self._lock = threading.Lock()  # of what follows
        self._todo: deque[str] = deque()
        self._answers: deque[tuple[str, str | Exception]] = deque()
        self._threads = 0

    def of(self, project: str, now: float) -> str | None:
        """Return the template of a project; None while the first lookup has just begun."""
        known = self._known.get(project) if project else NO_TEMPLATE
        if known is not None:
            return known
        if project not in self._lookups:
            self._lookups[project], self._holding[project] = _Lookup(), now
        lookup = self._lookups[project]
        if not lookup.is_running and not lookup.pause.left(now):
            lookup.is_running = True
            self._ask(project)
        since = self._holding.get(project)
        return None if since is not None and _holds(since, now) else UNKNOWN_TEMPLATE

    def news(self, now: float) -> set[str]:
        """Return the projects for which `of` may have changed since the last call."""
        came: set[str] = set()
        while self._answers and len(came) < _MAX_PROJECTS:
            project, answer = self._answers.popleft()
            came.add(project)
            self._take(project, answer, now)
        over = list(takewhile(lambda key: not _holds(self._holding[key], now), self._holding))
        for project in over:
            del self._holding[project]
        return came.union(over)

    def next_change(self, now: float) -> float | None:
        """Return when the next session is no longer held back."""
        ends = (since + HOLD_SECONDS for since in self._holding.values())
        return next((end for end in ends if end > now), None)

    @property
    def is_uncertain(self) -> bool:
        """Whether a project is being looked up or must be looked up again."""
        return bool(self._lookups)

    def close(self) -> None:
        with self._lock:
            self._todo.clear()

    def _take(self, project: str, answer: str | Exception, now: float) -> None:
        lookup = self._lookups[project]
        self._holding.pop(project, None)
        if isinstance(answer, Exception):  # kept of all projects: one that is forgotten is asked for at once
            lookup.failures += 1
            pause = backoff(lookup.failures, 0.0, self._jitter(), MAX_LOOKUP_PAUSE)
            lookup.is_running, lookup.pause = False, Pause(now, pause)
            if self._needs_all() or not _is_refused(answer):
                self._failing += not lookup.is_trouble
                lookup.is_trouble = True
                self._log.trouble(_SUBJECT, answer)
            return
        del self._lookups[project]
        if len(self._known) >= _MAX_PROJECTS:
            del self._known[next(iter(self._known))]
        self._known[project] = answer
        self._failing -= lookup.is_trouble
        if not self._failing:
            self._log.works(_SUBJECT)

    def _ask(self, project: str) -> None:
        with self._lock:
            self._todo.append(project)
            if self._threads == MAX_THREADS:
                return
            self._threads += 1
        try:
            start_thread(self._work)
        except RuntimeError as error:  # there are too many threads already
            self._threads -= 1
            self._answers.append((project, error))

    def _work(self) -> None:
        client: RenkuClient | None = None
        while project := self._next():
            answer: str | Exception
            try:
                client = client or self._connect()
                answer = client.template_of(project)
            except Exception as error:
                answer = error
            self._answers.append((project, answer))
            self._wake()
        if client:
            client.close()

    def _next(self) -> str:
        """Return what a thread is to look up next; empty: nothing, and it ends."""
        with self._lock:
            if self._todo:
                return self._todo.popleft()
            self._threads -= 1
            return ""


def _is_refused(answer: Exception) -> bool:
    return isinstance(answer, ApiError) and answer.status in (401, 403, 404)


def _holds(since: float, now: float) -> bool:
    """Return whether a first lookup that began at `since` still holds sessions back."""
    return 0 <= now - since < HOLD_SECONDS
