"""The alerts of a cluster: those of alerts.toml, with the values of the cluster.

Alerts about one reservation need labels of Berth in them, which kube-state-metrics leaves out unless it is
told otherwise; docs/alerts.md has its flag. All others are about the namespace and names.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from berth.core.labels import CLASS, REHEARSAL, RESERVATION, SITE
from berth.dates.moments import named
from berth.dates.zone import DAY, number, resolve
from berth.manifests import naming
from berth.names import REPOSITORY
from berth.plugins.rehearsals.obstacles import IMAGE_PULL_REASONS
from berth.plugins.rehearsals.rehearsalrecord import REHEARSAL_FAILED, REHEARSAL_OPEN
from berth.quantity import NANO, parse
from berth.schema.site import CeilingSpec
from berth.schema.values import Cluster, Site
from berth.version import VERSION

RUNBOOKS = f"https://github.com/{REPOSITORY}/blob/v{VERSION}/docs/alerts.md"
SHORTEST = 5  # minutes in which placeholders that are requested may become ready, whatever the lead
# Reasons of the warnings that the scaler and the sweep write as Events.
WARNINGS = ("SeatsNotReady", "MalformedTimetable", "MalformedOverride", "SweepHasNoJob")
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


class Alerts:
    """The alerts of a cluster. `rehearses`: it has reservations with rehearsals."""

    def __init__(self, site: Site, cluster: Cluster, *, rehearses: bool) -> None:
        self._site, self._cluster, self._rehearses = site, cluster, rehearses
        namespace, label = cluster.namespace, metric_label(RESERVATION)
        inside = f'namespace="{namespace}"'
        seats, jobs = f"kube_deployment_spec_replicas{{{inside}}}", f"kube_job_status_active{{{inside}}}"
        state = f"{inside}, {metric_label(REHEARSAL)}"
        rehearsals = f'max by (namespace, {label}) (kube_configmap_labels{{{state}="%s"}})'
        self._values = {
            **by_namespace(namespace),
            "reservation": label,
            "site": metric_label(SITE),
            "seats": with_label(seats, "deployment", label, namespace),
            "jobs": with_label(jobs, "job", label, namespace),
            "jobs_failed": f'{inside}, condition="true", job_name!~".+-preflight"',
            "waiting": f'{inside}, reason=~"{"|".join(sorted(IMAGE_PULL_REASONS))}"',
            "open_rehearsals": rehearsals % REHEARSAL_OPEN,
            "failed_rehearsals": rehearsals % REHEARSAL_FAILED,
            "failed": f'{state}="{REHEARSAL_FAILED}"',
        }

    def all(self, leads: Mapping[str, int]) -> Iterator[Alert]:
        """Yield all; `leads` are those of its pools of placeholders."""
        events = self._cluster.monitoring.events
        for pools in by_lead(leads):
            yield self._seats_not_ready(pools)
        yield self._alert("BerthWindowNotOpened")
        yield self._alert("BerthSeatsLeftOver")
        if self._rehearses and events:
            counted = {"whose": "involved_object_name"}
            failed = self._alert("BerthRehearsalFailed", counted)
            yield failed._replace(expr=self._events(events, [FAILED_REHEARSAL]))
        elif self._rehearses:
            yield self._alert("BerthRehearsalFailed", {"whose": metric_label(RESERVATION)})
        for name in ("BerthSweepNotRunning", "BerthJobFailing", "BerthImageNotPulled"):
            yield self._alert(name)
        for ceiling in self._cluster.ceilings:
            for known in ceiling_values(self._site, self._cluster, ceiling):
                yield self._alert("BerthAboveCeiling", known, ceiling=f"{known['most']} {known['what']}")
        yield self._alert("BerthLabelsMissing")
        if events and self._cluster.held:
            yield self._alert("BerthNumberSetBack", {"events": self._events(events, [SET_BACK])})
        if events:
            yield self._alert("BerthWarning", {"events": self._events(events, WARNINGS)})

    def _alert(self, name: str, more: Mapping[str, str] = {}, **labels: str) -> Alert:
        rule, values = _rules()[name], {**self._values, **(more or {})}
        expr = rule["expr"] + (rule.get("rehearses", "") if self._rehearses else "")
        where = f"Cluster {self._cluster.name} of site {self._site.name}"
        return Alert(
            name,
            expr % values,
            rule["for"],
            {"severity": rule["severity"], **labels},
            f"{where}: {rule['summary'] % values}",
            f"{self._cluster.monitoring.runbooks or RUNBOOKS}#{name.lower()}",
        )

    def _seats_not_ready(self, pools: PoolLeads) -> Alert:
        minutes = max(pools.minutes - self._site.scaler.ready_minutes, SHORTEST)
        known = {"minutes": str(minutes), "chosen": f"{self._values['in']}{pools.selector}"}
        return self._alert("BerthSeatsNotReady", known, lead=f"{pools.minutes}m")

    def _events(self, metric: str, reasons: Sequence[str]) -> str:
        """Find counts that are larger than a quarter of an hour ago, or were not there then."""
        chosen = f'involved_object_namespace="{self._cluster.namespace}", reason=~"{"|".join(reasons)}"'
        by = "max by (involved_object_kind, involved_object_name, reason)"
        now, before = (f"{metric}{{{chosen}}}{offset}" for offset in ("", " offset 15m"))
        return f"{by} (\n  {now} > ({before} or 0 * {now})\n)"


@cache
def _rules() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("alerts.toml").read_text("utf-8"))


def by_namespace(namespace: str) -> dict[str, str]:
    """Return the conditions in PromQL that select series of a namespace."""
    inside = f'namespace="{namespace}"'
    sweep, others = f'{inside}, cronjob="{naming.SWEEP}"', f'{inside}, cronjob!="{naming.SWEEP}"'
    return {"in": inside, "sweep": sweep, "others": others}


def ceiling_values(site: Site, cluster: Cluster, ceiling: CeilingSpec) -> Iterator[dict[str, str]]:
    """Yield each limit of a ceiling, and what is reserved of it and on which dates, in PromQL.

    Seats of a class are those that are requested, resources those that placeholders request.
    """
    dates = ceiling_dates(ceiling, site.zone)
    inside, label = f'namespace="{cluster.namespace}"', metric_label(CLASS)
    replicas = f"kube_deployment_spec_replicas{{{inside}}}"
    for name, most in ceiling.seats.items():
        labels = f'kube_deployment_labels{{{inside}, {label}="{name}"}}'
        expr = f"sum by (namespace) (\n  {replicas} * on (namespace, deployment) {labels}\n)"
        yield {"what": f"seats of {name}", "reserved": expr, "most": str(most), "dates": dates}
    for name, amount in ceiling.requests.items():
        chosen = f'{inside}, container="placeholder", resource="{_metric_word(name)}"'
        expr = f"sum by (namespace) (\n  kube_pod_container_resource_requests{{{chosen}}}\n)"
        yield {"what": name, "reserved": expr, "most": _plain(amount), "dates": dates}


def _plain(amount: str) -> str:
    """Return a quantity as a number."""
    whole, part = divmod(parse(amount) or 0, NANO)
    return f"{whole}.{part:09}".rstrip("0") if part else str(whole)
