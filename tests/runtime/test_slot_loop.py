"""A run whose seats are slots: they come at the opening, follow sessions, and are gone at the end."""

import pytest

from tests.runtime.fake_koordinator import names
from tests.runtime.slotworld import DIGEST, SlotWorld, slot_text, slots
from tests.runtime.world import COURSE

FOUR = ("course/1", "07:30", "07:40", "08:00", {"small": 4})


def test_a_window_makes_its_slots_on_the_second_and_removes_them_all() -> None:
    world = SlotWorld("07:29:07", slot_text(FOUR, behaviour="none"))

    assert world.run() == 0
    assert world.koordinator.objects == {}
    assert world.told("slots") == [
        {
            "time": "07:30:00",
            "pool": "small",
            "slots": "example-course-small",
            "occurrences": ["course/1"],
            "made": 4,
            "renewed": 0,
            "removed": 0,
            "free": 4,
            "used": 0,
        },
        {
            "time": "08:00:00",
            "pool": "small",
            "slots": "example-course-small",
            "occurrences": [],
            "made": 0,
            "renewed": 0,
            "removed": 4,
            "free": 0,
            "used": 0,
        },
    ]


def test_a_slot_says_how_long_it_stands_if_everything_of_ours_is_dead() -> None:
    world = SlotWorld("07:30:10", slot_text((*COURSE[:4], {"small": 1}), behaviour="none"))
    world.run(until="07:31")
    (tree,) = world.koordinator.objects.values()

    said = slots()["object"]
    assert tree["metadata"]["name"] == f"example-course-small-0-{DIGEST}"
    assert tree["metadata"]["labels"] == said["metadata"]["labels"]
    # Ten seconds less than two and a half hours, rounded up to a minute, and two minutes.
    assert tree["spec"] == {**said["spec"], "expires": "2026-02-02T10:00:00Z", "ttl": "3h30m0s"}

    world.pass_time(3 * 3600)

    assert world.koordinator.phase(f"example-course-small-0-{DIGEST}") == "Failed"


def test_with_nothing_open_it_removes_whatever_stands_and_ends() -> None:
    world = SlotWorld("12:00", slot_text(FOUR))
    koordinator = world.koordinator
    for name, status in (
        ("a-0-x", {}),
        ("a-1-x", {"phase": "Available"}),
        ("a-2-x", {"phase": "Available", "currentOwners": [{"namespace": "students", "name": "s"}]}),
        ("a-3-x", {"phase": "Failed"}),
        ("a-4-x", {"phase": "Succeeded"}),
    ):
        koordinator.put(
            name,
            slots()["object"] | {"spec": {"expires": "2026-02-02T23:00:00Z", "ttl": "20h0m0s"}},
            **status,
        )

    assert world.run() == 0
    assert koordinator.objects == {}
    assert [line["time"] for line in world.told("ended")] == ["12:00:00"]


def test_what_is_of_somebody_else_or_stands_in_git_is_not_touched() -> None:
    world = SlotWorld("12:00", slot_text(FOUR))
    said = slots()["object"]
    others = {
        "another-site": {"berth.dev/site": "other"},
        "another-reservation": {"berth.dev/reservation": "other"},
        "another-class": {"berth.dev/resource-class": "huge"},
        "no-slot": {"berth.dev/role": "timetable"},
        "in-git": {"berth.dev/standing": "true"},
    }
    for name, labels in others.items():
        metadata = {"labels": {**said["metadata"]["labels"], **labels}}
        world.koordinator.put(name, {"metadata": metadata, "spec": {}})

    assert world.run() == 0
    assert world.koordinator.objects.keys() == others.keys()
    assert world.koordinator.writes == []


def test_maintain_needs_no_write_while_sessions_take_slots_and_leave_them() -> None:
    world = SlotWorld("07:29", slot_text(FOUR))
    world.sessions(small={"course/1": 0})
    world.plan("07:45", lambda: world.sessions(small={"course/1": 1}))
    world.plan("07:45:03", lambda: world.koordinator.enter("a"))
    world.plan("07:50", lambda: world.sessions(small={"course/1": 0}))
    world.plan("07:50:20", lambda: world.koordinator.leave("a"))
    world.run(until="07:59")

    assert [counts for _, counts in world.history] == ["0+0", "4+0", "3+1", "4+0"]
    assert len(world.koordinator.writes) == 4


def test_a_session_that_takes_no_slot_is_one_seat_less_once_it_has_had_its_time() -> None:
    world = SlotWorld("07:29", slot_text(FOUR))
    world.sessions(small={"course/1": 0})
    world.plan("07:45", lambda: world.sessions(small={"course/1": 1}))
    world.plan("07:50", lambda: world.sessions(small={"course/1": 0}))
    world.run(until="07:59")

    assert world.slot_lines() == [
        ("07:30:00", 4, 0, 0),
        ("07:45:36", 0, 0, 1),
        ("07:50:00", 1, 0, 0),
    ]


