"""What the seats of a class ask of machines: zones, room, a machine of their own; and what is not counted."""

from typing import Any

import pytest
from berth.machines.clusterplans import uncounted
from berth.schema.pod import Placement
from berth.schema.values import ResourceClass

from tests.built import built
from tests.cases import tabled
from tests.machines.stories import changed, cloud, demand, only, planned, reservation, resource_class, run
from tests.saying import read, site
from tests.saying import resource_class as declared_class

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
BESIDE, APART = "podAffinity", "podAntiAffinity"
SMALL = {"matchLabels": {"berth.dev/class": "small"}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SPREAD = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SMALL}
BY_NAME = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}


def caring(name: str, kind: str, selector: Any = SMALL, **term: Any) -> ResourceClass:
    """Of a CPU and 1Gi; with one required term of affinity by host."""
    terms = ({"topologyKey": HOSTNAME, "labelSelector": selector, **term},)
    affinity = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return plain(name).model_copy(update=dict(built(Placement, {"affinity": affinity})))


def plain(name: str) -> ResourceClass:
    return resource_class(name, "1", "1Gi")


def of_pod(**pod: Any) -> ResourceClass:
    return plain("exam").model_copy(update=dict(built(Placement, pod)))


@tabled("machines")
@pytest.mark.parametrize("reserved", [False, True], ids=["no-zone-is-said", "a-reservation-says-one"])
def test_without_declared_zones_a_seat_gets_the_zone_that_it_names(
    pod: dict[str, Any], reserved: bool
) -> None:
    one = cloud(requirements=(only("m5.large"),))
    if reserved:
        held = (reservation("cr-1", "m5.large", 1),)
        one = changed(one, capacity_types=("reserved", "on-demand"), reservations=held)
    found = planned(
        [one], [demand("ml", "8-12=1")], [plain("small").model_copy(update=dict(built(Placement, pod)))]
    )

    assert [kind[2:] for kind in found.run.kinds] == [("us-east-1b", "on-demand", "")]
    assert found.catalog.assumed == {"general": (*(["us-east-1a"] if reserved else []), "us-east-1b")}


def test_declared_zones_of_a_capacity_are_complete() -> None:
    """As are those of a type."""
    pinned = plain("small").model_copy(update=dict(built(Placement, {"nodeSelector": {ZONE: "us-east-1b"}})))
    found = planned([cloud("m5.large")], [demand("ml", "8-12=1")], [pinned])

    assert (found.run.kinds, found.catalog.assumed) == ((), {})


def test_undeclared_zones_are_not_assumed_if_no_seat_names_one() -> None:
    one = cloud(requirements=(only("m5.large"),))

    assert planned([one], [demand("ml", "8-12=1")], [plain("small")]).catalog.assumed == {}


LABELS = (("berth.dev/class", "exam"), ("berth.dev/reservation", "a"))
OURS = {"matchLabels": {"berth.dev/class": "exam"}}


@pytest.mark.parametrize(("room", "machines"), [("m5.4xlarge", 4), ("m5.large", 4)])
def test_seats_with_host_anti_affinity_get_a_machine_each(room: str, machines: int) -> None:
    """Two courses of two seats each."""
    demands = [demand("a", "8-12=2", of="exam"), demand("b", "9-12=2", of="exam")]
    found = run([cloud(room)], demands, [caring("exam", APART, OURS)])

    assert len(found.kinds) == machines
    assert uncounted(caring("exam", APART, OURS), LABELS) == ""


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (caring("exam", BESIDE, OURS), "pod affinity"),
        (caring("exam", APART, SMALL), "pod affinity"),
        (caring("exam", APART, OURS, namespaces=("elsewhere",)), "pod affinity"),
        (caring("exam", APART, OURS, topologyKey=ZONE), "pod affinity"),
        (of_pod(topologySpreadConstraints=({**SPREAD, "topologyKey": ZONE},)), "topology spread"),
        (of_pod(topologySpreadConstraints=({**SPREAD, "topologyKey": HOSTNAME},)), "topology spread"),
        (of_pod(nodeSelector={"karpenter.sh/initialized": "true"}), "karpenter.sh/initialized"),
        (of_pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [BY_NAME]}}}), "matchFields"),
    ],
)
def test_constraints_that_depend_on_other_pods_are_reported_as_uncounted(
    found: ResourceClass, why: str
) -> None:
    assert why in uncounted(found, LABELS)
    assert uncounted(plain("exam"), LABELS) == ""


@pytest.mark.parametrize(
    ("overhead", "machines"),
    [({}, 2), ({"cpu": "250m"}, 2), ({"cpu": "500m"}, 3), ({"memory": "4Gi"}, 3)],
)
def test_an_overhead_takes_room_on_machines(overhead: dict[str, str], machines: int) -> None:
    """An m5.xlarge has 3.92 CPU and about 14.5 GiB for pods: room for three seats of 1 CPU and 1Gi."""
    spec = {"requests": {"cpu": "1", "memory": "1Gi"}, "overhead": overhead}
    kata = read(site(), declared_class("kata", **spec)).classes["kata"]
    found = run(
        [cloud("m5.xlarge")],
        [demand("exam", "8-12=6", of="kata")],
        [kata.model_copy(update={"cloud_capacity": ("general",)})],
    )

    assert len(found.kinds) == machines
