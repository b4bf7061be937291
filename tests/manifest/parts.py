"""Reservations as their clusters see them, and the objects that become of them, for tests of manifests."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from gen import report
from gen.manifest.naming import pool
from gen.model import Site
from gen.output.renderer import Renderer
from gen.pipeline import Part, Pipeline
from gen.render import base_text, reservation_text
from gen.runtime.timetable import Occurrence, Pool, Timetable
from tests.command import project

Object = dict[str, Any]
RENDERER = Renderer()


def read(folder: Path) -> tuple[Site, list[Part]]:
    """The site and all parts, by reservation and cluster; errors are failures."""
    pipeline = Pipeline(str(folder))
    parts = [part for item in pipeline.items() for part in item.parts]
    assert not pipeline.has_errors(), report.text(pipeline.findings(), colour=False)
    assert pipeline.site is not None
    return pipeline.site, parts


def small(folder: Path, **changes: str | None) -> tuple[Site, dict[str, Part]]:
    """The small project of the commands, its parts as `<reservation>/<cluster>`."""
    site, parts = read(project.write(folder, **changes))
    return site, {f"{part.placed.reservation.name}/{part.placed.cluster.name}": part for part in parts}


def text_of(site: Site, part: Part) -> str:
    text = reservation_text(RENDERER, site, part)
    assert isinstance(text, str), text
    return text


def objects(text: str) -> list[Object]:
    return list(yaml.load_all(text, yaml.CSafeLoader))


def of_kind(kind: str, found: Iterable[Object]) -> list[Object]:
    return [one for one in found if one["kind"] == kind]


def of_part(site: Site, part: Part) -> list[Object]:
    return objects(text_of(site, part))


def of_cluster(site: Site, name: str) -> list[Object]:
    (cluster,) = (one for one in site.clusters if one.name == name)
    return objects(base_text(RENDERER, site, cluster))


def pod_specs(found: Iterable[Object]) -> Iterator[Object]:
    for one in found:
        if one["kind"] == "Deployment":
            yield one["spec"]["template"]["spec"]
        elif one["kind"] == "CronJob":
            yield one["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def timetable_in_cluster(part: Part) -> Timetable:
    """What the cluster should read, from the values that the text is made of."""
    reservation = part.placed.reservation
    names = [found.name for found in part.placed.classes]
    pools = [Pool(name, pool(reservation.name, name), reservation.behaviour) for name in names]
    occurrences = [
        Occurrence(
            item.id, item.open, item.start, item.end, tuple(one for one in item.seats if one[0] in names)
        )
        for item in part.occurrences
    ]
    return Timetable(reservation.name, reservation.suspend, tuple(pools), tuple(occurrences))
