"""From declarations to simulations: what is planned, what is not, and where Karpenter's order is open."""

from pathlib import Path

from berth.machines.clusterplans import ClusterPlan, UnplannedItem, plan_clusters, unplanned_items
from berth.machines.planfindings import plan_problems
from berth.pipeline import Pipeline

from tests.cli import clouds
from tests.saying import finding, lines

CLASS = """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: NAME}
spec:
  cluster: prod
  requests: {cpu: "CPU", memory: 1Gi}
  nodeSelector: {kubernetes.io/arch: ARCH}
  cloudCapacity: [general]
"""
ON_DEMAND = clouds.CLOUD.partition("  reservations:")[0] + "  requirements: [REQUIREMENTS]\n"


def read(folder: Path, **changes: str | None) -> tuple[Pipeline, list[ClusterPlan]]:
    clouds.write(folder, **changes)
    pipeline = Pipeline(str(folder))
    pipeline.items(all_loads=True)
    assert pipeline.site is not None
    return pipeline, plan_clusters(pipeline.declared, pipeline.site, pipeline.pools)


def told(pipeline: Pipeline, some: list[ClusterPlan], now: int = 0) -> list[str]:
    assert pipeline.site is not None
    problems = plan_problems(some, (), pipeline.declared, pipeline.site, now)
    return lines(problems, files=True)


def test_clusters_and_classes_without_capacity_are_left_out(tmp_path: Path) -> None:
    pipeline, some = read(tmp_path)
    assert pipeline.site is not None

    assert [one.cluster for one in some] == ["prod"]
    assert [demand.key for demand in some[0].demands] == [("course", "small"), ("night", "small")]
    assert unplanned_items(pipeline.declared, pipeline.site, lambda _: True) == [
        UnplannedItem("bench", "names no cloudCapacity")
    ]
    assert unplanned_items(pipeline.declared, pipeline.site, lambda key: key[1] == "small") == []


def test_without_the_feature_gate_reserved_machines_are_not_used(tmp_path: Path) -> None:
    site = clouds.SITE.replace("version: '1.14'", "version: '1.14', gates: {ReservedCapacity: false}")
    _, (one,) = read(tmp_path, site=site)

    assert {kind.capacity_type for kind in one.run.kinds} == {"on-demand"}


def test_seats_wait_for_a_full_reservation_of_a_heavier_node_pool(tmp_path: Path) -> None:
    held = clouds.CLOUD.replace("[reserved, on-demand]", "[reserved]\n  weight: 9")
    spare = ON_DEMAND.replace("name: general", "name: spare").replace(
        "REQUIREMENTS", "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.2xlarge]}"
    )
    pipeline, (one,) = read(
        tmp_path,
        classes=clouds.CLASSES.replace("[general]", "[general, spare]"),
        cloud=f"{held}---\n{spare}",
    )

    assert {kind.capacity_type for kind in one.run.kinds} == {"reserved"}
    assert [one for one in told(pipeline, [one]) if " B196 " in one]


def test_seats_that_fit_no_instance_type_are_reported_at_their_reservation(tmp_path: Path) -> None:
    cloud = ON_DEMAND.replace(
        "REQUIREMENTS", "{key: karpenter.k8s.aws/instance-size, operator: In, values: [large]}"
    )
    classes = clouds.CLASSES.replace('{cpu: "1", memory: 4Gi}', '{cpu: "3", memory: 4Gi}')
    pipeline, some = read(tmp_path, cloud=cloud, classes=classes, night=None)
    (first, *_) = told(pipeline, some)

    assert first == finding(
        "reservations/course.yaml B196 spec.provisioning",
        *("25", "small", "Mon 2026-02-02 08:30", "2 times", "uni.cloud.general"),
    )
    assert told(pipeline, some, now=2**40) == []
