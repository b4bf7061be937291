"""What the fields of a backend may not say, and what they may not say together: both sides of each rule."""

from typing import Any

import pytest
from berth.backends.backendspec import BackendSpec

from tests.saying import said
from tests.schema.backends import OWNERS, backend

TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "another-type": (
        {"type": "placeholder", "owners": OWNERS, "standing": False},
        ["B016 owners @key", "B016 standing @key"],
    ),
    "the-type-is-not-said": ({"type": None, "order": 5}, ["B016 order @key"]),
    "an-order-that-sessions-need-not-follow": ({"order": 5}, ["B122 order @key"]),
    "misspelt": ({"alocateOnce": False, "ownrs": OWNERS}, ["B010 alocateOnce @key", "B010 ownrs @key"]),
    "wrong-types": (
        {"allocateOnce": "no", "order": "5", "taints": "exam", "owners": [], "preAllocation": 1},
        ["B012 owners", "B013 allocateOnce", "B013 order", "B013 preAllocation", "B013 taints"],
    ),
    "words": (
        {"allocatePolicy": "Default", "preAllocation": True, "preAllocationPolicy": {"mode": "cluster"}},
        ["B014 allocatePolicy", "B014 preAllocationPolicy.mode"],
    ),
    "order-that-is-ignored": ({"order": 0}, ["B012 order"]),
    "order-that-is-no-label": ({"order": -5}, ["B012 order"]),
    "numbers-that-do-not-fit": ({"order": 2**63, "priority": 2**31}, ["B012 order", "B012 priority"]),
    "priority-said-twice": (
        {"priority": 9000, "template": {"priority": 1}},
        ["B016 priority @key", "B110 priority @key", "B110 template.priority @key"],
    ),
    "taints": (
        {
            "sessionAffinity": True,
            "taints": [
                {"key": "a", "effect": "PreferNoSchedule"},
                {"key": "a", "effect": "Never"},
                {"key": "a b", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"},
                {"value": "x"},
            ],
        },
        [
            "B010 taints.2.timeAdded @key",
            "B011 taints.3",
            "B011 taints.3",
            "B014 taints.1.effect",
            "B020 taints.2.key",
            "B029 taints.0.effect",
        ],
    ),
    "taints-that-pods-do-not-tolerate-by-tolerations": (
        {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        ["B116 taints"],
    ),
    "resources": ({"restrictedResources": ["cpus"]}, ["B022 restrictedResources.0"]),
    "ends-of-windows": (
        {"ttl": "4h", "expires": "2026-12-31T23:00:00Z"},
        [f"B016 {name} @key" for name in ("expires", "ttl")],
    ),
    "ends-that-nobody-can-read": (
        {"standing": True, "ttl": "7d", "expires": "2026-12-31"},
        ["B107 expires", "B107 ttl"],
    ),
    "never-against-expires": (
        {"standing": True, "ttl": "0", "expires": "2026-12-31T23:00:00Z"},
        ["B108 ttl"],
    ),
    "once-and-again": ({"standing": True, "allocateOnce": True}, ["B109 allocateOnce"]),
    "standing-placeholders": ({"standing": True, "withPlaceholders": True}, ["B016 withPlaceholders @key"]),
    "pre-allocation-of-another-policy": (
        {"preAllocation": True, "allocatePolicy": "Aligned", "allocateOnce": True},
        ["B106 allocateOnce", "B106 allocatePolicy"],
    ),
    "pre-allocation-without-labels": (
        {"preAllocation": True, "owners": [{"object": {"namespace": "a"}}, {"controller": {"name": "b"}}]},
        ["B106 owners"],
    ),
    "settings-of-no-pre-allocation": (
        {"preAllocationPolicy": {"enableMultiple": False}, "preAllocationRequired": True},
        [f"B106 {name} @key" for name in ("preAllocationPolicy", "preAllocationRequired")],
    ),
    "mode-cluster": (
        {"preAllocation": True, "preAllocationPolicy": {"mode": "Cluster"}},
        ["B115 preAllocationPolicy.mode"],
    ),
    "placeholders-against-all-they-need": (
        {
            "withPlaceholders": True,
            "preAllocation": False,
            "preAllocationRequired": False,
            "preAllocationPolicy": {"mode": "Cluster"},
            "allocatePolicy": "Aligned",
            "allocateOnce": True,
        },
        [
            "B106 allocateOnce",
            "B106 allocatePolicy",
            "B106 preAllocation",
            "B106 preAllocationPolicy.mode",
            "B106 preAllocationRequired",
        ],
    ),
}


@pytest.mark.parametrize(("written", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_backend(written: dict[str, Any], problems: list[str]) -> None:
    assert said(BackendSpec, {"type": "koordinator", **written}) == problems


@pytest.mark.parametrize(
    "good",
    [
        {"standing": True, "ttl": "0s"},
        {"standing": True, "expires": "2026-12-31T23:00:00Z"},
        {"preAllocation": True, "preAllocationPolicy": {"mode": "Default"}, "preAllocationRequired": True},
        {"preAllocation": True, "owners": [{"object": {"namespace": "a"}}, *OWNERS]},
        {"withPlaceholders": True, "owners": [{"object": {"namespace": "a"}}]},
        {"withPlaceholders": True, "preAllocation": True, "allocatePolicy": "Restricted"},
        {"allocateOnce": True},
        {"order": 2**63 - 1, "sessionAffinity": True},
        {"taints": [{"key": "a", "effect": "NoSchedule"}], "sessionAffinity": True},
    ],
    ids=ascii,
)
def test_what_agrees_is_accepted(good: dict[str, Any]) -> None:
    assert said(BackendSpec, backend(**good)) == []
