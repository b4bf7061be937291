"""`reservation` of a class: it reaches what Koordinator reads, and breaks neither it nor Berth."""

from typing import Any

import pytest
from berth.backends.koordinator.slotmapping import SlotMapping

from tests.saying import said

GROUP = "scheduling.koordinator.sh"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod(**spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": spec}}}


def spec(**values: Any) -> dict[str, Any]:
    return {"spec": values}


@pytest.mark.parametrize(
    "good",
    [
        {},
        spec(allocatePolicy=None),
        spec(allocatePolicy="Default"),
        spec(unschedulable=True, preAllocation=True, preAllocationPolicy={"mode": "Cluster"}),
        spec(expires="2026-12-31T23:00:00Z"),
        spec(ttl="0s"),
        pod(containers=[{"name": "seat", "ports": [{"hostPort": 8080}]}, {"name": "more"}]),
        pod(containers=[{"name": "more", "image": "x", "resources": {"requests": {"cpu": 1}}}]),
        pod(priority=9000, priorityClassName="high", nodeName="a", nodeSelector={"a": None}),
        pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}, tolerations=None),
        {"metadata": {"labels": {f"{GROUP}/reservation-order": "5", "koordinator.sh/priority": "3"}}},
        {"metadata": {"labels": {f"{GROUP}/pre-allocation-required": "true", "team": "a"}}},
        {"metadata": {"annotations": {f"{GROUP}/reservation-restricted-options": '{"resources": ["cpu"]}'}}},
    ],
    ids=ascii,
)
def test_what_koordinator_reads_can_be_written(good: dict[str, Any]) -> None:
    assert said(SlotMapping, good) == []


TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "what-a-course-says": (
        spec(owners=[{"object": {}}], allocateOnce=True, taints=[]),
        [f"B023 spec.{key} @key" for key in ("allocateOnce", "owners", "taints")],
    ),
    "null-removes-what-a-course-says": (spec(owners=None), ["B023 spec.owners @key"]),
    "name-and-namespace": (
        {"metadata": {"name": "a", "namespace": "b"}, "kind": "Reservation"},
        ["B010 kind @key", "B010 metadata.name @key", "B010 metadata.namespace @key"],
    ),
    "labels-of-berth": (
        {"metadata": {"labels": {"berth.dev/site": "x"}, "annotations": {"app.kubernetes.io/name": "y"}}},
        ["B023 metadata.annotations.app.kubernetes.io/name @key", "B023 metadata.labels.berth.dev/site @key"],
    ),
    "another-scheduler": (pod(schedulerName="x"), ["B023 spec.template.spec.schedulerName @key"]),
    "no-template": (spec(template=None), ["B023 spec.template @key"] * 2),
    "no-containers": (pod(containers=None), ["B023 spec.template.spec.containers @key"]),
    "requests-of-the-seat": (
        pod(containers=[{"name": "seat", "resources": {"requests": {"cpu": "1"}}}]),
        ["B023 spec.template.spec.containers @key"],
    ),
    "no-resources-of-the-seat": (
        pod(containers=[{"name": "seat", "resources": None}]),
        ["B023 spec.template.spec.containers @key"],
    ),
    "poison": (
        pod(
            priority="9000",
            nodeSelector={"a": True},
            overhead={"cpu": "1C"},
            containers=[{"resources": {"requests": {"cpu": {}}}}],
        ),
        [
            f"B013 spec.template.spec.{path}"
            for path in ("containers.0.resources.requests.cpu", "nodeSelector.a", "overhead.cpu", "priority")
        ],
    ),
    "misspelled": (
        {"spec": {"unschedulabel": True, "template": {"nodeName": "a", "spec": {"nodename": "a"}}}},
        [
            "B010 spec.template.nodeName @key",
            "B010 spec.template.spec.nodename @key",
            "B010 spec.unschedulabel @key",
        ],
    ),
    "no-mapping": ({"spec": []}, ["B013 spec"]),
    "choices": (
        spec(allocatePolicy="restricted", preAllocationPolicy={"mode": "cluster"}),
        ["B014 spec.allocatePolicy", "B014 spec.preAllocationPolicy.mode"],
    ),
    "ends-that-nobody-can-read": (spec(ttl="7d", expires="tomorrow"), ["B107 spec.expires", "B107 spec.ttl"]),
    "an-end-that-is-over": (spec(ttl="-1h"), ["B107 spec.ttl"]),
    "an-end-of-another-zone": (spec(expires="2026-12-31T23:00:00+01:00"), ["B107 spec.expires"]),
    "never-against-expires": (spec(ttl="0", expires="2026-12-31T23:00:00Z"), ["B107 spec.ttl"]),
    "ends-and-comes-again": (spec(ttl="720h"), ["B109 spec.ttl"]),
    "a-class-of-priority-alone": (
        pod(priorityClassName="high"),
        ["B029 spec.template.spec.priorityClassName @key"],
    ),
    "texts-that-koordinator-cannot-read": (
        {
            "metadata": {
                "labels": {f"{GROUP}/reservation-order": "0", "koordinator.sh/priority": "high"},
                "annotations": {
                    f"{GROUP}/reservation-restricted-options": "[cpu]",
                    "node.koordinator.sh/reservation": "[" * 5000,
                },
            }
        },
        [
            "B112 metadata.annotations.node.koordinator.sh/reservation",
            f"B112 metadata.annotations.{GROUP}/reservation-restricted-options",
            "B112 metadata.labels.koordinator.sh/priority",
            f"B112 metadata.labels.{GROUP}/reservation-order",
        ],
    ),
}


@pytest.mark.parametrize(("written", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_a_mapping(written: dict[str, Any], problems: list[str]) -> None:
    assert sorted(said(SlotMapping, written)) == sorted(problems)


OF_PODS = [
    f"{GROUP}/{name}"
    for name in (
        "reserve-pod",
        "reservation-name",
        "reservation-node",
        "is-pre-allocation",
        "reservation-allocated",
        "reservation-affinity",
        "exact-match-reservation",
        "reservation-ignored",
        "operating-mode",
        "reservation-owners",
        "reservation-current-owner",
    )
]
TRACKING = [
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/tracking-id",
    "kustomize.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
]


def of_both(key: str, value: str = "x") -> list[list[str]]:
    """What is told of a key as a label and as an annotation of the slot, and of its template."""
    both = [{where: {key: value}} for where in ("labels", "annotations")]
    on_object = [said(SlotMapping, {"metadata": one}) for one in both]
    in_template = [said(SlotMapping, {"spec": {"template": {"metadata": one}}}) for one in both]
    return [
        [problem.replace("spec.template.", "").replace("metadata.", "") for problem in told]
        for told in (*on_object, *in_template)
    ]


@pytest.mark.parametrize("key", OF_PODS)
def test_keys_that_would_make_something_else_of_a_slot_are_refused(key: str) -> None:
    assert of_both(key) == [[f"B112 {where}.{key} @key"] for where in ("labels", "annotations")] * 2


@pytest.mark.parametrize("key", TRACKING)
def test_keys_by_which_an_engine_prunes_are_refused_on_the_slot_alone(key: str) -> None:
    on_object = [[f"B112 {where}.{key} @key"] for where in ("labels", "annotations")]

    assert of_both(key) == [*on_object, [], []]


def test_a_quota_would_be_charged_twice() -> None:
    key = "quota.scheduling.koordinator.sh/name"
    assert of_both(key) == [[f"B113 {where}.{key} @key"] for where in ("labels", "annotations")] * 2
