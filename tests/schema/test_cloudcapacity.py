"""`CloudCapacity` as a value, and what of it other documents say."""

from decimal import Decimal
from typing import Any

import pytest
from berth.machines.versions import NEWEST
from berth.schema.site import KarpenterSpec

from tests.built import built
from tests.cases import tabled
from tests.saying import Value, read, reservation, resource_class, site, told, valid, weekly
from tests.schema.clouds import made

RESERVED: Value = {"id": "cr-0a", "instanceType": "p5.48xlarge", "zone": "us-east-1a", "count": 4}


def test_reserved_is_the_first_default_capacity_type_with_reservations() -> None:
    assert made(reservations=[RESERVED]).capacity_types == ("reserved", "on-demand")


def test_a_class_names_capacities_in_order_of_preference() -> None:
    declared = valid(site(), resource_class(cloudCapacity=["b", "a"]))

    assert declared.classes["small"].cloud_capacity == ("b", "a")
    assert told(site(), resource_class(cloudCapacity=["a", "a"])) == ["b.yaml B016 spec.cloudCapacity.1"]


def test_a_cluster_declares_its_karpenter_and_a_site_its_budget() -> None:
    declared = valid(
        site(
            {"name": "a", "karpenter": {"version": "1.6.3", "gates": {"StaticCapacity": True}}},
            {"name": "b", "karpenter": {}},
            {"name": "c"},
            diff={"budget": 5000.5},
        )
    )
    assert declared.site is not None
    assert declared.site.diff.budget == Decimal("5000.5")
    assert [cluster.karpenter for cluster in declared.site.clusters] == [
        built(KarpenterSpec, {"version": (1, 6), "gates": {"StaticCapacity": True}}),
        built(KarpenterSpec, {"version": NEWEST}),
        None,
    ]


@tabled("schema")
def test_faults_of_the_field_karpenter_are_reported(said: Value, problems: list[str]) -> None:
    assert told(site({"name": "a", "karpenter": said})) == [f"a.yaml {problem}" for problem in problems]


def nodes(provisioning: Value, **spec: Any) -> list[str]:
    backend = {"type": "nodePool"}
    return told(reservation(backend=backend, provisioning=provisioning, **spec), site(), resource_class())


def test_a_node_pool_counts_nodes_and_no_sessions() -> None:
    backend = {"type": "nodePool"}
    entry = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
    own = weekly(entry, {**entry, "dayOfWeek": 2, "nodeCount": 5})
    one = reservation(backend=backend, provisioning={"nodeCount": 3}, recurrence=own)
    (found,) = read(one, site(), resource_class()).reservations

    assert nodes({"nodeCount": 3}) == []
    assert (found.behavior, found.holder.backend, found.seats) == ("none", "nodePool", (("small", 3),))
    assert [line.seats for line in found.recurrence.schedule] == [(("small", 3),), (("small", 5),)]


def test_seats_of_a_node_pool_are_nodes_per_class() -> None:
    seats = [{"resourceClass": "small", "nodeCount": 2}]

    assert nodes({"seats": seats}, resourceClass=None) == []


def test_a_missing_count_is_reported_as_the_one_of_the_backend() -> None:
    """And whoever adds it is done."""
    seats = [{"resourceClass": "small"}]
    plain = reservation(provisioning={"seats": seats, "scaleDownBehavior": "none"}, resourceClass=None)

    assert nodes({"leadTimeMinutes": 5}) == ["a.yaml B011 spec.provisioning"]
    assert nodes({"leadTimeMinutes": 5, "nodeCount": 1}) == []
    assert nodes({"seats": seats}, resourceClass=None) == ["a.yaml B011 spec.provisioning.seats.0"]
    assert told(plain, site(), resource_class()) == ["a.yaml B011 spec.provisioning.seats.0"]


@pytest.mark.parametrize("behaviour", ["maintain", "reduce"])
def test_a_node_pool_refuses_behaviors_that_count_sessions(behaviour: str) -> None:
    assert nodes({"nodeCount": 3, "scaleDownBehavior": "none"}) == []
    assert nodes({"nodeCount": 3, "scaleDownBehavior": behaviour}) == [
        "a.yaml B170 spec.provisioning.scaleDownBehavior"
    ]


def test_entries_and_seats_of_a_node_pool_refuse_counting_behaviors() -> None:
    entry = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00", "scaleDownBehavior": "maintain"}
    seats = [{"resourceClass": "small", "nodeCount": 2, "scaleDownBehavior": "reduce"}]

    assert nodes({"nodeCount": 3}, recurrence=weekly(entry)) == [
        "a.yaml B170 spec.recurrence.schedule.0.scaleDownBehavior"
    ]
    assert nodes({"seats": seats}, resourceClass=None) == [
        "a.yaml B170 spec.provisioning.seats.0.scaleDownBehavior"
    ]


def test_seat_counts_and_node_counts_cannot_be_mixed() -> None:
    entry = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
    seats = [{"resourceClass": "small", "placeholderCount": 2}]

    assert nodes({"placeholderCount": 3}) == ["a.yaml B016 spec.provisioning.placeholderCount @key"]
    assert nodes({"seats": seats}, resourceClass=None) == [
        "a.yaml B016 spec.provisioning.seats.0.placeholderCount @key"
    ]
    assert nodes({"nodeCount": 3}, recurrence=weekly({**entry, "placeholderCount": 2})) == [
        "a.yaml B016 spec.recurrence.schedule.0.placeholderCount @key",
        "a.yaml B016 spec.recurrence.schedule.0.placeholderCount @key",
    ]
    assert told(
        reservation(provisioning={"nodeCount": 3, "scaleDownBehavior": "none"}), site(), resource_class()
    ) == ["a.yaml B016 spec.provisioning.nodeCount @key"]


def test_a_node_pool_refuses_fields_of_slots() -> None:
    assert told(
        reservation(
            backend={"type": "nodePool", "owners": [{"object": {"name": "a"}}]}, provisioning={"nodeCount": 3}
        ),
        site(),
        resource_class(),
    ) == ["a.yaml B016 spec.backend.owners @key"]
