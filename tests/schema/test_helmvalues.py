"""Values of a chart as GitOps keeps them are understood whole, or it is said what is not."""

import json
from typing import Any

import pytest
import yaml
from berth.findings import Origin
from berth.reading.source import Source
from berth.schema.helmvalues import ValuesReading, chart_places, merged, read_values

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


def reading(*texts: str, others: dict[str, str] | None = None, **options: Any) -> ValuesReading:
    """Read files that are layers: a/0.yaml, a/1.yaml and so on. `others` are the other files there are."""

    def other_file(path: str) -> Source:
        if others is None or path not in others:
            raise FileNotFoundError(2, "No such file or directory")
        return Source(path, others[path].encode())

    files = [Source(f"a/{i}.yaml", text.encode()) for i, text in enumerate(texts)]
    return read_values(files, other_file=other_file, **options)


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
        pytest.param(json.dumps({"jupyterhub": HUB}), id="subchart"),
        pytest.param(json.dumps({"basehub": {"jupyterhub": HUB, "nfs": {}}}), id="chart-of-a-chart"),
        pytest.param(json.dumps({"teaching": HUB, "ingress": {}}), id="alias"),
        pytest.param(RELEASE % ("hub", "2G"), id="flux"),
        pytest.param(NAMESPACE + "---\n" + RELEASE % ("hub", "2G"), id="flux-second-document"),
        pytest.param(NAMESPACE + "---\n" + json.dumps(HUB), id="plain-second-document"),
        pytest.param(application({"helm": {"valuesObject": HUB}}), id="argocd-object"),
        pytest.param(application({"helm": {"values": yaml.safe_dump(HUB)}}), id="argocd-text"),
        pytest.param(
            application({}, sources=[{"ref": "values"}, {"helm": {"valuesObject": HUB}}]), id="argocd-sources"
        ),
        pytest.param(
            application({"helm": {"parameters": [{"name": "singleuser.memory.guarantee", "value": "2G"}]}}),
            id="argocd-parameters",
        ),
        pytest.param(
            application(
                {
                    "helm": {
                        "valuesObject": {"singleuser": {"memory": {"guarantee": "9G"}}},
                        "parameters": [{"name": "singleuser.memory.guarantee", "value": "2G"}],
                    }
                }
            ),
            id="parameters-win",
        ),
    ],
)
def test_the_values_of_the_chart_are_found_in_every_form(text: str) -> None:
    assert values(text) == HUB


def test_the_heading_of_helm_get_values_does_not_matter() -> None:
    assert values(json.dumps({"USER-SUPPLIED VALUES": None, **HUB}))["singleuser"] == HUB["singleuser"]


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ("values.yaml", "a/values.yaml"),
        ("../shared.yaml", "shared.yaml"),
        ("values.yaml", "charts/hub/values.yaml"),
        ("$values/apps/hub.yaml", "apps/hub.yaml"),
        ("values.yaml", "values.yaml"),
    ],
    ids=["beside", "above", "in-the-source", "of-a-ref", "at-the-top"],
)
def test_value_files_of_an_application_are_layers_below_its_values(entry: str, path: str) -> None:
    own = {"singleuser": {"memory": {"limit": "4G"}}}
    text = application({"path": "charts/hub", "helm": {"valueFiles": [entry], "valuesObject": own}})

    assert values(text, others={path: json.dumps(HUB)}) == {
        "singleuser": {"memory": {"guarantee": "2G", "limit": "4G"}}
    }


