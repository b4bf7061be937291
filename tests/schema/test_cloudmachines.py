"""Machines of a CloudCapacity: how Karpenter finds reservations, when they are there, and types."""

import pytest
from berth.schema.cloudcapacity import CloudSpec
from berth.schema.cloudgrammar import architecture_of

from tests.cases import table, tabled
from tests.clouddocuments import GOOD
from tests.saying import Value, said

MACHINE: Value = {"instanceType": "p5.48xlarge", "zone": "us-east-1a", "count": 4}
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
def test_faults_of_machines_are_reported(spec: Value, problems: list[str]) -> None:
    assert said(CloudSpec, {"nodeClass": GOOD, **spec}) == problems


@tabled("schema")
def test_the_name_of_a_type_implies_its_architecture(name: str, architecture: str) -> None:
    assert architecture_of(name) == architecture
