"""The sweep makes slots that nobody makes, removes those that are over or of nobody, and leaves the rest."""

import pytest
from berth.core.actions import StartJob
from berth.core.decide import decide
from berth.core.objects import CONFIG_MAP, LEASE, SLOT
from berth.core.pooldecision import ChangeSlots

from tests.objectstore import Tree, refusal
from tests.runtime.fake_koordinator import names
from tests.runtime.slotworld import DIGEST, HANDING, slot_text, slots
from tests.runtime.sweeping import ROW, numbered, twice
from tests.runtime.sweepworld import (
    Swept,
    cronjob,
    deployment,
    inventory,
    job,
    lease,
    seen,
    slot_of,
    timetable,
)
from tests.runtime.world import Row, at, timetable_text

SERVED = (job(), lease())


def course(*rows: Row, **more: object) -> list[Tree]:
    return [timetable(text=slot_text(*(rows or (ROW,)), **more)), cronjob()]  # type: ignore[arg-type]


def removed(*ordinals: int, digest: str = DIGEST) -> list[str]:
    return [f"DELETE example-course-small-{n}-{digest}" for n in ordinals]


def test_what_nobody_serves_is_made_to_the_full_count_and_gets_a_job() -> None:
    swept = Swept("09:00", *course())

    assert twice(swept) == [
        *(f"POST example-course-small-{n}-{DIGEST}" for n in range(4)),
        "PATCH jobs course-sweep",
    ]
    assert {tree["spec"]["ttl"] for tree in swept.koordinator.objects.values()} == {"2h0m0s"}
    assert swept.cluster.events() == [
        ("course", "SweepStartedJob", "Started Job course-sweep: no pod serves course/1."),
        ("course", "SweepOpened", "Made 4 slots of small: course/1 is open and no pod serves it."),
    ]


def test_events_are_about_the_timetable_where_there_is_no_deployment() -> None:
    swept = Swept("09:00", *course())
    swept.run()
    told = [tree["involvedObject"] for tree in swept.cluster.of("events").values()]

    assert (
        told
        == [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "namespace": "berth",
                "name": "course",
                "uid": "uid-ConfigMap-course",
            }
        ]
        * 2
    )


def test_sessions_in_slots_are_all_that_it_knows_of_sessions() -> None:
    used = slot_of(f"example-course-small-0-{DIGEST}", owners=("a",))
    swept = Swept("09:00", *course(), used, *numbered(2)[1:])

    assert twice(swept) == [
        *(f"POST example-course-small-{n}-{DIGEST}" for n in (2, 3)),
        "PATCH jobs course-sweep",
    ]


def test_the_dead_are_replaced_and_surplus_is_left_to_the_job() -> None:
    dead = slot_of(f"example-course-small-9-{DIGEST}", "Failed")
    swept = Swept("09:00", *course(), *numbered(6), dead)

    assert twice(swept) == [*removed(9), "PATCH jobs course-sweep"]


@pytest.mark.parametrize("phase", ["", "Pending", "Available", "Succeeded", "Failed"])
def test_what_is_over_is_removed(phase: str) -> None:
    swept = Swept("10:02", *course(), *numbered(4, phase))

    assert twice(swept) == removed(0, 1, 2, 3)
    assert swept.cluster.events() == [
        ("course", "SweepClosed", "Removed 4 slots of small: none of its occurrences is open.")
    ]


@pytest.mark.parametrize(("now", "count"), [("10:00:29", 0), ("10:00:30", 4)])
def test_a_pod_that_serves_gets_the_time_to_close(now: str, count: int) -> None:
    swept = Swept(now, *course(), *SERVED, *numbered(4))
    swept.run()

    assert len(swept.koordinator.writes) == count


@pytest.mark.parametrize(
    ("now", "ready", "count"), [("09:00:59", 3, 0), ("09:01:00", 3, 4), ("09:00:01", 4, 4)]
)
def test_a_pool_that_has_placeholders_now_loses_its_slots(now: str, ready: int, count: int) -> None:
    """At once if all placeholders are ready, and a minute after the edit in any case."""
    edited = timetable(text=timetable_text(ROW, behaviour="maintain"), changed="09:00")
    swept = Swept(now, edited, cronjob(), deployment(4, ready=ready), *SERVED, *numbered(4))
    swept.run()

    assert len(swept.koordinator.writes) == count


