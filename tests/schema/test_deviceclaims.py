"""`resourceClaims` of a class: what is understood, and that everything else is refused."""

from tests.cases import tabled
from tests.saying import Value, lines, read, resource_class, site

COUNTED = {"name": "gpu", "deviceClassName": "gpu.example.com"}
NAMED = {"name": "nic", "resourceClaimTemplateName": "fast.nic"}
FIRST = "spec.resourceClaims.0"


def told(*claims: Value) -> list[str]:
    return lines(read(site(), resource_class(resourceClaims=list(claims))).problems)


def test_a_claim_counts_devices_or_names_a_template() -> None:
    declared = read(
        site(), resource_class(resourceClaims=[COUNTED, {**COUNTED, "name": "b", "count": 4}, NAMED])
    )

    assert declared.problems == []
    assert [claim.devices for claim in declared.classes["small"].resource_claims] == [
        (1, "gpu.example.com"),
        (4, "gpu.example.com"),
        None,
    ]


@tabled("schema")
def test_whatever_else_is_written_is_refused(claims: list[Value], problems: list[str]) -> None:
    assert told(*claims) == problems
