"""A Namespace that others use is not rendered: it would be restricted, and pruned with everything in it."""

from pathlib import Path

import pytest
from berth.checks import platforms

from tests.cases import tabled
from tests.checks.backendproblems import project_of
from tests.cli import project
from tests.manifests.parts import of_cluster
from tests.saying import Value, finding, lines, read, reservation, resource_class, site

HUB: Value = {"sessions": {"source": "jupyterhub", "namespaces": ["other", "jhub"]}}
REPOSITORY = {"url": "https://git.example.org/a.git", "revision": "main"}
OWNERS = [{"object": {"namespace": "jhub"}, "labelSelector": {"matchLabels": {"a": "b"}}}]


def told(*documents: Value) -> list[str]:
    declared = read(*documents)
    return lines(platforms.check_namespace_per_cluster(project_of(declared)))


def test_the_namespace_of_sessions_is_an_error_in_the_cluster_that_creates_it() -> None:
    own, other = {"name": "prod", "namespace": "jhub"}, {"name": "lab", "namespace": "berth"}

    assert told(site(own, other), resource_class(cluster="prod", **HUB)) == [
        finding("B280 spec.clusters.0.namespace", "jhub", "class small", "prod", "create: false")
    ]
    assert told(site(own, other), resource_class(cluster="lab", **HUB)) == []


def test_the_site_namespace_and_the_default_namespace_are_checked() -> None:
    berth: Value = {
        "sessions": {"source": "pods", "namespaces": ["berth"], "selector": {"matchLabels": {"a": "b"}}}
    }

    assert told(site(namespace="jhub"), resource_class(**HUB)) == ["B280 spec.namespace"]
    assert told(site(), resource_class(**berth)) == ["B280 spec.namespace"]
    assert told(site(), resource_class(**HUB)) == []


def test_each_cluster_that_inherits_the_namespace_is_named_at_the_site() -> None:
    own, other = {"name": "prod", "namespace": "jhub"}, {"name": "lab"}
    classes = (resource_class(name=name, cluster=name, **HUB) for name in ("prod", "lab"))

    assert told(site(own, other, namespace="jhub"), *classes) == [
        finding("B280 spec.clusters.0.namespace", "cluster prod"),
        finding("B280 spec.namespace", "cluster lab"),
    ]


def test_an_existing_namespace_may_be_shared() -> None:
    shared = {"name": "jhub", "create": False}

    assert told(site(namespace=shared), resource_class(**HUB)) == []
    assert told(site(namespace={**shared, "create": True}), resource_class(**HUB)) == ["B280 spec.namespace"]


def test_the_namespace_of_slot_owners_is_refused() -> None:
    cluster = {"name": "prod", "koordinator": {}, "namespace": "jhub"}
    course = reservation(backend={"type": "koordinator", "owners": OWNERS})

    assert told(site(cluster), resource_class(), course) == [
        finding("B280 spec.clusters.0.namespace", "reservation course")
    ]


@tabled("checks")
def test_the_namespace_of_the_engine_is_refused(engine: object, namespace: str) -> None:
    said = {"engine": engine, "repository": REPOSITORY}

    assert told(site(namespace=namespace, **said)) == ["B280 spec.namespace"]
    assert told(site(namespace="berth", **said)) == []


@pytest.mark.parametrize("engine", ["none", "argocd", "flux"])
def test_a_shared_namespace_is_not_rendered(tmp_path: Path, engine: str) -> None:
    text = project.SITE.replace("- name: prod", f"- {{name: prod, engine: {engine}}}")
    shared = text + "  namespace: {name: jhub, create: false}\n"

    (first, *_) = of_cluster(tmp_path / "own", "prod", site=text)
    found = of_cluster(tmp_path, "prod", site=shared)

    assert first["kind"] == "Namespace"
    assert "Namespace" not in {one["kind"] for one in found}
    assert {one["metadata"].get("namespace", "jhub") for one in found} == {"jhub"}
