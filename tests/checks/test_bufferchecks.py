"""Reservations that a CapacityBuffer holds: who keeps it, and who must leave its replicas alone."""

from typing import Any

import pytest
from berth.checks import autoscalers

from tests.cases import tabled
from tests.checks.backendproblems import problems_of_first, project_of
from tests.saying import Value, finding, lines, read, reservation, resource_class, site, valid

FLUX: Value = {"engine": {"type": "flux", "sourceName": "fleet"}}
KARPENTER: Value = {**FLUX, "name": "prod", "autoscaler": "karpenter"}
BUFFERS: Value = {**KARPENTER, "karpenter": {"version": "1.14", "gates": {"CapacityBuffer": True}}}
OTHER: Value = {**FLUX, "name": "prod", "autoscaler": "cluster-autoscaler"}
AT = "B283 spec.backend.type"


def told(cluster: Value, **course: Any) -> list[str]:
    declared = valid(
        reservation(backend={"type": "capacityBuffer"}, **course), site(cluster), resource_class()
    )
    return lines(
        [
            *autoscalers.check_autoscalers(project_of(declared)),
            *problems_of_first(declared),
        ]
    )


@tabled("checks")
def test_an_autoscaler_that_maintains_buffers_is_sufficient(cluster: Value) -> None:
    assert told(cluster) == []


@tabled("checks")
def test_a_buffer_that_no_autoscaler_maintains_is_reported(cluster: Value, finding_: str) -> None:
    assert told(cluster) == [finding_]


@pytest.mark.parametrize("engine", ["none", {"type": "flux", "version": "2.8", "sourceName": "fleet"}])
def test_an_engine_that_resets_replicas_is_reported(engine: Any) -> None:
    assert told({**BUFFERS, "engine": engine}) == [finding("B192 spec.backend.type", "0", "2.9")]


@pytest.mark.parametrize("cluster", [{**FLUX, "name": "prod"}, KARPENTER], ids=["none", "karpenter"])
def test_the_field_capacity_buffers_needs_cluster_autoscaler(cluster: Value) -> None:
    declared = read(site({**cluster, "capacityBuffers": True}))

    assert lines(autoscalers.check_autoscalers(project_of(declared))) == [
        "B029 spec.clusters.0.capacityBuffers @key"
    ]
