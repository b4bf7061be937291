"""The sweep over objects in memory: what it asks, writes, tells and leaves, also in trouble."""

import json
import re
import sys

import pytest
from berth.core import objectnames
from berth.core.objects import CONFIG_MAP, JOB, ROLE
from berth.runtime.apiclient import ApiError, Response
from berth.runtime.sweep import SweepSettings

from tests.objectstore import Tree, good, no_answer, refusal
from tests.runtime.heldworld import HPA, number_text, parsed
from tests.runtime.slotworld import slot_text
from tests.runtime.sweepworld import (
    SITE,
    TEMPLATE,
    Swept,
    deployment,
    inventory,
    job,
    made,
    missed,
    served,
    swept_line,
    timetable,
)
from tests.runtime.timetables import COURSE

LISTS = [
    *(f"LIST {plural}" for plural in ("deployments", "leases", "jobs", "cronjobs")),
    *["LIST configmaps"] * 2,  # records, of which nothing but metadata is read, and the others
]


def test_the_sweep_of_a_correct_cluster_lists_each_kind_and_writes_nothing() -> None:
    swept = Swept("09:00", *served())

    assert swept.run() == 0
    assert (swept.cluster.requests, swept.cluster.writes) == (LISTS, [])
    assert swept_line(swept) == {
        "reservation": "",
        "timetables": 1,
        "pools": 1,
        "cronjobs": 1,
        "jobs": 1,
        "done": {},
        "failed": 0,
        "seconds": 0.0,
    }


def test_the_sweep_opens_a_missed_run_starts_a_job_and_reports_both() -> None:
    swept = Swept("09:00", *missed())

    assert swept.run() == 0
    assert swept.cluster.writes == [
        "PATCH deployments course-small scale",
        "PATCH jobs course-sweep",
        "POST events",
        "POST events",
    ]
    assert swept.cluster.replicas() == {"course-small": 25}
    assert swept.cluster.events() == [
        ("course-small", "SweepOpened", "Scaled from 0 to 25: course/1 is open and no pod serves it."),
        ("course-small", "SweepStartedJob", "Started Job course-sweep: no pod serves course/1."),
    ]
    assert swept.told("scale") == [("course", "Scaled from 0 to 25: course/1 is open and no pod serves it.")]
    assert swept_line(swept)["done"] == {"SweepOpened": 1, "SweepStartedJob": 1}


def test_the_job_of_the_sweep_has_the_spec_of_the_cronjob_labels_and_an_owner() -> None:
    swept = Swept("09:00", *missed())
    swept.run()

    found = swept.cluster.of("jobs")["course-sweep"]
    metadata = {key: found["metadata"][key] for key in ("labels", "annotations", "ownerReferences")}
    assert metadata == {
        "labels": {
            "team": "blue",
            "berth.dev/site": "example",
            "berth.dev/reservation": "course",
            "berth.dev/role": "occurrence",
        },
        "annotations": {},
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": "course", "uid": "uid-ConfigMap-course"}
        ],
    }
    assert found["spec"] == TEMPLATE["spec"]


def test_a_job_that_failed_is_made_again_and_keeps_its_name() -> None:
    swept = Swept("09:00", *missed(replicas=25), job("course-sweep", end="Failed"))

    assert swept.run() == 0
    assert swept.cluster.writes == ["DELETE jobs course-sweep", "PATCH jobs course-sweep", "POST events"]
    assert swept.cluster.of("jobs")["course-sweep"]["metadata"]["uid"].startswith("made-")


def test_a_malformed_timetable_is_reported_once() -> None:
    swept = Swept("09:00", timetable(text="{"), deployment(25), job())

    for wrote in (["POST events"], []):
        assert (swept.run(), swept.cluster.writes) == (0, wrote)


# In trouble


def test_a_foreign_job_with_the_same_name_is_kept_and_the_failure_is_reported() -> None:
    foreign = made(JOB, "course-sweep", labels={"berth.dev/site": "another"})
    swept = Swept("09:00", *missed(replicas=25), foreign)

    assert swept.run() == 1
    assert swept.cluster.writes == []
    assert swept.told("failed") == [("start ConfigMap course", "409 NotOwned")]


def test_the_sweep_waits_for_a_job_with_a_finalizer_and_then_gives_up() -> None:
    swept = Swept("09:00", *missed(replicas=25), job("course-sweep"))
    swept.cluster.interfere = lambda line: (
        good({"kind": "Status"}) if line == "DELETE jobs course-sweep" else None
    )

    assert swept.run() == 1
    assert swept.told("failed") == [("start ConfigMap course", "409 NotDeleted")]
    assert swept.cluster.requests.count("GET jobs course-sweep") == 10


def test_a_deployment_that_was_deleted_after_the_list_is_no_failure() -> None:
    swept = Swept("10:00", timetable(), deployment(25))

    def remove(line: str) -> None:
        if line == "LIST configmaps":
            swept.cluster.of("deployments").pop("course-small", None)

    swept.cluster.interfere = remove
    assert swept.run() == 0
    assert swept.told("left") == [("course", "Scaled from 25 to 0: none of its occurrences is open.")]


