"""The small project with an exam for which an autoscaler has more replicas."""

from tests.cli import project

SITE = project.SITE.replace(
    "    - name: prod\n",
    "    - name: prod\n"
    "      held: [{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, namespaces: [shop]}]\n",
)
EXAM = """\
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: api}
spec: {cluster: prod, requests: {cpu: "1"}}
---
apiVersion: berth.dev/v1alpha1
kind: CapacityReservation
metadata: {name: exam}
spec:
  resourceClass: api
  recurrence:
    type: dates
    dates: [2026-02-12]
    schedule: [{startTime: "09:00", endTime: "12:00"}]
  provisioning: {placeholderCount: 40}
  backend:
    type: value
    target:
      apiVersion: autoscaling/v2
      kind: HorizontalPodAutoscaler
      namespace: shop
      name: api
      path: spec.minReplicas
    otherwise: 3
"""

QUOTA_SITE = project.SITE.replace(
    "    - name: prod\n",
    "    - name: prod\n      held: [{apiVersion: karpenter.sh/v1, kind: NodePool}]\n",
)
QUOTA = (
    EXAM[: EXAM.index("    target:")]
    .replace("name: api}", "name: core}")
    .replace("Class: api", "Class: core")
    .replace("placeholderCount: 40", "placeholderCount: 1024")
    + """\
    target: {apiVersion: karpenter.sh/v1, kind: NodePool, name: shared, path: spec.limits.memory}
    unit: Gi
    otherwise: 8Gi
"""
)
"""An exam for which a NodePool of somebody else may have more memory."""

LONGER = (
    EXAM[EXAM.index("---\n") + 4 :]
    .replace("name: exam", "name: longer")
    .replace('endTime: "12:00"', 'endTime: "14:00"')
    .replace("placeholderCount: 40", "placeholderCount: 25")
)
"""Another reservation of the number of EXAM, which is open for longer."""
