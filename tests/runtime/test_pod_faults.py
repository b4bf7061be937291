"""No fault of the scaler, of the folder or of the server leaves a class with fewer seats than promised."""

import pytest
from berth.runtime.apiclient import ApiError

from tests.runtime.fake_cluster import no_answer, refusal
from tests.runtime.pod import Pod, Story, Write, short
from tests.runtime.world import COURSE, at, timetable_text

MAINTAIN = timetable_text(COURSE, behaviour="maintain")


def test_a_scaler_that_cannot_start_delays_the_opening_by_ten_seconds() -> None:
    pod = Pod("07:29", MAINTAIN)
    story = Story(pod)
    story.running = {"occurrence"}
    story.run("07:31")

    assert short(pod) == [("07:30:10", 25)]


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
def test_a_scaler_that_hangs_is_not_believed_after_a_minute(behaviour: str) -> None:
    pod = Pod("07:45", timetable_text(COURSE, behaviour=behaviour))
    pod.arrive(5)
    story = Story(pod)
    story.run("07:50")
    story.running = {"occurrence"}
    story.run("07:55")

    assert [write.replicas for write in pod.writes] == [20, 25]
    assert 55 <= at(pod.writes[1].at) - at("07:50") <= 65

    story.running = {"occurrence", "scaler"}
    story.run("07:56")

    assert pod.writes[2][1:] == ("scaler", 20)
    assert len(pod.writes) == 3


def test_a_scaler_that_starts_anew_moves_nothing() -> None:
    """Its predecessor's counts hold until it has a list of its own."""
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


def test_a_scaler_that_fails_at_every_step_is_as_one_that_hangs() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.arrive(5)
    story = Story(pod)
    story.run("07:50")
    pod.observed.broken = True
    story.run("07:55")

    assert [write.replicas for write in pod.writes] == [20, 25]


def test_where_the_folder_is_full_the_main_program_alone_decides() -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.arrive(5)
    pod.is_full = True
    story = Story(pod)
    story.run("07:47")

    assert pod.writes == [Write("07:45:10", "occurrence", 25)]
    assert [line["subject"] for line in pod.log if line["event"] == "failed"] == ["share", "share"]


@pytest.mark.parametrize("nonsense", ["", "{", "[]", '{"at": "now", "classes": {}}', '{"at": 1e99}'])
def test_nonsense_in_the_file_is_as_no_file(nonsense: str) -> None:
    pod = Pod("07:45", MAINTAIN)
    pod.files["counts"] = nonsense
    story = Story(pod)
    story.running = {"occurrence"}
    story.run("07:46")

    assert short(pod) == [("07:45:10", 25)]


def test_with_the_main_program_gone_the_scaler_still_opens_and_closes() -> None:
    pod = Pod("07:29", MAINTAIN)
    pod.arrive(5)
    story = Story(pod)
    story.running = {"scaler"}
    story.run("10:00:10")

    assert short(pod) == [("07:30:00", 20), ("10:00:00", 0)]


@pytest.mark.parametrize("outcome", [no_answer(), refusal(500, "InternalError"), refusal(403, "Forbidden")])
def test_a_server_that_is_down_leaves_all_as_it_is_and_is_caught_up_with(outcome: ApiError) -> None:
    pod = Pod("07:59", MAINTAIN, 20)
    pod.arrive(5)
    story = Story(pod)
    story.plan("08:10:02", lambda: pod.cluster.interfere("", outcome))
    story.plan("08:11:00", lambda: pod.arrive(3))
    story.plan("08:12:02", lambda: pod.cluster.interfere("", None))
    story.run("08:20")

    assert [write.replicas for write in pod.writes] == [17]
    assert at(pod.writes[0].at) - at("08:12:02") <= 5
