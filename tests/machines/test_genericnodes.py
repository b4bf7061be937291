"""Generic capacity: nodes of any cloud, or of none, that the file describes."""

from collections.abc import Mapping
from decimal import Decimal

import pytest
from berth.machines.capacitycatalog import as_clouds, shape_names
from berth.machines.costplan import lead_seconds
from berth.machines.formatting import machines_json, machines_text
from berth.machines.overtime import MachineCounts, sorted_counts
from berth.schema.cloudcapacity import GenericCapacity, NodeShapeSpec
from berth.schema.nodepoolparts import NodeTaint

from tests.built import built
from tests.machines.stories import HOUR, ORIGIN, demand, planned, resource_class

# Eleven seats of 1 CPU and 4 GiB fit on a large node, three on a small one, without DaemonSets.
LARGE = NodeShapeSpec.model_construct(
    name="large", allocatable={"cpu": "11.5", "memory": "60Gi"}, max_count=2, hourly_price=Decimal(1)
)
SMALL = NodeShapeSpec.model_construct(name="small", allocatable={"cpu": "3.5", "memory": "14Gi"})


def capacity(*nodes: NodeShapeSpec, daemons: Mapping[str, str] | None = None) -> GenericCapacity:
    return GenericCapacity.model_construct(
        origin=ORIGIN,
        name="campus",
        cluster="",
        nodes=nodes,
        node_start_minutes=4,
        image_pull_minutes=2,
        daemon_requests=dict(daemons or {}),
    )


def machines(one: GenericCapacity, seats: int) -> tuple[str, int]:
    """Return the machines of a window with these seats, and how many seats get none."""
    known = resource_class("small", "1", "4Gi", *shape_names(one))
    run = planned([*as_clouds([one])], [demand("ml", f"8-12={seats}")], [known]).run
    found = MachineCounts(run.intervals).at(9 * HOUR)
    return machines_text(sorted_counts(found)), sum(lack.count for _, lack in run.steps[0].shortfalls)


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        pytest.param(11, ("1 on-demand large", 0), id="one-full-node"),
        pytest.param(22, ("2 on-demand large", 0), id="as-many-as-there-may-be"),
        pytest.param(26, ("2 on-demand large, 2 on-demand small", 0), id="then-the-next-shape"),
    ],
)
def test_shapes_are_used_in_the_order_of_the_file(seats: int, expected: tuple[str, int]) -> None:
    assert machines(capacity(LARGE, SMALL), seats) == expected


def test_seats_beyond_the_maximum_of_nodes_have_no_machine() -> None:
    assert machines(capacity(LARGE), 25) == ("2 on-demand large", 3)


def test_daemon_sets_and_the_pod_limit_reduce_the_room_of_a_node() -> None:
    few = LARGE.model_copy(update={"pods": 8})

    assert machines(capacity(LARGE, daemons={"cpu": "2"}), 18) == ("2 on-demand large", 0)
    assert machines(capacity(few, daemons={"pods": "3"}), 10) == ("2 on-demand large", 0)
    assert machines(capacity(few, daemons={"pods": "3"}), 11) == ("2 on-demand large", 1)


def test_tainted_nodes_need_a_toleration() -> None:
    tainted = LARGE.model_copy(update={"taints": (built(NodeTaint, {"key": "gpu", "effect": "NoSchedule"}),)})

    assert machines(capacity(tainted, SMALL), 3) == ("1 on-demand small", 0)


def test_a_taint_of_a_requested_resource_is_reported_with_the_admission_plugin() -> None:
    tainted = LARGE.model_copy(
        update={"taints": (built(NodeTaint, {"key": "nvidia.com/gpu", "effect": "NoSchedule"}),)}
    )
    gpus = tainted.model_copy(update={"allocatable": {**LARGE.allocatable, "nvidia.com/gpu": "4"}})
    one = capacity(gpus)
    plain = resource_class("small", "1", "4Gi", *shape_names(one))
    for known, is_told in (
        (plain, False),
        (plain.model_copy(update={"requests": {**plain.requests, "nvidia.com/gpu": "1"}}), True),
    ):
        run = planned([*as_clouds([one])], [demand("ml", "8-12=1")], [known]).run
        ((_, lack),) = run.steps[0].shortfalls
        assert "the taint nvidia.com/gpu is not tolerated" in lack.message
        assert ("ExtendedResourceToleration" in lack.message) is is_told


def test_the_price_is_that_of_the_node_shape() -> None:
    one = capacity(LARGE)
    known = resource_class("small", "1", "4Gi", *shape_names(one))
    plan = planned([*as_clouds([one])], [demand("ml", "8-12=1")], [known])
    (interval,) = plan.run.intervals

    assert plan.catalog.price(interval.kind) == Decimal(1)
    assert machines_json(((interval.kind, 1),))[0]["cloudCapacity"] == "campus"


def test_the_lead_is_the_declared_start_time_plus_pull_time() -> None:
    """cluster-autoscaler looks every ten seconds, and asks for all nodes at once."""
    clouds = [*as_clouds([capacity(LARGE)])]

    assert [lead_seconds(clouds, loops) for loops in (0, 1, 5)] == [0, 10 + 360, 10 + 360]
