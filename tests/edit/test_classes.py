"""`berth import z2jh`: classes that hold what the pods of KubeSpawner request, where these may run."""

import json
from typing import Any

import pytest
import yaml
from berth.quantity import parse
from berth.schema.values import ResourceClass

from tests.cases import tabled
from tests.edit.hubvalues import HERE, OPTIONS, PODS, PROFILES, VALUES, classes, declared, imported
from tests.jupyterhub.record import HUBS


def amounts(resources: dict[str, Any]) -> dict[str, int | None]:
    return {name: parse(str(amount)) for name, amount in resources.items()}


@pytest.mark.parametrize(("hub", "name"), [(hub, name) for hub, names in HUBS.items() for name in names])
def test_a_class_has_the_resources_and_placement_of_a_kubespawner_pod(hub: str, name: str) -> None:
    found = classes((HERE / hub).read_bytes())
    pod, made = PODS[hub][name], found[name]
    limits = amounts(pod["resources"]["limits"])

    assert amounts(dict(made.requests)) == {**limits, **amounts(pod["resources"]["requests"])}
    assert amounts(dict(made.limits)) == limits
    assert json.loads(json.dumps(made.pod.placement)) == pod["placement"]


def _labels(one: ResourceClass) -> dict[str, str]:
    assert one.sessions is not None
    return (one.sessions.selector and one.sessions.selector.match_labels) or {}


@pytest.mark.parametrize("hub", HUBS)
def test_every_kind_of_session_of_a_hub_becomes_a_class(hub: str) -> None:
    found = classes((HERE / hub).read_bytes())

    assert set(found) == set(HUBS[hub])


@pytest.mark.parametrize("name", OPTIONS)
def test_a_class_selects_only_its_own_pods(name: str) -> None:
    found = classes(VALUES)
    labels = PODS[PROFILES][name]["labels"].items()
    matching = {other for other, resource_class in found.items() if _labels(resource_class).items() <= labels}

    assert (matching, set(found)) == ({name}, set(OPTIONS))


def single(text: str) -> ResourceClass:
    (found,) = classes(text.encode()).values()
    return found


@tabled("edit")
def test_the_default_resources_of_a_hub_become_a_class(values: str, requests: dict[str, str]) -> None:
    assert dict(single(values).requests) == requests


@tabled("edit")
def test_match_node_purpose_sets_the_node_affinity_of_a_class(pods: str, placed: str | None) -> None:
    found = single(
        f"{{singleuser: {{}}, scheduling: {{userPods: {{tolerations: [], {pods}}}}}}}"
    ).pod.placement

    assert list(found.get("affinity", {}).get("nodeAffinity", {})) == ([placed] if placed else [])
    assert "tolerations" not in found


def test_extra_pod_config_replaces_the_fields_that_it_names() -> None:
    config = "{schedulerName: mine, nodeSelector: {b: c}, affinity: {podAffinity: {}}, dnsPolicy: None}"
    found = single(f"singleuser: {{nodeSelector: {{a: b}}, extraPodConfig: {config}}}").pod

    assert (found.scheduler_name, found.node_selector, found.affinity) == ("mine", {"b": "c"}, None)


def test_a_choice_that_changes_only_a_label_gets_no_class() -> None:
    choices = "{a: {kubespawner_override: {extra_labels: {course: a}}}, b: {}}"
    options = f"{{course: {{choices: {choices}}}}}"

    assert list(
        classes(f"singleuser: {{profileList: [{{display_name: One, profile_options: {options}}}]}}".encode())
    ) == ["one"]


def test_profiles_in_a_mapping_become_classes() -> None:
    profiles = "{b: {display_name: Two}, a: {display_name: One}}"

    assert list(classes(f"singleuser: {{profileList: {profiles}}}".encode())) == ["one", "two"]


