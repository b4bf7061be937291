"""The alerts of a cluster as PromQL, from series of kube-state-metrics.

Alerts about one reservation need labels of Berth in them, which kube-state-metrics leaves out unless it is
told otherwise; docs/alerts.md has its flag. All others are about the namespace and names.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from berth.core.labels import CLASS, REHEARSAL, RESERVATION, SITE
from berth.dates.moments import named
from berth.dates.zone import DAY, number, resolve
from berth.manifests import naming
from berth.names import REPOSITORY
from berth.plugins.rehearsals.obstacles import IMAGE_PULL_REASONS
from berth.plugins.rehearsals.rehearsalrecord import REHEARSAL_FAILED, REHEARSAL_OPEN
from berth.quantity import NANO, parse
from berth.schema.siteparts import CeilingSpec
from berth.schema.values import Cluster, Site
from berth.version import VERSION

CRITICAL, WARNING = "critical", "warning"
RUNBOOKS = f"https://github.com/{REPOSITORY}/blob/v{VERSION}/docs/alerts.md"
SHORTEST = 5  # minutes in which placeholders that are requested may become ready, whatever the lead
# Reasons of the warnings that the scaler and the sweep write as Events.
WARNINGS = (
    "SeatsNotReady",
    "MalformedTimetable",
    "MalformedOverride",
    "SweepHasNoJob",
)
_FAILED_DAYS = 7  # for which a record that says so is an alert
FAILED_REHEARSAL, SET_BACK = "RehearsalFailed", "NumberSetBack"  # likewise, with alerts of their own


class Alert(NamedTuple):
    """A rule of Prometheus. `hold`: how long `expr` has to be true. Rules of one name have other labels."""

    name: str
    expr: str
    hold: str
    labels: dict[str, str]
    summary: str
    runbook: str


class PoolLeads(NamedTuple):
    """The Deployments with a lead, or all that are not `others`. `minutes`: the lead."""

    minutes: int
    names: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def selector(self) -> str:
        if self.names:
            return f', deployment=~"{"|".join(self.names)}"'
        return f', deployment!~"{"|".join(self.others)}"' if self.others else ""


def by_lead(leads: Mapping[str, int]) -> list[PoolLeads]:
    """Group pools by lead. The most common lead names no pool, so that few changes edit the alerts."""
    if not leads:
        return []
    counts = Counter(leads.values())
    usual = min(counts, key=lambda lead: (-counts[lead], lead))
    others = tuple(sorted(name for name, lead in leads.items() if lead != usual))
    rest = sorted(counts.keys() - {usual})
    return [
        PoolLeads(usual, others=others),
        *(PoolLeads(lead, tuple(name for name in others if leads[name] == lead)) for lead in rest),
    ]


def alerts_of(site: Site, cluster: Cluster, leads: Mapping[str, int], *, rehearses: bool) -> list[Alert]:
    """Return the alerts of a cluster.

    `leads` are those of its pools of placeholders; `rehearses`: it has reservations with rehearsals.
    """
    return list(_Alerts(site, cluster, rehearses=rehearses).all(leads))


def metric_label(key: str) -> str:
    """Return the label of kube-state-metrics for a label of Kubernetes."""
    return f"label_{_metric_word(key)}"


def _metric_word(text: str) -> str:
    """Return a name as kube-state-metrics writes it: of letters, digits and underscores."""
    return "".join(one if one.isalnum() else "_" for one in text)


def ceiling_dates(ceiling: CeilingSpec, zone: str) -> str:
    """Return a condition in PromQL that is true on the dates of a ceiling; empty if it always applies."""
    found = named(zone or "UTC")
    conditions = []
    if ceiling.first is not None:
        conditions.append(f"vector(time()) >= {resolve(found, number(ceiling.first) * DAY)}")
    if ceiling.until is not None:
        conditions.append(f"vector(time()) < {resolve(found, (number(ceiling.until) + 1) * DAY)}")
    return "".join(f"\nand on () {condition}" for condition in conditions)


def with_label(series: str, kind: str, label: str, namespace: str) -> str:
    """Return a series of Deployments or Jobs with a label of Berth. `kind` is `deployment` or `job`."""
    name = "job_name" if kind == "job" else kind
    labels = f'kube_{kind}_labels{{namespace="{namespace}", {label}!=""}}'
    return f"{series} * on (namespace, {name}) group_left ({label}) {labels}"


class _Alerts:
    def __init__(self, site: Site, cluster: Cluster, *, rehearses: bool) -> None:
        self._site, self._cluster, self._rehearses = site, cluster, rehearses
        self._in = f'namespace="{cluster.namespace}"'
        self._sweep = f'{self._in}, cronjob="{naming.SWEEP}"'

    def all(self, leads: Mapping[str, int]) -> Iterator[Alert]:
        yield from (self._seats_not_ready(pool_leads) for pool_leads in by_lead(leads))
        yield self._window_not_opened()
        yield self._seats_left_over()
        if self._rehearses:
            yield self._rehearsal_failed()
        yield self._sweep_not_running()
        yield self._job_failing()
        yield self._image_not_pulled()
        for ceiling in self._cluster.ceilings:
            yield from self._above_ceiling(ceiling)
        yield self._labels_missing()
        if self._cluster.monitoring.events:
            if self._cluster.held:
                yield self._number_set_back(self._cluster.monitoring.events)
            yield self._warning(self._cluster.monitoring.events)

    def _alert(self, name: str, expr: str, hold: str, severity: str, summary: str, **labels: str) -> Alert:
        runbook = f"{self._cluster.monitoring.runbooks or RUNBOOKS}#{name.lower()}"
        where = f"Cluster {self._cluster.name} of site {self._site.name}"
        return Alert(name, expr, hold, {"severity": severity, **labels}, f"{where}: {summary}", runbook)

    def _seats_not_ready(self, pools: PoolLeads) -> Alert:
        """Compare the seats that were requested all the time with the most that were ready of late.

        Seats that were requested a moment ago have as long as those of an occurrence that opens; so have
        those of a Deployment that is new. While a rehearsal is open, its own alert says what is missing.
        """
        minutes = max(pools.minutes - self._site.scaler.ready_minutes, SHORTEST)
        chosen = f"{self._in}{pools.selector}"
        expr = (
            f"min_over_time(kube_deployment_spec_replicas{{{chosen}}}[{minutes}m])\n"
            "- on (namespace, deployment)\n"
            f"max_over_time(kube_deployment_status_replicas_ready{{{chosen}}}[{SHORTEST}m])\n"
            "> 0\n"
            f"and on (namespace, deployment) kube_deployment_spec_replicas{{{chosen}}} offset {minutes}m"
        )
        if self._rehearses:
            expr += f"\nunless on (namespace, deployment) (\n  {self._rehearsing()}\n)"
        summary = (
            f"{{{{ $value }}}} seats of {{{{ $labels.deployment }}}} are not ready, "
            f"{minutes} minutes after they were requested."
        )
        return self._alert("BerthSeatsNotReady", expr, "0s", CRITICAL, summary, lead=f"{pools.minutes}m")

    def _window_not_opened(self) -> Alert:
        """Find CronJobs that are due for six minutes; for no longer than an hour, as a date may be missed."""
        others = f'{self._in}, cronjob!="{naming.SWEEP}"'
        expr = (
            f"(time() - kube_cronjob_next_schedule_time{{{others}}} > 360) < 3600\n"
            f"unless on (namespace, cronjob) kube_cronjob_status_active{{{others}}} > 0\n"
            f"unless on (namespace, cronjob) kube_cronjob_spec_suspend{{{others}}} == 1"
        )
        summary = (
            "CronJob {{ $labels.cronjob }} has not started its Job, {{ $value | humanizeDuration }} late."
        )
        return self._alert("BerthWindowNotOpened", expr, "0s", CRITICAL, summary)

    def _seats_left_over(self) -> Alert:
        label = metric_label(RESERVATION)
        replicas = f"kube_deployment_spec_replicas{{{self._in}}}"
        active = f"kube_job_status_active{{{self._in}}}"
        by, namespace = f"sum by (namespace, {label})", self._cluster.namespace
        expr = (
            f"{by} (\n  {with_label(replicas, 'deployment', label, namespace)}\n) > 0\n"
            f"unless on (namespace, {label})\n"
            f"{by} (\n  {with_label(active, 'job', label, namespace)}\n) > 0"
        )
        whose = f"{{{{ $labels.{label} }}}}"
        summary = f"{{{{ $value }}}} seats of {whose} are requested, and none of its Jobs runs."
        return self._alert("BerthSeatsLeftOver", expr, "10m", WARNING, summary)

    def _rehearsing(self) -> str:
        """Return the Deployments of the reservations of which a rehearsal is open."""
        label, namespace = metric_label(RESERVATION), self._cluster.namespace
        deployments = f'kube_deployment_labels{{namespace="{namespace}", {label}!=""}}'
        rehearsals = self._rehearsals(REHEARSAL_OPEN)
        return f"{deployments}\n  * on (namespace, {label}) group_left () {rehearsals}"

    def _rehearsals(self, state: str) -> str:
        """Return the reservations whose record has a state of rehearsals."""
        chosen = f'{self._in}, {metric_label(REHEARSAL)}="{state}"'
        return f"max by (namespace, {metric_label(RESERVATION)}) (kube_configmap_labels{{{chosen}}})"

    def _rehearsal_failed(self) -> Alert:
        """Find Events where something counts them, or else records that have said so for less than a week.

        Nothing changes the record of a rehearsal that is over.
        """
        label, metric = metric_label(RESERVATION), self._cluster.monitoring.events
        failed, whose = self._rehearsals(REHEARSAL_FAILED), f"{{{{ $labels.{label} }}}}"
        expr = f"{failed}\nunless {failed.removesuffix(')')} offset {_FAILED_DAYS}d)"
        if metric:
            expr, whose = self._events(metric, [FAILED_REHEARSAL]), "{{ $labels.involved_object_name }}"
        summary = f"rehearsal {whose} has failed: not all seats were ready within the lead."
        return self._alert("BerthRehearsalFailed", expr, "0s", WARNING, summary)

    def _sweep_not_running(self) -> Alert:
        """Compare with the creation before the first success; the series miss without the CronJob."""
        expr = (
            "time() - (\n"
            f"  kube_cronjob_status_last_successful_time{{{self._sweep}}}\n"
            f"  or kube_cronjob_created{{{self._sweep}}}\n"
            ") > 600\n"
            f"or absent(kube_cronjob_created{{{self._sweep}}})"
        )
        summary = "the sweep has not succeeded for 15 minutes, or its series are missing."
        return self._alert("BerthSweepNotRunning", expr, "5m", WARNING, summary)

    def _job_failing(self) -> Alert:
        """Find Jobs that failed within an hour, and those whose pods or scaler fail again and again."""
        failed = f'kube_job_failed{{{self._in}, condition="true", job_name!~".+-preflight"}}'
        restarts = f'kube_pod_init_container_status_restarts_total{{{self._in}, container="scaler"}}'
        pods = f'label_replace({restarts}, "job_name", "$1", "pod", "(.+)-[^-]+")'
        expr = (
            "max by (namespace, job_name) (\n"
            f"  ({failed} == 1) unless on (namespace, job_name) ({failed} offset 1h == 1)\n"
            ")\n"
            "or max by (namespace, job_name) (\n"
            f"  changes(kube_job_status_failed{{{self._in}}}[30m]) >= 3\n"
            ")\n"
            f"or max by (namespace, job_name) (\n  changes({pods}[30m:]) >= 3\n)"
        )
        summary = "Job {{ $labels.job_name }} has failed, or its pods fail again and again."
        return self._alert("BerthJobFailing", expr, "0s", WARNING, summary)

    def _image_not_pulled(self) -> Alert:
        """Count waiting containers by pool or Job: names of pods and reasons change with each try."""
        chosen = f'{self._in}, reason=~"{"|".join(sorted(IMAGE_PULL_REASONS))}"'
        waiting = " or ".join(
            f"kube_pod_{kind}_status_waiting_reason{{{chosen}}}" for kind in ("container", "init_container")
        )
        owner = f'label_replace(\n    {waiting},\n    "owner", "$1", "pod", "(.+)-[^-]+-[^-]+"\n  )'
        expr = f"count by (namespace, owner, container) (\n  {owner}\n) > 0"
        summary = "{{ $value }} pods of {{ $labels.owner }} wait for an image that cannot be pulled."
        return self._alert("BerthImageNotPulled", expr, "5m", WARNING, summary)

    def _above_ceiling(self, ceiling: CeilingSpec) -> Iterator[Alert]:
        dates = ceiling_dates(ceiling, self._site.zone)
        for what, expr, most in ceiling_sums(self._cluster, ceiling):
            summary = f"{{{{ $value }}}} {what} are reserved; the ceiling is {most}."
            above = f"{expr} > {most}{dates}"
            yield self._alert("BerthAboveCeiling", above, "5m", WARNING, summary, ceiling=f"{most} {what}")

    def _labels_missing(self) -> Alert:
        label = metric_label(RESERVATION)
        seats, jobs = f"kube_deployment_spec_replicas{{{self._in}}}", f"kube_job_info{{{self._in}}}"
        of_seats = f'kube_deployment_labels{{{self._in}, {label}!=""}}'
        of_jobs = f'kube_job_labels{{{self._in}, {metric_label(SITE)}!=""}}'
        by = "count by (namespace)"
        expr = (
            f"({by} ({seats}) unless on (namespace) {by} ({of_seats}))\n"
            f"or ({by} ({jobs}) unless on (namespace) {by} ({of_jobs}))"
        )
        if self._rehearses:
            records = f'kube_configmap_info{{{self._in}, configmap=~".+-record"}}'
            of_records = f'kube_configmap_labels{{{self._in}, {label}!=""}}'
            expr += f"\nor ({by} ({records}) unless on (namespace) {by} ({of_records}))"
        summary = "kube-state-metrics does not have the labels of Berth; alerts that need them are silent."
        return self._alert("BerthLabelsMissing", expr, "15m", WARNING, summary)

    def _events(self, metric: str, reasons: Sequence[str]) -> str:
        """Find counts that are larger than a quarter of an hour ago, or were not there then."""
        chosen = f'involved_object_namespace="{self._cluster.namespace}", reason=~"{"|".join(reasons)}"'
        by = "max by (involved_object_kind, involved_object_name, reason)"
        now, before = (f"{metric}{{{chosen}}}{offset}" for offset in ("", " offset 15m"))
        return f"{by} (\n  {now} > ({before} or 0 * {now})\n)"

    def _number_set_back(self, metric: str) -> Alert:
        """Find Events alone: no series says what a window wants of somebody else's object."""
        summary = "somebody sets back a number that a window of {{ $labels.involved_object_name }} holds."
        return self._alert("BerthNumberSetBack", self._events(metric, [SET_BACK]), "0s", WARNING, summary)

    def _warning(self, metric: str) -> Alert:
        expr = self._events(metric, WARNINGS)
        subject = "{{ $labels.involved_object_kind }} {{ $labels.involved_object_name }}"
        summary = f"{{{{ $labels.reason }}}} of {subject}."
        return self._alert("BerthWarning", expr, "0s", WARNING, summary)


