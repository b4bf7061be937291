"""Slots against their class and cluster: what one document alone does not tell."""

from typing import Any

import pytest

from tests.cases import tabled
from tests.checks.backendproblems import problems_of_first
from tests.saying import Value, finding, lines, read, reservation, resource_class, site

KOORDINATOR: Value = {"name": "prod", "koordinator": {}}
ALIGNED: Value = {"name": "prod", "koordinator": {"allocatePolicy": "Aligned"}}
PROFILES: Value = {"name": "prod", "koordinator": {"colocationProfiles": True}}
OWNERS = [{"labelSelector": {"matchLabels": {"course": "ml"}}}]
HUB = {"source": "jupyterhub", "namespaces": ["hub"]}
RENKU = {"source": "renku", "namespaces": ["renku"]}


def told(backend: Value, cluster: Value = KOORDINATOR, *classes: Value, **spec: Any) -> list[str]:
    """What is told of a reservation of that backend; of the class `small` where none is given."""
    one = reservation(backend={"type": "koordinator", **backend}, **spec)
    declared = read(one, site(cluster), *(classes or (resource_class(),)))
    assert [problem for problem in declared.problems if problem.code not in ("B116", "B103", "B109")] == []
    return lines(problems_of_first(declared))


def test_slots_need_a_cluster_with_koordinator() -> None:
    assert told({}) == []
    assert told({}, {"name": "prod"}) == [finding("B283 spec.backend.type", "prod")]


def test_every_cluster_of_a_reservation_is_checked() -> None:
    classes = [resource_class("a", cluster="one"), resource_class("b", cluster="two")]
    seats = [{"resourceClass": name, "placeholderCount": 1} for name in ("a", "b")]
    one = reservation(backend={"type": "koordinator"}, resourceClass=None, provisioning={"seats": seats})
    declared = read(one, site({"name": "one", "koordinator": {}}, {"name": "two"}), *classes)

    assert lines(problems_of_first(declared)) == [finding("B283 spec.backend.type", "two")]


def mapped(**spec: Any) -> Value:
    """The class with `reservation`."""
    return resource_class(reservation={"spec": spec})


def test_a_class_cannot_change_the_allocate_policy_of_the_cluster() -> None:
    at = "B105 spec.reservation.spec.allocatePolicy"

    assert told({}, KOORDINATOR, mapped(allocatePolicy="Restricted")) == []
    assert told({}, ALIGNED, mapped(allocatePolicy="Aligned")) == []
    assert told({}, KOORDINATOR, mapped(allocatePolicy="Aligned")) == [at]
    assert told({}, KOORDINATOR, mapped(allocatePolicy=None)) == [at]


def test_taking_over_placeholders_needs_the_policy_restricted() -> None:
    takes_over = {"preAllocation": True}

    assert told({"withPlaceholders": True}) == told({}, KOORDINATOR, mapped(**takes_over)) == []
    assert told({"withPlaceholders": True}, ALIGNED) == [
        finding("B106 spec.backend.withPlaceholders", "prod")
    ]
    assert told({}, ALIGNED, mapped(**takes_over)) == ["B106 spec.reservation.spec.preAllocation"]


@tabled("checks")
def test_a_class_that_prevents_taking_over_is_reported(spec: Value) -> None:
    (key,) = spec
    problem = finding("B106 spec.backend.withPlaceholders", "small", key)

    assert problem in told({"withPlaceholders": True}, KOORDINATOR, mapped(**spec))


def test_pre_allocation_needs_owner_labels_and_reusable_slots() -> None:
    takes_over, by_name = mapped(preAllocation=True), [{"object": {"namespace": "a"}}]

    assert told({"allocateOnce": True}, KOORDINATOR, takes_over) == [
        finding("B106 spec.backend.allocateOnce", "small")
    ]
    assert told({"owners": by_name}, KOORDINATOR, takes_over) == ["B106 spec.backend.owners"]
    assert told({"owners": [*by_name, *OWNERS]}, KOORDINATOR, takes_over) == []


@pytest.mark.parametrize("key", ["ttl", "expires"])
def test_only_standing_slots_may_have_ttl_or_expires(key: str) -> None:
    class_that_ends = mapped(**{key: {"ttl": "0s", "expires": "2026-12-31T23:00:00Z"}[key]})
    standing = {"recurrence": None, "provisioning": {"placeholderCount": 2}}

    assert told({}, KOORDINATOR, class_that_ends) == [finding("B016 spec.backend", "small", key)]
    assert told({"standing": True}, KOORDINATOR, class_that_ends, **standing) == []


