"""The sweep makes slots that nobody makes, removes those that are over or of nobody, and leaves the rest."""

import pytest
from berth.core.actions import StartJob, describe_action
from berth.core.decide import decide
from berth.core.objects import CONFIG_MAP, SLOT
from berth.core.pooldecision import ChangeSlots

from tests.objectstore import Tree
from tests.runtime.fake_koordinator import names
from tests.runtime.slotworld import DIGEST, HANDING, slot_text, slots
from tests.runtime.sweepworld import (
    ROW,
    Swept,
    cronjob,
    deployment,
    inventory,
    job,
    lease,
    made,
    numbered,
    seen,
    slot_of,
    timetable,
    twice,
)
from tests.runtime.timetables import at, timetable_text

SERVED = (job(), lease())
STANDING = {"berth.dev/standing": "true"}
JOB, SCALE = "PATCH jobs course-sweep", "PATCH deployments course-small scale"
GONE = {"berth.dev/gone-since": "2026-02-02T08:00:00Z"}
DEAD = slot_of(f"example-course-small-9-{DIGEST}", "Failed")


def course(**more: object) -> list[Tree]:
    return [timetable(text=slot_text(ROW, **more)), cronjob()]  # type: ignore[arg-type]


def posted(*ordinals: int) -> list[str]:
    return [f"POST example-course-small-{n}-{DIGEST}" for n in ordinals]


def removed(*ordinals: int) -> list[str]:
    return [f"DELETE example-course-small-{n}-{DIGEST}" for n in ordinals]


def open_to_placeholders(number: int) -> list[Tree]:
    free = numbered(number, digest=HANDING)
    for tree in free:
        tree["spec"]["owners"] = slots(placeholders=True)["object"]["spec"]["owners"]
    return free


def handed(number: int) -> list[Tree]:
    name, place = f"example-course-small-{{}}-{HANDING}", "course-small-5d5f7-{}"
    return [slot_of(name.format(n), owners=(place.format(n),)) for n in range(number)]


USED = slot_of(f"example-course-small-0-{DIGEST}", owners=("a",))
FIRST = course(placeholders=True)
OTHERS = [
    slot_of("x-0-a", labels={"berth.dev/site": "another"}),
    slot_of("x-1-a", labels={"berth.dev/reservation": None}),
    slot_of("x-2-a", labels={"berth.dev/role": "timetable"}),
    slot_of("x-3-a", labels=STANDING),
]
DONE = {  # the time of day, the objects, and what is written
    "nobody-serves": ("09:00", course(), [*posted(0, 1, 2, 3), JOB]),
    "it-knows-sessions-in-slots": ("09:00", [*course(), USED, *numbered(2)[1:]], [*posted(2, 3), JOB]),
    "surplus-is-left-to-the-job": ("09:00", [*course(), *numbered(6), DEAD], [*removed(9), JOB]),
    "the-dead-are-replaced": ("09:00", [*course(), *numbered(3), DEAD], [*posted(3), *removed(9), JOB]),
    **{
        f"over-{phase}": ("10:02", [*course(), *numbered(4, phase)], removed(0, 1, 2, 3))
        for phase in ("", "Pending", "Available", "Succeeded", "Failed")
    },
    "a-pod-may-close": ("10:00:29", [*course(), *SERVED, *numbered(4)], []),
    "left-by-placeholders": ("09:00", [*course(), deployment(4), *numbered(4)], [SCALE, JOB]),
    "placeholders-come-first": ("09:00", [*FIRST, deployment(0)], [JOB, SCALE]),
    "placeholders-have-handed-over": ("09:00", [*FIRST, deployment(4), *handed(4)], [JOB, SCALE]),
    # Its rights do not let the sweep close slots; the Job that it starts does.
    "placeholders-could-take-slots": ("09:00", [*FIRST, deployment(0), *open_to_placeholders(3)], [JOB]),
    "for-the-rest": ("09:00", [*FIRST, deployment(0), *numbered(3, digest=HANDING)], [JOB, SCALE]),
    "of-others-and-in-git": ("12:00", [*course(), *numbered(1), *OTHERS], removed(0)),
}


