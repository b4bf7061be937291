"""The log tells each change in one line, and each trouble when it begins and when it is over."""

from berth.core.jsonvalues import TimetableError
from berth.runtime.apiclient import ApiError
from berth.runtime.program import Log


def made(lines: list[str]) -> Log:
    return Log(lines.append, lambda: 1770017400.9, "course")


def start(level: str, event: str) -> str:
    return (
        f'{{"time": "2026-02-02T07:30:00Z", "level": "{level}", "event": "{event}", "reservation": "course"'
    )


def test_a_line_is_one_json_object() -> None:
    lines: list[str] = []

    made(lines).info("scaled", pool="small", occurrences=("a\nb",), to=25)
    made(lines).error("ended", reason="none")

    assert [
        start("info", "scaled") + ', "pool": "small", "occurrences": ["a\\nb"], "to": 25}\n',
        start("error", "ended") + ', "reason": "none"}\n',
    ] == lines


def test_trouble_is_told_once_for_each_reason_and_counted() -> None:
    lines: list[str] = []
    log = made(lines)
    for n in range(3):
        log.trouble("deployment a", ApiError(403, "Forbidden", f"attempt {n}"))
        log.trouble("deployment a", ApiError(0, "TimeoutError", "timed out"))
        log.trouble("deployment b", ApiError(403, "Forbidden", "b"))
    log.works("deployment a")
    log.works("deployment a")
    log.trouble("deployment a", ApiError(403, "Forbidden", "again"))

    failed = start("warning", "failed")
    assert [
        failed + ', "subject": "deployment a", "reason": "403 Forbidden", "message": "attempt 0"}\n',
        failed + ', "subject": "deployment a", "reason": "TimeoutError", "message": "timed out"}\n',
        failed + ', "subject": "deployment b", "reason": "403 Forbidden", "message": "b"}\n',
        start("info", "recovered") + ', "subject": "deployment a", "failures": 6}\n',
        failed + ', "subject": "deployment a", "reason": "403 Forbidden", "message": "again"}\n',
    ] == lines


def test_malformed_texts_are_one_trouble_however_they_vary() -> None:
    lines: list[str] = []
    log = made(lines)
    for message in ("version: 2", "version: 3", "version: 2"):
        log.trouble("timetable", TimetableError(message))

    failed = start("warning", "failed") + ', "subject": "timetable", "reason": "malformed", '
    assert [failed + '"message": "version: 2"}\n'] == lines


def test_an_unexpected_error_is_told_with_its_place() -> None:
    lines: list[str] = []
    try:
        int("seven")
    except ValueError as error:
        made(lines).trouble("run", error)
        line = error.__traceback__.tb_lineno if error.__traceback__ else 0

    reason = '"ValueError", "message": "invalid literal for int() with base 10: \'seven\'"'
    assert [
        start("warning", "failed")
        + f', "subject": "run", "reason": {reason}, "where": "{__file__}:{line}"}}\n'
    ] == lines
