"""A run whose seats are slots: what it writes for sessions, nodes, edits and overrides."""

from random import Random
from typing import Any

import pytest
from berth.core.target import pool_target
from berth.core.timetable import parse_timetable
from berth.runtime.scaler import TICK

from tests.runtime.fake_koordinator import names
from tests.runtime.slotworld import DIGEST, HANDING, SlotWorld, slot_text, slots
from tests.runtime.timetables import COURSE, Row, clock, timetable_text
from tests.seeds import rest_is_long, seeds

FOUR: Row = ("course/1", "07:30", "07:40", "08:00", {"small": 4})


def row(count: int = 4, end: str = "08:00") -> Row:
    return (*FOUR[:3], end, {"small": count})


def counting(**more: Any) -> SlotWorld:
    """A world in which sessions are counted, and nobody is there."""
    world = SlotWorld("07:29", slot_text(FOUR, **more))
    world.sessions(small={"course/1": 0})
    return world


def come(world: SlotWorld, when: str) -> None:
    world.plan(when, lambda: world.sessions(small={"course/1": 1}), lambda: world.koordinator.enter("a"))


def go(world: SlotWorld, when: str) -> None:
    world.plan(when, lambda: world.sessions(small={"course/1": 0}), lambda: world.koordinator.leave("a"))


def test_the_log_tells_each_change_of_slots() -> None:
    world = SlotWorld("07:29:07", slot_text(FOUR, behaviour="none"))
    line = {"pool": "small", "slots": "example-course-small", "renewed": 0, "used": 0}

    assert world.run() == 0
    assert world.told("slots") == [
        {**line, "time": "07:30:00", "occurrences": ["course/1"], "made": 4, "removed": 0, "free": 4},
        {**line, "time": "08:00:00", "occurrences": [], "made": 0, "removed": 4, "free": 0},
    ]


def test_a_slot_has_an_end_and_a_ttl_and_expires_without_berth() -> None:
    world = SlotWorld("07:30:10", slot_text((*COURSE[:4], {"small": 1}), behaviour="none"))
    world.run(until="07:31")
    (tree,) = world.koordinator.objects.values()

    shape = slots()["object"]
    assert tree["metadata"]["name"] == f"example-course-small-0-{DIGEST}"
    assert tree["metadata"]["labels"] == shape["metadata"]["labels"]
    # Ten seconds less than two and a half hours, rounded up to a minute, and an hour.
    assert tree["spec"] == {**shape["spec"], "expires": "2026-02-02T10:00:00Z", "ttl": "3h30m0s"}
    world.pass_time(3 * 3600)
    assert world.koordinator.phase(f"example-course-small-0-{DIGEST}") == "Failed"


def test_with_no_open_window_all_slots_of_the_pool_and_no_others_are_removed() -> None:
    world = SlotWorld("12:00", slot_text(FOUR))
    shape = slots()["object"]
    owner = {"namespace": "students", "name": "s"}
    statuses: list[dict[str, Any]] = [{}, {"phase": "Available", "currentOwners": [owner]}]
    statuses += [{"phase": phase} for phase in ("Available", "Failed", "Succeeded")]
    for n, status in enumerate(statuses):
        spec = {"expires": "2026-02-02T23:00:00Z", "ttl": "20h0m0s"}
        world.koordinator.put(f"a-{n}-x", shape | {"spec": spec}, **status)
    others = {
        "another-site": {"berth.dev/site": "other"},
        "another-reservation": {"berth.dev/reservation": "other"},
        "another-class": {"berth.dev/resource-class": "huge"},
        "no-slot": {"berth.dev/role": "timetable"},
        "in-git": {"berth.dev/standing": "true"},
    }
    for name, labels in others.items():
        metadata = {"labels": {**shape["metadata"]["labels"], **labels}}
        world.koordinator.put(name, {"metadata": metadata, "spec": {}})

    assert world.run() == 0
    assert world.koordinator.objects.keys() == others.keys()
    assert [line["time"] for line in world.told("ended")] == ["12:00:00"]


# Sessions


def test_a_session_without_a_slot_takes_a_seat_after_half_a_minute() -> None:
    world = counting()
    world.plan("07:45", lambda: world.sessions(small={"course/1": 1}))
    world.plan("07:50", lambda: world.sessions(small={"course/1": 0}))
    world.run(until="07:59")

    assert world.slot_lines() == [("07:30:00", 4, 0, 0), ("07:45:36", 0, 0, 1), ("07:50:00", 1, 0, 0)]


