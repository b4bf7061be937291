"""A rehearsal opens its seats, ends when all are ready or with its lead, and takes nothing from a class."""

import json
from functools import partial
from typing import Any

import pytest
from berth.core.record import OccurrenceRecord
from berth.core.target import pool_target
from berth.core.timetable import Timetable, end_rehearsals, parse_timetable
from berth.plugins.rehearsals.rehearsalrecord import last_failed, rehearsal_state
from berth.runtime.apiclient import Response
from hypothesis import given
from hypothesis import strategies as st

from tests.objectstore import Tree, no_answer, refusal
from tests.runtime.fake_cluster import LEASES
from tests.runtime.sweepworld import Swept, cronjob, deployment, lease, timetable
from tests.runtime.world import COURSE, REHEARSED, Row, World, at, clock, timetable_text

EXAM = "course/9"
REHEARSAL: Row = (f"{EXAM}{REHEARSED}", "07:30", "07:30", "08:00", {"small": 25})
BESIDE: Row = (f"{EXAM}{REHEARSED}", "08:30", "08:30", "09:00", {"small": 5})
OPENED, FORBIDDEN = ("07:30:00", "small", 25), refusal(403, "Forbidden")
LABEL = "berth.dev/rehearsal"


def rehearsing(*rows: Row, ready: str = "07:34:02", **more: Any) -> World:
    """A world in which 20 of 25 seats are ready, and all of them at an instant; empty: never."""
    world = World("07:30", timetable_text(*(rows or (REHEARSAL,)), **more), small=0)
    world.cluster.ready["course-small"] = 20
    if ready:
        world.plan(ready, world.cluster.ready.clear)
    return world


def rehearsed(world: World) -> Tree:
    (found,) = (one for one in world.cluster.records() if "rehearses" in one)
    return dict(found)


def reasons(world: World) -> list[str]:
    return [event["reason"] for event in world.cluster.events]


def label(world: World) -> str | None:
    assert world.cluster.record is not None
    found: str | None = world.cluster.record["metadata"]["labels"].get(LABEL)
    return found


# Until all seats are ready


def test_it_closes_when_all_seats_are_ready_and_says_so() -> None:
    world = rehearsing()

    assert world.run() == 0
    assert world.writes == [OPENED, ("07:34:08", "small", 0)]
    assert rehearsed(world)["ready"] == {
        "small": [["2026-02-02T07:30:00Z", 20], ["2026-02-02T07:34:08Z", 25]]
    }
    assert rehearsed(world)["readyAt"] == "2026-02-02T07:34:08Z"
    (event,) = world.cluster.events
    assert (event["type"], event["reason"]) == ("Normal", "RehearsalSucceeded")
    assert "5 minutes" in event["message"]


def test_it_ends_with_its_lead_if_seats_are_missing_and_says_how_many() -> None:
    world = rehearsing(ready="")

    assert world.run() == 0
    assert world.writes == [OPENED, ("08:00:00", "small", 0)]
    (event,) = world.cluster.events
    assert (event["type"], event["reason"]) == ("Warning", "RehearsalFailed")
    assert event["message"].startswith("5 of 25 seats of small for course/9 ")
    assert "readyAt" not in rehearsed(world)


def test_an_override_that_wants_fewer_proves_nothing() -> None:
    world = rehearsing(ready="07:50:02")
    world.cluster.annotate('{"small": {"target": 5, "until": "2026-02-02T07:45:00Z"}}')

    assert world.run() == 0
    assert world.writes == [
        ("07:30:00", "small", 5),
        ("07:45:00", "small", 25),
        ("07:50:04", "small", 0),
    ]


# Restarts


def test_a_pod_that_dies_is_followed_by_one_that_goes_on() -> None:
    world = rehearsing()
    world.run(until="07:32")
    world.run()

    assert world.writes == [OPENED, ("07:34:08", "small", 0)]
    assert rehearsed(world)["ready"]["small"][0] == ["2026-02-02T07:30:00Z", 20]
    assert reasons(world) == ["RehearsalSucceeded"]


def test_after_success_nothing_is_opened_again() -> None:
    world = rehearsing()
    world.run()
    world.writes.clear()

    assert world.run() == 0
    assert (world.writes, len(reasons(world))) == ([], 1)


def test_without_its_record_the_lease_says_that_it_is_over() -> None:
    world = rehearsing()
    world.run()
    world.writes.clear()
    world.cluster.interfere("course-record", FORBIDDEN)

    assert world.run() == 0
    assert world.writes == []


def test_without_its_record_and_its_lease_it_opens_again_and_ends() -> None:
    world = rehearsing()
    world.run()
    world.writes.clear()
    world.cluster.all_in(LEASES).clear()
    world.cluster.interfere("course-record", FORBIDDEN)

    assert world.run() == 0
    assert [replicas for _, _, replicas in world.writes] == [25, 0]
    assert clock(world.now) < "08:00:10"


