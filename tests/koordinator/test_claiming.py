"""Where Reservations go, and how they take over the room of pods that run (pre-allocation)."""

import json
from typing import Any

import pytest

from tests.koordinator.claiming import CLUSTER_MODE_DISABLED, NEEDS_DONORS, UNSUPPORTED, Settings
from tests.koordinator.world import World, node, pod, reservation

PRE: dict[str, Any] = {
    "preAllocation": True,
    "owners": [{"labelSelector": {"matchLabels": {"app": "place"}}}],
}
REQUIRED = {"scheduling.koordinator.sh/pre-allocation-required": "true"}
PLACE = {"app": "place"}
AFFINITY = "scheduling.koordinator.sh/reservation-affinity"


@pytest.mark.parametrize(
    ("template", "there", "goes"),
    [
        ({"nodeName": "n2"}, {}, "n2"),
        ({"nodeSelector": {"zone": "b"}}, {"labels": {"zone": "b"}}, "n2"),
        ({"nodeSelector": {"zone": "c"}}, {"labels": {"zone": "b"}}, None),
        ({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [
                {"key": "zone", "operator": "NotIn", "values": [""]},
                {"key": "cores", "operator": "Gt", "values": ["8"]}]}]}}}},
         {"labels": {"cores": "9"}}, "n2"),
        ({"nodeSelector": {"zone": "b"}}, {"labels": {"zone": "b"}, "taints": [
            {"key": "gpu", "effect": "NoSchedule"}]}, None),
        ({"nodeSelector": {"zone": "b"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]},
         {"labels": {"zone": "b"}, "taints": [{"key": "gpu", "effect": "NoSchedule"}]}, "n2"),
    ],
    ids=["name", "selector", "no-such-node", "affinity", "taint", "toleration"],
)  # fmt: skip
def test_a_template_says_where(template: dict[str, Any], there: dict[str, Any], goes: str | None) -> None:
    world = World(node("n1"), node("n2", **there), reservation(template=template))
    world.look()

    assert world.where().get("r1") == goes


def test_each_takes_one_place_of_a_pod() -> None:
    world = World(node(pods="2", cpu="64"), *(reservation(name) for name in ("r1", "r2", "r3")))
    world.look()

    assert world.phases() == {"r1": "Available", "r2": "Available", "r3": "Pending"}
    assert world.refused("r3") == "0/1 nodes are available: 1 Too many pods."


def test_only_requests_count() -> None:
    limits: dict[str, Any] = {"containers": [{"resources": {"limits": {"cpu": "64"}}}]}
    whole: dict[str, Any] = {
        "containers": [{"resources": {"requests": {"cpu": "1"}}}],
        "initContainers": [
            {"resources": {"requests": {"cpu": "500m"}}, "restartPolicy": "Always"},
            {"resources": {"requests": {"cpu": "2"}}},
        ],
        "overhead": {"cpu": "250m"},
    }
    pooled = {**whole, "resources": {"requests": {"cpu": "3"}}}
    world = World(
        node(cpu="20"), *(reservation(f"r{n}", template=one) for n, one in enumerate((limits, whole, pooled)))
    )
    world.look()

    sizes = [one["status"]["allocatable"] for one in world.reservations.values()]
    assert sizes == [{}, {"cpu": "2750m"}, {"cpu": "3250m"}]


def test_they_spread_over_the_emptiest_nodes() -> None:
    world = World(node("n1"), node("n2"), *(reservation(f"r{number}") for number in range(4)))
    world.look()

    assert sorted(world.where().values()) == ["n1", "n1", "n2", "n2"]


def test_anti_affinity_among_them_keeps_them_apart() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"x": "y"}}}
    apart = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    three = [reservation(name, template=apart, labels={"x": "y"}) for name in ("r1", "r2", "r3")]
    world = World(node("n1"), node("n2"), *three)
    world.look()

    assert world.where() == {"r1": "n1", "r2": "n2"}
    assert "anti-affinity" in world.refused("r3")


