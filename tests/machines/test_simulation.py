"""The machines of a cluster through its windows: when they are bought, whose they are, when they go."""

from berth.machines.costplan import TimeRange, reserved_usage
from berth.machines.overtime import Shortfall
from berth.schema.pod import Placement

from tests.built import built
from tests.machines.stories import (
    HOUR,
    SMALL,
    changed,
    cloud,
    demand,
    only,
    planned,
    reservation,
    resource_class,
    run,
    sized,
    told,
)

BLOCK = {"type": "capacity-block", "first": 0}
TEN_MINUTES = {"consolidateAfter": "10m"}
LARGE = resource_class("large", "9", "4Gi")
POOL = "uni.cloud.general"


def test_machines_exist_from_the_opening_until_a_minute_after_the_end() -> None:
    """m5.large has room for one seat of 4Gi, m5.xlarge for three."""
    found = run([cloud("m5.xlarge")], [demand("ml", "8-12=7")])

    assert told(found.intervals) == [
        "0 on-demand m5.xlarge 8:00-12:01 ml 3",
        "1 on-demand m5.xlarge 8:00-12:01 ml 3",
        "2 on-demand m5.xlarge 8:00-12:01 ml 1",
    ]
    assert [(step.at, step.loops, step.bought) for step in found.steps] == [
        (8 * HOUR, 1, 3),
        (12 * HOUR, 0, 0),
    ]


def test_an_empty_machine_stays_until_consolidation() -> None:
    found = run([cloud("m5.large", disruption=TEN_MINUTES)], [demand("ml", "8-12=1")])

    assert told(found.intervals) == ["0 on-demand m5.large 8:00-12:11 ml 1"]


def test_a_window_that_opens_before_consolidation_uses_the_same_machines() -> None:
    demands = [demand("ml", "8-12=1"), demand("night", "12.1-14=1")]

    assert told(run([cloud("m5.large", disruption=TEN_MINUTES)], demands).intervals) == [
        "0 on-demand m5.large 8:00-12:06 ml 1",
        "0 on-demand m5.large 12:06-14:11 night 1",
    ]
    assert told(run([cloud("m5.large")], demands).intervals) == [
        "0 on-demand m5.large 8:00-12:01 ml 1",
        "1 on-demand m5.large 12:06-14:01 night 1",
    ]


def test_an_open_window_keeps_all_machines_of_its_capacity() -> None:
    """Its disruption budgets hold it. Who was on it last pays."""
    found = run([cloud("m5.large")], [demand("ml", "8-12=1"), demand("stats", "9-15=1")])

    assert told(found.intervals) == [
        "0 on-demand m5.large 8:00-15:01 ml 1",
        "1 on-demand m5.large 9:00-15:01 stats 1",
    ]


def test_consolidation_counts_from_when_a_machine_became_empty() -> None:
    """While a budget holds it, that time goes on."""
    demands = [demand("a", "8-10=1"), demand("b", "8-12=1"), demand("c", "8-11.5=1")]
    found = run([cloud("m5.large", disruption={"consolidateAfter": "1h"})], demands)

    assert told(found.intervals) == [
        "0 on-demand m5.large 8:00-12:01 a 1",
        "1 on-demand m5.large 8:00-13:01 b 1",
        "2 on-demand m5.large 8:00-12:31 c 1",
    ]


def test_windows_of_another_capacity_keep_no_machine() -> None:
    other = cloud("m5.large", name="other")
    classes = [resource_class("small", "1", "4Gi"), resource_class("b", "1", "4Gi", "other")]
    found = run(
        [cloud("m5.large"), other], [demand("ml", "8-12=1"), demand("stats", "9-15=1", of="b")], classes
    )

    assert [(interval.kind.capacity, interval.until) for interval in found.intervals] == [
        ("general", 12 * HOUR + 60),
        ("other", 15 * HOUR + 60),
    ]