def test_sessions_that_were_there_before_are_no_slots_at_all() -> None:
    world = SlotWorld("07:29", slot_text(FOUR))
    world.sessions(small={"course/1": 3})
    world.run(until="07:46")

    assert len(world.koordinator.writes) == 1
    assert world.history[-1][1] == "1+0"


def test_where_nobody_counts_sessions_those_in_slots_are_known_all_the_same() -> None:
    world = SlotWorld("07:29", slot_text(FOUR))
    world.plan("07:45", lambda: world.koordinator.enter("a"), lambda: world.koordinator.enter("b"))
    world.run(until="07:55")

    assert world.history[-1][1] == "2+2"
    assert len(world.koordinator.writes) == 4


def test_none_tops_up() -> None:
    world = SlotWorld("07:29", slot_text(FOUR, behaviour="none"))
    world.plan("07:45:01", lambda: world.koordinator.enter("a"))
    world.plan("07:50:01", lambda: world.koordinator.enter("b"))
    world.run(until="07:55")

    assert [counts for _, counts in world.history] == ["0+0", "4+0", "3+1", "4+1", "3+2", "4+2"]


def test_reduce_removes_free_ones_as_time_runs_out_and_none_in_use() -> None:
    world = SlotWorld("07:29", slot_text(FOUR, behaviour="reduce"))
    world.sessions(small={"course/1": 0})
    world.plan(
        "07:35:01", lambda: world.sessions(small={"course/1": 1}), lambda: world.koordinator.enter("a")
    )
    world.run(until="07:59")

    assert [counts for _, counts in world.history] == ["0+0", "4+0", "3+1", "2+1", "1+1", "0+1"]
    assert world.koordinator.used_deletes == []


def test_once_a_slot_is_consumed_it_is_removed_and_the_seats_are_as_promised() -> None:
    world = SlotWorld("07:29", slot_text(FOUR, allocateOnce=True))
    world.sessions(small={"course/1": 0})
    world.plan(
        "07:45:01", lambda: world.sessions(small={"course/1": 1}), lambda: world.koordinator.enter("a")
    )
    world.plan(
        "07:50:01", lambda: world.sessions(small={"course/1": 0}), lambda: world.koordinator.leave("a")
    )
    world.run(until="07:59")

    assert [counts for _, counts in world.history] == ["0+0", "4+0", "3+0 dead=1", "3+0", "4+0"]


def test_those_whose_node_is_gone_are_replaced() -> None:
    world = SlotWorld("07:29", slot_text(FOUR))
    world.sessions(small={"course/1": 0})
    lost = [f"example-course-small-{n}-{DIGEST}" for n in (0, 2)]
    world.plan("07:45:01", lambda: world.koordinator.lose_nodes(*lost))
    world.run(until="07:46")

    assert world.slot_lines()[1:] == [("07:45:04", 2, 0, 2)]
    assert names(sorted(world.koordinator.objects)) == [f"{n}-{DIGEST}" for n in (1, 3, 4, 5)]


def test_a_name_that_another_site_has_is_left_to_it() -> None:
    world = SlotWorld("07:29", slot_text(FOUR))
    world.sessions(small={"course/1": 0})
    taken = f"example-course-small-1-{DIGEST}"
    world.koordinator.put(
        taken, {"metadata": {"labels": {"berth.dev/site": "other"}}, "spec": {}}, phase="Failed"
    )
    world.run(until="07:31")

    assert names(sorted(world.koordinator.of("Available"))) == [f"{n}-{DIGEST}" for n in (0, 2, 3, 4)]


def test_back_to_back_occurrences_keep_their_slots_which_end_later() -> None:
    rows = FOUR, ("course/2", "07:55", "08:00", "08:10", {"small": 4})
    world = SlotWorld("07:29", slot_text(*rows))
    world.sessions(small={"course/1": 0, "course/2": 0})
    world.run(until="08:05")
    made = dict.fromkeys(tree["metadata"]["creationTimestamp"] for tree in world.koordinator.objects.values())

    assert world.slot_lines() == [("07:30:00", 4, 0, 0), ("07:55:00", 0, 4, 0)]
    assert list(made) == ["2026-02-02T07:30:00Z"]
    assert {tree["spec"]["ttl"] for tree in world.koordinator.objects.values()} == {"1h40m0s"}
    assert world.history[-1][1] == "4+0"


@pytest.mark.parametrize("number", [200, pytest.param(600, marks=pytest.mark.long)])
def test_two_hundred_slots_take_less_than_ten_seconds_and_the_pod_stays_alive(number: int) -> None:
    """At 25 ms a write, which is slow."""
    world = SlotWorld("07:30", slot_text((*COURSE[:4], {"small": number}), behaviour="none"))
    world.seconds_a_write = 0.025
    there: list[int] = []
    world.plan("07:30:09", lambda: there.append(len(world.koordinator.objects)))
    world.run(until="07:31")

    assert len(world.koordinator.objects) == number
    assert there[0] >= 200
    assert max(world.silence) <= 10