def test_a_deployment_that_placeholders_have_left_is_scaled_down() -> None:
    swept = Swept("09:00", *course(), deployment(4), *numbered(4))

    assert twice(swept) == ["PATCH deployments course-small scale", "PATCH jobs course-sweep"]


def test_where_placeholders_come_first_it_lets_them_and_takes_over_from_those_that_are_ready() -> None:
    swept = Swept("09:00", *course(placeholders=True), deployment(0))

    assert twice(swept) == ["PATCH jobs course-sweep", "PATCH deployments course-small scale"]
    assert swept.cluster.replicas() == {"course-small": 4}

    swept = Swept("09:00", *course(placeholders=True), deployment(4, ready=3))

    assert len(twice(swept)) == 4
    assert len(swept.koordinator.objects) == 3


def test_placeholders_that_have_handed_over_are_sent_away() -> None:
    name, place = f"example-course-small-{{}}-{HANDING}", "course-small-5d5f7-{}"
    handed = [slot_of(name.format(n), owners=(place.format(n),)) for n in range(4)]
    swept = Swept("09:00", *course(placeholders=True), deployment(4), *handed)

    assert twice(swept) == ["PATCH jobs course-sweep", "PATCH deployments course-small scale"]
    assert swept.cluster.replicas() == {"course-small": 0}


def test_placeholders_that_could_take_free_slots_are_not_asked_for() -> None:
    """Its rights do not let the sweep close them; the Job that it starts does."""
    free = numbered(3, digest=HANDING)
    for tree in free:
        tree["spec"]["owners"] = slots(placeholders=True)["object"]["spec"]["owners"]
    swept = Swept("09:00", *course(placeholders=True), deployment(0), *free)

    assert twice(swept) == ["PATCH jobs course-sweep"]

    swept = Swept("09:00", *course(placeholders=True), deployment(0), *numbered(3, digest=HANDING))

    assert twice(swept) == ["PATCH jobs course-sweep", "PATCH deployments course-small scale"]
    assert swept.cluster.replicas() == {"course-small": 1}


def test_what_a_person_has_set_is_made() -> None:
    said = {"berth.dev/override": '{"small": {"target": 2, "until": "2026-02-02T13:00:00Z"}}'}
    swept = Swept("12:00", timetable(text=slot_text(ROW), annotations=said), cronjob())

    assert len(twice(swept)) == 2
    assert {tree["spec"]["expires"] for tree in swept.koordinator.objects.values()} == {
        "2026-02-02T13:00:00Z"
    }


def test_slots_of_other_sites_and_those_that_stand_in_git_are_left() -> None:
    swept = Swept(
        "12:00",
        *course(),
        *numbered(1),
        slot_of("x-0-a", labels={"berth.dev/site": "another"}),
        slot_of("x-1-a", labels={"berth.dev/reservation": None}),
        slot_of("x-2-a", labels={"berth.dev/role": "timetable"}),
        slot_of("x-3-a", labels={"berth.dev/standing": "true"}),
    )

    assert twice(swept) == removed(0)


def test_where_an_engine_prunes_slots_without_a_timetable_go_unless_they_stand_in_git() -> None:
    present = slot_of("x-3-a", labels={"berth.dev/standing": "true"})
    young = slot_of("x-4-a", created="11:59")
    swept = Swept("12:00", *numbered(2), present, young)

    assert swept.run() == 0
    assert names(list(swept.koordinator.objects)) == ["x-3-a", "x-4-a"]
    swept.cluster.now += 120
    swept.run()
    assert names(list(swept.koordinator.objects)) == ["x-3-a"]


def test_slots_have_a_round_more_where_a_job_of_old_can_be_marked() -> None:
    """The sweep may write to no slot that it did not make."""
    swept = Swept("12:00", *numbered(2), job(end="Complete"))

    assert (swept.run(), swept.cluster.writes) == (0, ["PATCH jobs course-1"])
    assert len(swept.koordinator.objects) == 2
    swept.cluster.now += 300
    assert (swept.run(), swept.koordinator.objects, swept.cluster.of("jobs")) == (0, {}, {})


