"""Reservations as their clusters see them, and the objects that become of them, for tests of manifests."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from berth.checks.project import Part
from berth.output import findinglist
from berth.pipeline import Pipeline
from berth.rendering import base_text, reservation_text, runtime_text
from berth.schema.values import Cluster, Site

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
