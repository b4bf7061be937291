"""Whatever the API server, the clock, the folder or a bug does, seats are as promised as soon as can be.

And no pod that does not work stays.
"""

from typing import cast

import pytest
from berth.runtime.apiclient import ApiError, Request
from berth.runtime.occurrence import LATE_SECONDS
from berth.runtime.scaler import TICK

from tests.objectstore import no_answer, refusal
from tests.runtime.scalerpod import ScalerPod
from tests.runtime.timetables import COURSE, Row, at, clock, timetable_text

MAINTAIN = timetable_text(COURSE, behaviour="maintain")
TWO = {"small": "course-small", "huge": "course-huge"}
BOTH: Row = ("course/1", "07:30", "08:00", "10:00", {"small": 25, "huge": 2})
EMPTY: list[tuple[str, int]] = []


# Sessions that cannot be read


SESSIONS = {  # when it begins, when they are listed, when they fail and work again; what is written
    "never-listed": ("07:45", None, None, [("07:45:10", 25)]),
    "waited-for-in-vain-before-the-opening": ("07:29", None, None, [("07:30:00", 25)]),
    "listed-late": ("07:45", "07:47", None, [("07:45:10", 25), ("07:47:00", 20)]),
    "unreadable": ("07:45", "07:45", "sessions", [("07:45:00", 20), ("07:50:00", 25), ("07:52:00", 20)]),
    "a-bug": ("07:45", "07:45", "broken", [("07:45:00", 20), ("07:50:00", 25), ("07:52:00", 20)]),
}


@pytest.mark.parametrize(("now", "listed", "fault", "seats"), SESSIONS.values(), ids=SESSIONS)
def test_a_pool_gets_the_full_count_after_ten_seconds_without_readable_sessions(
    now: str, listed: str | None, fault: str | None, seats: list[tuple[str, int]]
) -> None:
    pod = ScalerPod(now, MAINTAIN, small=0)
    pod.observed.pending = listed != now
    pod.arrive(5)
    if listed not in (None, now):
        pod.wake_at(listed, lambda: setattr(pod.observed, "pending", False))
    if fault == "broken":
        pod.wake_at("07:50", lambda: setattr(pod.observed, "broken", True))
        pod.wake_at("07:52", lambda: setattr(pod.observed, "broken", False))
    elif fault:
        pod.wake_at("07:50", lambda: pod.sessions(small=None))
        pod.wake_at("07:52", lambda: pod.sessions(small={"course/1": 5}))
    pod.run("07:55")

    assert pod.seats == seats
    troubles = [(line["event"], line["subject"]) for line in pod.log if "subject" in line]
    is_told = [("failed", "sessions of small"), ("recovered", "sessions of small")]
    assert troubles == (is_told if fault == "broken" else [])


def test_an_override_does_not_wait_for_sessions() -> None:
    pod = ScalerPod("07:45", MAINTAIN, small=0)
    pod.observed.pending = True
    pod.cluster.annotate('{"small": {"target": 60, "until": "2026-02-02T09:00:00Z"}}')
    pod.run("07:45:05")

    assert pod.seats == [("07:45:00", 60)]


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_restarted_scaler_keeps_the_scale_until_it_has_its_own_list(is_listed: bool) -> None:
    pod = ScalerPod("07:45", MAINTAIN, small=0)
    pod.arrive(5)
    pod.run("07:50")
    pod.observed.pending = True
    pod.restart_scaler()
    pod.go_on("07:50:06")
    pod.observed.pending = not is_listed
    pod.go_on("07:55")

    assert pod.seats == [("07:45:00", 20), *(EMPTY if is_listed else [("07:50:10", 25)])]


# Scalers that do not work


def test_a_pod_ends_after_two_minutes_if_its_scaler_never_starts() -> None:
    """The sweep, which does not see a pod that serves, opens meanwhile."""
    pod = ScalerPod("07:29", MAINTAIN, small=0)
    pod.hangs = True

    assert (pod.go_on("07:40"), clock(pod.now), pod.seats) == (1, "07:31:00", [])


