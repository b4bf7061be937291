"""Seats that care where others are, and the others: what the plan asks with is what Karpenter sees."""

from typing import Any

import pytest
from berth.cost.clusterplans import placeholder_pods
from berth.cost.results import Shortfall, SimulationRun
from berth.karpenter.requirements import requirement
from berth.planner.inputs import PodAffinityTerm, PodSelector
from berth.schema.nodepoolparts import PoolRequirement
from berth.schema.pod import Placement
from berth.schema.values import ResourceClass

from tests.built import built
from tests.cost.stories import cloud, demand, only, planned, reservation, resource_class, run, told
from tests.saying import read, site
from tests.saying import resource_class as declared_class

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
BESIDE, APART = "podAffinity", "podAntiAffinity"
SMALL = {"matchLabels": {"berth.dev/class": "small"}}


def caring(name: str, kind: str, selector: Any = SMALL, **term: Any) -> ResourceClass:
    """Of a CPU and 1Gi; with one required term of affinity by host."""
    terms = ({"topologyKey": HOSTNAME, "labelSelector": selector, **term},)
    affinity = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return plain(name)._replace(pod=built(Placement, {"affinity": affinity}))


def plain(name: str) -> ResourceClass:
    return resource_class(name, "1", "1Gi")


def placements(found: SimulationRun) -> dict[str, list[int]]:
    """By reservation: the numbers of the machines that its seats are on first."""
    return {key[0]: [number for number, _ in moments[0][1]] for key, moments in found.placements.items()}


def test_a_seat_keeps_away_from_seats_that_do_not_care() -> None:
    demands = [demand("exam", "8-12=1", of="exam"), demand("ml", "8-12=1")]
    found = run([cloud("m5.4xlarge")], demands, [caring("exam", APART), plain("small")])

    assert told(found.intervals) == [
        "0 on-demand m5.4xlarge 8:00-12:01 exam 1",
        "1 on-demand m5.4xlarge 8:00-12:01 ml 1",
    ]


@pytest.mark.parametrize("opens", [8, 9], ids=["at-once", "later"])
def test_a_seat_finds_its_place_beside_seats_that_do_not_care(opens: int) -> None:
    demands = [demand("help", f"{opens}-12=1", of="help"), demand("ml", "8-12=1")]
    found = run([cloud("m5.4xlarge")], demands, [caring("help", BESIDE), plain("small")])

    assert placements(found) == {"help": [0], "ml": [0]}
    assert [step.shortfalls for step in found.steps if step.shortfalls] == []


def test_a_spread_counts_seats_of_other_classes() -> None:
    """Two zones, and a seat of another class in the first."""
    zones = {"key": ZONE, "operator": "In", "values": ["us-east-1a", "us-east-1b"]}
    one = cloud("m5.large")._replace(
        requirements=(cloud("m5.large").requirements[0], built(PoolRequirement, zones))
    )
    both = {"matchExpressions": [{"key": "berth.dev/class", "operator": "In", "values": ["small", "even"]}]}
    spread = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": both}
    pinned = plain("small")._replace(pod=built(Placement, {"nodeSelector": {ZONE: "us-east-1a"}}))
    even = plain("even")._replace(pod=built(Placement, {"topologySpreadConstraints": (spread,)}))
    found = run([one], [demand("ml", "8-12=1"), demand("x", "9-12=1", of="even")], [pinned, even])

    assert [kind.zone for kind in found.kinds] == ["us-east-1a", "us-east-1b"]


def test_seats_of_a_deployment_are_told_from_those_of_another_by_its_hash() -> None:
    """Two of one course keep apart, those of two courses do not."""
    spread = {
        "topologyKey": HOSTNAME,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": SMALL,
        "matchLabelKeys": ("pod-template-hash",),
    }
    small = plain("small")._replace(pod=built(Placement, {"topologySpreadConstraints": (spread,)}))
    found = run([cloud("m5.4xlarge")], [demand("a", "8-12=2"), demand("b", "8-12=2")], [small])

    assert placements(found) == {"a": [0, 1], "b": [0, 1]}


@pytest.mark.parametrize(
    "pod",
    [
        {"nodeSelector": {ZONE: "us-east-1b"}},
        {"nodeSelector": {"failure-domain.beta.kubernetes.io/zone": "us-east-1b"}},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["us-east-1b"]}]}
                        ]
                    }
                }
            }
        },
    ],
    ids=["selected", "by-its-old-name", "required"],
)
@pytest.mark.parametrize("reserved", [False, True], ids=["no-zone-is-said", "a-reservation-says-one"])
def test_where_zones_are_not_said_a_seat_gets_the_one_that_it_names(
    pod: dict[str, Any], reserved: bool
) -> None:
    one = cloud(requirements=(only("m5.large"),))
    if reserved:
        held = (reservation("cr-1", "m5.large", 1),)
        one = one._replace(capacity_types=("reserved", "on-demand"), reservations=held)
    found = planned([one], [demand("ml", "8-12=1")], [plain("small")._replace(pod=built(Placement, pod))])

    assert [kind[2:] for kind in found.runs[0].kinds] == [("us-east-1b", "on-demand", "")]
    assert found.catalog.assumed == {"general": (*(["us-east-1a"] if reserved else []), "us-east-1b")}


