"""Values of a chart are read where they are written; if they are elsewhere, it is said how to get them."""

import json
from typing import Any

import pytest
import yaml
from berth.findings import Origin
from berth.reading.source import Source
from berth.schema.helmvalues import ValuesReading, merged, read_values

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
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: hub}\n"


def application(source: object, **spec: object) -> str:
    whole = {"destination": {"namespace": "hub"}, "source": source, **spec}
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "hub"}}
    return json.dumps({**head, "spec": whole})


def reading(*texts: str, **options: Any) -> ValuesReading:
    """Read files that are layers: a/0.yaml, a/1.yaml and so on."""
    files = [Source(f"a/{i}.yaml", text.encode()) for i, text in enumerate(texts)]
    return read_values(files, **options)


def values(*texts: str, **options: Any) -> Any:
    """Return the values of files without any problem."""
    found = reading(*texts, **options)
    assert found.problems == ()
    assert found.values is not None
    return found.values.value


def codes(found: ValuesReading) -> list[str]:
    return [problem.code for problem in found.problems]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(HUB), id="plain"),
        pytest.param(RELEASE % ("hub", "2G"), id="flux"),
        pytest.param(NAMESPACE + "---\n" + RELEASE % ("hub", "2G"), id="flux-second-document"),
        pytest.param(NAMESPACE + "---\n" + json.dumps(HUB), id="plain-second-document"),
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
def test_the_values_of_the_chart_are_found_in_every_form(text: str) -> None:
    assert values(text) == HUB


def test_the_heading_of_helm_get_values_does_not_matter() -> None:
    assert values(json.dumps({"USER-SUPPLIED VALUES": None, **HUB}))["singleuser"] == HUB["singleuser"]


FILES = {
    "beside-the-chart": (
        {"path": "charts/hub", "helm": {"valueFiles": ["values.yaml", "../prod.yaml"]}},
        "charts/hub/values.yaml charts/prod.yaml --namespace hub --release hub",
    ),
    "of-a-ref": (
        {"chart": "jupyterhub", "helm": {"valueFiles": ["$values/apps/hub.yaml", "/top.yaml"]}},
        "apps/hub.yaml top.yaml --namespace hub --release hub",
    ),
    "with-its-own": (
        {"helm": {"valueFiles": ["my values.yaml"], "valuesObject": HUB, "releaseName": "b"}},
        "'my values.yaml' a/0.yaml --namespace hub --release b",
    ),
}


@pytest.mark.parametrize(("source", "words"), FILES.values(), ids=FILES)
def test_value_files_are_refused_with_the_command_that_names_them_in_their_order(
    source: dict[str, Any], words: str
) -> None:
    found = reading(application(source))
    problem = found.problems[0]

    assert (found.values, problem.code, problem.path) == (
        None,
        "B260",
        ("spec", "source", "helm", "valueFiles"),
    )
    assert f": berth import z2jh {words} (in the Site, files)." in problem.fix


FROM = "  valuesFrom: [{kind: Secret, name: a}]\n"


def test_values_of_a_release_that_are_elsewhere_are_refused_with_the_command_of_helm() -> None:
    (found,) = reading(RELEASE % ("hub", "2G") + FROM).problems

    assert (found.code, found.path) == ("B260", ("spec", "valuesFrom"))
    assert "helm get values hub --namespace hubs --all --output yaml > hub-values.yaml." in found.fix
    assert "secrets" in found.fix


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            (RELEASE % ("hub", "2G")).replace("jupyterhub}", "jupyterhub, valuesFiles: [a.yaml]}"),
            ("spec", "chart", "spec", "valuesFiles"),
        ),
        (
            application({"helm": {"valuesObject": HUB, "parameters": [{"name": "a", "value": "1"}]}}),
            ("spec", "source", "helm", "parameters"),
        ),
        (
            application({"helm": {"valuesObject": HUB, "fileParameters": [{"name": "a", "path": "b"}]}}),
            ("spec", "source", "helm", "fileParameters"),
        ),
        (application({"helm": {"valuesObject": "a"}}), ("spec", "source", "helm", "valuesObject")),
        (application({"helm": {"values": 5}}), ("spec", "source", "helm", "values")),
        (application({}, sources=[{"helm": {"values": "a"}}, {"helm": {"values": "b"}}]), ("spec",)),
    ],
    ids=["in-the-chart", "parameters", "file-parameters", "no-mapping", "no-text", "two-sources"],
)
def test_what_is_not_read_is_refused_at_its_key(text: str, path: tuple[Any, ...]) -> None:
    found = reading(text)

    assert found.values is None
    assert [problem.path for problem in found.problems] == [path]