def test_a_machine_that_is_never_consolidated_stays() -> None:
    demands = [demand("ml", "8-12=1"), demand("late", "40-41=1")]
    never = cloud("m5.large", disruption={"consolidateAfter": "Never"}, expire_after="Never")

    assert told(run([never], demands).intervals) == [
        "0 on-demand m5.large 8:00-40:00 ml 1",
        "0 on-demand m5.large 40:00-41:00 late 1",
    ]


def test_an_empty_machine_is_removed_at_its_expiry() -> None:
    """Also while windows hold it, or if nothing else ever removes it. With seats, it is replaced by one of
    its kind, so that the next expiry is a lifetime later.
    """
    demands = [demand("ml", "8-12=1"), demand("stats", "9-19=1"), demand("late", "40-41=1")]
    never = {"disruption": {"consolidateAfter": "Never"}}

    held = run([cloud("m5.large", expire_after="5h")], demands)
    alone = run([cloud("m5.large", expire_after="5h", **never)], demands)
    by_default = run([cloud("m5.large", **never)], [demand("ml", "8-12=1"), demand("late", "735-736=1")])

    assert told(held.intervals) == [
        "0 on-demand m5.large 8:00-13:01 ml 1",
        "1 on-demand m5.large 9:00-19:01 stats 1",
        "2 on-demand m5.large 40:00-41:01 late 1",
    ]
    assert told(alone.intervals) == [
        "0 on-demand m5.large 8:00-13:01 ml 1",
        "1 on-demand m5.large 9:00-19:01 stats 1",
        "2 on-demand m5.large 40:00-45:01 late 1",
    ]
    assert told(by_default.intervals) == [
        "0 on-demand m5.large 8:00-728:01 ml 1",
        "1 on-demand m5.large 735:00-1455:01 late 1",
    ]


def test_reserved_machines_go_first_and_the_rest_is_bought() -> None:
    """Strict: with one reservation, one loop books what there is; the rest comes in the next."""
    one = cloud(
        "m5.large",
        capacity_types=("reserved", "on-demand"),
        reservations=(reservation("cr-1", "m5.large", 2),),
    )
    found = run([one], [demand("ml", "8-12=3")])

    assert told(found.intervals) == [
        "0 reserved m5.large 8:00-12:01 ml 1",
        "1 reserved m5.large 8:00-12:01 ml 1",
        "2 on-demand m5.large 8:00-12:01 ml 1",
    ]
    assert found.steps[0].loops == 2


def test_the_example_of_three_pods_takes_three_rounds() -> None:
    """Karpenter's own: each of two reservations is booked by the first pod, so the others wait."""
    types = (sized("t1.small", "2", "2Gi"), sized("t1.medium", "3", "3Gi"), sized("t1.large", "6", "6Gi"))
    one = cloud(
        *(each.name for each in types),
        capacity_types=("reserved", "on-demand"),
        reservations=(reservation("cr-1", "t1.small", 1), reservation("cr-2", "t1.medium", 1)),
        instance_types=types,
    )
    found = run([one], [demand("ml", "8-12=3", of="c")], [resource_class("c", "1800m", "100Mi")])

    assert found.steps[0].loops == 3
    assert [(kind.capacity_type, kind.type) for kind in found.kinds] == [
        ("reserved", "t1.small"),
        ("reserved", "t1.medium"),
        ("on-demand", "t1.small"),
    ]


def test_a_round_that_places_no_seat_is_not_counted_as_a_loop() -> None:
    limited = cloud("m5.large", limits={"cpu": "4"})

    some, none = (run([limited], [demand("ml", "8-12=3", of=each.name)], [each]) for each in (SMALL, LARGE))

    assert [(step.loops, step.bought) for step in some.steps] == [(1, 2), (0, 0)]
    assert [(step.loops, step.bought) for step in none.steps] == [(0, 0), (0, 0)]


