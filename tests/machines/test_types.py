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
def test_a_type_of_the_table_has_the_room_that_the_page_of_karpenter_says(name: str) -> None:
    found, (pods, cpu, memory) = room(name=name), facts(name)
    gpus = {"nvidia.com/gpu": str(ec2_types()[name].gpus)} if ec2_types()[name].gpus else {}
    expected = {"cpu": f"{cpu}m", "memory": f"{memory}Mi", "pods": str(pods), **gpus}

    assert found == dict(
        parse_resources({**expected, "ephemeral-storage": "17Gi", VOLUMES: "1000000"})  # as good as uncounted
    )


@pytest.mark.parametrize("name", [name for name in ROWS if not ec2_types()[name].gpus])
def test_an_unknown_type_of_a_known_size_has_the_room_of_the_known_one(name: str) -> None:
    """The same sums as the provider's, by another way."""
    row = ec2_types()[name]
    twin = sold("x1.twin", ("cpu", str(row.cpu)), ("memory", f"{row.memory}Mi"), ("pods", str(row.pods)))

    assert room(twin, name="x1.twin") == room(name=name)


def test_what_the_file_says_wins() -> None:
    own = sold("m5.large", ("cpu", "4"), allocatable={"memory": "6Gi"})
    found = room(own, name="m5.large")

    assert found["cpu"] == dict(parse_resources({"cpu": "3920m"}))["cpu"]
    assert found["memory"] == dict(parse_resources({"memory": "6Gi"}))["memory"]
    assert found["pods"] == 29 * 10**9


def test_what_daemonsets_ask_for_is_not_for_seats() -> None:
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


def test_a_node_takes_as_many_volumes_as_the_capacity_says() -> None:
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
def test_an_unknown_type_has_no_label_of_what_it_has_not(resource: str, labels: dict[str, list[str]]) -> None:
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


def test_a_type_of_which_the_size_is_not_known_is_left_out_and_told() -> None:
    one = cloud(
        instance_types=(sold("q9.huge", ("cpu", "4")),), reservations=(reservation("cr-1", "q9.huge", 1),)
    )

    assert "q9.huge" not in declared_types(one, "")
    assert [*CapacityCatalog([one], "uni").unknown_types()] == [("general", "q9.huge")]


def test_a_reservation_without_an_id_is_known_by_what_selects_it() -> None:
    plain = reservation("", "m5.large", 1, tags={"course": "ml", "year": "*"})

    assert plain.key == "tags course=ml,year=* m5.large us-east-1a"
    assert plain.model_copy(update={"id": "cr-1"}).key == "cr-1"
    other_order = {"year": "*", "course": "ml"}
    assert plain.model_copy(update={"tags": other_order}).key == plain.key


def test_one_reservation_of_two_capacities_is_one_and_the_least_counts() -> None:
    several = [
        cloud(name=name, reservations=(reservation("cr-1", "m5.large", count),), capacity_types=("reserved",))
        for name, count in (("a", 3), ("b", 2))
    ]
    (found,) = CapacityCatalog(several, "uni").reserved.values()

    assert (found.key, found.capacities, found.reservation.count) == ("cr-1", ("a", "b"), 2)
