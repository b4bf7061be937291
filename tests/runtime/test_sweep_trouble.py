"""The sweep in trouble: one failure stops nothing else, what others wrote stands, and all of it is told."""

import json
import re
import sys

import pytest
from berth.core import objectnames
from berth.core.objects import CONFIG_MAP, JOB, ROLE
from berth.runtime.apiclient import ApiError, Response
from berth.runtime.sweep import SweepSettings

from tests.objectstore import Tree, no_answer, refusal
from tests.runtime.heldworld import HPA, number_text, parsed
from tests.runtime.slotworld import slot_text
from tests.runtime.sweepworld import (
    SITE,
    Swept,
    cronjob,
    deployment,
    inventory,
    job,
    made,
    missed,
    served,
    swept_line,
    timetable,
)
from tests.runtime.world import COURSE


def test_a_job_of_somebody_elses_with_that_name_is_left_and_the_failure_told() -> None:
    foreign = made(JOB, "course-sweep", labels={"berth.dev/site": "another"})
    swept = Swept("09:00", *missed(replicas=25), foreign)

    assert swept.run() == 1
    assert swept.cluster.writes == []
    assert swept.told("failed") == [("start ConfigMap course", "409 NotOwned")]


def test_a_job_that_a_finalizer_holds_is_waited_for_and_then_left_to_the_next_run() -> None:
    swept = Swept("09:00", *missed(replicas=25), job("course-sweep"))
    swept.cluster.interfere = lambda said: _good("Status") if said == "DELETE jobs course-sweep" else None

    assert swept.run() == 1
    assert swept.told("failed") == [("start ConfigMap course", "409 NotDeleted")]
    assert swept.cluster.requests.count("GET jobs course-sweep") == 10


def test_one_failure_stops_nothing_else() -> None:
    swept = Swept("09:00", *missed("a"), *missed("b"), *missed("c"))
    swept.cluster.interfere = lambda said: refusal(500, "InternalError") if " b" in said else None

    assert swept.run() == 1
    assert swept.cluster.replicas() == {"a-small": 25, "b-small": 0, "c-small": 25}
    assert sorted(swept.cluster.of("jobs")) == ["a-sweep", "c-sweep"]
    assert swept.told("failed") == [
        ("scale Deployment b-small", "500 InternalError"),
        ("start ConfigMap b", "500 InternalError"),
    ]
    assert swept_line(swept)["failed"] == 2


def _good(kind: str) -> Response:
    return Response(200, json.dumps({"kind": kind}).encode())


def test_a_deployment_that_went_since_the_look_is_no_failure() -> None:
    swept = Swept("10:00", timetable(), deployment(25))

    def remove(said: str) -> None:
        if said == "LIST configmaps":
            swept.cluster.of("deployments").pop("course-small", None)

    swept.cluster.interfere = remove
    assert swept.run() == 0
    assert swept.told("left") == [("course", "Scaled from 25 to 0: none of its occurrences is open.")]


def test_a_deployment_that_keeps_changing_is_a_failure() -> None:
    swept = Swept("09:00", *served()[:1], deployment(0), cronjob(), job(created="08:59:30"))
    swept.cluster.interfere = lambda said: refusal(409, "Conflict") if said.startswith("PATCH dep") else None

    assert swept.run() == 1
    assert swept.told("failed") == [("scale Deployment course-small", "409 Conflict")]


@pytest.mark.parametrize(
    ("trouble", "requests"),
    [
        pytest.param(refusal(403, "Forbidden"), 1, id="forbidden"),
        pytest.param(refusal(404, "NotFound"), 1, id="no-such-kind"),
        pytest.param(refusal(503, "ServiceUnavailable"), 12, id="unavailable"),
        pytest.param(Response(200, b"<html>"), 3, id="nonsense"),
        pytest.param(no_answer(), 12, id="no-answer"),
    ],
)
def test_a_list_that_cannot_be_read_is_asked_for_again_and_told(
    trouble: Response | ApiError, requests: int
) -> None:
    """What needs the others is done all the same."""
    swept = Swept("09:00", *missed(), deployment(3, "left-small", reservation="left"))

    def interfere(said: str) -> Response | None:
        if said != "LIST jobs":
            return None
        if isinstance(trouble, ApiError):
            raise trouble
        return trouble

    swept.cluster.interfere = interfere
    assert swept.run() == 1
    assert swept.cluster.requests.count("LIST jobs") == requests
    assert swept.cluster.replicas() == {"course-small": 25, "left-small": 3}
    assert len(swept.told("failed")) == 1