def test_a_capacity_block_is_drained_forty_minutes_before_its_end() -> None:
    """Its seats are then on what may be had else."""
    block = reservation("cr-1", "m5.large", 1, until=12 * HOUR, **BLOCK)
    one = cloud("m5.large", capacity_types=("reserved", "on-demand"), reservations=(block,))

    assert told(run([one], [demand("ml", "8-13=1")]).intervals) == [
        "0 reserved m5.large 8:00-11:20 ml 1",
        "1 on-demand m5.large 11:20-13:01 ml 1",
    ]


def test_a_machine_of_an_ended_reservation_is_paid_by_the_hour() -> None:
    ends = reservation("cr-1", "m5.large", 1, until=10 * HOUR)
    one = cloud("m5.large", capacity_types=("reserved", "on-demand"), reservations=(ends,))

    assert told(run([one], [demand("ml", "8-13=1")]).intervals) == [
        "0 reserved m5.large 8:00-10:00 ml 1",
        "0 on-demand m5.large 10:00-13:01 ml 1",
    ]


def test_with_reserved_capacity_only_seats_lose_their_machine_at_its_end() -> None:
    ends = reservation("cr-1", "m5.large", 1, until=10 * HOUR)
    found = run(
        [cloud("m5.large", capacity_types=("reserved",), reservations=(ends,))], [demand("ml", "8-13=1")]
    )

    assert told(found.intervals) == ["0 reserved m5.large 8:00-10:00 ml 1"]
    assert [
        (step.at // HOUR, [shortfall.count for _, shortfall in step.shortfalls]) for step in found.steps
    ] == [
        (8, []),
        (10, [1]),
        (13, []),
    ]


def test_a_reservation_is_used_from_its_start() -> None:
    """Seats that wait for it get it then; those that have a machine stay there."""
    later = reservation("cr-1", "m5.large", 1, first=10 * HOUR)
    one = cloud("m5.large", capacity_types=("reserved",), reservations=(later,))

    assert told(run([one], [demand("ml", "8-13=1")]).intervals) == ["0 reserved m5.large 10:00-13:01 ml 1"]
    both = changed(one, capacity_types=("reserved", "on-demand"))
    assert told(run([both], [demand("ml", "8-13=1"), demand("x", "11-12=1")]).intervals) == [
        "0 on-demand m5.large 8:00-13:01 ml 1",
        "1 reserved m5.large 11:00-13:01 x 1",
    ]


def test_limits_leave_seats_without_a_machine_and_report_them() -> None:
    found = run([cloud("m5.large", limits={"cpu": "5"})], [demand("ml", "8-12=4")])

    assert len(found.kinds) == 2
    assert found.steps[0].shortfalls == (
        (
            ("ml", "small"),
            Shortfall(2, "limits", f"{POOL}: every type that fits is larger than what its limits leave"),
        ),
    )


def test_waiting_seats_get_the_machines_of_ended_windows() -> None:
    """Four seats where two fit; when the others end, nobody waits any more."""
    demands = [demand("a", "8-10=2"), demand("b", "8-12=2")]
    found = run([cloud("m5.large", limits={"cpu": "5"})], demands)

    assert told(found.intervals) == [
        "0 on-demand m5.large 8:00-10:00 a 1",
        "0 on-demand m5.large 10:00-12:01 b 1",
        "1 on-demand m5.large 8:00-10:00 a 1",
        "1 on-demand m5.large 10:00-12:01 b 1",
    ]
    assert [step.shortfalls for step in found.steps][1:] == [(), ()]


def test_seats_are_removed_from_the_last_bought_machines_first() -> None:
    found = run([cloud("m5.large")], [demand("ml", "8-12=1", "8-10=1")])

    assert told(found.intervals) == [
        "0 on-demand m5.large 8:00-12:01 ml 1",
        "1 on-demand m5.large 8:00-12:01 ml 1",
    ]
    assert found.placements["ml", "small"] == [
        (8 * HOUR, ((0, 1), (1, 1))),
        (10 * HOUR, ((0, 1),)),
        (12 * HOUR, ()),
    ]


def test_whole_nodes_exist_only_for_their_window() -> None:
    """Budgets do not hold them, limits of nodes do."""
    demands = [demand("lab", "8-12=2", "12-14=1", nodes=True), demand("ml", "8-15=1")]
    one = cloud("m5.large", limits={"nodes": "2", "cpu": "1000"})

    assert told(run([one], demands).intervals) == [
        "0 on-demand m5.large 8:00-14:01 lab 1",
        "1 on-demand m5.large 8:00-12:01 lab 1",
        "2 on-demand m5.large 8:00-15:01 ml 1",
    ]
    few = run([changed(one, limits={"nodes": "1"})], [demand("lab", "8-12=2", nodes=True)])
    assert few.steps[0].shortfalls == (
        (("lab", "small"), Shortfall(1, "limits", f"{POOL}: its limit of nodes is reached")),
    )


def test_reserved_whole_nodes_are_free_at_the_end_of_their_window() -> None:
    held = reservation("cr-1", "m5.large", 1, first=8 * HOUR, until=12 * HOUR)
    one = cloud("m5.large", capacity_types=("reserved", "on-demand"), reservations=(held,))
    found = planned([one], [demand("a", "8-10=1", nodes=True), demand("b", "10-12=1", nodes=True)])
    (each,) = found.catalog.reserved.values()

    assert told(found.run.intervals) == [
        "0 reserved m5.large 8:00-10:00 a 1",
        "1 reserved m5.large 10:00-12:00 b 1",
        "1 on-demand m5.large 12:00-12:01 b 1",
    ]
    assert reserved_usage(each, found.run.intervals, (8 * HOUR, 12 * HOUR), TimeRange()).idle == 0


def test_a_node_selector_of_whole_nodes_selects_their_type_and_not_their_pool() -> None:
    """As they are rendered: their NodePool is one of their own."""
    selector = {"karpenter.sh/nodepool": "uni-general", "node.kubernetes.io/instance-type": "m5.large"}
    classes = [
        resource_class("small", "1", "4Gi").model_copy(
            update=dict(built(Placement, {"nodeSelector": selector}))
        )
    ]
    every, demands = [cloud("m5.large", "c5.large")], [demand("lab", "8-12=1", nodes=True)]

    assert told(run(every, demands, classes).intervals) == ["0 on-demand m5.large 8:00-12:01 lab 1"]


def test_a_window_of_whole_nodes_keeps_no_other_machine() -> None:
    """The budgets of a NodePool are rendered of windows with seats alone."""
    demands = [demand("lab", "8-12=1", nodes=True), demand("ml", "8-10=1")]

    assert told(run([cloud("m5.large")], demands).intervals) == [
        "0 on-demand m5.large 8:00-12:01 lab 1",
        "1 on-demand m5.large 8:00-10:01 ml 1",
    ]


def test_weekly_windows_have_the_same_machines_every_week() -> None:
    weeks = [f"{168 * n + 8}-{168 * n + 12}=7" for n in range(5)]
    found = planned([cloud("m5.large", "m5.xlarge")], [demand("ml", *weeks), demand("stats", *weeks)])
    by_week: dict[int, list[tuple[int, int, object]]] = {}
    for interval in found.run.intervals:
        week, since = divmod(interval.since, 168 * HOUR)
        by_week.setdefault(week, []).append(
            (since, interval.until - interval.since, (interval.kind, interval.payers))
        )

    assert len(by_week) == 5
    assert all(week == by_week[0] for week in by_week.values())


def test_the_zone_of_a_machine_is_the_required_one_or_empty() -> None:
    unsaid = cloud(requirements=(only("m5.large"),))

    assert [kind.zone for kind in run([cloud("m5.large")], [demand("ml", "8-12=1")]).kinds] == ["us-east-1a"]
    assert [kind.zone for kind in run([unsaid], [demand("ml", "8-12=1")]).kinds] == [""]
