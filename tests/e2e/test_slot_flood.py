"""An attacker has the account of a scaler with slots, and fills the cluster with Reservations of Koordinator.

They say to be slots of the site, and are as large, as deep and as many as a machine of the tests bears. All
other windows are opened and closed by one run of the sweep. This comes last and alone, because it keeps the
API server busy, and leaves the Reservations to the end of the cluster.
"""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import pytest
from berth.core.decide import CRONJOB_GRACE

from tests.e2e import koordinatorstory, project
from tests.e2e.account import Account
from tests.e2e.cluster import Cluster
from tests.e2e.direct import Object
from tests.e2e.koordscheduler import NAME as SCHEDULER
from tests.e2e.koordscheduler import RESERVATIONS as SLOTS
from tests.e2e.sidebyside import Stage
from tests.e2e.waiting import wait_for
from tests.e2e.windows import MINUTE, entry, next_minute, reservation, sleep_until, suspend_sweep

SPACE, SITE = "berth-flood-e2e", "flooded"
SEATS = 2
EDITED = 65  # seconds from an edit of a timetable until the sweep judges it
DEADLINE = 290  # seconds of a Job of the sweep
FIRST = 30  # seconds until it has opened and closed what has no slots
LONG, DENSE, DEEP, SMALL = 50, 10, 10, 1000
BYTES, DEPTH = 1_400_000, 4000  # of one; etcd takes 1.5 MiB
# A megabyte of what takes most memory for its length. Eight are a page of eight megabytes.
DENSE_LIST = "[" + ",".join(['{"a":{}}'] * 110_000) + "]"
DEEP_LIST = "[" * DEPTH + "]" * DEPTH
WRITERS = 3  # at once: the machine has two cores


class Flood(NamedTuple):
    answers: list[int]  # to what was created
    exit_code: int
    ran: tuple[float, float]  # in seconds since the epoch
    lines: list[dict[str, Any]]  # of the log of the sweep
    replicas: dict[str, int]  # by Deployment
    jobs: set[str]
    slots: int  # of the reservation with slots that was not taken over


@pytest.fixture(scope="module")
def flood(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flood]:
    with ExitStack() as undo:
        yield _happen(Stage(cluster, tmp_path_factory.mktemp("flood"), next_minute(20), undo))


def _documents(opens: int) -> list[project.Document]:
    small, seat = project.resource_class("small"), project.resource_class("seat")
    small["spec"].pop("sessions")
    seat["spec"]["schedulerName"] = SCHEDULER
    clusters = [{"name": "real", "koordinator": {"schedulerName": SCHEDULER}}]

    def declared(name: str, first: int, resource_class: str, **spec: Any) -> project.Document:
        return reservation(name, first, [entry(first, 0, 10)], lead=0, seats={resource_class: SEATS}, **spec)

    def with_slots(name: str, first: int) -> project.Document:
        sessions = {"matchLabels": {"course": name}}
        return declared(name, first, "seat", backend={"type": "koordinator"}, sessions=sessions)

    later = opens + 60 * MINUTE
    courses = [with_slots("mine", later), with_slots("slots", opens)]
    courses += [declared("plain", opens, "small"), declared("over", later, "small")]
    return [project.site(SITE, namespace=SPACE, clusters=clusters), small, seat, *courses]


def _slot(name: str, owner: str, resource_class: str, template: object = None, **more_owners: str) -> Object:
    labels = {
        "berth.dev/site": SITE,
        "berth.dev/reservation": owner,
        "berth.dev/resource-class": resource_class,
    }
    owners = [{"labelSelector": {"matchLabels": one}} for one in (labels, more_owners) if one]
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {"name": name, "labels": {**labels, "berth.dev/role": "slot"}},
        "spec": {"owners": owners, "ttl": "24h", "template": {"more": template}},
    }


