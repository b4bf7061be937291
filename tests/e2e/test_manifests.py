"""What we render is what a real API server takes: the examples, and whatever else `validate` lets through."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.awkward import AWKWARD
from tests.e2e import linters, project
from tests.e2e.applying import one_by_one
from tests.e2e.cluster import Cluster
from tests.e2e.cronfires import missed_opens
from tests.generate import project as generated_project
from tests.schema.engines import EVERY

RENDERED = project.ROOT / "rendered"
GENERATED = 300
SEED = 20260202
# Beside them, those that leave one of them without effect.
EVERY_OPTION: dict[str, dict[str, dict[str, Any]]] = {
    "argocd": {"every": EVERY["argocd"], "project": {"project": "teaching", "automated": False}},
    "flux": {
        "every": EVERY["flux"],
        "source": {"sourceName": "own", "sourceKind": "ExternalArtifact"},
        "artifact": {"sourceProvider": "gcp", "kubeConfigMap": "lab"},
    },
}
REPOSITORIES = {"artifact": {"url": "oci://ghcr.io/uni/capacity", "revision": "latest"}}
SESSIONS = ("renku", "jhub", "hub", "sessions")  # the examples', and the generated ones'


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project made by chance, without the reservations that `validate` refuses; rendered."""
    folder = tmp_path_factory.mktemp("generated")
    generated_project(folder, SEED, GENERATED)
    refused = {item["file"] for item in project.findings(folder) if item["severity"] == "error"}
    for file in refused:
        assert "capacityreservation" in file, "only reservations may be refused here"
        (folder / file).unlink()
    assert len(refused) < GENERATED / 2
    project.berth(folder, "render")
    return folder


@pytest.fixture
def berth_namespace(cluster: Cluster) -> Iterator[str]:
    """Where the examples live; `render` makes the manifest of the namespace itself."""
    yield "berth"
    cluster.kubectl("delete", "namespace", "berth", "--ignore-not-found", "--wait=true", "--timeout=120s")


@pytest.fixture(scope="module", autouse=True)
def _kinds_of_engines(cluster: Cluster) -> None:
    cluster.define(*sorted((Path(__file__).parent / "crds").glob("*.yaml")))


@pytest.fixture(scope="module", autouse=True)
def _namespaces_of_sessions(cluster: Cluster) -> Iterator[None]:
    """They are other people's, and there before us."""
    for name in SESSIONS:
        cluster.create_namespace(name)
    yield
    cluster.kubectl("delete", "namespace", *SESSIONS, "--wait=true", "--timeout=120s", timeout=150)


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.yaml"))


@pytest.mark.parametrize("name", ["prod", "hub"])
def test_the_api_server_accepts_the_examples_in_a_dry_run_and_for_real(
    cluster: Cluster, berth_namespace: str, name: str
) -> None:
    folder = RENDERED / "clusters" / name
    cluster.create_namespace(berth_namespace)
    cluster.kubectl("delete", "priorityclass", "berth-example-university-10", "--ignore-not-found")
    dry = cluster.apply(folder, server_dry_run=True)
    real = cluster.apply(folder)

    objects = sum(1 for file in files(folder) for one in yaml.safe_load_all(file.read_text()) if one)
    assert dry.count("(server dry run)") == objects
    assert len(real.splitlines()) == objects


@pytest.mark.parametrize("engine", EVERY_OPTION)
def test_the_api_server_accepts_engine_objects_with_no_options_and_with_all(
    cluster: Cluster, tmp_path: Path, namespace: str, engine: str
) -> None:
    """The API server refuses fields that their kinds do not have."""
    home = {"url": "https://git.example.org/capacity.git", "revision": "main"}
    for name, options in (("plain", {}), *EVERY_OPTION[engine].items()):
        folder = tmp_path / name
        chosen = {**options, "type": engine, "namespace": namespace}
        repository = REPOSITORIES.get(name, home)
        site = project.site(clusters=[{"name": "a"}, {"name": "b"}], engine=chosen, repository=repository)
        project.write(folder, [site])
        project.berth(folder, "render")
        gitops = folder / "rendered" / "gitops"

        answer = cluster.apply(gitops, server_dry_run=True)

        objects = sum(file.read_text().count("\n---\n") for file in files(gitops))
        assert answer.count("(server dry run)") == objects > 1


