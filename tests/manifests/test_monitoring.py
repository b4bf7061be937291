"""The alerts and the dashboard of a cluster. What the alerts do is tested in tests/e2e/test_alerts.py."""

import json
import re
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from berth import cli
from berth.manifests.alerts import PoolLeads, by_lead, ceiling_dates, metric_label
from berth.schema.site import CeilingSpec
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.built import built
from tests.cli import project
from tests.manifests.engines.parts import rendered
from tests.manifests.parts import Object, objects
from tests.manifests.schemas import strict
from tests.outputfolder import files_in

ROOT = Path(__file__).parents[2]
BOTH = "  monitoring: {prometheusRule: true, dashboard: true, labels: {release: kps}}\n"
HELD = "held: [{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, namespaces: [shop]}]"
PAGE = (ROOT / "docs" / "alerts.md").read_text("utf-8")


def found(folder: Path, site: str, *, rehearsed: bool = False) -> dict[str, list[Object]]:
    """The objects of each `monitoring.yaml`, by cluster."""
    project.write(folder, site=site)
    if rehearsed:
        project.rehearsed(folder)
    assert cli.run(["-C", str(folder), "render"]) == 0
    return {
        file.split("/")[1]: objects(text)
        for file, text in files_in(folder / "rendered").items()
        if file.endswith("/monitoring.yaml")
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Object]]:
    return found(tmp_path_factory.mktemp("both"), project.SITE + BOTH)


def rules(objects: list[Object]) -> list[dict[str, Any]]:
    (group,) = objects[0]["spec"]["groups"]
    made: list[dict[str, Any]] = group["rules"]
    return made


def dashboard(objects: list[Object]) -> dict[str, Any]:
    (text,) = objects[-1]["data"].values()
    data: dict[str, Any] = json.loads(text)
    return data


def test_a_site_without_monitoring_gets_no_objects(tmp_path: Path) -> None:
    assert found(tmp_path, project.SITE) == {}


