"""The stories that are the same whoever holds the seats of a class: replicas of a Deployment, of a NodePool
or of a CapacityBuffer, slots, or a number of somebody else.
"""

import json
from itertools import permutations

import pytest
from berth.core.holders import BUFFER as BUFFER_KIND
from berth.core.holders import BUFFERED, PLACEHOLDERS, REMEDIES, nodes_of
from berth.core.holders import NODES as NODES_KIND
from berth.core.holders import SLOTS as SLOTS_KIND
from berth.core.poolobjects import read_pool
from berth.core.target import pools_to_reconcile
from berth.core.timetable import TimetablePool
from berth.plugins.slots.slotspec import SlotSpec
from berth.runtime.apiclient import Request, Response
from berth.runtime.scaler import TICK

from tests.objectstore import Tree, refusal
from tests.runtime.fake_cluster import PODS
from tests.runtime.holders import HOLDERS, TROUBLES, WINDOW, Buffer, Nodes, Number, Placeholders, Slots
from tests.runtime.sweepworld import (
    Swept,
    capacity_buffer,
    cronjob,
    deployment,
    inventory,
    job,
    lease,
    node_pool,
    timetable,
)
from tests.runtime.timetables import Row, at, whole_timetable_text

MISSING = refusal(404, "NotFound")
Holder = type[Placeholders]
every = pytest.mark.parametrize("holder", HOLDERS)
of_one_object = pytest.mark.parametrize("holder", [holder for holder in HOLDERS if holder is not Slots])


def opened_and_closed(holder: Holder) -> list[tuple[str, int]]:
    return [("07:30:00", 4), ("08:00:00", holder.REST)]


# Windows


@every
def test_a_window_opens_and_closes_on_the_second(holder: Holder) -> None:
    world = holder("07:29:07")

    assert world.run() == 0
    assert world.changes == opened_and_closed(holder)
    assert (world.count, world.notes()) == (holder.REST, [])


@pytest.mark.parametrize("holder", [Placeholders, Nodes, Buffer])
def test_a_replica_count_is_set_with_a_patch_of_one_field(holder: Holder) -> None:
    world = holder("07:45")
    world.run()
    path, part = f"{holder.PATH}/{holder.NAME.rpartition('/')[2]}", "" if holder is Buffer else "/scale"
    asked = [request for request in world.cluster.requests if request.path.startswith(holder.PATH)]

    assert {request.path for request in asked} == {path, f"{path}{part}?fieldManager=berth-scaler"}
    assert [json.loads(request.body) for request in asked if request.method == "PATCH"] == [
        {"spec": {"replicas": 4}},
        {"spec": {"replicas": 0}},
    ]
    assert holder.PATH.rpartition("/")[2].removesuffix("s") in world.told("scaled")[0]


@every
@pytest.mark.parametrize("count", [None, 9])
def test_with_nothing_open_the_scaler_closes_and_ends_at_once(holder: Holder, count: int | None) -> None:
    """The number of somebody else is only given back where there is a note."""
    world = holder("08:30", count=count)
    closes = count is not None and holder is not Number

    assert world.run() == 0
    assert (world.counts_set, world.sleeps) == ([0] if closes else [], [])


@every
def test_a_restart_during_a_window_writes_nothing(holder: Holder) -> None:
    world = holder("07:29")

    assert [world.run("07:40"), world.run()] == [None, 0]
    assert world.changes == opened_and_closed(holder)


@every
@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param(
            ("course/2", "07:50", "07:55", "08:10", {"small": 3}),
            [("07:30:00", 4), ("07:50:00", 7), ("08:00:00", 3)],
            id="overlapping",
        ),
        pytest.param(
            ("course/2", "07:55", "08:00", "08:10", {"small": 4}), [("07:30:00", 4)], id="back-to-back"
        ),
    ],
)
def test_overlapping_windows_add_up_and_back_to_back_windows_keep_their_seats(
    holder: Holder, second: Row, expected: list[tuple[str, int]]
) -> None:
    world = holder("07:30", WINDOW, second)

    assert world.run() == 0
    assert world.changes == [*expected, ("08:10:00", holder.REST)]


