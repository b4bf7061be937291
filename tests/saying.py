"""Problems as lines that a test can compare: `B012 spec.interval`, or with their sentences.

Declarations are plain values here, as they come out of a file; `project` makes whole ones with little to say.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gen.declared import Declared, declared
from gen.finding import Problem
from gen.input.document import Document
from gen.pipeline import Pipeline
from gen.schema import validate
from gen.schema.report import Report

Value = dict[str, Any]


def lines(problems: Iterable[Problem]) -> list[str]:
    """In order; a problem that is told at the key has `@key` after its path."""
    return [
        f"{one.code} {_path(one.path)}{' @key' if one.at_key else ''}: {one.message} {one.fix}"
        for one in problems
    ]


def _path(path: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in path)


def codes(problems: Iterable[Problem]) -> list[str]:
    """Code and place of each, in the order of the text; without the sentences, which may get better."""
    return sorted(f"{one.code} {_path(one.path)}{' @key' if one.at_key else ''}".rstrip() for one in problems)


def ask(hint: Any, value: object) -> tuple[Any, list[str]]:
    """What a model, or an annotated type, makes of a value, and which problems it finds."""
    report = Report("a.yaml", 0)
    made = validate.read_as(hint, value, report)
    return made, codes(report.problems)


def said(hint: Any, value: object) -> list[str]:
    return ask(hint, value)[1]


def document(kind: str, name: object, spec: object, **metadata: object) -> Value:
    return {
        "apiVersion": "berth.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def site(*clusters: Value, **spec: object) -> Value:
    return document("Site", "example", {"clusters": list(clusters) or [{"name": "prod"}], **spec})


def resource_class(name: str = "small", **spec: object) -> Value:
    sessions = {"source": "jupyterhub", "namespaces": ["hub"]}
    return document("ResourceClass", name, {"requests": {"cpu": "1"}, "sessions": sessions, **spec})


def weekly(*schedule: Value, **recurrence: object) -> Value:
    entries = list(schedule) or [{"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}]
    dates = {"startDate": "2026-02-02", "endDate": "2026-02-28"}
    return {"type": "weekly", **dates, "schedule": entries, **recurrence}


def reservation(name: str = "course", **spec: object) -> Value:
    made = {
        "resourceClass": "small",
        "recurrence": weekly(),
        "provisioning": {"placeholderCount": 25, "scaleDownBehavior": "none"},
        **spec,
    }
    return document("CapacityReservation", name, {key: value for key, value in made.items() if value})


def payload(**fields: object) -> Value:
    """The body of a POST to Renku."""
    recurrence = {
        "type": "weekly",
        "start_date": "2026-02-03",
        "end_date": "2026-02-28",
        "schedule": [{"day_of_week": 2, "start_time": "12:15", "end_time": "14:00"}],
    }
    provisioning = {"placeholder_count": 35, "lead_time_minutes": 30, "scale_down_behavior": "none"}
    whole = {"name": "Intro", "resource_class_id": 5, "recurrence": recurrence, "provisioning": provisioning}
    return {**whole, **fields}


def read(*documents: object) -> Declared:
    """Each in a file of its own: a.yaml, b.yaml and so on."""
    files = [Document(f"{chr(97 + i)}.yaml", 0, value) for i, value in enumerate(documents)]  # type: ignore[arg-type] # tests pass what no file has
    return declared(files, "reservations", given=True)


def told(*documents: object) -> list[str]:
    """Which problems reading alone finds, with the file in front."""
    return sorted(f"{one.file} {line}" for one in read(*documents).problems for line in codes([one]))


def run(folder: Path, files: Mapping[str, str]) -> list[str]:
    """All findings of a project with these files, through the whole line, without their count."""
    for name, text in files.items():
        path = folder / "reservations" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    pipeline = Pipeline(str(folder))
    for _ in pipeline.items():
        pass
    return [
        f"{one.file.removeprefix('reservations/')}:{one.line}:{one.column} {one.severity}[{one.code}] "
        f"{one.path}: {one.message} {one.fix}"
        for one in pipeline.findings()
    ]


def places(findings: Iterable[str]) -> list[str]:
    """What `run` answers, without the sentences."""
    return [one.partition(": ")[0] for one in findings]
