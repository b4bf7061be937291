"""Leads and behaviors of entries and classes: tests/cases/leads.yaml, and what pods make of them."""

import pytest
from berth.checks.ceilings import promised, window_steps
from berth.core.jsonvalues import parse_instant
from berth.core.target import open_now, pool_target
from berth.core.timetable import Timetable, TimetableOccurrence, parse_timetable

from tests.leading import CASES, Case, part_of


def rows_of(case: Case) -> list[TimetableOccurrence]:
    occurrences = []
    for row in case["rows"]:
        opens, start, end = (
            parse_instant(f"{text if 'T' in text else row['day'] + 'T' + text}:00Z")
            for text in (row["open"], row["start"], row["end"])
        )
        seats = tuple(row["seats"].items())
        occurrences.append(TimetableOccurrence("", opens, start, end, seats, row.get("behavior", "")))
    return occurrences


def targets(timetable: Timetable, now: int, sessions: dict[str, int]) -> dict[str, int]:
    """The target of each pool, if so many sessions of its class count for what is open."""
    opened = [item.id for item in open_now(timetable.occurrences, now)]
    return {
        pool.resource_class: pool_target(
            timetable, pool, now, dict.fromkeys(opened, sessions.get(pool.resource_class, 0))
        ).replicas
        for pool in timetable.pools
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"].lower())
def test_every_case_has_the_expected_rows_and_targets(case: Case) -> None:
    part, text = part_of(case)
    timetable = parse_timetable(text)

    assert {pool.resource_class: pool.behavior for pool in timetable.pools} == case["pools"]
    assert [row._replace(id="") for row in timetable.occurrences] == rows_of(case)
    assert list(part.schedules) == case.get("schedules", list(part.schedules))
    for row in case["targets"]:
        expected = {name: row[name] for name in case["pools"]}
        assert expected == targets(timetable, parse_instant(f"{row['at']}:00Z"), row.get("sessions", {})), row


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"].lower())
def test_ceiling_steps_equal_the_seats_that_the_pools_hold(case: Case) -> None:
    part, text = part_of(case)
    timetable = parse_timetable(text)
    for pool in timetable.pools:
        steps = window_steps(pool, part.occurrences)
        level = 0
        for minute, change in zip(steps[::2], steps[1::2], strict=True):
            level += change
            assert level == promised(pool, timetable.occurrences, minute * 60)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"].lower())
def test_each_occurrence_opens_with_the_first_of_its_rows(case: Case) -> None:
    """Later ones of the same occurrence open while its Job runs."""
    part, text = part_of(case)
    rows = parse_timetable(text).occurrences
    firsts = {occurrence.id: min(row.open for row in rows if row.id == occurrence.id) for occurrence in rows}

    assert firsts == {occurrence.id: occurrence.open for occurrence in part.occurrences}
