"""Values of a chart are read where they are written; what is elsewhere, or of another format, is refused."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
import yaml
from berth.findings import Origin
from berth.reading.source import Source
from berth.schema.helmvalues import HelmValues, merged, read_values
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import tabled
from tests.edit.hubvalues import HERE

HUB = {"singleuser": {"memory": {"guarantee": "2G"}}}
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %s, namespace: hubs}
spec:
  chart: {spec: {chart: jupyterhub}}
  values:
    singleuser: {memory: {guarantee: %s}}
"""
FROM = "  valuesFrom: [{kind: Secret, name: a}]\n"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: hub}\n"


def application(source: object, **spec: object) -> str:
    whole = {"destination": {"namespace": "hub"}, "source": source, **spec}
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "hub"}}
    return json.dumps({**head, "spec": whole})


class Reading(NamedTuple):
    values: HelmValues | None
    problems: Sequence[Any]


def reading(*texts: str, **options: Any) -> Reading:
    """Read files that are layers: a/0.yaml, a/1.yaml and so on."""
    files = [Source(f"a/{i}.yaml", text.encode()) for i, text in enumerate(texts)]
    return Reading(*read_values(files, **options))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(HUB), id="plain"),
        pytest.param(json.dumps({"jupyterhub": HUB}), id="of-a-chart-that-depends-on-it"),
        pytest.param(json.dumps({"basehub": {"jupyterhub": HUB}}), id="of-a-chart-of-such-a-chart"),
        pytest.param(RELEASE % ("hub", "2G"), id="flux"),
        pytest.param(NAMESPACE + "---\n" + RELEASE % ("hub", "2G"), id="flux-second-document"),
        pytest.param(application({"helm": {"valuesObject": HUB}}), id="argocd-object"),
        pytest.param(application({"helm": {"values": yaml.safe_dump(HUB)}}), id="argocd-text"),
        pytest.param(
            application({}, sources=[{"ref": "values"}, {"helm": {"valuesObject": HUB}}]), id="argocd-sources"
        ),
        pytest.param(
            application({"helm": {"valuesObject": HUB, "values": "singleuser: {}"}}), id="argocd-object-wins"
        ),
    ],
)
def test_chart_values_are_found_in_every_form(text: str) -> None:
    found = reading(text)

    assert found.problems == []
    assert found.values is not None
    assert (found.values.value, found.values.unread) == (HUB, ())


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ((RELEASE % ("hub", "2G")) + FROM, "spec.valuesFrom"),
        (
            (RELEASE % ("hub", "2G")).replace("jupyterhub}", "jupyterhub, valuesFiles: [a.yaml]}"),
            "spec.chart.spec.valuesFiles",
        ),
        (
            application({"helm": {"valueFiles": ["a.yaml"], "valuesObject": HUB}}),
            "spec.source.helm.valueFiles",
        ),
        (
            application({"helm": {"valuesObject": HUB, "parameters": [{"name": "a", "value": "1"}]}}),
            "spec.source.helm.parameters",
        ),
        (application({"helm": {"valuesObject": "a"}}), "spec.source.helm.valuesObject"),
        (application({"helm": {"values": 5}}), "spec.source.helm.values"),
        (application({}, sources=[{"helm": {"values": "a"}}, {"helm": {"values": "b"}}]), "spec"),
    ],
    ids=["values-from", "in-the-chart", "files", "parameters", "no-mapping", "no-text", "two-sources"],
)
def test_values_that_are_not_read_are_refused_at_their_key(text: str, path: str) -> None:
    found = reading(text)

    assert found.values is None
    assert [".".join(map(str, problem.path)) for problem in found.problems] == [path]
    assert all("helm get values hub " in one.fix for one in found.problems if one.code == "B260")


@pytest.mark.parametrize(
    "upper",
    [RELEASE % ("hub", "2G") + FROM, application({"helm": {"valueFiles": ["a.yaml"], "valuesObject": HUB}})],
    ids=["flux", "argocd"],
)
def test_values_from_elsewhere_may_be_given_as_lower_layers(upper: str) -> None:
    found = reading(json.dumps({"hub": {"concurrentSpawnLimit": 9}}), upper).values

    assert found is not None
    assert found.value == {**HUB, "hub": {"concurrentSpawnLimit": 9}}