HISTORIES = {  # of a pool in which a session comes and, where seats do not fall, leaves
    "none-tops-up": ({"behaviour": "none"}, True, ["0+0", "4+0", "3+1", "4+1", "5+0", "4+0"]),
    "reduce-removes-free-ones": ({"behaviour": "reduce"}, False, ["0+0", "4+0", "3+1", "2+1", "1+1", "0+1"]),
    "consumed-slots-are-removed": ({"allocateOnce": True}, True, ["0+0", "4+0", "3+0 dead=1", "3+0", "4+0"]),
}


@pytest.mark.parametrize(("more", "leaves", "expected"), HISTORIES.values(), ids=HISTORIES)
def test_free_and_used_slots_change_as_listed_when_a_session_comes_and_leaves(
    more: dict[str, Any], leaves: bool, expected: list[str]
) -> None:
    world = counting(**more)
    come(world, "07:35:01")
    if leaves:
        go(world, "07:50:01")
    world.run(until="07:59")

    assert [counts for _, counts in world.history] == expected
    assert world.koordinator.used_deletes == []


def test_slots_of_a_lost_node_are_replaced() -> None:
    world = counting()
    lost = [f"example-course-small-{n}-{DIGEST}" for n in (0, 2)]
    world.plan("07:45:01", lambda: world.koordinator.lose_nodes(*lost))
    world.run(until="07:46")

    assert world.slot_lines()[1:] == [("07:45:04", 2, 0, 2)]
    assert names(sorted(world.koordinator.objects)) == [f"{n}-{DIGEST}" for n in (1, 3, 4, 5)]


def test_a_slot_name_that_another_site_uses_is_skipped() -> None:
    world = counting()
    foreign = {"metadata": {"labels": {"berth.dev/site": "other"}}, "spec": {}}
    world.koordinator.put(f"example-course-small-1-{DIGEST}", foreign, phase="Failed")
    world.run(until="07:31")

    assert names(sorted(world.koordinator.of("Available"))) == [f"{n}-{DIGEST}" for n in (0, 2, 3, 4)]


@pytest.mark.parametrize("number", [200, pytest.param(600, marks=pytest.mark.long)])
def test_two_hundred_slots_take_less_than_ten_seconds_and_the_pod_stays_alive(number: int) -> None:
    """At 25 ms a write, which is slow."""
    world = SlotWorld("07:30", slot_text((*COURSE[:4], {"small": number}), behaviour="none"))
    world.seconds_a_write = 0.025
    counts: list[int] = []
    world.plan("07:30:09", lambda: counts.append(len(world.koordinator.objects)))
    world.run(until="07:31")

    assert len(world.koordinator.objects) == number
    assert counts[0] >= 200
    assert max(world.silence) <= 10


# Edits and overrides


def edited(after: str, before: str | None = None, **replicas: int) -> SlotWorld:
    """At a quarter to eight, with a session in the first slot."""
    world = SlotWorld("07:29", before or slot_text(FOUR), **replicas)
    world.sessions(small={"course/1": 0})
    come(world, "07:35")
    world.edit_at("07:45:01", after)
    return world


@pytest.mark.parametrize(("count", "counts"), [(2, "1+1"), (0, "0+1")])
def test_a_lower_count_acts_within_a_minute_and_no_session_loses_its_slot(count: int, counts: str) -> None:
    world = edited(slot_text(row(count)))
    world.run(until="07:46")

    assert (world.counts, world.koordinator.used_deletes) == (counts, [])
    assert (world.go_on(), world.koordinator.objects) == (0, {})


@pytest.mark.parametrize(("end", "ttl"), [("08:10", "1h40m0s"), ("07:50", "1h20m0s")])
def test_a_changed_end_is_written_to_the_existing_slots(end: str, ttl: str) -> None:
    world = edited(slot_text(row(end=end)))
    world.run(until="07:46")
    ends = {(tree["spec"]["expires"], tree["spec"]["ttl"]) for tree in world.koordinator.objects.values()}

    assert (world.counts, ends) == ("3+1", {(f"2026-02-02T{end}:00Z", ttl)})
    assert world.slot_lines()[-1][1:] == (0, 4, 0)
    assert (world.go_on(), world.koordinator.objects) == (0, {})


@pytest.mark.parametrize("before", ["slots", "handing", "placeholders"])
def test_a_pool_can_switch_between_slots_with_and_without_placeholders(before: str) -> None:
    """Slots of both are of other shapes. A slot takes over the room of a session that runs, too."""
    texts = {
        "slots": slot_text(FOUR),
        "handing": slot_text(FOUR, placeholders=True),
        "placeholders": timetable_text(FOUR, behaviour="maintain"),
    }
    after = "slots" if before == "handing" else "handing"
    world = edited(texts[after], texts[before], small=0)
    world.run(until="07:47")

    digest = DIGEST if after == "slots" else HANDING
    assert world.counts == "3+1"
    assert len([name for name in world.koordinator.objects if name.endswith(digest)]) >= 3
    assert world.cluster.scales["course-small"] == 0
    assert max((replicas for _, replicas in world.seats), default=0) <= 4
    assert (world.go_on(), world.koordinator.objects) == (0, {})


