"""`reservation` of a class: it reaches what Koordinator reads, and breaks neither it nor Berth."""

from typing import Any

import pytest
from berth.backends.koordinator.slotmapping import SlotMapping

from tests.cases import table, tabled
from tests.saying import said

GROUP = "scheduling.koordinator.sh"


def pod(**spec: Any) -> dict[str, Any]:
    return {"spec": {"template": {"spec": spec}}}


def spec(**values: Any) -> dict[str, Any]:
    return {"spec": values}


@tabled("schema")
def test_fields_that_koordinator_reads_are_accepted(good: dict[str, Any]) -> None:
    assert said(SlotMapping, good) == []


TOLD: dict[str, tuple[dict[str, Any], list[str]]] = {
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


@pytest.mark.parametrize(("written", "problems"), table("slot", TOLD))
def test_faults_of_a_slot_mapping_are_reported(written: dict[str, Any], problems: list[str]) -> None:
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
def test_keys_that_change_the_meaning_of_a_slot_are_refused(key: str) -> None:
    assert of_both(key) == [[f"B112 {where}.{key} @key"] for where in ("labels", "annotations")] * 2


@pytest.mark.parametrize("key", TRACKING)
def test_keys_that_engines_use_for_pruning_are_refused_on_the_slot(key: str) -> None:
    on_object = [[f"B112 {where}.{key} @key"] for where in ("labels", "annotations")]

    assert of_both(key) == [*on_object, [], []]


def test_a_quota_key_on_a_slot_is_refused() -> None:
    key = "quota.scheduling.koordinator.sh/name"
    assert of_both(key) == [[f"B113 {where}.{key} @key"] for where in ("labels", "annotations")] * 2