@pytest.mark.parametrize("holder", [Placeholders, Buffer, Number])
def test_each_session_lowers_the_held_count(holder: Holder) -> None:
    """Whole nodes are left alone, and slots are used by sessions themselves."""
    world = holder("07:30", text=holder.text(WINDOW, behavior="maintain"))
    world.plan("07:40", lambda: world.sessions(small={"course/1": 3}))
    world.run()

    assert world.counts_set == [4, 1, holder.REST]
    assert at(world.changes[1][0]) - at("07:40") <= TICK


# Somebody scales by hand, or overrides the timetable


@every
@pytest.mark.parametrize("count", [0, 9])
def test_a_reset_is_corrected_within_ten_seconds(holder: Holder, count: int) -> None:
    world = holder("07:30")
    world.plan("07:40:01", lambda: world.set(count))
    world.run()

    assert world.counts_set == [4, 4, holder.REST]
    assert at(world.changes[1][0]) - at("07:40:01") <= 10


@every
def test_an_override_opens_a_pool_with_no_open_window(holder: Holder) -> None:
    world = holder("11:00")
    world.override(7, "11:10")

    assert world.run() == 0
    assert world.changes == [("11:00:00", 7), ("11:10:00", holder.REST)]


@every
@pytest.mark.parametrize("target", [0, 7])
def test_an_override_in_a_window_replaces_its_seats(holder: Holder, target: int) -> None:
    world = holder("07:30")
    world.plan("07:40:01", lambda: world.override(target, "07:50"))
    world.run()

    assert world.counts_set == [4, target, 4, holder.REST]
    assert at(world.changes[1][0]) - at("07:40:01") <= 60
    assert world.changes[2][0] == "07:50:00"


# Edits


@every
@pytest.mark.parametrize(
    ("rows", "expected", "end"),
    [
        pytest.param([(*WINDOW[:4], {"small": 6})], [4, 6], "08:00:00", id="more"),
        pytest.param([(*WINDOW[:4], {"small": 3})], [4, 3], "08:00:00", id="fewer"),
        pytest.param([(*WINDOW[:3], "08:10", WINDOW[4])], [4], "08:10:00", id="later"),
        pytest.param(
            [WINDOW, ("course/2", "08:00", "08:00", "08:10", {"small": 4})], [4], "08:10:00", id="one-more"
        ),
    ],
)
def test_an_edit_acts_within_half_a_minute(
    holder: Holder, rows: list[Row], expected: list[int], end: str
) -> None:
    world = holder("07:30")
    world.edit_at("07:40:01", holder.text(*rows))

    assert world.run() == 0
    assert world.counts_set == [*expected, holder.REST]
    assert [when for when, _ in world.changes if "07:30:00" < when < "08:00:00" and when > "07:40:31"] == []
    assert world.changes[-1][0] == end


@every
@pytest.mark.parametrize("edit", ["suspended", "no-pool", "ended-already", "another-time"])
def test_an_edit_that_closes_the_window_closes_it_and_ends_the_run(holder: Holder, edit: str) -> None:
    world = holder("07:30")
    text = {
        "suspended": holder.text(WINDOW, suspend=True),
        "no-pool": whole_timetable_text("course", {}, ()),
        "ended-already": holder.text((*WINDOW[:3], "07:38", WINDOW[4])),
        "another-time": holder.text(("course/1", "09:30", "09:35", "09:40", {"small": 4})),
    }
    world.edit_at("07:40:01", text[edit])

    assert world.run() == 0
    assert world.counts_set == [4, holder.REST]
    assert world.now - at("07:40:01") <= 31
    assert world.notes() == []