# Many sessions, whose pods come and go a little later


ROW: Row = ("course/1", "07:30", "07:35", "07:50", {"small": 30})


class Class:
    """The sessions of a course, as they are told and as they have slots."""

    def __init__(self, world: SlotWorld) -> None:
        self.world = world
        self.told: set[str] = set()
        self._tell()

    def _tell(self) -> None:
        self.world.sessions(small={"course/1": len(self.told)})

    def plan(self, second: float, name: str, bound: float, left: float, gone: float) -> None:
        """It is told from a second on and until `left`, and its pod has a place from `bound` to `gone`."""
        for moment, action in (
            (second, lambda: self.told.add(name)),
            (bound, lambda: self.world.koordinator.enter(name)),
            (left, lambda: self.told.discard(name)),
            (gone, lambda: self.world.koordinator.leave(name)),
        ):
            self.world.plan(clock(self.world.now + moment), action, self._tell)


def full(**more: object) -> tuple[SlotWorld, Class]:
    world = SlotWorld("07:30", slot_text(ROW, **more))  # type: ignore[arg-type]
    return world, Class(world)


@pytest.mark.parametrize("behaviour", ["maintain", "none"])
@pytest.mark.parametrize("delay", rest_is_long([3, 0, 9, 20], 1))
def test_a_rush_of_sessions_removes_no_slots(delay: int, behaviour: str) -> None:
    """One a second; at no moment of it are all bound."""
    world, course = full(behaviour=behaviour)
    for n in range(30):
        course.plan(300 + n, f"s{n}", 300 + n + delay, 2000, 2000)
    world.run(until="07:49")

    verbs = [verb for verb, _ in world.koordinator.writes]
    assert verbs == ["POST"] * (30 if behaviour == "maintain" else 60)
    assert world.counts == ("0+30" if behaviour == "maintain" else "30+30")


@pytest.mark.parametrize("grace", rest_is_long([4, 0, 20], 1))
@pytest.mark.parametrize("is_first", rest_is_long([True, False], 1))
def test_sessions_that_are_hibernated_or_restarted_cause_no_write(grace: int, is_first: bool) -> None:
    """The pod goes after its session, or before; and some come back at once."""
    world, course = full()
    for n in range(20):
        left = 400 + 5 * n
        course.plan(300, f"s{n}", 302, *((left, left + grace) if is_first else (left + grace, left)))
        course.plan(left + grace + 2, f"s{n}", left + grace + 4, 2000, 2000)
    world.run(until="07:49")

    assert [verb for verb, _ in world.koordinator.writes] == ["POST"] * 30
    assert world.counts == "10+20"


@pytest.mark.parametrize("once", rest_is_long([False, True], 1))
@pytest.mark.parametrize("behaviour", ["maintain", "reduce", "none"])
@pytest.mark.parametrize("seed", seeds(1, 4))
def test_missing_seats_are_replaced_within_six_ticks(seed: int, behaviour: str, once: bool) -> None:
    """Some sessions find a slot and some do not, some end soon, and sometimes nobody counts them.

    A seat is made again within two looks. Others may be taken meanwhile, so that some seat is missing for up
    to six: the bound of `SlotReconciler`.
    """
    random = Random(seed)
    world, course = full(behaviour=behaviour, allocateOnce=once)
    for n in range(45):
        second = random.uniform(0, 1000)
        bound = second + random.choice((0.5, 4, 12, 5000))
        left = bound % 5000 + random.choice((20, 300, 5000))
        course.plan(second, f"s{n}", min(bound, 5000), left, left + random.choice((-3, 0, 5, 20)))
    timetable, lacks, worst = parse_timetable(slot_text(ROW, behaviour=behaviour)), [0.0], [0.0]
    turn = world.turn

    def watched() -> None:
        turn()
        counts = {"course/1": len(course.told)}
        promised = pool_target(timetable, timetable.pools[0], int(world.now), counts).replicas
        there = len(world.koordinator.free())
        # A session that leaves before its pod gives its seat back with the pod.
        used = map(world.koordinator.owners, world.koordinator.used())
        late = sum(course.told.isdisjoint(owners) for owners in used)
        if there + late >= promised:
            lacks[0] = world.now
        worst[0] = max(worst[0], world.now - lacks[0])

    lacks[0] = world.now
    world.turn = watched  # type: ignore[method-assign]

    assert world.run() == 0
    assert world.koordinator.objects == {}
    assert worst[0] <= 6 * TICK
    assert [when for when, _ in world.koordinator.used_deletes if when < "07:50"] == []