@tabled("checks")
def test_slots_need_explicit_owners_if_no_label_identifies_the_sessions(
    sessions: Value | None, course: Value
) -> None:
    found = resource_class(sessions=sessions, renkuId=5)

    assert told({}, KOORDINATOR, found, sessions=course) == [finding("B101 spec.backend", "small")]
    assert told({"owners": OWNERS}, KOORDINATOR, found, sessions=course) == []


@tabled("checks")
def test_owners_default_to_sessions_that_labels_identify(sessions: Value, course: Value) -> None:
    assert told({}, KOORDINATOR, resource_class(sessions=sessions), sessions=course) == []


def test_classes_with_the_same_slot_owners_are_reported() -> None:
    def both(backend: Value, **second: Any) -> list[str]:
        seats = [{"resourceClass": name, "placeholderCount": 1} for name in ("small", "huge")]
        classes = [resource_class(), resource_class("huge", sessions={**HUB, **second})]
        return told(backend, KOORDINATOR, *classes, resourceClass=None, provisioning={"seats": seats})

    assert both({"owners": OWNERS}) == [finding("B117 spec.backend.owners", "small", "huge")]
    assert both({}) == [finding("B117 spec.backend", "small", "huge")]
    assert both({}, selector={"matchLabels": {"size": "huge"}}) == []


TERM = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


@tabled("checks")
def test_placement_that_depends_on_the_pod_namespace_needs_a_namespace(part: str, placement: Value) -> None:
    problem = finding("B111 spec.backend", part)
    there = {"spec": {"template": {"metadata": {"namespace": "hub"}}}}

    assert told({}, KOORDINATOR, resource_class(**placement)) == [problem]
    assert told({}, KOORDINATOR, mapped(template={"spec": placement})) == [problem]
    assert told({}, KOORDINATOR, resource_class(**placement, reservation=there)) == []


@tabled("checks")
def test_placement_with_explicit_namespaces_has_no_finding(placement: Value) -> None:
    assert told({}, KOORDINATOR, resource_class(**placement)) == []


def test_koordinator_labels_of_a_class_are_reported_for_slots() -> None:
    key = "scheduling.koordinator.sh/reservation-ignored"

    assert told({}, KOORDINATOR, resource_class(podLabels={"a": "b"})) == []
    assert told({}, KOORDINATOR, resource_class(podLabels={key: "true"})) == [
        finding(f"B112 spec.podLabels.{key} @key", "course", key)
    ]


def test_placeholders_that_the_koordinator_webhook_refuses_are_reported() -> None:
    def of(backend: Value, qos: str, cluster: Value = KOORDINATOR) -> list[str]:
        return told(backend, cluster, resource_class(podLabels={"koordinator.sh/qosClass": qos}))

    refused = [
        finding("B118 spec.podLabels.koordinator.sh/qosClass", "prod", "-10", qos) for qos in ("BE", "LSR")
    ]
    assert of({"withPlaceholders": True}, "BE") + of({"withPlaceholders": True}, "LSR") == refused
    assert of({"type": "placeholder"}, "BE") + of({"type": "placeholder"}, "LSR") == refused
    assert of({"type": "placeholder"}, "LS") == of({}, "BE") == []
    assert of({"type": "placeholder"}, "BE", {"name": "prod"}) == []


def test_a_slot_without_requests_is_reported() -> None:
    nothing = {"cpu": "0", "memory": "0Gi"}
    assert told({}, KOORDINATOR, resource_class(requests=nothing)) == [finding("B121 spec.requests", "small")]
    assert told({}, KOORDINATOR, resource_class(requests={**nothing, "nvidia.com/gpu": "1"})) == []
    overhead = {"spec": {"template": {"spec": {"overhead": {"cpu": "10m"}}}}}
    assert told({}, KOORDINATOR, resource_class(requests=nothing, reservation=overhead)) == []
    assert told({"type": "placeholder"}, KOORDINATOR, resource_class(requests=nothing)) == []


def test_a_quota_label_of_the_class_is_reported() -> None:
    key = "quota.scheduling.koordinator.sh/name"
    assert told({}, KOORDINATOR, resource_class(podLabels={key: "ml"})) == [
        finding(f"B113 spec.podLabels.{key} @key", "course", key)
    ]


def test_other_backends_get_no_slot_findings() -> None:
    assert told({"type": "placeholder"}, {"name": "prod"}) == []