def test_a_list_that_fails_once_is_read_the_second_time() -> None:
    swept = Swept("09:00", *missed())
    answers = [refusal(503, "ServiceUnavailable")]
    swept.cluster.interfere = lambda said: answers.pop() if said == "LIST pods" and answers else None

    assert swept.run() == 0
    assert swept.cluster.replicas() == {"course-small": 25}


def test_a_list_whose_second_page_fails_is_no_list() -> None:
    trees = [tree for name in "abc" for tree in missed(name)]
    swept = Swept("09:00", *trees, page=2)
    asked: list[str] = []

    def interfere(said: str) -> Response | None:
        asked.append(said)
        return refusal(410, "Expired") if said == "LIST configmaps" and asked.count(said) % 2 == 0 else None

    swept.cluster.interfere = interfere
    assert swept.run() == 1
    assert swept.cluster.writes == []


def test_without_time_left_nothing_more_is_begun_and_that_is_a_failure() -> None:
    """Every scale takes a hundred seconds: two are begun, and the rest is told."""
    swept = Swept("09:00", *missed("a"), *missed("b"), *missed("c"))

    def slow(said: str) -> None:
        swept.cluster.now += 100 if said.startswith("PATCH deployments") else 0

    swept.cluster.interfere = slow
    assert swept.run() == 1
    assert swept.cluster.replicas() == {"a-small": 25, "b-small": 25, "c-small": 0}
    assert swept.told("failed")[:2] == [
        ("scale Deployment c-small", "DeadlineExceeded"),
        ("start ConfigMap a", "DeadlineExceeded"),
    ]
    assert swept_line(swept)["seconds"] == 200.0


def test_the_timetable_stays_as_long_as_something_else_does() -> None:
    gone = timetable(annotations={"berth.dev/gone-since": "2026-02-02T08:50:00Z"})
    swept = Swept("09:05", gone, deployment(0), made(ROLE, "course"), inventory("other"), prunes=True)
    swept.cluster.interfere = lambda said: refusal(500, "InternalError") if "DELETE roles" in said else None
    swept.run()

    assert sorted(swept.cluster.of("configmaps")) == ["berth-inventory", "course"]
    swept.cluster.interfere = lambda _: None
    assert swept.run() == 0
    assert sorted(swept.cluster.of("configmaps")) == ["berth-inventory"]


def test_an_event_that_cannot_be_told_is_a_failure_and_what_was_done_stays() -> None:
    swept = Swept("09:00", *missed())
    swept.cluster.interfere = lambda said: refusal(403, "Forbidden") if said == "POST events" else None

    assert swept.run() == 1
    assert swept.cluster.replicas() == {"course-small": 25}
    assert swept.told("failed") == [
        ("event SweepOpened of course-small", "403 Forbidden"),
        ("event SweepStartedJob of course-small", "403 Forbidden"),
    ]


def test_a_server_that_answers_nothing_useful_does_not_hold_it_for_long() -> None:
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
def test_without_its_plugins_it_acts_on_all_other_reservations(
    objects: list[Tree], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine may apply the base before the last of what needs a plugin has gone."""
    for name in [name for name in sys.modules if re.match(r"berth\.plugins\.\w+\.", name)]:
        monkeypatch.setitem(sys.modules, name, None)
    world = Swept("09:00", *missed("other"), *objects)
    world.plugins, world.site = frozenset(), SweepSettings(SITE, prunes=False, inventory="")

    assert world.run() == 0
    assert world.cluster.replicas() == {"other-small": 25}
