"""What a cluster's Prometheus and Grafana load: a PrometheusRule, and a ConfigMap with a dashboard.

The dashboard is Grafana's JSON of the panels of dashboard.toml, with the series that the alerts use.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from berth.backends.backendinterface import Manifest
from berth.core.labels import CLASS, RESERVATION
from berth.manifests import naming
from berth.manifests.alerts import Alerts, by_namespace, ceiling_values, metric_label, with_label
from berth.schema.values import Cluster, Site

# By which the sidecar of Grafana's chart finds dashboards.
_FOUND = {"grafana_dashboard": "1"}


def manifests(site: Site, cluster: Cluster, leads: Mapping[str, int], *, rehearses: bool) -> list[Manifest]:
    """Return the objects that the site wants in a cluster.

    `leads` are those of its pools of placeholders; `rehearses`: it has reservations with rehearsals.
    """
    found = []
    if cluster.monitoring.prometheus_rule:
        alerts = [alert._asdict() for alert in Alerts(site, cluster, rehearses=rehearses).all(leads)]
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


def dashboard_text(site: Site, cluster: Cluster) -> str:
    """Return the dashboard as JSON."""
    x = y = height = 0
    placed = []
    for number, panel in enumerate(_panels(site, cluster), start=1):
        if x + panel["width"] > _COLUMNS:
            x, y, height = 0, y + height, 0
        placed.append(_panel_json(number, panel, x, y))
        x, height = x + panel["width"], max(height, panel["height"])
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


def _panels(site: Site, cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Yield the panels, in the order in which they are read, with one for each limit of each ceiling."""
    inside, label = f'namespace="{cluster.namespace}"', metric_label(RESERVATION)
    wanted = f"kube_deployment_spec_replicas{{{inside}}}"
    ready = f"kube_deployment_status_replicas_ready{{{inside}}}"
    values = {
        **by_namespace(cluster.namespace),
        "label": label,
        "class": metric_label(CLASS),
        "wanted": wanted,
        "ready": ready,
        "missing": f"clamp_min({wanted} - on (namespace, deployment) {ready}, 0)",
        "active": with_label(f"kube_job_status_active{{{inside}}}", "job", label, cluster.namespace),
        "classes": with_label(wanted, "deployment", metric_label(CLASS), cluster.namespace),
    }
    limits = [each for ceiling in cluster.ceilings for each in ceiling_values(site, cluster, ceiling)]
    for panel in tomllib.loads(Path(__file__).with_name("dashboard.toml").read_text("utf-8"))["panel"]:
        for more in limits if "%(what)s" in panel["title"] else [{}]:
            known = {**values, **more}
            queries = [(expr % known, legend % known) for expr, legend in panel["queries"]]
            yield {**panel, "title": panel["title"] % known, "queries": queries}


def _panel_json(number: int, panel: Mapping[str, Any], x: int, y: int) -> dict[str, Any]:
    """Return a panel as Grafana reads it. A stat and a bar gauge show the present."""
    is_now = panel["kind"] != "timeseries"
    targets = [
        {
            "refId": chr(ord("A") + place),
            "datasource": _SOURCE,
            "expr": expr,
            "legendFormat": legend or "__auto",
            "instant": is_now,
            "range": not is_now,
        }
        for place, (expr, legend) in enumerate(panel["queries"])
    ]
    return {
        "id": number,
        "type": panel["kind"],
        "title": panel["title"],
        "gridPos": {"x": x, "y": y, "w": panel["width"], "h": panel["height"]},
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.get("unit", "short"), "min": 0}, "overrides": []},
        "options": {"orientation": "horizontal"} if panel["kind"] == "bargauge" else {},
        "targets": targets,
    }
