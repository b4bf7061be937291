"""The offsets of a zone are those of its local times, in every minute."""

from random import Random

import pytest
from berth.dates.moments import named
from berth.dates.zone import DAY, known, local
from berth.webcalendar.zoneoffsets import zone_offsets

YEAR = 365 * DAY
FIRST = 20_454 * DAY  # 2026-01-01


@pytest.mark.parametrize("seed", range(30))
def test_each_minute_has_the_offset_of_its_local_time(seed: int) -> None:
    random = Random(seed)
    zone = named(random.choice(known()))
    first = FIRST + random.randrange(YEAR)
    until = first + random.randrange(1, YEAR)

    offsets = zone_offsets(zone, first, until).offsets

    assert offsets[0] == first
    changes = dict(zip(offsets[::2], offsets[1::2], strict=True))
    every = [random.randrange(first, until) for _ in range(200)]
    near = [at + step for at in changes for step in (-1, 0, 1) if first <= at + step < until]
    for minute in every + near:
        assert changes[max(at for at in changes if at <= minute)] == local(zone, minute * 60) - minute


def test_a_zone_without_summer_time_has_one_offset() -> None:
    assert zone_offsets(named("Asia/Kolkata"), FIRST, FIRST + YEAR).offsets == (FIRST, 330)
