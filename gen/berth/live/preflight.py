"""Proves in a cluster, before the day, that the Jobs of Berth can run and scale.

The API server admits what would run without making it (server-side dry run), tells what the account of the
Job may do, and one test Job really runs. Nothing else is written.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from berth import quantity
from berth.core import labels
from berth.core.objectnames import is_timetable
from berth.core.objects import CONFIG_MAP, CRON_JOB, DEPLOYMENT, EVENT, JOB, NODE_POOL, POD, ObjectKind
from berth.core.timetable import TIMETABLE_KEY
from berth.dates.moments import local_text, named
from berth.findings import NOTE, LiveFinding
from berth.live import clusterfacts
from berth.live.client import ClusterClient
from berth.live.clusterfacts import ClusterLocation, LivePod
from berth.live.expected import ExpectedState
from berth.live.health import other_sites
from berth.live.heldnumbers import NOT_FOUND, kind_problem, most_units, no_kind, number_path, number_problem
from berth.live.kubeobject import NODE, ClusterError, KubeObject, list_all, list_or_error, value_at
from berth.live.room import (
    LimitingObject,
    PodLoad,
    Room,
    WindowSteps,
    autoscaler_rooms,
    nodepool_rooms,
    quota_room,
)
from berth.live.seats import most_common_reason
from berth.manifests import naming
from berth.manifests.rbac import Access
from berth.plugins.numbers.fieldpatches import field_patch
from berth.plugins.numbers.foreignnumbers import ForeignNumber
from berth.schema.values import Site

CLAIM_TEMPLATE = ObjectKind("ResourceClaimTemplate", "resource.k8s.io/v1", "resourceclaimtemplates")
QUOTA = ObjectKind("ResourceQuota", "v1", "resourcequotas")
ROLE = "preflight"
SUFFIX = "-preflight"
KEPT_SECONDS = 60  # of a test Job that is over and that nobody has deleted
_POLL = 1.0
_COMPLETE, _FAILED = "is complete", "has failed"
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_QUERY = {"fieldManager": "berth-preflight"}
_DRY_RUN = {**_QUERY, "dryRun": "All"}
# Of a sidecar, which ends with the pod, and of any other container.
_WAIT = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit()); signal.pause()"
_END = "import sys"
_AUTOSCALER = "metadata.name=cluster-autoscaler-status"
_RULES = "quotas, LimitRanges, policies and webhooks of the namespace"


_ADVICE = (
    "Check images and images.pullSecrets of the site, and its runtime.nodeSelector and runtime.tolerations. "
    "Where a node has to come first, wait longer: --timeout."
)


class PreflightClock(NamedTuple):
    """`now` in seconds; it need not be the time of day."""

    now: Callable[[], float]
    sleep: Callable[[float], object]


class PreflightScope(NamedTuple):
    """What to check in a cluster: its reservations with windows, and which of them get a test Job.

    Without any `named` reservation, all are checked, and one test Job runs.
    """

    site: Site
    git: ExpectedState
    named: frozenset[str]
    seconds: int  # for a test Job
    steps: WindowSteps  # of all reservations, named or not
    minute: int  # now, since the epoch

    @property
    def reservations(self) -> list[str]:
        return sorted(name for name in self.git.timetables if not self.named or name in self.named)


class PreflightCheck(NamedTuple):
    """A check and what it found. `reservation` is empty for what all of them need. `seconds`: what a test Job
    took.
    """

    cluster: str
    reservation: str
    what: str
    name: str
    findings: tuple[LiveFinding, ...] = ()
    seconds: int | None = None
    rooms: tuple[Room, ...] = ()

    @property
    def is_passed(self) -> bool:
        return all(finding.severity == NOTE for finding in self.findings)


def object_of(kind: ObjectKind, template: KubeObject, namespace: str, name: str) -> KubeObject:
    """Return an object as controllers make it of a template, with a name that nobody has."""
    metadata = {**(template.get("metadata") or {}), "generateName": f"{name}-", "namespace": namespace}
    metadata.pop("creationTimestamp", None)
    return {"apiVersion": kind.version, "kind": kind.name, "metadata": metadata, "spec": template["spec"]}


def job_of(cronjob: KubeObject) -> KubeObject:
    template, metadata = copy.deepcopy(cronjob["spec"]["jobTemplate"]), cronjob["metadata"]
    return object_of(JOB, template, metadata["namespace"], metadata["name"])


def trial_job(cronjob: KubeObject, seconds: int) -> KubeObject:
    """Return a Job with the pod of the CronJob's Job, whose programs do nothing.

    It is no Job of a reservation, so neither the sweep nor status takes its pod for one that serves. It goes
    by itself, too.
    """
    job = job_of(cronjob)
    del job["metadata"]["generateName"]
    job["metadata"]["name"] = cronjob["metadata"]["name"] + SUFFIX
    for metadata in (job["metadata"], job["spec"]["template"].setdefault("metadata", {})):
        known = dict(metadata.get("labels") or {})
        known.pop(labels.RESERVATION, None)
        metadata["labels"] = {**known, labels.ROLE: ROLE}
    job["spec"] |= {
        "backoffLimit": 0,
        "activeDeadlineSeconds": seconds + 30,
        "ttlSecondsAfterFinished": KEPT_SECONDS,
    }
    pod = job["spec"]["template"]["spec"]
    for container in (*(pod.get("initContainers") or ()), *pod["containers"]):
        is_sidecar = container.get("restartPolicy") == "Always"
        container["command"] = ["python", "-c", _WAIT if is_sidecar else _END]
    return job


class _Limits(NamedTuple):
    """Objects with limits, or a check that says why they are not known."""

    found: list[KubeObject]
    unread: PreflightCheck | None = None


class Preflight:
    """All checks in a cluster. Raises ClusterError if it cannot be read."""

    def __init__(
        self, client: ClusterClient, place: ClusterLocation, scope: PreflightScope, clock: PreflightClock
    ) -> None:
        self._client, self._place, self._scope, self._clock = client, place, scope, clock
        self._access = scope.git.access
        cronjobs = list_all(client.get, CRON_JOB.path(place.namespace), labels.SITE)
        self._cronjobs = [
            each for each in cronjobs if clusterfacts.label(each, labels.SITE) == scope.site.name
        ]
        self._foreign = [cronjob for cronjob in cronjobs if cronjob not in self._cronjobs]
        ours = f"{labels.SITE}={scope.site.name}"
        self._deployments = self._list(DEPLOYMENT, ours)
        self._timetables = {
            name
            for item in self._list(CONFIG_MAP, ours)
            if is_timetable(item["metadata"]["name"], name := clusterfacts.label(item, labels.RESERVATION))
            and value_at(item, "data", TIMETABLE_KEY) is not None
        }

    def _list(self, kind: ObjectKind, selector: str = "", fields: str = "") -> list[KubeObject]:
        """List objects in the Berth namespace, or in the cluster."""
        return list_all(self._client.get, kind.path(self._place.namespace), selector, fields)

    def _tried(
        self, what: str, act: Callable[[], object], refused: Callable[[ClusterError], LiveFinding]
    ) -> list[LiveFinding]:
        """Do what the API server may refuse, or a person may lack the permission for, and report that."""
        try:
            act()
        except ClusterError as error:
            if is_unpermitted(error) or "does not support dry run" in str(error):
                return [self._unchecked(what, error)]
            if not error.status:
                raise
            return [refused(error)]
        return []

    def checks(self) -> Iterator[PreflightCheck]:
        if others := {clusterfacts.label(cronjob, labels.SITE) for cronjob in self._foreign}:
            finding = other_sites(self._place, sorted(others))
            yield self._check("", "namespace", self._place.namespace, [finding])
        yield from self._of_sweep()
        yield from self._of_room()
        runnable = []
        for name in self._scope.reservations:
            checks = list(self._of_reservation(name))
            yield from checks
            if all(check.is_passed for check in checks if check.what == "Job"):
                runnable.append(name)
        chosen = [name for name in runnable if name in self._scope.named]
        for name in chosen if self._scope.named else runnable[:1]:
            yield self._test(name)

    def _of_sweep(self) -> Iterator[PreflightCheck]:
        sweep = next((each for each in self._cronjobs if each["metadata"]["name"] == naming.SWEEP), None)
        if sweep is None:
            yield self._check("", "sweep", naming.SWEEP, [self._missing("CronJob", naming.SWEEP)])
            return
        yield self._check("", "sweep", naming.SWEEP, self._job_findings(sweep))
        yield self._permissions("", _account(sweep), naming.SWEEP)

    def _of_reservation(self, name: str) -> Iterator[PreflightCheck]:
        for number, most in most_units(self._scope.git.timetables[name]):  # also before anything is applied
            yield self._check(name, "number", number.object_text, self._of_number(number, most))
        cronjob = self._cronjob(name)
        if cronjob is None:
            yield self._check(name, "Job", name, [self._missing("CronJob", naming.single(name))])
            return
        yield self._check(name, "Job", cronjob["metadata"]["name"], self._job_findings(cronjob))
        for deployment in self._deployments:
            if clusterfacts.label(deployment, labels.RESERVATION) == name:
                pool = deployment["metadata"]["name"]
                pod = object_of(POD, deployment["spec"]["template"], self._place.namespace, pool)
                findings = self._dry_run(POD, pod, pool)
                findings += self._claim_templates(pod["spec"])
                yield self._check(name, "placeholder", pool, findings)
        if name in self._timetables:
            yield self._permissions(name, _account(cronjob), naming.single(name))
        else:
            missing = self._missing("timetable", naming.single(name))
            yield self._check(name, "permissions", naming.single(name), [missing])

    # room for all seats of the next windows

    def _of_room(self) -> Iterator[PreflightCheck]:
        loads = [*self._loads()]
        quotas = self._limits(QUOTA, self._place.namespace)
        pools = self._limits(NODE_POOL)
        nodes = self._limits(NODE) if pools.found else _Limits([])
        status = self._limits(CONFIG_MAP, "kube-system", _AUTOSCALER)
        for limits in (quotas, pools, nodes, status):
            if limits.unread is not None:
                yield limits.unread
        for quota in quotas.found:
            yield self._room(quota_room(quota, loads, self._scope.minute))
        if nodes.unread is None:
            for room in nodepool_rooms(pools.found, nodes.found, loads, self._scope.minute):
                yield self._room(room)
        for configmap in status.found:
            yield from map(self._room, autoscaler_rooms(configmap))

    def _loads(self) -> Iterator[PodLoad]:
        """Yield the pods of all windows, as the cluster has their templates."""
        for deployment in self._deployments:
            if steps := self._scope.steps.pools.get(deployment["metadata"]["name"]):
                yield PodLoad(steps, deployment["spec"]["template"]["spec"])
        for name, steps in self._scope.steps.jobs.items():
            if cronjob := self._cronjob(name):
                yield PodLoad(steps, cronjob["spec"]["jobTemplate"]["spec"]["template"]["spec"])

    def _limits(self, kind: ObjectKind, namespace: str = "", fields: str = "") -> _Limits:
        found = list_or_error(self._client.get, kind.path(namespace), "", fields)
        if not isinstance(found, ClusterError):
            return _Limits(found)
        if found.status == 404:
            return _Limits([])  # the cluster does not have this kind
        if not found.status:
            raise found
        what = f"{kind.name}s"
        finding = self._unknown_room(f"{what} cannot be listed: {found}")
        return _Limits([], self._check("", "room", what, [finding]))

    def _room(self, limiting_object: LimitingObject) -> PreflightCheck:
        findings = []
        if limiting_object.unknown:
            findings.append(
                self._unknown_room(f"{limiting_object.name} is not compared: {limiting_object.unknown}")
            )
        for room in limiting_object.rooms:
            when = local_text(room.at * 60, named(self._scope.site.zone))
            needed = f"on {when} the windows need {room.text} of {limiting_object.name}"
            if room.is_too_small:
                fix = "Raise the limit, reserve fewer seats, or move a window."
                findings.append(self._place.finding("S078", f"{needed}.", fix))
            elif room.is_taken:
                others = quantity.text(max(0, room.used - room.own))
                fix = "See what else uses it, or raise the limit."
                findings.append(self._place.finding("S079", f"{needed}; others use {others} now.", fix))
        return self._check("", "room", limiting_object.name, findings)._replace(rooms=limiting_object.rooms)

    def _unknown_room(self, message: str) -> LiveFinding:
        fix = "Look yourself whether all seats have room there, or ask for the permission (docs/status.md)."
        return self._place.finding("S004", f"{message}.", fix)

    def _cronjob(self, name: str) -> KubeObject | None:
        cronjobs = [each for each in self._cronjobs if clusterfacts.label(each, labels.RESERVATION) == name]
        return min(cronjobs, key=lambda cronjob: str(cronjob["metadata"]["name"]), default=None)

    # what the API server would admit

    def _job_findings(self, cronjob: KubeObject) -> list[LiveFinding]:
        """Try the Job and its pod: quotas, LimitRanges and policies are about pods."""
        job, name = job_of(cronjob), str(cronjob["metadata"]["name"])
        pod = object_of(POD, job["spec"]["template"], self._place.namespace, name)
        return self._dry_run(JOB, job, name) or self._dry_run(POD, pod, name)

    def _dry_run(self, kind: ObjectKind, body: KubeObject, name: str) -> list[LiveFinding]:
        fix = f"Check the {_RULES}: one of them refuses it."
        return self._tried(
            f"whether {kind.plural} of {name} are admitted",
            lambda: self._client.create(kind.path(self._place.namespace), body, _DRY_RUN),
            lambda error: self._place.finding(
                "S052", f"the API server refuses a {kind.name} of {name}: {error}.", fix
            ),
        )

    def _claim_templates(self, spec: KubeObject) -> list[LiveFinding]:
        """Look for the templates of a pod's device claims: the API server admits a pod without them."""
        claims = spec.get("resourceClaims") or ()
        names = {str(name) for claim in claims if (name := claim.get("resourceClaimTemplateName"))}
        path = CLAIM_TEMPLATE.path(self._place.namespace)
        found = list_or_error(self._client.get, path) if names else []
        if isinstance(found, ClusterError):
            if is_unpermitted(found):
                return [self._unchecked("whether there are templates of its claims", found)]
            if found.status != 404:  # the cluster does not have this kind
                raise found
            found = []
        missing = sorted(names - {template["metadata"]["name"] for template in found})
        return [self._missing(CLAIM_TEMPLATE.name, name) for name in missing]

    # numbers of somebody else

    def _of_number(self, number: ForeignNumber, most: int) -> list[LiveFinding]:
        """Read the object, and try to write the most that its windows want."""
        version = number.object_kind.version
        try:
            served = self._client.get(f"/{'apis' if '/' in version else 'api'}/{version}", {})
            problem, tree = kind_problem(number, served.get("resources") or ()), None
            if problem is None:
                found = list_all(self._client.get, number_path(number), "", f"metadata.name={number.name}")
                tree = found[0] if found else None
                problem = number_problem(number, tree)
        except ClusterError as error:
            if not error.status:
                raise
            if error.status != NOT_FOUND:
                return [self._unchecked(f"whether {number.object_text} exists", error)]
            problem = no_kind(number)
        if problem:
            return [self._place.finding("S039", f"{problem[0]}.", problem[1])]
        return self._try_number(number, number.value(most), tree or {}) if most else []

    def _try_number(self, number: ForeignNumber, value: object, tree: KubeObject) -> list[LiveFinding]:
        path = number.object_kind.path(number.namespace or "", number.name)
        where = f"{value} at {number.text}"

        def write() -> None:
            if number.object_kind.has_scale:
                self._client.merge(f"{path}/scale", {"spec": {"replicas": value}}, _DRY_RUN)
            else:  # without the version, as a status may change at any time
                self._client.edit(path, field_patch(tree, number.path, value)[1:], _DRY_RUN)

        def refused(error: ClusterError) -> LiveFinding:
            message = f"the API server refuses {where}: {error}."
            return self._place.finding("S039", message, "Correct target, or the number.")

        return self._tried(f"whether {where} is accepted", write, refused)

    # what its account may do

    def _permissions(self, subject: str, account: str, expected: str) -> PreflightCheck:
        """Check that a ServiceAccount may do what git gives to the `expected` one."""
        findings = []
        for access in dict.fromkeys(self._access[expected]):
            try:
                is_allowed = self._is_allowed(account, access)
            except ClusterError as error:
                if not error.status:
                    raise
                findings = [self._unchecked(f"what the ServiceAccount {account} may do", error)]
                break
            if not is_allowed:
                message = f"the ServiceAccount {account} may not {access.describe()}."
                fix = f"Apply rendered/clusters/{self._place.cluster} again, with its Roles and RoleBindings."
                findings.append(self._place.finding("S073", message, fix))
        return self._check(subject, "permissions", account, findings)

    def _is_allowed(self, account: str, access: Access) -> bool:
        namespace = self._place.namespace
        resource, _, subresource = access.resource.partition("/")
        attributes = {
            "namespace": access.namespace,
            "verb": access.verb,
            "group": access.group,
            "resource": resource,
            "subresource": subresource,
            "name": access.name,
        }
        spec = {
            "user": f"system:serviceaccount:{namespace}:{account}",
            "groups": [
                "system:serviceaccounts",
                f"system:serviceaccounts:{namespace}",
                "system:authenticated",
            ],
            "resourceAttributes": {key: value for key, value in attributes.items() if value},
        }
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        return (self._client.create(_REVIEWS, review, {}).get("status") or {}).get("allowed") is True

    # what really runs

    def _test(self, reservation: str) -> PreflightCheck:
        cronjob = self._cronjob(reservation)
        assert cronjob is not None
        job = trial_job(cronjob, self._scope.seconds)
        name, path = job["metadata"]["name"], JOB.path(self._place.namespace)
        began = self._clock.now()
        refused = self._tried(
            "whether a Job runs",
            lambda: self._client.create(path, job, _QUERY),
            lambda error: self._not_made(name, error),
        )
        if refused:
            return self._check(reservation, "test Job", name, refused)
        try:
            findings = self._outcome(name, began + self._scope.seconds)
            seconds = None if findings else round(self._clock.now() - began)
        finally:
            left = self._delete(name)
        return self._check(reservation, "test Job", name, [*findings, *left])._replace(seconds=seconds)

    def _not_made(self, name: str, error: ClusterError) -> LiveFinding:
        if error.status == 409:
            message = f"the Job {name} exists: another preflight runs, or one was interrupted."
            delete = self._place.kubectl(f"delete job/{name}")
            return self._place.finding("S074", message, f"Try again in a few minutes, or: {delete}")
        message = f"the test Job {name} cannot be made: {error}."
        return self._place.finding("S074", message, f"Check the {_RULES}.")

    def _outcome(self, name: str, until: float) -> list[LiveFinding]:
        """Wait for the end of the test Job; return nothing if it succeeds."""
        why, over = "it has no pod", ""
        while not over:
            over, state = self._look(name)
            why = state or why
            if not over and self._clock.now() >= until:
                over = f"has not run within {self._scope.seconds} s"
            elif not over:
                self._clock.sleep(_POLL)
        if over == _COMPLETE:
            return []
        return [self._place.finding("S074", f"the test Job {name} {over}: {why}.", _ADVICE)]

    def _look(self, name: str) -> tuple[str, str]:
        """Return how the Job has ended, empty if it has not, and what keeps it from that."""
        jobs = self._list(JOB, "", f"metadata.name={name}")
        if not jobs:
            return _FAILED, "somebody has deleted it"
        job = clusterfacts.parse_job(jobs[0])
        if job.failure is not None:
            return _FAILED, job.failure.sentence.removesuffix(".")
        if job.is_over:
            return _COMPLETE, ""
        pods = self._list(POD, f"batch.kubernetes.io/job-name={name}")
        if not pods and (refused := self._refusal(name)):
            return _FAILED, f"its pod cannot be made: {refused}"
        return "", _state_of([clusterfacts.parse_pod(pod) for pod in pods])

    def _refusal(self, job: str) -> str:
        """Return why the Job's pod cannot be made; empty if nobody says so."""
        fields = f"reason=FailedCreate,involvedObject.name={job}"
        events = list_or_error(self._client.get, EVENT.path(self._place.namespace), "", fields)
        return clusterfacts.parse_refusal(events[-1])[0] if isinstance(events, list) and events else ""

    def _delete(self, name: str) -> list[LiveFinding]:
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        try:
            self._client.delete(JOB.path(self._place.namespace, name), options)
        except ClusterError as error:
            if error.status == 404:
                return []
            message = f"the test Job {name} cannot be deleted: {error}."
            fix = f"It goes by itself {KEPT_SECONDS} s after its end. By hand: "
            return [self._place.finding("S074", message, fix + self._place.kubectl(f"delete job/{name}"))]
        return []

    # what is told

    def _missing(self, kind: str, name: str) -> LiveFinding:
        message = f"the {kind} {name} is not in the cluster."
        fix = f"Apply rendered/clusters/{self._place.cluster}, or let the engine sync it."
        if kind == CLAIM_TEMPLATE.name:
            fix = f"{fix} Create it in {self._place.namespace} if the class names it."
        return self._place.finding("S020", message, fix)

    def _unchecked(self, what: str, error: ClusterError) -> LiveFinding:
        fix = "Ask for the permissions of the preflight (docs/status.md), or let an administrator run it."
        return self._place.finding("S001", f"it is not known {what}: {error}.", fix)

    def _check(
        self, reservation: str, what: str, name: str, findings: Sequence[LiveFinding]
    ) -> PreflightCheck:
        about = tuple(finding._replace(subject=reservation) for finding in findings)
        return PreflightCheck(self._place.cluster, reservation, what, name, about)


def _account(cronjob: KubeObject) -> str:
    pod = cronjob["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return str(pod.get("serviceAccountName") or "default")


def is_unpermitted(error: ClusterError) -> bool:
    """Return whether the person lacks a permission. Quotas and policies answer with 403, too."""
    return error.status == 403 and " cannot " in str(error) and " resource " in str(error)


def _state_of(pods: Sequence[LivePod]) -> str:
    """Return what a pod waits for; empty without one."""
    troubles = [pod.trouble for pod in pods if pod.trouble]
    if troubles:
        return most_common_reason(troubles).removesuffix(".")
    return f"its pod is {pods[0].phase or 'new'}" if pods else ""