TROUBLES = {
    "forbidden": (refusal(403, "Forbidden"), 1),
    "no-such-kind": (refusal(404, "NotFound"), 1),
    "unavailable": (refusal(503, "ServiceUnavailable"), 12),
    "nonsense": (Response(200, b"<html>"), 3),
    "no-answer": (no_answer(), 12),
}


@pytest.mark.parametrize(("trouble", "requests"), TROUBLES.values(), ids=TROUBLES)
def test_an_unreadable_list_is_requested_again_and_reported(
    trouble: Response | ApiError, requests: int
) -> None:
    """What needs the others is done all the same."""
    swept = Swept("09:00", *missed(), deployment(3, "left-small", reservation="left"))

    def interfere(line: str) -> Response | None:
        if line != "LIST jobs":
            return None
        if isinstance(trouble, ApiError):
            raise trouble
        return trouble

    swept.cluster.interfere = interfere
    assert swept.run() == 1
    assert swept.cluster.requests.count("LIST jobs") == requests
    assert swept.cluster.replicas() == {"course-small": 25, "left-small": 3}
    assert len(swept.told("failed")) == 1


def test_a_list_whose_second_page_fails_is_not_used() -> None:
    trees = [tree for name in "abc" for tree in missed(name)]
    swept = Swept("09:00", *trees, page=2)
    asked: list[str] = []

    def interfere(line: str) -> Response | None:
        asked.append(line)
        return refusal(410, "Expired") if line == "LIST configmaps" and asked.count(line) % 2 == 0 else None

    swept.cluster.interfere = interfere
    assert swept.run() == 1
    assert swept.cluster.writes == []


def test_actions_after_the_time_limit_are_not_started_and_count_as_failures() -> None:
    """Every scale takes a hundred seconds: two are begun, and the rest is told."""
    swept = Swept("09:00", *missed("a"), *missed("b"), *missed("c"))

    def slow(line: str) -> None:
        swept.cluster.now += 100 if line.startswith("PATCH deployments") else 0

    swept.cluster.interfere = slow
    assert swept.run() == 1
    assert swept.cluster.replicas() == {"a-small": 25, "b-small": 25, "c-small": 0}
    assert swept.told("failed")[:2] == [
        ("scale Deployment c-small", "DeadlineExceeded"),
        ("start ConfigMap a", "DeadlineExceeded"),
    ]
    assert swept_line(swept)["seconds"] == 200.0


def test_the_timetable_is_removed_only_after_all_other_objects() -> None:
    gone = timetable(annotations={"berth.dev/gone-since": "2026-02-02T08:50:00Z"})
    swept = Swept("09:05", gone, deployment(0), made(ROLE, "course"), inventory("other"), prunes=True)
    swept.cluster.interfere = lambda line: refusal(500, "InternalError") if "DELETE roles" in line else None
    swept.run()

    assert sorted(swept.cluster.of("configmaps")) == ["berth-inventory", "course"]
    swept.cluster.interfere = lambda _: None
    assert swept.run() == 0
    assert sorted(swept.cluster.of("configmaps")) == ["berth-inventory"]


def test_an_event_that_cannot_be_sent_is_a_failure_and_the_actions_stay() -> None:
    swept = Swept("09:00", *missed())
    swept.cluster.interfere = lambda line: refusal(403, "Forbidden") if line == "POST events" else None

    assert swept.run() == 1
    assert swept.cluster.replicas() == {"course-small": 25}
    assert swept.told("failed") == [
        ("event SweepOpened of course-small", "403 Forbidden"),
        ("event SweepStartedJob of course-small", "403 Forbidden"),
    ]


def test_the_sweep_gives_up_on_a_failing_server_within_a_minute() -> None:
    """Every answer takes the four seconds that one is waited for, and is an error then."""
    swept = Swept("09:00", *missed())
    began = swept.cluster.now

    def slow(_: str) -> Response:
        swept.cluster.now += 4
        return refusal(503, "ServiceUnavailable", retry_after=10.0)

    swept.cluster.interfere = slow
    assert swept.run() == 1
    assert swept_line(swept)["failed"] == 6
    assert swept.cluster.now - began < 60


TARGET_TEXT = json.dumps(HPA)
NUMBER = [
    made(
        CONFIG_MAP,
        objectnames.target("course-small", TARGET_TEXT),
        labels={"berth.dev/role": "target", "berth.dev/resource-class": "small"},
        data={"target.json": TARGET_TEXT},
    ),
    made(CONFIG_MAP, parsed(HPA).note_name(""), labels={"berth.dev/role": "held"}, data={"held.json": "{}"}),
]


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([timetable(text=number_text(HPA, [COURSE])), *NUMBER], id="numbers"),
        pytest.param([timetable(text=slot_text(COURSE))], id="slots"),
        pytest.param(NUMBER, id="left-by-numbers"),
    ],
)
def test_a_sweep_without_plugins_acts_on_all_other_reservations(
    objects: list[Tree], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine may apply the base before the last of what needs a plugin has gone."""
    for name in [name for name in sys.modules if re.match(r"berth\.plugins\.\w+\.", name)]:
        monkeypatch.setitem(sys.modules, name, None)
    swept = Swept("09:00", *missed("other"), *objects)
    swept.plugins, swept.site = frozenset(), SweepSettings(SITE, prunes=False, inventory="")

    assert swept.run() == 0
    assert swept.cluster.replicas() == {"other-small": 25}