@pytest.mark.parametrize(("now", "trees", "expected"), DONE.values(), ids=DONE)
def test_the_sweep_takes_the_listed_actions_once(now: str, trees: list[Tree], expected: list[str]) -> None:
    assert sorted(twice(Swept(now, *trees))) == sorted(expected)


@pytest.mark.parametrize(("replicas", "ready", "after"), [(0, 0, 4), (4, 3, 4)])
def test_the_sweep_creates_slots_only_for_placeholders_that_are_ready(
    replicas: int, ready: int, after: int
) -> None:
    swept = Swept("09:00", *course(placeholders=True), deployment(replicas, ready=ready))
    twice(swept)

    assert (swept.cluster.replicas(), len(swept.koordinator.objects)) == ({"course-small": after}, ready)


def test_events_are_on_the_timetable_if_there_is_no_deployment() -> None:
    swept = Swept("09:00", *course(), *numbered(3), DEAD)
    swept.run()
    subject = {"kind": "ConfigMap", "namespace": "berth", "name": "course", "uid": "uid-ConfigMap-course"}

    why = "course/1 is open and no pod serves it."
    assert swept.cluster.events() == [
        ("course", "SweepStartedJob", "Started Job course-sweep: no pod serves course/1."),
        ("course", "SweepOpened", f"Made 1 slot of small and removed 1 slot of small: {why}"),
    ]
    events = swept.cluster.of("events").values()
    assert [tree["involvedObject"] for tree in events] == [{"apiVersion": "v1", **subject}] * 2
    assert swept.koordinator.objects[f"example-course-small-3-{DIGEST}"]["spec"]["ttl"] == "2h0m0s"


@pytest.mark.parametrize(
    ("now", "ready", "count"), [("09:00:59", 3, 0), ("09:01:00", 3, 4), ("09:00:01", 4, 4)]
)
def test_a_pool_that_changes_to_placeholders_loses_its_slots(now: str, ready: int, count: int) -> None:
    """At once if all placeholders are ready, and a minute after the edit in any case."""
    edited = timetable(text=timetable_text(ROW, behaviour="maintain"), changed="09:00")
    swept = Swept(now, edited, cronjob(), deployment(4, ready=ready), *SERVED, *numbered(4))
    swept.run()

    assert len(swept.koordinator.writes) == count


@pytest.mark.parametrize(("count", "closes"), [(4, True), (3, False)])
def test_a_replaced_pool_closes_only_when_enough_slots_hold_its_seats(count: int, closes: bool) -> None:
    edited = timetable(text=slot_text(ROW), changed="08:59:01")
    facts = seen(edited, cronjob(), *SERVED, *numbered(count), deployment(3, "course-huge"))

    assert [action.ref.name for action in decide(facts, at("09:00")).actions] == ["course-huge"] * closes


def test_the_sweep_creates_the_slots_of_an_override_until_its_end() -> None:
    override = {"berth.dev/override": '{"small": {"target": 2, "until": "2026-02-02T13:00:00Z"}}'}
    swept = Swept("12:00", timetable(text=slot_text(ROW), annotations=override), cronjob())

    assert len(twice(swept)) == 2
    ends = {tree["spec"]["expires"] for tree in swept.koordinator.objects.values()}
    assert ends == {"2026-02-02T13:00:00Z"}


# What cannot be read or written


def test_without_a_list_of_slots_the_sweep_only_starts_the_job() -> None:
    facts = seen(*course(), *numbered(2), unread=(SLOT,))

    assert [type(action) for action in decide(facts, at("09:00")).actions] == [StartJob]
    assert decide(facts, at("12:00")).actions == ()


def test_a_cluster_without_koordinator_is_not_asked_for_slots() -> None:
    swept = Swept("09:00", timetable(), deployment(0), cronjob())
    swept.run()

    assert not [request for request in swept.cluster.requests if "reservations" in request]
    assert "slots" not in swept.lines[-1]


# Slots of nobody