def test_zones_that_a_capacity_says_are_all_that_it_has() -> None:
    """As are those of a type."""
    pinned = plain("small")._replace(pod=built(Placement, {"nodeSelector": {ZONE: "us-east-1b"}}))
    found = planned([cloud("m5.large")], [demand("ml", "8-12=1")], [pinned])

    assert (found.runs[0].kinds, found.catalog.assumed) == ((), {})


def test_zones_need_not_be_said_where_they_are_all_the_same() -> None:
    one = cloud(requirements=(only("m5.large"),))

    assert planned([one], [demand("ml", "8-12=1")], [plain("small")]).catalog.assumed == {}


def test_a_spread_over_zones_of_which_none_is_known_holds_nobody_back() -> None:
    spread = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SMALL}
    small = plain("small")._replace(pod=built(Placement, {"topologySpreadConstraints": (spread,)}))
    found = planned([cloud(requirements=(only("m5.large"),))], [demand("ml", "8-12=3")], [small])

    assert [step.shortfalls for step in found.runs[0].steps] == [(), ()]
    assert found.catalog.assumed == {"general": ()}


OURS = {"matchLabels": {"berth.dev/class": "exam"}}
BY_NAME = {"matchLabels": {"kubernetes.io/metadata.name": "berth"}}


@pytest.mark.parametrize(
    ("term", "machines"),
    [
        pytest.param({}, 4, id="each-from-all"),
        pytest.param({"matchLabelKeys": ("berth.dev/reservation",)}, 2, id="from-its-own-course"),
        pytest.param({"mismatchLabelKeys": ("berth.dev/reservation",)}, 2, id="from-other-courses"),
        pytest.param({"matchLabelKeys": ("pod-template-hash",)}, 2, id="from-its-own-deployment"),
        pytest.param({"matchLabelKeys": ("of.nobody",)}, 4, id="a-label-that-nobody-has"),
        pytest.param({"namespaces": ("elsewhere",)}, 1, id="of-another-namespace"),
        pytest.param({"namespaces": ("elsewhere", "berth")}, 4, id="of-several-namespaces"),
        pytest.param({"namespaceSelector": {}}, 4, id="of-all-namespaces"),
        pytest.param({"namespaceSelector": {}, "namespaces": ("elsewhere",)}, 4, id="of-all-and-one"),
        pytest.param({"namespaceSelector": BY_NAME}, 4, id="of-namespaces-by-name"),
        pytest.param({"namespaceSelector": {"matchLabels": {"x": "y"}}}, 1, id="of-namespaces-by-label"),
    ],
)
def test_who_keeps_apart_from_whom(term: dict[str, Any], machines: int) -> None:
    """Two courses of two seats each; a machine has room for all."""
    demands = [demand("a", "8-12=2", of="exam"), demand("b", "8-12=2", of="exam")]
    found = run([cloud("m5.4xlarge")], demands, [caring("exam", APART, OURS, **term)])

    assert len(found.kinds) == machines


@pytest.mark.parametrize("kind", [APART, BESIDE])
def test_wishes_are_read_as_what_is_required(kind: str) -> None:
    term = {
        "topologyKey": HOSTNAME,
        "labelSelector": OURS,
        "matchLabelKeys": ("berth.dev/reservation",),
        "namespaceSelector": {"matchLabels": {"x": "y"}},
    }
    preferred = ({"weight": 7, "podAffinityTerm": term},)
    wish = plain("exam")._replace(
        pod=built(
            Placement, {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}
        )
    )
    own = (("berth.dev/reservation", "a"), ("berth.dev/class", "exam"))
    pod = placeholder_pods({("a", "exam"): (wish, own)}, "berth")["a", "exam"]
    found = pod.preferred_anti_affinity if kind == APART else pod.preferred_affinity

    selector = PodSelector(
        (("berth.dev/class", "exam"),), (requirement("berth.dev/reservation", "In", ("a",)),)
    )
    assert found == (PodAffinityTerm(HOSTNAME, selector, ("",), 7),)
    assert pod.labels == own


def test_of_its_labels_a_seat_keeps_those_that_somebody_looks_at() -> None:
    labels = (("berth.dev/class", "small"), ("team", "ml"))
    plainly = placeholder_pods({("a", "small"): (plain("small"), labels)}, "berth")
    cared = placeholder_pods(
        {("a", "small"): (plain("small"), labels), ("b", "exam"): (caring("exam", APART), labels)}, "berth"
    )

    assert [pod.labels for pod in (*plainly.values(), *cared.values())] == [(), labels[:1], labels[:1]]


def test_karpenter_leaves_seats_alone_that_name_fields_of_nodes() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]
    terms = {"nodeSelectorTerms": [{"matchFields": fields}]}
    by_name = plain("small")._replace(
        pod=built(
            Placement,
            {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}},
        )
    )
    found = run([cloud("m5.large")], [demand("ml", "8-12=2")], [by_name])

    assert found.kinds == ()
    assert found.steps[0].shortfalls == (
        (("ml", "small"), Shortfall(2, "label", "Karpenter knows no matchFields")),
    )


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
        [kata._replace(cloud_capacity=("general",))],
    )

    assert len(found.kinds) == machines
