"""The course with slots, a lab whose seats stand, and what may happen to them."""

import json
from collections.abc import Callable
from typing import Any

from berth.core.jsonvalues import instant_text, parse_instant

from tests.live import project
from tests.live.happenings import NOW, case
from tests.live.project import Project
from tests.live.turns import gone, in_peace, swept
from tests.live.world import World

SITE = project.SITE.replace("{name: prod}", "{name: prod, koordinator: {}}")
CLASS = project.CLASS.replace('"1", memory: 4Gi}', '"1", memory: 4Gi}\n  schedulerName: koord-scheduler')
CLASS += """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: brief}
spec:
  requests: {cpu: "1", memory: 4Gi}
  schedulerName: koord-scheduler
  sessions: {source: jupyterhub, namespaces: [hub], selector: {matchLabels: {size: brief}}}
  reservation: {spec: {expires: 2026-03-01T00:00:00Z}}
"""
COURSE = f"{project.COURSE}  backend: {{type: koordinator}}\n"
WITH_PLACEHOLDERS = COURSE.replace("type: koordinator", "type: koordinator, withPlaceholders: true")
LAB = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: lab, annotations: {berth.dev/ignore: "B032: everybody"}}
spec:
  resourceClass: small
  provisioning: {placeholderCount: 3}
  backend: {type: koordinator, standing: true}
"""
ENDS = "2026-02-02T12:00:00Z"
OPENED = "2026-02-02T07:30:01Z"
FULL = {
    "type": "Scheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/5 nodes are available: 5 Insufficient cpu.",
}
EXPIRED = {
    "type": "Ready",
    "status": "False",
    "reason": "Expired",
    "message": "expired, node is deleted",
    "lastTransitionTime": "2026-02-02T08:58:00Z",
}
JUST_NOW = {**EXPIRED, "lastTransitionTime": "2026-02-02T08:59:51Z"}


def slots(**changes: str | None) -> Project:
    return project.project(**{"site": SITE, "class": CLASS, "course": COURSE, **changes})


def status_of(phase: str, owner: str = "", condition: dict[str, str] | None = None) -> dict[str, Any]:
    """As Koordinator's scheduler writes it; empty before it has looked."""
    if not phase:
        return {}
    where = {"nodeName": "gpu-1"} if phase != "Pending" else {}
    namespace, _, name = owner.partition("/")
    owners = {"currentOwners": [{"namespace": namespace, "name": name}]} if owner else {}
    return {"phase": phase, **where, **owners, **({"conditions": [condition]} if condition else {})}


def make(world: World, first: int, number: int, phase: str = "Available", **said: Any) -> None:
    """Slots of the course as its pod makes them. `owner`, `condition`; `created` and `expires`; `hash`."""
    text = json.loads(world.get("ConfigMap", "course")["data"]["timetable.json"])
    shape = text["pools"]["small"]["slots"]
    created, expires = said.pop("created", OPENED), said.pop("expires", ENDS)
    digest = said.pop("hash", shape["hash"])
    for ordinal in range(first, first + number):
        owner = said.get("owner", "").format(ordinal)
        made = world.apply_rendered(
            {
                "kind": "Reservation",
                "metadata": {**shape["object"]["metadata"], "name": f"{shape['name']}-{ordinal}-{digest}"},
                "spec": {**shape["object"]["spec"], "expires": expires, "ttl": "5h30m0s"},
                "status": status_of(phase, owner, said.get("condition")),
            }
        )
        made["metadata"]["creationTimestamp"] = created


def in_order(git: Project, now: str = NOW) -> World:
    """Five sessions have taken slots, and 20 are free; those that stand are free too."""
    world = World(git.objects["prod"])
    swept(world, instant_text(parse_instant(now) - 180))
    world.run("course")
    world.renew(now)
    for object_ in world.objects:
        if object_["kind"] == "Reservation":
            object_["status"] = status_of("Available")
    make(world, 0, 20)
    make(world, 20, 5, owner="hub/jupyter-{}")
    for n in range(20, 25):
        world.session(f"jupyter-{n}")
    return world


