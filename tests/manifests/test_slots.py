"""The Reservation that holds one seat: what the class, the course and the backend say becomes of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.koordinator.slotobjects import narrowed, persistent_slots, slot_object
from berth.backends.koordinator.slotoptions import SlotTaint
from berth.plugins.slots.slots import parse_slot
from berth.plugins.slots.slotspec import slot_hash
from berth.schema.pod import Placement
from berth.schema.reservationspec import SessionMatch

from tests.built import built, class_sessions, owner
from tests.manifests.parts import OURS, Object
from tests.manifests.slotparts import KOORDINATOR, SLOTS, altered, evening

LABELS = {
    **OURS,
    "berth.dev/reservation": "evening",
    "berth.dev/resource-class": "seat",
    "berth.dev/role": "slot",
}
OWNERS: list[Object] = [
    {"object": {"namespace": "jhub"}, "labelSelector": {"matchLabels": {"course": "evening"}}}
]
PLAIN: Object = {
    "metadata": {"labels": LABELS},
    "spec": {
        "template": {
            "spec": {
                "schedulerName": "koord-scheduler",
                "containers": [{"name": "seat", "resources": {"requests": {"cpu": "1"}}}],
            }
        },
        "owners": OWNERS,
        "allocateOnce": False,
        "allocatePolicy": "Restricted",
    },
}


def made(folder: Path, slots: SlotHolder = SLOTS, **changes: Any) -> Object:
    site, part = evening(folder, slots, **changes)
    (found,) = part.placed.classes
    return slot_object(site, part.placed.cluster, part.placed.reservation, found)


def test_a_default_slot_is_one_seat_for_the_sessions_of_the_course(tmp_path: Path) -> None:
    assert made(tmp_path) == PLAIN


GROUP = "scheduling.koordinator.sh"
SEAT: Object = PLAIN["spec"]["template"]["spec"]["containers"][0]
TAINT = {"key": "course", "value": "a", "effect": "NoSchedule"}
OF_THE_COURSE: dict[str, tuple[SlotHolder, Object, Object]] = {
    "once": (altered(SLOTS, allocate_once=True), {}, {"allocateOnce": True}),
    "taints": (altered(SLOTS, taints=(built(SlotTaint, TAINT),)), {}, {"taints": [TAINT]}),
    "standing": (altered(SLOTS, standing=True), {"labels": {**LABELS, "berth.dev/standing": "true"}}, {}),
}


@pytest.mark.parametrize(("slots", "metadata", "spec"), OF_THE_COURSE.values(), ids=OF_THE_COURSE)
def test_a_field_of_the_reservation_changes_only_its_own_part_of_the_slot(
    tmp_path: Path, slots: SlotHolder, metadata: Object, spec: Object
) -> None:
    assert made(tmp_path, slots) == {
        "metadata": {"labels": LABELS, **metadata},
        "spec": {**PLAIN["spec"], **spec},
    }


def with_pod(*containers: Object, **pod: Any) -> Object:
    template = {"spec": {**PLAIN["spec"]["template"]["spec"], **pod, "containers": list(containers)}}
    return {**PLAIN["spec"], "template": template}


def without_policy() -> Object:
    return {key: value for key, value in PLAIN["spec"].items() if key != "allocatePolicy"}


MORE = {"name": "more", "resources": {"requests": {"cpu": 2}}}
PORTS = [{"hostPort": 53, "containerPort": 53, "protocol": "UDP"}]
OF_THE_CLASS: dict[str, tuple[Object, Object, Object]] = {
    "policy": ({"spec": {"allocatePolicy": "Aligned"}}, {}, {**PLAIN["spec"], "allocatePolicy": "Aligned"}),
    "policy-unset": ({"spec": {"allocatePolicy": None}}, {}, without_policy()),
    "policy-default": ({"spec": {"allocatePolicy": "Default"}}, {}, without_policy()),
    "unschedulable": ({"spec": {"unschedulable": True}}, {}, {**PLAIN["spec"], "unschedulable": True}),
    "pre-allocation": (
        {"spec": {"preAllocation": True, "preAllocationPolicy": {"mode": "Cluster", "enableMultiple": True}}},
        {},
        {
            **PLAIN["spec"],
            "preAllocation": True,
            "preAllocationPolicy": {"mode": "Cluster", "enableMultiple": True},
        },
    ),
    "labels": (
        {"metadata": {"labels": {f"{GROUP}/reservation-order": "5"}, "annotations": {"a.b/c": "x: y"}}},
        {"labels": {**LABELS, f"{GROUP}/reservation-order": "5"}, "annotations": {"a.b/c": "x: y"}},
        PLAIN["spec"],
    ),
    "another-container": (
        {"spec": {"template": {"spec": {"containers": [MORE]}}}},
        {},
        with_pod(SEAT, MORE),
    ),
    "ports-of-the-seat": (
        {"spec": {"template": {"spec": {"containers": [{"name": "seat", "ports": PORTS}]}}}},
        {},
        with_pod({**SEAT, "ports": PORTS}),
    ),
    "pod": (
        {"spec": {"template": {"spec": {"priority": 9000, "overhead": {"cpu": "10m"}, "nodeName": "a"}}}},
        {},
        with_pod(SEAT, priority=9000, overhead={"cpu": "10m"}, nodeName="a"),
    ),
    "ends": ({"spec": {"ttl": "1h", "expires": "2026-12-31T23:00:00Z"}}, {}, PLAIN["spec"]),
}


@pytest.mark.parametrize(("mapping", "metadata", "spec"), OF_THE_CLASS.values(), ids=OF_THE_CLASS)
def test_the_mapping_of_a_class_is_merged_into_the_object(
    tmp_path: Path, mapping: Object, metadata: Object, spec: Object
) -> None:
    assert made(tmp_path, seat={"reservation": mapping}) == {
        "metadata": {"labels": LABELS, "annotations": {}, **metadata},
        "spec": spec,
    }


def test_the_cluster_sets_scheduler_and_allocate_policy(tmp_path: Path) -> None:
    other = KOORDINATOR.model_copy(update={"scheduler_name": "koord-2", "allocate_policy": "Aligned"})
    found = made(tmp_path, koordinator=other)

    assert found["spec"]["allocatePolicy"] == "Aligned"
    assert found["spec"]["template"]["spec"]["schedulerName"] == "koord-2"


def test_a_slot_has_the_placement_of_its_class_merged_with_the_mapping(tmp_path: Path) -> None:
    """Limits are nothing to hold; the scheduler is Koordinator's whatever the class says."""
    seat = {
        "requests": {"cpu": "500m", "nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "1", "memory": "8Gi"},
        "node_selector": {"pool": "y", "disk": "a"},
        "tolerations": built(Placement, {"tolerations": [{"key": "gpu", "operator": "Exists"}]}).tolerations,
        "scheduler_name": "other",
        "pod_labels": {"team": "on", "own": "1e3"},
    }
    said = {
        "metadata": {"namespace": "jhub", "labels": {"own": "2"}, "annotations": {"n": "m"}},
        "spec": {
            "nodeName": "node-1",
            "nodeSelector": {"disk": "b", "pool": None},
            "tolerations": [{"key": "lab", "operator": "Exists"}],
        },
    }
    found = made(tmp_path, seat={**seat, "reservation": {"spec": {"template": said}}})["spec"]["template"]

    assert found == {
        "metadata": {"namespace": "jhub", "labels": {"team": "on", "own": "2"}, "annotations": {"n": "m"}},
        "spec": {
            "nodeName": "node-1",
            "nodeSelector": {"disk": "b"},
            "tolerations": [{"key": "lab", "operator": "Exists"}],
            "schedulerName": "koord-scheduler",
            "containers": [
                {"name": "seat", "resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": "1"}}}
            ],
        },
    }


