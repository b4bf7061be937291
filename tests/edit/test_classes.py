"""`berth import z2jh`: classes that hold what the pods of KubeSpawner request, where these may run."""

import json
from pathlib import Path
from typing import Any

import pytest
from berth.edit.classes import HubRequest, ImportedClasses, import_z2jh
from berth.pipeline import Pipeline
from berth.quantity import parse
from berth.reading.source import Source
from berth.schema.values import ResourceClass

from tests.answer import Berth
from tests.jupyterhub.record import HUBS

HERE = Path(__file__).parents[1] / "jupyterhub"
PODS = json.loads((HERE / "pods.json").read_text("utf-8"))
PROFILES = "profiles.yaml"  # a hub whose profiles have labels
VALUES = (HERE / PROFILES).read_bytes()
OPTIONS = HUBS[PROFILES]
SITE = b"apiVersion: berth.dev/v1alpha1\nkind: Site\nmetadata: {name: a}\nspec: {clusters: [{name: prod}]}\n"


def imported(*texts: str | bytes, **request: Any) -> ImportedClasses:
    """Import files that are layers: values.yaml, values1.yaml and so on."""
    files = [text if isinstance(text, bytes) else text.encode() for text in texts]
    sources = tuple(Source(f"values{i or ''}.yaml", text) for i, text in enumerate(files))
    return import_z2jh(HubRequest(sources, **request))


def classes(*values: str | bytes, **request: Any) -> dict[str, ResourceClass]:
    found = imported(*values, **request)
    assert found.findings == ()
    project = Pipeline(sources=[Source("a.yaml", SITE), Source("b.yaml", found.text.encode())])
    assert project.problems == []
    return project.declared.classes


def amounts(resources: dict[str, Any]) -> dict[str, int | None]:
    return {name: parse(str(amount)) for name, amount in resources.items()}


@pytest.mark.parametrize(("hub", "name"), [(hub, name) for hub, names in HUBS.items() for name in names])
def test_a_class_is_what_the_real_kubespawner_makes(hub: str, name: str) -> None:
    pod, made = PODS[hub][name], classes((HERE / hub).read_bytes())[name]
    limits = amounts(pod["resources"]["limits"])

    assert amounts(dict(made.requests)) == {**limits, **amounts(pod["resources"]["requests"])}
    assert amounts(dict(made.limits)) == limits
    assert json.loads(json.dumps(made.pod.placement)) == pod["placement"]


def _labels(one: ResourceClass) -> dict[str, str]:
    assert one.sessions is not None
    return (one.sessions.selector and one.sessions.selector.match_labels) or {}


@pytest.mark.parametrize("hub", HUBS)
def test_every_kind_of_session_is_a_class(hub: str) -> None:
    assert set(classes((HERE / hub).read_bytes())) == set(HUBS[hub])


@pytest.mark.parametrize("name", OPTIONS)
def test_a_class_recognizes_its_own_pods_alone(name: str) -> None:
    found = classes(VALUES)
    labels = PODS[PROFILES][name]["labels"].items()
    matching = {other for other, one in found.items() if _labels(one).items() <= labels}

    assert (matching, set(found)) == ({name}, set(OPTIONS))


def single(text: str) -> ResourceClass:
    (found,) = classes(text.encode()).values()
    return found


@pytest.mark.parametrize(
    ("values", "requests"),
    [
        ("singleuser: {}", {"memory": "1Gi"}),
        ("singleuser: {memory: {guarantee: 0.5G}}", {"memory": "512Mi"}),
        ("singleuser: {memory: {guarantee: 1536M}}", {"memory": "1536Mi"}),
        ("singleuser: {memory: {guarantee: 1000}}", {"memory": "1000"}),
        ("singleuser: {memory: {guarantee: null, limit: 2G}}", {"memory": "2Gi"}),
        ("singleuser: {cpu: {guarantee: 0, limit: 2}}", {"cpu": "2", "memory": "1Gi"}),
        ("jupyterhub: {singleuser: {cpu: {guarantee: 0.1}}}", {"cpu": "0.1", "memory": "1Gi"}),
        (
            "{a: {singleuser: {}}, b: {jupyterhub: {singleuser: {cpu: {limit: 1}}}}}",
            {"cpu": "1", "memory": "1Gi"},
        ),
        (
            "singleuser: {extraResource: {guarantees: {example.org/fpga: '1'}}}",
            {"memory": "1Gi", "example.org/fpga": "1"},
        ),
    ],
    ids=[
        "chart-default",
        "fraction",
        "mebibytes",
        "bytes",
        "limit-only",
        "zero",
        "umbrella-chart",
        "two-charts",
        "device",
    ],
)
def test_the_defaults_of_all_sessions_are_a_class(values: str, requests: dict[str, str]) -> None:
    assert dict(single(values).requests) == requests


