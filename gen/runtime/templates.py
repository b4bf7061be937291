"""From which template is a project? Each is looked up once, and the answer holds for ever: who was told keeps
it, for of very many only the newest are remembered here.

Look-ups run in threads of their own that end when nothing is left to ask; everything else happens in the
thread of the caller. While nobody can tell, the answer is UNKNOWN_TEMPLATE, and is asked for again after a
pause.
"""

import threading
from collections import deque
from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple, Protocol

from gen.runtime.log import Log
from gen.runtime.pause import Pause, after_failure
from gen.runtime.session import NO_TEMPLATE, UNKNOWN_TEMPLATE
from gen.runtime.watcher import start

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
        self._holding: dict[str, float] = {}  # those of them that hold sessions back, by their time
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
        if failure or not _holds(self._asked[project], now):
            return UNKNOWN_TEMPLATE
        return None

    def news(self, now: float) -> set[str]:
        """Projects of which `of` says something else than when it was last asked for news."""
        came: set[str] = set()
        while self._answers and len(came) < _KEPT:
            project, answer = self._answers.popleft()
            came.add(project)
            self._take(project, answer, now)
        over = list(takewhile(lambda one: not _holds(self._holding[one], now), self._holding))
        for project in over:
            del self._holding[project]
        return came.union(over)

    def next_change(self, now: float) -> float | None:
        """When the next session is not held back any more, as far as that is no news yet."""
        return next((since + HOLD for since in self._holding.values() if since + HOLD > now), None)

    @property
    def is_uncertain(self) -> bool:
        """Some project is being looked up, or is to be asked for again."""
        return bool(self._asked or self._failures)

    def close(self) -> None:
        with self._lock:
            self._todo.clear()

    def _take(self, project: str, answer: str | Exception, now: float) -> None:
        self._asked.pop(project, None)
        self._holding.pop(project, None)
        if isinstance(answer, Exception):
            times = self._failures[project].times + 1 if project in self._failures else 1
            pause = Pause(now, after_failure(times, 0.0, self._jitter(), LONGEST))
            # Of all: who forgets one asks for it again at once.
            self._failures[project] = _Failure(times, pause)
            self._log.trouble(_SUBJECT, answer)
            return
        self._failures.pop(project, None)
        if len(self._known) >= _KEPT:
            del self._known[next(iter(self._known))]
        self._known[project] = answer
        if not self._failures:
            self._log.works(_SUBJECT)

    def _ask(self, project: str, now: float) -> None:
        self._asked[project] = now
        if project not in self._failures:
            self._holding[project] = now
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


def _holds(since: float, now: float) -> bool:
    """Whether a first look-up that has begun then still holds sessions back."""
    return 0 <= now - since < HOLD
