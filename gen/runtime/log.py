"""What a run tells on its standard output: one line of JSON for each change, and never the same trouble
twice.

Trouble is told when it begins, once for each reason, and again when it is over, with the number of failures.
"""

import json
from collections.abc import Callable

from gen.runtime.api import ApiError
from gen.runtime.instant import instant_text
from gen.runtime.jsonvalue import TimetableError


class Log:
    """`write` gets whole lines. Where `trouble` and `works` speak of one thing, they name it by the same
    `subject`.
    """

    def __init__(self, write: Callable[[str], object], now: Callable[[], float], reservation: str) -> None:
        self._write = write
        self._now = now
        self._reservation = reservation
        self._failures: dict[str, int] = {}
        self._told: dict[str, set[str]] = {}

    def info(self, event: str, **facts: object) -> None:
        self._line("info", event, facts)

    def error(self, event: str, **facts: object) -> None:
        self._line("error", event, facts)

    def trouble(self, subject: str, error: Exception) -> None:
        """`subject` has failed once more. A line if not for the same reason as before."""
        self._failures[subject] = self._failures.get(subject, 0) + 1
        facts = _facts(error)
        key = facts["reason"] if isinstance(error, ApiError) else " ".join(facts.values())
        told = self._told.setdefault(subject, set())
        if key not in told:
            told.add(key)
            self._line("warning", "failed", {"subject": subject, **facts})

    def works(self, subject: str) -> None:
        """`subject` has worked. A line if it had failed before."""
        failures = self._failures.pop(subject, 0)
        if failures:
            del self._told[subject]
            self._line("info", "recovered", {"subject": subject, "failures": failures})

    def _line(self, level: str, event: str, facts: dict[str, object]) -> None:
        line = {
            "time": instant_text(int(self._now())),
            "level": level,
            "event": event,
            "reservation": self._reservation,
            **facts,
        }
        self._write(json.dumps(line) + "\n")


def _facts(error: Exception) -> dict[str, str]:
    """For people, and for the place of what nobody had expected."""
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
