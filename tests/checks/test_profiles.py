"""Classes are compared with the profiles of the JupyterHub whose sessions they count."""

import json
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from berth.checks import hubchecks
from berth.edit.classes import classes_text
from berth.findings import Problem
from berth.pipeline import Pipeline
from berth.reading.source import Source
from berth.schema.declared import Declared

from tests.cases import tabled
from tests.edit.hubvalues import imported
from tests.jupyterhub.record import HUBS
from tests.saying import Value, finding, lines, read, resource_class, site, valid

HERE = Path(__file__).parents[1] / "jupyterhub"
SITE = b"""\
apiVersion: berth.dev/v1alpha1
kind: Site
metadata: {name: example}
spec: {timeZone: UTC, clusters: [{name: prod, z2jh: hub.yaml}]}
"""


def told(values: Value | str, **of_class: object) -> list[str]:
    """Return what is wrong with a class, where a file has these values."""
    text = values if isinstance(values, str) else json.dumps({**STOCK_SCHEDULER, **values})
    declared = valid(
        resource_class("small", **{"requests": {"memory": "1Gi"}, "tolerations": DEDICATED, **of_class}),
        site({"name": "prod", "z2jh": "hub.yaml"}),
    )
    return compared(declared, text)


def compared(declared: Declared, text: str) -> list[str]:
    """Return what is wrong where a file has this text."""
    assert declared.site is not None
    _, problems = hubchecks.compare_classes(declared, declared.site, lambda path: Source(path, text.encode()))
    return [
        one for one in lines(one for one in problems if isinstance(one, Problem)) if "selector" not in one
    ]


STOCK_SCHEDULER: Value = {"singleuser": {}, "scheduling": {"userScheduler": {"enabled": False}}}
UNLABELED = {("B085", "spec.sessions.selector")}
DEDICATED = [
    {"key": f"hub.jupyter.org{sign}dedicated", "operator": "Equal", "value": "user", "effect": "NoSchedule"}
    for sign in "/_"
]


def hub(*profile_list: Value, **singleuser: object) -> Value:
    listed = [{"display_name": f"Profile {i}", **one} for i, one in enumerate(profile_list)]
    return {**STOCK_SCHEDULER, "singleuser": {**singleuser, "profileList": listed}}


def profile(name: str = "Course", **override: object) -> Value:
    return {"display_name": name, "kubespawner_override": override}


def selecting(**labels: str) -> Value:
    sessions = {"source": "jupyterhub", "namespaces": ["hub"], "selector": {"matchLabels": labels}}
    return {"sessions": sessions}


@pytest.mark.parametrize("name", HUBS)
def test_imported_classes_match_their_values(name: str) -> None:
    values = Source("hub.yaml", (HERE / name).read_bytes())
    found = imported(values.text, namespace="hub", release="hub").classes
    classes = Source("reservations/classes.yaml", classes_text(None, (), found)[0].encode())
    site = Source("reservations/site.yaml", SITE)
    project = Pipeline(sources=[classes, site], other_file=lambda _: values)

    assert list(project.items()) == []
    assert {(one.code, one.path) for one in project.findings() if one.code != "B033"} <= UNLABELED


@tabled("checks")
def test_a_placeholder_must_be_as_large_as_its_session(
    of_session: Value, of_class: Value, expected: list[str]
) -> None:
    assert told(hub(profile(**of_session)), **of_class) == expected


CLAIM = {"name": "gpu", "resourceClaimTemplateName": "of-the-hub"}


@tabled("checks")
def test_a_placeholder_must_claim_the_devices_of_its_session(
    claims: list[Value], expected: list[str]
) -> None:
    values = hub(profile(extra_pod_config={"resourceClaims": [CLAIM]}))

    assert told(values, resourceClaims=claims) == expected
    assert told(hub(extraPodConfig={"resourceClaims": [CLAIM]}), resourceClaims=claims) == expected


def test_an_overhead_does_not_count_as_room_for_requests() -> None:
    values = hub(profile(mem_guarantee="1G"))

    assert told(values, overhead={"memory": "512Mi"}) == []
    assert told(values, requests={"memory": "512Mi"}, overhead={"memory": "512Mi"}) == [
        finding("B085 spec.requests.memory", "an overhead of 512Mi", "holds 1Gi")
    ]


def test_the_largest_profile_is_compared() -> None:
    values = hub(profile("A", mem_guarantee="2G"), profile("B", mem_guarantee="8G"), profile("C"))

    assert told(values) == [finding("B085 spec.requests.memory", '"B"', "8Gi")]


GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


