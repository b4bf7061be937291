"""From nothing to Available, in use, over and gone: phases, conditions; the rows of ttl and expires."""

from typing import Any

import pytest

from tests.koordinator.claiming import SLOWEST
from tests.koordinator.deciding import SetStatus
from tests.koordinator.objects import status_of
from tests.koordinator.world import World, node, pod, reservation, settled

AT_NOON = "2026-02-02T12:00:00Z"
AT_ONE = "2026-02-02T13:00:00Z"


def condition(type_: str, status: str, reason: str, at: str = AT_NOON) -> dict[str, str]:
    return {"type": type_, "status": status, "reason": reason, "lastProbeTime": at, "lastTransitionTime": at}


def test_a_bound_one_says_so_in_these_words() -> None:
    world = World(node(), reservation())

    (action, *rest) = world.look(times=1)

    assert rest == []
    assert isinstance(action, SetStatus)
    assert action.event == ("Scheduled", "Successfully assigned r1 to n1")
    assert world.reservations["r1"]["status"] == {
        "phase": "Available",
        "nodeName": "n1",
        "allocatable": {"cpu": "1"},
        "conditions": [condition("Scheduled", "True", "Scheduled"), condition("Ready", "True", "Available")],
    }
    assert world.look(times=1) == []


def test_one_that_fits_nowhere_stays_pending_and_says_why_once() -> None:
    world = World(node(cpu="500m"), reservation())

    (action,) = world.look(times=1)

    message = "0/1 nodes are available: 1 Insufficient cpu."
    assert isinstance(action, SetStatus)
    assert action.event == ("FailedScheduling", message)
    assert world.reservations["r1"]["status"] == {
        "phase": "Pending",
        "conditions": [{**condition("Scheduled", "False", "Unschedulable"), "message": message}],
    }
    assert world.look(times=1) == []
    world.add(node("n2"))
    world.look()
    assert world.phases() == {"r1": "Available"}


@pytest.mark.parametrize(
    "spec",
    [
        {"owners": []},
        {"ttl": None},
        {"template": {"schedulerName": "default-scheduler"}},
        {"template": {"schedulerName": ""}},
    ],
    ids=["no-owners", "neither-ttl-nor-expires", "another-scheduler", "no-scheduler"],
)
def test_what_is_not_for_us_gets_no_status_at_all(spec: dict[str, Any]) -> None:
    world = World(node(), reservation(**spec))

    assert world.look() == []
    assert "status" not in world.reservations["r1"]


def test_a_template_of_nothing_is_never_queued() -> None:
    bare = reservation()
    bare["spec"]["template"] = None
    world = World(node(), bare)

    assert world.look() == []


HOURS = [
    ("24h", None, 24),
    ("24h", "2026-02-02T13:00:00Z", 1),
    ("24h", "2026-02-05T13:00:00Z", 24),
    ("2h", "2026-02-02T13:00:00Z", 1),
    ("30m", "2026-02-02T13:00:00Z", 0.5),
    (None, "2026-02-02T13:00:00Z", 1),
    (None, "2026-02-02T14:00:00+01:00", 1),
    ("1h30m", None, 1.5),
    ("-1h", None, 0),
]


@pytest.mark.parametrize(("ttl", "expires", "hours"), HOURS)
def test_the_earlier_of_ttl_and_expires_ends_it(ttl: str | None, expires: str | None, hours: float) -> None:
    world = World(node(), reservation(ttl=ttl, expires=expires))
    world.look(times=1)
    world.pass_hours(hours)
    if hours:
        world.look()
    assert world.phases() == {"r1": "Available"}

    world.now += 1
    world.look()

    assert world.phases() == {"r1": "Failed"}


@pytest.mark.parametrize("ttl", ["0", "0s", "0h0m"])
def test_a_ttl_of_zero_puts_expires_out_of_force(ttl: str) -> None:
    world = World(node(), reservation(ttl=ttl, expires=AT_ONE))
    world.look()
    world.pass_hours(9000)
    world.look()

    assert world.phases() == {"r1": "Available"}


def test_an_unscheduled_one_never_expires_and_one_scheduled_too_late_does_at_once() -> None:
    world = World(node(cpu="100m"), reservation(ttl="1h"))
    world.look()
    world.pass_hours(100)
    world.look()
    assert world.phases() == {"r1": "Pending"}

    world.add(node("n2"))
    world.look(times=1)
    assert world.phases() == {"r1": "Available"}
    world.look(times=1)
    assert world.phases() == {"r1": "Failed"}


def test_an_expired_one_frees_its_room_and_leaves_its_owner_alone() -> None:
    world = World(node(cpu="2"), reservation(cpu="2", ttl="1h"))
    world.look()
    world.add(pod("s1"))
    world.look()
    assert world.owners() == {"r1": ["s1"]}

    world.pass_hours(1.01)
    world.look()

    status = world.reservations["r1"]["status"]
    assert (status["phase"], status["nodeName"]) == ("Failed", "n1")
    assert status["conditions"][1] == condition("Ready", "False", "Expired", "2026-02-02T13:00:36Z")
    world.add(pod("s2", labels={}))
    world.look()
    assert world.where() == {"s1": "n1", "s2": "n1", "r1": "n1"}