def test_profiles_without_labels_are_listed_with_labels_to_add() -> None:
    text = b"singleuser: {profileList: [{display_name: One}, {display_name: Two, slug: 2nd}]}"
    found = imported(text)

    assert found.unlabeled == (("One", "{profile: one}"), ("Two", '{profile: "2nd"}'))


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ("singleuser: {memory: {limit: 1Gi}}", ("B013", "singleuser.memory.limit")),
        ("singleuser: {memory: {limit: .inf}}", ("B013", "singleuser.memory.limit")),
        ("singleuser: {memory: {limit: -.inf}}", ("B013", "singleuser.memory.limit")),
        ("singleuser: {memory: {guarantee: .nan}}", ("B013", "singleuser.memory.guarantee")),
        ("singleuser: {memory: {guarantee: 2e300}}", ("B013", "singleuser.memory.guarantee")),
        (f"singleuser: {{memory: {{limit: {'7' * 5000}}}}}", ("B013", "singleuser.memory.limit")),
        (f"singleuser: {{memory: {{limit: {'8' * 400}T}}}}", ("B013", "singleuser.memory.limit")),
        ("singleuser: {profileList: [{slug: a}]}", ("B011", "singleuser.profileList[0]")),
        ("singleuser: {nodeSelector: [a]}", ("B013", "singleuser.nodeSelector")),
        ("a: [", ("B003", "")),
        ("", ("B007", "")),
    ],
    ids=[
        "kubernetes-unit",
        "inf",
        "minus-inf",
        "nan",
        "huge",
        "digits",
        "huge-with-unit",
        "no-name",
        "wrong-type",
        "not-yaml",
        "empty",
    ],
)
def test_faulty_values_are_reported_with_code_and_path(values: str, place: tuple[str, str]) -> None:
    assert [(finding.code, finding.path) for finding in imported(values).findings] == [place]


@pytest.mark.parametrize(
    ("profiles", "place", "words"),
    [
        ("", "singleuser", "singleuser.memory.guarantee"),
        (
            "[{display_name: One, kubespawner_override: {cpu_guarantee: 1}}, {display_name: Two}]",
            "singleuser.profileList[1]",
            'profile "Two"',
        ),
        (
            "{a: {display_name: One, profile_options: {size: {choices: "
            "{none: {}, large: {kubespawner_override: {mem_limit: 2G}}}}}}}",
            "singleuser.profileList.a",
            'profile "One, none"',
        ),
    ],
    ids=["hub", "profile", "choice"],
)
def test_sessions_that_request_nothing_are_reported_at_their_profile_with_its_keys(
    profiles: str, place: str, words: str
) -> None:
    """The chart requests memory: null or 0 takes that away."""
    for amount in ("null", "0"):
        (found,) = imported(
            f"singleuser: {{memory: {{guarantee: {amount}}}, profileList: {profiles or '[]'}}}"
        ).findings

        assert (found.code, found.path) == ("B011", place)
        assert words in f"{found.message} {found.fix}"
        assert "guarantee" in found.fix


# Names


def named(slug: str | None, display_name: str = "One") -> str:
    profile = {"display_name": display_name, **({} if slug is None else {"slug": slug})}
    (name,) = classes(json.dumps({"singleuser": {"profileList": [profile]}}))
    return name


@tabled("edit")
def test_a_slug_of_any_kind_becomes_a_class_name(slug: str | None, display_name: str, name: str) -> None:
    assert named(slug, display_name) == name


@pytest.mark.parametrize("slug", ["数据科学", "🚀", "...", "a" * 64, "x-" * 100], ids=range(5))
def test_an_unusable_slug_always_gets_the_same_class_name(slug: str) -> None:
    assert named(slug) == named(slug, "Another title") != named(f"{slug}é")


def test_a_long_combination_of_choices_gets_a_class_name() -> None:
    override = {"kubespawner_override": {"cpu_guarantee": 2}}
    options = {"o" * 60: {"choices": {"c" * 60: override, "d" * 60: {}}}}
    profile = {"display_name": "p" * 60, "profile_options": options}

    assert len(classes(json.dumps({"singleuser": {"profileList": [profile]}}))) == 2