@every
@pytest.mark.parametrize("text", [None, "{"], ids=["deleted", "malformed"])
def test_a_timetable_that_is_deleted_or_broken_stays_in_effect(holder: Holder, text: str | None) -> None:
    world = holder("07:30")
    world.edit_at("07:40:01", text)

    assert world.run() == 0
    assert world.changes == opened_and_closed(holder)
    assert "timetable" in [line["subject"] for line in world.told("failed")]


PLAIN = TimetablePool("small", "course-small", "maintain")
OTHER = TimetablePool("huge", "course-huge", "none")
SLOTTED = PLAIN._replace(holder=SlotSpec("x", "a", {}))
HANDING = PLAIN._replace(holder=SlotSpec("x", "b", {}, placeholders=True))
BARE = PLAIN._replace(holder=SlotSpec("x", "b", {}))
NODES, BUFFER = (PLAIN._replace(holder=holder) for holder in (nodes_of(Nodes.NAME), BUFFERED))
FOLLOWED = {
    "as-last-named": (
        [[PLAIN, OTHER], [PLAIN._replace(behavior="none")]],
        [PLAIN._replace(behavior="none"), OTHER],
    ),
    **{
        f"another-holder-{n}": ([[before], [after]], [before, after])
        for n, (before, after) in enumerate(permutations((PLAIN, SLOTTED, NODES, BUFFER), 2))
    },
    "placeholders-to-handing": ([[PLAIN], [HANDING]], [HANDING]),
    "handing-to-placeholders": ([[HANDING], [PLAIN]], [PLAIN, BARE]),
    "handing-to-slots": ([[HANDING], [SLOTTED]], [PLAIN, SLOTTED]),
    "slots-to-handing": ([[SLOTTED], [HANDING]], [HANDING]),
    "handing-to-none": ([[HANDING], []], [PLAIN, BARE]),
    "handing-again": ([[HANDING], [], [HANDING]], [HANDING]),
}


@pytest.mark.parametrize(("steps", "expected"), FOLLOWED.values(), ids=FOLLOWED)
def test_every_pool_that_was_ever_named_is_reconciled_as_last_named(
    steps: list[list[TimetablePool]], expected: list[TimetablePool]
) -> None:
    """A Deployment has one keeper, and every pool that was ever named is followed as it was last named."""
    known: dict[str, TimetablePool] = {}
    for named in steps:
        known = pools_to_reconcile(known, named)

    assert known == {pool.key: pool for pool in expected}


# Readiness


KINDS = {Placeholders: PLACEHOLDERS, Nodes: NODES_KIND, Buffer: BUFFER_KIND, Slots: SLOTS_KIND}


@pytest.mark.parametrize("holder", KINDS)
def test_seats_get_an_event_when_they_are_late_and_when_they_are_ready(holder: Holder) -> None:
    """On the Deployment, or else on the timetable."""
    world = holder("07:30")
    world.lack(1)
    world.plan("07:40", lambda: world.lack(0))
    world.run("07:45")

    late, ready = world.cluster.events
    subject, kind = late["involvedObject"], KINDS[holder]
    seats = 0 if holder is Buffer else 3
    assert late["message"] == (
        f"{seats} of 4 {kind} of small are ready for course/1, which starts at 2026-02-02T07:35:00Z. "
        f"{REMEDIES[kind]}"
    )
    assert (late["type"], late["reason"]) == ("Warning", "SeatsNotReady")
    assert (ready["type"], ready["reason"]) == ("Normal", "SeatsReady")
    assert ready["message"] == f"All 4 {kind} of small are ready for course/1."
    names = ("Deployment", "course-small") if holder is Placeholders else ("ConfigMap", "course")
    assert (subject["kind"], subject["name"], subject["uid"]) == (*names, f"uid-of-{names[1]}")


def condition(reason: str, status: str, generation: int = 2) -> Tree:
    return Buffer.CONDITION | {"status": status, "reason": reason, "observedGeneration": generation}


