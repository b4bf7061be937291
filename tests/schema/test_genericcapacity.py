"""`CloudCapacity` of provider generic: nodes that are declared, whatever adds them."""

from decimal import Decimal

from berth.findings import Origin
from berth.schema.cloudcapacity import GenericCapacity, NodeShapeSpec
from berth.schema.nodepoolparts import NodeTaint

from tests.built import built
from tests.cases import tabled
from tests.saying import Value, document, finding, read, resource_class, site, told

NODE = {"name": "large", "allocatable": {"cpu": "15.6", "memory": "60Gi"}}


def generic(**spec: object) -> Value:
    return document(
        "CloudCapacity", "campus", {"provider": "generic", "nodes": [NODE], "nodeStartMinutes": 4, **spec}
    )


def test_whatever_is_left_out_has_its_default() -> None:
    declared = read(site(), generic())
    shape = built(NodeShapeSpec, {"name": "large", "allocatable": {"cpu": "15.6", "memory": "60Gi"}})

    assert (declared.problems, declared.clouds) == ([], {})
    assert declared.generic["campus"] == GenericCapacity.model_construct(
        origin=Origin("b.yaml", 0),
        name="campus",
        cluster="",
        provider="generic",
        nodes=(shape,),
        node_start_minutes=4,
    )


def test_pods_of_a_node_are_beside_what_it_has_for_containers() -> None:
    """As `kubectl describe node` lists them together."""
    node = {**NODE, "allocatable": {**NODE["allocatable"], "pods": 29}}  # type: ignore[dict-item] # a mapping

    assert told(site(), generic(nodes=[node])) == [
        finding("b.yaml B022 spec.nodes.0.allocatable.pods @key", "Write pods beside allocatable")
    ]


def test_what_is_written_is_kept() -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    node = {
        **NODE,
        "pods": 30,
        "volumes": 26,
        "maxCount": 8,
        "labels": {"pool": "a"},
        "taints": [taint],
        "zones": ["nova"],
        "hourlyPrice": 0.42,
    }
    one = read(
        site(), generic(nodes=[node], imagePullMinutes=2, daemonRequests={"cpu": "1", "pods": 6})
    ).generic["campus"]

    shape = one.nodes[0]
    assert (shape.max_count, shape.labels, shape.taints) == (8, {"pool": "a"}, (built(NodeTaint, taint),))
    assert (shape.zones, shape.hourly_price, shape.volumes) == (("nova",), Decimal("0.42"), 26)
    assert shape.pods == 30
    assert (one.startup_seconds, one.daemon_requests) == (360, {"cpu": "1", "pods": "6"})


@tabled("schema")
def test_faults_are_told_at_their_place(spec: dict[str, object], expected: str) -> None:
    assert told(site(), generic(**spec)) == [f"b.yaml {expected}"]


def test_an_unknown_provider_is_told_with_both() -> None:
    (one,) = [p for p in read(site(), generic(provider="azure")).problems if p.path == ("spec", "provider")]

    assert "aws" in one.fix
    assert "generic" in one.fix


def test_a_class_may_name_it() -> None:
    declared = read(site(), generic(), resource_class(cloudCapacity=["campus"]))

    assert declared.problems == []
    assert declared.may_exist("CloudCapacity", "campus")