def test_where_an_engine_prunes_slots_in_neither_timetable_nor_git_are_removed() -> None:
    young = slot_of("x-4-a", created="11:59")
    swept = Swept("12:00", *numbered(2), slot_of("x-3-a", labels=STANDING), young)

    assert swept.run() == 0
    assert names(list(swept.koordinator.objects)) == ["x-3-a", "x-4-a"]
    swept.cluster.now += 120
    swept.run()
    assert names(list(swept.koordinator.objects)) == ["x-3-a"]


def test_slots_are_removed_one_sweep_after_their_old_job_is_marked() -> None:
    """The sweep may write to no slot that it did not make."""
    swept = Swept("12:00", *numbered(2), job(end="Complete"))

    assert (swept.run(), swept.cluster.writes) == (0, ["PATCH jobs course-1"])
    assert len(swept.koordinator.objects) == 2
    swept.cluster.now += 300
    assert (swept.run(), swept.koordinator.objects, swept.cluster.of("jobs")) == (0, {}, {})


def test_slots_of_a_gone_reservation_are_removed_after_its_cronjob_and_job() -> None:
    gone = timetable(text=slot_text(ROW), annotations=GONE)
    facts = seen(gone, cronjob(), *SERVED, *numbered(2), inventory("lab\n"), prunes=True)
    actions = decide(facts, at("09:00")).actions

    kinds = ["slots" if isinstance(action, ChangeSlots) else action.ref.kind for action in actions]
    assert kinds == ["CronJob", "Job", "slots", "ConfigMap"]


INVENTORIES = {
    "none": (None, None, ["x-0-a", "x-3-a"]),
    "of-before": ("course\n", None, ["x-0-a", "x-3-a"]),
    "as-in-git": ("course\n", "# slots\ncourse x a 4\n", ["x-0-a", "x-3-a"]),
    "fewer": ("course\n", "# slots\ncourse x a 3\n", ["x-0-a"]),
    "another-shape": ("course\n", "# slots\ncourse x b 4\n", []),
    "of-another-reservation": ("course\n", "# slots\nlab x a 4\n", []),
    "none-stand-any-more": ("course\n", "# slots\n", []),
    "of-two-classes": ("course\n", "course x a 4\ncourse y a 1\n", ["x-0-a", "x-3-a"]),
    "of-no-sense": ("course\n", "course x a many\n", ["x-0-a", "x-3-a"]),
    "the-reservation-is-gone": ("lab\n", None, []),
}


@pytest.mark.parametrize(("reservations", "lines", "left"), INVENTORIES.values(), ids=INVENTORIES)
def test_where_the_sweep_prunes_slots_that_left_git_are_removed(
    reservations: str | None, lines: str | None, left: list[str]
) -> None:
    standing = [slot_of(name, labels=STANDING) for name in ("x-0-a", "x-3-a")]
    listed = [inventory(reservations, lines)] if reservations else []
    swept = Swept("12:00", *standing, *listed, prunes=True)

    assert swept.run() == 0
    assert sorted(swept.koordinator.objects) == left


def test_a_new_slot_of_git_is_not_removed_before_the_inventory_can_name_it() -> None:
    young = slot_of("x-0-a", created="11:50:31", labels=STANDING)
    swept = Swept("12:00", young, inventory("course\n", "# slots\n"), prunes=True)

    assert twice(swept) == []
    swept.cluster.now += 1
    assert twice(swept) == ["DELETE x-0-a"]


def test_standing_slots_replace_the_windows_and_the_session_affinity_text_stays() -> None:
    trees = [
        timetable(text=slot_text(ROW), annotations=GONE),
        made(
            CONFIG_MAP,
            "course-session-affinity",
            labels={"berth.dev/role": "session-affinity"},
            data={"small.yaml": "{}"},
        ),
        cronjob(),
        *numbered(2),
        slot_of("x-0-a", labels=STANDING),
        inventory("course\n", "course x a 1\n"),
    ]
    actions = decide(seen(*trees, prunes=True), at("09:00")).actions

    why = "its windows are not in git since 2026-02-02T08:00:00Z."
    assert [describe_action(action)[2] for action in actions] == [
        f"Removed {what}: {why}" for what in ("CronJob course", "2 slots of small", "ConfigMap course")
    ]
