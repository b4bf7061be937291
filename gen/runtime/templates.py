"""From which template is a project? Each is looked up once, and the answer holds for ever.

Look-ups run in threads of their own that end when nothing is left to ask; everything else happens in the
thread of the caller. While nobody can tell, the answer is UNKNOWN_TEMPLATE, and is asked for again after a
pause.
"""

import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

from gen.runtime.log import Log
from gen.runtime.pause import Pause, after_failure
from gen.runtime.session import NO_TEMPLATE, UNKNOWN_TEMPLATE
from gen.runtime.watcher import start

T = TypeVar("T")

HOLD = 3.0  # seconds for which a first look-up may hold a session back
LONGEST = 300.0  # seconds between two look-ups of one project
THREADS = 3
_KEPT = 4096  # projects
_SUBJECT = "project templates"


class Client(Protocol):
    """For one thread."""

    def template_of(self, project: str) -> str: ...

    def close(self) -> None: ...


class _Failure(NamedTuple):
    times: int
    pause: Pause


class Templates:
    def __init__(
        self,
        connect: Callable[[], Client],
        wake: Callable[[], object],
        log: Log,
        jitter: Callable[[], float],
    ) -> None:
        """`wake` is called from any thread when there is an answer."""
        self._connect = connect
        self._wake = wake
        self._log = log
        self._jitter = jitter
        self._known: dict[str, str] = {}
        self._failures: dict[str, _Failure] = {}
        self._asked: dict[str, float] = {}  # since when a look-up runs
        self._lock = threading.Lock()  # of what follows
        self._todo: deque[str] = deque()
        self._answers: deque[tuple[str, str | Exception]] = deque()
        self._threads = 0

    def of(self, project: str, now: float) -> str | None:
        """None: the first look-up has just begun."""
        if not project:
            return NO_TEMPLATE
        known = self._known.get(project)
        if known is not None:
            return known
        failure = self._failures.get(project)
        if project not in self._asked and not (failure and failure.pause.left(now)):
            self._ask(project, now)
        if failure or not 0 <= now - self._asked[project] < HOLD:
            return UNKNOWN_TEMPLATE
        return None

    def take_answers(self, now: float) -> bool:
        """Have any come since?"""
        came = False
        while self._answers:
            project, answer = self._answers.popleft()
            self._asked.pop(project, None)
            came = True
            if isinstance(answer, Exception):
                times = self._failures[project].times + 1 if project in self._failures else 1
                pause = Pause(now, after_failure(times, 0.0, self._jitter(), LONGEST))
                _keep(self._failures, project, _Failure(times, pause))
                self._log.trouble(_SUBJECT, answer)
            else:
                self._failures.pop(project, None)
                _keep(self._known, project, answer)
                if not self._failures:
                    self._log.works(_SUBJECT)
        return came

    def next_change(self, now: float) -> float | None:
        """When the next session is not held back any more."""
        ends = (since + HOLD for project, since in self._asked.items() if project not in self._failures)
        return min((end for end in ends if end > now), default=None)

    @property
    def is_uncertain(self) -> bool:
        """Some project is being looked up, or is to be asked for again."""
        return bool(self._asked or self._failures)

    def close(self) -> None:
        with self._lock:
            self._todo.clear()

    def _ask(self, project: str, now: float) -> None:
        self._asked[project] = now
        with self._lock:
            self._todo.append(project)
            if self._threads == THREADS:
                return
            self._threads += 1
        try:
            start(threading.Thread(target=self._work, daemon=True))
        except RuntimeError as error:  # there are too many threads already
            self._threads -= 1
            self._answers.append((project, error))

    def _work(self) -> None:
        client: Client | None = None
        while True:
            with self._lock:
                if not self._todo:
                    self._threads -= 1
                    break
                project = self._todo.popleft()
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


def _keep(known: dict[str, T], project: str, value: T) -> None:
    """The oldest goes where there are too many: its sessions keep what they were told."""
    if project not in known and len(known) >= _KEPT:
        del known[next(iter(known))]
    known[project] = value
