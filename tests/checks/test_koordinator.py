"""Slots against their class and cluster: what one document alone does not tell."""

from typing import Any

import pytest

from gen.checks.slotchecks import of_reservation
from tests.saying import Value, lines, read, reservation, resource_class, site

KOORDINATOR: Value = {"name": "prod", "koordinator": {}}
ALIGNED: Value = {"name": "prod", "koordinator": {"allocatePolicy": "Aligned"}}
PROFILES: Value = {"name": "prod", "koordinator": {"colocationProfiles": True}}
OWNERS = [{"labelSelector": {"matchLabels": {"course": "ml"}}}]
HUB = {"source": "jupyterhub", "namespaces": ["hub"]}
RENKU = {"source": "renku", "namespaces": ["renku"]}
ADD_OWNERS = "Add backend.owners: labels (and namespace) of the pods that may take a seat."


def told(backend: Value, cluster: Value = KOORDINATOR, *classes: Value, **spec: Any) -> list[str]:
    """What is told of a reservation of that backend; of the class `small` where none is given."""
    one = reservation(backend={"type": "koordinator", **backend}, **spec)
    declared = read(one, site(cluster), *(classes or (resource_class(),)))
    assert [problem for problem in declared.problems if problem.code not in ("B110", "B116", "B103")] == []
    assert declared.site is not None
    return lines(of_reservation(declared.reservations[0], declared, declared.site))


def test_a_cluster_has_koordinator_only_where_the_site_says_so() -> None:
    assert told({}) == []
    assert told({}, {"name": "prod"}) == [
        "B100 spec.backend.type: cluster prod has no Koordinator. "
        "Add koordinator: {} to the cluster in the Site, or write type: placeholder."
    ]


def test_each_cluster_of_a_reservation_is_asked() -> None:
    classes = [resource_class("a", cluster="one"), resource_class("b", cluster="two")]
    seats = [{"resourceClass": name, "placeholderCount": 1} for name in ("a", "b")]
    one = reservation(backend={"type": "koordinator"}, resourceClass=None, provisioning={"seats": seats})
    declared = read(one, site({"name": "one", "koordinator": {}}, {"name": "two"}), *classes)
    assert declared.site is not None

    assert lines(of_reservation(declared.reservations[0], declared, declared.site)) == [
        "B100 spec.backend.type: cluster two has no Koordinator. "
        "Add koordinator: {} to the cluster in the Site, or write type: placeholder."
    ]


def test_one_allocate_policy_a_cluster() -> None:
    assert told({"allocatePolicy": "Restricted"}) == told({"allocatePolicy": "Aligned"}, ALIGNED) == []
    assert told({"allocatePolicy": "Aligned"}) == [
        "B105 spec.backend.allocatePolicy: allocatePolicy Aligned is not that of cluster prod, Restricted. "
        "Write Restricted, or leave it out; or change koordinator.allocatePolicy in the Site."
    ]


@pytest.mark.parametrize("why", ["preAllocation", "withPlaceholders"])
def test_taking_over_needs_restricted(why: str) -> None:
    assert told({why: True}) == []
    assert told({why: True}, ALIGNED) == [
        f"B106 spec.backend.{why}: {why} needs allocatePolicy Restricted; cluster prod has Aligned. "
        f"Remove {why}, or change koordinator.allocatePolicy in the Site."
    ]


def test_restricted_resources_are_looked_at() -> None:
    assert told({"restrictedResources": ["cpu"]}) == []
    assert told({"restrictedResources": ["cpu"]}, ALIGNED) == [
        "B029 spec.backend.restrictedResources: only allocatePolicy Restricted looks at them; "
        "cluster prod has Aligned. Remove it."
    ]
    assert told({"restrictedResources": ["cpu", "memory"]}) == [
        "B029 spec.backend.restrictedResources.1: no class of this reservation requests memory: "
        "a slot holds none of it. Remove it."
    ]
    assert told({"restrictedResources": ["memory"], "template": {"overhead": {"memory": "1Gi"}}}) == []


