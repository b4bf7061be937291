"""What programs share: pauses, the log, and the timetable that holds."""

import json

import pytest
from berth.core.jsonvalues import TimetableError
from berth.core.timetable import Override
from berth.runtime.apiclient import ApiError, TimetableText
from berth.runtime.program import NO_PAUSE, Log, Pause, TimetableSource, backoff

from tests.objectstore import no_answer
from tests.runtime.timetables import COURSE, NEXT, at, timetable_text

# Pauses


def test_a_pause_runs_from_its_beginning_to_before_its_end() -> None:
    pause = Pause(100.0, 4.0)

    assert [pause.left(now) for now in (100.0, 103.0, 104.0, 1e9)] == [4.0, 1.0, 0.0, 0.0]


def test_a_clock_set_back_ends_a_pause() -> None:
    assert Pause(100.0, 4.0).left(99.0) == 0.0


def test_no_pause_is_over() -> None:
    assert [NO_PAUSE.left(now) for now in (0.0, 1e9)] == [0.0, 0.0]


def test_pauses_double_up_to_the_longest() -> None:
    assert [backoff(n, 0.0, 0.0) for n in (1, 2, 3, 4, 100_000)] == [0.5, 1.0, 2.0, 4.0, 4.0]


def test_jitter_takes_away_up_to_a_half() -> None:
    assert [backoff(9, 0.0, jitter) for jitter in (0.5, 1.0)] == [3.0, 2.0]


@pytest.mark.parametrize(("asked", "expected"), [(0.1, 0.5), (3.0, 3.0), (60.0, 30.0)])
def test_the_server_may_ask_for_longer_within_the_limit(asked: float, expected: float) -> None:
    assert expected == backoff(1, asked, 0.0)


# The log


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


# The timetable that holds is the newest good one that the API server gave


FIRST = timetable_text(COURSE)
EDITED = timetable_text(COURSE, NEXT)
BROKEN = '{"version": 9}'


class Texts:
    """What the server says; an error is raised."""

    def __init__(self, server: str | ApiError) -> None:
        self.server = server
        self.overrides = ""
        self.lines: list[str] = []
        self.source = TimetableSource("course", self._ask, Log(self.lines.append, lambda: 0.0, "course"))

    def _ask(self) -> TimetableText:
        if isinstance(self.server, ApiError):
            raise self.server
        return TimetableText(self.server, self.overrides)

    def occurrences(self) -> int | None:
        """How many the timetable has after a look; tells timetables apart."""
        self.source.refresh()
        return len(self.source.timetable.occurrences) if self.source.timetable else None

    def told(self) -> list[tuple[str, str]]:
        lines = [json.loads(line) for line in self.lines]
        return [(line["event"], line.get("message") or line.get("subject", "")) for line in lines]


def test_what_is_malformed_changes_nothing_and_is_told_once() -> None:
    texts = Texts(FIRST)
    texts.occurrences()
    texts.server = BROKEN
    message = "version: 9 is not supported; this version of Berth reads 1"

    assert [texts.occurrences() for _ in range(3)] == [1, 1, 1]
    assert [("timetable", ""), ("failed", message)] == texts.told()

    texts.server = EDITED

    assert texts.occurrences() == 2
    assert texts.told()[-1] == ("recovered", "timetable")


def test_the_timetable_of_another_reservation_is_refused() -> None:
    texts = Texts(FIRST.replace('"reservation": "course"', '"reservation": "other"'))

    assert texts.occurrences() is None
    assert texts.told() == [("failed", "reservation: 'other' is not 'course'")]


def test_a_text_that_only_looks_different_is_no_edit() -> None:
    texts = Texts(FIRST)
    texts.occurrences()
    before = texts.source.timetable
    texts.server = json.dumps(json.loads(FIRST), indent=1)

    assert texts.occurrences() == 1
    assert before == texts.source.timetable
    assert texts.told() == [("timetable", "")]


def test_overrides_come_from_the_server_and_stay_while_it_is_silent() -> None:
    texts = Texts(FIRST)
    texts.overrides = '{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}'
    texts.occurrences()
    texts.server = no_answer()
    texts.occurrences()

    assert texts.source.overrides == {"small": Override(60, at("12:00"))}

    texts.server, texts.overrides = FIRST, ""
    texts.occurrences()

    assert texts.source.overrides == {}


def test_a_malformed_override_is_told_once_and_overrides_nothing() -> None:
    texts = Texts(FIRST)
    texts.overrides = "60"

    assert [texts.occurrences() for _ in range(3)] == [1, 1, 1]
    assert texts.source.overrides == {}
    assert texts.told() == [("failed", "berth.dev/override: 60 is not an object"), ("timetable", "")]


def test_an_override_of_a_class_that_there_is_not_is_told_once_and_the_others_hold() -> None:
    texts = Texts(FIRST)
    until = '"until": "2026-02-02T12:00:00Z"'
    texts.overrides = f'{{"smal": {{"target": 9, {until}}}, "small": {{"target": 60, {until}}}}}'

    assert [texts.occurrences() for _ in range(3)] == [1, 1, 1]
    assert texts.source.overrides["small"] == Override(60, at("12:00"))
    told = [line for line in map(json.loads, texts.lines) if line["event"] == "failed"]
    assert [line["message"] for line in told] == [
        "berth.dev/override: no class smal in this reservation, which has small"
    ]


def test_an_override_counts_though_the_timetable_is_malformed() -> None:
    texts = Texts(BROKEN)
    texts.overrides = '{"small": {"target": 60, "until": "2026-02-02T12:00:00Z"}}'

    assert texts.occurrences() is None
    assert texts.source.overrides == {"small": Override(60, at("12:00"))}
