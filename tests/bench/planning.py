"""What `berth plan` takes for windows of 300 seats and 50 types of machines, against `berth validate` of the
same files in the same run; and how it grows.
"""

import sys
import tempfile
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from berth.machines.instancetypes import ec2_types

from tests.bench.process import Command, Cost, in_turn
from tests.bench.rendering import MEMORY, Row

PLAN: Command = (sys.executable, "-m", "berth", "plan", "--now", "2026-01-01")
VALIDATE: Command = (sys.executable, "-m", "berth", "validate")
_TYPES = 50
_SITE = """\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: bench, annotations: {berth.dev/ignore: "B037: a bench"}}
spec:
  engine: argocd
  clusters: [{name: prod, autoscaler: karpenter, karpenter: {version: "1.14"}}]
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: small}
spec:
  requests: {cpu: "1", memory: 4Gi}
  cloudCapacity: [general]
---
apiVersion: berth.dev/v1alpha1
kind: CloudCapacity
metadata: {name: general}
spec:
  nodeClass:
    role: nodes
    amiSelectorTerms: [{alias: al2023@v20260107}]
    subnetSelectorTerms: [{tags: {site: bench}}]
    securityGroupSelectorTerms: [{tags: {site: bench}}]
  reservations:
    - {id: cr-0123456789abcdef0, instanceType: c5.4xlarge, zone: us-east-1a, count: 4, hourlyPrice: 0.3}
  capacityTypes: [reserved, on-demand]
  requirements:
    - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b, us-east-1c]}
    - {key: node.kubernetes.io/instance-type, operator: In, values: [TYPES]}
"""
_COURSE = """\
---
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: NAME}
spec:
  resourceClass: small
  recurrence:
    type: dates
    dates: [DATES]
    schedule: [{startTime: "START", endTime: "END"}]
  provisioning: {placeholderCount: SEATS, scaleDownBehavior: none}
"""


def rows() -> Iterator[Row]:
    for what, weeks in (("25 a week", 40), ("every one different", 1)):
        few, many = measure(250, weeks), measure(1000, weeks)
        validate, plan = many
        note = f"{plan.seconds * 1000:.0f} ms, {plan.mebibytes:.0f} MiB"
        yield Row(f"plan of 1,000 windows, {what} / validate", plan.seconds / validate.seconds, None, note)
        yield Row(f"plan of 1,000 / of 250, {what}", plan.seconds / few[1].seconds, 5, "")


def measure(number: int, weeks: int, runs: int = 3) -> tuple[Cost, Cost]:
    with tempfile.TemporaryDirectory(prefix="berth-bench-", dir=MEMORY) as folder:
        write(Path(folder), number, weeks)
        validate, plan = in_turn([(VALIDATE, folder), (PLAN, folder)], runs)
        return validate, plan


def write(folder: Path, number: int, weeks: int) -> None:
    """`number` windows, each course once a week for `weeks`; about ten a day, which overlap. Courses of one
    date differ in seats, too.
    """
    weeks = min(weeks, number // 25) if weeks > 1 else 1
    parts = [_SITE.replace("TYPES", ", ".join(sorted(ec2_types())[:_TYPES]))]
    for course in range(number // weeks):
        first = date(2026, 2, 2) + timedelta(days=course % 5 if weeks > 1 else course // 10)
        dates = ", ".join(str(first + timedelta(weeks=week)) for week in range(weeks))
        hour = 7 + course // (5 if weeks > 1 else 1) % 10
        values = {
            "NAME": f"course-{course}",
            "DATES": dates,
            "START": f"{hour:02}:00",
            "END": f"{hour + 3:02}:00",
            "SEATS": str(300 if weeks > 1 else 250 + course * 37 % 101),
        }
        text = _COURSE
        for key, value in values.items():
            text = text.replace(key, value)
        parts.append(text)
    (folder / "reservations").mkdir()
    (folder / "reservations" / "all.yaml").write_text("".join(parts), "utf-8")