@pytest.mark.parametrize(
    "entry",
    ["missing.yaml", "https://example.org/values.yaml", "../../etc/passwd.yaml"],
    ids=["missing", "address", "outside"],
)
def test_a_value_file_that_cannot_be_read_is_told(entry: str) -> None:
    text = application({"helm": {"valueFiles": [entry], "valuesObject": HUB}})
    (found,) = reading(text, others={"../etc/passwd.yaml": "a: b"}).problems

    assert (found.code, found.path) == ("B261", ("spec", "source", "helm", "valueFiles", 0))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            RELEASE % ("hub", "2G") + "  valuesFrom: [{kind: Secret, name: a}, {kind: ConfigMap, name: b}]\n",
            ("spec", "valuesFrom", 0),
        ),
        (
            application({"helm": {"valuesObject": HUB, "parameters": [{"name": "a[0].b", "value": "1"}]}}),
            ("spec", "source", "helm", "parameters", 0),
        ),
        (
            application({"helm": {"valuesObject": HUB, "fileParameters": [{"name": "a", "path": "b"}]}}),
            ("spec", "source", "helm", "fileParameters"),
        ),
        (
            application({"helm": {"valuesObject": HUB, "values": "singleuser: {}"}}),
            ("spec", "source", "helm", "values"),
        ),
    ],
    ids=["values-from", "part-of-a-list", "file-parameters", "values-beside-values-object"],
)
def test_values_that_cannot_be_seen_or_have_no_effect_are_told(text: str, path: tuple[Any, ...]) -> None:
    found = reading(text)

    assert found.values is not None
    assert {problem.code for problem in found.problems} == {"B261"}
    assert found.problems[0].path == path


def test_what_valuesfrom_names_may_be_given_as_a_layer_below() -> None:
    release = RELEASE % ("hub", "2G") + "  valuesFrom: [{kind: ConfigMap, name: values}]\n"

    assert values(json.dumps({"hub": {"concurrentSpawnLimit": 9}}), release) == {
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
        (json.dumps({"a": HUB, "b": HUB}), {}),
        (json.dumps({"a": {"jupyterhub": HUB}, "b": {"jupyterhub": HUB}}), {}),
        (json.dumps({**HUB, "jupyterhub": HUB}), {}),
        (json.dumps({"a": HUB}), {"prefix": ("b",)}),
        (json.dumps(HUB) + "\n---\n" + json.dumps(HUB), {}),
        (RELEASE % ("a", "1G") + "---\n" + RELEASE % ("b", "2G"), {}),
        (RELEASE % ("a", "1G") + "---\n" + RELEASE % ("b", "2G"), {"release": "c"}),
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
        "two-aliases",
        "two-subcharts",
        "top-and-subchart",
        "wrong-prefix",
        "two-documents",
        "two-releases",
        "unknown-release",
    ],
)
def test_a_file_without_values_of_one_hub_is_an_error(text: str, options: dict[str, Any]) -> None:
    found = reading(text, **options)

    assert (codes(found), found.values) == (["B260"], None)


def test_a_prefix_chooses_among_several_charts() -> None:
    other = {"singleuser": {"memory": {"guarantee": "9G"}}}

    assert values(json.dumps({"a": {"c": other}, "b": {"c": HUB}}), prefix=("b", "c")) == HUB


def test_a_name_chooses_among_several_releases() -> None:
    text = RELEASE % ("a", "9G") + "---\n" + RELEASE % ("b", "2G")

    assert values(text, release="b") == HUB


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


def test_a_layer_without_any_value_of_the_chart_is_told() -> None:
    found = reading(json.dumps(HUB), "ingress: {enabled: true}")

    assert (codes(found), found.values is not None) == (["B261"], True)


def test_faults_in_text_of_yaml_have_the_place_of_the_text() -> None:
    found = reading(application({"helm": {"values": "singleuser:\n  a: [1"}}))

    assert found.values is None
    assert {problem.code for problem in found.problems} >= {"B003"}
    assert found.problems[0].path == ("spec", "source", "helm", "values")


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"hub": {}, "jupyterhub": {"hub": {}}}, [("jupyterhub",)]),
        ({"a": {"singleuser": {}}, "b": {"jupyterhub": {"singleuser": {}}}}, [("b", "jupyterhub")]),
        ({"proxy": {"secretToken": "a"}}, [()]),
        ({"singleuser": None}, [()]),
        ({"a": {"b": {"c": {"d": {"singleuser": {}}}}}}, []),
    ],
    ids=["subchart-before-top", "its-name-before-others", "only-a-token", "faulty", "too-deep"],
)
def test_values_of_the_chart_are_known_by_their_keys(value: Any, places: list[tuple[str, ...]]) -> None:
    assert chart_places(value) == places
