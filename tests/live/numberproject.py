"""A sale in a cluster: a window on the minReplicas of a HorizontalPodAutoscaler of somebody else."""

import json
from typing import Any

from berth.core.labels import HELD
from berth.core.timetable import note_name, parse_timetable

from tests.live.project import CLASS, COURSE, SITE, Project, project
from tests.live.turns import swept
from tests.live.world import World

OPEN = "2026-02-02T09:00:00Z"  # 10:00 in Zurich, open since 07:30Z
OVER = "2026-02-02T18:00:00Z"
ENTRY = (
    "held: [{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, namespaces: [shop], "
    "paths: [spec.minReplicas, 'spec.metrics[*].least']}]"
)
TARGET = (
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, namespace: shop, name: web, path: 'PATH'}"
)
FIELDS: dict[str, Any] = {"f:spec": {"f:minReplicas": {}}}
NAMES: dict[str, Any] = {"f:metadata": {}}


def sale_document(name: str = "sale", path: str = "spec.minReplicas", **more: str) -> str:
    """The text of a reservation. `more`: other keys of the backend."""
    keys = "".join(f", {key}: {value}" for key, value in more.items())
    backend = f"{{type: value, target: {TARGET.replace('PATH', path)}{keys}}}"
    text = COURSE.replace("spec:\n", f"spec:\n  backend: {backend}\n").replace("maintain", "none")
    return text.replace("name: course", f"name: {name}")


FILES = {
    "site": SITE.replace("{name: prod}", f"{{name: prod, {ENTRY}}}"),
    "class": CLASS,
    "course": sale_document(),
}


def sale(path: str = "spec.minReplicas", **more: str) -> Project:
    """What git says. `more`: other keys of the backend."""
    return project(**{**FILES, "course": sale_document(path=path, **more)})


def autoscaler(world: World, least: int | None, by: str = "", **spec: Any) -> dict[str, Any]:
    """The HorizontalPodAutoscaler; `by` is the manager that wrote the number last."""
    made = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"maxReplicas": 60, **({} if least is None else {"minReplicas": least}), **spec},
        "status": {"currentReplicas": least or 1},
    }
    found = world.apply_rendered(made)
    entries = [("helm", NAMES), (by, FIELDS)] if by else [("helm", FIELDS)]
    found["metadata"]["managedFields"] = [
        {"manager": manager, "operation": "Update", "time": OPEN, "fieldsV1": fields}
        for manager, fields in entries
    ]
    return found


def hold(world: World, before: int | None = 3) -> None:
    """Note that Berth holds the number."""
    text = world.get("ConfigMap", "sale")["data"]["timetable.json"]
    (pool,) = parse_timetable(text).pools
    world.leases = {name: [note_name(pool)] for name in ("sale", "more")}
    labels = {"site": "uni", "reservation": "sale", "resource-class": "small", "role": HELD}
    metadata = {
        "name": note_name(pool),
        "namespace": "berth",
        "labels": {f"berth.dev/{key}": value for key, value in labels.items()},
    }
    note = json.dumps({"before": before, "since": "2026-02-02T07:30:00Z"})
    world.apply_rendered({"kind": "ConfigMap", "metadata": metadata, "data": {"held.json": note}})


def held_world(git: Project, least: int | None = 25, by: str = "berth-scaler") -> World:
    """The window is open, its pod serves it, and the number is held."""
    world = World(git.objects["prod"])
    swept(world, "2026-02-02T17:58:00Z")
    world.run("sale")
    autoscaler(world, least, by)
    hold(world)
    return world
