"""Machines that stand for later windows: with the labels that Karpenter gave them when it bought them."""

from typing import Any

import pytest
from berth.schema.nodepoolparts import PoolRequirement
from berth.schema.pod import Placement
from berth.schema.values import ResourceClass

from tests.built import built
from tests.machines.stories import HOUR, changed, cloud, demand, reservation, resource_class, run, told

ENCRYPTED = "karpenter.k8s.aws/instance-encryption-in-transit-supported"
RESERVATION = "karpenter.k8s.aws/capacity-reservation-id"
ONE_MACHINE = [
    "0 on-demand m5.4xlarge 8:00-9:00 a 1",
    "0 on-demand m5.4xlarge 9:00-12:00 a 1, b 1",
    "0 on-demand m5.4xlarge 12:00-13:01 b 1",
]
TWO_MACHINES = ["0 on-demand m5.4xlarge 8:00-13:01 a 1", "1 on-demand m5.4xlarge 9:00-13:01 b 1"]


def choosy(name: str = "small", **labels: str) -> ResourceClass:
    return resource_class(name, "1", "4Gi").model_copy(
        update=dict(built(Placement, {"nodeSelector": labels}))
    )


def windows(*classes: ResourceClass, requirements: tuple[dict[str, Any], ...] = ()) -> list[str]:
    """A seat of the first class from 8 o'clock on, and one of the last from 9."""
    one = cloud("m5.4xlarge")
    one = changed(
        one,
        requirements=(
            *one.requirements,
            *(built(PoolRequirement, requirement) for requirement in requirements),
        ),
    )
    demands = [demand("a", "8-12=1", of=classes[0].name), demand("b", "9-13=1", of=classes[-1].name)]
    return told(run([one], demands, classes).intervals)


def test_a_label_from_requirements_is_found_by_later_windows() -> None:
    team = {"key": "team", "operator": "In", "values": ["ml"]}

    assert windows(choosy(team="ml"), requirements=(team,)) == ONE_MACHINE


def test_a_label_set_by_the_first_seat_excludes_other_seats() -> None:
    """The pool allows two teams; the machine was bought for one of them."""
    team = {"key": "team", "operator": "In", "values": ["ml", "web"]}
    ml, web = choosy("ml", team="ml"), choosy("web", team="web")

    assert windows(web, ml, requirements=(team,)) == TWO_MACHINES
    assert windows(ml, web, requirements=(team,)) == TWO_MACHINES
    assert windows(ml, choosy("any"), requirements=(team,)) == ONE_MACHINE


@pytest.mark.parametrize("key", [ENCRYPTED, "karpenter.k8s.aws/instance-network-bandwidth"])
def test_a_label_missing_in_the_table_excludes_no_existing_machine(key: str) -> None:
    """No more than one that is bought."""
    assert windows(choosy(**{key: "true"})) == ONE_MACHINE


def test_a_machine_whose_reservation_has_ended_loses_its_reservation_labels() -> None:
    ends = reservation("cr-1", "m5.4xlarge", 1, until=10 * HOUR)
    one = cloud("m5.4xlarge", capacity_types=("reserved", "on-demand"), reservations=(ends,))
    classes = [
        resource_class("small", "1", "4Gi"),
        choosy("reserved", **{RESERVATION: "cr-1"}),
        choosy("hourly", **{"karpenter.sh/capacity-type": "on-demand"}),
    ]
    demands = [
        demand("a", "8-13=1"),
        demand("early", "9-13=1", of="reserved"),
        demand("late", "11-13=1", of="reserved"),
        demand("hourly", "11-13=1", of="hourly"),
    ]
    found = run([one], demands, classes)

    assert len(found.kinds) == 1
    assert [(at, key, count) for at, _, _, shortfalls in found.steps for key, (count, *_) in shortfalls] == [
        (11 * HOUR, ("late", "reserved"), 1)
    ]
