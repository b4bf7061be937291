"""Reservations as their clusters see them, and the objects that become of them, for tests of manifests."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from berth.backends.koordinator.slotholder import SlotHolder
from berth.backends.koordinator.slotobjects import pool_slots
from berth.checks.project import Part
from berth.core.holders import REPLICAS, PoolHolder
from berth.core.sessions import Inactive, LabelRequirement, Match, Recognition
from berth.core.timetable import Timetable, TimetableOccurrence, TimetablePool, TimetableSettings
from berth.manifests.naming import pool
from berth.manifests.placed import pool_behaviors
from berth.output import findinglist
from berth.pipeline import Pipeline
from berth.plugins.slots.slotspec import SlotSpec
from berth.rendering import base_text, reservation_text, runtime_text
from berth.schema.reservation import Reservation
from berth.schema.values import Cluster, ResourceClass, Site

from tests.cli import project

Object = dict[str, Any]
OURS = {
    "app.kubernetes.io/name": "berth",
    "app.kubernetes.io/part-of": "uni",
    "app.kubernetes.io/managed-by": "berth",
    "berth.dev/site": "uni",
}
"""Labels that every object of the site `uni` has."""


def read(folder: Path) -> tuple[Site, list[Part]]:
    """The site and all parts, by reservation and cluster; errors are failures."""
    pipeline = Pipeline(str(folder))
    parts = [part for item in pipeline.items() for part in item.parts]
    return _sound(pipeline), parts


def _sound(pipeline: Pipeline) -> Site:
    assert not pipeline.has_errors(), findinglist.text(pipeline.findings(), color=False)
    assert pipeline.site is not None
    return pipeline.site


def small(folder: Path, **changes: str | None) -> tuple[Site, dict[str, Part]]:
    """The small project of the commands, its parts as `<reservation>/<cluster>`."""
    site, parts = read(project.write(folder, **changes))
    return site, {f"{part.placed.reservation.name}/{part.placed.cluster.name}": part for part in parts}


def text_of(site: Site, part: Part) -> str:
    text = reservation_text(site, part)
    assert isinstance(text, str), text
    return text


def objects(text: str) -> list[Object]:
    return list(yaml.load_all(text, yaml.CSafeLoader))


def of_kind(kind: str, found: Iterable[Object]) -> list[Object]:
    return [one for one in found if one["kind"] == kind]


def of_part(site: Site, part: Part) -> list[Object]:
    return objects(text_of(site, part))


def of_cluster(folder: Path, name: str, **changes: str | None) -> list[Object]:
    """The base of a cluster of the small project."""
    pipeline = Pipeline(str(project.write(folder, **changes)))
    site = _sound(pipeline)
    return objects(base_text(site, _cluster(site, name), pipeline.declared.classes.values()))


def code_of_cluster(folder: Path, name: str, **changes: str | None) -> list[Object]:
    """The in-cluster code of a cluster of the small project."""
    site = _sound(Pipeline(str(project.write(folder, **changes))))
    return objects(runtime_text(site, _cluster(site, name), ()))


def _cluster(site: Site, name: str) -> Cluster:
    (found,) = (cluster for cluster in site.clusters if cluster.name == name)
    return found


def pod_specs(found: Iterable[Object]) -> Iterator[Object]:
    for one in found:
        if one["kind"] == "Deployment":
            yield one["spec"]["template"]["spec"]
        elif one["kind"] == "CronJob":
            yield one["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def timetable_in_cluster(site: Site, part: Part) -> Timetable:
    """What the cluster should read, from the values that the text is made of."""
    reservation = part.placed.reservation
    pools = [
        _pool(reservation, resource_class)._replace(holder=_holder(site, part, resource_class))
        for resource_class in part.placed.classes
    ]
    occurrences = []
    for item in part.occurrences:
        for (name, count), one in zip(item.seats, reservation.scaling_of(item), strict=True):
            opens = item.start - 60 * one.lead
            row = TimetableOccurrence(item.id, opens, item.start, item.end, ((name, count),), one.behavior)
            occurrences.append(row)
    settings = TimetableSettings(
        site.scaler.stabilization_seconds, site.scaler.ready_minutes, site.renku.url if site.renku else ""
    )
    return Timetable(
        reservation.name, reservation.suspend, tuple(pools), tuple(sorted(occurrences)), site.name, settings
    )


def by_class(timetable: Timetable) -> Timetable:
    """The same with a row for each class of an occurrence, each with its behavior."""
    behaviors = {pool.resource_class: pool.behavior for pool in timetable.pools}
    rows = [
        row._replace(seats=(pair,), behavior=row.behavior or behaviors[pair[0]])
        for row in timetable.occurrences
        for pair in row.seats
    ]
    return timetable._replace(occurrences=tuple(sorted(rows)))


def _holder(site: Site, part: Part, found: ResourceClass) -> PoolHolder:
    if not isinstance(part.placed.reservation.holder, SlotHolder):
        return REPLICAS
    data = json.loads(json.dumps(pool_slots(site, part.placed.cluster, part.placed.reservation, found)))
    return SlotSpec(data["name"], data["hash"], data["object"], data["placeholders"])


def _pool(reservation: Reservation, found: ResourceClass) -> TimetablePool:
    name = pool(reservation.name, found.name)
    if found.sessions is None:
        return TimetablePool(
            found.name, name, pool_behaviors(reservation)[found.name], overlap=reservation.overlap
        )
    asked, match = found.sessions, reservation.sessions
    recognition = Recognition(
        asked.source,
        asked.namespace_names,
        _requirements({} if asked.selector is None else asked.selector.dump()),
        found.renku_id if asked.source == "renku" else None,
        asked.custom.get("group", ""),
        asked.custom.get("version", ""),
        asked.custom.get("resource", ""),
        tuple(sorted(asked.custom.get("matchAnnotations", {}).items())),
        tuple(Inactive(one["path"], one["values"]) for one in asked.custom.get("inactive", ())),
        tuple(sorted(asked.namespace_labels.items())),
    )
    return TimetablePool(
        found.name,
        name,
        pool_behaviors(reservation)[found.name],
        recognition,
        Match(
            match.namespaces,
            tuple(sorted(match.match_labels.items())),
            tuple(sorted(match.match_annotations.items())),
            match.project_template or "",
            match.earlier == "ignore",
            match.handover,
            match.carry_over,
        ),
        overlap=reservation.overlap,
    )


def _requirements(selector: Object) -> tuple[LabelRequirement, ...]:
    labels = sorted(selector.get("matchLabels", {}).items())
    return (
        *(LabelRequirement(key, "In", (value,)) for key, value in labels),
        *(
            LabelRequirement(one["key"], one["operator"], tuple(one.get("values", ())))
            for one in selector.get("matchExpressions", ())
        ),
    )
