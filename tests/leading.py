"""Courses whose entries and classes have leads and behaviors of their own, from tests/cases/leads.yaml."""

from pathlib import Path
from typing import Any

import yaml
from berth.checks.project import Part
from berth.manifests.timetabletext import timetable_text
from berth.pipeline import Pipeline
from berth.reading.source import Source

Case = dict[str, Any]
CASES: list[Case] = yaml.load(
    (Path(__file__).parent / "cases/leads.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
CLASSES = ("gpu", "huge", "small")


def document(kind: str, name: str, spec: Case) -> Case:
    return {"apiVersion": "berth.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def declarations(case: Case) -> str:
    """A site, its classes and the reservation `course`."""
    sessions = {"source": "jupyterhub", "namespaces": ["hub"]}
    site = {"timeZone": "UTC", "engine": "none", "clusters": [{"name": "prod"}]}
    classes = [
        document("ResourceClass", name, {"requests": {"cpu": "1"}, "sessions": sessions}) for name in CLASSES
    ]
    course = document("CapacityReservation", "course", case["course"])
    text: str = yaml.dump_all([document("Site", "uni", site), *classes, course])
    return text


def part_of(case: Case) -> tuple[Part, str]:
    """The only part, and its timetable."""
    pipeline = Pipeline(sources=[Source("reservations/all.yaml", declarations(case).encode())])
    ((part,),) = [item.parts for item in pipeline.items()]
    assert pipeline.site is not None
    assert not pipeline.has_errors(), pipeline.findings()
    return part, timetable_text(pipeline.site, part.placed, part.occurrences)