@pytest.mark.parametrize("slug", ["1524699", "true", "1e3"])
def test_a_slug_that_is_not_a_string_is_reported_at_its_profile(slug: str) -> None:
    profiles = f"[{{display_name: One}}, {{display_name: Second one, slug: {slug}}}]"
    (found,) = imported(f"singleuser: {{profileList: {profiles}}}").findings

    assert (found.code, found.path) == ("B013", "singleuser.profileList[1].slug")


# What the chart makes of its values


@tabled("edit")
def test_values_layers_and_hub_config_set_the_requests(layers: list[str], requests: dict[str, str]) -> None:
    (found,) = classes(*layers).values()

    assert dict(found.requests) == requests


def test_a_profile_list_in_a_later_file_replaces_the_earlier_list() -> None:
    files = [f"singleuser: {{profileList: [{{display_name: {name}}}]}}" for name in ("One", "Two")]

    assert list(classes(*files)) == ["two"]


def test_profiles_in_the_kubespawner_config_become_classes() -> None:
    assert list(classes("hub: {config: {KubeSpawner: {profile_list: [{display_name: One}]}}}")) == ["one"]


@tabled("edit")
def test_extra_config_that_sets_imported_fields_gets_the_finding_b261(code: str, names: list[str]) -> None:
    found = imported(json.dumps({"singleuser": {}, "hub": {"extraConfig": {"a": code}}}))

    assert [(finding.code, finding.path) for finding in found.findings] == (
        [("B261", "hub.extraConfig.a")] if names else []
    )
    assert all(name in found.findings[0].message for name in names)
    assert found.classes


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: science, namespace: hubs}
spec: {values: {singleuser: {}}}
"""


@pytest.mark.parametrize(
    ("values", "request_", "namespace", "scheduler"),
    [
        (RELEASE, {}, "hubs", "science-user-scheduler"),
        (RELEASE, {"namespace": "b"}, "b", "science-user-scheduler"),
        ("singleuser: {}", {}, "jupyterhub", None),
        ("singleuser: {}", {"release": "a"}, "jupyterhub", "a-user-scheduler"),
        (
            "{singleuser: {}, scheduling: {userScheduler: {enabled: false}}}",
            {"release": "a"},
            "jupyterhub",
            None,
        ),
        ("singleuser: {extraPodConfig: {schedulerName: b}}", {"release": "a"}, "jupyterhub", "b"),
    ],
    ids=["release", "given", "unknown", "given-release", "off", "own"],
)
def test_a_class_has_the_namespace_and_the_scheduler_of_its_hub(
    values: str, request_: dict[str, str], namespace: str, scheduler: str | None
) -> None:
    (found,) = classes(values, **request_).values()

    assert found.sessions is not None
    assert (found.sessions.namespaces, found.pod.scheduler_name) == ((namespace,), scheduler)


SHAPES = yaml.safe_load((HERE / "shapes.yaml").read_text("utf-8"))


@pytest.mark.parametrize("shape", SHAPES, ids=[one["shape"] for one in SHAPES])
def test_every_shape_of_values_that_real_hubs_have_is_read(shape: dict[str, Any]) -> None:
    found = imported(*map(json.dumps, shape["layers"]))

    assert {name: dict(made.requests) for name, made in declared(found).items()} == shape["classes"]
    unread = ", ".join(shape.get("unread", []))
    assert found.left_out == ((f"Not read: {unread}",) if unread else ())


def test_group_overrides_get_the_finding_b261() -> None:
    overrides = {"a": {"groups": ["a"], "spawner_override": {"mem_guarantee": "8G"}}}
    config = {"KubeSpawner": {"group_overrides": overrides}}
    (found,) = imported(json.dumps({"singleuser": {}, "hub": {"config": config}})).findings

    assert (found.code, found.path) == ("B261", "hub.config.KubeSpawner.group_overrides")
