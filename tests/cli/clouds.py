"""The small project with cloud capacity: cluster prod has two reserved machines, and buys the rest."""

from pathlib import Path

from tests.cli import project

SITE = project.SITE.replace(
    "    - name: prod\n",
    "    - {name: prod, autoscaler: karpenter, karpenter: {version: '1.14'}}\n",
)
STATIC = SITE.replace("version: '1.14'", "version: '1.14', gates: {StaticCapacity: true}")
CLASSES = project.CLASSES.replace("4Gi}\n", "4Gi}\n  cloudCapacity: [general]\n", 1)
CLOUD = """\
apiVersion: berth.dev/v1alpha1
kind: CloudCapacity
metadata: {name: general}
spec:
  cluster: prod
  nodeClass:
    role: KarpenterNodeRole
    amiSelectorTerms: [{alias: al2023@v20260107}]
    subnetSelectorTerms: [{tags: {karpenter.sh/discovery: uni}}]
    securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: uni}}]
  reservations:
    - id: cr-0123456789abcdef0
      instanceType: m5.2xlarge
      zone: us-east-1a
      count: 2
      from: 2026-02-01T00:00:00Z
      until: 2026-03-01T00:00:00Z
      hourlyPrice: 0.3
  capacityTypes: [reserved, on-demand]
  requirements:
    - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.2xlarge]}
"""
EXAM = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: exam}
spec:
  resourceClass: small
  backend: {type: nodePool}
  recurrence:
    type: dates
    dates: [2026-02-12]
    schedule: [{startTime: "09:00", endTime: "12:00"}]
  provisioning: {nodeCount: 5}
"""


BLOCK = (
    CLOUD.replace("[reserved, on-demand]", "[reserved]")
    .replace("      count: 2\n", "      count: 2\n      type: capacity-block\n")
    .replace("from: 2026-02-01T00:00:00Z", "from: 2026-02-02T11:30:00Z")
    .replace("until: 2026-03-01T00:00:00Z", "until: 2026-02-04T11:30:00Z")
)
OF_BLOCK = """\
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: sprint}
spec:
  resourceClass: small
  recurrence: {type: capacity, cloudCapacity: general, timeZone: Europe/Zurich}
  provisioning: {placeholderCount: 4, scaleDownBehavior: none}
"""


def write(folder: Path, **changes: str | None) -> Path:
    """`site` is STATIC where there is an EXAM."""
    return project.write(folder, **{"site": SITE, "classes": CLASSES, "cloud": CLOUD, **changes})


def write_block(folder: Path, **changes: str | None) -> Path:
    """Write a Capacity Block, and only one reservation, which has its dates."""
    alone = {"classes": CLASSES.partition("---")[0], "course": None, "night": None, "rest": None}
    return write(folder, **{**alone, "cloud": BLOCK, "sprint": OF_BLOCK, **changes})
