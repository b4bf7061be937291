"""What a taken-over scaler can write makes no other object of it: names say what an object is."""

import json
from typing import Any

import pytest
from berth.core.labels import CLASS, RESERVATION, SITE
from berth.core.objectnames import is_record, is_timetable, single
from berth.core.objectnames import record as record_name
from berth.core.objectreading import parse_object
from berth.core.objects import CONFIG_MAP, SLOT
from berth.core.state import ORPHANED_SINCE, SlotObject
from berth.runtime.sessionobserver import TimetableReader

from tests.objectstore import Tree
from tests.runtime.slotworld import slot_text
from tests.runtime.sweepworld import (
    Swept,
    capacity_buffer,
    cronjob,
    deployment,
    inventory,
    lease,
    missed,
    numbered,
    record,
    seen,
    timetable,
)
from tests.runtime.timetables import timetable_text

ATTACKS: dict[str, dict[str, str]] = {
    "of-a-victim": {"berth.dev/role": "timetable", "berth.dev/reservation": "course"},
    "of-an-invented-reservation": {"berth.dev/role": "timetable", "berth.dev/reservation": "invented"},
    "of-its-own-name": {"berth.dev/role": "timetable", "berth.dev/reservation": "mine-record"},
    "without-a-role": {"berth.dev/reservation": "course"},
}


def forged(labels: Tree, text: str) -> Tree:
    """The record `mine-record`, as the account of the reservation `mine` can write it."""
    made = timetable(name="mine", text=text)
    made["metadata"] |= {"name": "mine-record", "uid": "uid-forged"}
    made["metadata"]["labels"] = {"berth.dev/site": "example", **labels}
    return made


def claim(reservation: str, count: int = 500) -> str:
    row = (f"{reservation}/1", "07:30", "08:00", "10:00", {"small": count})
    return json.dumps({**json.loads(timetable_text(row)), "reservation": reservation})


@pytest.mark.parametrize("labels", ATTACKS.values(), ids=ATTACKS)
def test_a_record_with_other_labels_opens_and_closes_nothing(labels: Tree) -> None:
    attack = forged(labels, claim(labels["berth.dev/reservation"]))
    swept = Swept("09:00", *missed(), attack)

    assert swept.run() == 0
    assert swept.cluster.replicas() == {"course-small": 25}
    assert sorted(swept.cluster.of("jobs")) == ["course-sweep"]


def test_long_fields_of_a_slot_are_not_kept() -> None:
    """Hundreds of a megabyte each would be more memory than the sweep may take."""
    (hostile,) = numbered(1)
    ours = {key: hostile["metadata"]["labels"][key] for key in (SITE, RESERVATION, CLASS)}
    hostile["metadata"] |= {"resourceVersion": "1", "annotations": {ORPHANED_SINCE: "x" * 200_000}}
    hostile["spec"]["owners"] = [
        {"labelSelector": {"matchLabels": labels}} for labels in (ours, {"x": "x" * 1_000_000})
    ]
    slot = parse_object("example", SLOT, hostile)

    assert isinstance(slot, SlotObject)
    assert slot.slot.is_to_close
    assert len(repr(slot)) < 1000


def test_a_record_with_other_labels_makes_no_slots() -> None:
    text = slot_text(("course/1", "07:30", "08:00", "10:00", {"small": 500}))
    text = json.dumps({**json.loads(text), "reservation": "invented"})
    labels = {"berth.dev/role": "timetable", "berth.dev/reservation": "invented"}
    swept = Swept("09:00", *missed(), forged(labels, text))

    assert SLOT in swept.site.kinds
    assert swept.run() == 0
    assert swept.koordinator.writes == []


def test_a_record_with_the_key_of_an_inventory_removes_no_reservation() -> None:
    """Which removes all that it does not name."""
    attack = forged({}, "")
    attack["data"] = {"reservations.txt": "mine\n"}
    swept = Swept("09:00", *missed(), attack, inventory("course\n"), prunes=True)

    assert swept.run() == 0
    assert "course" in swept.cluster.of("configmaps")
    assert "berth.dev/gone-since" not in swept.cluster.of("configmaps")["course"]["metadata"]["annotations"]


def test_a_deployment_with_the_label_of_another_reservation_is_not_closed_for_it() -> None:
    """Its own pod scales it by name."""
    trees = [deployment(25, reservation="other"), cronjob("other", reservation="other")]
    swept = Swept("12:00", timetable(name="other"), *trees)

    assert swept.run() == 0
    assert swept.cluster.replicas() == {"course-small": 25}


def test_a_relabeled_capacity_buffer_does_not_join_another_reservation() -> None:
    found = seen(timetable(), capacity_buffer(99, "mine-small", reservation="course"))

    assert [reservation.pools for reservation in found.reservations] == [()]


def taken_record(**more: Any) -> Tree:
    """The record of `mine`, as its account can write it."""
    made = record("09:00", name="mine-record", reservation="mine")
    made["metadata"] |= {"uid": "uid-taken", **more.pop("metadata", {})}
    return {**made, "data": {**made["data"], **more}}


def written_at(time: str) -> Tree:
    return taken_record(metadata={"managedFields": [{"manager": "x", "time": time}]})