def test_declared_owners_replace_the_default_owners(tmp_path: Path) -> None:
    controller = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "", "uid": "", "namespace": "renku"}
    owners = (
        owner((("namespace", "a"), ("name", "b")), {}, {}),
        owner((), controller, {}),
        owner((("namespace", "a"),), {}, {"matchExpressions": [{"key": "x", "operator": "Exists"}]}),
    )

    found = made(tmp_path, altered(SLOTS, owners=owners))["spec"]["owners"]

    assert json.loads(json.dumps(found)) == [
        {"object": {"namespace": "a", "name": "b"}},
        {"controller": controller},
        {
            "object": {"namespace": "a"},
            "labelSelector": {"matchExpressions": [{"key": "x", "operator": "Exists"}]},
        },
    ]


def test_sessions_of_a_class_own_slots_in_the_namespaces_of_the_course(tmp_path: Path) -> None:
    sessions = class_sessions("pods", ("a", "b", "c"), {"matchLabels": {"component": "user"}}, {})
    labels = {"course": "x", "component": "user"}
    course = SessionMatch.model_construct(namespaces=("c", "a"), match_labels=labels)
    found = made(tmp_path, seat={"sessions": sessions}, sessions=course)
    selector = {"matchLabels": {"component": "user", "course": "x"}}

    assert found["spec"]["owners"] == [
        {"object": {"namespace": "a"}, "labelSelector": selector},
        {"object": {"namespace": "c"}, "labelSelector": selector},
    ]