@pytest.mark.parametrize(
    ("pods", "placed"),
    [
        ("nodeAffinity: {matchNodePurpose: ignore}", None),
        ("nodeAffinity: {matchNodePurpose: require}", "requiredDuringSchedulingIgnoredDuringExecution"),
        ("nodeAffinity: {}", "preferredDuringSchedulingIgnoredDuringExecution"),
    ],
    ids=["ignore", "require", "default"],
)
def test_the_purpose_of_nodes_is_that_of_sessions(pods: str, placed: str | None) -> None:
    found = single(f"scheduling: {{userPods: {{tolerations: [], {pods}}}}}").pod.placement

    assert list(found.get("affinity", {}).get("nodeAffinity", {})) == ([placed] if placed else [])
    assert "tolerations" not in found


def test_extra_pod_config_replaces_what_it_names() -> None:
    config = "{schedulerName: mine, nodeSelector: {b: c}, affinity: {podAffinity: {}}, dnsPolicy: None}"
    found = single(f"singleuser: {{nodeSelector: {{a: b}}, extraPodConfig: {config}}}").pod

    assert (found.scheduler_name, found.node_selector, found.affinity) == ("mine", {"b": "c"}, None)


def test_a_choice_that_changes_only_a_label_is_no_class_of_its_own() -> None:
    choices = "{a: {kubespawner_override: {extra_labels: {course: a}}}, b: {}}"
    options = f"{{course: {{choices: {choices}}}}}"

    assert list(
        classes(f"singleuser: {{profileList: [{{display_name: One, profile_options: {options}}}]}}".encode())
    ) == ["one"]


def test_profiles_in_a_mapping_are_profiles() -> None:
    profiles = "{b: {display_name: Two}, a: {display_name: One}}"

    assert list(classes(f"singleuser: {{profileList: {profiles}}}".encode())) == ["one", "two"]


def test_profiles_without_labels_get_labels_that_tell_them_apart() -> None:
    text = b"singleuser: {profileList: [{display_name: One}, {display_name: Two, slug: 2nd}]}"
    found = imported(text)

    assert found.unlabeled == (("One", '{profile: "one"}'), ("Two", '{profile: "2nd"}'))


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ("singleuser: {memory: {limit: 1Gi}}", ("B013", "singleuser.memory.limit")),
        ("singleuser: {profileList: [{slug: a}]}", ("B011", "singleuser.profileList[0]")),
        ("jupyterhub: {singleuser: {nodeSelector: [a]}}", ("B013", "jupyterhub.singleuser.nodeSelector")),
        ("a: [", ("B003", "")),
        ("", ("B007", "")),
    ],
    ids=["kubernetes-unit", "no-name", "wrong-type", "not-yaml", "empty"],
)
def test_faulty_values_are_findings(values: str, place: tuple[str, str]) -> None:
    assert [(one.code, one.path) for one in imported(values).findings] == [place]


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ("singleuser: {memory: {guarantee: null}}", ("B012", "singleuser")),
        (
            "singleuser: {profileList: [{display_name: A b}, {display_name: A-B}]}",
            ("B060", "singleuser.profileList[1]"),
        ),
        (
            "singleuser: {profileList: [{display_name: A, kubespawner_override: {mem_guarantee: null}}]}",
            ("B012", "singleuser.profileList[0]"),
        ),
    ],
    ids=["no-request", "same-name", "no-request-of-a-profile"],
)
def test_what_cannot_be_a_class_is_a_finding_at_its_profile(values: str, place: tuple[str, str]) -> None:
    found = imported(values)

    assert ([(one.code, one.path) for one in found.findings], found.text) == ([place], "")


def test_the_command_writes_one_file(berth: Berth, folder: Path) -> None:
    (folder / "values.yaml").write_bytes(VALUES)
    told = berth("import", "z2jh", "values.yaml", "--cluster", "prod", "--namespace", "hub")
    text = (folder / "reservations/jupyterhub-classes.yaml").read_text("utf-8")

    assert told.code == 0
    assert told.out.startswith("Wrote reservations/jupyterhub-classes.yaml.\n")
    assert text.count('cluster: "prod"') == text.count('namespaces: ["hub"]') == len(OPTIONS)
    assert berth("import", "z2jh", "values.yaml", "--cluster", "prod").code == 2  # the file exists


@pytest.mark.parametrize(
    "words",
    [
        ("z2jh", "values.yaml", "--suspend"),
        ("renku", "values.yaml", "--namespace", "hub"),
    ],
    ids=["flag-of-renku", "flag-of-z2jh"],
)
def test_a_command_that_cannot_be_followed(berth: Berth, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "values.yaml").write_bytes(VALUES)

    assert berth("import", *words).code == 2
    assert not (folder / "reservations/jupyterhub-classes.yaml").exists()