ROOM, INJECTED = condition("FitsExistingCapacity", "True"), condition("FakePodsInjected", "True")
NO_ROOM = condition("RequiresNewCapacity", "False") | {"message": "9 pods do not fit"}
CONDITIONS = {
    "room": ([ROOM], 25, True),
    "room-for-another-number": ([condition("FitsExistingCapacity", "True", 1)], 0, True),
    "no-room": ([NO_ROOM], 0, True),
    "cluster-autoscaler": ([INJECTED], 0, False),
    "nobody-looks": ([], 0, True),
}


@pytest.mark.parametrize(("conditions", "ready", "tells"), CONDITIONS.values(), ids=CONDITIONS)
def test_the_reason_of_a_buffer_condition_decides_whether_its_seats_are_ready(
    conditions: list[Tree], ready: int, tells: bool
) -> None:
    tree = capacity_buffer(25) | {"status": {"replicas": 25, "conditions": conditions}}
    tree["metadata"] |= {"generation": 2, "resourceVersion": "1"}
    pool = read_pool(BUFFERED, tree)

    assert (pool.replicas, pool.ready, pool.tells_ready) == (25, ready, tells)


@pytest.mark.parametrize(
    ("conditions", "closes", "event"),
    [
        (None, "07:30:01", "RehearsalSucceeded"),
        ([NO_ROOM], "08:00:00", "RehearsalFailed"),
        ([INJECTED], "08:00:00", None),
    ],
    ids=["room", "no-room", "nobody-tells"],
)
def test_a_rehearsal_of_a_buffer_has_a_result_only_if_its_conditions_report_it(
    conditions: list[Tree] | None, closes: str, event: str | None
) -> None:
    world = Buffer("07:30", ("course/9/rehearsal", "07:30", "07:30", "08:00", {"small": 25}))
    world.cluster.conditions = conditions

    assert world.run() == 0
    assert world.changes == [("07:30:00", 25), (closes, 0)]
    assert [tree["reason"] for tree in world.cluster.events] == ([event] if event else [])
    assert not [request for request in world.cluster.requests if request.path.startswith(PODS)]
    if event == "RehearsalFailed":
        (record,) = world.cluster.records()
        assert record["faults"] == ["no room: 25 buffered seats of small: 9 pods do not fit"]


# Faults


@every
@pytest.mark.parametrize("part", ["READS", "OPENS", ""])
@pytest.mark.parametrize("outcome", [*TROUBLES.values(), MISSING], ids=[*TROUBLES, "not-applied-yet"])
def test_trouble_at_the_opening_delays_it_until_the_trouble_is_over(
    holder: Holder, outcome: Response | Exception, part: str
) -> None:
    world = holder("07:29")
    world.interfere_at("07:29:50", getattr(holder, part) if part else "", outcome)
    world.interfere_at("07:31", "", None)
    world.run("07:32")

    assert world.counts_set == [4]
    assert 0 <= at(world.changes[0][0]) - at("07:31") <= TICK
    if part:
        failed = [line["subject"] for line in world.told("failed")]
        assert failed
        assert [line["subject"] for line in world.told("recovered")] == failed


@every
@pytest.mark.parametrize("part", ["READS", "CLOSES", ""])
@pytest.mark.parametrize("outcome", TROUBLES.values(), ids=TROUBLES)
def test_trouble_at_the_end_delays_the_end(holder: Holder, outcome: Response | Exception, part: str) -> None:
    world = holder("07:58")
    world.interfere_at("07:59:59", getattr(holder, part) if part else "", outcome)
    world.interfere_at("08:02", "", None)

    assert world.run() == 0
    assert world.counts_set == [4, holder.REST]
    assert 0 <= at(world.changes[1][0]) - at("08:02") <= TICK
    assert world.notes() == []


@of_one_object
def test_an_object_that_is_created_late_is_opened_within_a_tick(holder: Holder) -> None:
    world = holder("07:30")
    world.remove()
    world.plan("07:40:01", lambda: world.set(holder.REST))
    world.run("07:41")

    assert world.counts_set == [4]
    assert 0 <= at(world.changes[0][0]) - at("07:40:01") <= TICK