@pytest.mark.parametrize("behaviour", ["maintain", "reduce"])
@pytest.mark.parametrize("is_bug", [False, True], ids=["hangs", "bug"])
def test_a_pod_whose_scaler_hangs_ends_and_the_next_pod_keeps_the_scale(is_bug: bool, behaviour: str) -> None:
    pod = ScalerPod("07:45", timetable_text(COURSE, behaviour=behaviour), small=0)
    pod.arrive(5)
    pod.run("07:50")
    pod.hangs = not is_bug
    pod.observed.change = cast("float", "a bug of ours") if is_bug else None

    assert (pod.go_on("07:55"), pod.seats) == (1, [("07:45:00", 20)])
    assert 112 <= pod.now - at("07:50") <= 120
    pod.arrive(1)
    pod.hangs, pod.observed.change = False, None
    assert pod.run("07:55") is None
    assert [count for _, count in pod.seats] == [20, 19]


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_pod_whose_scaler_stays_away_after_the_end_exits_after_a_minute(is_restarted: bool) -> None:
    pod = ScalerPod("09:55", MAINTAIN, small=25)
    pod.run("09:59:40")
    pod.hangs = True
    if is_restarted:
        pod.go_on("10:00:30")
        pod.restart_scaler()

    assert pod.go_on("10:10") == 0
    assert pod.seats == ([("10:00:30", 0)] if is_restarted else [])
    if not is_restarted:
        assert LATE_SECONDS - TICK <= pod.now - at("09:59:40") <= LATE_SECONDS


def test_if_the_shared_folder_is_full_the_pod_ends_and_its_seats_stay() -> None:
    pod = ScalerPod("07:45", MAINTAIN, small=0)
    pod.arrive(5)
    pod.is_full = True

    assert (pod.run("07:50"), clock(pod.now), pod.seats) == (1, "07:47:00", [("07:45:00", 20)])
    assert [line["subject"] for line in pod.told("failed")] == ["share"]


def test_the_run_ends_only_after_closed_could_be_reported() -> None:
    pod = ScalerPod("09:59", MAINTAIN, small=25)
    pod.plan("09:59:50", lambda: setattr(pod, "is_full", True))
    pod.wake_at("10:00:20", lambda: setattr(pod, "is_full", False))

    assert (pod.run("10:00:19"), pod.scaler.exit_code, pod.seats) == (None, None, [("10:00:00", 0)])
    assert (pod.go_on("10:01"), pod.scaler.exit_code, clock(pod.now)) == (0, 0, "10:00:20")


# Timetables that cannot be read


def test_a_missing_timetable_ends_the_pod_after_two_minutes_but_an_outage_does_not() -> None:
    pod = ScalerPod("08:00", None, small=25)
    assert (pod.run(), clock(pod.now), pod.writes, pod.word) == (1, "08:02:00", [], "")

    pod = ScalerPod("08:00", MAINTAIN, small=0)
    pod.cluster.interfere("", no_answer())
    assert (pod.run("08:05"), pod.writes, pod.word, set(pod.sleeps)) == (None, [], "waiting", {TICK})


def test_a_pool_opens_when_a_late_timetable_appears() -> None:
    pod = ScalerPod("08:00", None, small=0)
    pod.edit_at("08:00:31", timetable_text(COURSE))
    pod.run(until="08:05")

    assert pod.seats == [("08:00:32", 25)]


# Pools and their server


def test_trouble_of_one_pool_does_not_affect_other_pools_or_the_next_occurrence() -> None:
    later = ("course/2", "12:00", "12:30", "13:00", {"huge": 3})
    pod = ScalerPod("07:30", timetable_text(BOTH, later, pools=TWO), small=0, huge=0)
    pod.cluster.interfere("course-small", refusal(403, "Forbidden"))
    pod.interfere_at("10:30", "", None)
    pod.interfere_at("11:59", "course-small", refusal(403, "Forbidden"))
    pod.run(until="10:29")
    assert pod.writes == [("07:30:00", "huge", 2), ("10:00:00", "huge", 0)]

    pod = ScalerPod("09:00", timetable_text(BOTH, later, pools=TWO), small=25, huge=2)
    pod.interfere_at("09:30", "course-small", refusal(403, "Forbidden"))
    assert pod.run(until="14:00") is None
    assert pod.writes == [("10:00:00", "huge", 0), ("12:00:00", "huge", 3), ("13:00:00", "huge", 0)]