RECORDS = {
    "year-zero": written_at("0000-01-01T00:00:00Z"),
    "year-ten-thousand": written_at("10000-01-01T00:00:00Z"),
    "no-time": written_at("yesterday"),
    "nested-record": taken_record(**{"records.json": "[" * 989 + "]" * 989}),
}


@pytest.mark.parametrize("attack", RECORDS.values(), ids=RECORDS)
def test_a_malformed_record_does_not_stop_the_sweep(attack: Tree) -> None:
    swept = Swept("09:00", *missed(), attack)

    assert swept.run() == 0
    assert swept.cluster.replicas() == {"course-small": 25}


LEASES: dict[str, Tree] = {
    "of-the-future": {"renewTime": "9999-01-01T00:00:00.000000Z", "holderIdentity": "x"},
    "no-time": {"renewTime": "yesterday", "holderIdentity": "x"},
    "a-list": {"renewTime": ["2026-02-02T08:59:59.000000Z"], "holderIdentity": {}},
    "year-zero": {"renewTime": "0000-00-00T00:00:00.000000Z"},
}


@pytest.mark.parametrize("spec", LEASES.values(), ids=LEASES)
def test_a_malformed_lease_does_not_keep_the_sweep_from_a_pool(spec: Tree) -> None:
    """A pod that works no more would count as one that does, for ever."""
    swept = Swept("09:00", *missed(), lease() | {"spec": spec})

    assert swept.run() == 0
    assert swept.cluster.replicas() == {"course-small": 25}
    assert "course-sweep" in swept.cluster.of("jobs")


@pytest.mark.parametrize("reservation", ["mine", "course"])
def test_a_lease_holds_only_the_pool_of_its_name_regardless_of_its_labels(reservation: str) -> None:
    """Accounts write their Leases by name, with any labels."""
    swept = Swept("09:00", *missed(), lease(name="mine-small", reservation=reservation))

    assert swept.run() == 0
    assert swept.cluster.replicas() == {"course-small": 25}


def test_a_record_is_not_read_as_an_inventory() -> None:
    """One of some hundred bytes would name millions of slots."""
    bomb = "".join(f"r{n} a {n} 100000\n" for n in range(2000))
    attack = taken_record(**{"reservations.txt": "x", "slots.txt": bomb})
    attack["metadata"]["labels"] = {"berth.dev/site": "example"}

    assert parse_object("example", CONFIG_MAP, attack) is None


@pytest.mark.parametrize("spec", [{}, {"percentage": 10}, {"replicas": "9"}], ids=["none", "percent", "text"])
def test_a_malformed_buffer_does_not_keep_the_sweep_from_other_buffers(spec: Tree) -> None:
    """The account of a reservation may change any field of its CapacityBuffer."""
    theirs = capacity_buffer(3, "mine-small", reservation="mine") | {"spec": spec}
    victim = timetable(pools={"small": "course-small"})
    text = json.loads(victim["data"]["timetable.json"])
    text["pools"]["small"]["capacityBuffer"] = True
    victim["data"]["timetable.json"] = json.dumps(text)
    swept = Swept("09:00", victim, capacity_buffer(0), cronjob(), theirs)

    assert swept.run() == 1
    assert swept.told("failed") == [("read capacitybuffers mine-small", "200 Malformed")]
    assert swept.cluster.of("capacitybuffers")["course-small"]["spec"]["replicas"] == 25


def test_a_malformed_timetable_is_not_treated_as_missing() -> None:
    """Nobody but an engine writes it, and what has no timetable is removed."""
    malformed = timetable(name="odd")
    malformed["metadata"]["creationTimestamp"] = "yesterday"
    swept = Swept("09:00", deployment(4, "odd-small", reservation="odd"), malformed)

    assert swept.run() == 1
    assert swept.cluster.writes == []


def config_map(name: str, reservation: str, says: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"berth.dev/reservation": reservation}}
    return {"metadata": metadata, "data": {"timetable.json": claim(says)}}


@pytest.mark.parametrize(
    ("name", "reservation", "says"),
    [
        ("mine-record", "course", "course"),
        ("mine-record", "mine-record", "mine-record"),
        ("other", "course", "course"),
    ],
)
def test_a_scaler_ignores_config_maps_that_are_not_named_as_timetables(
    name: str, reservation: str, says: str
) -> None:
    assert TimetableReader((), 0).read(config_map(name, reservation, says)) is None


def test_a_timetable_is_accepted_only_for_its_own_reservation() -> None:
    reader = TimetableReader((), 0)
    own, foreign = (
        reader.read(config_map("course", "course", "course")),
        reader.read(config_map("course", "course", "mine")),
    )

    assert own is not None
    assert not isinstance(own.found, str)
    assert foreign is not None
    assert foreign.found == "reservation: 'mine' is not 'course'"


@pytest.mark.parametrize("reservation", ["course", "mine-record", "x" * 51, "x" * 63, f"{'x' * 60}-record"])
def test_no_name_is_both_a_timetable_name_and_a_record_name(reservation: str) -> None:
    names = single(reservation), record_name(reservation)

    assert is_record(names[1], reservation)
    assert not is_timetable(names[1], names[1])
    assert is_timetable(names[0], reservation) != reservation.endswith("-record") or len(reservation) > 52