@pytest.mark.parametrize(("known", "left"), [("course", ["x-3-a"]), ("lab", [])])
def test_where_the_sweep_prunes_those_that_stand_in_git_go_with_their_reservation(
    known: str, left: list[str]
) -> None:
    present = slot_of("x-3-a", labels={"berth.dev/standing": "true"})
    swept = Swept("12:00", present, inventory(f"{known}\n"), prunes=True)

    swept.run()
    assert list(swept.koordinator.objects) == left


def test_without_an_inventory_nothing_that_stands_in_git_is_removed() -> None:
    present = slot_of("x-3-a", labels={"berth.dev/standing": "true"})
    swept = Swept("12:00", present, prunes=True)

    assert twice(swept) == []


def test_of_a_reservation_that_is_gone_slots_go_after_what_makes_them() -> None:
    since = {"berth.dev/gone-since": "2026-02-02T08:00:00Z"}
    gone = timetable(text=slot_text(ROW), annotations=since)
    facts = seen(gone, cronjob(), *SERVED, *numbered(2), inventory("lab\n"), prunes=True)
    actions = decide(facts, at("09:00")).actions

    assert [action.ref.kind if not isinstance(action, ChangeSlots) else "slots" for action in actions] == [
        "CronJob",
        "Job",
        "slots",
        "ConfigMap",
    ]


def test_where_slots_could_not_be_read_nothing_of_them_is_done() -> None:
    """But what needs none of them is."""
    facts = seen(*course(), *numbered(2), unread=(SLOT,))

    assert [type(action) for action in decide(facts, at("09:00")).actions] == [StartJob]
    assert decide(facts, at("12:00")).actions == ()


@pytest.mark.parametrize("kind", [CONFIG_MAP, LEASE])
def test_without_timetables_or_leases_nothing_is_done_to_slots(kind: object) -> None:
    facts = seen(*course(), *numbered(2), unread=(kind,))  # type: ignore[arg-type]

    assert decide(facts, at("12:00")).actions == ()


@pytest.mark.parametrize("status", [403, 422, 500])
def test_what_fails_of_slots_is_done_by_the_next_run(status: int) -> None:
    swept = Swept("10:02", *course(), *numbered(4))
    swept.cluster.interfere = lambda said: refusal(status, "No") if "DELETE" in said else None

    assert swept.run() == 1
    assert [subject for subject, _ in swept.told("failed")] == ["slots ConfigMap course"]
    swept.cluster.interfere = lambda _: None
    assert twice(swept) == removed(0, 1, 2, 3)


def test_a_cluster_without_koordinator_is_not_asked_for_slots() -> None:
    swept = Swept("09:00", timetable(), deployment(0), cronjob())
    swept.run()

    assert not [request for request in swept.cluster.requests if "reservations" in request]
    assert "slots" not in swept.lines[-1]


def test_of_a_plan_that_both_makes_and_removes_both_are_done_and_told() -> None:
    """A slot that has ended holds nothing: it goes, and another one comes."""
    dead = slot_of(f"example-course-small-9-{DIGEST}", "Failed")
    swept = Swept("09:00", *course(), *numbered(3), dead)

    assert twice(swept) == [f"POST example-course-small-3-{DIGEST}", *removed(9), "PATCH jobs course-sweep"]
    assert swept.cluster.events()[1] == (
        "course",
        "SweepOpened",
        "Made 1 slot of small and removed 1 slot of small: course/1 is open and no pod serves it.",
    )


@pytest.mark.parametrize(("count", "closes"), [(4, True), (3, False)])
def test_slots_hold_the_seats_of_a_pool_that_replaces_another(count: int, closes: bool) -> None:
    edited = timetable(text=slot_text(ROW), changed="08:59:01")
    facts = seen(edited, cronjob(), *SERVED, *numbered(count), deployment(3, "course-huge"))

    assert [action.ref.name for action in decide(facts, at("09:00")).actions] == ["course-huge"] * closes
