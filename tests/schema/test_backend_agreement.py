"""What the fields of a backend may not say, and what they may not say together: both sides of each rule."""

from typing import Any

import pytest
from berth.backends.backendspec import BackendSpec

from tests.cases import tabled
from tests.saying import reservation, resource_class, said, site, told
from tests.schema.backends import OWNERS, backend

PLAIN: dict[str, Any] = {"backend": {"type": "koordinator"}, "provisioning": {"placeholderCount": 1}}
TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "another-type": (
        {"type": "placeholder", "owners": OWNERS, "standing": False},
        ["B016 owners @key", "B016 standing @key"],
    ),
    "misspelt": ({"alocateOnce": False, "ownrs": OWNERS}, ["B010 alocateOnce @key", "B010 ownrs @key"]),
    "wrong-types": (
        {"allocateOnce": "no", "taints": "exam", "owners": []},
        ["B012 owners", "B013 allocateOnce", "B013 taints"],
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
            "B019 taints.2.key",
            "B029 taints.0.effect",
        ],
    ),
    "taints-that-pods-do-not-tolerate-by-tolerations": (
        {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        ["B116 taints"],
    ),
    "once-and-again": ({"standing": True, "allocateOnce": True}, ["B109 allocateOnce"]),
    "standing-placeholders": ({"standing": True, "withPlaceholders": True}, ["B016 withPlaceholders @key"]),
    "placeholders-once": ({"withPlaceholders": True, "allocateOnce": True}, ["B106 allocateOnce"]),
}


@pytest.mark.parametrize(("written", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_backend(written: dict[str, Any], problems: list[str]) -> None:
    assert said(BackendSpec, {"type": "koordinator", **written}) == problems


@tabled("schema")
def test_what_agrees_is_accepted(good: dict[str, Any]) -> None:
    assert said(BackendSpec, backend(**good)) == []


def test_a_course_sets_nothing_of_what_a_class_has() -> None:
    keys = ("expires", "labels", "priority", "reservation", "spec", "template", "ttl")

    for where in ("backend", "provisioning"):
        values: dict[str, Any] = {where: {**PLAIN[where], **dict.fromkeys(keys, "x")}}
        faulty = reservation(**values)
        assert [line for line in told(faulty, site(), resource_class()) if "B010" in line] == [
            f"a.yaml B010 spec.{where}.{key} @key" for key in keys
        ]
    assert told(reservation(reservation={"spec": {}}), site(), resource_class()) == [
        "a.yaml B010 spec.reservation @key"
    ]
