"""No fault of the scaler, of the folder or of the server leaves a class with fewer seats than promised.

No pod that does not work stays.
"""

from typing import cast

import pytest
from berth.runtime.occurrence import LATE_SECONDS
from berth.runtime.scaler import TICK

from tests.runtime.pod import Pod, Story, short
from tests.runtime.world import COURSE, at, clock, timetable_text

MAINTAIN = timetable_text(COURSE, behaviour="maintain")


def test_a_scaler_that_never_comes_ends_the_pod_after_two_minutes() -> None:
    """The sweep, which does not see a pod that serves, opens meanwhile."""
    pod = Pod("07:29", MAINTAIN)
    story = Story(pod)
    story.hangs = True
    story.run("07:40")

    assert (story.exit_code, clock(pod.now), pod.writes) == (1, "07:31:00", [])


def test_without_a_first_list_it_is_full_count_after_ten_seconds() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.observed.pending = True
    Story(pod).run("07:46")

    assert short(pod) == [("07:45:10", 25)]


def test_sessions_that_were_waited_for_in_vain_before_the_opening_delay_it_no_more() -> None:
    pod = Pod("07:29", MAINTAIN)
    pod.observed.pending = True
    Story(pod).run("07:31")

    assert short(pod) == [("07:30:00", 25)]


def test_sessions_that_can_be_read_late_lower_to_the_formula() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.observed.pending = True
    pod.arrive(5)
    story = Story(pod)
    story.plan("07:47:00", lambda: setattr(pod.observed, "pending", False))
    story.run("07:48")

    assert short(pod) == [("07:45:10", 25), ("07:47:00", 20)]


def test_sessions_that_cannot_be_read_any_more_are_full_count() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.arrive(5)
    story = Story(pod)
    story.plan("08:00:00", lambda: pod.observed.sessions.update(small=None))
    story.run("08:10")

    assert short(pod) == [("07:45:00", 20), ("08:00:00", 25)]


@pytest.mark.parametrize("behaviour", ["maintain", "reduce"])
def test_a_scaler_that_hangs_ends_the_pod_and_the_next_one_goes_on_from_what_stands(behaviour: str) -> None:
    pod = Pod("07:45", timetable_text(COURSE, behaviour=behaviour))
    pod.arrive(5)
    story = Story(pod)
    story.run("07:50")
    story.hangs = True
    story.run("07:55")

    assert (story.exit_code, short(pod)) == (1, [("07:45:00", 20)])
    assert 115 <= pod.now - at("07:50") <= 120

    pod.arrive(1)
    story.restart_pod()
    story.run("07:55")

    assert [write.replicas for write in pod.writes] == [20, 19]
    assert story.exit_code is None


def test_a_scaler_that_is_gone_at_the_end_leaves_the_closing_to_the_sweep_after_a_minute() -> None:
    pod = Pod("09:55", MAINTAIN, 25)
    story = Story(pod)
    story.run("09:59:40")
    story.hangs = True
    story.run("10:10")

    assert (story.exit_code, pod.replicas) == (0, 25)
    assert LATE_SECONDS - TICK <= pod.now - at("09:59:40") <= LATE_SECONDS


def test_a_scaler_that_comes_back_within_a_minute_of_the_end_closes() -> None:
    pod = Pod("09:55", MAINTAIN, 25)
    story = Story(pod)
    story.run("09:59:40")
    story.hangs = True
    story.run("10:00:30")
    story.restart_scaler()
    story.run("10:10")

    assert (story.exit_code, short(pod)) == (0, [("10:00:30", 0)])


def test_a_scaler_that_starts_anew_moves_nothing() -> None:
    """What stands is left as it is until it has a list of its own."""
    pod = Pod("07:45", MAINTAIN)
    pod.arrive(5)
    story = Story(pod)
    story.run("07:50")
    pod.observed.pending = True
    story.restart_scaler()
    story.run("07:50:06")
    pod.observed.pending = False
    story.run("07:55")

    assert short(pod) == [("07:45:00", 20)]


def test_a_scaler_that_starts_anew_and_never_lists_is_full_count_after_ten_seconds() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.arrive(5)
    story = Story(pod)
    story.run("07:50")
    pod.observed.pending = True
    story.restart_scaler()
    story.run("07:55")

    assert short(pod) == [("07:45:00", 20), ("07:50:10", 25)]


def test_a_bug_in_what_counts_sessions_is_as_sessions_that_nobody_can_read() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.arrive(5)
    story = Story(pod)
    story.plan("07:50:00", lambda: setattr(pod.observed, "broken", True))
    story.plan("07:52:00", lambda: setattr(pod.observed, "broken", False))
    story.run("07:55")

    assert short(pod) == [("07:45:00", 20), ("07:50:00", 25), ("07:52:00", 20)]
    told = [(line["event"], line["subject"]) for line in pod.log if "subject" in line]
    assert told == [("failed", "sessions of small"), ("recovered", "sessions of small")]


def test_a_bug_that_stops_every_look_ends_the_pod() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.arrive(5)
    story = Story(pod)
    story.run("07:50")
    pod.observed.change = cast("float", "a bug of ours")
    story.run("07:55")

    assert (story.exit_code, short(pod)) == (1, [("07:45:00", 20)])


def test_where_the_folder_is_full_seats_stand_and_another_pod_may_try() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.arrive(5)
    pod.is_full = True
    story = Story(pod)
    story.run("07:50")

    assert (story.exit_code, clock(pod.now)) == (1, "07:47:00")
    assert short(pod) == [("07:45:00", 20)]
    assert [line["subject"] for line in pod.log if line["event"] == "failed"] == ["share"]


def test_the_run_ends_only_once_that_could_be_said() -> None:
    pod = Pod("09:59", MAINTAIN, 25)
    story = Story(pod)
    story.plan("09:59:50", lambda: setattr(pod, "is_full", True))
    story.plan("10:00:20", lambda: setattr(pod, "is_full", False))
    story.run("10:00:19")

    assert (pod.scaler.exit_code, story.exit_code, short(pod)) == (None, None, [("10:00:00", 0)])

    story.run("10:01")

    assert (pod.scaler.exit_code, story.exit_code, clock(pod.now)) == (0, 0, "10:00:20")
