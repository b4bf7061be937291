"""What a cluster has once: it stands whether or not there are reservations."""

import ast
from pathlib import Path

import pytest

from gen.backend import code
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
        ("v1", "ConfigMap", "berth-scaler"),
        ("v1", "ConfigMap", "berth-sweep"),
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
        assert ("globalDefault" in found, found["preemptionPolicy"]) == (False, "Never")
        assert found["metadata"]["annotations"] == {"argocd.argoproj.io/sync-wave": "-1"}


def test_the_code_is_the_runtime_file_by_file_as_it_stands_in_git(tmp_path: Path) -> None:
    found = of_kind("ConfigMap", of_cluster(tmp_path, "prod"))
    files = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "gen/runtime").glob("*.py"))}
    together = [pair for one in found for pair in one["data"].items()]

    assert sorted(together) == [(name, text) for name, text in sorted(files.items()) if text]
    for one in found:
        assert list(one["data"]) == sorted(one["data"])
        assert sum(map(len, one["data"].values())) <= LARGEST


def imported(text: str) -> set[str]:
    """The files of the runtime that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("gen"):
            assert node.module.startswith("gen.runtime")
            package, _, module = node.module.rpartition(".")
            found |= {module} if package == "gen.runtime" else {alias.name for alias in node.names}
    return {f"{name}.py" for name in found}


@pytest.mark.parametrize(
    ("programs", "mounted"),
    [
        (("occurrence", "alive"), ("berth-runtime",)),
        (("occurrence", "alive", "scaler"), ("berth-runtime", "berth-scaler")),
        (("sweep",), ("berth-runtime", "berth-sweep")),
    ],
    ids=["alone", "with-scaler", "sweep"],
)
def test_a_pod_mounts_all_that_its_programs_import(
    programs: tuple[str, ...], mounted: tuple[str, ...]
) -> None:
    files = {name: text for part in mounted for name, text in code.parts()[part].items()}
    wanted, known = {f"{name}.py" for name in programs}, set[str]()
    while wanted:
        name = wanted.pop()
        known.add(name)
        wanted |= imported(files[name]) - known

    own = code.parts()[mounted[-1]]
    assert len(mounted) == 1 or own.keys() <= known  # nothing travels that nobody needs