class CeilingSum(NamedTuple):
    """One limit of a ceiling, and what is reserved of it, in PromQL."""

    what: str
    expr: str
    most: str


def ceiling_sums(cluster: Cluster, ceiling: CeilingSpec) -> Iterator[CeilingSum]:
    """Yield the limits of a ceiling: seats by class as requested, resources as placeholders request them."""
    inside, label = f'namespace="{cluster.namespace}"', metric_label(CLASS)
    replicas = f"kube_deployment_spec_replicas{{{inside}}}"
    for name, most in ceiling.seats.items():
        labels = f'kube_deployment_labels{{{inside}, {label}="{name}"}}'
        expr = f"sum by (namespace) (\n  {replicas} * on (namespace, deployment) {labels}\n)"
        yield CeilingSum(f"seats of {name}", expr, str(most))
    for name, amount in ceiling.requests.items():
        chosen = f'{inside}, container="placeholder", resource="{_metric_word(name)}"'
        expr = f"sum by (namespace) (\n  kube_pod_container_resource_requests{{{chosen}}}\n)"
        yield CeilingSum(name, expr, _plain(amount))


def _plain(amount: str) -> str:
    """Return a quantity as a number."""
    whole, part = divmod(parse(amount) or 0, NANO)
    return f"{whole}.{part:09}".rstrip("0") if part else str(whole)
