"""Profiles and the behavior `buffer`, from the file that people write to the target of the pool."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.core.jsonvalues import TimetableError
from berth.core.target import next_change, pool_target
from berth.core.timetable import Timetable, parse_timetable

from tests.leading import part_of

Case = dict[str, Any]
CASES: Case = yaml.load(
    (Path(__file__).parent / "cases/buffers.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
PROFILE: Case = CASES["profile"]
STEPS = [
    {"at": f"{step['at']}m" if step["at"] else 0, "percent": step["percent"]} for step in PROFILE["steps"]
]
SCHEDULE = [{"dayOfWeek": "mon", "startTime": "09:00", "endTime": "11:00"}]
RECURRENCE = {"type": "weekly", "startDate": "2026-02-02", "endDate": "2026-02-02", "schedule": SCHEDULE}


def course(**provisioning: object) -> Case:
    """A course on one Monday, from 09:00 to 11:00 with half an hour of lead."""
    return {
        "course": {
            "resourceClass": "small",
            "recurrence": RECURRENCE,
            "provisioning": {"leadTimeMinutes": 30, **provisioning},
        }
    }


def timetable(**provisioning: object) -> tuple[Timetable, str]:
    _, text = part_of(course(**provisioning))
    return parse_timetable(text), text


def target_of(case: Case, **provisioning: object) -> int:
    """The target of the pool at the case's minute, with all its sessions in the only occurrence."""
    found, _ = timetable(placeholderCount=case["count"], **provisioning)
    (item,), (pool,) = found.occurrences, found.pools
    now = item.start + 60 * case["now"]
    return pool_target(found, pool, now, {item.id: case["active"]}).replicas


def name_of(case: Case) -> str:
    keys = ("behavior", "percent", "active", "now")
    return "-".join(f"{key}-{case[key]}" for key in keys if key in case).lower()


@pytest.mark.parametrize("case", CASES["buffer"], ids=name_of)
def test_a_buffer_follows_the_sessions(case: Case) -> None:
    buffer = {key: case[key] for key in ("percent", "minimum")}

    assert target_of(case, scaleDownBehavior="buffer", buffer=buffer) == case["target"]


@pytest.mark.parametrize("case", PROFILE["cases"], ids=name_of)
def test_a_profile_holds_its_share_from_each_step_on(case: Case) -> None:
    assert target_of(case, scaleDownBehavior=case["behavior"], profile=STEPS) == case["target"]


def test_the_timetable_has_whole_seats_and_the_most_of_them() -> None:
    """Sessions fill an occurrence up to its highest step, and pods that know no steps hold that much."""
    found, text = timetable(placeholderCount=25, profile=STEPS[:1])
    (item,) = found.occurrences

    assert item.seats == (("small", 8),)
    assert '"seats": {"small": 8}, "steps": {"small": [[-30, 8]]}' in text


@pytest.mark.parametrize(
    ("provisioning", "version"),
    [
        ({}, 1),
        ({"profile": STEPS}, 4),
        ({"scaleDownBehavior": "buffer", "buffer": {"percent": 20, "minimum": 5}}, 4),
    ],
    ids=["plain", "profile", "buffer"],
)
def test_older_pods_reject_what_they_would_misread(provisioning: Case, version: int) -> None:
    """They keep the timetable that they have."""
    _, text = timetable(placeholderCount=25, **provisioning)

    assert f'"version": {version},' in text


def test_a_profile_keeps_every_date_and_opening() -> None:
    plain, _ = timetable(placeholderCount=25)
    stepped, _ = timetable(placeholderCount=25, profile=STEPS)

    assert tuple(item._replace(steps=()) for item in stepped.occurrences) == plain.occurrences


def test_each_step_is_an_instant_at_which_the_scaler_looks() -> None:
    found, _ = timetable(placeholderCount=25, profile=STEPS)
    (item,) = found.occurrences
    now, seen = item.open - 1, []
    while (after := next_change(found.occurrences, now)) is not None:
        now = after
        seen.append((now - item.start) // 60)

    assert seen == [-30, 0, 60, 120]


def test_without_sessions_a_buffered_pool_gets_all_seats() -> None:
    """Nobody could count them: never fewer seats than promised because of that."""
    found, _ = timetable(
        placeholderCount=25, scaleDownBehavior="buffer", buffer={"percent": 20, "minimum": 5}
    )
    (item,), (pool,) = found.occurrences, found.pools

    assert pool_target(found, pool, item.start, None).replicas == 25


def test_seat_hours_are_those_of_the_steps() -> None:
    """8 seats for 30 minutes, 25 for an hour, 14 for the other hour."""
    part, _ = part_of(course(placeholderCount=25, profile=STEPS))
    (occurrence,) = part.occurrences

    assert occurrence.seat_seconds(part.placed.reservation.profile) == 60 * (8 * 30 + 25 * 60 + 14 * 60)


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("[-30, 8]", "[-30]", "occurrences[0].steps.small[0]"),
        ("[-30, 8]", '["-30", 8]', "occurrences[0].steps.small[0]"),
        ("[-30, 8]", "[-30, -8]", "occurrences[0].steps.small[0]"),
        ('"percent": 20', '"percent": -20', "pools.small.buffer.percent"),
        ('"buffer": {', '"buffed": {', "pools.small.buffer"),
    ],
    ids=["no-count", "minute-as-text", "negative-count", "negative-percent", "no-buffer"],
)
def test_malformed_numbers_are_refused_with_their_place(before: str, after: str, place: str) -> None:
    _, text = timetable(
        placeholderCount=25,
        profile=STEPS,
        scaleDownBehavior="buffer",
        buffer={"percent": 20, "minimum": 5},
    )
    with pytest.raises(TimetableError) as refused:
        parse_timetable(text.replace(before, after, 1))

    assert str(refused.value).startswith(f"{place}: ")