@pytest.mark.parametrize("spec", [{"ttl": "1h"}, {"allocateOnce": True}], ids=["expired", "succeeded"])
def test_what_is_over_stays_for_a_day(spec: dict[str, Any]) -> None:
    world = World(node(), reservation(**spec))
    world.look()
    world.add(pod("s1"))
    world.look()
    world.pass_hours(1.01)
    world.look()
    world.pass_hours(22.9)
    world.look()
    assert "r1" in world.reservations

    world.pass_hours(1.2)
    world.look()

    assert world.reservations == {}


def test_a_deleted_node_fails_its_reservations_and_they_go_at_once() -> None:
    world = World(node(), reservation())
    world.look()
    del world.nodes["n1"]

    (action,) = world.look(times=1)

    assert isinstance(action, SetStatus)
    assert action.status["phase"] == "Failed"
    assert [one["reason"] for one in action.status["conditions"]] == ["Scheduled", "Expired"]
    world.look(times=1)
    assert world.reservations == {}


def test_a_cordoned_node_keeps_what_it_has() -> None:
    world = World(node(), reservation())
    world.look()
    world.add(node(unschedulable=True), reservation("r2"))

    world.look()

    assert world.phases() == {"r1": "Available", "r2": "Pending"}
    assert world.refused("r2") == "0/1 nodes are available: 1 node(s) were unschedulable."


def test_allocate_once_ends_with_the_first_owner_and_lets_the_rest_go() -> None:
    world = World(node(cpu="2"), reservation(cpu="2", allocateOnce=True))
    world.look()
    world.add(pod("s1"))
    world.look()

    assert world.phases() == {"r1": "Succeeded"}
    status = world.reservations["r1"]["status"]
    assert status["currentOwners"] == [{"namespace": "hub", "name": "s1", "uid": "uid-of-s1"}]
    assert status["allocated"] == {"cpu": "1"}
    assert [one["reason"] for one in status["conditions"]] == ["Scheduled", "Succeeded"]
    world.add(pod("s2", labels={}))
    world.look()
    assert world.where()["s2"] == "n1"


def test_an_owner_that_ends_gives_back_its_room_and_its_name() -> None:
    world = settled(node(cpu="1"), reservation())
    world.add(pod("s1"))
    world.look()
    assert world.owners() == {"r1": ["s1"]}

    world.end("s1")
    world.look()
    assert status_of(world.reservations["r1"]).keys() & {"currentOwners", "allocated"} == set()

    world.add(pod("s2"))
    world.look()
    assert (world.where()["s2"], world.owners()) == ("n1", {"r1": ["s2"]})


def test_an_owner_stays_one_when_the_reservation_is_for_others() -> None:
    world = settled(node(cpu="2"), reservation())
    world.add(pod("s1"))
    world.look()
    world.reservations["r1"]["spec"]["owners"] = [{"object": {"name": "other"}}]
    world.add(pod("s2"))
    world.look()

    assert (world.owners(), world.waits()) == ({"r1": ["s1"]}, {})
    world.end("s1")
    world.add(pod("s3"))
    world.look()
    assert (world.owners(), list(world.waits())) == ({"r1": []}, ["s3"])


def test_a_size_that_is_changed_in_place_changes_nothing_and_none_holds_nothing() -> None:
    world = settled(node(cpu="2"), reservation(), reservation("r2", cpu="0"))
    world.reservations["r1"]["spec"]["template"] = reservation(cpu="2")["spec"]["template"]
    world.add(pod("stranger", labels={}))
    world.look()

    assert status_of(world.reservations["r1"])["allocatable"] == {"cpu": "1"}
    assert world.phases() == {"r1": "Available", "r2": "Available"}
    assert world.where()["stranger"] == "n1"


def test_the_slowest_controller_ends_one_three_seconds_late() -> None:
    world = World(node(), reservation(ttl="1h"), settings=SLOWEST)
    world.look()
    world.now += 3600 + 3
    world.look()
    before = world.phases()
    world.now += 1
    world.look()

    assert (before, world.phases()) == ({"r1": "Available"}, {"r1": "Failed"})


def test_the_slowest_controller_tells_at_once_of_a_lost_node_and_clears_away_a_minute_later() -> None:
    world = World(node(), reservation(), settings=SLOWEST)
    world.look()
    world.now += 1
    del world.nodes["n1"]
    found = []
    for second in (0, 58, 1):
        world.now += second
        world.look()
        found.append(world.phases())

    assert found == [{"r1": "Failed"}, {"r1": "Failed"}, {}]


def test_the_slowest_controller_keeps_what_is_over_for_a_day_and_a_minute() -> None:
    world = World(node(), reservation(ttl="30s"), settings=SLOWEST)
    world.look()
    world.now += 34
    world.look()
    found = []
    for seconds in (24 * 3600, 25, 1):
        world.now += seconds
        world.look()
        found.append(world.phases())

    assert found == [{"r1": "Failed"}, {"r1": "Failed"}, {}]