def test_a_pool_that_the_server_caps_is_scaled_again_at_each_tick() -> None:
    """As with an admission webhook that caps replicas: every change is told, and the end is still the end."""
    pod = ScalerPod("07:30", timetable_text(COURSE), small=0)
    pod.cluster.most = 20
    pod.run(until="07:30:17")

    assert [when for when, _ in pod.seats] == ["07:30:00", "07:30:08", "07:30:16"]
    assert [(line["from"], line["to"]) for line in pod.told("scaled")] == [(0, 25), (20, 25), (20, 25)]


def test_pools_open_within_ten_seconds_after_a_long_outage() -> None:
    """Each request hangs until its timeout, so a whole tick takes long."""
    pod = ScalerPod("07:00", timetable_text(BOTH, pools=TWO), small=0, huge=0)

    def hang(_request: Request) -> None:
        if pod.now < at("07:45"):
            pod.pass_time(4.0)
            raise ApiError(0, "TimeoutError", "timed out")

    pod.cluster.interferences.append(hang)
    pod.run(until="07:46")

    assert sorted(write[1:] for write in pod.writes) == [("huge", 2), ("small", 25)]
    assert all(at(when) - at("07:45") <= 10 for when, _ in pod.seats)


def test_an_end_during_slow_requests_is_not_missed() -> None:
    pod = ScalerPod("09:59:50", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    pod.cluster.interferences.append(lambda _: pod.pass_time(1.5))

    assert pod.run() == 0
    assert [at(when) - at("10:00") <= 9 for when, _ in pod.seats] == [True, True]


def test_a_slow_pool_does_not_make_the_next_pool_use_an_old_time() -> None:
    pod = ScalerPod("09:59:50", timetable_text(BOTH, pools=TWO), small=25, huge=2)
    pod.plan("09:59:56", lambda: pod.cluster.set("course-huge", 0))

    def hang(request: Request) -> None:
        if "course-small" in request.path and pod.now < at("10:00"):
            pod.pass_time(12.0)

    pod.cluster.interferences.append(hang)

    assert pod.run() == 0
    assert [write[1:] for write in pod.writes] == [("small", 0)]


def test_a_pool_whose_write_lost_its_answer_is_still_closed_after_the_outage() -> None:
    """The opening is written, its answer is lost, and nothing works until after the end."""
    pod = ScalerPod("07:29", timetable_text(COURSE), small=0)

    pod.cluster.lose_an_answer("PATCH /apis/apps", then=no_answer())
    pod.interfere_at("10:20", "", None)

    assert pod.run() == 0
    assert [(when[:5], count) for when, count in pod.seats] == [("07:30", 25), ("10:20", 0)]


def test_pools_follow_a_wall_clock_that_jumps() -> None:
    """Ahead past the end and back again, each within a tick."""
    later = ("course/2", "12:30", "12:30", "13:00", {"small": 5})
    pod = ScalerPod("08:00", timetable_text(COURSE, later), small=25)
    pod.plan("08:30:01", lambda: setattr(pod, "ahead", 4.5 * 3600 - 90))
    pod.plan("08:31:01", lambda: setattr(pod, "ahead", 0.0))

    assert pod.run() == 0
    assert [count for _, count in pod.seats] == [5, 25, 0]
    jumps = zip(pod.seats, ("08:30:01", "08:31:01"), strict=False)
    assert [at(when) - at(jumped) <= TICK for (when, _), jumped in jumps] == [True, True]
    assert max(pod.sleeps) <= TICK
