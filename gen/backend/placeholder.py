"""Backend `placeholder`: capacity is held by low-priority pause pods, opened and closed by Jobs.

Names, labels and texts are put together here; how the objects look stands in templates/placeholder/.
"""

from collections.abc import Sequence
from typing import Any

from gen.backend import code, job, rights
from gen.backend.base import Manifest
from gen.dates.cronline import cron_zone
from gen.dates.occurrence import Occurrence
from gen.manifest import labels, naming
from gen.model import Cluster, Reservation, ResourceClass, Site
from gen.placed import Placed
from gen.runtime.labels import CLASS, OCCURRENCE, RESERVATION, ROLE, SITE, TIMETABLE, TITLE

TEMPLATES = "placeholder"
# kube-linter wants every container to have all of them; this is why ours has not.
UNLIMITED_POOL = {
    "ignore-check.kube-linter.io/unset-cpu-requirements": "a placeholder asks for what its class asks for",
    "ignore-check.kube-linter.io/unset-memory-requirements": "a placeholder asks for what its class asks for",
}


def manifests(
    site: Site, placed: Placed, occurrences: Sequence[Occurrence], schedules: Sequence[str], timetable: str
) -> list[Manifest]:
    """Timetable, Deployments, Role, RoleBinding, CronJobs."""
    reservation, cluster = placed.reservation, placed.cluster
    notes = {
        **labels.untouched(cluster.engine),
        **dict(reservation.annotations),
        TITLE: reservation.title,
    }
    common: dict[str, Any] = {
        "name": naming.single(reservation.name),
        "namespace": cluster.namespace,
        "labels": labels.of_reservation(site, reservation),
        "annotations": notes,
    }
    unjudged = labels.unjudged(cluster.engine)
    pools = [naming.pool(reservation.name, found.name) for found in placed.classes]
    known = {**common, "labels": {**common["labels"], ROLE: TIMETABLE}}
    found = [Manifest(f"{TEMPLATES}/timetable.yaml.j2", {**known, "timetable": timetable})]
    found += [
        Manifest(
            f"{TEMPLATES}/deployment.yaml.j2",
            {
                **common,
                **_pool(site, cluster, reservation, one),
                "name": name,
                "annotations": {**UNLIMITED_POOL, **unjudged, **notes},
            },
        )
        for name, one in zip(pools, placed.classes, strict=True)
    ]
    found += rights.granted(common, rights.of_pools(pools), naming.OCCURRENCE, cluster.namespace)
    jobs = _jobs(site, placed, occurrences)
    found += [
        Manifest(
            f"{TEMPLATES}/cronjob.yaml.j2",
            {
                **common,
                **jobs,
                "name": naming.cronjob(reservation.name, number),
                "annotations": {**job.UNLIMITED, **unjudged, **notes},
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
        SITE: site.name,
        RESERVATION: reservation.name,
        CLASS: found.name,
    }
    resources = {"requests": dict(found.requests), "limits": dict(found.limits)}
    return {
        "replicas_in_git": cluster.replicas_in_git,
        "selector": selector,
        "pod_labels": {**labels.of_site(site), **selector, **dict(found.pod_labels)},
        "priority_class": naming.priority_class(site.name, cluster.priority),
        "placement": found.pod,
        "has_placement": bool(found.pod),
        "image": cluster.images.pause,
        **job.pull_secrets(cluster),
        "resources": {key: amounts for key, amounts in resources.items() if amounts},
    }


def _jobs(site: Site, placed: Placed, occurrences: Sequence[Occurrence]) -> dict[str, Any]:
    """What all CronJobs of the reservation share."""
    reservation, cluster = placed.reservation, placed.cluster
    role = {ROLE: OCCURRENCE}
    return {
        "time_zone": cron_zone(reservation.recurrence.zone),
        "suspended": reservation.suspend,
        "deadline": max((item.end - item.open for item in occurrences), default=0),
        "job_labels": {**labels.of_reservation(site, reservation), **role},
        "pod_labels": {**labels.of_site(site), RESERVATION: reservation.name, **role},
        "service_account": naming.OCCURRENCE,
        "reservation": reservation.name,
        "timetable": naming.single(reservation.name),
        **job.pod(cluster),
        **_scaler(site, placed),
    }


def _scaler(site: Site, placed: Placed) -> dict[str, Any]:
    """The sidecar that counts sessions. The token of Renku's API is for all reservations of Renku's classes:
    to know that a session is of another one's template, its scaler must look it up too.
    """
    counts = placed.reservation.behaviour != "none"
    renku = any(found.sessions and found.sessions.source == "renku" for found in placed.classes)
    has_token = counts and renku and site.renku is not None and bool(site.renku.secret)
    return {
        "has_scaler": counts,
        "code": code.sources(naming.RUNTIME, *([naming.SCALER_CODE] if counts else ())),
        "has_renku_token": has_token,
        "renku_secret": site.renku.secret if site.renku else "",
        "renku_key": site.renku.secret_key if site.renku else "",
    }
