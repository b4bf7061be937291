"""What opens and closes the windows of a reservation: its timetable, and CronJobs, one for each time of day.

This is the same for every backend. The templates are in templates/window/.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from berth.backends.backendinterface import Manifest
from berth.core.labels import OCCURRENCE, RESERVATION, ROLE, TIMETABLE, TITLE
from berth.dates.cronschedules import cron_zone, open_spans
from berth.dates.expansion import Occurrence
from berth.manifests import code, naming
from berth.manifests.placed import Placed, counts_sessions
from berth.schema.values import Cluster, Site

END_GRACE = 600  # seconds after the longest span at which a Job that hangs is ended

# Pods of the Jobs of Berth


# When a node is lost, its pods wait half a minute, not the five minutes of Kubernetes' default.
UNREACHABLE = tuple(
    {
        "key": f"node.kubernetes.io/{condition}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 30,
    }
    for condition in ("not-ready", "unreachable")
)


def pod(cluster: Cluster, plugins: Sequence[str]) -> dict[str, Any]:
    """Return the values that the pods of occurrences and of the sweep share."""
    runtime = cluster.runtime
    return {
        "image": runtime.image or cluster.images.python,
        **_code(cluster, plugins),
        **pull_secrets(cluster),
        "node_selector": runtime.node_selector or {},
        "tolerations": [*(toleration.dump() for toleration in runtime.tolerations or ()), *UNREACHABLE],
        "resources": cluster.job_resources,
        "has_user": not cluster.assigns_users,
        "pod_annotations": runtime.pod_annotations,
        "priority_class": runtime.priority_class_name,
    }


def _code(cluster: Cluster, plugins: Sequence[str]) -> dict[str, Any]:
    """Return the names of the ConfigMaps that a pod mounts as packages, and of its plugins."""
    known: dict[str, Any] = {"plugin_names": " ".join(plugins)}
    if cluster.runtime.image:
        return {**known, "has_code": False, "plugins": [], **dict.fromkeys(code.PACKAGES, "")}
    mounted = [
        {
            "volume": f"plugin-{name}",
            "path": f"/berth/berth/plugins/{name}",
            "config_map": code.code_map(name).name,
        }
        for name in plugins
    ]
    packages = {package: code.code_map(package).name for package in code.PACKAGES}
    return {**known, "has_code": True, "plugins": mounted, **packages}


def briefly_unreachable(own: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the tolerations of a pod with those of a lost node, except where its own decide.

    This is how the API server adds its default of five minutes.
    """
    decided = [one.get("key") for one in own if one.get("effect") in (None, "NoExecute")]
    return [*own, *(one for one in UNREACHABLE if None not in decided and one["key"] not in decided)]


def pull_secrets(cluster: Cluster, more: Sequence[str] = ()) -> dict[str, Any]:
    """Return the pull secrets of the site, and more for other images, each once."""
    return {"pull_secrets": [{"name": name} for name in dict.fromkeys((*cluster.images.pull_secrets, *more))]}


# The timetable, and a CronJob for each time of opening


def shared(site: Site, placed: Placed) -> dict[str, Any]:
    """Return the values that all namespaced objects of a reservation share."""
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


def cronjobs(  # noqa: PLR0913, PLR0917
    site: Site,
    placed: Placed,
    common: dict[str, Any],
    occurrences: Sequence[Occurrence],
    schedules: Sequence[str],
    plugins: Sequence[str],
) -> Iterator[Manifest]:
    """Yield the CronJobs, by local opening time. `plugins`: of the code that their pods use."""
    jobs = {**_jobs(site, placed, occurrences), **pod(placed.cluster, plugins)}
    notes = {**naming.unjudged(placed.cluster.engine), **common["annotations"]}
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
    """Return the values that all CronJobs of the reservation share."""
    reservation, cluster = placed.reservation, placed.cluster
    role = {ROLE: OCCURRENCE}
    longest = max((end - opens for opens, end in open_spans(occurrences)), default=0)
    return {
        "time_zone": cron_zone(reservation.recurrence.zone),
        "suspended": reservation.suspend,
        "deadline": longest,
        "longest": longest + END_GRACE,
        "job_labels": {**naming.of_job(site, reservation), **role},
        "pod_labels": {**naming.of_job_pod(site, cluster), RESERVATION: reservation.name, **role},
        "service_account": naming.single(reservation.name),
        "reservation": reservation.name,
        "timetable": naming.single(reservation.name),
        "occurrence_resources": cluster.occurrence_resources,
        **_renku(site, placed),
    }


def _renku(site: Site, placed: Placed) -> dict[str, Any]:
    """Return the values about the token of Renku's API, which a reservation with a project template has.

    The scalers of its rivals ask without a token: the sessions of projects that are not public count for
    whoever names a template.
    """
    has_class = any(
        resource_class.sessions and resource_class.sessions.source == "renku"
        for resource_class in placed.classes
    )
    asks = has_class and counts_sessions(placed) and placed.reservation.sessions.project_template
    secret = site.renku.token_secret if site.renku and asks else None
    return {"renku_secret": secret and secret.name, "renku_key": secret and secret.key}
