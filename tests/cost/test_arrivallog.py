"""Arrivals of earlier sessions, from logs and from records of occurrences."""

import pytest
from berth.core.record import OccurrenceRecord, record_text
from berth.cost.arrivallog import arrivals
from berth.dates.expansion import Occurrence
from berth.dates.moments import named, read

ZURICH = named("Europe/Zurich")


def at(text: str) -> int:
    found = read(f"2026-02-{text}", ZURICH)
    assert found is not None
    return found


def occurrence(day: str) -> Occurrence:
    start = at(f"{day} 09:00")
    seats = (("small", 25),)
    return Occurrence(
        "ml", f"ml/{day}", start - 1800, start, start + 7200, seats, "Europe/Zurich", (), f"2026-02-{day}"
    )


DAYS = (occurrence("02"), occurrence("09"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("2026-02-02 09:05 login", (300,), id="local-time"),
        pytest.param("[I 2026-02-02 08:59:30.123 JupyterHub] 200 POST", (-30,), id="a-log-of-jupyterhub"),
        pytest.param('{"time": "2026-02-02T08:10:00Z"}', (600,), id="utc"),
        pytest.param("2026-02-09T09:00:00+01:00", (0,), id="an-offset"),
        pytest.param("2026-02-02 07:59:59", (), id="more-than-an-hour-early"),
        pytest.param("2026-02-02 11:00:00", (), id="at-the-end"),
        pytest.param("2026-02-30 09:00:00", (), id="no-such-date"),
        pytest.param("no instant", (), id="no-instant"),
    ],
)
def test_each_line_with_an_instant_is_an_arrival(line: str, expected: tuple[int, ...]) -> None:
    assert arrivals(line, DAYS, "small", ZURICH) == expected


def test_arrivals_of_all_occurrences_are_sorted() -> None:
    text = "2026-02-09 09:10\n2026-02-02 09:05\n"

    assert arrivals(text, DAYS, "small", ZURICH) == (300, 600)


def test_a_target_that_falls_before_the_end_means_arrivals() -> None:
    points = ((at("02 08:30"), 25), (at("02 09:01"), 23), (at("02 09:04"), 24), (at("02 11:00"), 0))
    records = [
        OccurrenceRecord("ml/02", {"small": 25}, None, {}, {"small": points, "gpu": points}),
        OccurrenceRecord("other/02", {"small": 25}, None, {}, {"small": points}),
    ]

    assert arrivals(record_text(records), DAYS, "small", ZURICH) == (60, 60)
    assert arrivals("[not a record", DAYS, "small", ZURICH) == ()
