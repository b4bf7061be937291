"""Rehearsals: when they are, what is refused, and that they change nothing of the course."""

import json
from datetime import date, timedelta

import pytest
from berth.core.jsonvalues import instant_text, parse_instant
from berth.dates.recurrence import expand
from berth.pipeline import Item, Pipeline
from berth.reading.source import Source
from berth.schema.counts import Portion
from berth.schema.rehearsalspec import DatedRehearsal, RehearsalSpec, RehearsalTime
from berth.schema.values import Recurrence
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import cases
from tests.dates.anyrecurrence import EXAMPLES, recurrences
from tests.saying import Value, lines, reservation, resource_class, site, weekly

NOW = parse_instant("2026-01-01T00:00:00Z")
DAILY = {"daysBefore": 7, "startTime": "06:00"}
EARLIER = {"date": "2026-02-02", "startTime": "06:00"}


def read(course: Value, *others: Value) -> tuple[Item, list[str]]:
    documents = course, site(), resource_class(), *others
    sources = [
        Source(f"{name}.yaml", json.dumps(document).encode())
        for name, document in zip("abcd", documents, strict=False)
    ]
    pipeline = Pipeline(sources=sources)
    (item,) = pipeline.items(now=NOW)
    return item, lines(item.problems)


def course(*, provisioning: Value | None = None, **recurrence: object) -> Value:
    usual = {"placeholderCount": 25, "scaleDownBehavior": "none"}
    return reservation(recurrence=weekly(**recurrence), provisioning=usual | (provisioning or {}))


def single(**more: object) -> Value:
    return {"date": "2026-02-09", "at": EARLIER, **more}


def rehearsed(item: Item) -> list[tuple[str, str, str, int]]:
    """The id of each rehearsal, without the name of the course, its times and its seats."""
    return [
        (
            rehearsal.id.partition("/")[2],
            instant_text(rehearsal.open),
            instant_text(rehearsal.end),
            rehearsal.seats[0][1],
        )
        for rehearsal in item.expansion.rehearsals
    ]


def test_a_rule_rehearses_each_date_for_its_lead() -> None:
    item, problems = read(course(provisioning={"rehearsal": DAILY, "leadTimeMinutes": 45}))

    assert problems == []
    assert rehearsed(item)[:2] == [
        ("2026-02-02T09:00/rehearsal", "2026-01-26T06:00:00Z", "2026-01-26T06:45:00Z", 25),
        ("2026-02-09T09:00/rehearsal", "2026-02-02T06:00:00Z", "2026-02-02T06:45:00Z", 25),
    ]
    assert len(item.expansion.windows) == len(item.expansion.occurrences) + 4


def test_no_rehearsal_happens_while_the_site_is_closed() -> None:
    closure = {"kind": "Calendar", "metadata": {"name": "closure"}}
    closed = {
        **closure,
        "apiVersion": "berth.dev/v1alpha1",
        "spec": {"closes": True, "dates": ["2026-02-02"]},
    }
    plain = course(provisioning={"rehearsal": DAILY}, startDate="2026-02-09")
    item, problems = read(plain, closed)

    assert [line.split(":")[0] for line in problems] == ["B059 spec.provisioning.rehearsal"]
    assert "2026-02-09T09:00/rehearsal" not in [name for name, *_ in rehearsed(item)]


def test_a_line_wins_over_provisioning_and_a_date_over_both() -> None:
    line = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
    item, problems = read(
        course(
            provisioning={"rehearsal": DAILY},
            schedule=[{**line, "rehearsal": {"daysBefore": 1, "startTime": "20:00", "seats": "50%"}}],
            rehearsals=[single(seats=3)],
        )
    )

    assert problems == []
    assert rehearsed(item)[:2] == [
        ("2026-02-02T09:00/rehearsal", "2026-02-01T20:00:00Z", "2026-02-01T20:30:00Z", 13),
        ("2026-02-09T09:00/rehearsal", "2026-02-02T06:00:00Z", "2026-02-02T06:30:00Z", 3),
    ]


def test_a_date_that_was_moved_is_named_by_its_original_date() -> None:
    moved = [{"date": "2026-02-09", "to": {"date": "2026-02-10"}}]
    item, problems = read(course(moved=moved, rehearsals=[single()]))

    assert problems == []
    assert [rehearsal.rehearses for rehearsal in item.expansion.rehearsals] == ["course/2026-02-09T09:00"]


