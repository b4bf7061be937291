"""`Site`: the defaults, what a cluster overrides, and what a platform team is told."""

from typing import Any

import pytest
from berth.schema.site import ImagesSpec, RenkuSpec
from berth.schema.values import Site

from tests.built import built
from tests.cases import table
from tests.saying import finding, site, told, valid

HOME = {"url": "https://git.example.org/capacity.git", "revision": "main"}
JOBS = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}
WAITING = {"requests": {"cpu": "1m", "memory": "12Mi"}, "limits": {"memory": "32Mi"}}
A_PYTHON = f"a/python@sha256:{'1' * 64}"
IMAGE = f"example.org/berth:1.0@sha256:{'0' * 64}"


def made(*clusters: dict[str, Any], **spec: object) -> Site:
    declared = valid(site(*clusters, **spec))
    assert declared.site is not None
    return declared.site


def test_empty_fields_have_no_effect() -> None:
    empty: dict[str, object] = {"nodeSelector": {}, "tolerations": [], "resources": {}}

    for prod in (
        *made(runtime=empty, images={}).clusters,
        *made({"name": "prod", "runtime": empty, "images": {}, "ceilings": []}).clusters,
    ):
        assert (prod.images, prod.job_resources, prod.occurrence_resources) == (ImagesSpec(), JOBS, WAITING)
        assert not prod.runtime.node_selector
        assert not prod.runtime.tolerations


def test_a_null_in_a_cluster_keeps_the_value_of_the_site() -> None:
    nothing = {"image": None, "priorityClassName": None, "podLabels": None}
    of_site = {"image": IMAGE, "priorityClassName": "jobs", "podLabels": {"a": "b"}}
    (prod,) = made({"name": "prod", "runtime": nothing}, runtime=of_site).clusters

    assert (prod.runtime.image, prod.runtime.priority_class_name) == (IMAGE, "jobs")
    assert prod.runtime.pod_labels == {"a": "b"}


@pytest.mark.parametrize(
    ("destination", "expected"),
    [({"server": "https://a.example"}, ("server", "https://a.example")), ({"name": "hub"}, ("name", "hub"))],
)
def test_a_destination_is_an_address_or_a_name(
    destination: dict[str, str], expected: tuple[str, str]
) -> None:
    (prod,) = made({"name": "prod", "destination": destination}, engine="argocd", repository=HOME).clusters

    assert prod.destination_of_argocd == expected


def test_hubs_are_given_as_a_path_or_a_list() -> None:
    hubs = [{"files": ["a.yaml"], "namespace": "a"}, {"files": ["b.yaml"], "namespace": "b", "release": "x"}]
    one, several = made(
        {"name": "one", "z2jh": "./hub//values.yaml"}, {"name": "several", "z2jh": hubs}
    ).clusters

    assert [(below, hub.files, hub.namespace) for below, hub in one.hubs] == [
        (("z2jh",), ("hub/values.yaml",), None)
    ]
    assert [(below, hub.files, hub.release) for below, hub in several.hubs] == [
        (("z2jh", 0), ("a.yaml",), None),
        (("z2jh", 1), ("b.yaml",), "x"),
    ]


def test_the_renku_url_needs_no_token_and_loses_its_trailing_slash() -> None:
    found = made(renku={"url": "http://renku.svc:8080/base/"})

    assert found.renku == built(RenkuSpec, {"url": "http://renku.svc:8080/base"})


def test_a_cluster_overrides_the_site_key_by_key() -> None:
    whole = made(
        {
            "name": "hub",
            "engine": "flux",
            "namespace": "hub-berth",
            "priority": -3,
            "images": {"python": A_PYTHON, "pullSecrets": []},
            "runtime": {"tolerations": [], "resources": {"requests": {"memory": "128Mi"}}},
        },
        engine="argocd",
        repository=HOME,
        images={"pause": "a/pause", "python": IMAGE, "pullSecrets": ["a"]},
        runtime={"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}]},
    )

    (hub,) = whole.clusters
    assert (hub.namespace, hub.has_own_namespace, hub.engine, hub.priority) == ("hub-berth", True, "flux", -3)
    images = {"pause": "a/pause", "python": A_PYTHON, "pull_secrets": ()}
    assert dict(hub.images) == images
    assert (hub.runtime.node_selector, hub.runtime.tolerations) == ({"a": "b"}, ())
    limits = {"memory": "128Mi"}
    assert hub.job_resources == {"requests": {"cpu": "10m", "memory": "128Mi"}, "limits": limits}
    assert hub.occurrence_resources == {"requests": {"cpu": "1m", "memory": "128Mi"}, "limits": limits}


def test_empty_resources_of_a_cluster_keep_those_of_the_site() -> None:
    of_site = {"resources": {"limits": {"memory": "128Mi", "example.org/fpga": 1}}}
    cluster = made({"name": "prod", "runtime": {"resources": {}}}, runtime=of_site).clusters[0]

    # A device is requested as it is limited.
    assert cluster.job_resources == {
        "requests": {"cpu": "10m", "memory": "32Mi", "example.org/fpga": "1"},
        "limits": {"memory": "128Mi", "example.org/fpga": "1"},
    }


def test_a_runtime_image_needs_a_digest() -> None:
    assert made(runtime={"image": IMAGE}).clusters[0].runtime.image == IMAGE
    for name in ("example.org/berth", "example.org/berth:1.0", "example.org/berth@sha256:12"):
        assert told(site(runtime={"image": name})) == [finding("a.yaml B019 spec.runtime.image", name)]


@pytest.mark.parametrize(("spec", "problems"), table("site"))
def test_faults_of_a_site_are_reported(spec: dict[str, object], problems: list[str]) -> None:
    assert sorted(f"a.yaml {problem}" for problem in problems) == told(site(**spec))
