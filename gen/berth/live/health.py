"""Checks of Berth's own objects in a cluster: code, sweep, Koordinator, Jobs, pods and permissions. Pure."""

from collections.abc import Collection, Iterable, Iterator

from berth.core import labels
from berth.core.jsonvalues import instant_text
from berth.findings import LiveFinding
from berth.live.clusterfacts import ClusterFacts, ClusterLocation, LiveCronJob, LiveJob, LivePod
from berth.live.grants import missing_grants
from berth.live.poolstate import ClusterState
from berth.live.sync import apply_hint
from berth.manifests import naming

OVERDUE = 600  # seconds without a success of a sweep that comes every 300
OFTEN = 3  # failures of one container or Job's pods, from which on it is trouble


def find_sweep(facts: ClusterFacts) -> LiveCronJob | None:
    """Return the CronJob of the sweep."""
    named = (each for each in facts.cronjobs if each.role == labels.SWEEP or each.name == naming.SWEEP)
    return next(named, None)


def sweep_works(facts: ClusterFacts, now: int) -> bool:
    """Return whether the sweep has run recently."""
    sweep = find_sweep(facts)
    if sweep is None or sweep.suspended or sweep_trouble(facts):
        return False
    return now < _last_good(sweep) + OVERDUE


def sweep_trouble(facts: ClusterFacts) -> str:
    """Return why the sweep cannot run, or why its last run failed; empty if it has run, or may run."""
    sweep = find_sweep(facts)
    if sweep is None:
        return ""
    jobs = [job for job in facts.jobs if job.role == labels.SWEEP]
    if why := creation_trouble(facts, jobs, [sweep]):
        return why
    for pod in sorted(pod for pod in facts.pods if pod.role == labels.SWEEP):
        if pod.phase != "Failed" and pod.trouble and not pod.trouble.lacks_node:
            return f"its pod {pod.name} cannot run: {pod.trouble.sentence}"
    last = max((job for job in jobs if job.is_over), key=lambda job: job.created, default=None)
    if last is not None and last.failure is not None and sweep.last_success <= last.created:
        return f"its run {last.name} has failed: {last.failure.sentence}"
    return ""


def creation_trouble(
    facts: ClusterFacts, jobs: Collection[LiveJob], cronjobs: Iterable[LiveCronJob], since: int = 0
) -> str:
    """Return why the newest of these Jobs has no pod, or why a CronJob could not make one since then.

    Empty if nothing is known to be refused. The API server refuses a pod by a quota, a LimitRange or an
    admission policy.
    """
    newest = max(jobs, key=lambda job: job.created, default=None)
    if newest is not None and not newest.is_over and not newest.active:
        refusal = facts.refusals.get(("Job", newest.name))
        if refusal:
            return f"its Job {newest.name} cannot make its pod: {refusal[0]}."
    for cronjob in cronjobs:
        message, at = facts.refusals.get(("CronJob", cronjob.name), ("", 0))
        known = max(cronjob.last_success, newest.created if newest else 0, since)
        if known < at:
            return f"its CronJob {cronjob.name} cannot make its Job: {message}."
    return ""


def _last_good(cronjob: LiveCronJob) -> int:
    return max(cronjob.last_success, cronjob.created)


def check_cluster(snapshot: ClusterState, code: Collection[str]) -> Iterator[LiveFinding]:
    """Check what a cluster has once.

    `code` are the names of the ConfigMaps with the in-cluster code of this version; none if an image has it.
    """
    facts = snapshot.facts
    if nothing := nothing_applied(snapshot):
        yield nothing
        return
    folder = f"Apply rendered/clusters/{snapshot.place.cluster}"
    if code and not facts.code:
        message = "the ConfigMaps with the in-cluster code are missing: no pod of Berth can start."
        yield snapshot.place.finding("S022", message, f"{folder}/runtime.yaml.")
    elif not facts.code.issuperset(code):
        message = "the in-cluster code differs from this version of Berth."
        yield snapshot.place.finding("S022", message, "Sync, or run the version of Berth that rendered it.")
    yield from _check_sweep(snapshot, f"{folder}/base.yaml.")


