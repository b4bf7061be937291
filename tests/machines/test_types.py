"""Instance types: the table's, the file's own where it says something, and how much of one is for pods."""

import pytest
from berth.machines.capacitycatalog import CapacityCatalog, declared_types
from berth.machines.instancetypes import ONE, VOLUMES, allocatable, ec2_types, parse_resources
from berth.schema.cloudcapacity import InstanceTypeSpec
from berth.schema.nodepoolparts import PoolRequirement

from tests.built import built
from tests.cases import tabled
from tests.console import ROOT
from tests.machines.stories import changed, cloud, demand, reservation, run, sold

ROWS = sorted(ec2_types())


def room(*types: InstanceTypeSpec, name: str, **more: object) -> dict[str, int]:
    found = declared_types(cloud(instance_types=types, **more), "us-east-1")[name]
    return allocatable(found.capacity, found.overhead)


def facts(name: str) -> tuple[int, int, int]:
    """What Karpenter's page says that pods may use: pods, thousandths of a core, MiB of memory."""
    text = (ROOT / "gen/berth/machines/ec2types.txt").read_text("utf-8")
    row = next(line.split() for line in text.split("\n") if line.startswith(f"{name} "))
    return int(row[3]), int(row[7]), int(row[8])


@pytest.mark.parametrize("name", ROWS)
def test_a_listed_type_has_the_allocatable_resources_documented_by_karpenter(name: str) -> None:
    found, (pods, cpu, memory) = room(name=name), facts(name)
    gpus = {"nvidia.com/gpu": str(ec2_types()[name].gpus)} if ec2_types()[name].gpus else {}
    expected = {"cpu": f"{cpu}m", "memory": f"{memory}Mi", "pods": str(pods), **gpus}

    assert found == dict(
        parse_resources({**expected, "ephemeral-storage": "17Gi", VOLUMES: "1000000"})  # as good as uncounted
    )


@pytest.mark.parametrize("name", [name for name in ROWS if not ec2_types()[name].gpus])
def test_an_unknown_type_of_a_listed_size_has_the_same_allocatable_resources(name: str) -> None:
    """The same sums as the provider's, by another way."""
    row = ec2_types()[name]
    twin = sold("x1.twin", ("cpu", str(row.cpu)), ("memory", f"{row.memory}Mi"), ("pods", str(row.pods)))

    assert room(twin, name="x1.twin") == room(name=name)


def test_declared_values_of_an_instance_type_win() -> None:
    own = sold("m5.large", ("cpu", "4"), allocatable={"memory": "6Gi"})
    found = room(own, name="m5.large")

    assert found["cpu"] == dict(parse_resources({"cpu": "3920m"}))["cpu"]
    assert found["memory"] == dict(parse_resources({"memory": "6Gi"}))["memory"]
    assert found["pods"] == 29 * 10**9


def test_requests_of_daemon_sets_reduce_the_allocatable_resources() -> None:
    plain, beside = (
        room(name="m5.large", daemon_requests=said)
        for said in ({}, {"cpu": "150m", "memory": "200Mi", "pods": "3"})
    )

    assert {name: plain[name] - beside[name] for name in plain} == {
        "cpu": 150 * 10**6,
        "memory": 200 * 2**20 * 10**9,
        "pods": 3 * 10**9,
        "ephemeral-storage": 0,
        VOLUMES: 0,
    }


def test_a_node_has_the_volumes_per_node_of_the_capacity() -> None:
    assert room(name="m5.large", volumes_per_node=25)[VOLUMES] == 25 * ONE


def test_labels_of_an_unknown_type_are_read_from_its_name() -> None:
    own = sold(
        "p6.48xlarge", ("cpu", "192"), ("memory", "2048Gi"), ("nvidia.com/gpu", "8"), architecture="arm64"
    )
    found = declared_types(cloud(instance_types=(own,)), "us-east-1")["p6.48xlarge"]

    labels = {str(one).removeprefix("karpenter.k8s.aws/") for one in found.requirements}

    assert labels >= {
        "instance-category In [p]",
        "instance-cpu In [192]",
        "instance-family In [p6]",
        "instance-generation In [6]",
        "instance-gpu-manufacturer In [nvidia]",
        "instance-memory In [2097152]",
        "instance-size In [48xlarge]",
        "kubernetes.io/arch In [arm64]",
        "topology.kubernetes.io/region In [us-east-1]",
    }


@tabled("machines")
def test_an_unknown_type_has_labels_only_for_its_own_devices(
    resource: str, labels: dict[str, list[str]]
) -> None:
    more = ((resource, "8"),) if resource else ()
    own = sold("x1.large", ("cpu", "8"), ("memory", "32Gi"), *more)
    found = declared_types(cloud(instance_types=(own,)), "us-east-1")["x1.large"].requirements
    told = [str(one).removeprefix("karpenter.k8s.aws/") for one in sorted(map(str, found))]
    none = {
        "gpu": ["count", "manufacturer", "memory", "name"],
        "accelerator": ["count", "manufacturer", "name"],
    }
    for what, parts in none.items():
        absent = [f"instance-{what}-{part} DoesNotExist" for part in parts]
        assert [one for one in told if f"instance-{what}-" in one] == labels.get(what, absent)


def test_a_requirement_of_gpus_excludes_an_unknown_type_without_them() -> None:
    own = sold("m8i.large", ("cpu", "2"), ("memory", "8Gi"))
    gpus = {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Gt", "values": ["0"]}
    one = cloud("m8i.large", "g5.xlarge", instance_types=(own,))
    one = changed(one, requirements=(*one.requirements, built(PoolRequirement, gpus)))

    assert [kind.type for kind in run([one], [demand("ml", "8-12=1")]).kinds] == ["g5.xlarge"]


def test_a_type_of_unknown_size_is_left_out_and_listed() -> None:
    one = cloud(
        instance_types=(sold("q9.huge", ("cpu", "4")),), reservations=(reservation("cr-1", "q9.huge", 1),)
    )

    assert "q9.huge" not in declared_types(one, "")
    assert [*CapacityCatalog([one], "uni").unknown_types()] == [("general", "q9.huge")]


def test_a_reservation_without_an_id_is_identified_by_its_tags() -> None:
    plain = reservation("", "m5.large", 1, tags={"course": "ml", "year": "*"})

    assert plain.key == "tags course=ml,year=* m5.large us-east-1a"
    assert plain.model_copy(update={"id": "cr-1"}).key == "cr-1"
    other_order = {"year": "*", "course": "ml"}
    assert plain.model_copy(update={"tags": other_order}).key == plain.key


def test_a_reservation_of_two_capacities_counts_once_with_the_lower_count() -> None:
    several = [
        cloud(name=name, reservations=(reservation("cr-1", "m5.large", count),), capacity_types=("reserved",))
        for name, count in (("a", 3), ("b", 2))
    ]
    (found,) = CapacityCatalog(several, "uni").reserved.values()

    assert (found.key, found.capacities, found.reservation.count) == ("cr-1", ("a", "b"), 2)
