"""The behavior `buffer`, from the file that people write to the target of the pool."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from berth.core.jsonvalues import TimetableError
from berth.core.target import pool_target
from berth.core.timetable import Timetable, parse_timetable

from tests.leading import part_of

Case = dict[str, Any]
CASES: list[Case] = yaml.load(
    (Path(__file__).parent / "cases/buffers.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
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
    keys = ("percent", "active", "now")
    return "-".join(f"{key}-{case[key]}" for key in keys if key in case).lower()


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_buffer_follows_the_sessions(case: Case) -> None:
    buffer = {key: case[key] for key in ("percent", "minimum")}

    assert target_of(case, scaleDownBehavior="buffer", buffer=buffer) == case["target"]


def test_without_sessions_a_buffered_pool_gets_all_seats() -> None:
    """Nobody could count them: never fewer seats than promised because of that."""
    found, _ = timetable(
        placeholderCount=25, scaleDownBehavior="buffer", buffer={"percent": 20, "minimum": 5}
    )
    (item,), (pool,) = found.occurrences, found.pools

    assert pool_target(found, pool, item.start, None).replicas == 25


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ('"percent": 20', '"percent": -20', "pools.small.buffer.percent"),
        ('"buffer": {', '"buffed": {', "pools.small.buffer"),
    ],
    ids=["negative-percent", "no-buffer"],
)
def test_malformed_numbers_are_refused_with_their_place(before: str, after: str, place: str) -> None:
    _, text = timetable(
        placeholderCount=25,
        scaleDownBehavior="buffer",
        buffer={"percent": 20, "minimum": 5},
    )
    with pytest.raises(TimetableError) as refused:
        parse_timetable(text.replace(before, after, 1))

    assert str(refused.value).startswith(f"{place}: ")
