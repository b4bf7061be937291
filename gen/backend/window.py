"""What opens and closes the windows of a reservation, whatever holds its seats: the timetable, and a CronJob
for each time of opening.

How the objects look stands in templates/window/.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from gen.backend import code, job
from gen.backend.base import Manifest
from gen.core.labels import OCCURRENCE, RESERVATION, ROLE, TIMETABLE, TITLE
from gen.dates.cronline import cron_zone
from gen.dates.occurrence import Occurrence
from gen.manifest import labels, naming
from gen.model import Site
from gen.placed import Placed


def shared(site: Site, placed: Placed) -> dict[str, Any]:
    """What all namespaced objects of a reservation have: the name of what it has once, and its metadata."""
    reservation = placed.reservation
    return {
        "name": naming.single(reservation.name),
        "namespace": placed.cluster.namespace,
        "labels": labels.of_reservation(site, reservation),
        "annotations": {
            **labels.untouched(placed.cluster.engine),
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
    notes = {**job.UNLIMITED, **labels.unjudged(placed.cluster.engine), **common["annotations"]}
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
        "job_labels": {**labels.of_reservation(site, reservation), **role},
        "pod_labels": {**labels.of_site(site), RESERVATION: reservation.name, **role},
        "service_account": naming.OCCURRENCE,
        "reservation": reservation.name,
        "timetable": naming.single(reservation.name),
        **job.pod(cluster),
        "core": naming.CORE,
        "code": _code(placed),
        **_scaler(site, placed),
    }


def _code(placed: Placed) -> list[dict[str, dict[str, str]]]:
    """With that of slots wherever there may be some: the backend may change while a Job runs."""
    names = [naming.RUNTIME]
    if placed.reservation.behavior != "none":
        names.append(naming.SCALER_CODE)
    if placed.cluster.koordinator is not None:
        names.append(naming.KOORDINATOR_CODE)
    return code.sources(*names)


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
