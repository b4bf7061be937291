"""What a cluster's Prometheus and Grafana load: a PrometheusRule, and a ConfigMap with a dashboard."""

from collections.abc import Mapping
from typing import Any

from berth.backends.backendinterface import Manifest
from berth.manifests import naming
from berth.manifests.alerts import alerts_of
from berth.manifests.dashboard import dashboard_text
from berth.schema.values import Cluster, Site

# By which the sidecar of Grafana's chart finds dashboards.
_FOUND = {"grafana_dashboard": "1"}


def manifests(site: Site, cluster: Cluster, leads: Mapping[str, int], *, rehearses: bool) -> list[Manifest]:
    """Return the objects that the site wants in a cluster.

    `leads` are those of its pools of placeholders; `rehearses`: it has reservations with rehearsals.
    """
    found = []
    if cluster.monitoring.prometheus_rule:
        alerts = [one._asdict() for one in alerts_of(site, cluster, leads, rehearses=rehearses)]
        values = {**_common(site, cluster, naming.ALERTS, {}), "group": naming.fit(f"berth-{site.name}")}
        found.append(Manifest("monitoring/prometheusrule.yaml.j2", {**values, "alerts": alerts}))
    if cluster.monitoring.dashboard:
        values = {**_common(site, cluster, naming.DASHBOARD, _FOUND), "file": f"{naming.DASHBOARD}.json"}
        text = dashboard_text(site, cluster)
        found.append(Manifest("monitoring/dashboard.yaml.j2", {**values, "dashboard": text}))
    return found


def _common(site: Site, cluster: Cluster, name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    annotations = naming.untouched(cluster.engine)
    return {
        "name": name,
        "namespace": cluster.namespace,
        "labels": {**naming.of_site(site), **labels, **dict(cluster.monitoring.labels)},
        "annotations": annotations,
        "has_annotations": bool(annotations),
    }
