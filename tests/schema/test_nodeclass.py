"""`nodeClass`: an EC2NodeClass as its CRD has it, and stricter where that lets bad ones pass."""

import pytest
from berth.schema.nodeclass import NodeClass

from tests.saying import Value, ask, said
from tests.schema.nodeclasses import GOOD, WHOLE, plain

TOLD: dict[str, tuple[Value, list[str]]] = {
    "neither-role-nor-profile": ({"role": None}, ["B011"]),
    "role-and-profile": ({"instanceProfile": "p"}, ["B016 instanceProfile @key"]),
    "empty-role": ({"role": ""}, ["B151 role"]),
    "no-terms": ({"subnetSelectorTerms": []}, ["B152 subnetSelectorTerms"]),
    "too-many-terms": ({"subnetSelectorTerms": [{"id": "subnet-0"}] * 31}, ["B012 subnetSelectorTerms"]),
    "missing-terms": (
        {
            "subnetSelectorTerms": None,
            "securityGroupSelectorTerms": None,
            "amiSelectorTerms": None,
            "amiFamily": "AL2023",
        },
        ["B011", "B011", "B011"],
    ),
    "a-bad-subnet-beside-a-good-one": (
        {"subnetSelectorTerms": [{"id": "subnet-0"}, {"id": "subnet-1", "tags": {"a": "b"}}]},
        ["B152 subnetSelectorTerms.1"],
    ),
    "a-term-of-nothing": ({"subnetSelectorTerms": [{}]}, ["B152 subnetSelectorTerms.0"]),
    "tags-of-nothing": ({"subnetSelectorTerms": [{"tags": {}}]}, ["B012 subnetSelectorTerms.0.tags"]),
    "an-empty-tag": (
        {"subnetSelectorTerms": [{"tags": {"a": ""}}, {"tags": {"": "a"}}]},
        ["B151 subnetSelectorTerms.0.tags.a", "B151 subnetSelectorTerms.1.tags. @key"],
    ),
    "a-long-tag": (
        {"subnetSelectorTerms": [{"tags": {"a": "b" * 257}}, {"tags": {"a" * 129: "b"}}]},
        ["B151 subnetSelectorTerms.0.tags.a", f"B151 subnetSelectorTerms.1.tags.{'a' * 129} @key"],
    ),
    "any-value-of-a-tag": ({"subnetSelectorTerms": [{"tags": {"a": "*"}}]}, []),
    "ids": (
        {"subnetSelectorTerms": [{"id": "sn-0"}], "securityGroupSelectorTerms": [{"id": "SG-1"}]},
        ["B151 securityGroupSelectorTerms.0.id", "B151 subnetSelectorTerms.0.id"],
    ),
    "a-bad-group-beside-a-good-one": (
        {
            "securityGroupSelectorTerms": [
                {"name": "a"},
                {"name": "b", "tags": {"a": "b"}},
                {"id": "sg-0", "name": "b"},
            ]
        },
        ["B152 securityGroupSelectorTerms.1", "B152 securityGroupSelectorTerms.2"],
    ),
    "an-alias-beside-another-term": (
        {"amiSelectorTerms": [{"alias": "al2023@v20260107"}, {"id": "ami-0"}]},
        ["B152 amiSelectorTerms"],
    ),
    "an-alias-beside-tags": (
        {"amiSelectorTerms": [{"alias": "al2023@v20260107", "tags": {"a": "b"}}]},
        ["B152 amiSelectorTerms.0"],
    ),
    "an-alias-of-no-version": (
        {"amiSelectorTerms": [{"alias": "al2023"}]},
        ["B151 amiSelectorTerms.0.alias"],
    ),
    "an-alias-of-two-lines": (
        {"amiSelectorTerms": [{"alias": "al2023@latest\n"}]},
        ["B151 amiSelectorTerms.0.alias"],
    ),
    "an-alias-of-no-family": (
        {"amiSelectorTerms": [{"alias": "ubuntu@latest"}]},
        ["B151 amiSelectorTerms.0.alias"],
    ),
    "a-version-of-windows": (
        {"amiSelectorTerms": [{"alias": "windows2022@v1"}]},
        ["B151 amiSelectorTerms.0.alias"],
    ),
    "no-family": ({"amiSelectorTerms": [{"id": "ami-0"}]}, ["B011"]),
    "another-family": ({"amiFamily": "Bottlerocket"}, ["B016 amiFamily"]),
    "a-custom-family": ({"amiFamily": "Custom"}, []),
    "tags-of-karpenter": (
        {"tags": {"karpenter.sh/nodepool": "a", "kubernetes.io/cluster/a": "b", "mine": ""}},
        ["B153 tags.karpenter.sh/nodepool @key", "B153 tags.kubernetes.io/cluster/a @key"],
    ),
    "a-reservation-here": (
        {"capacityReservationSelectorTerms": [{"id": "cr-0"}]},
        ["B016 capacityReservationSelectorTerms @key"],
    ),
    "says-nothing": (
        {"connectionTracking": {}, "placementGroupSelector": {}},
        ["B011 connectionTracking", "B011 placementGroupSelector"],
    ),
    "two-groups": ({"placementGroupSelector": {"id": "pg-0", "name": "a"}}, ["B016 placementGroupSelector"]),
}


@pytest.mark.parametrize("value", [GOOD, WHOLE], ids=["little", "every-key"])
def test_what_is_good_is_passed_on_as_it_is(value: Value) -> None:
    made, problems = ask(NodeClass, value)

    assert problems == []
    assert plain(made.dump()) == value


@pytest.mark.parametrize(("change", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_node_class(change: Value, problems: list[str]) -> None:
    value = {key: inner for key, inner in {**GOOD, **change}.items() if inner is not None}

    assert said(NodeClass, value) == problems