def every(world: World, change: Callable[[dict[str, Any]], object], first: int = 0, last: int = 99) -> None:
    """Changes the slots of the course with these ordinals."""
    for object_ in world.objects:
        name = object_["metadata"]["name"]
        is_ours = object_["kind"] == "Reservation" and name.startswith("uni-course-")
        if is_ours and first <= int(name.split("-")[-2]) <= last:
            change(object_)


def lose(world: World, first: int, last: int) -> None:
    doomed: list[dict[str, Any]] = []
    every(world, doomed.append, first, last)
    for one in doomed:
        world.drop(one)


def wait(world: World, number: int, condition: dict[str, str] | None = FULL, created: str = OPENED) -> None:
    """So many of the free ones are Pending; without a condition nobody has looked at them."""
    lose(world, 0, number - 1)
    make(world, 0, number, "Pending" if condition else "", condition=condition, created=created)


def stand(world: World, change: Callable[[dict[str, Any]], object], ordinal: int) -> None:
    """Changes a slot of the lab."""
    (found,) = [
        object_
        for object_ in world.objects
        if object_["metadata"]["name"].startswith(f"uni-lab-small-{ordinal}-")
    ]
    change(found)


def stranger(world: World, ttl: str, phase: str = "") -> None:
    """A Reservation of somebody else."""
    spec, status = {"ttl": ttl}, status_of(phase)
    world.apply_rendered(
        {"kind": "Reservation", "metadata": {"name": "migration-1"}, "spec": spec, "status": status}
    )


def without_git(world: World) -> None:
    """All of the course has gone but its slots."""
    world.objects = [
        object_
        for object_ in world.objects
        if object_["kind"] == "Reservation"
        or (object_["metadata"].get("labels") or {}).get("berth.dev/reservation") != "course"
    ]


