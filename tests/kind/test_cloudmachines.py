"""Machines of a CloudCapacity: how Karpenter finds reservations, when they are there, and types."""

from decimal import Decimal

import pytest

from gen.cloud import CloudReservation, InstanceType
from gen.core.instants import parse_instant
from gen.kind.cloudcapacity import SPEC
from gen.kind.cloudmachines import INSTANCE_TYPE, RESERVATION, architecture_of
from tests.kind.test_nodeclass import GOOD
from tests.saying import Value, ask, said

MACHINE: Value = {"instanceType": "p5.48xlarge", "zone": "us-east-1a", "count": 4}
BLOCK: Value = {
    "id": "cr-0a",
    "type": "capacity-block",
    "ultraServer": True,
    "from": "2026-02-01T00:00:00Z",
    "until": "2026-02-28T11:30:00Z",
    "hourlyPrice": 31.46,
    **MACHINE,
}
TOLD: dict[str, tuple[Value, list[str]]] = {
    "every-form": (
        {
            "reservations": [
                {"id": "cr-0a", **MACHINE},
                {"tags": {"a": "*"}, "ownerID": "123456789012", **MACHINE},
                {"instanceMatchCriteria": "open", **MACHINE},
                {"tags": {"a": "b"}, "instanceMatchCriteria": "targeted", **MACHINE},
            ]
        },
        [],
    ),
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
        [
            "B012 reservations: it takes 31 terms to select these. Write at most 30: tags select several at "
            "once."
        ],
    ),
    "no-form": (
        {"reservations": [{**MACHINE}]},
        ["B152 reservations.0: nothing says how Karpenter finds it. Add id, tags or instanceMatchCriteria."],
    ),
    "a-lone-account": (
        {"reservations": [{"ownerID": "123456789012", **MACHINE}]},
        ["B152 reservations.0: ownerID alone finds nothing. Add id, tags or instanceMatchCriteria."],
    ),
    "an-id-beside-tags": (
        {
            "reservations": [
                {"id": "cr-0a", **MACHINE},
                {"id": "cr-0a", "tags": {"a": "b"}, "ownerID": "123456789012", **MACHINE},
            ]
        },
        [
            "B152 reservations.1: id says all; tags, ownerID beside it would select more than that. "
            "Keep id alone, or write two terms: one of them is enough."
        ],
    ),
    "forms-of-texts": (
        {
            "reservations": [
                {"id": "CR-0", **MACHINE},
                {"tags": {"a": ""}, "ownerID": "12345", **MACHINE},
                {"instanceMatchCriteria": "any", "instanceType": "p5", "zone": "us-east-1", "count": 0},
            ]
        },
        [
            'B151 reservations.0.id: "CR-0" is not the id of a capacity reservation. Write it as AWS '
            "shows it: cr- and small letters and digits.",
            "B151 reservations.1.tags.a: a tag without value selects nothing. Write its value, or "
            '"*" for any.',
            'B151 reservations.1.ownerID: "12345" is not the id of an AWS account. Write its 12 digits.',
            'B014 reservations.2.instanceMatchCriteria: "any" is not one of open, targeted. Write '
            "one of open, targeted.",
            'B151 reservations.2.instanceType: "p5" is not an instance type. Write it as p5.48xlarge.',
            'B151 reservations.2.zone: "us-east-1" is not a zone of AWS. Write it as us-east-1a.',
            "B012 reservations.2.count: 0 is below 1. Write a whole number from 1 to 100000.",
        ],
    ),
    "an-account-that-is-a-number": (
        {"reservations": [{"tags": {"a": "b"}, "ownerID": 123456789012, **MACHINE}]},
        [
            "B013 reservations.0.ownerID: 123456789012 is a number, not an account. Write it in "
            'quotes: "123456789012".'
        ],
    ),
    "a-block-without-dates": (
        {"reservations": [{"id": "cr-0a", "type": "capacity-block", **MACHINE}]},
        [
            "B011 reservations.0: a Capacity Block begins and ends: from is missing. Add from: an "
            "instant such as 2026-02-01T11:30:00Z.",
            "B011 reservations.0: a Capacity Block begins and ends: until is missing. Add until: an "
            "instant such as 2026-02-01T11:30:00Z.",
        ],
    ),
    "a-block": (
        {
            "reservations": [
                {
                    "id": "cr-0a",
                    "type": "capacity-block",
                    "ultraServer": True,
                    "from": "2026-02-01T00:00:00Z",
                    "until": "2026-02-28T11:30:00Z",
                    **MACHINE,
                }
            ]
        },
        [],
    ),
    "ultra-servers-elsewhere": (
        {"reservations": [{"id": "cr-0a", "ultraServer": True, **MACHINE}]},
        [
            "B016 reservations.0.ultraServer: UltraServers are sold as Capacity Blocks, not as type "
            "default. Write type: capacity-block, or remove it."
        ],
    ),
    "ends-before": (
        {
            "reservations": [
                {"id": "cr-0a", "from": "2026-02-01T00:00:00Z", "until": "2026-02-01T00:00:00Z", **MACHINE}
            ]
        },
        ["B024 reservations.0.until: it ends before it begins. Write an instant after from."],
    ),
    "no-instants": (
        {"reservations": [{"id": "cr-0a", "from": "2026-02-01", "until": "2026-02-30T00:00:00Z", **MACHINE}]},
        [
            'B151 reservations.0.from: "2026-02-01" is not an instant in UTC. Write it as '
            "2026-12-31T23:00:00Z.",
            "B151 reservations.0.until: 2026-02-30T00:00:00Z does not exist. Write a date and a time "
            "that exist.",
        ],
    ),
    "prices": (
        {
            "reservations": [
                {"id": "cr-0a", "hourlyPrice": -1, **MACHINE},
                {"id": "cr-0b", "hourlyPrice": "1e3", **MACHINE},
                {"id": "cr-0c", "hourlyPrice": True, **MACHINE},
            ]
        },
        [
            "B013 reservations.0.hourlyPrice: -1 is not a price: a number from 0 up. Write a price: "
            "a number from 0 up.",
            'B013 reservations.1.hourlyPrice: "1e3" is not a price: a number from 0 up. Write a '
            "price: a number from 0 up.",
            "B013 reservations.2.hourlyPrice: true is not a price: a number from 0 up. Write a "
            "price: a number from 0 up.",
        ],
    ),
    "too-much-for-pods": (
        {
            "instanceTypes": [
                {
                    "name": "p5.48xlarge",
                    "cpu": 192,
                    "memory": "2048Gi",
                    "pods": 100,
                    "allocatable": {"cpu": "193", "memory": "1900Gi", "ephemeral-storage": "1Ti"},
                }
            ]
        },
        [
            "B016 instanceTypes.0.allocatable.cpu: 193 is more than the machine has: 192. Write what "
            "is left for pods."
        ],
    ),
    "types": (
        {
            "instanceTypes": [
                {
                    "name": "P5",
                    "architecture": "x86",
                    "zones": [],
                    "pods": 0,
                    "gpus": {"gpu": 1},
                    "spotPrice": "free",
                }
            ]
        },
        [
            'B151 instanceTypes.0.name: "P5" is not an instance type. Write it as p5.48xlarge.',
            'B014 instanceTypes.0.architecture: "x86" is not one of amd64, arm64. Write one of amd64, arm64.',
            "B012 instanceTypes.0.zones: the list is empty. Write at least one item.",
            "B012 instanceTypes.0.pods: 0 is below 1. Write a whole number from 1 to 10000.",
            'B022 instanceTypes.0.gpus.gpu @key: "gpu" is not a resource that a container can '
            "request. Write cpu, memory, ephemeral-storage, or a device such as nvidia.com/gpu.",
            'B013 instanceTypes.0.spotPrice: "free" is not a price: a number from 0 up. Write a '
            "price: a number from 0 up.",
        ],
    ),
}