def test_the_api_server_accepts_everything_that_validate_accepts(cluster: Cluster, generated: Path) -> None:
    for name in ("one", "two"):
        folder = generated / "rendered" / "clusters" / name
        cluster.apply(folder / "base.yaml")
        answer = cluster.kubectl(
            "apply", "--recursive", "-f", str(folder), "--dry-run=server", "-o", "name", timeout=600
        )

        objects = sum(file.read_text().count("\n---\n") for file in files(folder))
        assert len(answer.splitlines()) == objects
    cluster.kubectl("delete", "namespace", "berth", "--wait=true", "--timeout=120s")


def test_the_cron_of_kubernetes_fires_every_schedule_at_every_first_opening(generated: Path) -> None:
    questions = [question for file in files(generated / "rendered") for question in _questions(file)]

    missed = missed_opens(questions)

    assert len(missed) > GENERATED / 2
    assert {name: opens for name, opens in missed.items() if opens} == {}


def _questions(file: Path) -> Iterator[dict[str, Any]]:
    objects = list(yaml.safe_load_all(file.read_text()))
    jobs = [object_["spec"] for object_ in objects if object_["kind"] == "CronJob"]
    for object_ in objects:
        if object_["kind"] == "ConfigMap" and "timetable.json" in object_["data"]:
            timetable = json.loads(object_["data"]["timetable.json"])
            yield {
                "name": f"{file.parts[-3]}/{timetable['reservation']}",
                "schedules": [{"schedule": job["schedule"], "timeZone": job["timeZone"]} for job in jobs],
                "opens": list(_first_opens(timetable["occurrences"])),
            }


def _first_opens(occurrences: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the openings at which nothing of the reservation is open; a Job that runs serves the others."""
    until = ""
    for one in sorted(occurrences, key=lambda occurrence: str(occurrence["open"])):
        if one["open"] > until:
            yield one["open"]
        until = max(until, one["end"])


def test_actionlint_accepts_the_workflow() -> None:
    linters.actionlint(project.ROOT / ".github" / "workflows" / "ci.yaml")


def test_kubernetes_reads_every_text_as_it_was_written(cluster: Cluster, tmp_path: Path) -> None:
    """Titles and annotations of a reservation, through `berth render` and kubectl's own reader."""
    texts = {f"example.org/t{i}": text for i, text in enumerate(AWKWARD)}
    course = {
        "resourceClass": "small",
        "recurrence": {
            "type": "dates",
            "dates": ["2026-02-02"],
            "schedule": [{"startTime": "09:00", "endTime": "10:00"}],
        },
        "provisioning": {"placeholderCount": 1, "scaleDownBehavior": "none"},
    }
    declaration = project.document("CapacityReservation", "awkward", course)
    declaration["metadata"]["annotations"] = texts
    project.write(tmp_path, [project.site(), project.resource_class("small"), declaration])
    project.berth(tmp_path, "render")
    file = tmp_path / "rendered" / "clusters" / "real" / "reservations" / "awkward.yaml"

    answer = cluster.kubectl("annotate", "--local", "-f", str(file), "x=y", "-o", "json")

    objects = one_by_one(answer)
    assert len(objects) == 6
    for object_ in objects:
        if object_["kind"] in ("ServiceAccount", "Role", "RoleBinding"):
            continue  # no text of an author is on permissions and accounts
        found = object_["metadata"]["annotations"]
        assert {key: found[key] for key in texts} == texts
