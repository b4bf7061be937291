"""The input that is measured: a site, its classes, and many ordinary courses, one to a file."""

from pathlib import Path

SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: bench}
spec:
  timeZone: Europe/Zurich
  engine: argocd
  repository: {url: https://git.example.org/capacity.git}
  clusters:
    - name: prod
      ceilings:
        - seats: {small: 1000000}
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec:
  requests: {cpu: "1", memory: 4Gi}
  sessions: {source: jupyterhub, namespaces: [hub]}
---
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: holidays}
spec:
  dates: [{from: 2026-04-03, to: 2026-04-12, title: Easter break}]
"""

COURSE = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata:
  name: course-{number:05}
spec:
  title: Course {number}, Spring 2026
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-05-29
    schedule:
      - {{dayOfWeek: {day}, startTime: "{hour:02}:15", endTime: "{later:02}:00"}}
      - {{dayOfWeek: {other}, startTime: "{hour:02}:15", endTime: "{later:02}:00"}}
    calendars: [holidays]
    except: [2026-05-25]
  provisioning:
    placeholderCount: {count}
    leadTimeMinutes: 30
    scaleDownBehavior: maintain
  sessions:
    matchLabels: {{course: "{number}"}}
"""


def write(folder: Path, number: int) -> None:
    """`number` courses below folder/reservations; every one falls on Mondays, so that the exception hits."""
    where = folder / "reservations"
    where.mkdir(parents=True)
    (where / "site.yaml").write_text(SITE)
    for i in range(number):
        hour = 8 + i % 9
        text = COURSE.format(number=i, day=1, other=2 + i % 4, hour=hour, later=hour + 2, count=10 + i % 40)
        (where / f"course-{i:05}.yaml").write_text(text)
