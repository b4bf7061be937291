"""The alerts of Berth in the real Prometheus, on series that are written down. No cluster is needed."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e import project
from tests.e2e.binaries import binary
from tests.e2e.project import Document, document

CASES = Path(__file__).parents[1] / "cases"
EVENTS = {"events": "eventrouter_warnings_total"}


def documents(**monitoring: object) -> list[Document]:
    """`course`, `lab` with half an hour of lead, and `early` with an hour; `course` is rehearsed."""
    ceilings = [{"seats": {"small": 40}, "requests": {"nvidia.com/gpu": "4"}, "from": "2026-02-01"}]
    monitoring |= {
        "prometheusRule": True,
        "dashboard": True,
        "runbooks": "https://docs.example.org/alerts",
    }
    held = [{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "namespaces": ["shop"]}]
    clusters = [{"name": "prod", "ceilings": ceilings, "held": held}]
    site = {"namespace": "seats", "timeZone": "Europe/Zurich", "clusters": clusters, "monitoring": monitoring}
    return [
        document("Site", "uni", site),
        document("ResourceClass", "small", {"requests": {"cpu": "1"}}),
        *(_course(name, lead) for name, lead in (("course", 30), ("lab", 30), ("early", 60))),
        _rehearsal(),
    ]


def _rehearsal() -> Document:
    date = {"date": "2026-01-26", "startTime": "06:00", "endTime": "06:30"}
    provisioning = {"placeholderCount": 5, "leadTimeMinutes": 0, "scaleDownBehavior": "none"}
    spec = {
        "rehearses": {"name": "course", "date": "2026-02-02"},
        "resourceClass": "small",
        "recurrence": {"type": "dates", "dates": [date]},
        "provisioning": {**provisioning, "endsWhenReady": True},
    }
    return document("CapacityReservation", "try", spec)


def _course(name: str, lead: int) -> Document:
    schedule = [{"dayOfWeek": "mon", "startTime": "09:00", "endTime": "13:00"}]
    recurrence = {"type": "weekly", "startDate": "2026-02-02", "endDate": "2026-05-31", "schedule": schedule}
    provisioning = {"placeholderCount": 5, "leadTimeMinutes": lead, "scaleDownBehavior": "none"}
    spec = {"resourceClass": "small", "recurrence": recurrence, "provisioning": provisioning}
    return document("CapacityReservation", name, spec)


@pytest.fixture(scope="module", params=[EVENTS, {}], ids=["events", "no-events"])
def rules(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Of a site whose Events something counts, or nothing."""
    folder = tmp_path_factory.mktemp("events" if request.param else "no-events")
    project.write(folder, documents(**request.param))
    project.berth(folder, "render")
    rule, dashboard = yaml.safe_load_all((folder / "rendered/clusters/prod/monitoring.yaml").read_text())
    _write_rules(folder / "dashboard.yaml", [{"name": "dashboard", "rules": _queries(dashboard)}])
    return _write_rules(folder / "rules.yaml", rule["spec"]["groups"])


def _queries(dashboard: Document) -> list[Document]:
    (text,) = dashboard["data"].values()
    queries = [target["expr"] for panel in json.loads(text)["panels"] for target in panel["targets"]]
    return [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]


def _write_rules(file: Path, groups: list[dict[str, Any]]) -> Path:
    """Write a file of rules, which is what the operator of Prometheus makes of a PrometheusRule."""
    file.write_text(json.dumps({"groups": groups}))
    return file


def promtool(*words: str) -> str:
    done = subprocess.run([binary("promtool"), *words], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


def test_prometheus_accepts_the_rules_without_warnings(rules: Path) -> None:
    assert "rules found" in promtool("check", "rules", "--lint=all", "--lint-fatal", str(rules))


def test_prometheus_reads_every_query_of_the_dashboard(rules: Path) -> None:
    assert "rules found" in promtool("check", "rules", str(rules.with_name("dashboard.yaml")))


def test_alerts_fire_and_resolve_as_the_cases_say(rules: Path) -> None:
    name = "rehearsalalerts.yaml" if rules.parent.name.startswith("no-events") else "alerts.yaml"
    cases = shutil.copy(CASES / name, rules.parent)

    promtool("test", "rules", str(cases))
