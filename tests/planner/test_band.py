"""Where Karpenter's order is open: the least and the most machines, and how sure that is."""

import pytest
from berth.karpenter.instancetypes import Offering, reserved_offering
from berth.karpenter.nodelabels import ARCH, ZONE
from berth.planner.inputs import PodAffinityTerm, PodSelector, PodSet, SchedulingInput
from berth.planner.provisioning import result_range, schedule, schedule_with
from berth.planner.tiebreaks import TieBreaker

from tests.planner import grouped
from tests.planner.machines import ANY, SETTINGS, ZONES, machine, pod

ONE = machine("one", {"cpu": "10", "memory": "10Gi", "pods": "20"}, (Offering("on-demand", "z", 1.0),))


def asked(*pods: PodSet) -> SchedulingInput:
    return SchedulingInput((ANY,), (ONE,), pods, settings=SETTINGS)


def test_where_nothing_is_open_the_band_is_one_answer() -> None:
    question = asked(pod("a", {"cpu": "3"}, 100), pod("b", {"cpu": "1"}, 40))
    found = result_range(question)

    assert found == (schedule(question), found.plain, found.plain, True, 1)


def test_pods_of_one_size_come_in_any_order() -> None:
    """Two of each fit a machine. Who takes either architecture may fill a machine before the choosy come, or
    keep each of them company.
    """
    types = tuple(
        machine(arch, {"cpu": "4", "memory": "4Gi"}, (Offering("on-demand", "z", 1.0),), arch)
        for arch in ("amd64", "arm64")
    )
    half = {"cpu": "1900m"}
    choosy = [pod(arch, half, node_selector=((ARCH, arch),)) for arch in ("amd64", "arm64")]
    found = result_range(SchedulingInput((ANY,), types, (pod("either", half, 2), *choosy), settings=SETTINGS))

    assert [len(one.machines) for one in (found.least, found.plain, found.most)] == [2, 3, 3]
    assert (found.complete, found.runs) == (True, 3)


def test_a_tape_tries_every_combination_once() -> None:
    seen = []
    tape: list[int] | None = []
    while tape is not None:
        ties = TieBreaker(tape)
        seen.append((ties.pick(2), ties.pick(1), ties.pick(3)))
        tape = ties.next_tape()

    assert seen == [(a, 0, c) for a in range(2) for c in range(3)]


def test_many_open_orders_are_sampled_with_fixed_seeds() -> None:
    apps = [(("app", name),) for name in "abcdefgh"]
    pods = [
        pod(
            labels[0][1],
            {"cpu": "1"},
            2,
            labels=labels,
            affinity=(PodAffinityTerm(ZONE, PodSelector(labels)),),
        )
        for labels in apps
    ]
    zones = tuple(Offering("on-demand", zone, 1.0) for zone in ("x", "y", "z"))
    question = SchedulingInput((ANY,), (ONE._replace(offerings=zones),), tuple(pods), settings=SETTINGS)
    found = result_range(question, 10)

    assert (found.complete, found.runs) == (False, 10)
    assert len(found.least.machines) <= len(found.plain.machines) <= len(found.most.machines)
    assert result_range.__wrapped__(question, 10) == found


@pytest.mark.parametrize(("machines", "open_"), [(12, False), (13, True)])
def test_the_order_of_equally_full_machines_is_open_beyond_twelve(machines: int, open_: bool) -> None:
    """All have one pod, and the last one more room than the others; then more pods come."""
    wide = [pod(f"wide{n}", {"cpu": "8", "memory": f"{n + 1}Mi"}) for n in range(machines - 1)]
    question = asked(*wide, pod("slim", {"cpu": "7"}), pod("late", {"cpu": "1500m", "memory": "1Gi"}, 5))
    found = result_range(question)

    assert len(found.plain.machines) == machines
    assert (found.runs > 1) == open_


@pytest.mark.parametrize(
    ("way", "expected"),
    [(0, ["many", "many", "few", ""]), (1, ["many", "many", "few", ""]), (2, ["few", "many", "many", ""])],
    ids=["side-by-side", "in-order", "backwards"],
)
def test_two_launches_may_see_other_counts_of_a_reservation(way: int, expected: list[str]) -> None:
    """The first claim may use either reservation, the second only one. Both take from the fuller one, or one
    from each; which makes no difference to the number of machines.
    """
    offers = (
        reserved_offering("few", "z", 1.0, 1),
        reserved_offering("many", "z", 1.0, 2),
        Offering("on-demand", "z", 1.0),
    )
    mine = (("app", "a"),)
    seats = pod(
        "seat",
        {},
        4,
        labels=mine,
        anti_affinity=(PodAffinityTerm("kubernetes.io/hostname", PodSelector(mine)),),
    )
    question = SchedulingInput((ANY,), (machine("one", {}, offers),), (seats,), settings=SETTINGS)
    found = result_range(question, 64)

    assert [m.reservation for m in schedule_with(question, TieBreaker([way])).machines] == expected
    assert (len(found.least.machines), len(found.most.machines), found.complete) == (4, 4, True)


@pytest.mark.parametrize(
    ("zones", "waiting"),
    [((0, 0, 0, 0), {"seat": 4}), ((0, 0, 0, 1), {}), ((1,), {})],
    ids=["none-of-four", "the-last-of-four", "the-first"],
)
def test_each_of_equal_pods_draws_its_zone(zones: tuple[int, ...], waiting: dict[str, int]) -> None:
    """In zone 0 they wait for the reserved machine that `big` holds; all follow the first one to zone 1.

    A pod draws twice: among the zones of the node, and among its own.
    """
    offers = (Offering("on-demand", zone, 1.0) for zone in ZONES[:2])
    types = (machine("one", {"cpu": "2"}, (reserved_offering("r", ZONES[0], 1.0, 1), *offers)),)
    labels = (("app", "seat"),)
    together = (PodAffinityTerm(ZONE, PodSelector(labels)),)
    seats = pod("seat", {"cpu": "900m"}, 4, labels=labels, affinity=together)
    question = SchedulingInput((ANY,), types, (pod("big", {"cpu": "1.8"}), seats), settings=SETTINGS)

    ties = TieBreaker([zone for zone in zones for _ in range(2)])

    assert grouped.tell(question, ties)[1] == waiting
