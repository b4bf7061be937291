"""Other projects with slots than the usual one, and clusters that are not where git is."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.live import project
from tests.live.happenings import NOW
from tests.live.project import Project
from tests.live.slotproject import (
    FULL,
    LAB,
    SITE,
    WITH_PLACEHOLDERS,
    in_order,
    lose,
    make,
    slots,
    stand,
    status_of,
    without_git,
)
from tests.live.world import World

UNTIL = LAB.replace("small", "brief")
ONCE = LAB.replace("B032: everybody", "B109: meant").replace(
    "standing: true", "standing: true, allocateOnce: true"
)
STANDING_COURSE = LAB.replace("name: lab", "name: course").replace(
    "placeholderCount: 3", "placeholderCount: 25"
)
UNPRUNED = SITE.replace("engine: argocd", "engine: none")
NO_NODE = {**FULL, "type": "PodScheduled"}


class Turn(NamedTuple):
    """What git says now, and what the cluster was made of."""

    name: str
    git: Project
    world: Callable[[], World]
    now: str = NOW


def others(world: World, git: Project, *kinds: str) -> World:
    """The course's objects of these kinds are those of another project."""
    for object_ in git.objects["prod"]:
        is_of_it = (object_["metadata"].get("labels") or {}).get("berth.dev/reservation") == "course"
        if is_of_it and object_["kind"] in kinds:
            world.objects = [
                old
                for old in world.objects
                if (old["kind"], old["metadata"]["name"]) != (object_["kind"], object_["metadata"]["name"])
            ]
            world.apply_rendered(object_)
    world.scale("course-small", 20, "berth-scaler", "2026-02-02T08:40:00Z")
    return world


def gone() -> World:
    world = in_order(slots(lab=LAB))
    without_git(world)
    return world


def handing_over(**waiting: Any) -> World:
    """Ten placeholders stand, and eight of them have handed over."""
    world = in_order(slots(course=WITH_PLACEHOLDERS))
    lose(world, 0, 19)
    make(world, 0, 8, owner="berth/course-small-7f-{}")
    world.scale("course-small", 20, "berth-scaler", "2026-02-02T08:40:00Z", ready=10)
    if waiting:
        world.wait("course", 10, "2026-02-02T07:30:05Z", **waiting)
    return world


def taken_once() -> World:
    world = in_order(slots(lab=ONCE))
    stand(world, lambda one: one.update(status=status_of("Succeeded", "hub/a")), 1)
    return world


def reshaped(git: Project) -> World:
    world = World(git.objects["prod"])
    for object_ in world.objects:
        if object_["kind"] == "Reservation":
            object_["status"] = status_of("Available")
            object_["metadata"]["name"] = f"{object_['metadata']['name'][:-8]}00000000"
    return world


def nothing() -> World:
    world = in_order(slots(lab=LAB))
    world.objects = []
    return world


TURNS = [
    Turn("gone", slots(course=None, lab=LAB), gone),
    Turn("gone-and-their-end-is-past", slots(course=None, lab=LAB), gone, "2026-02-02T12:06:00Z"),
    Turn(
        "placeholders-of-before", slots(), lambda: others(in_order(slots()), project.project(), "Deployment")
    ),
    Turn(
        "slots-of-before",
        slots(course=project.COURSE),
        lambda: others(in_order(slots()), slots(course=project.COURSE), "ConfigMap", "Deployment"),
    ),
    Turn("handing-over", slots(course=WITH_PLACEHOLDERS), handing_over),
    Turn(
        "handing-over-and-no-room",
        slots(course=WITH_PLACEHOLDERS),
        lambda: handing_over(conditions=[NO_NODE]),
    ),
    Turn("standing-and-not-in-git", slots(), lambda: in_order(slots(lab=LAB))),
    Turn("standing-until-some-day", slots(lab=UNTIL), lambda: in_order(slots(lab=UNTIL))),
    Turn(
        "expired",
        slots(course=None, lab=UNTIL),
        lambda: World(slots(course=None, lab=UNTIL).objects["prod"]),
        "2026-03-01T00:00:00Z",
    ),
    Turn(
        "of-another-shape-where-nothing-prunes",
        slots(site=UNPRUNED, course=None, lab=LAB),
        lambda: reshaped(slots(site=UNPRUNED, course=None, lab=LAB)),
    ),
    Turn("taken-once", slots(lab=ONCE), taken_once),
    Turn("nothing-of-it", slots(lab=LAB), nothing),
    Turn("standing-now-by-git-alone", slots(course=STANDING_COURSE), lambda: in_order(slots())),
]