def check_koordinator(snapshot: ClusterState) -> Iterator[LiveFinding]:
    """Report what keeps Koordinator from holding slots."""
    place = snapshot.place
    if refused := snapshot.facts.slots_refused:
        message = f"the Reservations of Koordinator cannot be listed: {refused}."
        fix = "Ask for permission to list reservations.scheduling.koordinator.sh in the whole cluster."
        if refused.status == 404:
            fix = "Install Koordinator, or remove koordinator from the cluster in the Site."
        yield snapshot.place.finding("S060", message, fix)
    for name, why in snapshot.facts.unread.items():
        message = f"{snapshot.scheduler} cannot read the Reservation {name}, and so none at all: {why}."
        delete = place.kubectl(f"delete reservations.scheduling.koordinator.sh {name}", namespaced=False)
        yield snapshot.place.finding("S060", message, f"Fix or delete it: {delete}")


def check_namespaces(snapshot: ClusterState) -> Iterator[LiveFinding]:
    """Report namespaces in which objects of the site are left, such as after a change of the namespace."""
    for namespace, counts in sorted(snapshot.facts.by_namespace.items()):
        if namespace not in {cluster.namespace for cluster in snapshot.site.clusters}:
            number = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in sorted(counts.items()))
            home = snapshot.place.namespace
            message = (
                f"objects of the site are also in the namespace {namespace} ({number}), and git has {home}: "
                "they open windows and hold seats there."
            )
            delete = snapshot.place._replace(namespace=namespace).kubectl(
                "delete cronjobs,jobs,deployments,configmaps,roles,rolebindings,serviceaccounts "
                f"--selector={labels.SITE}={snapshot.site.name}"
            )
            fix = f"If nothing prunes them, delete them: {delete}"
            yield snapshot.place.finding("S023", message, fix)


def other_sites(place: ClusterLocation, sites: Collection[str]) -> LiveFinding:
    """Report that other sites have the same namespace."""
    names = " and ".join(sites)
    message = (
        f"the namespace {place.namespace} is also that of the site {names}: both have a sweep and code of "
        "the same names, and take them from each other."
    )
    fix = "Give one of the sites a namespace of its own: namespace of its clusters."
    return place.finding("S086", message, fix)


def check_foreign(snapshot: ClusterState) -> Iterator[LiveFinding]:
    """Report what others have in the namespace that looks like an object of the site."""
    facts, place = snapshot.facts, snapshot.place
    if facts.other_sites:
        yield other_sites(place, facts.other_sites)
    for config_map in facts.ignored:
        message = (
            f"the ConfigMap {config_map.name} is not the {config_map.role} of {config_map.reservation}, as "
            "its labels say: it is ignored."
        )
        delete = place.kubectl(f"delete configmap/{config_map.name}")
        fix = f"Find out who wrote it, then delete it: {delete}"
        yield snapshot.place.finding("S024", message, fix)
    for pool in facts.pools:
        if not pool.reservation:
            message = (
                f"the Deployment {pool.name} lacks the label {labels.RESERVATION}; no timetable names it."
            )
            fix = f"Find out who wrote it: {place.kubectl(f'get deployment/{pool.name} --output=yaml')}"
            yield snapshot.place.finding("S022", message, fix)


def check_labels(snapshot: ClusterState, reservation: str) -> Iterator[LiveFinding]:
    """Report pools whose label does not name the reservation whose timetable names them."""
    for pool in snapshot.facts.pools:
        if pool.reservation == reservation and pool.is_mislabeled:
            ours = f"{labels.SITE}={snapshot.site.name} {labels.RESERVATION}={reservation}"
            message = f"its Deployment {pool.name} lacks the labels {ours}: the sweep does not see it."
            label = snapshot.place.kubectl(f"label deployment/{pool.name} {ours} --overwrite")
            yield snapshot.place.finding("S022", message, f"Write it again: {label}", reservation)


def nothing_applied(snapshot: ClusterState) -> LiveFinding | None:
    """Return a single finding if the cluster has no object of the site."""
    place, facts = snapshot.place, snapshot.facts
    if facts.timetables or facts.pools or facts.cronjobs or facts.code:
        return None
    message = f"no object of the site {snapshot.site.name} is in the namespace {place.namespace}."
    return snapshot.place.finding(
        "S003", message, f"Apply rendered/clusters/{place.cluster}, or name its context."
    )


