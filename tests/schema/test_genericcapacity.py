"""`CloudCapacity` of provider generic: nodes that are declared, whatever adds them."""

from tests.cases import tabled
from tests.saying import Value, document, finding, read, resource_class, site, told, valid

NODE = {"name": "large", "allocatable": {"cpu": "15.6", "memory": "60Gi"}}


def generic(**spec: object) -> Value:
    return document(
        "CloudCapacity", "campus", {"provider": "generic", "nodes": [NODE], "nodeStartMinutes": 4, **spec}
    )


def test_pods_in_allocatable_are_reported() -> None:
    """As `kubectl describe node` lists them together."""
    node = {**NODE, "allocatable": {**NODE["allocatable"], "pods": 29}}  # type: ignore[dict-item] # a mapping

    assert told(site(), generic(nodes=[node])) == [
        finding("b.yaml B022 spec.nodes.0.allocatable.pods @key", "Write pods beside allocatable")
    ]


@tabled("schema")
def test_faults_are_reported_at_their_place(spec: dict[str, object], expected: str) -> None:
    assert told(site(), generic(**spec)) == [f"b.yaml {expected}"]


def test_an_unknown_provider_is_reported_with_the_known_providers() -> None:
    (one,) = [p for p in read(site(), generic(provider="azure")).problems if p.path == ("spec", "provider")]

    assert "aws" in one.fix
    assert "generic" in one.fix


def test_a_class_may_name_a_generic_capacity() -> None:
    declared = valid(site(), generic(), resource_class(cloudCapacity=["campus"]))

    assert declared.may_exist("CloudCapacity", "campus")
