"""A slot as a value and as an object: its name, its owners, how long it may stand."""

import json
from random import Random

import pytest
from berth.core.holders import SlotSpec
from berth.durations import nanoseconds
from berth.plugins.slots.slots import (
    Slot,
    SlotOwner,
    go_duration,
    parse_slot,
    slot_lifetime,
    slot_name,
    slot_object,
    slot_selector,
)

from tests.koordinator.deciding import is_due
from tests.koordinator.objects import reservation
from tests.runtime.slotworld import OWNER, pool_labels, shape
from tests.runtime.world import at
from tests.seeds import seeds

SLOTS = SlotSpec("example-course-small", "aaaa1111", shape())


def test_an_object_is_read_without_what_nobody_needs() -> None:
    tree = {
        "metadata": {
            "name": "example-a-b-12-aaaa1111",
            "uid": "u",
            "resourceVersion": "7",
            "creationTimestamp": "2026-02-02T07:30:00Z",
            "deletionTimestamp": "2026-02-02T07:40:00Z",
        },
        "spec": {"expires": "2026-02-02T10:00:00Z"},
        "status": {
            "phase": "Available",
            "currentOwners": [{"namespace": "students", "name": "a", "uid": "x"}],
        },
    }

    slot = parse_slot(tree)

    owners = (SlotOwner("students", "a"),)
    assert slot == Slot(
        "example-a-b-12-aaaa1111", "u", "7", at("07:30"), at("10:00"), "Available", owners, True
    )
    assert (slot.ordinal, slot.hash) == (12, "aaaa1111")


def test_one_that_nobody_has_looked_at_yet_is_pending() -> None:
    """And what somebody else has written of its end is not ours."""
    metadata = {
        "name": "odd",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2026-02-02T07:30:00Z",
    }

    slot = parse_slot({"metadata": metadata, "spec": {"expires": "2026-02-02T10:00:00+01:00"}})

    assert slot == Slot("odd", "u", "7", at("07:30"), None, "Pending", ())
    assert (slot.ordinal, slot.hash) == (-1, "odd")


HOME = {"namespace": "berth"}
OURS = {"object": HOME, "labelSelector": {"matchLabels": pool_labels()}}
OTHER = {"object": HOME, "labelSelector": {"matchLabels": pool_labels("large")}}


@pytest.mark.parametrize(
    ("owners", "closed"),
    [
        pytest.param([OWNER, OURS], [OWNER], id="placeholders-last"),
        pytest.param([OURS, OTHER, OWNER], [OTHER, OWNER], id="placeholders-first"),
        pytest.param([OWNER, OTHER], None, id="of-another-pool"),
        pytest.param([OURS], None, id="nobody-would-be-left"),
        pytest.param([], None, id="none"),
        pytest.param(None, None, id="not-said"),
        pytest.param("nonsense", None, id="nonsense"),
    ],
)
def test_who_may_take_it_once_our_placeholders_may_not(owners: object, closed: object) -> None:
    metadata = {
        "name": "x",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "2026-02-02T07:30:00Z",
        "labels": shape()["metadata"]["labels"],
    }
    slot = parse_slot({"metadata": metadata, "spec": {"owners": owners}, "status": {"phase": "Available"}})

    assert slot.closed == ("" if closed is None else json.dumps(closed))
    assert slot.is_to_close is bool(closed)
    assert not slot._replace(phase="Pending").is_to_close


def test_the_object_that_is_made() -> None:
    made = slot_object(SLOTS, slot_name(SLOTS, 3), at("07:30"), at("10:00"))

    assert made == {
        "metadata": {**shape()["metadata"], "name": "example-course-small-3-aaaa1111"},
        "spec": {**shape()["spec"], "expires": "2026-02-02T10:00:00Z", "ttl": "3h30m0s"},
    }


def test_a_pool_is_found_by_its_labels_whatever_shape_its_slots_have() -> None:
    assert slot_selector(SLOTS) == (
        "berth.dev/site=example,berth.dev/reservation=course,berth.dev/resource-class=small,"
        "berth.dev/role=slot,!berth.dev/standing"
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0s"), (59, "59s"), (60, "1m0s"), (3599, "59m59s"), (3600, "1h0m0s"), (90_061, "25h1m1s")],
)
def test_durations_are_as_go_writes_them(seconds: int, said: str) -> None:
    assert go_duration(seconds) == said


def test_no_window_is_too_long_for_go() -> None:
    assert slot_lifetime(0, at("07:30") * 100) == {"expires": "7578-12-18T06:00:00Z", "ttl": "876601h0m0s"}


@pytest.mark.parametrize("seed", seeds(8, 20))
def test_by_its_ttl_a_slot_stands_an_hour_longer_than_it_should(seed: int) -> None:
    """So that a clock which is wrong by less ends none early. Also one that was made long before its end
    moved, or that is over already.
    """
    random = Random(seed)
    created, expires = random.randrange(10**6), random.randrange(10**6)
    ttl = nanoseconds(str(slot_lifetime(created, expires)["ttl"])) / 10**9
    margin = created + ttl - max(created, expires)

    assert 3600 <= margin < 3660


def test_a_clock_that_is_wrong_by_minutes_ends_no_slot_early() -> None:
    """The server's clock begins a `ttl`; ours may be half an hour ahead of it."""
    created, expires = at("07:30"), at("10:00")
    said = slot_lifetime(created + 30 * 60, expires)
    status = {"nodeName": "n1", "phase": "Available"}
    tree = reservation(created=created, ttl=said["ttl"], expires=said["expires"]) | {"status": status}

    assert [is_due(tree, expires), is_due(tree, expires + 1)] == [False, True]
