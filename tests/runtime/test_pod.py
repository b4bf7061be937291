"""The pod of an occurrence: placeholders follow sessions, edits act soon, and nothing is written twice."""

from functools import partial

import pytest

from tests.runtime.pod import Pod, Story, Write, short
from tests.runtime.world import COURSE, NEXT, at, timetable_text

MAINTAIN = timetable_text(COURSE, behaviour="maintain")
REDUCE = timetable_text(COURSE, behaviour="reduce")


def test_at_the_opening_the_first_target_counts_the_sessions_that_already_run() -> None:
    pod = Pod("07:29", MAINTAIN)
    pod.arrive(4)
    Story(pod).run("07:31")

    assert short(pod) == [("07:30:00", 21)]


def test_an_arrival_lowers_at_once_and_who_leaves_raises_half_a_minute_later() -> None:
    pod = Pod("08:00", MAINTAIN, 25)
    story = Story(pod)
    story.plan("08:10:01", lambda: pod.arrive(1))
    story.plan("08:10:02", lambda: pod.arrive(10))
    story.plan("09:00:03", lambda: pod.arrive(-2))
    story.run("10:01")

    assert pod.writes[:3] == [
        Write("08:10:01", "scaler", 24),
        Write("08:10:02", "scaler", 14),
        Write("09:00:33", "scaler", 16),
    ]
    assert short(pod)[3:] == [("10:00:00", 0)]
    assert (pod.scaler.exit_code, story.exit_code, pod.now) == (0, 0, at("10:00"))
    assert [line["sessions"] for line in pod.log if line["event"] == "scaled"] == [1, 11, 9, None]


def test_reduce_falls_with_the_clock_though_nobody_comes() -> None:
    pod = Pod("07:29:50", REDUCE)
    pod.arrive(5)
    Story(pod).run("10:01")
    values = [write.replicas for write in pod.writes]

    assert values == list(range(20, -1, -1))
    assert pod.writes[0].at == "07:30:00"
    # Of 20, less than 19.5 are left after a fortieth of the two hours, and less than 0.5 in the last one.
    assert 0 <= at(pod.writes[1].at) - at("08:03:00") <= 5
    assert 0 <= at(pod.writes[-1].at) - at("09:57:00") <= 5


@pytest.mark.parametrize("by_hand", [False, True], ids=["known", "scaled-meanwhile"])
def test_a_session_costs_one_request(by_hand: bool) -> None:
    pod = Pod("07:50", MAINTAIN, 25)
    story = Story(pod)
    story.run("07:50:01")
    if by_hand:
        pod.cluster.set("course-small", 500)
    story.plan("07:50:02", lambda: pod.arrive(1))
    pod.cluster.requests.clear()
    story.run("07:50:03")

    assert short(pod)[-1] == ("07:50:02", 24)
    methods = [request.method for request in pod.cluster.requests if "deployments" in request.path]
    assert methods == ["PATCH"]


def test_none_is_full_count_at_once_whether_sessions_are_known_or_not() -> None:
    for sessions, pending in ((5, False), (0, True)):
        pod = Pod("07:29", timetable_text(COURSE, behaviour="none"))
        pod.arrive(sessions)
        pod.observed.pending = pending
        Story(pod).run("07:31")

        assert short(pod) == [("07:30:00", 25)]


def test_the_next_class_keeps_its_seats_while_the_last_one_runs() -> None:
    pod = Pod("09:15", timetable_text(COURSE, NEXT, behaviour="maintain"), 20)
    pod.arrive(5)
    story = Story(pod)
    story.plan("10:00:00", lambda: pod.arrive(5, "course/2"))
    story.run("10:01")

    assert short(pod) == [("09:30:00", 25), ("10:00:00", 20)]


def test_an_edit_acts_within_a_minute_and_its_values_take_no_turns() -> None:
    for offset in range(30):
        pod = Pod("07:59", MAINTAIN, 20)
        pod.arrive(5)
        story = Story(pod)
        edited = timetable_text((*COURSE[:4], {"small": 40}), behaviour="maintain")
        story.plan(f"08:05:{offset:02d}", partial(setattr, pod.cluster, "timetable", edited))
        for second in range(offset, 60, 7):
            story.plan(f"08:05:{second:02d}", partial(pod.arrive, 1))
        story.run("08:10")
        values = [write.replicas for write in pod.writes]
        high = next(n for n, value in enumerate(values) if value > 20)

        assert pod.replicas == pod.wished()
        assert at(pod.writes[high].at) - at(f"08:05:{offset:02d}") <= 60
        assert values[:high] == sorted(values[:high], reverse=True)
        assert values[high:] == sorted(values[high:], reverse=True)


EDITS = {
    "ends-earlier": timetable_text((*COURSE[:3], "08:05", {"small": 25}), behaviour="maintain"),
    "ends-later": timetable_text((*COURSE[:3], "11:00", {"small": 25}), behaviour="maintain"),
    "opens-later": timetable_text(
        ("course/1", "08:20", "08:30", "10:00", {"small": 25}), behaviour="maintain"
    ),
    "another-day": timetable_text(behaviour="maintain"),
    "one-more": timetable_text(
        COURSE, ("course/2", "07:00", "07:30", "09:00", {"small": 9}), behaviour="maintain"
    ),
    "more": timetable_text((*COURSE[:4], {"small": 40}), behaviour="maintain"),
    "less": timetable_text((*COURSE[:4], {"small": 10}), behaviour="maintain"),
    "suspended": timetable_text(COURSE, behaviour="maintain", suspend=True),
    "no-pool": timetable_text(pools={}, behaviour="maintain"),
    "another-pool": timetable_text((*COURSE[:4], {"huge": 2}), pools={"huge": "course-huge"}),
    "to-reduce": timetable_text(COURSE, behaviour="reduce"),
    "to-none": timetable_text(COURSE, behaviour="none"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_acts_within_a_minute_in_as_few_writes_as_it_takes(edit: str) -> None:
    for offset in range(0, 30, 7):
        pod = Pod("08:00", MAINTAIN, 20)
        pod.cluster.set("course-huge", 0)
        pod.arrive(5)
        story = Story(pod)
        story.plan(f"08:10:{offset:02d}", partial(setattr, pod.cluster, "timetable", EDITS[edit]))
        story.run("08:11:30")
        wanted = {"course-small": 0} | pod.wished_of_all()
        writes = [write for write in pod.writes if write.at >= "08:10"]

        assert {name: pod.cluster.scales[name] for name in wanted} == wanted
        assert all(at(write.at) - at(f"08:10:{offset:02d}") <= 60 for write in writes)
        assert len(writes) == sum(wanted[name] != {"course-small": 20}.get(name, 0) for name in wanted)