@tabled("checks")
def test_a_placeholder_must_have_the_placement_of_its_session(
    of_session: Value, of_class: Value, expected: list[str]
) -> None:
    assert told(hub(profile(**of_session)), **of_class) == expected


def required(*terms: list[Value]) -> Value:
    listed = [{"matchExpressions": term} for term in terms]
    node = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": listed}}
    return {"affinity": {"nodeAffinity": node}}


def zone(operator: str, *values: str) -> list[Value]:
    return [{"key": "zone", "operator": operator, **({"values": list(values)} if values else {})}]


@pytest.mark.parametrize(
    ("of_session", "of_class", "expected"),
    [
        pytest.param([zone("In", "a", "b")], required(zone("In", "b", "a")), [], id="same-values"),
        pytest.param([zone("In", "a")], {"nodeSelector": {"zone": "a"}}, [], id="selector-or-affinity"),
        pytest.param(
            [zone("In", "a", "b")], required(zone("In", "a")), ["sessions have zone=a|b"], id="fewer"
        ),
        pytest.param(
            [zone("NotIn", "b")], required(zone("In", "a")), ["sessions have zone NotIn b"], id="not-in"
        ),
        pytest.param(
            [zone("In", "a")], required(zone("In", "a"), zone("In", "b")), ["sessions have"], id="or"
        ),
    ],
)
def test_node_affinity_is_compared_by_the_nodes_that_it_allows(
    of_session: list[list[Value]], of_class: Value, expected: list[str]
) -> None:
    terms = [{"matchExpressions": one} for one in of_session]
    place = "B085 spec.nodeSelector" if "nodeSelector" in of_class else "B085 spec.affinity"

    assert told(hub(profile(node_affinity_required=terms)), **of_class) == [
        finding(place, one) for one in expected
    ]


NODES = ("", "1", "2", "3")  # values of the label; empty: without it
REQUIREMENTS = {
    ("In", "1"): "1",
    ("In", "2"): "2",
    ("In", "1", "2"): "12",
    ("NotIn", "1"): ("", "2", "3"),
    ("Exists",): "123",
    ("DoesNotExist",): ("",),
    ("Gt", "1"): "23",
}
"""Requirements of the label, and the nodes that meet them, by the documentation of Kubernetes."""


PAIRS = list(combinations_with_replacement(REQUIREMENTS, 2))


@pytest.mark.parametrize("ours", PAIRS, ids=lambda pair: "-".join("-".join(one).lower() for one in pair))
def test_affinities_without_a_warning_accept_the_same_nodes(ours: Sequence[tuple[str, ...]]) -> None:
    of_class = required(all_of(ours))
    silent = [
        theirs
        for theirs in PAIRS
        if not told(hub(profile(node_affinity_required=[{"matchExpressions": all_of(theirs)}])), **of_class)
    ]

    assert ours in silent
    assert {accepted(theirs) for theirs in silent} == {accepted(ours)}


def all_of(requirements: Sequence[tuple[str, ...]]) -> list[Value]:
    return [one for operator, *values in requirements for one in zone(operator, *values)]