def _check_sweep(snapshot: ClusterState, apply: str) -> Iterator[LiveFinding]:
    sweep, place = find_sweep(snapshot.facts), snapshot.place
    if sweep is None:
        message = f"the CronJob {naming.SWEEP} is missing: nothing repairs what a Job misses."
        yield snapshot.place.finding("S014", message, apply)
    elif sweep.suspended:
        patch = place.kubectl(f'patch cronjob/{sweep.name} --patch=\'{{"spec":{{"suspend":false}}}}\'')
        yield snapshot.place.finding("S014", f"the CronJob {sweep.name} is suspended.", f"Resume it: {patch}")
    elif trouble := sweep_trouble(snapshot.facts):
        message = f"the sweep does not run, so nothing repairs what a Job misses: {trouble}"
        see = place.kubectl(f"describe jobs,pods --selector={labels.ROLE}={labels.SWEEP}")
        yield snapshot.place.finding("S015", message, f"See {see}")
    elif snapshot.now >= _last_good(sweep) + OVERDUE:
        last = f"since {instant_text(sweep.last_success)}" if sweep.last_success else "yet"
        logs = place.kubectl(f"logs --selector={labels.ROLE}={labels.SWEEP} --tail=20")
        yield snapshot.place.finding(
            "S014", f"no run of {sweep.name} has succeeded {last}.", f"Read its log: {logs}"
        )


def check_jobs(
    snapshot: ClusterState, subject: str, pods: Iterable[LivePod], jobs: Iterable[LiveJob]
) -> Iterator[LiveFinding]:
    """Check the Jobs and pods of a reservation, or of the sweep (`subject` is empty)."""
    ordered = sorted(pods)
    for pod in ordered:
        if pod.phase != "Failed" and (pod.trouble or pod.restarts >= OFTEN):
            yield _pod_finding(snapshot, subject, pod)
            break  # the others say the same
    failed = [pod for pod in ordered if pod.phase == "Failed"]
    if len(failed) >= OFTEN:
        logs = snapshot.place.kubectl(f"logs {failed[-1].name} --all-containers --tail=20")
        message = f"{len(failed)} of its pods have failed, the last is {failed[-1].name}."
        yield snapshot.place.finding("S050", message, f"Read its log: {logs}", subject)
    for job in jobs:
        if job.failure is not None:
            message = f"its Job {job.name} has failed: {job.failure.sentence}"
            see = snapshot.place.kubectl(f"describe job/{job.name}")
            fix = f"The sweep creates a new one. See why: {see}"
            yield snapshot.place.finding("S050", message, fix, subject)


def _pod_finding(snapshot: ClusterState, subject: str, pod: LivePod) -> LiveFinding:
    message = f"its pod {pod.name} has restarted {pod.restarts} times."
    if pod.trouble:
        message = f"its pod {pod.name} cannot run: {pod.trouble.sentence}"
    see = snapshot.place.kubectl(f"describe pod/{pod.name}")
    return snapshot.place.finding("S050", message, f"See {see}", subject)


def check_grants(snapshot: ClusterState, reservation: str, *, is_needed: bool) -> Iterator[LiveFinding]:
    """Report permissions that git grants to a reservation, or to the sweep (empty), and the cluster does not.

    `is_needed`: something is open, or opens before anybody can correct it, and the cluster has what git says.
    """
    home, cluster = snapshot.place.namespace, snapshot.place.cluster
    granted = [grant for grant in snapshot.git.grants if grant.reservation == reservation]
    for grant, text in missing_grants(granted, snapshot.facts.grants, home):
        code, message = "S073" if is_needed else "S022", f"{text}."
        fix = f"Apply rendered/clusters/{cluster}/base.yaml."
        if reservation:
            fix = apply_hint(snapshot, reservation)
        if grant.namespace != home and not any(access.verb == "patch" for access in grant.access):
            code = "S085"  # the watches of pods may outlive the permission for minutes
            message = (
                f"its sessions cannot be read: {text}. New ones do not count; ten minutes later its pools "
                "hold their full count."
            )
            fix = f"Apply rendered/clusters/{cluster} again: base.yaml and the file of {reservation}."
        if grant.namespace in snapshot.facts.grants.missing:
            fix = f"Make the namespace {grant.namespace}, then apply again."
        yield snapshot.place.finding(code, message, fix, reservation)
