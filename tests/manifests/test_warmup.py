"""Placeholders bring the images of their class onto their nodes, in the way that the cluster can."""

from collections.abc import Mapping
from typing import Any

import pytest
from berth.checks import platforms
from berth.manifests import deployments, window
from berth.manifests.placed import placed

from tests.cases import tabled
from tests.checks.backendproblems import project_of
from tests.saying import Value, lines, read, reservation, resource_class, site, valid

IMAGES = ["quay.io/jupyter/scipy-notebook:2026-01-05", "registry.example.org/course@sha256:" + "0" * 64]


def values(cluster: Value, **spec: Any) -> Mapping[str, Any]:
    """The values of the only Deployment's template."""
    declared = valid(site({"name": "prod", **cluster}), resource_class(images=IMAGES, **spec), reservation())
    assert declared.site is not None
    (part,) = placed(declared.reservations[0], declared, declared.site)
    (found,) = deployments.deployments(declared.site, part, window.shared(declared.site, part))
    return found.values


@tabled("manifests")
def test_the_class_or_else_the_cluster_version_chooses_the_warm_up(
    cluster: Value, spec: Value, how: str
) -> None:
    found = values(cluster, **spec)
    shape = (len(found["volumes"]), len(found["volume_mounts"]), len(found["init_containers"]))

    assert (
        shape
        == {
            "volume": (2, 2, 0),
            "background": (2, 0, 0),
            "initContainer": (0, 0, 2),
            "none": (0, 0, 0),
        }[how]
    )


def test_an_init_container_requests_no_more_than_the_placeholder() -> None:
    found = values({}, warmUpCommand=["python3", "-c", ""])

    for image, container in zip(IMAGES, found["init_containers"], strict=True):
        assert (container["image"], container["command"]) == (image, ["python3", "-c", ""])
        assert container["resources"] == found["resources"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_pull_secrets_of_site_and_class_are_each_listed_once() -> None:
    cluster = {"images": {"pullSecrets": ["site", "both"]}}
    found = values(cluster, imagePullSecrets=["both", "course"])

    assert found["pull_secrets"] == [{"name": "site"}, {"name": "both"}, {"name": "course"}]


@pytest.mark.parametrize(
    ("cluster", "spec", "told"),
    [
        ({"kubernetes": "1.32"}, {"images": IMAGES, "imageWarmUp": "volume"}, ["B283 spec.imageWarmUp"]),
        ({"kubernetes": "1.32"}, {"images": IMAGES, "imageWarmUp": "background"}, ["B283 spec.imageWarmUp"]),
        ({"kubernetes": "1.32"}, {"images": IMAGES}, []),
        ({"kubernetes": "1.33"}, {"images": IMAGES, "imageWarmUp": "volume"}, []),
        ({}, {"images": IMAGES, "imageWarmUp": "volume"}, []),
    ],
    ids=["volume", "background", "default", "behind-a-gate", "unknown"],
)
def test_an_old_cluster_cannot_mount_images(cluster: Value, spec: Value, told: list[str]) -> None:
    declared = read(site({"name": "prod", **cluster}), resource_class(**spec))

    assert told == [
        line.partition(":")[0] for line in lines(platforms.check_image_volumes(project_of(declared)))
    ]


def test_a_kubernetes_version_must_be_text() -> None:
    """1.40 as a number would be 1.4."""
    problems = read(site({"name": "prod", "kubernetes": 1.36})).problems

    assert [line.partition(":")[0] for line in lines(problems)] == ["B013 spec.clusters.0.kubernetes"]