def _hostile() -> Iterator[str]:
    """Yield Reservations that take memory, text that would be kept, depth, and numbers of everything."""
    for n in range(DENSE):
        yield json.dumps(_slot(f"a-dense-{n}", "mine", "seat", "unknown")).replace('"unknown"', DENSE_LIST)
    for n in range(LONG):
        yield json.dumps(_slot(f"b-long-{n}", "mine", "seat", x="x" * BYTES + str(n)))
    for n in range(DEEP):
        yield json.dumps(_slot(f"c-deep-{n}", "mine", "seat", "unknown")).replace('"unknown"', DEEP_LIST)
    for n in range(SMALL // 2):
        yield json.dumps(_slot(f"d-invented-{n}", f"invented-{n}", "seat"))
        yield json.dumps(_slot(f"e-of-mine-{n}", "mine", f"invented-{n}"))


def _happen(stage: Stage) -> Flood:
    cluster, direct = stage.cluster, stage.connect()

    def kubectl(*words: str) -> str:
        return cluster.kubectl(*words, f"--namespace={SPACE}")

    koordinatorstory.install(cluster)
    stage.apply(_documents(stage.opens), SPACE)
    applied = time.time()
    suspend_sweep(cluster, SPACE)
    kubectl("patch", "cronjob/plain", "cronjob/slots", "--patch", '{"spec": {"suspend": true}}')
    kubectl("scale", "deployment/over-small", "--replicas=7")
    account = Account(kubectl("create", "token", "mine").strip())
    with ThreadPoolExecutor(WRITERS) as threads:
        answers = [*threads.map(partial(account.ask, "POST", SLOTS), _hostile())]
    sleep_until(max(stage.opens + CRONJOB_GRACE, applied + EDITED))
    kubectl("create", "job", "sweep", "--from=cronjob/berth-sweep")

    def ended() -> tuple[str, Object]:
        """The first pod of the Job: one that fails is followed by another."""
        pods = cluster.find("pods", SPACE, "job-name=sweep")
        first = min(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default={})
        containers = first.get("status", {}).get("containerStatuses", [{}])
        state: Object = containers[0].get("state", {}).get("terminated", {})
        return (first["metadata"]["name"], state) if state else ("", {})

    wait_for(lambda: ended()[0], DEADLINE + MINUTE, "the sweep to end", interval=1)
    pod, state = ended()
    return Flood(
        answers,
        state["exitCode"],
        (_instant(state["startedAt"]), _instant(state["finishedAt"])),
        [json.loads(line) for line in kubectl("logs", pod).splitlines()],
        {one["metadata"]["name"]: one["spec"]["replicas"] for one in cluster.find("deployments", SPACE)},
        {one["metadata"]["name"] for one in cluster.find("jobs", SPACE)},
        len(direct.items(f"{SLOTS}?labelSelector=berth.dev/reservation=slots")),
    )


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_the_account_may_create_reservations(flood: Flood) -> None:
    assert flood.answers == [201] * (LONG + DENSE + DEEP + SMALL)


def test_the_sweep_ends_in_time(flood: Flood) -> None:
    began, ended = flood.ran

    assert ended - began < DEADLINE
    assert flood.lines[-1]["event"] == "swept"


def test_the_sweep_names_the_reservations_or_the_list_that_it_could_not_read(flood: Flood) -> None:
    """Each that nests too deep, or the list where the API server takes too long for the large ones."""
    deep = {f"read reservations c-deep-{n}" for n in range(DEEP)}
    failed = {line["subject"] for line in flood.lines if line["event"] == "failed"}

    assert flood.exit_code == 1
    assert failed in (deep, {"list reservations"})


def test_pools_without_slots_are_opened_and_closed_first(flood: Flood) -> None:
    assert (flood.replicas["plain-small"], flood.replicas["over-small"]) == (SEATS, 0)
    scaled = [line for line in flood.lines if line["event"] == "scale"]
    assert {line["name"] for line in scaled} == {"plain-small", "over-small"}
    assert all(_instant(line["time"]) - flood.ran[0] < FIRST for line in scaled)


def test_the_sweep_starts_jobs(flood: Flood) -> None:
    assert {"plain-sweep", "slots-sweep"} <= flood.jobs


def test_slots_of_other_reservations_are_created(flood: Flood) -> None:
    assert flood.slots == SEATS
