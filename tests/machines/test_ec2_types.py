"""The table of EC2 types: its numbers agree, with each other and with the types that are made of them."""

from berth.machines.instancetypes import (
    InstanceType,
    Offering,
    ec2_labels,
    ec2_table,
    ec2_types,
    reserved_offering,
    type_requirements,
)

ROWS = list(ec2_types().values())


def test_the_table_has_at_least_60_types_of_all_families() -> None:
    families = {row.family for row in ROWS}

    assert len(ROWS) >= 60
    assert families == ec2_table()[0].keys()


def test_prices_of_a_family_are_proportional_to_its_cpus() -> None:
    plain = [row for row in ROWS if not row.gpus]
    for family in {row.family for row in plain}:
        mine = [row for row in plain if row.family == family]

        assert {round(row.price / row.cpu, 6) for row in mine} == {round(mine[0].price / mine[0].cpu, 6)}


def test_an_instance_type_has_all_labels_of_karpenter() -> None:
    labels = ec2_labels(ec2_types()["g5.xlarge"], "us-east-1")
    offers = (
        Offering("on-demand", "z1", 1.006),
        Offering("spot", "z1", 0.4),
        reserved_offering("cr-1", "z1", 1, 2),
    )
    shown = sorted(
        str(asked) for asked in type_requirements(InstanceType("g5.xlarge", (), offers, (), labels))
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
