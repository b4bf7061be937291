"""What other capacities of the cluster have counts for seats that mind where others are."""

from typing import Any

import pytest
from berth.cost.results import SimulationRun
from berth.schema.cloudvalues import CloudCapacity
from berth.schema.pod import Placement
from berth.schema.values import ResourceClass

from tests.built import built
from tests.cost.stories import HOUR, cloud, demand, only, resource_class, run, told

ZONE = "topology.kubernetes.io/zone"
A, B, C = "us-east-1a", "us-east-1b", "us-east-1c"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def selecting(name: str) -> dict[str, Any]:
    return {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"berth.dev/class": name}}}


SPREAD = {**selecting("spread"), "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
WISHED = {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}


def there(name: str, *zones: str, machine: str = "m5.large") -> CloudCapacity:
    own = {"key": ZONE, "operator": "In", "values": list(zones)}
    return cloud(name=name, requirements=(only(machine), own))


def one_class(name: str, capacity: str, **pod: Any) -> ResourceClass:
    """One that others may select, whatever it asks for itself."""
    own = {"topologySpreadConstraints": (WISHED,), **pod}
    return resource_class(name, "1", "4Gi", capacity)._replace(pod=built(Placement, own))


def affinity(kind: str) -> dict[str, Any]:
    """To those of class `small`."""
    return {kind: {REQUIRED: (selecting("small"),)}}


def zones_of(found: SimulationRun, capacity: str) -> list[str]:
    return [kind.zone for kind in found.kinds if kind.capacity == capacity]


@pytest.mark.parametrize("others", [[], [demand("b", "8-12=1")]], ids=["alone", "another-opens-too"])
def test_zones_of_all_pools_count_for_who_is_spread(others: list[Any]) -> None:
    """Nothing of `gpu` can be in the third zone, which so stays at none: one more in each of the others."""
    found = run(
        [there("gpu", A, B), there("general", A, B, C)],
        [demand("a", "8-12=10", of="spread"), *others],
        [one_class("spread", "gpu", topologySpreadConstraints=(SPREAD,)), one_class("small", "general")],
    )

    assert sorted(zones_of(found, "gpu")) == [A, B]
    assert [(key, shortfall.count, shortfall.kind) for key, shortfall in found.steps[0].shortfalls] == [
        (("a", "spread"), 8, "topology")
    ]


def test_seats_may_be_near_to_those_of_another_capacity() -> None:
    found = run(
        [there("gpu", A, B, C), there("general", B)],
        [demand("a", "9-12=1", of="near"), demand("b", "8-12=1")],
        [one_class("near", "gpu", affinity=affinity("podAffinity")), one_class("small", "general")],
    )

    assert (zones_of(found, "gpu"), [step.shortfalls for step in found.steps]) == ([B], [(), (), ()])


@pytest.mark.parametrize(
    ("early", "late"),
    [(("small", "general"), ("alone", "gpu")), (("alone", "gpu"), ("small", "general"))],
    ids=["who-comes-minds", "who-is-there-minds"],
)
def test_seats_keep_away_from_those_of_another_capacity(
    early: tuple[str, str], late: tuple[str, str]
) -> None:
    found = run(
        [there(early[1], A), there(late[1], A, B)],
        [demand("a", "8-12=1", of=early[0]), demand("b", "9-12=1", of=late[0])],
        [one_class("alone", "gpu", affinity=affinity("podAntiAffinity")), one_class("small", "general")],
    )

    assert zones_of(found, late[1]) == [B]


def test_seats_are_on_no_whole_node_of_another() -> None:
    """It has room, and is of the same capacity."""
    found = run(
        [there("gpu", A, machine="m5.4xlarge")],
        [demand("a", "9-12=1", of="spread"), demand("b", "8-12=1", nodes=True)],
        [one_class("spread", "gpu", topologySpreadConstraints=(SPREAD,)), one_class("small", "gpu")],
    )

    assert told(found.intervals) == [
        "0 on-demand m5.4xlarge 8:00-12:01 b 1",
        "1 on-demand m5.4xlarge 9:00-12:01 a 1",
    ]
    assert found.steps[1].at == 9 * HOUR
