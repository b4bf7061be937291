"""What the fields of a backend may not say, and what they may not say together: both sides of each rule."""

from typing import Any

import pytest

from gen.kind.backend import BACKEND
from tests.kind.test_backend import OWNERS, PRIORITY, backend
from tests.saying import said

TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "another-type": (
        {"type": "placeholder", "owners": OWNERS, "standing": False},
        [
            "B016 owners @key: type placeholder takes no owners. Remove it, or write type: koordinator.",
            "B016 standing @key: type placeholder takes no standing. Remove it, or write type: koordinator.",
        ],
    ),
    "the-type-is-not-said": (
        {"type": None, "order": 5},
        ["B016 order @key: type placeholder takes no order. Remove it, or write type: koordinator."],
    ),
    "misspelt": (
        {"alocateOnce": False, "ownrs": OWNERS},
        [
            "B010 alocateOnce @key: this key is unknown. Did you mean allocateOnce or allocatePolicy or "
            "preAllocation?",
            "B010 ownrs @key: this key is unknown. Did you mean owners?",
        ],
    ),
    "wrong-types": (
        {"allocateOnce": "no", "order": "5", "taints": "exam", "owners": [], "preAllocation": 1},
        [
            'B013 allocateOnce: "no" is text, not true or false. Write false.',
            'B013 order: "5" is not a whole number from 1 to 9223372036854775807. '
            "Write it without quotes: 5.",
            'B013 taints: "exam" is not a list. Write a list: begin each item with "- ".',
            "B012 owners: the list is empty. Write at least one item.",
            "B013 preAllocation: 1 is not true or false. Write true or false.",
        ],
    ),
    "words": (
        {"allocatePolicy": "Default", "preAllocation": True, "preAllocationPolicy": {"mode": "cluster"}},
        [
            'B014 allocatePolicy: "Default" is not one of Restricted, Aligned. '
            "Write one of Restricted, Aligned.",
            'B014 preAllocationPolicy.mode: "cluster" is not one of Default, Cluster. Did you mean Cluster?',
        ],
    ),
    "order-that-is-ignored": (
        {"order": 0},
        ["B012 order: 0 is ignored by Koordinator. Write a whole number from 1 to 9223372036854775807."],
    ),
    "order-that-is-no-label": (
        {"order": -5},
        ["B012 order: -5 is below 1. Write a whole number from 1 to 9223372036854775807."],
    ),
    "numbers-that-do-not-fit": (
        {"order": 2**63, "priority": 2**31},
        [
            "B012 order: 9223372036854775808 is above 9223372036854775807. "
            "Write a whole number from 1 to 9223372036854775807.",
            "B012 priority: 2147483648 is above 2147483647. Write a whole number from 0 to 2147483647.",
        ],
    ),
    "priority-said-twice": (
        {"priority": 9000, "template": {"priority": 1}},
        [
            f"B110 template.priority @key: {PRIORITY}",
            "B016 priority @key: template.priority says the priority already. Keep one of the two.",
            f"B110 priority @key: {PRIORITY}",
        ],
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
            "B029 taints.0.effect: Koordinator ignores taints of effect PreferNoSchedule. "
            "Write NoSchedule, or remove the taint.",
            'B014 taints.1.effect: "Never" is not one of NoSchedule, PreferNoSchedule, NoExecute. '
            "Write one of NoSchedule, PreferNoSchedule, NoExecute.",
            'B020 taints.2.key: "a b" is not a key that Kubernetes allows. Write at most 63 letters, digits, '
            "-, _ and ., if need be after a domain and a slash: example.org/course.",
            "B010 taints.2.timeAdded @key: this key is unknown. Known here: key, value, effect.",
            "B011 taints.3: key is missing. Add key: a label key.",
            "B011 taints.3: effect is missing. "
            "Add effect: one of NoSchedule, PreferNoSchedule, NoExecute.",
        ],
    ),
    "taints-that-pods-do-not-tolerate-by-tolerations": (
        {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        [
            "B116 taints: a taint keeps out only pods with the annotation "
            "scheduling.koordinator.sh/reservation-affinity that do not tolerate it there; "
            "their own tolerations do not count. "
            "Add sessionAffinity: true, or put the annotation on session pods."
        ],
    ),
    "resources": (
        {"restrictedResources": ["cpus"]},
        [
            'B022 restrictedResources.0: "cpus" is not a resource that a container can request. '
            "Write cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu."
        ],
    ),
    "ends-of-windows": (
        {"ttl": "4h", "expires": "2026-12-31T23:00:00Z"},
        [
            f"B016 {name} @key: the end of a window says when its slots end; {name} cannot. "
            "Remove it, or write standing: true."
            for name in ("expires", "ttl")
        ],
    ),
    "ends-that-nobody-can-read": (
        {"standing": True, "ttl": "7d", "expires": "2026-12-31"},
        [
            'B107 ttl: "7d" is not a duration that Go reads. Write 168h.',
            'B107 expires: "2026-12-31" is not an instant in UTC. Write it as 2026-12-31T23:00:00Z.',
        ],
    ),
    "never-against-expires": (
        {"standing": True, "ttl": "0", "expires": "2026-12-31T23:00:00Z"},
        [
            "B108 ttl: ttl 0 means never: Koordinator would ignore expires. "
            "Remove ttl: Berth sets one that lets expires decide."
        ],
    ),
    "once-and-again": (
        {"standing": True, "allocateOnce": True},
        [
            "B109 allocateOnce: a slot ends with its first session, and a day later it is made again from "
            "git. Remove it, unless that is meant."
        ],
    ),
    "standing-placeholders": (
        {"standing": True, "withPlaceholders": True},
        [
            "B016 withPlaceholders @key: placeholders hand over to slots in the window of an occurrence; "
            "what stands has none. Remove it, or standing."
        ],
    ),
    "pre-allocation-of-another-policy": (
        {"preAllocation": True, "allocatePolicy": "Aligned", "allocateOnce": True},
        [
            "B106 allocateOnce: preAllocation needs allocateOnce: false: a slot would be used up by the pods "
            "that it takes over from. Remove it, or preAllocation.",
            "B106 allocatePolicy: preAllocation needs allocatePolicy Restricted: with Aligned a slot is "
            "never scheduled. Write Restricted, or remove preAllocation.",
        ],
    ),
    "pre-allocation-without-labels": (
        {"preAllocation": True, "owners": [{"object": {"namespace": "a"}}, {"controller": {"name": "b"}}]},
        [
            "B106 owners: a slot can take over only from pods of an owner with a labelSelector. "
            "Add labelSelector to an owner."
        ],
    ),
    "settings-of-no-pre-allocation": (
        {"preAllocationPolicy": {"enableMultiple": False}, "preAllocationRequired": True},
        [
            f"B106 {name} @key: {name} needs preAllocation. Add preAllocation: true, or remove it."
            for name in ("preAllocationPolicy", "preAllocationRequired")
        ],
    ),
    "mode-cluster": (
        {"preAllocation": True, "preAllocationPolicy": {"mode": "Cluster"}},
        [
            "B115 preAllocationPolicy.mode: mode Cluster works only where Koordinator's scheduler has "
            "enableClusterMode. Make sure of it (preAllocationConfig.enableClusterMode: true), or write "
            "Default."
        ],
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
            "B106 preAllocation: withPlaceholders needs preAllocation: slots take over from placeholders. "
            "Remove it, or withPlaceholders.",
            "B106 preAllocationRequired: withPlaceholders needs preAllocationRequired: slots take over from "
            "placeholders. Remove it, or withPlaceholders.",
            "B106 allocateOnce: withPlaceholders needs allocateOnce: false: a slot would be used up by the "
            "pods that it takes over from. Remove it, or withPlaceholders.",
            "B106 allocatePolicy: withPlaceholders needs allocatePolicy Restricted: with Aligned a slot is "
            "never scheduled. Write Restricted, or remove withPlaceholders.",
            "B106 preAllocationPolicy.mode: withPlaceholders needs mode Default: slots know their "
            "placeholders by owners. Remove it, or withPlaceholders.",
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("written", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_backend(written: dict[str, Any], problems: list[str]) -> None:
    assert said(BACKEND, {"type": "koordinator", **written}) == problems


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
        {"order": 2**63 - 1},
        {"taints": [{"key": "a", "effect": "NoSchedule"}], "sessionAffinity": True},
    ],
    ids=ascii,
)
def test_what_agrees_is_accepted(good: dict[str, Any]) -> None:
    assert said(BACKEND, backend(**good)) == []
