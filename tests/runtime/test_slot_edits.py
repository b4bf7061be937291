"""Edits of a timetable while its slots stand, and what a person sets in an emergency."""

import json

import pytest

from tests.runtime.fake_koordinator import names
from tests.runtime.slotworld import DIGEST, HANDING, OTHER, SlotWorld, slot_text
from tests.runtime.world import Row, timetable_text


def row(count: int = 4, end: str = "08:00") -> Row:
    return ("course/1", "07:30", "07:40", end, {"small": count})


def edited(after: str | None, before: str | None = None, **replicas: int) -> SlotWorld:
    """At a quarter to eight, with a session in the first slot."""
    world = SlotWorld("07:29", before or slot_text(row()), **replicas)
    world.sessions(small={"course/1": 0})
    world.plan("07:35", lambda: world.sessions(small={"course/1": 1}), lambda: world.koordinator.enter("a"))
    world.plan("07:45:01", lambda: setattr(world.cluster, "timetable", after))
    return world


def test_fewer_seats_are_free_within_a_minute_and_no_session_loses_its_slot() -> None:
    world = edited(slot_text(row(2)))
    world.run(until="07:46")

    assert world.counts == "1+1"
    assert world.koordinator.used_deletes == []
    assert names(sorted(world.koordinator.objects)) == [f"0-{DIGEST}", f"1-{DIGEST}"]


@pytest.mark.parametrize("after", [row(0), ("course/1", "07:30", "07:40", "08:00", {"small": 0})])
def test_without_any_seat_what_is_in_use_stays_until_the_end(after: Row) -> None:
    world = edited(slot_text(after))
    world.run(until="07:46")

    assert world.counts == "0+1"
    assert (world.run(), world.koordinator.objects) == (0, {})


@pytest.mark.parametrize(("end", "ttl"), [("08:10", "1h40m0s"), ("07:50", "1h20m0s")])
def test_another_end_is_told_to_the_slots_that_stand(end: str, ttl: str) -> None:
    world = edited(slot_text(row(end=end)))
    world.run(until="07:46")
    said = {(tree["spec"]["expires"], tree["spec"]["ttl"]) for tree in world.koordinator.objects.values()}

    assert world.counts == "3+1"
    assert said == {(f"2026-02-02T{end}:00Z", ttl)}
    assert world.slot_lines()[-1][1:] == (0, 4, 0)
    assert (world.run(), world.koordinator.objects) == (0, {})


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(slot_text(row(), suspend=True), id="suspended"),
        pytest.param(slot_text(pools={}), id="no-pool"),
        pytest.param(slot_text(row(end="07:45")), id="over"),
    ],
)
def test_with_nothing_open_any_more_all_go_also_those_in_use(after: str) -> None:
    tree = json.loads(after)
    if not tree["pools"]:
        after = json.dumps({**tree, "occurrences": []})
    world = edited(after)

    assert world.run(until="07:46") == 0
    assert world.koordinator.objects == {}


def test_another_shape_is_another_slot_one_after_the_other() -> None:
    world = edited(slot_text(row(), variant="b"))
    world.plan(
        "07:50:01", lambda: world.sessions(small={"course/1": 0}), lambda: world.koordinator.leave("a")
    )
    world.run(until="07:46")
    there = sorted(names(list(world.koordinator.objects)))

    assert there == sorted([f"0-{DIGEST}", f"0-{OTHER}", f"1-{OTHER}", f"2-{OTHER}"])
    assert world.koordinator.owners(f"example-course-small-0-{DIGEST}") == ["a"]
    assert min(int(counts.split("+")[0]) for _, counts in world.history[2:]) == 2

    world.run(until="07:51")

    assert names(sorted(world.koordinator.objects)) == [f"{n}-{OTHER}" for n in range(4)]


def test_where_nobody_else_gives_room_the_old_ones_make_it_and_no_more_than_one_seat_is_missing() -> None:
    world = edited(slot_text(row(), variant="b"))
    world.koordinator.room = 4
    world.run(until="07:46:45")

    assert world.counts == "3+1"
    assert set(names(list(world.koordinator.objects))) == {
        f"0-{DIGEST}",
        f"0-{OTHER}",
        f"1-{OTHER}",
        f"2-{OTHER}",
    }
    assert min(int(counts.split("+")[0]) for _, counts in world.history[2:]) == 2


@pytest.mark.parametrize("before", [False, True])
def test_with_and_without_placeholders_before(before: bool) -> None:
    """Slots of both are of other shapes."""
    texts = (slot_text(row(), placeholders=True), slot_text(row()))
    world = edited(texts[before], texts[not before], small=0)
    world.run(until="07:47")

    digest = DIGEST if before else HANDING
    assert world.counts == "3+1"
    assert len([name for name in world.koordinator.objects if name.endswith(digest)]) == 3
    assert world.cluster.scales["course-small"] == 0
    assert (world.run(), world.koordinator.objects) == (0, {})


def test_from_placeholders_to_slots_that_they_come_before() -> None:
    """A slot takes over the room of the session that runs, too."""
    after = slot_text(row(), placeholders=True)
    world = edited(after, timetable_text(row(), behaviour="maintain"), small=0)
    world.run(until="07:47")

    assert world.counts == "3+1"
    assert world.cluster.scales["course-small"] == 0
    assert max(replicas for _, _, replicas in world.writes) == 4


def test_what_a_person_sets_is_the_number_of_free_slots_until_then() -> None:
    world = edited(slot_text(row()))
    said = '{"small": {"target": 7, "until": "2026-02-02T08:05:00Z"}}'
    world.plan("07:50", lambda: world.cluster.annotate(said))
    world.run(until="07:51")
    assert world.counts == "7+1"
    assert {tree["spec"]["expires"] for tree in world.koordinator.objects.values()} == {
        "2026-02-02T08:05:00Z"
    }
    world.run(until="08:04")

    assert world.counts == "7+1"
    assert (world.run(), world.koordinator.objects) == (0, {})
    assert [line["time"] for line in world.told("ended")] == ["08:05:00"]
