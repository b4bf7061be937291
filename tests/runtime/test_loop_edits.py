"""An edit of the timetable acts within half a minute, also on what it removes."""

from tests.objectstore import refusal
from tests.runtime.world import COURSE, Row, World, timetable_text

TWO = {"small": "course-small", "huge": "course-huge"}
BOTH: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})


def edited(world: World, when: str, text: str | None) -> None:
    def edit() -> None:
        world.cluster.timetable = text

    world.plan(when, edit)


def reasons(world: World) -> list[tuple[object, ...]]:
    return [(line["pool"], line["from"], line["to"], line["reason"]) for line in world.told("scaled")]


def test_one_more_class() -> None:
    world = World("08:00", timetable_text(COURSE), small=25, huge=0)
    edited(world, "08:30:01", timetable_text(BOTH, pools=TWO))
    world.run(until="09:00")

    assert reasons(world) == [("huge", 0, 2, "opened")]


def test_a_class_that_is_gone_is_closed() -> None:
    world = World("08:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    edited(world, "08:30:01", timetable_text(COURSE))
    world.run(until="09:00")

    assert reasons(world) == [("huge", 2, 0, "timetable edited")]


def test_a_class_that_is_gone_and_out_of_reach_holds_nobody_up() -> None:
    world = World("08:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    edited(world, "08:30:01", timetable_text(COURSE))
    world.interfere_at("08:30:01", "course-huge", refusal(403, "Forbidden", "not yours"))

    assert world.run() == 0
    assert world.writes == [("10:00:00", "small", 0)]
    assert [(line["subject"], line["reason"], line["message"]) for line in world.told("failed")] == [
        ("deployment course-huge", "403 Forbidden", "not yours"),
        ("lease course-huge", "403 Forbidden", "not yours"),
    ]


def test_a_class_that_is_gone_but_only_unlucky_is_waited_for() -> None:
    world = World("09:00", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    edited(world, "09:30:01", timetable_text(COURSE))
    world.interfere_at("09:30:01", "course-huge", refusal(500, "InternalError"))
    world.interfere_at("10:05", "", None)

    assert world.run() == 0
    assert reasons(world) == [("small", 25, 0, "closed"), ("huge", 2, 0, "closed")]


def test_a_deployment_of_another_name_takes_over() -> None:
    world = World("08:00", timetable_text(COURSE), small=25, other=0)
    edited(world, "08:30:01", timetable_text(COURSE, pools={"small": "course-other"}))

    assert world.run() == 0
    assert {("other", 25), ("small", 0), ("other", 0)} == {(name, count) for _, name, count in world.writes}
