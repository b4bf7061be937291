"""A CapacityBuffer as it is rendered, and how it is scaled, on a real API server without any autoscaler."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import yaml

from tests.e2e import project
from tests.e2e.cluster import Cluster, KubectlError
from tests.e2e.direct import Direct, Object, RefusedError
from tests.generate import resource_class

CRD = Path(__file__).parent / "crds" / "capacitybuffer.yaml"
GENERATED = 40
SEED = 20260401
BUFFERS = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/{}/capacitybuffers"


@pytest.fixture(scope="module", autouse=True)
def _kind(cluster: Cluster) -> None:
    cluster.define(CRD)


@pytest.fixture
def direct(cluster: Cluster) -> Iterator[Direct]:  # noqa: ARG001 - it has to run
    found = Direct()
    yield found
    found.close()


def site(namespace: str) -> project.Document:
    gates = {"version": "1.15", "gates": {"CapacityBuffer": True}}
    return project.site(
        namespace=namespace,
        engine={"type": "flux", "sourceName": "fleet"},
        clusters=[{"name": "real", "autoscaler": "karpenter", "karpenter": gates}],
    )


def course(resource_class: str) -> project.Document:
    spec = {
        "resourceClass": resource_class,
        "backend": {"type": "capacityBuffer"},
        "recurrence": {
            "type": "dates",
            "dates": ["2026-02-02"],
            "schedule": [{"startTime": "09:00", "endTime": "10:00"}],
        },
        "provisioning": {"placeholderCount": 3, "scaleDownBehavior": "none"},
    }
    return project.document("CapacityReservation", f"of-{resource_class}", spec)


def rendered(folder: Path, namespace: str) -> list[Object]:
    project.write(folder, [site(namespace), project.resource_class("small"), course("small")])
    project.berth(folder, "render")
    file = folder / "rendered" / "clusters" / "real" / "reservations" / "of-small.yaml"
    return [one for one in yaml.safe_load_all(file.read_text()) if one]


def test_the_api_server_takes_what_is_rendered(cluster: Cluster, tmp_path: Path, namespace: str) -> None:
    made = rendered(tmp_path, namespace)
    kinds = [one["kind"] for one in made]

    answer = cluster.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": made}))

    assert {"PodTemplate", "CapacityBuffer"} <= set(kinds)
    assert len(answer.splitlines()) == len(made)


def test_a_buffer_without_replicas_is_refused_so_git_has_them(
    cluster: Cluster, tmp_path: Path, namespace: str
) -> None:
    (buffer,) = [one for one in rendered(tmp_path, namespace) if one["kind"] == "CapacityBuffer"]
    del buffer["spec"]["replicas"]

    with pytest.raises(KubectlError, match="replicas or limits must also be set"):
        cluster.apply(json.dumps(buffer), server_dry_run=True)


def test_replicas_are_a_merge_patch_that_a_stale_version_cannot_make(
    cluster: Cluster, direct: Direct, tmp_path: Path, namespace: str
) -> None:
    (buffer,) = [one for one in rendered(tmp_path, namespace) if one["kind"] == "CapacityBuffer"]
    cluster.apply(json.dumps(buffer))
    path = f"{BUFFERS.format(namespace)}/{buffer['metadata']['name']}"
    version = direct.get(path)["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "spec": {"replicas": 3}}

    assert direct.patch(path, patch)["spec"]["replicas"] == 3
    with pytest.raises(RefusedError, match=" 409 "):
        direct.patch(path, patch)


def test_every_class_that_validate_accepts_is_a_template_that_the_api_server_accepts(
    cluster: Cluster, tmp_path: Path, namespace: str
) -> None:
    random = Random(SEED)
    classes = [resource_class(random, number) for number in range(GENERATED)]
    for one in classes:
        one["spec"].pop("cluster", None)
    courses = [course(one["metadata"]["name"]) for one in classes]
    project.write(tmp_path, [site(namespace), *classes, *courses])
    project.berth(tmp_path, "render")
    files = tmp_path / "rendered" / "clusters" / "real" / "reservations"

    answer = cluster.kubectl("apply", "-f", str(files), "--dry-run=server", "-o", "name")

    assert answer.count("podtemplate/") == answer.count("capacitybuffer.autoscaling.x-k8s.io/") == GENERATED
