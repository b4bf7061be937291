"""What is rendered of cloud capacities the kinds of Karpenter take."""

from pathlib import Path
from random import Random

import pytest

from tests.e2e import project
from tests.e2e.cluster import Cluster
from tests.generateclouds import cloud_capacity

CRDS = ("karpenter-nodepool.yaml", "karpenter-ec2nodeclass.yaml")
GENERATED = 200
SEED = 20260301


@pytest.fixture(scope="module", autouse=True)
def _kinds(cluster: Cluster) -> None:
    for name in CRDS:
        cluster.kubectl("apply", "--server-side", "-f", str(Path(__file__).parent / "crds" / name))
    lists = ("get", "nodepools,ec2nodeclasses", "-o", "json")  # an empty table is no text at all
    cluster.wait_for(lambda: cluster.kubectl(*lists), 30, "the kinds to be served")


def site() -> project.Document:
    gates = {"StaticCapacity": True}
    return project.site(
        clusters=[
            {"name": "real", "autoscaler": "karpenter", "karpenter": {"version": "1.15", "gates": gates}}
        ]
    )


def seat(clouds: list[str]) -> project.Document:
    document = project.resource_class("small")
    document["spec"] |= {"cloudCapacity": clouds, "nodeSelector": {}, "tolerations": []}
    return document


def whole_nodes(cloud: str) -> list[project.Document]:
    """A class of that capacity, and a reservation of two of its nodes."""
    found = seat([cloud])
    found["metadata"]["name"] = f"of-{cloud}"
    schedule = [{"startTime": "09:00", "endTime": "12:00"}]
    spec = {
        "resourceClass": f"of-{cloud}",
        "backend": {"type": "nodePool"},
        "recurrence": {"type": "dates", "dates": ["2026-03-20"], "schedule": schedule},
        "provisioning": {"nodeCount": 2},
    }
    return [found, project.document("CapacityReservation", f"nodes-{cloud}", spec)]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cloud capacities made by chance, with whole nodes of some; all rendered that `validate` takes."""
    folder, random = tmp_path_factory.mktemp("clouds"), Random(SEED)
    names = [f"cloud-{number}" for number in range(GENERATED)]
    clouds = [cloud_capacity(random, name, "real") for name in names]
    project.write(
        folder, [site(), *clouds, *(whole_node for name in names[::4] for whole_node in whole_nodes(name))]
    )
    while refused := {
        finding["file"] for finding in project.findings(folder) if finding["severity"] == "error"
    }:
        for file in refused:
            (folder / file).unlink()
    project.berth(folder, "render")
    return folder


def test_the_api_server_accepts_everything_that_validate_accepts(cluster: Cluster, generated: Path) -> None:
    cluster.apply(generated / "rendered" / "clusters" / "real" / "base.yaml")
    clouds, whole = (
        generated / "rendered" / "clusters" / "real" / name for name in ("cloud", "reservations")
    )

    answer = cluster.kubectl(
        *("apply", "--recursive", "-f", str(clouds), "-f", str(whole), "--dry-run=server", "-o", "name"),
        timeout=600,
    )

    kinds = [line.partition("/")[0] for line in answer.split()]
    files, static = (len(list(folder.glob("*.yaml"))) for folder in (clouds, whole))
    assert files > GENERATED / 2
    assert static > GENERATED / 20
    assert kinds.count("ec2nodeclass.karpenter.k8s.aws") == files
    assert kinds.count("nodepool.karpenter.sh") == files + static