def accepted(requirements: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(
        node for node in NODES if all(node in REQUIREMENTS[requirement] for requirement in requirements)
    )


LARGE = profile("Large", mem_guarantee="8G", extra_labels={"profile": "large"})
SMALL = profile("Small", extra_labels={"profile": "small"})
PLAIN = profile("Large", mem_guarantee="8G")


@pytest.mark.parametrize(
    ("listed", "name", "selector", "is_compared_with_large"),
    [
        pytest.param([SMALL, LARGE], "a", {}, True, id="every-session"),
        pytest.param([SMALL, LARGE], "a", {"profile": "large"}, True, id="its-label"),
        pytest.param([SMALL, LARGE], "a", {"profile": "small"}, False, id="another-label"),
        pytest.param([SMALL, LARGE], "a", {"profile": "small", "course": "x"}, False, id="and-one-of-a-hook"),
        pytest.param([SMALL, LARGE], "a", {"profile": "large", "course": "x"}, True, id="with-one-of-a-hook"),
        pytest.param([SMALL, LARGE], "large", {"profile": "small"}, False, id="labels-before-the-name"),
        pytest.param([profile("Small"), PLAIN], "large", {"course": "x"}, False, id="only-one-of-a-hook"),
    ],
)
def test_a_class_is_compared_with_the_profiles_that_it_counts(
    listed: list[Value], name: str, selector: dict[str, str], is_compared_with_large: bool
) -> None:
    of_class = selecting(**selector) if selector else {}
    declared = read(
        resource_class(name, requests={"memory": "1Gi"}, tolerations=DEDICATED, **of_class),
        site({"name": "prod", "z2jh": "hub.yaml"}),
    )
    found = compared(declared, json.dumps(hub(*listed)))

    assert found == (["B085 spec.requests.memory"] if is_compared_with_large else [])


def unset(values: Value, *hubs: Value, name: str = "small", **labels: str) -> list[str]:
    """Return what is said of the selector of a class with these labels, where hubs have these values."""
    listed = [{"files": [f"{i}.yaml"], "namespace": f"hub-{i}"} for i in range(len(hubs) + 1)]
    namespaces = [one["namespace"] for one in listed]
    sessions = {"source": "jupyterhub", "namespaces": namespaces, "selector": {"matchLabels": labels}}
    declared = read(resource_class(name, sessions=sessions), site({"name": "prod", "z2jh": listed}))
    assert declared.site is not None
    files = {f"{i}.yaml": json.dumps(one).encode() for i, one in enumerate((values, *hubs))}
    _, problems = hubchecks.compare_classes(declared, declared.site, lambda path: Source(path, files[path]))
    return [one for one in lines(one for one in problems if isinstance(one, Problem)) if "selector" in one]


@tabled("checks")
def test_a_label_set_in_the_values_has_no_finding(values: Value) -> None:
    assert unset(values, course="x") == []
    assert unset(STOCK_SCHEDULER, values, course="x") == []


@pytest.mark.parametrize("label", ["hub.jupyter.org/servername", "component", "release"])
def test_a_label_of_kubespawner_has_no_finding(label: str) -> None:
    assert unset(STOCK_SCHEDULER, **{label: "x"}) == []


@pytest.mark.parametrize(
    ("values", "lines_to_paste"),
    [
        (hub(profile("Small"), profile("Other")), "kubespawner_override of its profile: {course: x}"),
        (hub(profile("Small", extra_labels={"course": "y"})), "extra_labels"),
        (STOCK_SCHEDULER, "extraLabels: {course: x}"),
    ],
    ids=["profiles", "another-value", "no-profiles"],
)
def test_a_label_set_by_no_profile_is_reported_with_the_lines_to_add(
    values: Value, lines_to_paste: str
) -> None:
    expected = [finding("B085 spec.sessions.selector", lines_to_paste, "class small.")]

    assert unset(values, course="x") == expected
    assert unset(values, STOCK_SCHEDULER, course="x") == expected


def test_classes_of_other_clusters_and_sources_are_not_compared() -> None:
    pods = {"source": "pods", "namespaces": ["hub"]}
    declared = read(
        resource_class("here", cluster="prod", sessions=pods),
        resource_class("there", cluster="test"),
        resource_class("uncounted", cluster="prod", sessions=None),
        site({"name": "prod", "z2jh": "hub.yaml"}, {"name": "test"}),
    )

    assert compared(declared, json.dumps(hub(profile(cpu_guarantee=64)))) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("a: [", "line 1", id="not-yaml"),
        pytest.param("singleuser:\n  memory: {limit: 1Gi}", "line 2: singleuser.memory.limit", id="invalid"),
        pytest.param(
            json.dumps(
                hub(
                    {
                        "profile_options": {
                            f"option-{i}": {
                                "choices": {
                                    f"choice-{j}": {"kubespawner_override": {"cpu_guarantee": j + 1}}
                                    for j in range(10)
                                }
                            }
                            for i in range(8)
                        }
                    }
                )
            ),
            "100",
            id="too-many",
        ),
    ],
)
def test_values_that_cannot_be_compared_are_reported(values: str, words: str) -> None:
    assert told(values) == [finding("B087 spec.clusters.0.z2jh", "hub.yaml", words)]


@pytest.fixture
def project(tmp_path: Path) -> Callable[[], list[str]]:
    (tmp_path / "reservations").mkdir()
    (tmp_path / "reservations/site.yaml").write_bytes(SITE)

    def codes() -> list[str]:
        pipeline = Pipeline(str(tmp_path))
        assert pipeline.items() == []
        return [one.code for one in pipeline.findings()]

    return codes


def test_a_missing_or_too_large_values_file_is_reported(
    project: Callable[[], list[str]], tmp_path: Path
) -> None:
    missing = project()
    (tmp_path / "hub.yaml").write_text("singleuser: {}\n" + "#" * 2**20)
    too_large = project()
    (tmp_path / "hub.yaml").write_text("singleuser: {}\n")

    assert (missing, too_large, project()) == (["B087"], ["B087"], [])
