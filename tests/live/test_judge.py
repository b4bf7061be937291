"""What is told of a cluster in which this or that has happened: from the objects of its API server, through
the facts, to the last word.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from gen.backend.cluster import runtime_code
from gen.live.case import Look
from gen.live.facts import Place
from gen.live.gather import gathered
from gen.live.judge import judged
from gen.live.status import ClusterStatus
from gen.runtime.instant import instant, instant_text
from tests.live import project
from tests.live.project import Project
from tests.live.world import RefusedError, World

NOW = "2026-02-02T09:00:00Z"  # 10:00 in Zurich: the course is open since 07:30Z, starts 08:00Z, ends 12:00Z
CODE = {one["name"]: one["text"] for one in runtime_code()}


def status(world: World, git: Project, now: str = NOW) -> ClusterStatus:
    place, cluster = Place("prod", "berth", "admin@prod"), git.site.clusters[0]
    facts = gathered(world.ask, place.namespace, git.site.name, instant(now), RefusedError)
    timetables = git.expected["prod"].timetables
    look = Look(place, git.site.name, cluster.engine, cluster.autoscaler, timetables, facts, instant(now))
    return judged(look, CODE)


def in_order(git: Project, now: str = NOW) -> World:
    """Five sessions have come, and 20 placeholders are left; the sweep came by three minutes ago."""
    world = World(git.objects["prod"])
    sweep = world.get("CronJob", "berth-sweep")
    sweep["status"] = {"lastSuccessfulTime": instant_text(instant(now) - 180)}
    world.run("course")
    world.scale("course-small", 20, "berth-occurrence", "2026-02-02T08:40:00Z")
    for n in range(5):
        world.session(f"jupyter-{n}")
    return world


def row(found: ClusterStatus, n: int = 0) -> tuple[Any, ...]:
    """State, open, end, wanted, ready, pending, active."""
    pool = found.pools[n]
    times = [None if at is None else instant_text(at) for at in (pool.open, pool.end)]
    return (pool.state, *times, pool.wanted, pool.ready, pool.pending, pool.active)


def lines(found: ClusterStatus) -> list[str]:
    """Findings of the cluster, then of its pools; what pools share, once."""
    findings = [*found.findings, *(one for pool in found.pools for one in pool.findings)]
    return [
        f"{one.severity}[{one.code}] {f'{one.subject}: ' if one.subject else ''}{one.message} {one.fix}"
        for one in dict.fromkeys(findings)
    ]


def test_in_order_an_open_pool_has_what_sessions_leave() -> None:
    git = project.project()
    found = status(in_order(git), git)

    assert lines(found) == []
    assert row(found) == ("active", "2026-02-02T07:30:00Z", "2026-02-02T12:00:00Z", 20, 20, 0, 5)


class Case(NamedTuple):
    """What happened to the cluster that was in order, and what is told then."""

    name: str
    happen: Callable[[World], object]
    told: list[str]
    state: str = "active"
    now: str = NOW


NO_ROOM = {
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/5 nodes are available: 5 Insufficient cpu.",
        }
    ]
}


def _waiting(container: str, reason: str, message: str = "") -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message} if message else {"reason": reason}}
    return {"containerStatuses": [{"name": container, "restartCount": 0, "state": state}]}


NO_IMAGE = _waiting("placeholder", "ImagePullBackOff", 'Back-off pulling image "pause:9"')
NO_CONFIG = _waiting("placeholder", "CreateContainerConfigError")
STARTING = _waiting("placeholder", "ContainerCreating")
CRASHING = [{"name": "scaler", "restartCount": 9, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
SWEEP = {"berth.dev/site": "uni", "berth.dev/role": "sweep"}


def gone(world: World) -> None:
    """The pod, with its Job, and the CronJob."""
    world.remove("Pod", "course-29500-abcde")
    world.remove("CronJob", "course")


def unscaled(world: World) -> None:
    found = world.get("Deployment", "course-small")
    found["spec"]["replicas"], found["status"] = 0, {}
    del found["metadata"]["managedFields"][1:]


def pending(world: World, number: int, status: dict[str, Any], since: str = "2026-02-02T07:30:05Z") -> None:
    world.wait("course", number, since, **status)
    world.scale("course-small", 20, "berth-occurrence", "2026-02-02T07:30:03Z", ready=20 - number)


def without(world: World, reservation: str) -> None:
    key = "berth.dev/reservation"
    world.objects = [
        one for one in world.objects if (one["metadata"].get("labels") or {}).get(key) != reservation
    ]


def timetable(world: World, text: str) -> None:
    world.get("ConfigMap", "course")["data"]["timetable.json"] = text


def edit(world: World, *pairs: str) -> None:
    """Old and new texts in turn."""
    text = world.get("ConfigMap", "course")["data"]["timetable.json"]
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    timetable(world, text)


def swept(world: World, at: str) -> None:
    world.get("CronJob", "berth-sweep")["status"] = {"lastSuccessfulTime": at}


def new_sweep(world: World) -> None:
    sweep = world.get("CronJob", "berth-sweep")
    sweep["status"], sweep["metadata"]["creationTimestamp"] = {}, "2026-02-02T08:55:00Z"


def failed_job(world: World, name: str) -> None:
    labels = {"berth.dev/site": "uni", "berth.dev/reservation": "course"}
    condition = {
        "type": "Failed",
        "status": "True",
        "reason": "DeadlineExceeded",
        "message": "It was too long",
    }
    metadata = {"name": name, "namespace": "berth", "labels": labels}
    world.apply({"kind": "Job", "metadata": metadata, "status": {"conditions": [condition]}})


def override(world: World, target: str, until: str) -> None:
    text = f'{{"small": {{"target": {target}, "until": "{until}"}}}}'
    world.get("ConfigMap", "course")["metadata"]["annotations"]["berth.dev/override"] = text