def test_labels_that_contradict_a_selector_select_no_pods() -> None:
    term = {"key": "k", "operator": "Exists"}

    assert narrowed({"matchLabels": {"a": "1"}, "matchExpressions": [term]}, {"a": "2", "b": "3"}) == {
        "matchLabels": {"a": "1", "b": "3"},
        "matchExpressions": [term, {"key": "a", "operator": "In", "values": ["2"]}],
    }
    assert narrowed({}, {}) == {}


def test_slots_with_placeholders_require_pre_allocation(tmp_path: Path) -> None:
    """Whatever else is said: only so does Koordinator take over the room of a pod that runs."""
    slot_holder = altered(SLOTS, with_placeholders=True, allocate_once=True)
    aligned = {"reservation": {"spec": {"allocatePolicy": "Aligned", "preAllocation": False}}}
    found = made(tmp_path, slot_holder, seat=aligned)

    assert (found["spec"]["preAllocation"], found["spec"]["allocatePolicy"]) == (True, "Restricted")
    assert found["spec"]["allocateOnce"] is False


def test_a_parsed_slot_knows_its_owners_without_placeholders(tmp_path: Path) -> None:
    """So that it can close a slot to them, and only those who were reviewed may take it."""
    shape = made(tmp_path, altered(SLOTS, with_placeholders=True))
    known = {"name": "n", "uid": "u", "resourceVersion": "1", "creationTimestamp": "2026-02-02T07:30:00Z"}
    tree = {"metadata": {**shape["metadata"], **known}, "spec": shape["spec"]}

    assert json.loads(parse_slot(tree).closed) == made(tmp_path)["spec"]["owners"]


def test_the_hash_of_a_slot_depends_on_its_shape_and_not_on_key_order() -> None:
    turned = {"spec": dict(reversed(PLAIN["spec"].items())), "metadata": PLAIN["metadata"]}
    hashes = {slot_hash({**PLAIN, "spec": spec}) for _, _, spec in OF_THE_CLASS.values()}

    assert slot_hash(turned) == slot_hash(json.loads(json.dumps(PLAIN)))
    assert len(hashes | {slot_hash(PLAIN)}) == 8
    assert all(len(hash_) == 8 and int(hash_, 16) >= 0 for hash_ in hashes)


LIVES = {
    "for-ever": (None, None, {"ttl": "0s"}),
    "for-a-time": (None, "720h0m0s", {"ttl": "720h0m0s"}),
    "until": ("2026-12-31T23:00:00Z", None, {"ttl": "876600h0m0s", "expires": "2026-12-31T23:00:00Z"}),
    "both": ("2026-12-31T23:00:00Z", "60m", {"ttl": "1h0m0s", "expires": "2026-12-31T23:00:00Z"}),
}


@pytest.mark.parametrize(("expires", "ttl", "spec"), LIVES.values(), ids=LIVES)
def test_a_standing_slot_has_its_ttl_or_expiry_but_its_name_does_not(
    tmp_path: Path, expires: str | None, ttl: str | None, spec: Object
) -> None:
    """The ttl that Koordinator gives to what says none is a day."""
    seat_ends = {"reservation": {"spec": {"expires": expires, "ttl": ttl}}}
    site, part = evening(tmp_path, altered(SLOTS, standing=True), seat=seat_ends)
    (seat,) = part.placed.classes
    items = list(persistent_slots(site, part.placed.cluster, part.placed.reservation, seat, 2))
    shape = {**PLAIN, "metadata": {"labels": {**LABELS, "berth.dev/standing": "true"}, "annotations": {}}}

    assert [name for name, _ in items] == [f"uni-evening-seat-{i}-{slot_hash(shape)}" for i in (0, 1)]
    assert items[0][1] == {**shape, "spec": {**PLAIN["spec"], **spec}} == items[1][1]
