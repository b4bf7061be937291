"""A course in a class, and a site with one cluster: what the tests of live clusters have in git."""

import contextlib
import io
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml
from berth import cli
from berth.live.expected import ExpectedState, expected_states
from berth.pipeline import Pipeline
from berth.schema.values import Site

SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: uni, annotations: {berth.dev/ignore: "B037: told by hand"}}
spec:
  timeZone: Europe/Zurich
  engine: argocd
  clusters: [{name: prod}]
"""
CLASS = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec:
  requests: {cpu: "1", memory: 4Gi}
  sessions: {source: jupyterhub, namespaces: [hub], selector: {matchLabels: {size: small}}}
"""
COURSE = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: course, annotations: {berth.dev/ignore: "B032: everybody is in it"}}
spec:
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-02-15
    schedule:
      - {dayOfWeek: mon, startTime: "09:00", endTime: "13:00"}
  provisioning: {placeholderCount: 25, leadTimeMinutes: 30, scaleDownBehavior: maintain}
"""
FILES = {"site": SITE, "class": CLASS, "course": COURSE}


class Project(NamedTuple):
    """What git says: read, and rendered as the objects of each cluster."""

    site: Site
    expected: Mapping[str, ExpectedState]
    objects: Mapping[str, list[dict[str, Any]]]


def write(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    where = folder / "reservations"
    where.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (where / f"{name}.yaml").write_text(text, "utf-8")
    return folder


def project(**changes: str | None) -> Project:
    """Files are named without `.yaml`; None leaves one out."""
    files: dict[str, str | None] = {**FILES, **changes}
    return _project(tuple((name, text) for name, text in files.items() if text is not None))


@lru_cache
def _project(files: tuple[tuple[str, str], ...]) -> Project:
    with TemporaryDirectory() as name:
        folder = write(Path(name), dict(files))
        pipeline = Pipeline(name)
        site = pipeline.site
        assert site is not None, pipeline.findings()
        found = expected_states(site, pipeline.items(), pipeline.declared.classes.values())
        with contextlib.chdir("."), contextlib.redirect_stdout(io.StringIO()):
            assert cli.run(["-C", name, "render"]) == 0
        return Project(
            site,
            found,
            {
                expected_state: _objects(folder / "rendered/clusters" / expected_state)
                for expected_state in found
            },
        )


def _objects(folder: Path) -> list[dict[str, Any]]:
    texts = [file.read_text("utf-8") for file in sorted(folder.rglob("*.yaml"))]
    return [one for text in texts for one in yaml.load_all(text, yaml.CSafeLoader)]
