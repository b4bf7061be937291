"""Backend `placeholder`: capacity is held by low-priority pause pods, opened and closed by Jobs.

Names, labels and texts are put together here; how the objects look stands in templates/placeholder/.
"""

from collections.abc import Sequence
from typing import Any

from gen.backend.base import Manifest
from gen.dates.cronline import cron_zone
from gen.dates.occurrence import Occurrence
from gen.manifest import labels, naming
from gen.model import Cluster, Reservation, ResourceClass, Site
from gen.placed import Placed

TEMPLATES = "placeholder"
UNREACHABLE = (
    {
        "key": "node.kubernetes.io/not-ready",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 30,
    },
    {
        "key": "node.kubernetes.io/unreachable",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 30,
    },
)
# kube-linter wants every container to have all of them; each has its reason here.
UNLIMITED_POOL = {
    "ignore-check.kube-linter.io/unset-cpu-requirements": "a placeholder asks for what its class asks for",
    "ignore-check.kube-linter.io/unset-memory-requirements": "a placeholder asks for what its class asks for",
}
UNLIMITED_JOB = {
    "ignore-check.kube-linter.io/unset-cpu-requirements": "a throttled start would open the window late",
}


def manifests(
    site: Site, placed: Placed, occurrences: Sequence[Occurrence], schedules: Sequence[str], timetable: str
) -> list[Manifest]:
    """Timetable, Deployments, Role, RoleBinding, CronJobs."""
    reservation, cluster = placed.reservation, placed.cluster
    notes = {**dict(reservation.annotations), labels.TITLE: reservation.title}
    common = {
        "name": naming.single(reservation.name),
        "namespace": cluster.namespace,
        "labels": labels.of_reservation(site, reservation),
        "annotations": notes,
    }
    pools = [naming.pool(reservation.name, found.name) for found in placed.classes]
    found = [Manifest(f"{TEMPLATES}/timetable.yaml.j2", {**common, "timetable": timetable})]
    found += [
        Manifest(
            f"{TEMPLATES}/deployment.yaml.j2",
            {
                **common,
                **_pool(site, cluster, reservation, one),
                "name": name,
                "annotations": {**UNLIMITED_POOL, **notes},
            },
        )
        for name, one in zip(pools, placed.classes, strict=True)
    ]
    role = {"timetables": [common["name"]], "deployments": pools}
    found.append(Manifest(f"{TEMPLATES}/role.yaml.j2", {**common, **role}))
    binding = {"service_account": naming.OCCURRENCE}
    found.append(Manifest(f"{TEMPLATES}/rolebinding.yaml.j2", {**common, **binding}))
    job = _job(site, cluster, reservation, occurrences)
    found += [
        Manifest(
            f"{TEMPLATES}/cronjob.yaml.j2",
            {
                **common,
                **job,
                "name": naming.cronjob(reservation.name, number),
                "annotations": {**UNLIMITED_JOB, **notes},
                "schedule": schedule,
            },
        )
        for number, schedule in enumerate(schedules, start=1)
    ]
    return found


def _pool(site: Site, cluster: Cluster, reservation: Reservation, found: ResourceClass) -> dict[str, Any]:
    """A reservation's own labels stay off the pods: a new label would replace them in the middle of a
    class.
    """
    selector = {
        labels.SITE: site.name,
        labels.RESERVATION: reservation.name,
        labels.CLASS: found.name,
    }
    resources = {"requests": dict(found.requests), "limits": dict(found.limits)}
    return {
        "replicas_in_git": cluster.engine != "none",
        "selector": selector,
        "pod_labels": {**labels.of_site(site), **selector, **dict(found.pod_labels)},
        "priority_class": naming.priority_class(site.name, cluster.priority),
        "placement": found.pod,
        "has_placement": bool(found.pod),
        "image": cluster.images.pause,
        **_pull_secrets(cluster),
        "resources": {key: amounts for key, amounts in resources.items() if amounts},
    }


def _job(
    site: Site, cluster: Cluster, reservation: Reservation, occurrences: Sequence[Occurrence]
) -> dict[str, Any]:
    node_selector = cluster.runtime.get("nodeSelector", {})
    return {
        "time_zone": cron_zone(reservation.recurrence.zone),
        "suspended": reservation.suspend,
        "deadline": max((item.end - item.open for item in occurrences), default=0),
        "pod_labels": {**labels.of_site(site), labels.RESERVATION: reservation.name},
        "service_account": naming.OCCURRENCE,
        "node_selector": node_selector,
        "has_node_selector": bool(node_selector),
        "tolerations": [*cluster.runtime.get("tolerations", ()), *UNREACHABLE],
        "image": cluster.images.python,
        **_pull_secrets(cluster),
        "reservation": reservation.name,
        "timetable": naming.single(reservation.name),
        "resources": cluster.runtime["resources"],
        "code": naming.RUNTIME,
    }


def _pull_secrets(cluster: Cluster) -> dict[str, Any]:
    secrets = [{"name": name} for name in cluster.images.pull_secrets]
    return {"pull_secrets": secrets, "has_pull_secrets": bool(secrets)}