OVERRIDE = {"profiles": [{"kubespawner_override": {"mem_guarantee": "4G"}}]}


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ((HERE / "nebari.yaml").read_text(), ["profiles", "jupyterhub.overrides"]),
        ((HERE / "fleet2.yaml").read_text(), ["helm", "targetCustomizations"]),
        (json.dumps({**HUB, "hubs": OVERRIDE}), ["hubs"]),
        (json.dumps({"jupyterhub": HUB, "other": {"jupyterhub": HUB}}), ["other"]),
        (json.dumps({"jupyterhub": HUB, **HUB}), ["jupyterhub"]),
        (json.dumps({"a": {"jupyterhub": HUB}, "b": {"jupyterhub": HUB}}), ["a", "b"]),
        (json.dumps({"singleuser": OVERRIDE}), ["singleuser.profiles"]),
        (json.dumps({"singleUser": {}, "singleuser": {}, "hub": {}, "x": {"mem_limit": 1}}), ["x"]),
    ],
    ids=["nebari", "fleet", "beside", "other-chart", "both", "two", "in-singleuser", "size"],
)
def test_profiles_and_sizes_under_an_unknown_key_are_errors(text: str, paths: list[str]) -> None:
    found = reading(text)

    assert found.values is None
    assert [one.code for one in found.problems] == ["B260"]
    (problem,) = found.problems
    assert ".".join(map(str, problem.path)) == paths[0]
    assert f" {', '.join(paths)}, " in problem.message
    assert "helm get values" in problem.fix


@pytest.mark.parametrize(
    "text",
    [
        "controller: {replicas: 2}\nimage: {tag: a}",
        "proxy: {enabled: true, http: {}}\ningress: {}",
        "global: {hub: a}",
        "hub: {image: {tag: a}}",
        "cull: {enabled: true}",
        "[1, 2]",
        NAMESPACE,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {values.yaml: 'singleuser: {}'}",
        RELEASE.partition("  values:")[0] % "hub",
        application({"chart": "jupyterhub"}),
        application({"helm": {"valuesObject": {"controller": {}}}}),
        json.dumps(HUB) + "\n---\n" + json.dumps(HUB),
        RELEASE % ("a", "1G") + "---\n" + RELEASE % ("b", "2G"),
    ],
)
def test_a_file_without_values_of_one_hub_is_an_error(text: str) -> None:
    found = reading(text)

    assert ([problem.code for problem in found.problems], found.values) == (["B260"], None)


def test_unknown_keys_are_listed() -> None:
    found = reading(
        json.dumps({"nfs": {"a": 1}, "jupyterhub": {**HUB, "extra": {}}}),
        json.dumps({"USER-SUPPLIED VALUES": None, "jupyterhub": {"singleuser": {"memry": {}}}}),
        json.dumps({"jupyterhub": {"custom": OVERRIDE}}),
    ).values

    assert found is not None
    assert found.unread == ("nfs", "jupyterhub.extra", "jupyterhub.singleuser.memry", "jupyterhub.custom")


@tabled("schema")
def test_layers_are_merged_as_helm_does(lower: Any, upper: Any, result: Any) -> None:
    assert merged(lower, upper) == result


def test_a_value_has_the_place_of_the_layer_that_wins() -> None:
    found = reading(
        json.dumps({"singleuser": {"profileList": [{"a": 1}, {"a": 2}], "cpu": {"limit": 1}}}),
        RELEASE % ("hub", "2G"),
    ).values

    assert found is not None
    assert found.place(("singleuser", "memory", "guarantee")) == (
        Origin("a/1.yaml"),
        ("spec", "values", "singleuser", "memory", "guarantee"),
    )
    assert found.place(("singleuser", "profileList", 1, "a"))[0] == Origin("a/0.yaml")
    assert found.place(("hub",))[0] == Origin("a/1.yaml")  # nobody has it


@pytest.mark.parametrize(
    ("text", "release", "namespace"),
    [
        (RELEASE % ("hub", "2G"), "hub", "hubs"),
        (RELEASE % ("hub", "2G") + "  targetNamespace: b\n", "b-hub", "b"),
        (RELEASE % ("hub", "2G") + "  releaseName: c\n  targetNamespace: b\n", "c", "b"),
        (application({"helm": {"valuesObject": HUB}}), "hub", "hub"),
        (application({"helm": {"releaseName": "d", "valuesObject": HUB}}), "d", "hub"),
        (json.dumps(HUB), "", ""),
    ],
    ids=["flux", "flux-target", "flux-name", "argocd", "argocd-name", "plain"],
)
def test_the_release_name_and_namespace_are_read_from_the_values_file(
    text: str, release: str, namespace: str
) -> None:
    found, given = reading(text).values, reading(text, release="x").values

    assert found is not None
    assert given is not None
    assert (found.release, found.namespace, given.release) == (release, namespace, "x")


def test_faults_in_embedded_yaml_are_reported_at_the_text() -> None:
    found = reading(application({"helm": {"values": "singleuser:\n  a: [1"}}))

    assert found.values is None
    assert found.problems[0].code == "B003"
    assert found.problems[0].path == ("spec", "source", "helm", "values")


@given(st.lists(st.sampled_from(["jupyterhub", "basehub", "values", "helm", "custom", "hub"]), max_size=3))
def test_values_under_any_keys_are_read_completely_or_refused(keys: list[str]) -> None:
    values: dict[str, Any] = HUB
    for key in reversed(keys):
        values = {key: values}
    found = reading(json.dumps(values))

    if found.values is None:
        assert [problem.code for problem in found.problems] == ["B260"]
    else:
        assert found.values.value == HUB
