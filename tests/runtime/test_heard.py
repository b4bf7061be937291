"""What is heard of sessions is used where it is about the same timetable, and else waited for a while."""

import pytest
from berth.runtime.reports import CountReport, ReportTracker, SharedState

NOW = 1000.0
ASKING = ("course/1",)


def hear(told: SharedState | None, after: float = 0.0, reports: ReportTracker | None = None) -> CountReport:
    """`after` so many seconds of waiting."""
    reports = reports or ReportTracker()
    reports.sessions(told, "small", ASKING, "v1", NOW - after)
    return reports.sessions(told, "small", ASKING, "v1", NOW)


@pytest.mark.parametrize("after", [0.0, 100.0])
@pytest.mark.parametrize("counts", [{"course/1": 3}, {"course/1": 3, "course/2": 5}, None])
def test_what_is_known_is_used_at_once(counts: dict[str, int] | None, after: float) -> None:
    assert hear(SharedState(NOW, "v1", {"small": counts}), after) == CountReport(False, counts)


@pytest.mark.parametrize(
    ("told", "later"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param(SharedState(NOW - 61, "v1", {"small": {"course/1": 3}}), None, id="too-long-ago"),
        pytest.param(SharedState(NOW + 61, "v1", {"small": {"course/1": 3}}), None, id="from-the-future"),
        pytest.param(SharedState(NOW, "v1", {}), None, id="not-this-class"),
        pytest.param(SharedState(NOW, "v1", {"small": {}}), {}, id="not-this-occurrence"),
        pytest.param(
            SharedState(NOW, "v0", {"small": {"course/1": 3}}), {"course/1": 3}, id="by-another-timetable"
        ),
    ],
)
def test_what_is_not_known_is_waited_for_ten_seconds(
    told: SharedState | None, later: dict[str, int] | None
) -> None:
    assert [hear(told, after).is_awaited for after in (0.0, 9.9)] == [True, True]
    assert hear(told, 10.0) == CountReport(False, later)


def test_who_has_waited_before_does_not_wait_again() -> None:
    """Once it was known, a scaler that is not believed any more is not waited for."""
    reports = ReportTracker()
    reports.sessions(
        SharedState(NOW - 100, "v1", {"small": {"course/1": 3}}), "small", ASKING, "v1", NOW - 100
    )

    assert reports.sessions(None, "small", ASKING, "v1", NOW) == CountReport(False)


def test_another_occurrence_or_timetable_is_waited_for_anew() -> None:
    reports = ReportTracker()
    hear(None, 100.0, reports)

    assert reports.sessions(None, "small", ("course/1", "course/2"), "v1", NOW).is_awaited
    assert reports.sessions(None, "small", ("course/1", "course/2"), "v2", NOW).is_awaited


def test_each_class_waits_for_itself() -> None:
    reports = ReportTracker()
    hear(None, 100.0, reports)

    assert reports.sessions(None, "huge", ASKING, "v1", NOW).is_awaited
    assert not reports.sessions(None, "small", ASKING, "v1", NOW).is_awaited


def test_a_clock_set_back_does_not_prolong_the_wait() -> None:
    reports = ReportTracker()
    reports.sessions(None, "small", ASKING, "v1", NOW)

    assert not reports.sessions(None, "small", ASKING, "v1", NOW - 1).is_awaited
