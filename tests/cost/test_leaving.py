"""When machines go that nobody is on: by the budgets of their NodePool, and by their age."""

from typing import Any

import pytest
from berth.cost.results import SimulationRun

from tests.cost.stories import HOUR, SMALL, cloud, demand, run, told

END = 12 * HOUR


def budgets(*said: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"disruption": {"budgets": said} if said else {}, **more}


def gone(found: SimulationRun, since: int = END) -> list[int]:
    """When each machine has gone, in seconds since then."""
    last: dict[int, int] = {}
    for interval in found.intervals:
        last[interval.machine] = max(interval.until, last.get(interval.machine, 0))
    return [last[number] - since for number in sorted(last)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (({"nodes": "100%"},), [60] * 5),
        ((), [60, 85, 110, 135, 160]),
        (({"nodes": "40%"},), [60, 60, 85, 85, 110]),
        (({"nodes": "2"},), [60, 60, 85, 85, 110]),
        (({"nodes": "40%"}, {"nodes": "1"}), [60, 85, 110, 135, 160]),
        (({"nodes": "0", "reasons": ("Drifted",)}, {"nodes": "5"}), [60] * 5),
    ],
    ids=["all", "ten-per-cent-unless-said", "rounded-up", "a-number", "the-smallest", "of-another-reason"],
)
def test_a_budget_lets_so_many_go_in_each_round(
    said: tuple[dict[str, Any], ...], expected: list[int]
) -> None:
    """Rounds are 25 seconds apart. Of a percentage it is the nodes that are left then."""
    assert gone(run([cloud("m5.large", **budgets(*said))], [demand("ml", "8-12=5")])) == expected


def test_ten_per_cent_of_23_machines_take_sixteen_rounds() -> None:
    """Three of 23 and of 20, two of 17 to 11, one of 10 and fewer; machines with seats count too."""
    found = gone(run([cloud("m5.large", disruption={})], [demand("ml", "8-12=23")]))

    assert (len(found), max(found)) == (23, 60 + 25 * 15)


def test_a_budget_of_its_own_holds_nodes_until_its_hours_are_over() -> None:
    """They are used meanwhile by who comes."""
    early = {"nodes": "0", "schedule": "0 6 * * *", "duration": "14h"}
    one = cloud("m5.large", **budgets(early, {"nodes": "100%"}))

    assert told(run([one], [demand("ml", "8-10=2"), demand("stats", "15-16=1")]).intervals) == [
        "0 on-demand m5.large 8:00-15:00 ml 1",
        "0 on-demand m5.large 15:00-20:01 stats 1",
        "1 on-demand m5.large 8:00-20:01 ml 1",
    ]
    assert gone(run([one], [demand("ml", "8-21=1")]), 21 * HOUR) == [60]


@pytest.mark.parametrize(
    "said",
    [
        ({"nodes": "0"},),
        ({"nodes": "0%", "reasons": ("Empty",)},),
        ({"nodes": "0", "schedule": "@daily", "duration": "24h"},),
    ],
    ids=["always", "no-empty-one", "one-day-after-the-other"],
)
def test_what_budgets_hold_for_ever_goes_as_it_expires(said: tuple[dict[str, Any], ...]) -> None:
    one = cloud("m5.large", **budgets(*said))
    demands = [demand("ml", "8-12=1"), demand("late", "40-41=1")]

    assert told(run([one], demands, expire_after={"general": 24 * HOUR}).intervals) == [
        "0 on-demand m5.large 8:00-32:01 ml 1",
        "1 on-demand m5.large 40:00-64:01 late 1",
    ]
    assert told(run([one], demands).intervals) == [
        "0 on-demand m5.large 8:00-40:00 ml 1",
        "0 on-demand m5.large 40:00-41:00 late 1",
    ]


def test_an_expired_machine_with_seats_is_replaced_and_its_age_begins_anew() -> None:
    found = run(
        [cloud("m5.large")],
        [demand("ml", "8-40=1")],
        consolidate_after={"general": None},
        expire_after={"general": 24 * HOUR},
    )

    assert told(found.intervals) == ["0 on-demand m5.large 8:00-56:01 ml 1"]


def test_expiry_waits_for_no_window_and_for_no_budget() -> None:
    """The first is empty since ten, and old at noon of the next day."""
    demands = [demand("a", "8-10=1"), demand("b", "9-50=1")]
    one = cloud("m5.large", **budgets({"nodes": "0"}))

    assert gone(run([one], demands, expire_after={"general": 28 * HOUR}), 0) == [
        36 * HOUR + 60,
        65 * HOUR + 60,
    ]


def test_a_round_goes_on_where_it_was_when_something_else_happens() -> None:
    """Windows of another capacity are steps too."""
    slow = cloud("m5.large", disruption={})
    other = cloud("m5.large", name="other")
    classes = [SMALL, SMALL._replace(name="b", cloud_capacity=("other",))]
    minutes = [demand(f"n{n}", f"{12 + n / 60}-14=1", of="b") for n in range(1, 5)]
    found = run([slow, other], [demand("ml", "8-12=12"), *minutes], classes)

    assert gone(found)[:12] == gone(run([slow], [demand("ml", "8-12=12")]))
