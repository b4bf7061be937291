"""What a cluster has once: it stands whether or not there are reservations."""

import ast
import json
from pathlib import Path

import pytest
from berth.manifests import code, naming
from berth.manifests.timetable import LARGEST

from tests.cli import project
from tests.cli.conftest import ROOT
from tests.manifests.parts import of_cluster, of_kind

KOORDINATOR = project.SITE.replace("- name: prod", "- {name: prod, koordinator: {}}")


def test_the_objects_and_their_order(tmp_path: Path) -> None:
    assert [
        (one["apiVersion"], one["kind"], one["metadata"]["name"]) for one in of_cluster(tmp_path, "prod")
    ] == [
        ("v1", "Namespace", "berth"),
        ("scheduling.k8s.io/v1", "PriorityClass", "berth-uni-10"),
        ("v1", "ServiceAccount", "berth-sweep"),
        ("rbac.authorization.k8s.io/v1", "Role", "berth-sweep"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", "berth-sweep"),
        ("v1", "ConfigMap", "berth-core"),
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
    found = of_kind("ConfigMap", of_cluster(tmp_path, "prod", site=KOORDINATOR))
    files = {
        path.name: path.read_text("utf-8")
        for package in ("core", "runtime")
        for path in (ROOT / "gen" / "berth" / package).glob("*.py")
        if path.name != "__init__.py"
    }
    together = [pair for one in found for pair in one["data"].items()]

    assert sorted(together) == sorted(files.items())
    assert dict(together) == code.together(koordinator=True)
    for one in found:
        assert list(one["data"]) == sorted(one["data"])
        assert sum(map(len, one["data"].values())) <= LARGEST


def test_a_cluster_with_koordinator_has_more_objects_and_the_sweep_knows_it(tmp_path: Path) -> None:
    plain, found = of_cluster(tmp_path / "plain", "prod"), of_cluster(tmp_path, "prod", site=KOORDINATOR)
    (before,), (after,) = (of_kind("CronJob", objects) for objects in (plain, found))
    pods = [one["spec"]["jobTemplate"]["spec"]["template"]["spec"] for one in (before, after)]
    (was,), (now,) = (pod["containers"] for pod in pods)
    sources = [pod["volumes"][1]["projected"]["sources"] for pod in pods]

    assert [(one["kind"], one["metadata"]["name"]) for one in found if one not in plain] == [
        ("ClusterRole", "berth-occurrence.uni"),
        ("ClusterRole", "berth-sweep.uni"),
        ("ClusterRoleBinding", "berth-sweep.uni"),
        ("ConfigMap", "berth-koordinator"),
        ("CronJob", "berth-sweep"),
    ]
    assert [one for one in now["env"] if one not in was["env"]] == [
        {"name": "BERTH_KOORDINATOR", "value": "1"}
    ]
    assert sources[1] == [*sources[0], {"configMap": {"name": "berth-koordinator"}}]


def test_where_there_is_no_koordinator_nothing_says_its_name(tmp_path: Path) -> None:
    """Not in the other cluster of the site either. Code may say it: it is the same everywhere."""
    for one in (*of_cluster(tmp_path, "prod"), *of_cluster(tmp_path, "lab", site=KOORDINATOR)):
        if one["metadata"]["name"] not in naming.CODE or one["kind"] != "ConfigMap":
            assert "koordinator" not in json.dumps(one).lower(), one["metadata"]["name"]


KOORDINATOR_CODE = frozenset(code.parts(koordinator=True)["berth-koordinator"])


def imported(text: str, *, at_once: bool = False) -> set[str]:
    """The files of the runtime that a module imports; `at_once`: when it is imported itself."""
    tree, found = ast.parse(text), set()
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("berth"):
            assert node.module.startswith(("berth.core", "berth.runtime"))
            package, _, module = node.module.rpartition(".")
            found |= {module} if package != "berth" else {alias.name for alias in node.names}
    return {f"{name}.py" for name in found}


PODS = {
    "alone": (("occurrence", "alive"), ("berth-core", "berth-runtime")),
    "with-scaler": (("occurrence", "alive", "scaler"), ("berth-core", "berth-runtime", "berth-scaler")),
    "with-slots": (("occurrence", "alive"), ("berth-core", "berth-runtime", "berth-koordinator")),
    "sweep": (("sweep",), ("berth-core", "berth-runtime", "berth-sweep")),
    "sweep-of-slots": (("sweep",), ("berth-core", "berth-runtime", "berth-sweep", "berth-koordinator")),
}


def needed(programs: tuple[str, ...], mounted: tuple[str, ...]) -> set[str]:
    """The files that programs import, all of which are mounted; but what is for slots may be missing where
    nothing imports it at once.
    """
    files = {name: text for part in mounted for name, text in code.parts(koordinator=True)[part].items()}
    missing = KOORDINATOR_CODE - files.keys()
    wanted, known = {f"{name}.py" for name in programs}, set[str]()
    while wanted:
        name = wanted.pop()
        known.add(name)
        assert not imported(files[name], at_once=True) & missing, name
        wanted |= imported(files[name]) - known - missing
    return known


@pytest.mark.parametrize("pod", PODS.values(), ids=PODS)
def test_a_pod_mounts_all_that_its_programs_import(pod: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    needed(*pod)


@pytest.mark.parametrize("part", ["berth-scaler", "berth-sweep", "berth-koordinator"])
def test_nothing_travels_that_nobody_needs(part: str) -> None:
    used = {name for pod in PODS.values() if part in pod[1] for name in needed(*pod)}

    assert code.parts(koordinator=True)[part].keys() <= used
