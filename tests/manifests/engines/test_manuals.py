"""docs/argocd.md and docs/flux.md: their samples are good, their commands true."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.console import ROOT
from tests.manifests.cloudparts import capacity
from tests.manifests.engines.manuals import MANUALS, clusters, commands, sample
from tests.manifests.engines.parts import HOME, rendered


@pytest.mark.parametrize("engine", MANUALS)
def test_clusters_in_the_manual_are_valid_and_each_gets_a_file(engine: str, tmp_path: Path) -> None:
    shown = clusters(engine)
    files = rendered(tmp_path, engine=engine, clusters=shown, repository=HOME)

    assert {f"gitops/{engine}/{cluster['name']}.yaml" for cluster in shown} <= set(files)


@pytest.mark.parametrize("engine", MANUALS)
def test_commands_in_the_manual_name_the_rendered_objects(engine: str, tmp_path: Path) -> None:
    apply, get = commands(engine)
    files = rendered(tmp_path, engine=engine)
    (one,) = [file for file in files[f"gitops/{engine}/prod.yaml"] if file["kind"] != "GitRepository"]

    assert apply == ["kubectl", "apply", "-f", f"rendered/gitops/{engine}"]
    group, plural = one["apiVersion"].partition("/")[0], f"{one['kind'].lower()}s"
    assert get[:4] == ["kubectl", "get", f"{plural}.{group}", "--namespace"]
    assert get[4] == one["metadata"]["namespace"]
    assert get[5:] == ["--selector", "app.kubernetes.io/name=berth"]
    assert one["metadata"]["labels"]["app.kubernetes.io/name"] == "berth"


@pytest.mark.parametrize("engine", MANUALS)
def test_the_manual_names_the_objects_as_they_are_rendered(engine: str, tmp_path: Path) -> None:
    files = rendered(tmp_path, engine=engine)
    names = {one["metadata"]["name"] for file in files.values() for one in file}

    assert names == ({"berth-uni", "berth-uni.prod"} if engine == "argocd" else {"berth-uni.prod"})
    assert "`berth-<site>.<cluster>`" in MANUALS[engine]


def test_samples_point_at_the_rendered_engine_objects() -> None:
    application = sample("argocd", "Application")["spec"]
    kustomization = sample("flux", "Kustomization")["spec"]

    assert application["source"]["repoURL"] == HOME["url"]
    assert application["source"]["path"] == "rendered/gitops/argocd"
    assert kustomization["path"] == "./rendered/gitops/flux"


PROD = {"name": "prod", "destination": {"name": "prod"}}
KOORDINATOR: dict[str, Any] = {"koordinator": {"colocationProfiles": True}}
BUFFERS = {"autoscaler": "karpenter", "karpenter": {"version": "1.14", "gates": {"CapacityBuffer": True}}}
STATIC = {"autoscaler": "karpenter", "karpenter": {"version": "1.14", "gates": {"StaticCapacity": True}}}


@pytest.mark.parametrize("engine", MANUALS)
def test_the_table_of_the_manual_lists_every_kind_that_the_engine_ignores(
    engine: str, tmp_path: Path
) -> None:
    cluster = {**PROD, **KOORDINATOR, **STATIC} if engine == "argocd" else {"name": "prod", **STATIC}
    *_, made = rendered(tmp_path, engine=engine, clusters=[cluster])[f"gitops/{engine}/prod.yaml"]
    found = made["spec"].get("ignoreDifferences") or [one["target"] for one in made["spec"]["ignore"]]
    table = MANUALS[engine].split("## What is set, and why")[1].split("\n\n")[1]

    assert len(found) > 1
    assert [one["kind"] for one in found if f"{one['kind']}s" not in table] == []


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ({}, ["Deployment"]),
        (STATIC, ["Deployment", "NodePool"]),
        (BUFFERS, ["Deployment", "CapacityBuffer"]),
        (KOORDINATOR, ["Deployment", "Reservation"]),
        ({**KOORDINATOR, **STATIC}, ["Deployment", "NodePool", "Reservation"]),
    ],
    ids=["plain", "whole-nodes", "buffers", "koordinator", "both"],
)
def test_the_application_set_creates_the_applications_that_are_rendered(
    tmp_path: Path, more: dict[str, Any], kinds: list[str]
) -> None:
    """Of clusters that Argo CD calls like us; its templates are filled for real in tests/e2e. It has the
    entries for all sorts of clusters.
    """
    found = sample("argocd", "ApplicationSet")
    template = found["spec"]["template"]
    files = rendered(tmp_path, engine="argocd", clusters=[{**PROD, **more}])
    (expected,) = files["gitops/argocd/prod.yaml"]
    basename, path = "{{.path.basename}}", "{{.path.path}}"
    expected["spec"]["source"]["path"] = path
    expected["spec"]["destination"]["name"] = basename
    names = ("name", "labels", "annotations")
    entries = template["spec"]["ignoreDifferences"]
    needed = [entry for entry in entries if entry["kind"] in kinds]

    assert [entry["kind"] for entry in needed] == kinds
    assert {**template["spec"], "ignoreDifferences": needed} == expected["spec"]
    assert template["metadata"] == {
        **{key: expected["metadata"][key] for key in names},
        "name": expected["metadata"]["name"].replace("prod", basename),
    }
    assert found["metadata"]["namespace"] == expected["metadata"]["namespace"]
    (generator,) = found["spec"]["generators"]
    assert generator["git"] == {
        "repoURL": HOME["url"],
        "revision": HOME["revision"],
        "directories": [{"path": "rendered/clusters/*"}],
    }


CLOUD = capacity(cluster="prod")
PLAIN, CLUSTER_ROLES, SLOTS, MACHINES = (0, 1), (2, 3), (4,), (5,)  # rules that the manual shows


@pytest.mark.parametrize(
    ("more", "declared", "needed"),
    [
        ({}, [], PLAIN),
        (KOORDINATOR, [], (*PLAIN, *CLUSTER_ROLES, *SLOTS)),
        ({"autoscaler": "karpenter"}, [CLOUD], (*PLAIN, *MACHINES)),
        (STATIC, [CLOUD], (*PLAIN, *CLUSTER_ROLES, *MACHINES)),
    ],
    ids=["plain", "koordinator", "cloud", "whole-nodes"],
)
def test_the_sample_cluster_role_allows_every_rendered_kind(
    tmp_path: Path, more: dict[str, Any], declared: list[dict[str, Any]], needed: tuple[int, ...]
) -> None:
    """A ClusterRole for both engines; that it is enough is tried in tests/e2e."""
    files = rendered(tmp_path, *declared, engine="argocd", clusters=[{**PROD, **more}])
    (project,) = files["gitops/argocd/project.yaml"]
    lists = (project["spec"][f"{scope}ResourceWhitelist"] for scope in ("cluster", "namespace"))
    kinds = {(one["group"], plural(one["kind"])) for list_ in lists for one in list_}
    children = {("", "pods"), ("apps", "replicasets"), ("batch", "jobs")}
    rules = [sample("flux", "ClusterRole")["rules"][number] for number in needed]
    allowed = [rule for rule in rules if "create" in rule["verbs"]]

    assert kinds - children <= {(group, one) for rule in allowed for group, one in pairs(rule)}
    assert {group for group, _ in kinds - children} == {one for rule in allowed for one in rule["apiGroups"]}
    assert {one for _, one in kinds - children} == {one for rule in allowed for one in rule["resources"]}


def test_the_sample_cluster_role_may_escalate_and_bind_roles() -> None:
    rules = sample("flux", "ClusterRole")["rules"]
    granting = [rule for rule in rules if "escalate" in rule["verbs"]]

    assert granting == [
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": [kind], "verbs": ["escalate", "bind"]}
        for kind in ("roles", "clusterroles")
    ]
    assert {tuple(rule["verbs"]) for rule in rules if rule not in granting} == {
        ("get", "list", "watch", "create", "update", "patch", "delete")
    }


def test_the_sample_cluster_role_allows_all_kinds_of_our_examples() -> None:
    found = {
        (one["apiVersion"].rpartition("/")[0], plural(one["kind"]))
        for path in (ROOT / "rendered/clusters").rglob("*.yaml")
        for one in yaml.load_all(path.read_text("utf-8"), yaml.CSafeLoader)
    }

    assert ("karpenter.sh", "nodepools") in found
    assert found <= {pair for rule in sample("flux", "ClusterRole")["rules"] for pair in pairs(rule)}


def pairs(rule: dict[str, Any]) -> Iterator[tuple[str, str]]:
    return product(rule["apiGroups"], rule["resources"])


def plural(kind: str) -> str:
    return f"{kind.lower()}s".replace("classs", "classes")
