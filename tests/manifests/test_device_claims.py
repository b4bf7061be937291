"""What is rendered of the devices that classes claim: of pods, and of templates that many pods share."""

from pathlib import Path

from tests.cli import project
from tests.manifests.parts import Object, of_cluster, of_kind, of_part, pod_specs, small

CLASS = """\
---
apiVersion: berth.dev/v1alpha1
kind: ResourceClass
metadata: {name: NAME}
spec:
  cluster: prod
  requests: {cpu: 500m}
  images: [quay.io/jupyter/scipy-notebook:2026-01-05]
  imageWarmUp: initContainer
  resourceClaims: CLAIMS
"""
BOTH = """\
[{name: gpu, deviceClassName: gpu.example.com, count: 2}, {name: nic, resourceClaimTemplateName: fast}]"""


def classes(**claims: str) -> str:
    parts = [CLASS.replace("NAME", name).replace("CLAIMS", text) for name, text in claims.items()]
    return project.CLASSES + "".join(parts)


def site() -> str:
    return project.SITE.replace("- name: prod\n", '- name: prod\n      kubernetes: "1.36"\n')


def deployment(folder: Path, claims: str) -> Object:
    course = project.COURSE.replace("resourceClass: small", "resourceClass: gpu")
    found, parts = small(folder, classes=classes(gpu=claims), course=course, site=site())
    (one,) = of_kind("Deployment", of_part(found, parts["course/prod"]))
    return one


def test_the_pod_has_the_claims_and_its_container_uses_them(tmp_path: Path) -> None:
    (pod,) = pod_specs([deployment(tmp_path, BOTH)])
    (container,), (warmer,) = pod["containers"], pod["initContainers"]

    assert pod["resourceClaims"] == [
        {"name": "gpu", "resourceClaimTemplateName": "berth-2.gpu.example.com"},
        {"name": "nic", "resourceClaimTemplateName": "fast"},
    ]
    assert container["resources"] == {
        "requests": {"cpu": "500m"},
        "claims": [{"name": "gpu"}, {"name": "nic"}],
    }
    assert warmer["resources"] == {"requests": {"cpu": "500m"}}


def test_equal_claims_of_several_classes_share_one_template(tmp_path: Path) -> None:
    one = "[{name: a, deviceClassName: gpu.example.com}, {name: b, deviceClassName: gpu.example.com}]"
    found = of_cluster(tmp_path, "prod", classes=classes(first=BOTH, second=one, third=BOTH), site=site())
    templates = of_kind("ResourceClaimTemplate", found)

    assert [template["metadata"]["name"] for template in templates] == [
        "berth-1.gpu.example.com",
        "berth-2.gpu.example.com",
    ]


def test_clusters_without_the_class_have_no_claim_template(tmp_path: Path) -> None:
    found = of_cluster(tmp_path, "lab", classes=classes(gpu=BOTH), site=site())

    assert of_kind("ResourceClaimTemplate", found) == []
