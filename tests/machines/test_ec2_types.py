"""The table of EC2 types: its numbers agree, with each other and with the types that are made of them."""

from math import ceil

import pytest
from berth.machines.estimate import NodePool, Seats
from berth.machines.instancetypes import (
    Ec2Type,
    Offering,
    allocatable,
    ec2_instance_type,
    ec2_table,
    ec2_types,
    parse_resources,
    reserved_offering,
    type_requirements,
)
from berth.machines.nodelabels import requirement

from tests.machines.questions import ask

ROWS = list(ec2_types().values())


def reserved_cpu(cores: int) -> int:
    """Thousandths that a kubelet on AWS keeps for itself."""
    steps = [60, 10, 5, 5]
    return int(sum(steps[:cores]) + 2.5 * max(cores - len(steps), 0))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_is_left_for_pods_follows_from_the_size(row: Ec2Type) -> None:
    """A slip of the pen in any of five columns shows here."""
    memory = row.memory - ceil(row.memory * 3 / 40) - (11 * row.pods + 255) - 100

    assert (row.cpu_for_pods, row.memory_for_pods) == (row.cpu * 1000 - reserved_cpu(row.cpu), memory)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_type_has_the_room_that_the_table_says(row: Ec2Type) -> None:
    instance_type = ec2_instance_type(row, ("a", "b"))
    gpus = {"nvidia.com/gpu": str(row.gpus)} if row.gpus else {}
    expected = {"cpu": f"{row.cpu_for_pods}m", "memory": f"{row.memory_for_pods}Mi", "pods": str(row.pods)}

    assert allocatable(instance_type.capacity, instance_type.overhead) == dict(
        parse_resources({**expected, **gpus, "ephemeral-storage": "17Gi"})
    )


def test_the_table_is_large_enough_to_be_of_use() -> None:
    families = {row.family for row in ROWS}

    assert len(ROWS) >= 60
    assert families == ec2_table()[0].keys()


def test_prices_of_a_family_rise_with_its_size() -> None:
    plain = [row for row in ROWS if not row.gpus]
    for family in {row.family for row in plain}:
        mine = [row for row in plain if row.family == family]

        assert {round(row.price / row.cpu, 6) for row in mine} == {round(mine[0].price / mine[0].cpu, 6)}


def test_a_type_in_full() -> None:
    instance_type = ec2_instance_type(
        ec2_types()["g5.xlarge"], ("z1",), 0.4, (reserved_offering("cr-1", "z1", 1.006, 2),)
    )
    shown = sorted(str(asked) for asked in type_requirements(instance_type))

    assert instance_type.offerings == (
        Offering("on-demand", "z1", 1.006),
        Offering("spot", "z1", 0.4),
        Offering("reserved", "z1", 1.006e-07, True, "cr-1", 2),
    )
    assert [line.removeprefix("karpenter.k8s.aws/") for line in shown] == [
        "capacity-reservation-id In [cr-1]",
        "capacity-reservation-interruptible In [false]",
        "capacity-reservation-type In [default]",
        "instance-accelerator-count DoesNotExist",
        "instance-accelerator-manufacturer DoesNotExist",
        "instance-accelerator-name DoesNotExist",
        "instance-capability-flex In [false]",
        "instance-category In [g]",
        "instance-cpu In [4]",
        "instance-cpu-manufacturer In [amd]",
        "instance-family In [g5]",
        "instance-generation In [5]",
        "instance-gpu-count In [1]",
        "instance-gpu-manufacturer In [nvidia]",
        "instance-gpu-memory In [22888]",
        "instance-gpu-name In [a10g]",
        "instance-hypervisor In [nitro]",
        "instance-local-nvme In [250]",
        "instance-memory In [16384]",
        "instance-size In [xlarge]",
        "karpenter.sh/capacity-type In [on-demand reserved spot]",
        "kubernetes.io/arch In [amd64]",
        "kubernetes.io/os In [linux]",
        "node.kubernetes.io/instance-type In [g5.xlarge]",
        "topology.kubernetes.io/region In [us-east-1]",
        "topology.kubernetes.io/zone In [z1]",
    ]


def test_seats_on_real_types() -> None:
    """Thirty seats of 2 CPU and 8Gi: memory decides, and the bin grows to the largest type that m5 has."""
    types = [ec2_instance_type(row, ("z1",)) for row in ROWS if row.family == "m5"]
    pool = NodePool("m5", (requirement("karpenter.k8s.aws/instance-family", "In", ("m5",)),))
    answer = ask([Seats("seat", parse_resources({"cpu": "2", "memory": "8Gi"}), 30)], [pool], types)

    assert [(m.type, m.seats) for m in answer.bought] == [("m5.24xlarge", (("seat", 30),))]
