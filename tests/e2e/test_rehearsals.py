"""Rehearsals on the real cluster: one that succeeds, one beside a window of its course, one under a quota.

Minutes after the story begins:
  0    `quick` is rehearsed, and all seats come; `short` is rehearsed under a quota; `beside` opens its window
  1    `beside` is rehearsed in a pool of its own
  2    the rehearsal of `short` ends with its lead
  4    the window of `beside` closes
"""

import json
import time
from typing import Any, NamedTuple

from berth.core.labels import REHEARSAL

from tests.e2e import project
from tests.e2e.direct import Direct
from tests.e2e.gitops import Engine
from tests.e2e.project import Document
from tests.e2e.sidebyside import Stage
from tests.e2e.windows import (
    GRACE,
    MINUTE,
    OPENING,
    Recorder,
    entry,
    rehearsed,
    reservation,
    sleep_until,
    suspend_sweep,
    wait_until,
)

NAMESPACE, LIMITED = "berth-rehearsals", "berth-rehearsals-limited"  # of two sites
SEATS, LEAD, LONG_LEAD = 3, 2, 10  # the leads in minutes
ROOM = 2  # placeholders that the quota leaves room for


class Story(NamedTuple):
    opens: int
    record: Recorder
    records: dict[str, list[dict[str, Any]]]  # by reservation
    states: dict[str, str]  # the labels of these records
    events: list[dict[str, Any]]  # about rehearsals, in both namespaces


def course(name: str, opens: int, at: int, lead: int, *, today: bool = False) -> list[Document]:
    """Its window lasts `LEAD` minutes."""
    seats = {"small": SEATS}
    return rehearsed(
        reservation(name, opens, [entry(opens, lead, LEAD)], lead=lead, seats=seats), at, today=today
    )


def tell(stage: Stage) -> Story:
    cluster, opens, direct = stage.cluster, stage.opens, stage.connect()
    cluster.kwok.create_nodes(1, "rehearsed", {"pods": "100", "cpu": "50", "memory": "100Gi"})
    courses = [
        *course("quick", opens, opens, LONG_LEAD),
        *course("beside", opens, opens + MINUTE, LEAD, today=True),
    ]
    declare(stage, direct, NAMESPACE, "rehearsals", courses)
    # Before anything can start in it; the third pod is that of the Job.
    cluster.kubectl("create", "namespace", LIMITED)
    cluster.kubectl("create", "quota", "seats", f"--hard=pods={ROOM + 1}", f"--namespace={LIMITED}")
    declare(stage, direct, LIMITED, "rehearsals-limited", course("short", opens, opens, LEAD))
    record = Recorder(direct, NAMESPACE)
    record.start()
    try:
        sleep_until(opens + 2 * LEAD * MINUTE + GRACE)
        wait_until(lambda: len(told(direct)) >= 3, time.time() + GRACE)
    finally:
        record.stop()
    names = {"quick": NAMESPACE, "beside": NAMESPACE, "beside-course": NAMESPACE, "short": LIMITED}
    found = {name: cluster.get("configmap", f"{name}-record", namespace) for name, namespace in names.items()}
    records = {name: json.loads(each["data"]["records.json"]) for name, each in found.items()}
    states = {name: each["metadata"]["labels"].get(REHEARSAL, "") for name, each in found.items()}
    return Story(opens, record, records, states, told(direct))


def declare(stage: Stage, direct: Direct, namespace: str, site: str, reservations: list[Document]) -> None:
    engine = Engine(direct, stage.folder / site)
    declared = [project.site(site, namespace=namespace), project.resource_class("small"), *reservations]
    engine.begin(declared)
    stage.forget(namespace)
    suspend_sweep(stage.cluster, namespace)


def told(direct: Direct) -> list[dict[str, Any]]:
    events = [f"/api/v1/namespaces/{namespace}/events" for namespace in (NAMESPACE, LIMITED)]
    found = [event for path in events for event in direct.items(path)]
    return [event for event in found if str(event.get("reason")).startswith("Rehearsal")]


def rehearsal(story: Story, name: str) -> dict[str, Any]:
    (found,) = story.records[name]
    return found


def reasons(story: Story, name: str) -> list[tuple[str, str]]:
    about = [event for event in story.events if event["involvedObject"]["name"] == f"{name}-small"]
    return [(event["type"], event["reason"]) for event in about]


def test_a_rehearsal_closes_as_soon_as_all_seats_are_ready(story: Story) -> None:
    (_, before), (up, wanted), (down, after), *more = story.record.changes("quick-small")

    assert (before, wanted, after, more) == (0, SEATS, 0, [])
    assert story.opens <= up <= story.opens + OPENING
    assert down - up <= GRACE
    assert max(look.ready for look in story.record.looks["quick-small"]) == SEATS


def test_the_record_says_when_seats_were_ready_and_on_which_nodes(story: Story) -> None:
    found = rehearsal(story, "quick")

    assert found["rehearses"].startswith("quick-course/")
    assert story.states["quick"] == "succeeded"
    assert found["promised"] == {"small": SEATS}
    assert found["ready"]["small"][-1] == [found["readyAt"], SEATS]
    assert sum(found["nodes"].values()) == SEATS
    assert "faults" not in found
    assert reasons(story, "quick") == [("Normal", "RehearsalSucceeded")]


def test_a_rehearsal_under_a_quota_fails_at_its_lead_and_says_why(story: Story) -> None:
    found = rehearsal(story, "short")
    (event,) = (one for one in story.events if one["involvedObject"]["name"] == "short-small")

    assert "readyAt" not in found
    assert story.states["short"] == "failed"
    assert found["ready"]["small"][-1][1] == ROOM
    assert found["faults"][0].startswith(f"quota: {SEATS - ROOM} placeholder of small: exceeded quota: seats")
    assert (event["type"], event["reason"]) == ("Warning", "RehearsalFailed")
    assert f"{SEATS - ROOM} of {SEATS} seats" in event["message"]
    assert "exceeded quota: seats" in event["message"]


def test_a_rehearsal_beside_a_window_of_its_course_adds_its_seats_and_takes_none(story: Story) -> None:
    (window,), found = story.records["beside-course"], rehearsal(story, "beside")

    for name in ("beside", "beside-course"):
        assert [count for _, count in story.record.changes(f"{name}-small")] == [0, SEATS, 0]
    assert window["promised"] == found["promised"] == {"small": SEATS}
    assert window["readyAt"] < found["readyAt"]
    assert "shortfalls" not in window
    assert reasons(story, "beside") == [("Normal", "RehearsalSucceeded")]
