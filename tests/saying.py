"""Problems as lines that a test can compare: `B012 spec.interval`, without their sentences.

A sentence is compared once, in tests/cases/findings.md. Where a value in it is what a test is about,
`finding` names the value. Declarations are plain values here, as they come out of a file.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from berth.findings import Origin, Problem
from berth.pipeline import Pipeline
from berth.reading.document import Document
from berth.schema import validate
from berth.schema.declared import Declared, declared, read_document
from berth.schema.documentproblems import DocumentProblems

Value = dict[str, Any]


class Line(str):
    """Code and place of a problem. Its text is there for `finding` to look into."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, place: str, text: str) -> "Line":
        made = super().__new__(cls, place)
        made.text = text
        return made

    def __repr__(self) -> str:
        return f"<{self}: {self.text}>"


class _Expected(Line):
    """Equal to each line of that place whose text has all the values, which are the lines of its own text."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Line)
            and str.__eq__(self, other)
            and all(value in other.text for value in self.text.split("\n"))
        )

    def __ne__(self, other: object) -> bool:
        return not self == other


def finding(place: str, *values: object) -> str:
    """A line to compare with: the text of the problem, whatever its words, has to name all the values."""
    return _Expected(place, "\n".join(map(str, values)))


def line(one: Problem, *, file: bool = False) -> Line:
    """A problem that is told at the key has `@key` after its path."""
    parts = [one.file if file else "", one.code, _path(one.path), "@key" if one.at_key else ""]
    return Line(" ".join(filter(None, parts)), f"{one.message} {one.fix}")


def lines(problems: Iterable[Problem], *, files: bool = False) -> list[str]:
    return [line(problem, file=files) for problem in problems]


def _path(path: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in path)


def codes(problems: Iterable[Problem]) -> list[str]:
    """Code and place of each, sorted."""
    return sorted(lines(problems))


def ask(hint: Any, value: object) -> tuple[Any, list[str]]:
    """What a model, or an annotated type, makes of a value, and which problems it finds."""
    report = DocumentProblems(Origin("a.yaml"))
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
    value = {"clusters": list(clusters) or [{"name": "prod"}], "timeZone": "UTC", **spec}
    return document("Site", "example", value)


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
    return declared(map(read_document, files), "reservations", given=True)


def valid(*documents: object) -> Declared:
    """Read documents with nothing wrong in any of them."""
    declared = read(*documents)
    assert declared.problems == []
    return declared


def told(*documents: object) -> list[str]:
    """Which problems reading alone finds, with the file in front; sorted."""
    return sorted(lines(read(*documents).problems, files=True))


def run(folder: Path, files: Mapping[str, str]) -> list[str]:
    """All findings of a project with these files, through the whole line, without their count."""
    for name, text in files.items():
        path = folder / "reservations" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    pipeline = Pipeline(str(folder))
    pipeline.items()
    return [
        Line(
            f"{one.file.removeprefix('reservations/')}:{one.line}:{one.column} {one.severity}[{one.code}] "
            f"{one.path}".rstrip(),
            f"{one.message} {one.fix}",
        )
        for one in pipeline.findings()
    ]


def places(findings: Iterable[str]) -> list[str]:
    """What `run` answers, without the sentences."""
    return [one.partition(": ")[0] for one in findings]
