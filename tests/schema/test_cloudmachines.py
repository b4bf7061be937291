"""Machines of a CloudCapacity: how Karpenter finds reservations, when they are there, and types."""

from decimal import Decimal

import pytest
from berth.core.jsonvalues import parse_instant
from berth.schema.cloudcapacity import CloudSpec, InstanceTypeSpec, MachineReservation
from berth.schema.cloudgrammar import architecture_of

from tests.built import built
from tests.cases import table, tabled
from tests.saying import Value, ask, said
from tests.schema.nodeclasses import GOOD

MACHINE: Value = {"instanceType": "p5.48xlarge", "zone": "us-east-1a", "count": 4}
BLOCK: Value = {
    "id": "cr-0a",
    "type": "capacity-block",
    "from": "2026-02-01T00:00:00Z",
    "until": "2026-02-28T11:30:00Z",
    "hourlyPrice": 31.46,
    **MACHINE,
}
TOLD: dict[str, tuple[Value, list[str]]] = {
    "as-many-as-there-may-be": (
        {
            "reservations": [
                *({"id": f"cr-{number:02}", **MACHINE} for number in range(29)),
                {"tags": {"a": "b"}, **MACHINE},
                {"tags": {"a": "b"}, **MACHINE, "instanceType": "m5.large"},
            ]
        },
        [],
    ),
    "more-than-there-may-be": (
        {"reservations": [{"id": f"cr-{number:02}", **MACHINE} for number in range(31)]},
        ["B012 reservations"],
    ),
}


@pytest.mark.parametrize(("spec", "problems"), table("machines", TOLD))
def test_what_is_told_of_machines(spec: Value, problems: list[str]) -> None:
    assert said(CloudSpec, {"nodeClass": GOOD, **spec}) == problems


def test_a_reservation_is_what_was_written() -> None:
    first, until = parse_instant("2026-02-01T00:00:00Z"), parse_instant("2026-02-28T11:30:00Z")
    price = Decimal("31.46")
    shared: Value = {"tags": {"a": "*", "b": "c"}, **MACHINE}

    block = ask(MachineReservation, BLOCK)[0]
    assert (block.id, block.type, block.first, block.until, block.hourly_price) == (
        *("cr-0a", "capacity-block", first, until, price),
    )
    assert ask(MachineReservation, shared)[0] == built(MachineReservation, shared)


def test_a_type_is_what_was_written() -> None:
    value = {
        "name": "p5.48xlarge",
        "cpu": 192,
        "memory": "2048Gi",
        "gpus": {"nvidia.com/gpu": 8},
        "pods": 100,
        "zones": ["us-east-1a"],
        "onDemandPrice": "98.32",
        "spotPrice": 30,
        "allocatable": {"cpu": 190},
    }
    capacity = (("cpu", "192"), ("memory", "2048Gi"), ("nvidia.com/gpu", "8"), ("pods", "100"))
    found = ask(InstanceTypeSpec, value)[0]

    assert (found.capacity, found.allocatable, found.zones) == (capacity, {"cpu": "190"}, ("us-east-1a",))
    assert (found.on_demand_price, found.spot_price) == (Decimal("98.32"), Decimal(30))
    assert found.sold_architecture == "amd64"
    assert ask(InstanceTypeSpec, {"name": "m7g.large"})[0].sold_architecture == "arm64"


@tabled("schema")
def test_a_name_says_the_architecture(name: str, architecture: str) -> None:
    assert architecture_of(name) == architecture
