"""What session pods need is told: where placeholders of a class with cloud capacity may be, they may be."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth.manifests.window import UNREACHABLE

from tests.manifests.cloudparts import (
    MACHINES,
    Object,
    capacity,
    mondays,
    nodes,
    objects,
    resource_class,
    texts,
)

ROOM, YARD = {"example.org/room": "a"}, {"example.org/yard": "b"}
ID, TYPE = "karpenter.k8s.aws/capacity-reservation-id", "karpenter.k8s.aws/capacity-reservation-type"
RESERVED: Object = {
    "capacityTypes": ["reserved"],
    "reservations": [{"id": "cr-0a", **MACHINES}, {"id": "cr-0b", **MACHINES}],
}


def is_in(key: str, *values: str) -> Object:
    return {"key": key, "operator": "In", "values": list(values)}


def in_pools(*names: str) -> Object:
    return is_in("karpenter.sh/nodepool", *names)


def required(*terms: list[Object]) -> Object:
    made = [{"matchExpressions": term} for term in terms]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": made}}}


def told(found: dict[str, str], cloud: str = "odcr", name: str = "bench") -> Any:
    snippet = objects(found[f"clusters/prod/cloud/{cloud}.yaml"])[f"ConfigMap/{name}.session-affinity"]
    return json.loads(snippet["data"]["session.yaml"])


def placeholder(found: dict[str, str]) -> Object:
    deployment = objects(found["clusters/prod/reservations/course.yaml"])["Deployment/course-bench"]
    pod: Object = deployment["spec"]["template"]["spec"]
    pod["tolerations"] = [one for one in pod["tolerations"] if one not in UNREACHABLE]
    if not pod["tolerations"]:
        del pod["tolerations"]
    return {key: pod[key] for key in ("nodeSelector", "affinity", "tolerations") if key in pod}


def two(first: Object, second: Object) -> tuple[Object, Object]:
    return capacity(weight=50, labels=first), capacity("spare", labels=second)


def test_a_class_has_its_config_map_beside_its_preferred_capacity(tmp_path: Path) -> None:
    """One for each class, so that nobody has to put two together; none of a capacity itself."""
    both = resource_class(cloudCapacity=["odcr", "spare"])
    found = texts(tmp_path, *two({}, {}), both, resource_class("desk"))
    snippets = {
        path: [object_ for object_ in objects(text) if object_.startswith("ConfigMap")]
        for path, text in found.items()
        if "/cloud/" in path
    }

    assert snippets == {
        "clusters/prod/cloud/odcr.yaml": [
            "ConfigMap/bench.session-affinity",
            "ConfigMap/desk.session-affinity",
        ],
        "clusters/prod/cloud/spare.yaml": [],
    }


@pytest.mark.parametrize(
    ("first", "second", "placement"),
    [
        pytest.param(
            {}, {}, {"affinity": required([in_pools("uni.cloud.odcr", "uni.cloud.spare")])}, id="pools"
        ),
        pytest.param(ROOM, ROOM, {"nodeSelector": ROOM}, id="labels-that-are-the-same"),
        pytest.param(
            ROOM,
            {**ROOM, **YARD},
            {
                "affinity": required(
                    [is_in("example.org/room", "a")],
                    [is_in("example.org/room", "a"), is_in("example.org/yard", "b")],
                )
            },
            id="labels-that-differ",
        ),
        pytest.param(
            {},
            YARD,
            {"affinity": required([in_pools("uni.cloud.odcr")], [is_in("example.org/yard", "b")])},
            id="a-pool-or-labels",
        ),
    ],
)
def test_the_affinity_covers_all_capacities_of_the_class_by_preference(
    tmp_path: Path, first: Object, second: Object, placement: Object
) -> None:
    """The preferred first: Karpenter takes the first alternative that it can."""
    found = texts(tmp_path, *two(first, second), resource_class(cloudCapacity=["odcr", "spare"]))

    assert told(found) == {"spec": placement}


def test_three_capacities_join_node_pools_without_labels_in_one_term(tmp_path: Path) -> None:
    three = [capacity("a", weight=9), capacity("b", weight=8, labels=ROOM), capacity("c", weight=7)]
    found = texts(tmp_path, *three, resource_class(cloudCapacity=["a", "b", "c"]))

    assert told(found, "a") == {
        "spec": {
            "affinity": required([in_pools("uni.cloud.a", "uni.cloud.c")], [is_in("example.org/room", "a")])
        }
    }


def test_sessions_without_capacity_labels_get_the_placement_of_placeholders(tmp_path: Path) -> None:
    """But for what they have against other pods: that speaks of labels of placeholders."""
    taint = {"key": "a", "value": "b", "effect": "NoSchedule"}
    bears = {"key": "a", "operator": "Equal", "value": "b"}
    zones = [is_in("topology.kubernetes.io/zone", zone) for zone in ("us-west-2a", "us-west-2b")]
    wish = {"weight": 1, "preference": {"matchExpressions": [zones[0]]}}
    node = required([zones[0]], [zones[1]])["nodeAffinity"]
    node["preferredDuringSchedulingIgnoredDuringExecution"] = [wish]
    apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
    near = {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}
    said = resource_class(
        nodeSelector={"kubernetes.io/arch": "amd64"},
        tolerations=[bears],
        affinity={"nodeAffinity": node, "podAntiAffinity": near},
    )
    found = texts(tmp_path, capacity(taints=[taint]), said, mondays())
    theirs = placeholder(found)

    assert theirs["affinity"].pop("podAntiAffinity") == near
    led = required([zones[0], in_pools("uni.cloud.odcr")], [zones[1], in_pools("uni.cloud.odcr")])
    led["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = [wish]
    assert told(found) == {"spec": theirs}
    assert theirs == {
        "nodeSelector": {"kubernetes.io/arch": "amd64"},
        "affinity": led,
        "tolerations": [bears],
    }


def test_each_affinity_term_of_the_class_is_combined_with_each_capacity(tmp_path: Path) -> None:
    zones = [is_in("topology.kubernetes.io/zone", zone) for zone in ("us-west-2a", "us-west-2b")]
    said = resource_class(cloudCapacity=["odcr", "spare"], affinity=required([zones[0]], [zones[1]]))
    room, yard = is_in("example.org/room", "a"), is_in("example.org/yard", "b")

    assert told(texts(tmp_path, *two(ROOM, YARD), said)) == {
        "spec": {"affinity": required([zones[0], room], [zones[1], room], [zones[0], yard], [zones[1], yard])}
    }


@pytest.mark.parametrize(
    ("labels", "placement"),
    [
        pytest.param({}, {"affinity": required([in_pools("uni.cloud.odcr")])}, id="of-a-pool"),
        pytest.param(ROOM, {}, id="of-labels"),
    ],
)
@pytest.mark.parametrize(("key", "value"), [(ID, "cr-0a"), (TYPE, "default")], ids=["id", "type"])
def test_a_class_that_selects_reserved_machines_places_all_of_its_pods_there(
    tmp_path: Path, key: str, value: str, labels: Object, placement: Object
) -> None:
    """Placeholders, whole nodes and sessions alike."""
    said = resource_class(nodeSelector={key: value})
    found = texts(tmp_path, capacity(**RESERVED, labels=labels), said, mondays(), nodes(count=1))
    whole = objects(found["clusters/prod/reservations/exam.yaml"])["NodePool/uni.exam-bench"]

    assert placeholder(found) == {
        "nodeSelector": {key: value},
        "affinity": required([in_pools("uni.cloud.odcr")]),
    }
    assert told(found) == {"spec": {"nodeSelector": {key: value, **labels}, **placement}}
    assert is_in(key, value) in whole["spec"]["template"]["spec"]["requirements"]


def test_a_class_may_select_one_of_several_reservations(tmp_path: Path) -> None:
    either = is_in(ID, "cr-0a", "cr-0b")
    found = texts(tmp_path, capacity(**RESERVED), resource_class(affinity=required([either])), mondays())

    assert told(found) == {"spec": {"affinity": required([either, in_pools("uni.cloud.odcr")])}}
    assert told(found) == {"spec": placeholder(found)}