@pytest.mark.parametrize(
    "upper",
    [RELEASE % ("hub", "2G") + FROM, application({"helm": {"valueFiles": ["a.yaml"], "valuesObject": HUB}})],
    ids=["flux", "argocd"],
)
def test_values_that_are_elsewhere_may_be_given_as_layers_below(upper: str) -> None:
    assert values(json.dumps({"hub": {"concurrentSpawnLimit": 9}}), upper) == {
        **HUB,
        "hub": {"concurrentSpawnLimit": 9},
    }


@pytest.mark.parametrize(
    ("lower", "upper", "result"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": {"b": 1}}, {"a": {"b": None}}, {"a": {"b": None}}),
        ({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}),
        ({"a": None}, {"a": {"b": 2}}, {"a": {"b": 2}}),
    ],
    ids=["mappings-merge", "lists-are-replaced", "null-for-a-mapping", "null", "scalar", "after-null"],
)
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
    ("text", "options"),
    [
        ("controller: {replicas: 2}\nimage: {tag: a}", {}),
        ("proxy: {enabled: true, http: {}}\ningress: {}", {}),
        ("global: {hub: a}", {}),
        ("[1, 2]", {}),
        (NAMESPACE, {}),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {values.yaml: 'singleuser: {}'}", {}),
        (RELEASE.partition("  values:")[0] % "hub", {}),
        (application({"chart": "jupyterhub"}), {}),
        (application({"helm": {"valuesObject": {"controller": {}}}}), {}),
        (json.dumps({"jupyterhub": HUB}), {}),
        (json.dumps({"a": HUB}), {"prefix": ("b",)}),
        (json.dumps(HUB) + "\n---\n" + json.dumps(HUB), {}),
        (RELEASE % ("a", "1G") + "---\n" + RELEASE % ("b", "2G"), {}),
        (RELEASE % ("a", "1G") + "---\n" + RELEASE % ("b", "2G"), {"release": "b"}),
    ],
    ids=[
        "another-chart",
        "chart-with-a-proxy",
        "hub-of-another-meaning",
        "list",
        "namespace",
        "config-map",
        "release-without-values",
        "application-without-values",
        "application-of-another-chart",
        "below-another-key",
        "wrong-prefix",
        "two-documents",
        "two-releases",
        "two-releases-and-a-name",
    ],
)
def test_a_file_without_values_of_one_hub_is_an_error(text: str, options: dict[str, Any]) -> None:
    found = reading(text, **options)

    assert (codes(found), found.values) == (["B260"], None)


def test_a_prefix_leads_to_the_values() -> None:
    other = {"singleuser": {"memory": {"guarantee": "9G"}}}
    text = json.dumps({"a": {"c": other}, "b": {"c": HUB}})

    assert values(text, prefix=("b", "c")) == HUB
    assert "Site: prefix): a.c or b.c." in reading(text).problems[0].fix


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
def test_a_release_knows_its_name_and_namespace(text: str, release: str, namespace: str) -> None:
    found = reading(text).values

    assert found is not None
    assert (found.release, found.namespace) == (release, namespace)


def test_each_layer_has_values_of_the_chart() -> None:
    found = reading(json.dumps(HUB), "ingress: {enabled: true}")

    assert (codes(found), found.values, found.problems[0].file) == (["B260"], None, "a/1.yaml")


def test_a_name_that_is_given_wins() -> None:
    found = reading(RELEASE % ("hub", "2G"), release="other").values

    assert found is not None
    assert found.release == "other"


def test_faults_in_text_of_yaml_have_the_place_of_the_text() -> None:
    found = reading(application({"helm": {"values": "singleuser:\n  a: [1"}}))

    assert found.values is None
    assert {problem.code for problem in found.problems} >= {"B003"}
    assert found.problems[0].path == ("spec", "source", "helm", "values")
