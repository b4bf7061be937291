"""One occurrence in several rows: its classes open one after the other, and an entry has another behavior."""

import pytest
from berth.core.timetable import parse_timetable

from tests.leading import CASES, part_of
from tests.runtime.world import World

MONDAY, FRIDAY = "course/2026-02-02T10:00", "course/2026-02-06T10:00"
TODAY = "2026-02-02"


@pytest.fixture
def text() -> str:
    """The timetable of the first case: its GPU class opens at 07:30, the other at 08:30; 09:00 to 11:00."""
    _, found = part_of(CASES[0])
    return found


def friday_today(text: str) -> str:
    """The same, a few days earlier: clocks of these tests show one day only."""
    return text.replace(TODAY, "2026-01-29").replace("2026-02-06", TODAY)


def writes(world: World) -> dict[str, list[tuple[str, int]]]:
    return {
        pool: [(when, to) for when, name, to in world.writes if name == pool] for pool in ("gpu", "small")
    }


def test_one_run_opens_the_gpu_class_an_hour_before_the_other(text: str) -> None:
    world = World("07:29:07", text, gpu=0, small=0)
    world.sessions(gpu={}, small={})
    world.plan("10:00", lambda: world.sessions(gpu={MONDAY: 3}, small={MONDAY: 4}))

    assert world.run() == 0
    assert writes(world) == {
        "gpu": [("07:30:00", 8), ("10:00:00", 5), ("11:00:00", 0)],
        "small": [("08:30:00", 20), ("10:00:00", 16), ("11:00:00", 0)],
    }
    assert [line["occurrence"] for line in world.told("open")] == [MONDAY]
    (record,) = world.cluster.records()
    assert record["promised"] == {"gpu": 8, "small": 20}
    assert record["sessionsPeak"] == {"gpu": 3, "small": 4}


def test_on_fridays_the_same_pools_scale_down_as_time_passes(text: str) -> None:
    world = World("07:29:07", friday_today(text), gpu=0, small=0)
    (friday,) = {row.id for row in parse_timetable(friday_today(text)).occurrences if row.behavior}
    world.sessions(gpu={friday: 3}, small={friday: 4})

    assert world.run() == 0
    found = writes(world)
    assert found["gpu"][0] == ("07:30:00", 5)
    assert [to for _, to in found["gpu"]] == [5, 4, 3, 2, 1, 0]
    assert [to for _, to in found["small"]] == [*range(16, -1, -1)]
