"""Until when machines of a reservation are there, and what Karpenter does where nothing is said."""

import pytest
from berth.core.jsonvalues import instant_text, parse_instant
from berth.schema.cloudcapacity import MachineReservation

from tests.cases import tabled
from tests.clouddocuments import GOOD
from tests.saying import Value
from tests.schema.clouds import made

END = parse_instant("2026-02-23T12:00:00Z")


def reserved(kind: str = "default", first: int | None = None, until: int | None = END) -> MachineReservation:
    return MachineReservation.model_construct(
        id="cr-0a",
        instance_type="p5.48xlarge",
        zone="us-east-1a",
        count=4,
        type=kind,
        first=first,
        until=until,
    )


@pytest.mark.parametrize(
    ("kind", "safe"),
    [("default", "2026-02-23T12:00:00Z"), ("capacity-block", "2026-02-23T11:20:00Z")],
)
def test_the_last_safe_instant_depends_on_the_reservation_type(kind: str, safe: str) -> None:
    one = reserved(kind)

    assert one.last_safe is not None
    assert instant_text(one.last_safe) == safe
    assert one.model_copy(update={"until": None}).last_safe is None


def test_machines_exist_from_the_first_second_to_the_last_safe_one() -> None:
    block = reserved("capacity-block", first=END - 7200)
    there = {at - END: block.there(at) for at in (END - 7201, END - 7200, END - 2401, END - 2400)}

    assert there == {-7201: False, -7200: True, -2401: True, -2400: False}
    assert [reserved(until=None).there(at) for at in (0, 2**40)] == [True, True]


def test_omitted_expiry_and_consolidation_have_the_defaults_of_karpenter() -> None:
    said = made(expireAfter="Never", disruption={"consolidateAfter": "5m"})

    assert (made().expiry, made().empty_after) == ("720h", "0s")
    assert (said.expiry, said.empty_after) == ("Never", "5m")


@tabled("schema")
def test_nodes_have_the_operating_system_of_their_images(said: Value, system: str) -> None:
    assert made(nodeClass={**GOOD, **said}).operating_system == system
