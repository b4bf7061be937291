"""What programs share: pauses, the log, and the timetable that holds."""

import json

import pytest
from berth.core.timetable import Override
from berth.runtime.apiclient import ApiError, TimetableText
from berth.runtime.program import Log, Pause, TimetableSource, backoff

from tests.runtime.timetables import COURSE, timetable_text

# Pauses


@pytest.mark.parametrize(("now", "left"), [(99, 0), (100, 4), (103, 1), (104, 0), (1e9, 0)])
def test_a_pause_ends_on_time_or_when_the_clock_is_set_back(now: float, left: float) -> None:
    assert Pause(100.0, 4.0).left(now) == left


@pytest.mark.parametrize(
    ("failures", "asked", "jitter", "seconds"),
    [
        *((1, 0, 0, 0.5), (2, 0, 0, 1), (4, 0, 0, 4), (100_000, 0, 0, 4)),
        *((9, 0, 0.5, 3), (9, 0, 1, 2)),
        *((1, 0.1, 0, 0.5), (1, 3, 0, 3), (1, 60, 0, 30)),
    ],
    ids=str,
)
def test_pauses_double_with_jitter_and_respect_retry_after(
    failures: int, asked: float, jitter: float, seconds: float
) -> None:
    assert backoff(failures, asked, jitter) == seconds


# The log


def made(lines: list[str]) -> Log:
    return Log(lines.append, lambda: 1770017400.9, "course")


def start(level: str, event: str) -> str:
    return (
        f'{{"time": "2026-02-02T07:30:00Z", "level": "{level}", "event": "{event}", "reservation": "course"'
    )


def test_a_log_line_is_one_json_object() -> None:
    lines: list[str] = []

    made(lines).info("scaled", pool="small", occurrences=("a\nb",), to=25)
    made(lines).error("ended", reason="none")

    assert [
        start("info", "scaled") + ', "pool": "small", "occurrences": ["a\\nb"], "to": 25}\n',
        start("error", "ended") + ', "reason": "none"}\n',
    ] == lines


def test_trouble_is_logged_once_for_each_reason_and_counted() -> None:
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


def test_an_unexpected_error_is_logged_with_its_file_and_line() -> None:
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


# The timetable that holds is the newest good one that the API server gave


FIRST = timetable_text(COURSE)
SIXTY = {"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}
OVERRIDES = {
    "malformed": (FIRST, 60, "berth.dev/override: 60 is not an object", 0),
    "of-no-class": (
        FIRST,
        SIXTY | {"smal": SIXTY["small"]},
        "berth.dev/override: no class smal in this reservation, which has small",
        60,
    ),
    "beside-a-malformed-timetable": (
        '{"version": 9}',
        SIXTY,
        "version: 9 is not supported; this version of Berth reads 1",
        60,
    ),
}


def source_of(*answers: TimetableText) -> tuple[TimetableSource, list[str]]:
    """One that has read these answers, and what it has told."""
    lines: list[str] = []
    left = iter(answers)
    source = TimetableSource("course", lambda: next(left), made(lines))
    for _ in answers:
        source.refresh()
    said = map(json.loads, lines)
    return source, [line.get("message", line["event"]) for line in said if line["event"] != "override"]


@pytest.mark.parametrize(("text", "override", "told", "target"), OVERRIDES.values(), ids=OVERRIDES)
def test_an_error_is_logged_once_and_the_valid_overrides_stay_in_effect(
    text: str, override: object, told: str, target: int
) -> None:
    source, messages = source_of(*[TimetableText(text, json.dumps(override))] * 3)

    assert sorted(messages) == sorted([told, *["timetable"] * (text == FIRST)])
    assert source.overrides.get("small", Override(0, 0)).target == target


def test_the_timetable_of_another_reservation_is_refused() -> None:
    source, messages = source_of(
        TimetableText(FIRST.replace('"reservation": "course"', '"reservation": "other"'))
    )

    assert (source.timetable, messages) == (None, ["reservation: 'other' is not 'course'"])


def test_a_reformatted_timetable_is_not_an_edit() -> None:
    other = json.dumps(json.loads(FIRST), indent=1)

    assert source_of(TimetableText(FIRST), TimetableText(other))[1] == ["timetable"]
