"""Seats, machines and money in days, weeks or months, whichever are few enough to see."""

from berth.cost.costplan import PlanFilter
from berth.cost.timeseries import PlanSeries, plan_series
from berth.dates.moments import named

from tests.cost.stories import HOUR, cloud, demand, planned, reservation

DAY = 24
UTC = named("UTC")
ALL = PlanFilter()


def shown(*windows: str, asked: PlanFilter = ALL, days: int) -> PlanSeries:
    held = (reservation("cr-1", "m5.large", 1),)
    one = planned(
        [cloud("m5.large", capacity_types=("reserved", "on-demand"), reservations=held)],
        [demand("ml", *windows), demand("stats", "9-10=1")],
    )
    return plan_series([one], asked, (0, days * DAY * HOUR), UTC)


def test_a_few_days_are_days() -> None:
    """An hour of m5.large is 0.096: four seats of six hours and a minute, but one that is reserved."""
    found = shown("8-14=4", "32-33=2", days=3)

    assert found == PlanSeries(
        "day",
        ("01-01", "01-02", "01-03"),
        (5, 2, 0),
        ((1, 4, 0), (1, 1, 0), (0, 0, 0)),
        (0, 0, 1),
        ((0.0, 2.21, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.0)),
    )


def test_a_term_is_weeks_from_monday_on() -> None:
    """The epoch was a Thursday."""
    found = shown("8-14=4", days=40)

    assert (found.unit, found.bins) == (
        "week",
        ("12-29", "01-05", "01-12", "01-19", "01-26", "02-02", "02-09"),
    )
    assert found.seats == (5, 0, 0, 0, 0, 0, 0)


def test_years_are_months() -> None:
    found = shown("8-14=4", days=500)

    assert (found.unit, found.bins[:2], len(found.bins)) == ("month", ("1970-01", "1970-02"), 17)


def test_with_names_only_their_seats_and_machines_are_shown() -> None:
    found = shown("8-14=4", asked=PlanFilter(names=frozenset({"stats"})), days=1)

    assert (found.seats, found.machines, found.idle) == ((1,), ((0, 1, 0),), (0,))


def test_whole_nodes_are_machines_and_no_seats() -> None:
    one = planned([cloud("m5.large")], [demand("ml", "8-10=2"), demand("lab", "8-10=3", nodes=True)])
    found = plan_series([one], ALL, (0, DAY * HOUR), UTC)

    assert (found.seats, found.machines) == ((2,), ((0, 5, 0),))
