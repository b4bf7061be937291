"""Whole files through the whole line: every field at once, places, and all faults of a project in one run."""

from pathlib import Path

from tests.saying import places, run

SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: example-university}
spec:
  berthVersion: 0.1.0
  timeZone: Europe/Zurich
  namespace: berth
  engine: argocd
  repository: {url: https://git.example.org/capacity.git, revision: main, path: .}
  clusters:
    - name: prod
      destination: {server: https://kubernetes.default.svc}
      autoscaler: cluster-autoscaler
      ceilings:
        - {seats: {small: 300}, requests: {cpu: "800", nvidia.com/gpu: "16"}}
      koordinator: {schedulerName: koord-scheduler, allocatePolicy: Restricted}
  priority: -10
  images: {pause: "registry.k8s.io/pause@sha256:DIGEST", python: "python@sha256:DIGEST", pullSecrets: []}
  runtime: {image: "a/berth@sha256:DIGEST", nodeSelector: {}, tolerations: [], resources: {}}
  renku: {url: https://renkulab.io, tokenSecret: {name: renku-token, key: token}}
""".replace("DIGEST", "0" * 64)

CLASS = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec:
  cluster: prod
  renkuId: 5
  requests: {cpu: "1", memory: 4Gi}
  nodeSelector: {}
  tolerations: []
  affinity: {}
  topologySpreadConstraints: []
  podLabels: {}
  sessions:
    source: renku
    namespaces: [renku]
    selector: {matchLabels: {}}
"""

CALENDAR = """\
apiVersion: berth.dev/v1alpha1
kind: Calendar
metadata: {name: university-holidays}
spec: {dates: [2026-04-06, 2026-05-01, {from: 2026-04-03, to: 2026-04-12, title: Easter break}]}
"""

COURSE = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: data-science-101, labels: {}, annotations: {}}
x-contact: {name: Ada, room: 17}
spec:
  title: Data Science 101 - Spring 2026
  resourceClass: small
  recurrence:
    type: weekly
    startDate: 2026-02-02
    endDate: 2026-05-15
    timeZone: Europe/Zurich
    interval: 1
    schedule:
      - {dayOfWeek: 1, startTime: "09:00", endTime: "13:00"}
      - {daysOfWeek: [wed, thu], startTime: "09:00", endTime: "13:00", placeholderCount: 200}
    calendars: [university-holidays]
    except: [2026-04-06, {from: 2026-04-20, to: 2026-04-24}, {date: 2026-05-04, startTime: "09:00"}]
    moved:
      - {date: 2026-05-13, startTime: "09:00", to: {date: 2026-05-15, startTime: "10:00", endTime: "14:00"}}
    extra: [{date: 2026-05-18, startTime: "09:00", endTime: "13:00"}]
  provisioning:
    placeholderCount: 25
    leadTimeMinutes: 30
    scaleDownBehavior: maintain
  sessions:
    namespaces: []
    matchLabels: {}
    matchAnnotations: {}
    projectTemplate: 01JC3CB5426KC7P5STS5X3KSS8
    earlier: count
  backend: {type: placeholder}
  suspend: false
"""
GOOD = {"site.yaml": SITE, "class.yaml": CLASS, "calendar.yaml": CALENDAR, "course.yaml": COURSE}


def test_a_project_that_writes_every_field_is_good(tmp_path: Path) -> None:
    assert run(tmp_path, GOOD) == []


def test_it_is_good_in_one_file_too(tmp_path: Path) -> None:
    assert run(tmp_path, {"all.yml": "---\n".join(GOOD.values())}) == []


def test_times_may_be_written_without_quotes(tmp_path: Path) -> None:
    assert run(tmp_path, {**GOOD, "course.yaml": COURSE.replace('"', "")}) == []


def test_one_run_tells_all_that_is_wrong_everywhere_at_its_place(tmp_path: Path) -> None:
    course = (
        COURSE.replace('{dayOfWeek: 1, startTime: "09:00"', "{dayOfWeek: mo, startTime: 0900")
        .replace("leadTimeMinutes: 30", "leadTimeMinutes: 2000")
        .replace("earlier: count", "earlier: ignored")
        .replace("labels: {}", "labels: {berth.dev/site: x}")
    )
    files = {
        "site.yaml": SITE.replace("argocd", "argo").replace("url: https://r", "uri: https://r"),
        "class.yaml": CLASS.replace("4Gi", "4GB").replace("affinity: {}", "affinity: []"),
        "calendar.yaml": CALENDAR.replace("2026-05-01", "2026-05-32"),
        "course.yaml": course,
        "renku.json": '[{"name": "Intro", "resource_class_id": 5, "recurrence": {"type": "weekly"}}]',
    }

    assert places(run(tmp_path, files)) == [
        "calendar.yaml:4:28 error[B017] spec.dates[1]",
        "class.yaml:7:32 error[B022] spec.requests.memory",
        "class.yaml:10:13 error[B013] spec.affinity",
        'course.yaml:3:45 error[B023] metadata.labels["berth.dev/site"]',
        "course.yaml:15:21 error[B014] spec.recurrence.schedule[0].dayOfWeek",
        "course.yaml:15:36 error[B018] spec.recurrence.schedule[0].startTime",
        "course.yaml:24:22 error[B012] spec.provisioning.leadTimeMinutes",
        "course.yaml:31:14 error[B014] spec.sessions.earlier",
        "renku.json:1:1 error[B069]",
        "site.yaml:8:11 error[B014] spec.engine",
        "site.yaml:20:11 error[B010] spec.renku.uri",
    ]


def test_what_may_be_in_a_file_that_cannot_be_read_is_not_unknown(tmp_path: Path) -> None:
    files = {**GOOD, "class.yaml": CLASS + "    [\n", "calendar.yaml": "a: [\n"}

    codes = [line.split()[1] for line in run(tmp_path, files)]

    assert codes == ["error[B003]", "error[B003]"]