def test_that_it_failed_is_said_by_the_next_pod_if_there_was_none_at_the_end() -> None:
    coming: Row = (EXAM, "20:00", "20:30", "22:00", {"small": 25})
    world = rehearsing(coming, REHEARSAL, ready="")
    world.run(until="07:59")
    world.pass_time(at("08:01") - world.now)

    assert [world.run(), world.run()] == [0, 0]
    assert world.writes == [OPENED, ("08:01:00", "small", 0)]
    assert reasons(world) == ["RehearsalFailed"]
    assert label(world) == "failed"


def test_one_that_was_given_another_time_begins_anew() -> None:
    world = rehearsing()
    world.run()
    world.writes.clear()
    later: Row = (REHEARSAL[0], "09:00", "09:00", "09:30", {"small": 25})
    world.cluster.timetable = timetable_text(later)
    world.pass_time(at("09:00") - world.now)
    world.run()

    assert world.writes == [("09:00:00", "small", 25), ("09:00:08", "small", 0)]
    assert rehearsed(world)["readyAt"] == "2026-02-02T09:00:08Z"
    assert reasons(world) == ["RehearsalSucceeded"] * 2


# Beside a class


def test_its_seats_add_up_with_those_of_a_class_and_sessions_are_those_of_the_class() -> None:
    world = World("07:30", timetable_text(COURSE, BESIDE, behaviour="maintain"), small=0)
    world.sessions(small={"course/1": 7})
    world.plan("08:30", partial(world.cluster.ready.update, {"course-small": 18}))
    world.plan("08:40:02", world.cluster.ready.clear)
    world.run()

    assert world.writes == [
        ("07:30:00", "small", 18),
        ("08:30:00", "small", 23),
        ("08:40:08", "small", 18),
        ("10:00:00", "small", 0),
    ]
    (course,) = (one for one in world.cluster.records() if "rehearses" not in one)
    assert course["sessionsPeak"] == {"small": 7}
    assert {name: count for name, count in rehearsed(world).get("sessionsPeak", {}).items() if count} == {}
    assert [count for _, count in rehearsed(world)["ready"]["small"]] == [0, 5]
    assert reasons(world) == ["RehearsalSucceeded"]


def test_seats_that_a_class_lost_are_its_own_news() -> None:
    world = World("07:30", timetable_text(COURSE, BESIDE), small=0)
    world.plan("08:29", partial(world.cluster.ready.update, {"course-small": 20}))
    world.run()

    (event,) = world.cluster.events
    assert event["reason"] == "RehearsalFailed"
    assert rehearsed(world)["ready"]["small"] == [["2026-02-02T08:30:00Z", 0]]


INSTANTS = [at(f"{hour:02}:{minute:02}") for hour in (7, 8, 9) for minute in (0, 20, 40)]


@st.composite
def timetables(draw: st.DrawFn) -> tuple[Timetable, Timetable, dict[str, int]]:
    """One with rehearsals, of which some have ended; the same without them; and sessions."""
    rows: list[Row] = []
    for number in range(draw(st.integers(1, 5))):
        opens, start, end = (
            clock(one)[:5] for one in sorted(draw(st.tuples(*[st.sampled_from(INSTANTS)] * 3)))
        )
        name = f"course/{number}" + draw(st.sampled_from(("", REHEARSED)))
        if end > start:
            rows.append((name, opens, start, end, {"small": draw(st.integers(0, 9))}))
    behaviour = draw(st.sampled_from(("none", "maintain", "reduce")))
    text = json.loads(timetable_text(*rows, behaviour=behaviour))
    text["pools"]["small"]["overlap"] = draw(st.sampled_from(("sum", "max")))
    whole = parse_timetable(json.dumps(text))
    classes = [load for load in text["occurrences"] if "rehearses" not in load]
    without = parse_timetable(json.dumps({**text, "occurrences": classes}))
    rehearsals = [item.id for item in whole.occurrences if item.rehearses]
    ended = draw(st.dictionaries(st.sampled_from(rehearsals or ["-"]), st.sampled_from(INSTANTS)))
    ids = [item.id for item in without.occurrences]
    sessions = draw(st.dictionaries(st.sampled_from(ids or ["-"]), st.integers(0, 12)))
    return end_rehearsals(whole, ended), without, sessions


@given(timetables(), st.sampled_from(INSTANTS))
def test_no_class_has_fewer_seats_because_of_a_rehearsal(
    made: tuple[Timetable, Timetable, dict[str, int]], now: int
) -> None:
    whole, without, sessions = made

    rehearsed, usual = (pool_target(one, one.pools[0], now, sessions) for one in (whole, without))
    assert rehearsed.replicas >= usual.replicas


# Faults


@pytest.mark.parametrize("part", ["/pods", "/events", "course-record"])
@pytest.mark.parametrize(
    "outcome", [no_answer(), FORBIDDEN, refusal(500, "InternalError"), RuntimeError("a bug")]
)
def test_what_cannot_be_read_or_written_keeps_no_seat_from_opening_or_closing(
    part: str, outcome: Response | Exception
) -> None:
    world = rehearsing()
    world.cluster.interfere(part, outcome)

    assert world.run() == 0
    assert world.writes == [OPENED, ("07:34:08", "small", 0)]