TWICE = [
    {"dayOfWeek": 1, "startTime": "09:00", "endTime": "10:00"},
    {"dayOfWeek": 1, "startTime": "14:00", "endTime": "15:00"},
]
REHEARSALS = "spec.recurrence.rehearsals.0"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param({"rehearsals": [single(date="2026-02-10")]}, f"B045 {REHEARSALS}.date", id="no-date"),
        pytest.param({"rehearsals": [single(startTime="10:00")]}, f"B045 {REHEARSALS}.date", id="no-start"),
        pytest.param({"schedule": TWICE, "rehearsals": [single()]}, f"B047 {REHEARSALS}", id="which-one"),
        pytest.param(
            {"rehearsals": [single(), single(seats=3)]}, "B048 spec.recurrence.rehearsals.1", id="twice"
        ),
        pytest.param(
            {"except": ["2026-02-09"], "rehearsals": [single()]}, f"B053 {REHEARSALS}", id="left-out"
        ),
        pytest.param(
            {"rehearsals": [single(at={"date": "2026-02-09", "startTime": "08:15"})]},
            f"B051 {REHEARSALS}.at",
            id="too-late",
        ),
        pytest.param(
            {"rehearsals": [single()], "provisioning": {"leadTimeMinutes": 0}},
            f"B051 {REHEARSALS}.at",
            id="no-lead",
        ),
        pytest.param({"rehearsals": [single(seats=26)]}, f"B052 {REHEARSALS}.seats", id="too-many-seats"),
        pytest.param(
            {"provisioning": {"rehearsal": DAILY | {"daysBefore": 0, "startTime": "09:00"}}},
            "B051 spec.provisioning.rehearsal",
            id="rule-too-late",
        ),
        pytest.param(
            {"rehearsals": [single()], "provisioning": {"overlap": "max"}, "schedule": [TWICE[0]]},
            "",
            id="fits",
        ),
        pytest.param(
            {
                "rehearsals": [single(date="2026-02-16", at={"date": "2026-02-09", "startTime": "12:00"})],
                "provisioning": {"overlap": "max"},
            },
            f"B130 {REHEARSALS}.at",
            id="proves-nothing",
        ),
        pytest.param(
            {"rehearsals": [single(date="2026-02-16", at={"date": "2026-02-09", "startTime": "12:00"})]},
            "",
            id="adds-up",
        ),
    ],
)
def test_what_is_wrong_with_a_rehearsal_is_told_at_its_place(said: dict[str, object], expected: str) -> None:
    provisioning = said.get("provisioning")
    assert provisioning is None or isinstance(provisioning, dict)
    recurrence = {key: value for key, value in said.items() if key != "provisioning"}
    _, problems = read(course(provisioning=provisioning, **recurrence))

    assert problems == ([expected] if expected else [])


@st.composite
def rehearsed_recurrences(draw: st.DrawFn) -> tuple[Recurrence, RehearsalSpec | None]:
    """A recurrence, perhaps with single rehearsals of days on which it may happen, and perhaps a rule."""
    when = draw(recurrences())
    portion = draw(
        st.builds(Portion, st.integers(1, 100), st.none())
        | st.builds(Portion, st.just(100), st.integers(1, 30))
    )
    rule = RehearsalSpec.model_construct(
        days_before=draw(st.integers(0, 60)), start_time=draw(st.integers(0, 1439)), seats=portion
    )
    first = when.first or (when.dates[0][0] if when.dates else date(2026, 1, 1))
    days = draw(st.lists(st.integers(0, 60), max_size=4))
    found = tuple(
        DatedRehearsal.model_construct(
            day=first + timedelta(days=day),
            at=RehearsalTime.model_construct(
                day=first - timedelta(days=draw(st.integers(0, 30))), start_time=360
            ),
            seats=portion,
        )
        for day in days
    )
    return when._replace(rehearsals=found), draw(st.sampled_from([rule, None]))


@EXAMPLES
@given(rehearsed_recurrences(), st.integers(0, 1440))
def test_rehearsals_change_nothing_of_the_course(
    declared: tuple[Recurrence, RehearsalSpec | None], lead: int
) -> None:
    when, rule = declared
    plain = cases.reservation(when._replace(rehearsals=()), lead=lead)
    provisioning = plain.spec.provisioning.model_copy(update={"rehearsal": rule})
    spec = plain.spec.model_copy(update={"provisioning": provisioning})
    expansion = expand(plain._replace(spec=spec, recurrence=when), {})
    assume(not any(problem.code == "B044" for problem in expansion.problems))
    usual = expand(plain, {})

    assert (expansion.occurrences, expansion.skipped) == (usual.occurrences, usual.skipped)
    assert {*usual.problems} <= {*expansion.problems}
    by_id = {occurrence.id: occurrence for occurrence in expansion.occurrences}
    assume(len(by_id) == len(expansion.occurrences))
    assert [window for window in expansion.windows if not window.rehearses] == [*expansion.occurrences]
    for rehearsal in expansion.rehearsals:
        rehearsed = by_id[rehearsal.rehearses]
        assert rehearsal.end <= rehearsed.open
        assert rehearsal.end - rehearsal.open == rehearsed.start - rehearsed.open > 0
        assert all(0 < count <= dict(rehearsed.seats)[name] for name, count in rehearsal.seats)
        assert rehearsal.id not in by_id
