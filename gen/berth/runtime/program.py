"""What all programs in the cluster share: their environment, their log, pauses, and the current timetable.

The log is JSON, one line for each change; the same failure is logged once."""

import json
import os
import time
from calendar import timegm
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import NamedTuple

from berth.core.jsonvalues import TimetableError, instant_text
from berth.core.labels import PLUGINS
from berth.core.objects import CONFIG_MAP, ObjectRef
from berth.core.timetable import (
    Override,
    Timetable,
    end_rehearsals,
    parse_overrides,
    parse_timetable,
    unknown_classes,
)
from berth.runtime.apiclient import Api, ApiError, Request, Response, TimetableText, Transport

LONGEST = 4.0  # seconds: with the wait for an answer it stays below the ten that a reset pool may stand wrong
LONGEST_ASKED = 30.0  # seconds, for which a server may ask


class Pause(NamedTuple):
    """A pause that begins at `since` and lasts `seconds`."""

    since: float
    seconds: float

    def left(self, now: float) -> float:
        """Return the seconds that are left, 0 if the pause is over."""
        passed = now - self.since
        return self.seconds - passed if 0 <= passed < self.seconds else 0.0


NO_PAUSE = Pause(0.0, 0.0)


class ServerClock:
    """The clock of the API server: that of the node, moved as far as the dates of answers prove.

    Nodes have wrong clocks, and a wrong clock would close windows that are open.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock, self.ahead = clock, 0.0

    def __call__(self) -> float:
        return self._clock() + self.ahead

    def learns_from(self, transport: Transport) -> Transport:
        """Return a transport whose answers set this clock."""

        def send(request: Request) -> Response:
            sent = self._clock()
            answer = transport(request)
            date = seconds_of_date(answer.date)
            if date:  # a date is a whole second, and of some instant between the request and the answer
                self.ahead = min(max(self.ahead, date - self._clock()), date + 1 - sent)
            return answer

        return send


def seconds_of_date(header: str) -> int:
    """Parse the header Date of an answer; 0 for any other text."""
    try:
        return timegm(time.strptime(header, "%a, %d %b %Y %H:%M:%S GMT"))
    except ValueError:
        return 0


def backoff(failures: int, retry_after: float, jitter: float, longest: float = LONGEST) -> float:
    """Return the seconds to pause after so many failures in a row.

    The pause starts at half a second and doubles each time; `jitter` (0 to 1) shortens it by up to half. It
    is at most `longest`, and at least what the server asks for.
    """
    doubled = min(longest, 0.5 * 2.0 ** min(failures - 1, 10))
    return max(min(retry_after, LONGEST_ASKED), doubled * (1 - jitter / 2))


class _Failing:
    """The failures of a subject that does not work at the moment."""

    def __init__(self, since: float) -> None:
        self.since, self.times, self.last = since, 0, ""
        self.logged: set[str] = set()  # reasons


class Log:
    """The log of a program, which its threads may share. `write` gets whole lines.

    `trouble` and `works` are about the same thing if they have the same `subject`.
    """

    def __init__(self, write: Callable[[str], object], now: Callable[[], float], reservation: str) -> None:
        self._write = write
        self.now = now
        self._reservation = reservation
        self._failing: dict[str, _Failing] = {}  # by subject

    def info(self, event: str, **facts: object) -> None:
        self._line("info", event, facts)

    def error(self, event: str, **facts: object) -> None:
        self._line("error", event, facts)

    def trouble(self, subject: str, error: Exception) -> None:
        """Count a failure of `subject`, and log it unless the same reason was logged before."""
        facts, failing = _error_fields(error), self._failing.setdefault(subject, _Failing(self.now()))
        failing.times += 1
        failing.last = f"{subject}: {facts['reason']}: {facts['message']}"
        key = f"{facts['reason']} {facts.get('where', '')}"
        if key not in failing.logged:
            failing.logged.add(key)
            self._line("warning", "failed", {"subject": subject, **facts})

    def works(self, subject: str) -> None:
        """Note that `subject` works; log it after failures."""
        if failing := self._failing.pop(subject, None):
            self._line("info", "recovered", {"subject": subject, "failures": failing.times})

    def faults(self, seconds: float) -> list[str]:
        """Return what has failed for so long and does not work yet, with the reasons."""
        before = self.now() - seconds
        return [failure.last for failure in [*self._failing.values()] if failure.since <= before]

    @contextmanager
    def guard(self, subject: str) -> Iterator[None]:
        """Log whether what is done here fails or works; failures end here."""
        try:
            yield
        except Exception as error:
            self.trouble(subject, error)
        else:
            self.works(subject)

    def _line(self, level: str, event: str, facts: dict[str, object]) -> None:
        line = {
            "time": instant_text(int(self.now())),
            "level": level,
            "event": event,
            "reservation": self._reservation,
            **facts,
        }
        self._write(json.dumps(line) + "\n")


def _error_fields(error: Exception) -> dict[str, str]:
    """Return the fields of an error for the log; for an unexpected one, with its place in the code."""
    if isinstance(error, ApiError):
        reason = f"{error.status} {error.reason}" if error.status else error.reason
        return {"reason": reason, "message": str(error)}
    if isinstance(error, TimetableError):
        return {"reason": "malformed", "message": str(error)}
    frame = error.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame else "nowhere"
    return {"reason": type(error).__name__, "message": str(error), "where": where}


class TimetableSource:
    """The current timetable and overrides of a reservation: the newest valid ones that could be read.

    Malformed text changes nothing. Overrides end by themselves.
    """

    def __init__(
        self,
        reservation: str,
        ask_server: Callable[[], TimetableText],
        log: Log,
        home: str = "",
        whose: str = "",
    ) -> None:
        """`home` is the name of the ConfigMap. `whose` tells it in the log from that of the program."""
        self._reservation = reservation
        self._ask_server = ask_server
        self._log = log
        self._text: int | None = None  # the hash of the text that holds, which may be long
        self._overrides, self._whose = "", whose
        self.home = ObjectRef(CONFIG_MAP.name, home or reservation, "", reservation, 0)
        self._read: Timetable | None = None  # as it was read
        self.ended: dict[str, int] = {}  # when rehearsals were over before their time, by id
        self.timetable: Timetable | None = None  # without what is left of rehearsals that are over
        self.is_missing = False  # the server said so
        self.overrides: dict[str, Override] = {}

    def refresh(self) -> bool:
        """Look for a newer timetable. Return False if there was none to read, to look again soon."""
        try:
            answer = self._ask_server()
            self.home = self.home._replace(uid=answer.uid)
            self._override(answer.overrides)
            self._take(answer.timetable)
            if wrong := unknown_classes(self.overrides, self._classes()):
                self._log.trouble(f"override{self._whose}", TimetableError(wrong))
        except Exception as error:  # whatever it is, the timetable that is known holds
            self.is_missing = isinstance(error, ApiError) and error.is_gone()
            self._log.trouble(f"timetable{self._whose}", error)
            return False
        self.is_missing = False
        self._log.works(f"timetable{self._whose}")
        return True

    def _take(self, text: str) -> None:
        if hash(text) == self._text:
            return
        timetable = parse_timetable(text)
        if timetable.reservation != self._reservation:
            raise TimetableError(f"reservation: {timetable.reservation!r} is not {self._reservation!r}")
        if timetable != self._read and not self._whose:
            self._log.info("timetable", occurrences=len(timetable.occurrences))
        self._text, self._read = hash(text), timetable
        self.timetable = end_rehearsals(timetable, self.ended)

    def end_rehearsals(self, ended: Mapping[str, int]) -> None:
        """End rehearsals at these instants, by id, where they are of the windows of this timetable."""
        windows = {item.id: item for item in self._read.occurrences if item.rehearses} if self._read else {}
        known = {**ended, **self.ended}  # the first instant counts
        known = {
            name: at
            for name, at in known.items()
            if name in windows and windows[name].open <= at < windows[name].end
        }
        if self._read is not None and known != self.ended:
            self.ended = known
            self.timetable = end_rehearsals(self._read, known)

    def _classes(self) -> list[str]:
        return [pool.resource_class for pool in self.timetable.pools] if self.timetable else []

    def _override(self, annotation: str) -> None:
        """Apply the text of the annotation; malformed text overrides nothing."""
        if annotation == self._overrides:
            return
        self._overrides, self.overrides = annotation, {}
        with self._log.guard(f"override{self._whose}"):
            self.overrides = parse_overrides(annotation)
            if not self._whose:
                self._log.info("override", says=annotation)


def load_plugins(environment: Mapping[str, str], unused: str) -> frozenset[str]:
    """Import all modules of the plugins that are mounted, and return the names of these.

    What is imported later could be of another release, or be missing. Modules that end with `unused` are
    those of the other program. Raises ImportError.
    """
    names = environment.get("BERTH_PLUGINS", "").split()
    for name in names:
        (folder,) = import_module(f"berth.plugins.{name}").__path__
        for file in sorted(os.listdir(folder)):  # noqa: PTH208 (pathlib is memory)
            module, _, kind = file.partition(".")
            if kind == "py" and not module.startswith("_") and not module.endswith(unused):
                import_module(f"berth.plugins.{name}.{module}")
    return frozenset(names)


class RuntimeContext(NamedTuple):
    """What all parts of a program need. `jitter` returns numbers from 0 to 1."""

    api: Api
    namespace: str
    log: Log
    now: Callable[[], float]
    jitter: Callable[[], float]
    wait: Callable[[float], object] = time.sleep
    plugins: frozenset[str] = frozenset(PLUGINS)  # the packages of the code that this pod has


def log_of(environment: Mapping[str, str], now: Callable[[], float]) -> Log:
    return Log(_write_line, now, environment.get("BERTH_RESERVATION", ""))


def timetable_source(
    reservation: str, name: str, context: RuntimeContext, whose: str = ""
) -> TimetableSource:
    """Make the source of a timetable from the name of its ConfigMap."""

    def ask_server() -> TimetableText:
        return context.api.get_timetable(context.namespace, name)

    return TimetableSource(reservation, ask_server, context.log, name, whose)


def jitter() -> float:
    return os.urandom(1)[0] / 256


def _write_line(line: str) -> None:
    """Write a line in one system call, so that a signal never leaves half a line. Errors are ignored."""
    with suppress(OSError):
        os.write(1, line.encode())
