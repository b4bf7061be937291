"""A small project for the commands: two clusters, a course with exceptions, a night on both, and a rest."""

from pathlib import Path

SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: uni, annotations: {berth.dev/ignore: "B037: told by hand"}}
spec:
  timeZone: Europe/Zurich
  engine: argocd
  clusters:
    - name: prod
    - {name: lab, engine: none, namespace: seats}
"""
CLASSES = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec:
  cluster: prod
  requests: {cpu: "1", memory: 4Gi}
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: bench}
spec:
  cluster: lab
  requests: {cpu: 250m}
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: holidays}
spec:
  dates: [{from: 2026-02-16, to: 2026-02-16, title: Carnival}]
"""
COURSE = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: course}
spec:
  title: "Zürich, Café | Lab"
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-03-01
    schedule:
      - {dayOfWeek: mon, startTime: "09:00", endTime: "13:00"}
    calendars: [holidays]
    except: [2026-02-09]
    moved: [{date: 2026-02-23, to: {date: 2026-02-24}}]
  provisioning: {placeholderCount: 25, scaleDownBehavior: none}
"""
NIGHT = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: night}
spec:
  recurrence:
    type: dates
    timeZone: America/New_York
    dates: [2026-02-07]
    schedule: [{startTime: "22:00", endTime: "06:00"}]
  provisioning:
    seats:
      - {resourceClass: small, placeholderCount: 2}
      - {resourceClass: bench, placeholderCount: 3}
    leadTimeMinutes: 60
    scaleDownBehavior: none
"""
REST = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: rest}
spec:
  resourceClass: bench
  recurrence:
    type: dates
    dates: [2026-02-03]
    schedule: [{startTime: "10:00", endTime: "10:20"}]
  provisioning: {placeholderCount: 1, leadTimeMinutes: 0, scaleDownBehavior: none}
  suspend: true
"""
EVENING = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: seat}
spec:
  cluster: prod
  requests: {cpu: "1"}
  sessions: {source: pods, namespaces: [jhub]}
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: desk}
spec:
  cluster: lab
  requests: {cpu: "2"}
  sessions: {source: pods, namespaces: [jhub]}
---
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: evening}
spec:
  recurrence:
    type: dates
    dates: [2026-02-07, 2026-02-08]
    schedule:
      - {startTime: "18:00", endTime: "20:00"}
      - {startTime: "20:00", endTime: "21:00"}
      - {startTime: "22:00", endTime: "22:30", seats: [{resourceClass: desk, placeholderCount: 1}]}
  provisioning:
    seats: [{resourceClass: seat, placeholderCount: 4}, {resourceClass: desk, placeholderCount: 3}]
    scaleDownBehavior: reduce
  sessions: {matchLabels: {course: evening}}
"""
FILES = {
    "site.yaml": SITE,
    "classes.yaml": CLASSES,
    "course.yaml": COURSE,
    "night.yaml": NIGHT,
    "rest.yaml": REST,
}
RENDERED = [
    "clusters/lab/base.yaml",
    "clusters/lab/inventory.yaml",
    "clusters/lab/reservations/night.yaml",
    "clusters/lab/reservations/rest.yaml",
    "clusters/lab/runtime.yaml",
    "clusters/prod/base.yaml",
    "clusters/prod/reservations/course.yaml",
    "clusters/prod/reservations/night.yaml",
    "clusters/prod/runtime.yaml",
]


def write(folder: Path, **changes: str | None) -> Path:
    """The project below `folder`. Changed files are named without `.yaml`; None leaves one out."""
    where = folder / "reservations"
    where.mkdir(parents=True, exist_ok=True)
    files: dict[str, str | None] = {**FILES, **{f"{name}.yaml": text for name, text in changes.items()}}
    for name, text in files.items():
        if text is None:
            (where / name).unlink(missing_ok=True)
        else:
            (where / name).write_text(text, "utf-8")
    return folder


def change(folder: Path, name: str, before: str, after: str) -> None:
    """Replace a text of a file, which has it."""
    file = folder / f"reservations/{name}.yaml"
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")


REHEARSAL = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: try}
spec:
  title: Rehearsal of the lab
  rehearses: {name: course, date: 2026-02-02}
  resourceClass: small
  recurrence:
    type: dates
    dates: [{date: 2026-01-26, startTime: "06:00", endTime: "06:30"}]
  provisioning: {placeholderCount: 25, leadTimeMinutes: 0, scaleDownBehavior: none, endsWhenReady: true}
"""


def rehearsed(folder: Path) -> None:
    """Let the first date of the course be rehearsed."""
    (folder / "reservations/try.yaml").write_text(REHEARSAL, "utf-8")