WITHOUT_OWNERS: dict[str, tuple[Value | None, Value, str]] = {
    "no-sessions": (None, {}, "it has no `sessions`"),
    "renku": (RENKU, {}, "a pod does not say of which class its Renku session is"),
    "renku-with-labels": (
        {**RENKU, "selector": {"matchLabels": {"a": "b"}}},
        {},
        "a pod does not say of which class its Renku session is",
    ),
    "pods-without-labels": (
        {"source": "pods", "namespaces": ["lab"]},
        {},
        "its sessions have no labels of their own",
    ),
    "pods-told-by-what-they-have-not": (
        {
            **{"source": "pods", "namespaces": ["lab"]},
            "selector": {"matchExpressions": [{"key": "exam", "operator": "DoesNotExist"}]},
        },
        {},
        "its sessions have no labels of their own",
    ),
    "another-kind": (
        {
            **{"source": "custom", "group": "kubeflow.org", "version": "v1", "resource": "notebooks"},
            **{"namespaces": ["lab"], "selector": {"matchLabels": {"a": "b"}}},
        },
        {},
        "its sessions are notebooks, and their pods may have other labels",
    ),
    "class-told-by-annotations": (
        {
            **{"source": "custom", "version": "v1", "resource": "pods", "namespaces": ["lab"]},
            **{"selector": {"matchLabels": {"a": "b"}}, "matchAnnotations": {"c": "d"}},
        },
        {},
        "it tells its sessions by more than labels",
    ),
    "course-told-by-annotations": (
        HUB,
        {"matchAnnotations": {"a": "b"}},
        "this reservation narrows its sessions by more than labels",
    ),
    "course-elsewhere": (
        HUB,
        {"namespaces": ["lab"]},
        "it has no sessions in the namespaces of this reservation",
    ),
}


@pytest.mark.parametrize(("sessions", "course", "why"), WITHOUT_OWNERS.values(), ids=WITHOUT_OWNERS)
def test_owners_are_missing_where_labels_of_pods_do_not_tell_them(
    sessions: Value | None, course: Value, why: str
) -> None:
    found = resource_class(sessions=sessions, renkuId=5)

    assert told({}, KOORDINATOR, found, sessions=course) == [
        f"B101 spec.backend: owners are missing, and class small does not say them: {why}. {ADD_OWNERS}"
    ]
    assert told({"owners": OWNERS}, KOORDINATOR, found, sessions=course) == []


@pytest.mark.parametrize(
    ("sessions", "course"),
    [
        pytest.param(HUB, {}, id="jupyterhub"),
        pytest.param(HUB, {"namespaces": ["hub"], "matchLabels": {"a": "b"}}, id="course"),
        pytest.param(
            {"source": "pods", "namespaces": ["lab"]}, {"matchLabels": {"a": "b"}}, id="labels-of-course"
        ),
        pytest.param(
            {
                **{"source": "custom", "version": "v1", "resource": "pods", "namespaces": ["lab"]},
                "selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
            },
            {},
            id="custom-pods",
        ),
    ],
)
def test_owners_are_the_sessions_of_the_class_where_labels_tell_them(sessions: Value, course: Value) -> None:
    assert told({}, KOORDINATOR, resource_class(sessions=sessions), sessions=course) == []


def test_sessions_of_one_class_should_not_take_the_seats_of_another() -> None:
    def both(backend: Value, **second: Any) -> list[str]:
        seats = [{"resourceClass": name, "placeholderCount": 1} for name in ("small", "huge")]
        classes = [resource_class(), resource_class("huge", sessions={**HUB, **second})]
        return told(backend, KOORDINATOR, *classes, resourceClass=None, provisioning={"seats": seats})

    rest = (
        "the same pods may take the seats of class small and of class huge. "
        "Write a reservation for each class, with its own owners."
    )
    assert both({"owners": OWNERS}) == [f"B117 spec.backend.owners: {rest}"]
    assert both({}) == [f"B117 spec.backend: {rest}"]
    assert both({}, selector={"matchLabels": {"size": "huge"}}) == []


def test_a_slot_is_where_sessions_of_the_class_may_run() -> None:
    found = resource_class(nodeSelector={"pool": "gpu"})

    assert told({"template": {"nodeSelector": {"pool": "gpu", "zone": "a"}}}, KOORDINATOR, found) == []
    assert told({"template": {"nodeSelector": {"pool": "cpu"}}}, KOORDINATOR, found) == [
        "B016 spec.backend.template.nodeSelector.pool: class small says pool=gpu: its sessions never run "
        "where the slots would be. Remove it."
    ]


TERM = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


@pytest.mark.parametrize(
    ("part", "placement"),
    [
        pytest.param("podAffinity", {"affinity": {"podAffinity": {REQUIRED: [TERM]}}}, id="required"),
        pytest.param(
            "podAntiAffinity",
            {"affinity": {"podAntiAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": TERM}]}}},
            id="preferred",
        ),
        pytest.param(
            "topologySpreadConstraints",
            {"topologySpreadConstraints": [{**SPREAD, "labelSelector": {"matchLabels": {"a": "b"}}}]},
            id="spread",
        ),
    ],
)
def test_what_looks_into_its_own_namespace_needs_one(part: str, placement: Value) -> None:
    problem = (
        f"B111 spec.backend: {part} of class small is about pods of its own namespace; a slot's is default. "
        "Add template.metadata.namespace: where those pods are, or namespaces to the terms."
    )
    there = {"metadata": {"namespace": "hub"}}

    assert told({}, KOORDINATOR, resource_class(**placement)) == [problem]
    assert told({"template": placement}) == [problem]
    assert told({"template": there}, KOORDINATOR, resource_class(**placement)) == []


