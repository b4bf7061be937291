"""Whatever the windows and the cloud: nothing is promised twice, nothing is paid twice, nothing is lost."""

from collections.abc import Iterator
from decimal import Decimal
from random import Random

import pytest
from berth.dates.moments import named
from berth.machines import costplan
from berth.machines.clusterplans import ClusterPlan
from berth.machines.costplan import CostLine, TimeRange, month_splitter
from berth.machines.formatting import money_json
from berth.machines.instancetypes import allocatable
from berth.machines.overtime import MachineCounts, PoolKey, SeatDemand
from berth.quantity import parse
from berth.schema.seatholders import Unit

from tests.machines.stories import HOUR, cloud, demand, planned, reservation, resource_class

CLASSES = [
    resource_class("small", "1", "4Gi", "general"),
    resource_class("large", "3", "6Gi", "general", "other"),
    resource_class("wide", "6", "2Gi", "other"),
]
MONTHS = month_splitter(named("Europe/Zurich"))
SEEDS = range(25)


def story(seed: int) -> ClusterPlan:
    """Two capacities, with reservations and limits by chance, and up to eight pools with windows in two weeks
    that lie on both sides of the end of a month.
    """
    random = Random(seed)
    held = [
        reservation(
            f"cr-{i}",
            random.choice(("m5.large", "m5.xlarge", "c5.2xlarge")),
            random.randint(1, 3),
            first=random.choice((None, 24 * HOUR * random.randint(20, 34))),
            until=random.choice((None, 24 * HOUR * random.randint(24, 40))),
            type=random.choice(("default", "capacity-block")),
        )
        for i in range(random.randint(0, 3))
    ]
    clouds = [
        cloud(
            "m5.large",
            "m5.xlarge",
            "c5.2xlarge",
            name=name,
            capacity_types=random.choice((("reserved", "on-demand"), ("on-demand",), ("reserved",))),
            reservations=tuple(random.sample(held, random.randint(0, len(held)))),
            limits=random.choice(({}, {"cpu": str(random.randint(4, 40))})),
            weight=random.choice((None, 10)),
            disruption={"consolidateAfter": random.choice(("0s", "10m", "2h", "Never"))},
            expire_after=random.choice((None, "3h", "Never")),
        )
        for name in ("general", "other")
    ]
    demands = [_want(random, f"course-{number}") for number in range(random.randint(1, 8))]
    return planned(clouds, demands, CLASSES)


def _want(random: Random, name: str) -> SeatDemand:
    windows = []
    for _ in range(random.randint(1, 5)):
        opens = 24 * random.randint(24, 38) + random.randint(6, 18)
        windows.append(f"{opens}-{opens + random.randint(1, 5)}={random.randint(1, 12)}")
    return demand(name, *windows, of=random.choice(("small", "large", "wide")), nodes=random.random() < 0.4)


@pytest.fixture(scope="module", params=SEEDS)
def one(request: pytest.FixtureRequest) -> ClusterPlan:
    return story(request.param)


def level(wanted: SeatDemand, at: int) -> int:
    pairs = zip(wanted.steps[::2], wanted.steps[1::2], strict=True)
    return sum(change for minute, change in pairs if minute * 60 <= at)


def placement(one: ClusterPlan, key: PoolKey, at: int) -> dict[int, int]:
    found = [places for since, places in one.run.placements.get(key, []) if since <= at]
    return dict(found[-1]) if found else {}


def moments(one: ClusterPlan) -> Iterator[int]:
    yield from (step.at for step in one.run.steps)


def test_every_seat_has_a_machine_or_is_a_reported_shortfall(one: ClusterPlan) -> None:
    for step in one.run.steps:
        shortfalls = dict(step.shortfalls)
        for wanted in one.demands:
            placed = sum(placement(one, wanted.key, step.at).values())
            missing = shortfalls[wanted.key].count if wanted.key in shortfalls else 0
            assert placed + missing == level(wanted, step.at)