def steal(world: World, first: int, last: int) -> None:
    """A pod of somebody else got the room of a slot on the node of these slots, which is full of slots."""
    on_node = {"phase": "Available", "nodeName": "gpu-2", "allocatable": {"cpu": "1", "memory": "4Gi"}}
    every(world, lambda one: one.update(status=on_node), first, last)
    room = {"cpu": str(last - first + 1), "memory": "256Gi"}
    node = {"kind": "Node", "metadata": {"name": "gpu-2"}, "spec": {}, "status": {"allocatable": room}}
    world.apply_rendered(node)
    container = {"resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}}}
    world.pod("other", {}, namespace="others", spec={"nodeName": "gpu-2", "containers": [container]})


LIST = "/apis/scheduling.koordinator.sh/"
FORBIDDEN = "HTTP 403: reservations.scheduling.koordinator.sh is forbidden"
NO_CRD = "HTTP 404: the server could not find the requested resource"
LATER = "2026-02-02T12:05:59Z"
CASES = [
    case("in-order", in_peace),
    # seats
    case("missing-and-its-pod-is-at-work", lambda w: lose(w, 0, 19), now="2026-02-02T07:30:20Z"),
    case(
        "missing-and-some-were-made-just-now",
        lambda w: lose(w, 0, 19),
        lambda w: make(w, 0, 2, created="2026-02-02T08:59:55Z"),
    ),
    case("missing-and-its-pod-may-be-waiting", lambda w: lose(w, 0, 11)),
    case("missing-and-its-pod-does-nothing", lambda w: lose(w, 0, 11), before=40),
    case("missing-and-nobody-serves", gone, lambda w: lose(w, 0, 11)),
    case(
        "missing-and-nobody-serves-since-a-moment",
        gone,
        lambda w: lose(w, 0, 24),
        lambda w: make(w, 0, 3, created="2026-02-02T08:59:00Z"),
    ),
    case("nobody-serves-but-slots-stand", lambda w: w.vanish("Pod", "course-29500-abcde")),
    case("too-many-just-now", lambda w: make(w, 30, 4, created="2026-02-02T08:59:00Z")),
    case("too-many-for-long", lambda w: make(w, 30, 4)),
    case("a-session-without-a-slot", lambda w: w.session("late")),
    case(
        "a-session-that-left-its-slot",
        lambda w: w.vanish("Pod", "jupyter-20"),
        lambda w: lose(w, 20, 20),
        lambda w: make(w, 20, 1),
    ),
    case(
        "sessions-unknown",
        lambda w: w.refused.update({"/api/v1/namespaces/hub/": "HTTP 403: pods is forbidden"}),
    ),
    # the end
    case("closing", in_peace, now=LATER),
    case("left-after-the-end", in_peace, now="2026-02-02T12:06:00Z"),
    case(
        "left-pending-after-the-end",
        lambda w: lose(w, 0, 24),
        lambda w: make(w, 0, 1, "Pending", condition=FULL),
        now="2026-02-02T12:06:00Z",
    ),
    # what they wait for
    case("no-room", lambda w: wait(w, 7)),
    case("no-room-is-no-news-for-a-minute", lambda w: wait(w, 7, created="2026-02-02T08:59:01Z")),
    case("no-room-and-the-start-is-near", lambda w: wait(w, 1), now="2026-02-02T07:56:00Z"),
    case("nobody-looks", lambda w: wait(w, 7, None)),
    case("nobody-looks-yet", lambda w: wait(w, 1, None, "2026-02-02T08:59:01Z")),
    case("one-of-a-stranger-stops-all", lambda w: wait(w, 7, None), lambda w: stranger(w, "7d")),
    case("one-of-a-stranger-is-sound", lambda w: stranger(w, "168h")),
    case("one-of-a-stranger-has-no-policy", lambda w: stranger(w, "168h", "Available")),
    case(
        "no-room-beside-one-without-a-policy",
        lambda w: wait(w, 7),
        lambda w: stranger(w, "168h", "Available"),
    ),
    case(
        "end-before-the-window",
        lambda w: every(w, lambda one: one["spec"].update(expires="2026-02-02T11:00:00Z"), 3, 4),
    ),
    case(
        "over-in-the-middle",
        lambda w: every(w, lambda one: one.update(status=status_of("Failed", condition=EXPIRED)), 0, 1),
        before=40,
    ),
    case(
        "over-just-now",
        lambda w: every(w, lambda one: one.update(status=status_of("Failed", condition=JUST_NOW)), 0, 1),
    ),
    case("of-another-shape", lambda w: lose(w, 0, 3), lambda w: make(w, 0, 4, hash="00000000")),
    case("overbooked", lambda w: steal(w, 0, 3)),
    case(
        "overbooked-by-whom-is-not-known",
        lambda w: steal(w, 0, 3),
        lambda w: w.refused.update({"/api/v1/nodes": "HTTP 403: no"}),
    ),
    # what cannot be read
    case("forbidden", lambda w: w.refused.update({LIST: FORBIDDEN})),
    case("no-crd", lambda w: w.refused.update({LIST: NO_CRD})),
    # standing
    case("one-is-missing", lambda w: stand(w, w.drop, 1)),
    case("all-are-missing", *(lambda w, n=n: stand(w, w.drop, n) for n in range(3))),
    case(
        "one-is-over",
        lambda w: stand(w, lambda one: one.update(status=status_of("Failed", condition=EXPIRED)), 1),
    ),
    case(
        "one-is-in-use", lambda w: stand(w, lambda one: one.update(status=status_of("Available", "hub/a")), 1)
    ),
    case(
        "one-waits",
        lambda w: stand(w, lambda one: one.update(status=status_of("Pending", condition=FULL)), 1),
    ),
    case("one-is-not-looked-at", lambda w: stand(w, lambda one: one.pop("status"), 1)),
    case(
        "one-ends-some-day",
        lambda w: stand(w, lambda one: one["spec"].update(expires="2026-03-01T00:00:00Z"), 1),
    ),
    case(
        "one-has-another-shape",
        lambda w: stand(w, lambda one: one["metadata"].update(name="uni-lab-small-1-00000000"), 1),
    ),
]