@pytest.mark.parametrize(("spec", "problems"), TOLD.values(), ids=TOLD)
def test_what_is_told_of_machines(spec: Value, problems: list[str]) -> None:
    assert said(SPEC, {"nodeClass": GOOD, **spec}) == problems


def test_a_reservation_is_what_was_written() -> None:
    first, until = parse_instant("2026-02-01T00:00:00Z"), parse_instant("2026-02-28T11:30:00Z")
    price = Decimal("31.46")
    block = CloudReservation(
        "cr-0a", (), "", "", "p5.48xlarge", "us-east-1a", 4, "capacity-block", True, first, until, price
    )
    shared: Value = {"tags": {"a": "*", "b": "c"}, "ownerID": "123456789012", **MACHINE}
    tags = (("a", "*"), ("b", "c"))

    assert ask(RESERVATION, BLOCK) == (block, [])
    assert ask(RESERVATION, shared) == (
        CloudReservation(
            "", tags, "123456789012", "", "p5.48xlarge", "us-east-1a", 4, "default", False, None, None, None
        ),
        [],
    )


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
    prices = Decimal("98.32"), Decimal(30)

    assert ask(INSTANCE_TYPE, value) == (
        InstanceType("p5.48xlarge", capacity, (("cpu", "190"),), ("us-east-1a",), "amd64", *prices),
        [],
    )
    assert ask(INSTANCE_TYPE, {"name": "m7g.large"}) == (
        InstanceType("m7g.large", (), (), (), "arm64", None, None),
        [],
    )


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("m7g.large", "arm64"),
        ("c6gn.xlarge", "arm64"),
        ("a1.metal", "arm64"),
        ("g5g.xlarge", "arm64"),
        ("p6e-gb200.36xlarge", "arm64"),
        ("p6-b200.48xlarge", "amd64"),
        ("g5.xlarge", "amd64"),
        ("g4dn.xlarge", "amd64"),
        ("m6i.large", "amd64"),
        ("u-12tb1.metal", "amd64"),
    ],
)
def test_a_name_says_the_architecture(name: str, architecture: str) -> None:
    assert architecture_of(name) == architecture
