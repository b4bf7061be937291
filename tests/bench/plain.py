"""A plain script that makes the same objects as Berth: `python -m tests.bench.plain INPUT OUTPUT`.

It is what an engineer writes in a few days with pydantic, PyYAML and jinja2, for the one kind of course that
`workload` has: no findings, no places, no owned files, no quoting rule beyond JSON's. A test compares its
objects with those of Berth.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import yaml
from jinja2 import Environment, StrictUndefined
from pydantic import BaseModel, ConfigDict, TypeAdapter

TEMPLATES = Path(__file__).with_name("plain_templates")
PACKAGE = Path(__file__).parents[2] / "gen" / "berth"
PYTHON = "python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Metadata(_Model):
    name: str


class _Entry(_Model):
    dayOfWeek: int  # noqa: N815 - as in the file
    startTime: time  # noqa: N815
    endTime: time  # noqa: N815


class _Recurrence(_Model):
    type: Literal["weekly"]
    startDate: date  # noqa: N815
    endDate: date  # noqa: N815
    schedule: tuple[_Entry, ...]
    calendars: tuple[str, ...] = ()
    excepted: tuple[date, ...] = ()


class _Provisioning(_Model):
    placeholderCount: int  # noqa: N815
    leadTimeMinutes: int = 30  # noqa: N815
    scaleDownBehavior: Literal["maintain", "reduce", "none"] = "maintain"  # noqa: N815


class _Sessions(_Model):
    matchLabels: dict[str, str] = {}  # noqa: N815


class _Spec(_Model):
    title: str
    resourceClass: str  # noqa: N815
    recurrence: _Recurrence
    provisioning: _Provisioning
    sessions: _Sessions = _Sessions()


class _Course(_Model):
    apiVersion: str  # noqa: N815
    kind: Literal["CapacityReservation"]
    metadata: _Metadata
    spec: _Spec


def _instants(course: _Course, off: set[date], zone: ZoneInfo) -> list[dict[str, str]]:
    """The occurrences, by start."""
    recurrence, lead = course.spec.recurrence, timedelta(minutes=course.spec.provisioning.leadTimeMinutes)
    found = []
    day = recurrence.startDate
    while day <= recurrence.endDate:
        for entry in recurrence.schedule:
            if entry.dayOfWeek == day.isoweekday() and day not in off:
                start = datetime.combine(day, entry.startTime, zone).astimezone(UTC)
                end = datetime.combine(day, entry.endTime, zone).astimezone(UTC)
                found.append(
                    {
                        "id": f"{course.metadata.name}/{day}T{entry.startTime:%H:%M}",
                        "open": f"{start - lead:%Y-%m-%dT%H:%M:%SZ}",
                        "start": f"{start:%Y-%m-%dT%H:%M:%SZ}",
                        "end": f"{end:%Y-%m-%dT%H:%M:%SZ}",
                    }
                )
        day += timedelta(days=1)
    return sorted(found, key=lambda one: one["start"])


def _schedule(course: _Course) -> str:
    entry, lead = course.spec.recurrence.schedule[0], course.spec.provisioning.leadTimeMinutes
    opens = datetime.combine(date.min, entry.startTime) + timedelta(days=1) - timedelta(minutes=lead)
    days = ",".join(str(one.dayOfWeek) for one in course.spec.recurrence.schedule)
    months = course.spec.recurrence.startDate.month, course.spec.recurrence.endDate.month
    return f"{opens.minute} {opens.hour} * {months[0]}-{months[1]} {days}"


def _deadline(occurrences: list[dict[str, str]]) -> int:
    spans = (datetime.fromisoformat(o["end"]) - datetime.fromisoformat(o["open"]) for o in occurrences)
    return max(int(span.total_seconds()) for span in spans)


def _documents(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*.yaml")):
        yield from yaml.load_all(file.read_text("utf-8"), yaml.CSafeLoader)


def _code() -> list[dict[str, Any]]:
    """Name and files of the two ConfigMaps with the modules that run in the cluster."""
    found = []
    for package in ("core", "runtime"):
        files = {file.name: file.read_text("utf-8") for file in sorted((PACKAGE / package).glob("*.py"))}
        digest = sha256("".join(f"{name}\0{text}\0" for name, text in files.items()).encode()).hexdigest()
        found.append({"name": f"berth-{package}-{digest[:10]}", "files": files})
    return found


def main(project: str, output: str) -> None:
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    template = environment.from_string((TEMPLATES / "course.yaml.j2").read_text("utf-8"))
    adapter = TypeAdapter(_Course)
    classes: dict[str, Any] = {}
    calendars: dict[str, set[date]] = {}
    courses: list[_Course] = []
    for document in _documents(Path(project, "reservations")):
        name = document["metadata"]["name"]
        if document["kind"] == "ResourceClass":
            classes[name] = document["spec"]
        elif document["kind"] == "Calendar":
            calendars[name] = {
                one["from"] + timedelta(days=n)
                for one in document["spec"]["dates"]
                for n in range((one["to"] - one["from"]).days + 1)
            }
        elif document["kind"] == "Site":
            site, spec = name, document["spec"]
            zone = ZoneInfo(spec["timeZone"])
        else:
            recurrence = document["spec"]["recurrence"]
            recurrence["excepted"] = recurrence.pop("except", [])
            courses.append(adapter.validate_python(document))
    folder = Path(output)
    (folder / "reservations").mkdir(parents=True, exist_ok=True)
    shared = {"site": site, "url": spec["repository"]["url"], "image": PYTHON, "code": _code()}
    for file in ("base.yaml", "runtime.yaml", "prod.yaml", "project.yaml"):
        text = environment.from_string((TEMPLATES / f"{file}.j2").read_text("utf-8")).render(shared)
        (folder / file).write_text(text, "utf-8")
    for course in courses:
        off = set(course.spec.recurrence.excepted)
        off.update(*(calendars[name] for name in course.spec.recurrence.calendars))
        occurrences = _instants(course, off, zone)
        text = template.render(
            shared,
            course=course,
            name=course.metadata.name,
            spec=course.spec,
            occurrences=occurrences,
            schedule=_schedule(course),
            deadline=_deadline(occurrences),
            requests=classes[course.spec.resourceClass]["requests"],
            sessions=classes[course.spec.resourceClass]["sessions"],
        )
        (folder / "reservations" / f"{course.metadata.name}.yaml").write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