@of_one_object
def test_an_object_that_is_missing_at_the_end_does_not_delay_the_run(holder: Holder) -> None:
    world = holder("07:30")
    world.plan("07:40", world.remove)

    assert world.run() == 0
    assert world.now - at("08:00") <= TICK


@of_one_object
def test_a_race_with_other_writers_is_won_within_a_tick(holder: Holder) -> None:
    """The object changes at each of the first writes."""
    world = holder("07:30")
    races = iter((5, 6, 7))

    def race(request: Request) -> None:
        line = f"{request.method} {request.path}"
        if holder.OPENS in line and (count := next(races, None)):
            world.set(count)

    world.cluster.interferences.append(race)
    world.run("07:31")

    assert world.count == 4
    assert world.changes[-1][0] <= "07:30:08"


# The sweep


SWEPT = pytest.mark.parametrize("holder", [Placeholders, Nodes, Buffer, Slots])


def swept(holder: Holder, now: str, count: int, *more: dict[str, object]) -> Swept:
    return Swept(now, timetable(text=holder.text(WINDOW)), cronjob(), *holder.standing(count), *more)


def standing(run: Swept, holder: Holder) -> int:
    if holder is Slots:
        return len(run.koordinator.objects)
    (tree,) = run.cluster.all_in(holder.PATH).values()
    return int(tree["spec"]["replicas"])


@SWEPT
def test_the_sweep_opens_an_unserved_pool_and_starts_a_job(holder: Holder) -> None:
    run = swept(holder, "07:45", 0)

    assert run.run() == 0
    assert standing(run, holder) == 4
    assert "course-sweep" in run.cluster.of("jobs")
    assert [reason for _, reason, _ in run.cluster.events()].count("SweepOpened") == 1


@SWEPT
def test_the_sweep_closes_a_pool_after_its_window_and_then_writes_nothing(holder: Holder) -> None:
    run = swept(holder, "08:05", 4)

    assert run.run() == 0
    assert standing(run, holder) == 0
    assert run.run() == 0
    assert run.cluster.writes == []


@SWEPT
def test_the_sweep_does_not_write_to_a_served_pool(holder: Holder) -> None:
    run = swept(holder, "07:45", 1, job(), lease())

    assert run.run() == 0
    assert (standing(run, holder), run.cluster.writes) == (1, [])


@SWEPT
def test_the_sweep_closes_a_pool_that_the_timetable_no_longer_names(holder: Holder) -> None:
    text = whole_timetable_text("course", {}, ())
    run = Swept("12:00", timetable(text=text), cronjob(), *holder.standing(4))

    assert run.run() == 0
    assert standing(run, holder) == 0


def test_the_sweep_ignores_node_pools_without_replicas_regardless_of_labels() -> None:
    run = Swept(
        "12:00", timetable(), deployment(0), node_pool(7), node_pool(None, "example.other"), cronjob()
    )

    assert run.run() == 0
    assert run.cluster.writes == [f"PATCH nodepools {Nodes.NAME} scale", "POST events"]


def test_without_a_timetable_the_sweep_removes_buffers_but_not_node_pools() -> None:
    run = Swept("12:00", node_pool(7, reservation="gone"))
    assert (run.run(), run.cluster.writes) == (0, [])

    run = Swept("12:00", capacity_buffer(7, "gone-small", reservation="gone"))
    assert run.run() == 0
    assert run.cluster.writes[0] == "PATCH capacitybuffers gone-small"
    run.cluster.now += 300
    assert (run.run(), run.cluster.of("capacitybuffers")) == (0, {})


def test_without_the_list_of_node_pools_deployments_are_still_opened() -> None:
    run = Swept("09:00", timetable(), deployment(0), cronjob(), node_pool(0), inventory("course"))
    run.cluster.interfere = lambda line: refusal(403, "Forbidden") if line == "LIST nodepools" else None

    assert (run.run(), run.cluster.replicas()) == (1, {"course-small": 25})
