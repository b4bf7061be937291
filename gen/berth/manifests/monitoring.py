"""What a cluster's Prometheus and Grafana load: a PrometheusRule, and a ConfigMap with a dashboard.

The dashboard is Grafana's JSON, with the series that the alerts use.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from berth.backends.backendinterface import Manifest
from berth.core.labels import CLASS, RESERVATION
from berth.manifests import naming
from berth.manifests.alerts import alerts_of, ceiling_dates, ceiling_sums, metric_label, with_label
from berth.schema.values import Cluster, Site

# By which the sidecar of Grafana's chart finds dashboards.
_FOUND = {"grafana_dashboard": "1"}


def manifests(site: Site, cluster: Cluster, leads: Mapping[str, int], *, rehearses: bool) -> list[Manifest]:
    """Return the objects that the site wants in a cluster.

    `leads` are those of its pools of placeholders; `rehearses`: it has reservations with rehearsals.
    """
    found = []
    if cluster.monitoring.prometheus_rule:
        alerts = [alert._asdict() for alert in alerts_of(site, cluster, leads, rehearses=rehearses)]
        values = {**_common(site, cluster, naming.ALERTS, {}), "group": naming.fit(f"berth-{site.name}")}
        found.append(Manifest("monitoring/prometheusrule.yaml.j2", {**values, "alerts": alerts}))
    if cluster.monitoring.dashboard:
        values = {**_common(site, cluster, naming.DASHBOARD, _FOUND), "file": f"{naming.DASHBOARD}.json"}
        text = dashboard_text(site, cluster)
        found.append(Manifest("monitoring/dashboard.yaml.j2", {**values, "dashboard": text}))
    return found


def _common(site: Site, cluster: Cluster, name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": cluster.namespace,
        "labels": {**naming.of_site(site), **labels, **cluster.monitoring.labels},
        "annotations": naming.untouched(cluster.engine),
    }


SCHEMA_VERSION = 39  # of Grafana 11; later ones convert it
_COLUMNS = 24
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Query(NamedTuple):
    expr: str
    legend: str


class Panel(NamedTuple):
    """A panel. `kind` is Grafana's type; `width` is of 24 columns."""

    title: str
    kind: str
    queries: tuple[Query, ...]
    width: int
    height: int
    unit: str = "short"


def dashboard_text(site: Site, cluster: Cluster) -> str:
    """Return the dashboard as JSON."""
    x = y = height = 0
    placed = []
    for number, panel in enumerate(panels(site, cluster), start=1):
        if x + panel.width > _COLUMNS:
            x, y, height = 0, y + height, 0
        placed.append(_panel_json(number, panel, x, y))
        x, height = x + panel.width, max(height, panel.height)
    tree = {
        "uid": naming.fit(f"berth-{site.name}-{cluster.name}")[:40],
        "title": f"Berth: {site.name}, {cluster.name}",
        "tags": ["berth"],
        "schemaVersion": SCHEMA_VERSION,
        "timezone": site.zone or "utc",
        "refresh": "1m",
        "time": {"from": "now-12h", "to": "now"},
        "templating": {
            "list": [
                {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
            ]
        },
        "panels": placed,
    }
    return json.dumps(tree, indent=1) + "\n"


def panels(site: Site, cluster: Cluster) -> Iterator[Panel]:
    """Yield the panels, in the order in which they are read."""
    inside = f'namespace="{cluster.namespace}"'
    sweep = f'{inside}, cronjob="{naming.SWEEP}"'
    wanted = f"kube_deployment_spec_replicas{{{inside}}}"
    ready = f"kube_deployment_status_replicas_ready{{{inside}}}"
    missing = f"clamp_min({wanted} - on (namespace, deployment) {ready}, 0)"
    reservation = metric_label(RESERVATION)
    active = with_label(f"kube_job_status_active{{{inside}}}", "job", reservation, cluster.namespace)
    kinds = ("container", "init_container")
    waiting = [f"kube_pod_{kind}_status_waiting_reason{{{inside}}}" for kind in kinds]
    yield Panel("Seats requested", "stat", (Query(f"sum({wanted})", ""),), 5, 4)
    yield Panel("Seats not ready", "stat", (Query(f"sum({missing})", ""),), 5, 4)
    running = f"count(sum by ({reservation}) ({active}) > 0) or vector(0)"
    yield Panel("Reservations with a running Job", "stat", (Query(running, ""),), 5, 4)
    since = f"time() - max(kube_cronjob_status_last_successful_time{{{sweep}}})"
    yield Panel("Since the last sweep", "stat", (Query(since, ""),), 4, 4, "s")
    alerts = 'count(ALERTS{alertname=~"Berth.+", alertstate="firing"}) or vector(0)'
    yield Panel("Alerts", "stat", (Query(alerts, ""),), 5, 4)
    yield Panel(
        "Seats requested and ready, by pool",
        "timeseries",
        (
            Query(f"{wanted} > 0", "{{deployment}} requested"),
            Query(f"{ready} and on (namespace, deployment) {wanted} > 0", "{{deployment}} ready"),
        ),
        24,
        9,
    )
    not_ready = (Query(f"{missing} > 0", "{{deployment}}"),)
    yield Panel("Seats not ready, by pool", "timeseries", not_ready, 12, 8)
    by_class = with_label(wanted, "deployment", metric_label(CLASS), cluster.namespace)
    of_class = (Query(f"sum by ({metric_label(CLASS)}) ({by_class})", f"{{{{{metric_label(CLASS)}}}}}"),)
    yield Panel("Seats requested, by class", "timeseries", of_class, 12, 8)
    yield from _ceilings(site, cluster)
    why = (Query(f"sum by (reason) ({' or '.join(waiting)}) > 0", "{{reason}}"),)
    yield Panel("What pods wait for", "timeseries", why, 12, 8)
    failures = (
        Query(f'sum(kube_job_failed{{{inside}, condition="true"}})', "failed Jobs"),
        Query(f"sum(kube_job_status_failed{{{inside}}})", "failed pods of Jobs"),
    )
    yield Panel("Failures", "timeseries", failures, 12, 8)
    due = f'sort(kube_cronjob_next_schedule_time{{{inside}, cronjob!="{naming.SWEEP}"}} - time())'
    yield Panel("Time until CronJobs open windows", "bargauge", (Query(due, "{{cronjob}}"),), 24, 10, "s")


def _ceilings(site: Site, cluster: Cluster) -> Iterator[Panel]:
    """Yield a panel for what each ceiling limits: what is reserved, and the limit on its dates."""
    for ceiling in cluster.ceilings:
        dates = ceiling_dates(ceiling, site.zone)
        for what, expr, most in ceiling_sums(cluster, ceiling):
            queries = (Query(expr, "reserved"), Query(f"vector({most}){dates}", "ceiling"))
            yield Panel(f"Reserved against the ceiling: {what}", "timeseries", queries, 12, 8)


def _panel_json(number: int, panel: Panel, x: int, y: int) -> dict[str, Any]:
    """Return a panel as Grafana reads it. A stat and a bar gauge show the present."""
    is_now = panel.kind != "timeseries"
    targets = [
        {
            "refId": chr(ord("A") + place),
            "datasource": _SOURCE,
            "expr": query.expr,
            "legendFormat": query.legend or "__auto",
            "instant": is_now,
            "range": not is_now,
        }
        for place, query in enumerate(panel.queries)
    ]
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "gridPos": {"x": x, "y": y, "w": panel.width, "h": panel.height},
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"orientation": "horizontal"} if panel.kind == "bargauge" else {},
        "targets": targets,
    }