@pytest.mark.parametrize(
    "placement",
    [
        {"affinity": {"podAffinity": {REQUIRED: [{**TERM, "namespaces": ["hub"]}]}}},
        {"affinity": {"podAffinity": {REQUIRED: [{**TERM, "namespaceSelector": {}}]}}},
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}}}},
        {"topologySpreadConstraints": [SPREAD]},
    ],
    ids=["namespaces", "selector-of-namespaces", "nodes", "no-pods"],
)
def test_what_names_its_namespaces_looks_there(placement: Value) -> None:
    assert told({}, KOORDINATOR, resource_class(**placement)) == []


def test_labels_of_a_class_go_on_slots_too() -> None:
    key = "scheduling.koordinator.sh/reservation-ignored"

    assert told({}, KOORDINATOR, resource_class(podLabels={"a": "b"})) == []
    assert told({}, KOORDINATOR, resource_class(podLabels={key: "true"})) == [
        f"B112 spec.podLabels.{key} @key: podLabels go on slots too, and {key} makes something else of a "
        "slot. Remove it, or give reservation course a class of its own."
    ]


def test_placeholders_pass_the_webhook_of_koordinator() -> None:
    def of(backend: Value, qos: str, cluster: Value = KOORDINATOR) -> list[str]:
        return told(backend, cluster, resource_class(podLabels={"koordinator.sh/qosClass": qos}))

    refused = [
        f"B118 spec.podLabels.koordinator.sh/qosClass: Koordinator in cluster prod refuses pods of "
        f"koordinator.sh/qosClass {qos} with priority -10: no placeholder could be made. Remove the label."
        for qos in ("BE", "LSR")
    ]
    assert of({"withPlaceholders": True}, "BE") + of({"withPlaceholders": True}, "LSR") == refused
    assert of({"type": "placeholder"}, "BE") + of({"type": "placeholder"}, "LSR") == refused
    assert of({"type": "placeholder"}, "LS") == of({}, "BE") == []
    assert of({"type": "placeholder"}, "BE", {"name": "prod"}) == []


def test_it_is_said_how_sessions_come_to_require_their_slots() -> None:
    rest = "Sessions beyond the slots then wait: have as many slots as sessions."

    assert told({"sessionAffinity": True}) == [
        "B119 spec.backend.sessionAffinity: cluster prod: session pods require their slots once they have "
        f"what stands in the ConfigMap course-session-affinity. {rest}"
    ]
    assert told({"sessionAffinity": True}, PROFILES) == [
        "B119 spec.backend.sessionAffinity: cluster prod: a ClusterColocationProfile makes session pods "
        "require their slots, but for those that come while Koordinator's webhook is away. "
        f"{rest}"
    ]
    by_name = [{"object": {"namespace": "lab", "name": "x"}}]
    assert told({"sessionAffinity": True, "owners": by_name}, PROFILES) == told({"sessionAffinity": True})
    assert told({"sessionAffinity": True, "owners": OWNERS}, {"name": "prod"})[1:] == []


def test_a_slot_holds_something() -> None:
    nothing = {"cpu": "0", "memory": "0Gi"}
    assert told({}, KOORDINATOR, resource_class(requests=nothing)) == [
        "B121 spec.requests: class small requests nothing: a slot would hold no room for a session. "
        "Write what a session requests."
    ]
    assert told({}, KOORDINATOR, resource_class(requests={**nothing, "nvidia.com/gpu": "1"})) == []
    overhead = {"template": {"overhead": {"cpu": "10m"}}}
    assert told(overhead, KOORDINATOR, resource_class(requests=nothing)) == []
    assert told({"type": "placeholder"}, KOORDINATOR, resource_class(requests=nothing)) == []


def test_a_quota_of_the_class_would_be_charged_twice() -> None:
    key = "quota.scheduling.koordinator.sh/name"
    assert told({}, KOORDINATOR, resource_class(podLabels={key: "ml"})) == [
        f"B113 spec.podLabels.{key} @key: podLabels go on slots too: {key} charges a slot to a quota, and "
        "the session that takes it once more. Give reservation course a class without it, unless the quota "
        "has room for both."
    ]


def test_other_backends_are_not_asked() -> None:
    assert told({"type": "placeholder"}, {"name": "prod"}) == []