def test_objects_are_in_their_namespace_with_the_selected_labels(
    both: dict[str, list[Object]],
) -> None:
    for cluster, namespace in (("prod", "berth"), ("lab", "seats")):
        rule, board = both[cluster]

        assert (rule["apiVersion"], rule["kind"]) == ("monitoring.coreos.com/v1", "PrometheusRule")
        assert (board["apiVersion"], board["kind"]) == ("v1", "ConfigMap")
        assert [one["metadata"]["name"] for one in both[cluster]] == ["berth-alerts", "berth-dashboard"]
        assert {one["metadata"]["namespace"] for one in both[cluster]} == {namespace}
        assert {one["metadata"]["labels"]["release"] for one in both[cluster]} == {"kps"}
        assert {one["metadata"]["labels"]["berth.dev/site"] for one in both[cluster]} == {"uni"}
        assert board["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_each_object_is_optional_and_a_cluster_overrides_single_fields(tmp_path: Path) -> None:
    site = project.SITE.replace("- name: prod", "- {name: prod, monitoring: {dashboard: false}}")
    site = site.replace("namespace: seats", "namespace: seats, monitoring: {prometheusRule: false}")
    kinds = {
        cluster: [object_["kind"] for object_ in objects]
        for cluster, objects in found(tmp_path, site + BOTH).items()
    }

    assert kinds == {"prod": ["PrometheusRule"], "lab": ["ConfigMap"]}


def test_rules_match_the_schema_of_the_prometheus_operator(both: dict[str, list[Object]]) -> None:
    crd = yaml.safe_load((ROOT / "tests/e2e/crds/prometheusrule.yaml").read_text("utf-8"))
    (version,) = crd["spec"]["versions"]
    schema = strict(version["schema"]["openAPIV3Schema"]["properties"]["spec"])
    schema = json.loads(json.dumps(schema).replace('"x-kubernetes-int-or-string"', '"x-ignored"'))

    for one in both.values():
        Draft202012Validator(schema).validate(one[0]["spec"])


def test_every_rule_has_a_severity_and_a_runbook_on_the_page(tmp_path: Path) -> None:
    told = dict(re.findall(r"^\| \[(\w+)\]\(#\w+\) \| (\w+) \|", PAGE, re.M))
    ceilings = "ceilings: [{seats: {small: 400}, requests: {cpu: 100}}]"
    site = project.SITE.replace("- name: prod", f"- {{name: prod, {ceilings}, {HELD}}}")
    events = BOTH.replace("dashboard", "events: eventrouter_warnings_total, dashboard")
    made = rules(found(tmp_path, site + events, rehearsed=True)["prod"])

    assert told.keys() == set(re.findall(r"^### (Berth\w+)$", PAGE, re.M))
    assert {rule["alert"]: rule["labels"]["severity"] for rule in made} == told
    for rule in made:
        assert rule["annotations"]["runbook_url"].endswith(f"/docs/alerts.md#{rule['alert'].lower()}")


def test_only_a_cluster_with_rehearsals_has_the_rehearsal_alert(tmp_path: Path) -> None:
    """`course` is in `prod`. Others keep their rules as they are."""
    usual = found(tmp_path / "usual", project.SITE + BOTH)
    rehearsed = found(tmp_path / "rehearsed", project.SITE + BOTH, rehearsed=True)
    before, after = (
        {(rule["alert"], *rule["labels"].items()): rule["expr"] for rule in rules(each["prod"])}
        for each in (usual, rehearsed)
    )

    assert rehearsed["lab"] == usual["lab"]
    assert {alert for alert, *_ in after.keys() - before.keys()} == {"BerthRehearsalFailed"}
    assert {key[0] for key, expr in before.items() if after[key] != expr} == {
        "BerthSeatsNotReady",
        "BerthLabelsMissing",
    }
    assert all("kube_configmap" not in expr for expr in before.values())


@pytest.mark.parametrize(
    ("held", "events", "has_alert"),
    [(HELD, "x_total", True), (HELD, "", False), ("", "x_total", False)],
    ids=["held-and-counted", "nobody-counts", "nothing-held"],
)
def test_the_alert_number_set_back_needs_held_numbers_and_event_metrics(
    tmp_path: Path, held: str, events: str, has_alert: bool
) -> None:
    site = project.SITE.replace("- name: prod", f"- {{name: prod, {held}}}")
    monitoring = BOTH.replace("dashboard", f"events: {events}, dashboard") if events else BOTH
    exprs = {rule["alert"]: rule["expr"] for rule in rules(found(tmp_path, site + monitoring)["prod"])}

    assert ("BerthNumberSetBack" in exprs) == has_alert
    if has_alert:
        assert 'reason=~"NumberSetBack"' in exprs["BerthNumberSetBack"]
        assert "NumberSetBack" not in exprs["BerthWarning"]


def test_every_alert_fires_in_a_case() -> None:
    cases = yaml.safe_load((ROOT / "tests/cases/alerts.yaml").read_text("utf-8"))["tests"]
    tried = [one for case in cases for one in case.get("promql_expr_test", [])]
    fires = {re.search(r'alertname="(\w+)"', case["expr"]) for case in tried if case["exp_samples"]}
    alerts = {one["alertname"] for case in cases for one in case.get("alert_rule_test", [])}

    assert {fire[1] for fire in fires if fire} | alerts == {*re.findall(r"^### (Berth\w+)$", PAGE, re.M)}


def test_a_site_may_have_its_own_runbooks(tmp_path: Path) -> None:
    site = project.SITE + BOTH.replace("dashboard", "runbooks: https://wiki.example.org/berth, dashboard")
    urls = {rule["annotations"]["runbook_url"] for rule in rules(found(tmp_path, site)["prod"])}

    assert "https://wiki.example.org/berth#berthseatsnotready" in urls
    assert {url.partition("#")[0] for url in urls} == {"https://wiki.example.org/berth"}


def test_rules_of_the_same_name_differ_in_their_labels(both: dict[str, list[Object]]) -> None:
    for one in both.values():
        keys = [(rule["alert"], *sorted(rule["labels"].items())) for rule in rules(one)]

        assert len(keys) == len({*keys})


def test_the_alert_for_seats_waits_for_the_lead_of_the_pool(both: dict[str, list[Object]]) -> None:
    """`course` has the usual lead of half an hour, `night` an hour; both have pools of small."""
    leads = {
        rule["labels"]["lead"]: rule["expr"]
        for rule in rules(both["prod"])
        if rule["alert"] == "BerthSeatsNotReady"
    }

    assert leads.keys() == {"30m", "60m"}
    assert "[25m]" in leads["30m"]
    assert 'deployment!~"night-small"' in leads["30m"]
    assert "[55m]" in leads["60m"]
    assert 'deployment=~"night-small"' in leads["60m"]


names = st.text("ab-", min_size=1, max_size=6)


@given(st.dictionaries(names, st.sampled_from((0, 15, 30, 45)), min_size=1))
def test_each_pool_is_in_exactly_the_rule_of_its_lead(leads: dict[str, int]) -> None:
    """Prometheus matches whole names."""

    def has(group: PoolLeads, name: str) -> bool:
        _, operator, pattern = re.split(r"(=~|!~)", group.selector, maxsplit=1) if group.selector else "   "
        return not group.selector or bool(re.fullmatch(pattern.strip('"'), name)) == (operator == "=~")

    groups = by_lead(leads)

    assert len({pool_leads.minutes for pool_leads in groups}) == len(groups)
    for name, lead in leads.items():
        assert [pool_leads.minutes for pool_leads in groups if has(pool_leads, name)] == [lead]


def test_a_ceiling_applies_on_the_dates_of_the_site_time_zone() -> None:
    """Zurich is an hour ahead on the first date, and two at the end of the last."""
    day = date(2026, 3, 29)
    ceiling = built(CeilingSpec, {"from": day, "until": day})

    assert ceiling_dates(ceiling, "Europe/Zurich") == (
        "\nand on () vector(time()) >= 1774738800\nand on () vector(time()) < 1774821600"
    )
    assert ceiling_dates(built(CeilingSpec, {}), "Europe/Zurich") == ""


def test_labels_have_the_names_of_kube_state_metrics() -> None:
    assert metric_label("berth.dev/resource-class") == "label_berth_dev_resource_class"


def test_panels_of_the_dashboard_do_not_overlap(both: dict[str, list[Object]]) -> None:
    for one in both.values():
        board = dashboard(one)
        places = [panel["gridPos"] for panel in board["panels"]]

        assert len(board["uid"]) <= 40
        assert all(place["x"] + place["w"] <= 24 for place in places)
        for first, second in combinations(places, 2):
            beside = first["x"] + first["w"] <= second["x"] or second["x"] + second["w"] <= first["x"]
            below = first["y"] + first["h"] <= second["y"] or second["y"] + second["h"] <= first["y"]
            assert beside or below, (first, second)


def test_every_query_selects_only_the_namespace_of_its_cluster(both: dict[str, list[Object]]) -> None:
    for cluster, namespace in (("prod", "berth"), ("lab", "seats")):
        queries = [
            target["expr"] for panel in dashboard(both[cluster])["panels"] for target in panel["targets"]
        ]
        queries += [rule["expr"] for rule in rules(both[cluster])]

        for series in re.findall(r"kube_\w+(?:\{[^}]*\})?", "\n".join(queries)):
            assert f'namespace="{namespace}"' in series, series


def test_flux_substitutes_nothing_in_monitoring_objects(tmp_path: Path) -> None:
    site = project.SITE.replace("- name: prod", "- {name: prod, engine: {type: flux, sourceName: fleet}}")
    one = found(tmp_path, site + BOTH)

    for made in one["prod"]:
        assert made["metadata"]["annotations"] == {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}
    for made in one["lab"]:
        assert "annotations" not in made["metadata"]


def test_the_kustomization_lists_the_monitoring_file(tmp_path: Path) -> None:
    found(tmp_path, project.SITE + BOTH + "  kustomization: true\n")
    files = files_in(tmp_path / "rendered")

    assert "monitoring.yaml" in yaml.safe_load(files["clusters/prod/kustomization.yaml"])["resources"]


def test_the_argo_cd_project_allows_rules_only_if_they_are_rendered(tmp_path: Path) -> None:
    kind = {"group": "monitoring.coreos.com", "kind": "PrometheusRule"}

    for asked in (True, False):
        monitoring = {"prometheusRule": asked, "dashboard": True}
        files = rendered(tmp_path / str(asked), engine="argocd", monitoring=monitoring)
        (one,) = files["gitops/argocd/project.yaml"]
        assert (kind in one["spec"]["namespaceResourceWhitelist"]) == asked


def example(name: str) -> list[Any]:
    return list(yaml.safe_load_all((ROOT / "docs/examples" / name).read_text("utf-8")))


def test_notification_examples_select_our_applications_and_kustomizations(tmp_path: Path) -> None:
    """By a label that every Application and Kustomization has."""
    label, value = "app.kubernetes.io/managed-by", "berth"
    (notifications,) = example("argocd-notifications.yaml")
    data = {key: yaml.safe_load(text) for key, text in notifications["data"].items()}
    (subscription,) = data["subscriptions"]
    (source,) = example("flux-alert.yaml")[1]["spec"]["eventSources"]

    assert subscription["selector"] == f"{label}={value}"
    assert source == {"kind": "Kustomization", "name": "*", "matchLabels": {label: value}}
    for trigger in subscription["triggers"]:
        (one,) = data[f"trigger.{trigger}"]
        assert all(f"template.{name}" in data for name in one["send"])
    for engine in ("argocd", "flux"):
        (*_, made) = rendered(tmp_path / engine, engine=engine)[f"gitops/{engine}/prod.yaml"]
        assert made["kind"] in ("Application", "Kustomization")
        assert made["metadata"]["labels"][label] == value
