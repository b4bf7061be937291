"""What opens and closes the windows of a reservation: the timetable and one CronJob for each time of
opening.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from berth.core.labels import OCCURRENCE, RESERVATION, ROLE, TIMETABLE, TITLE
from berth.dates.cron import cron_zone
from berth.dates.occurrence import Occurrence
from berth.manifests import code, naming
from berth.manifests.backends.base import Manifest
from berth.manifests.placed import Placed
from berth.schema.values import Cluster, Site

# What the pods of all our own Jobs share: their image, where they may run, and with what.


# A node that is gone costs half a minute, not the five minutes that Kubernetes waits by default.
UNREACHABLE = tuple(
    {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 30,
    }
    for condition in ("not-ready", "unreachable")
)
# kube-linter wants every container to have all of them; this is why ours has none.
UNLIMITED = {
    "ignore-check.kube-linter.io/unset-cpu-requirements": "a throttled start would open the window late",
}


def pod(cluster: Cluster) -> dict[str, Any]:
    runtime = cluster.runtime
    node_selector = runtime.node_selector or {}
    return {
        "image": cluster.images.python,
        **pull_secrets(cluster),
        "node_selector": node_selector,
        "has_node_selector": bool(node_selector),
        "tolerations": [*(one.dump() for one in runtime.tolerations or ()), *UNREACHABLE],
        "resources": cluster.job_resources,
    }


def pull_secrets(cluster: Cluster) -> dict[str, Any]:
    secrets = [{"name": name} for name in cluster.images.pull_secrets]
    return {"pull_secrets": secrets, "has_pull_secrets": bool(secrets)}


# What opens and closes the windows of a reservation, whatever holds its seats: the timetable, and a CronJob
# for each time of opening. How the objects look stands in templates/window/.


def shared(site: Site, placed: Placed) -> dict[str, Any]:
    """What all namespaced objects of a reservation have: the name of what it has once, and its metadata."""
    reservation = placed.reservation
    return {
        "name": naming.single(reservation.name),
        "namespace": placed.cluster.namespace,
        "labels": naming.of_reservation(site, reservation),
        "annotations": {
            **naming.untouched(placed.cluster.engine),
            **dict(reservation.annotations),
            TITLE: reservation.title,
        },
    }


def timetable(common: dict[str, Any], text: str) -> Manifest:
    known = {**common, "labels": {**common["labels"], ROLE: TIMETABLE}}
    return Manifest("window/timetable.yaml.j2", {**known, "timetable": text})


def cronjobs(
    site: Site,
    placed: Placed,
    common: dict[str, Any],
    occurrences: Sequence[Occurrence],
    schedules: Sequence[str],
) -> Iterator[Manifest]:
    """By local time of opening."""
    jobs = _jobs(site, placed, occurrences)
    notes = {**UNLIMITED, **naming.unjudged(placed.cluster.engine), **common["annotations"]}
    for number, schedule in enumerate(schedules, start=1):
        yield Manifest(
            "window/cronjob.yaml.j2",
            {
                **common,
                **jobs,
                "name": naming.cronjob(placed.reservation.name, number),
                "annotations": notes,
                "schedule": schedule,
            },
        )


def _jobs(site: Site, placed: Placed, occurrences: Sequence[Occurrence]) -> dict[str, Any]:
    """What all CronJobs of the reservation share."""
    reservation, cluster = placed.reservation, placed.cluster
    role = {ROLE: OCCURRENCE}
    return {
        "time_zone": cron_zone(reservation.recurrence.zone),
        "suspended": reservation.suspend,
        "deadline": max((item.end - item.open for item in occurrences), default=0),
        "job_labels": {**naming.of_reservation(site, reservation), **role},
        "pod_labels": {**naming.of_site(site), RESERVATION: reservation.name, **role},
        "service_account": naming.OCCURRENCE,
        "reservation": reservation.name,
        "timetable": naming.single(reservation.name),
        **pod(cluster),
        "core": naming.CORE,
        "code": _code(placed),
        **_scaler(site, placed),
    }


def _code(placed: Placed) -> list[dict[str, dict[str, str]]]:
    """With that of slots wherever there may be some: the backend may change while a Job runs."""
    maps = [naming.RUNTIME]
    if placed.reservation.behavior != "none":
        maps.append(naming.SCALER_CODE)
    if placed.cluster.koordinator is not None:
        maps.append(naming.KOORDINATOR_CODE)
    return code.sources(*maps)


def _scaler(site: Site, placed: Placed) -> dict[str, Any]:
    """The sidecar that counts sessions. The token of Renku's API is for all reservations of Renku's classes:
    to know that a session is of another one's template, its scaler must look it up too.
    """
    counts = placed.reservation.behavior != "none"
    renku = any(found.sessions and found.sessions.source == "renku" for found in placed.classes)
    has_token = counts and renku and site.renku is not None and bool(site.renku.secret)
    return {
        "has_scaler": counts,
        "has_renku_token": has_token,
        "renku_secret": site.renku.secret if site.renku else "",
        "renku_key": site.renku.secret_key if site.renku else "",
    }