def test_an_api_server_that_is_away_costs_the_time_that_it_is_away() -> None:
    world = rehearsing()
    world.interfere_at("07:33", "", no_answer())
    world.interfere_at("07:36", "", None)

    assert world.run() == 0
    assert world.writes[0] == OPENED
    assert "07:36:00" <= world.writes[1][0] <= "07:36:15"
    assert reasons(world) == ["RehearsalSucceeded"]


# The sweep


def swept(ended: str = "", renewed: str = "07:40", rehearsal: str = REHEARSAL[0]) -> Swept:
    """At 07:45, in the middle of the rehearsal, long after or while a pod holds its Lease.

    `ended` is when it was over, as the Lease says.
    """
    held = lease(renewed)
    held["metadata"]["annotations"] = {"berth.dev/ended": f"{rehearsal} {ended}"} if ended else {}
    return Swept("07:45", timetable(REHEARSAL), deployment(0), cronjob(), held)


def test_the_sweep_opens_a_rehearsal_that_nobody_serves_and_starts_a_job() -> None:
    world = swept()

    assert world.run() == 0
    assert world.cluster.replicas() == {"course-small": 25}
    assert "PATCH jobs course-sweep" in world.cluster.writes


@pytest.mark.parametrize("renewed", ["07:40", "07:44:50"], ids=["nobody-serves", "a-pod-has-just-closed-it"])
def test_the_sweep_leaves_one_that_is_over_closed(renewed: str) -> None:
    world = swept("2026-02-02T07:34:08Z", renewed)

    assert world.run() == 0
    assert world.cluster.writes == []


@pytest.mark.parametrize(
    ("rehearsal", "ended"),
    [
        pytest.param(REHEARSAL[0], "2026-01-26T07:34:08Z", id="another-time"),
        pytest.param(f"other/1{REHEARSED}", "2026-02-02T07:34:08Z", id="another-one"),
        pytest.param(REHEARSAL[0], "soon", id="malformed"),
    ],
)
def test_a_lease_ends_no_rehearsal_but_the_one_and_the_time_that_it_names(rehearsal: str, ended: str) -> None:
    world = swept(ended, rehearsal=rehearsal)

    assert world.run() == 0
    assert world.cluster.replicas() == {"course-small": 25}


# The label of the record


def test_the_label_says_how_the_rehearsals_of_what_is_coming_stand() -> None:
    coming: Row = (EXAM, "20:00", "20:30", "22:00", {"small": 25})
    world = rehearsing(coming, REHEARSAL, ready="")
    world.run(until="07:40")
    during = label(world)
    world.run(until="08:01")

    assert (during, label(world)) == ("open", "failed")
    world.cluster.timetable = timetable_text(coming, (REHEARSAL[0], "09:00", "09:00", "09:30", {"small": 25}))
    world.cluster.ready.clear()
    world.pass_time(at("09:00") - world.now)
    world.run(until="09:01")
    assert label(world) == "succeeded"


def test_a_rehearsal_that_failed_counts_until_its_occurrence_opens() -> None:
    window = at("07:30"), at("07:30"), at("08:00")
    failed = OccurrenceRecord(REHEARSAL[0], {"small": 25}, window=window, rehearses=EXAM)

    assert rehearsal_state([failed], (), (EXAM,)) == "failed"
    assert rehearsal_state([failed], (), ()) == ""
    assert rehearsal_state([failed], (REHEARSAL[0],), (EXAM,)) == "open"
    assert rehearsal_state([OccurrenceRecord("course/1")], (), (EXAM,)) == ""


def test_a_group_that_succeeded_does_not_hide_one_that_failed() -> None:
    """Groups of one date are rehearsed at the same instant, or one after the other."""
    window = at("07:30"), at("07:30"), at("08:00")
    failed = OccurrenceRecord(REHEARSAL[0], {"small": 25}, window=window, rehearses=EXAM)
    other = f"{EXAM}~slow"
    id_ = f"{other}/rehearsal"
    for later in (0, 600):
        shifted = (window[0] + later, window[1] + later, window[2] + later)
        succeeded = OccurrenceRecord(id_, {"small": 5}, shifted[0] + 60, window=shifted, rehearses=other)
        for records in ([failed, succeeded], [succeeded, failed]):
            assert rehearsal_state(records, (), (EXAM, other)) == "failed"
            assert last_failed(records, ()) == [failed]
    both = [failed, failed._replace(occurrence=id_, rehearses=other)]
    assert last_failed(both, ()) == both


def test_a_reservation_without_rehearsals_has_no_such_label() -> None:
    world = World("07:30", timetable_text(COURSE), small=0)
    world.run(until="07:31")

    assert label(world) is None
