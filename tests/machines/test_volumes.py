"""Nodes that are full of disks: `plan` and `size` count the volumes of sessions."""

import pytest
from berth.machines.capacitycatalog import as_clouds, shape_names
from berth.machines.overtime import MachineCounts
from berth.schema.cloudcapacity import GenericCapacity, NodeShapeSpec

from tests.machines.stories import HOUR, ORIGIN, demand, planned, resource_class

ROOMY = NodeShapeSpec.model_construct(name="roomy", allocatable={"cpu": "64", "memory": "256Gi"}, volumes=26)


def nodes(shape: NodeShapeSpec, seats: int, volumes: int = 1) -> tuple[int, list[str]]:
    """Return the nodes of a window, and why seats get none. Sixty-four seats fit by cpu and memory."""
    generic_capacity = GenericCapacity.model_construct(
        origin=ORIGIN, name="campus", cluster="", nodes=(shape,), node_start_minutes=4
    )
    known = resource_class("small", "1", "4Gi", *shape_names(generic_capacity)).model_copy(
        update={"volumes": volumes}
    )
    run = planned([*as_clouds([generic_capacity])], [demand("ml", f"8-12={seats}")], [known]).run
    lacks = [lack.message for _, lack in run.steps[0].shortfalls]
    return sum(count for _, count in MachineCounts(run.intervals).at(9 * HOUR).items()), lacks


@pytest.mark.parametrize(
    ("seats", "volumes", "expected"), [(60, 0, 1), (26, 1, 1), (27, 1, 2), (60, 1, 3), (60, 2, 5)]
)
def test_a_node_takes_only_as_many_sessions_as_its_volumes_allow(
    seats: int, volumes: int, expected: int
) -> None:
    assert nodes(ROOMY, seats, volumes) == (expected, [])


def test_volumes_are_not_counted_without_a_volume_limit() -> None:
    assert nodes(ROOMY.model_copy(update={"volumes": None}), 60) == (1, [])


def test_a_session_with_more_volumes_than_a_node_allows_has_no_machine() -> None:
    count, lacks = nodes(ROOMY, 1, 27)

    assert (count, len(lacks)) == (0, 1)
    assert "attachable-volumes" in lacks[0]
