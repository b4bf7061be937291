"""What makes Argo CD apply the rest: an Application for each cluster, and a project that allows no more."""

from pathlib import Path
from typing import Any

import pytest

from tests.manifests.engines.parts import HOME, rendered, resource_class
from tests.manifests.parts import OURS, Object

COMPARED = {
    "argocd.argoproj.io/compare-options": "ServerSideDiff=true",
    "argocd.argoproj.io/manifest-generate-paths": ".",
}


def application(folder: Path, **spec: Any) -> Object:
    (found,) = rendered(folder, **{"engine": "argocd", **spec})["gitops/argocd/prod.yaml"]
    return found


def projects(folder: Path, *classes: Any, **spec: Any) -> list[Object]:
    return rendered(folder, *classes, **{"engine": "argocd", **spec})["gitops/argocd/project.yaml"]


def test_an_application_ignores_differences_of_replicas(tmp_path: Path) -> None:
    spec = application(tmp_path)["spec"]

    assert spec["ignoreDifferences"] == [
        {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    ]
    assert "RespectIgnoreDifferences=true" in spec["syncPolicy"]["syncOptions"]


def test_options_change_only_the_fields_that_they_name(tmp_path: Path) -> None:
    options = {
        "type": "argocd",
        "namespace": "cd",
        "project": "teaching",
        "automated": False,
        "retries": -1,
        "syncOptions": ["ServerSideApply=false", "Validate=false"],
        "cascade": True,
        "labels": {"team": "on"},
        "annotations": {"argocd.argoproj.io/compare-options": "IgnoreExtraneous", "a/b": "1e3"},
    }
    files = rendered(
        tmp_path, engine=options, kustomization=True, clusters=[{"name": "prod", "namespace": "n"}]
    )
    (found,) = files.pop("gitops/argocd/prod.yaml")
    expected = application(tmp_path / "plain")
    expected["metadata"].update(
        namespace="cd",
        labels={**OURS, "team": "on"},
        annotations={**COMPARED, **options["annotations"]},  # type: ignore[dict-item]
        finalizers=["resources-finalizer.argocd.argoproj.io"],
    )
    spec = expected["spec"]
    spec.update(project="teaching")
    spec["destination"]["namespace"] = "n"
    del spec["source"]["directory"]  # or kustomization.yaml would be taken for a manifest
    del spec["syncPolicy"]["automated"]
    spec["syncPolicy"]["retry"]["limit"] = -1
    spec["syncPolicy"]["syncOptions"] = [
        "RespectIgnoreDifferences=true",
        "ServerSideApply=false",
        "ApplyOutOfSyncOnly=true",
        "Validate=false",
    ]

    assert found == expected
    assert files == {}  # the project is the team's own


def test_prune_can_be_switched_off_without_self_heal(tmp_path: Path) -> None:
    engine = {"type": "argocd", "prune": False}
    found = application(tmp_path, engine=engine)["spec"]["syncPolicy"]["automated"]

    assert found == {"prune": False, "selfHeal": True}


@pytest.mark.parametrize(
    ("path", "found"),
    [(".", ""), ("./", ""), ("/", ""), ("teaching", "teaching/"), ("./a//b/", "a/b/")],
    ids=["dot", "dot-slash", "slash", "folder", "untidy"],
)
def test_the_source_path_starts_with_the_path_of_the_repository(
    tmp_path: Path, path: str, found: str
) -> None:
    source = application(tmp_path, repository={**HOME, "path": path})["spec"]["source"]

    assert source["path"] == f"{found}rendered/clusters/prod"


SEVERAL: list[Any] = [
    {"name": "prod", "priority": -5},
    {"name": "hub", "destination": {"name": "hub"}, "namespace": "seats"},
    {"name": "own", "destination": {"name": "own"}, "engine": {"type": "argocd", "project": "theirs"}},
    {"name": "flux", "engine": "flux"},
]
CLASSES = [
    resource_class("a", "prod", "renku", "jhub"),
    resource_class("b", "hub", "renku"),
    resource_class("c", "hub", "seats"),
    resource_class("d", "own", "elsewhere"),
    resource_class("e", "flux", "elsewhere"),
    resource_class("f", "prod"),
]
HERE = "https://kubernetes.default.svc"


def test_the_project_allows_our_places_and_nothing_else(tmp_path: Path) -> None:
    """Of all clusters; the Roles of sessions stand in the sessions' namespaces of their own cluster."""
    (found,) = projects(tmp_path, *CLASSES, clusters=SEVERAL)

    assert found["spec"]["destinations"] == [
        {"server": HERE, "namespace": "berth"},
        {"server": HERE, "namespace": "jhub"},
        {"server": HERE, "namespace": "renku"},
        {"name": "hub", "namespace": "renku"},
        {"name": "hub", "namespace": "seats"},
    ]


def test_the_project_allows_cluster_roles_that_read_sessions_of_all_namespaces(tmp_path: Path) -> None:
    """By patterns: each reservation has a binding, and each kind of sessions a role."""
    by_label = resource_class("a", "prod", "renku")
    by_label["spec"]["sessions"]["namespaces"] = {"matchLabels": {"home": "yes"}}
    (found,) = projects(tmp_path, by_label, clusters=[{"name": "prod"}])

    assert found["spec"]["destinations"] == [{"server": HERE, "namespace": "berth"}]
    rbac = "rbac.authorization.k8s.io"
    assert [one for one in found["spec"]["clusterResourceWhitelist"] if one["group"] == rbac] == [
        {"group": rbac, "kind": "ClusterRole", "name": "berth-sessions.uni"},
        {"group": rbac, "kind": "ClusterRole", "name": "berth-sessions.uni.*"},
        {"group": rbac, "kind": "ClusterRoleBinding", "name": "berth-sessions.uni.*"},
    ]


def test_argocd_before_3_3_gets_no_single_names_in_its_project(tmp_path: Path) -> None:
    (found,) = projects(tmp_path, engine={"type": "argocd", "version": "3.2"})

    assert found["spec"]["clusterResourceWhitelist"] == [
        {"group": "", "kind": "Namespace"},
        {"group": "scheduling.k8s.io", "kind": "PriorityClass"},
    ]


def test_the_service_account_is_impersonated_in_the_namespace_of_each_cluster(tmp_path: Path) -> None:
    clusters = [{"name": "prod"}, {"name": "hub", "destination": {"name": "hub"}, "namespace": "seats"}]
    engine = {"type": "argocd", "serviceAccount": "argocd:berth"}
    (found,) = projects(tmp_path, clusters=clusters, engine=engine)

    assert found["spec"]["destinationServiceAccounts"] == [
        {
            "server": "https://kubernetes.default.svc",
            "namespace": "berth",
            "defaultServiceAccount": "argocd:berth",
        },
        {"server": "*", "namespace": "seats", "defaultServiceAccount": "argocd:berth"},
    ]


def test_each_argocd_namespace_has_a_project_of_its_own_clusters(tmp_path: Path) -> None:
    clusters = [
        {"name": "a"},
        {"name": "b", "engine": {"type": "argocd", "namespace": "other"}, "priority": -3},
    ]
    first, second = projects(tmp_path, clusters=clusters)

    assert [one["metadata"]["namespace"] for one in (first, second)] == ["argocd", "other"]
    names = [
        [kind.get("name") for kind in one["spec"]["clusterResourceWhitelist"]] for one in (first, second)
    ]
    assert names == [["berth", "berth-uni-10"], ["berth", "berth-uni-3"]]


def test_a_cluster_named_project_shares_the_file_of_the_project(tmp_path: Path) -> None:
    files = rendered(tmp_path, engine="argocd", clusters=[{"name": "project"}])

    assert {path: [one["kind"] for one in file] for path, file in files.items()} == {
        "gitops/argocd/project.yaml": ["AppProject", "Application"]
    }


def test_names_of_sites_that_share_an_argocd_do_not_collide(tmp_path: Path) -> None:
    """Not even where one's name is the beginning of the other's."""
    names = [
        (one["kind"], one["metadata"]["name"])
        for site, cluster in (("a", "b-c"), ("a-b", "c"))
        for found in rendered(
            tmp_path / site, name=site, engine="argocd", clusters=[{"name": cluster}]
        ).values()
        for one in found
    ]

    assert len(names) == len(set(names)) == 4


def test_without_a_repository_no_application_is_rendered(tmp_path: Path) -> None:
    assert rendered(tmp_path, engine="argocd", repository=None) == {}


def test_a_project_allows_profiles_only_where_they_may_be(tmp_path: Path) -> None:
    kinds = [
        {one["kind"] for one in found["spec"]["clusterResourceWhitelist"]}
        for name, koordinator in (("plain", {}), ("profiles", {"colocationProfiles": True}))
        for found in projects(tmp_path / name, clusters=[{"name": "prod", "koordinator": koordinator}])
    ]

    assert kinds[1] - kinds[0] == {"ClusterColocationProfile"}