def test_a_host_port_is_reserved_and_given_to_the_owner() -> None:
    port: dict[str, Any] = {
        "containers": [{"ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "1"}}}]
    }
    world = World(node(), reservation(template=port), reservation("r2", template=port))
    world.look()
    assert world.phases() == {"r1": "Available", "r2": "Pending"}

    world.add(pod("s1", **port), pod("stranger", labels={}, **port))
    world.look()
    assert world.owners()["r1"] == ["s1"]
    assert "stranger" in world.waits()


def test_it_takes_over_the_room_of_a_pod_that_keeps_running() -> None:
    """On a node that is full; and the room stays when the pod is gone."""
    world = World(node(cpu="1"), pod("place", at="n1", labels=PLACE), reservation(**PRE))
    world.look()

    assert world.phases() == {"r1": "Available"}
    assert world.owners() == {"r1": ["place"]}
    said = world.pods["place"]["metadata"]["annotations"]["scheduling.koordinator.sh/reservation-allocated"]
    assert json.loads(said) == {"name": "r1", "uid": "uid-of-r1"}

    del world.pods["place"]
    world.add(pod("stranger", labels={}))
    world.look()
    assert world.owners() == {"r1": []}
    assert "stranger" in world.waits()


@pytest.mark.parametrize("policy", ["Aligned", None])
def test_pre_allocation_is_for_restricted_ones_only(policy: str | None) -> None:
    world = World(node(cpu="9"), reservation(**PRE, allocatePolicy=policy))
    world.look()

    assert world.phases() == {"r1": "Pending"}
    assert world.refused("r1") == UNSUPPORTED


def test_allocate_once_is_over_as_soon_as_it_is_bound() -> None:
    world = World(node(cpu="1"), pod("place", at="n1", labels=PLACE), reservation(**PRE, allocateOnce=True))
    world.look()

    assert world.phases() == {"r1": "Succeeded"}


@pytest.mark.parametrize(
    ("labels", "prefers", "owners"),
    [(REQUIRED, False, None), ({}, False, []), ({}, True, [])],
    ids=["required", "not-required", "prefers-free-room"],
)
def test_free_room_does_where_no_pod_must_give_its_own(
    labels: dict[str, str], prefers: bool, owners: list[str] | None
) -> None:
    world = World(node(), reservation(**PRE, labels=labels), settings=Settings(prefers_free_room=prefers))
    world.look()

    assert world.owners()["r1"] == (owners or [])
    assert world.phases()["r1"] == ("Pending" if owners is None else "Available")
    if owners is None:
        said = f"0/1 nodes are available: 1 {NEEDS_DONORS}."
        assert world.refused("r1") == said


def test_a_donor_goes_before_free_room_unless_free_room_is_preferred() -> None:
    for prefers, owners in ((False, ["place"]), (True, [])):
        world = World(
            node(),
            pod("place", at="n1", labels=PLACE),
            reservation(**PRE),
            settings=Settings(prefers_free_room=prefers),
        )
        world.look()
        assert world.owners() == {"r1": owners}


def test_several_donors_only_where_that_is_said() -> None:
    places = [pod(name, at="n1", labels=PLACE) for name in ("p1", "p2")]
    for several, phase, owners in ((False, "Pending", []), (True, "Available", ["p1", "p2"])):
        policy = {"mode": "Default", "enableMultiple": several}
        world = World(node(cpu="2"), *places, reservation(cpu="2", **PRE, preAllocationPolicy=policy))
        world.look()
        assert world.phases() == {"r1": phase}
        assert world.owners() == {"r1": owners}


def test_a_donor_must_fit_into_it() -> None:
    world = World(node(cpu="2"), pod("place", cpu="2", at="n1", labels=PLACE), reservation(**PRE))
    world.look()

    assert world.refused("r1") == "0/1 nodes are available: 1 Insufficient cpu."
    world.add(reservation(**PRE, labels=REQUIRED))
    world.look()
    assert world.refused("r1") == "0/1 nodes are available: 1 Reservation(s) Insufficient cpu."


def test_each_pod_gives_once() -> None:
    world = World(
        node(cpu="1"), pod("place", at="n1", labels=PLACE), reservation(**PRE), reservation("r2", **PRE)
    )
    world.look()

    assert world.phases() == {"r1": "Available", "r2": "Pending"}


@pytest.mark.parametrize(
    "owner",
    [{"object": {"name": "place"}}, {"labelSelector": {"matchLabels": {"app": "other"}}}],
    ids=["no-selector", "another-pod"],
)
def test_donors_come_from_owners_with_a_selector(owner: dict[str, Any]) -> None:
    world = World(
        node(cpu="1"), pod("place", at="n1", labels=PLACE), reservation(preAllocation=True, owners=[owner])
    )
    world.look()

    assert world.phases() == {"r1": "Pending"}


def test_a_donor_that_wants_another_reservation_gives_nothing() -> None:
    wants = {AFFINITY: json.dumps({"name": "other"})}
    world = World(node(cpu="1"), pod("place", at="n1", labels=PLACE, annotations=wants), reservation(**PRE))
    world.look()

    assert world.phases() == {"r1": "Pending"}


def test_cluster_mode_takes_labelled_pods_the_highest_first_where_it_is_enabled() -> None:
    labels = {"pod.koordinator.sh/is-pre-allocatable": "true"}
    priority = "pod.koordinator.sh/pre-allocatable-priority"
    places = [
        pod(name, at="n1", labels=labels, annotations={priority: said})
        for name, said in (("p1", "1"), ("p2", "20"), ("p3", "x"))
    ]
    mode = {"mode": "Cluster", "enableMultiple": False}
    for enabled, owners in ((False, []), (True, ["p2"])):
        one = reservation(**PRE, preAllocationPolicy=mode)
        world = World(node(cpu="3"), *places, one, settings=Settings(cluster_mode=enabled))
        world.look()
        assert world.owners() == {"r1": owners}
    world = World(node(cpu="9"), reservation(**PRE, preAllocationPolicy=mode))
    world.look()
    assert world.refused("r1") == CLUSTER_MODE_DISABLED


def test_hand_over() -> None:
    """Placeholders first, then Reservations on their room, then sessions; strangers get none of it."""
    owners = [{"labelSelector": {"matchLabels": {"app": name}}} for name in ("session", "place")]
    places = [pod(f"p{number}", at="n1", labels=PLACE) for number in range(3)]
    claims = [
        reservation(f"r{number}", preAllocation=True, owners=owners, labels=REQUIRED) for number in range(3)
    ]
    world = World(node(cpu="3"), *places, *claims)
    world.look()
    assert set(world.phases().values()) == {"Available"}
    assert sorted(name for names in world.owners().values() for name in names) == ["p0", "p1", "p2"]

    for one in places:
        del world.pods[one["metadata"]["name"]]
    world.add(pod("stranger", labels={}), pod("s1"), pod("s2"))
    world.look()

    assert sorted(name for names in world.owners().values() for name in names) == ["s1", "s2"]
    assert "stranger" in world.waits()
