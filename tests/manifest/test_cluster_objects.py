"""What a cluster has once: it stands whether or not there are reservations."""

import ast
from pathlib import Path

from gen.backend.cluster import runtime_code
from gen.manifest.timetabletext import LARGEST
from tests.command import project
from tests.command.conftest import ROOT
from tests.manifest.parts import of_cluster, of_kind


def test_the_objects_and_their_order(tmp_path: Path) -> None:
    assert [
        (one["apiVersion"], one["kind"], one["metadata"]["name"]) for one in of_cluster(tmp_path, "prod")
    ] == [
        ("v1", "Namespace", "berth"),
        ("scheduling.k8s.io/v1", "PriorityClass", "berth-uni-10"),
        ("v1", "ServiceAccount", "berth-occurrence"),
        ("rbac.authorization.k8s.io/v1", "Role", "berth-occurrence"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "berth-occurrence"),
        ("v1", "ServiceAccount", "berth-sweep"),
        ("rbac.authorization.k8s.io/v1", "Role", "berth-sweep"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "berth-sweep"),
        ("v1", "ConfigMap", "berth-runtime"),
        ("batch/v1", "CronJob", "berth-sweep"),
    ]


def test_what_has_a_namespace_is_in_the_clusters_own(tmp_path: Path) -> None:
    """The site's is berth; the cluster lab says seats."""
    for name, namespace in (("prod", "berth"), ("lab", "seats")):
        first, _, *others = of_cluster(tmp_path, name)

        assert first["metadata"]["name"] == namespace
        assert first["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
        assert {one["metadata"]["namespace"] for one in others} == {namespace}


def test_the_priority_is_that_of_the_cluster_and_preempts_nobody(tmp_path: Path) -> None:
    text = project.SITE.replace("- name: prod", "- {name: prod, priority: -5}") + "  priority: -3\n"

    for name, priority in (("prod", -5), ("lab", -3)):
        (found,) = of_kind("PriorityClass", of_cluster(tmp_path, name, site=text))

        assert found["value"] == priority
        assert (found["globalDefault"], found["preemptionPolicy"]) == (False, "Never")
        assert found["metadata"]["annotations"] == {"argocd.argoproj.io/sync-wave": "-1"}


def test_the_code_is_the_runtime_file_by_file_as_it_stands_in_git(tmp_path: Path) -> None:
    (found,) = of_kind("ConfigMap", of_cluster(tmp_path, "lab"))
    files = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "gen/runtime").glob("*.py"))}

    assert found["data"] == {name: text for name, text in files.items() if text}
    assert list(found["data"]) == sorted(found["data"])
    assert sum(map(len, found["data"].values())) <= LARGEST


def test_the_code_that_travels_needs_nothing_that_stays() -> None:
    names = {file["name"].removesuffix(".py") for file in runtime_code()}

    for file in runtime_code():
        for node in ast.walk(ast.parse(file["text"])):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("gen"):
                package, _, module = node.module.rpartition(".")
                found = {module} if package == "gen.runtime" else {alias.name for alias in node.names}
                assert node.module.startswith("gen.runtime")
                assert found <= names
