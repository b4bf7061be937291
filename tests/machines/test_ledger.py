"""Who pays: to the second, by the seats on a machine; and what of reserved machines stays idle."""

from decimal import Decimal

import pytest
from berth.dates.moments import named, read
from berth.machines import costplan
from berth.machines.costplan import ReservedUsage, TimeRange, month_splitter
from berth.machines.overtime import PoolKey, dollars
from berth.schema.nodepoolparts import PoolRequirement

from tests.built import built
from tests.machines.stories import HOUR, changed, cloud, demand, planned, reservation

A, B, C = ("a", "x"), ("b", "x"), ("c", "x")


@pytest.mark.parametrize(
    ("seconds", "payers", "expected"),
    [
        (100, [(A, 7)], [(A, 100)]),
        (100, [(A, 1), (B, 3)], [(A, 25), (B, 75)]),
        (100, [(A, 1), (B, 1), (C, 1)], [(A, 34), (B, 33), (C, 33)]),
        (10, [(A, 1), (B, 2)], [(A, 3), (B, 7)]),
        (0, [(A, 1), (B, 2)], [(A, 0), (B, 0)]),
    ],
    ids=["alone", "by-seats", "equal-remainders-by-name", "largest-remainder", "nothing"],
)
def test_seconds_are_shared_by_seats_with_largest_remainders(
    seconds: int, payers: list[tuple[PoolKey, int]], expected: list[tuple[PoolKey, int]]
) -> None:
    assert costplan.share_seconds(seconds, payers) == expected


def test_the_cost_uses_the_hourly_price_of_the_table() -> None:
    """m5.large: 0.096 an hour; four hours and a minute."""
    one = planned([cloud("m5.large")], [demand("ml", "8-12=1")])
    cost_sum = costplan.sum_lines(costplan.cost_lines(one))

    assert cost_sum.seconds == (("reserved", 0), ("on-demand", 14_460), ("spot", 0))
    assert cost_sum.bought == Decimal("0.096") * 14_460
    assert dollars(cost_sum.bought) == Decimal("0.39")


def test_without_a_price_there_is_no_sum() -> None:
    """The table is of us-east-1; spot has no price but the file's."""
    there = cloud("m5.large", requirements=(cloud("m5.large").requirements[0],))
    europe = changed(
        there,
        requirements=(
            *there.requirements,
            built(
                PoolRequirement,
                {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["eu-central-1a"]},
            ),
        ),
    )
    for one in (europe, cloud("m5.large", capacity_types=("spot",))):
        cost_sum = costplan.sum_lines(costplan.cost_lines(planned([one], [demand("ml", "8-12=1")])))
        assert cost_sum.bought is None
        assert [kind.type for kind in cost_sum.unpriced] == ["m5.large"]


def test_reserved_machines_cost_nothing_extra_and_are_paid_while_idle() -> None:
    held = reservation("cr-1", "m5.large", 2, first=0, until=24 * HOUR, hourly_price=Decimal("0.05"))
    one = planned(
        [cloud("m5.large", capacity_types=("reserved",), reservations=(held,))], [demand("ml", "8-12=1")]
    )
    (each,) = one.catalog.reserved.values()
    reserved_usage = costplan.reserved_usage(each, one.run.intervals, (8 * HOUR, 12 * HOUR), TimeRange())

    assert reserved_usage == ReservedUsage(48 * HOUR, 4 * HOUR + 60, Decimal("0.05"))
    assert (reserved_usage.money, reserved_usage.idle_money) == (
        Decimal("0.05") * 48 * HOUR,
        Decimal("0.05") * (44 * HOUR - 60),
    )
    assert costplan.sum_lines(costplan.cost_lines(one)).bought == 0


def test_a_reservation_without_dates_is_paid_for_the_term() -> None:
    held = reservation("cr-1", "m5.large", 2)
    one = planned(
        [cloud("m5.large", capacity_types=("reserved",), reservations=(held,))], [demand("ml", "8-12=1")]
    )
    (each,) = one.catalog.reserved.values()

    assert costplan.paid_span(each, (8 * HOUR, 12 * HOUR)) == (8 * HOUR, 12 * HOUR)


def test_months_are_split_in_the_given_time_zone() -> None:
    def at(text: str) -> int:
        found = read(text, named("UTC"))
        assert found is not None
        return found

    cut = month_splitter(named("Europe/Zurich"))
    spans = list(cut(at("2026-02-28 22:00"), at("2026-04-01 00:00")))

    assert spans == [
        ("2026-02", at("2026-02-28 22:00"), at("2026-02-28 23:00")),
        ("2026-03", at("2026-02-28 23:00"), at("2026-03-31 22:00")),
        ("2026-04", at("2026-03-31 22:00"), at("2026-04-01 00:00")),
    ]
