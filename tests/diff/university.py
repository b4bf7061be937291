"""A university with many courses that share a calendar and classes, for what a change of these means."""

from pathlib import Path

SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: university}
spec:
  timeZone: Europe/Zurich
  namespace: berth
  engine: argocd
  repository: {url: https://git.example.org/capacity.git}
  clusters:
    - {name: prod, destination: {server: https://kubernetes.default.svc}}
"""
CALENDAR = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: holidays}
spec:
  dates:
    - {from: 2026-04-03, to: 2026-04-12, title: Easter break}
    - {from: 2026-05-14, to: 2026-05-14, title: Ascension Day}
"""
_CLASS = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {{name: {name}}}
spec:
  cluster: prod
  requests: {{cpu: "{cpu}", memory: {memory}Gi}}
  sessions: {{source: jupyterhub, namespaces: [jhub]}}
"""
_COURSE = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {{name: course-{number:04}}}
spec:
  title: Course {number}
  resourceClass: {resource_class}
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-05-29
    schedule:
      - {{dayOfWeek: {day}, startTime: "{hour:02}:15", endTime: "{end:02}:00"}}
    calendars: [holidays]
  provisioning: {{leadTimeMinutes: 30, placeholderCount: {seats}}}
"""
_DAYS = ("mon", "tue", "wed", "thu", "fri")


def write_university(folder: Path, courses: int) -> None:
    """Write a site, a calendar, the classes `small` and `large`, and the courses: one a file."""
    inputs = folder / "reservations"
    inputs.mkdir(parents=True)
    (inputs / "site.yaml").write_text(SITE, "utf-8")
    (inputs / "calendar.yaml").write_text(CALENDAR, "utf-8")
    for name, cpu, memory in (("small", 1, 4), ("large", 4, 16)):
        (inputs / f"{name}.yaml").write_text(_CLASS.format(name=name, cpu=cpu, memory=memory), "utf-8")
    for number in range(courses):
        hour = 8 + number % 9
        course = _COURSE.format(
            number=number,
            resource_class="large" if number % 10 == 0 else "small",
            day=_DAYS[number % 5],
            hour=hour,
            end=hour + 2,
            seats=10 + number % 30,
        )
        (inputs / f"course-{number:04}.yaml").write_text(course, "utf-8")
