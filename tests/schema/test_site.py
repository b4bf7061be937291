"""`Site`: the defaults, what a cluster overrides, and what a platform team is told."""

from typing import Any

import pytest
from berth.schema.basemodel import Model
from berth.schema.engine import NoEngine
from berth.schema.fluxoptions import Flux
from berth.schema.pod import Tolerating
from berth.schema.siteparts import RenkuSpec
from berth.schema.values import Cluster, Images, Site

from tests.built import built
from tests.cases import table
from tests.saying import finding, read, site, told

HERE = ("server", "https://kubernetes.default.svc")
JOBS = {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}}
WAITING = {"requests": {"cpu": "1m", "memory": "12Mi"}, "limits": {"memory": "32Mi"}}
A_PYTHON = f"a/python@sha256:{'1' * 64}"
IMAGE = f"example.org/berth:1.0@sha256:{'0' * 64}"
PYTHON = "python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b"


def made(*clusters: dict[str, Any], **spec: object) -> Site:
    declared = read(site(*clusters, **spec))
    assert declared.problems == []
    assert declared.site is not None
    return declared.site


def engine(model: type[Model]) -> dict[str, Any]:
    name = model.model_fields["type"].annotation.__args__[0]  # type: ignore[union-attr] # a Literal
    options = built(model, {"type": name})
    return {
        "engine": name,
        "engine_options": options,
        "replicas_in_git": name != "none",
        "destination": HERE,
    }


def runtime(**said: Any) -> Tolerating:
    return built(Tolerating, {"nodeSelector": {}, "tolerations": [], **said})


def test_whatever_is_left_out_has_its_default() -> None:
    whole = made()
    assert whole[1:10] == (
        "example",
        "UTC",
        (
            Cluster(
                name="prod",
                namespace="berth",
                **engine(NoEngine),
                autoscaler="none",
                ceilings=(),
                priority=-10,
                images=Images("registry.k8s.io/pause:3.10.1", PYTHON, ()),
                runtime=runtime(),
                job_resources=JOBS,
                occurrence_resources=WAITING,
            ),
        ),
        False,
        30,
        5,
        None,
        24,
        None,
    )


def test_what_is_empty_says_nothing() -> None:
    empty: dict[str, object] = {"nodeSelector": {}, "tolerations": [], "resources": {}}

    assert made(runtime=empty, images={}) == made()
    assert made({"name": "prod", "runtime": empty, "images": {}, "ceilings": []}) == made()


def test_one_word_of_the_scaler_leaves_the_other_its_default() -> None:
    first, second = made(scaler={"readyMinutes": 0}), made(scaler={"stabilizationSeconds": 7})
    assert (first.stabilization_seconds, first.ready_minutes) == (30, 0)
    assert (second.stabilization_seconds, second.ready_minutes) == (7, 5)


def test_renkus_api_needs_no_token_and_a_slash_at_its_end_says_nothing() -> None:
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
        repository={"url": "https://git.example.org/capacity.git", "revision": "main"},
        images={"pause": "a/pause", "python": IMAGE, "pullSecrets": ["a"]},
        runtime={"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}]},
    )

    assert whole.clusters == (
        Cluster(
            name="hub",
            namespace="hub-berth",
            has_own_namespace=True,
            **engine(Flux),
            autoscaler="none",
            ceilings=(),
            priority=-3,
            images=Images("a/pause", A_PYTHON, ()),
            runtime=runtime(nodeSelector={"a": "b"}),
            job_resources={
                "requests": {"cpu": "10m", "memory": "128Mi"},
                "limits": {"memory": "128Mi"},
            },
            occurrence_resources={
                "requests": {"cpu": "1m", "memory": "128Mi"},
                "limits": {"memory": "128Mi"},
            },
        ),
    )


def test_an_empty_mapping_of_resources_leaves_the_sites() -> None:
    of_site = {"resources": {"limits": {"memory": "128Mi", "example.org/fpga": 1}}}
    cluster = made({"name": "prod", "runtime": {"resources": {}}}, runtime=of_site).clusters[0]

    # A device is requested as it is limited.
    assert cluster.job_resources == {
        "requests": {"cpu": "10m", "memory": "32Mi", "example.org/fpga": "1"},
        "limits": {"memory": "128Mi", "example.org/fpga": "1"},
    }


def test_an_image_with_our_code_has_a_digest() -> None:
    assert made(runtime={"image": IMAGE}).clusters[0].runtime_image == IMAGE
    for name in ("example.org/berth", "example.org/berth:1.0", "example.org/berth@sha256:12"):
        assert told(site(runtime={"image": name})) == [finding("a.yaml B019 spec.runtime.image", name)]


@pytest.mark.parametrize(("spec", "problems"), table("site"))
def test_what_a_platform_team_is_told(spec: dict[str, object], problems: list[str]) -> None:
    assert sorted(f"a.yaml {problem}" for problem in problems) == told(site(**spec))