def test_no_machine_holds_more_than_it_has_room_for(one: ClusterPlan) -> None:
    classes = {found.name: dict(found.requests) for found in CLASSES}
    for at in moments(one):
        used: dict[int, dict[str, int]] = {}
        for wanted in one.demands:
            for number, count in placement(one, wanted.key, at).items() if wanted.unit is Unit.SEAT else ():
                mine = used.setdefault(number, {})
                for resource, amount in classes[wanted.key[1]].items():
                    mine[resource] = mine.get(resource, 0) + (parse(amount) or 0) * count
        for number, mine in used.items():
            kind = one.run.kinds[number]
            declared = one.catalog.declared_type(kind.capacity, kind.type)
            room = allocatable(declared.capacity, declared.overhead)
            assert all(amount <= room[resource] for resource, amount in mine.items())


def test_machines_are_never_fewer_than_the_requests_need(one: ClusterPlan) -> None:
    classes = {found.name: dict(found.requests) for found in CLASSES}
    largest = {"cpu": 7910 * 10**6, "memory": 14162 * 2**20 * 10**9}
    standing = MachineCounts(one.run.intervals)
    for at in moments(one):
        for resource, room in largest.items():
            asked = sum(
                (parse(classes[wanted.key[1]][resource]) or 0) * count
                for wanted in one.demands
                for count in placement(one, wanted.key, at).values()
                if wanted.unit is Unit.SEAT
            )
            assert sum(standing.at(at).values()) >= -(-asked // room)


def test_no_reservation_is_used_beyond_its_count_or_outside_of_its_dates(one: ClusterPlan) -> None:
    standing = MachineCounts(one.run.intervals)
    for at, machines in zip(standing.moments, standing.levels, strict=True):
        for key, each in one.catalog.reserved.items():
            used = sum(number for kind, number in machines.items() if kind.reserved == key)
            assert used <= (each.reservation.count if each.at(at) else 0)


def test_sums_by_reservation_class_and_month_equal_the_total(one: ClusterPlan) -> None:
    cost_lines = costplan.cost_lines(one, TimeRange(), MONTHS)
    whole = costplan.sum_lines(cost_lines)

    assert sum(line.seconds for line in cost_lines) == sum(s.until - s.since for s in one.run.intervals)
    for by in (lambda line: line.key[0], lambda line: line.key[1], lambda line: line.month):
        parts = costplan.sum_by(cost_lines, by).values()
        for kind in costplan.CAPACITY_TYPES:
            assert sum(dict(part.seconds)[kind] for part in parts) == dict(whole.seconds)[kind]
        assert sum((part.bought or Decimal(0) for part in parts), Decimal(0)) == whole.bought
        shown = [Decimal(money_json(part.bought) or 0) for part in (whole, *parts)]
        assert abs(2 * shown[0] - sum(shown)) < Decimal("1e-6")


def test_cost_lines_of_two_parts_of_a_span_equal_those_of_the_whole(one: ClusterPlan) -> None:
    cut = 24 * HOUR * 31
    halves = [costplan.cost_lines(one, span, MONTHS) for span in (TimeRange(None, cut), TimeRange(cut, None))]

    assert _by_sort([*halves[0], *halves[1]]) == _by_sort(costplan.cost_lines(one, TimeRange(), MONTHS))


def _by_sort(found: list[CostLine]) -> dict[object, int]:
    sums: dict[object, int] = {}
    for line in found:
        sums[line.kind] = sums.get(line.kind, 0) + line.seconds
    return sums


def test_each_machine_is_paid_once_without_a_gap(one: ClusterPlan) -> None:
    last: dict[int, int] = {}
    for interval in sorted(one.run.intervals, key=lambda interval: (interval.machine, interval.since)):
        assert interval.since < interval.until
        assert last.get(interval.machine, interval.since) == interval.since
        last[interval.machine] = interval.until


def test_the_simulation_is_deterministic() -> None:
    for seed in SEEDS:
        assert story(seed).run == story(seed).run
