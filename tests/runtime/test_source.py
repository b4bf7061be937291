"""The timetable that holds is the newest good one that the API server gave."""

import json

from berth.core.timetable import Override
from berth.runtime.apiclient import ApiError, TimetableText
from berth.runtime.program import Log, TimetableSource

from tests.objectstore import no_answer
from tests.runtime.world import COURSE, NEXT, at, timetable_text

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


def test_the_server_is_believed() -> None:
    texts = Texts(EDITED)

    assert texts.source.refresh()
    assert texts.occurrences() == 2
    assert texts.told() == [("timetable", "")]


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


def test_without_an_answer_there_is_no_timetable() -> None:
    texts = Texts(no_answer())

    assert texts.occurrences() is None

    texts.server = FIRST

    assert texts.occurrences() == 1
    assert texts.told()[-1] == ("recovered", "timetable")


def test_an_empty_text_is_malformed() -> None:
    texts = Texts("")

    assert texts.occurrences() is None
    assert [event for event, _ in texts.told()] == ["failed"]


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
