"""CapacityBuffers as they are rendered, on a real API server without any autoscaler."""

from pathlib import Path
from random import Random

from tests.e2e import project
from tests.e2e.cluster import Cluster
from tests.generate import resource_class

CRD = Path(__file__).parent / "crds" / "capacitybuffer.yaml"
GENERATED = 40
SEED = 20260401


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


def test_the_api_server_accepts_the_template_of_every_class_that_validate_accepts(
    cluster: Cluster, tmp_path: Path, namespace: str
) -> None:
    cluster.define(CRD)
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
