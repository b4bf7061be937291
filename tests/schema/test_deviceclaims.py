"""`resourceClaims` of a class: what is understood, and that everything else is refused."""

import pytest

from tests.saying import Value, lines, read, resource_class, site

COUNTED = {"name": "gpu", "deviceClassName": "gpu.example.com"}
NAMED = {"name": "nic", "resourceClaimTemplateName": "fast.nic"}


def told(*claims: Value) -> list[str]:
    return lines(read(site(), resource_class(resourceClaims=list(claims))).problems)


def test_a_claim_counts_devices_or_names_a_template() -> None:
    declared = read(site(), resource_class(resourceClaims=[COUNTED, {**COUNTED, "name": "b", "count": 4}, NAMED]))

    assert declared.problems == []
    assert [claim.devices for claim in declared.classes["small"].resource_claims] == [
        (1, "gpu.example.com"),
        (4, "gpu.example.com"),
        None,
    ]


@pytest.mark.parametrize(
    ("claims", "problems"),
    [
        ([{"name": "gpu"}], ["B011 spec.resourceClaims.0"]),
        ([{"deviceClassName": "a"}], ["B011 spec.resourceClaims.0"]),
        ([{**COUNTED, **NAMED}], ["B016 spec.resourceClaims.0.deviceClassName @key"]),
        ([{**NAMED, "count": 2}], ["B016 spec.resourceClaims.0.count @key"]),
        ([COUNTED, {**NAMED, "name": "gpu"}], ["B016 spec.resourceClaims.1.name"]),
        ([{**COUNTED, "count": 0}], ["B012 spec.resourceClaims.0.count"]),
        ([{**COUNTED, "count": 33}], ["B012 spec.resourceClaims.0.count"]),
        ([{**COUNTED, "name": "a.b"}], ["B019 spec.resourceClaims.0.name"]),
        ([{**COUNTED, "deviceClassName": "GPU"}], ["B019 spec.resourceClaims.0.deviceClassName"]),
        ([{**NAMED, "resourceClaimTemplateName": "a_b"}], ["B019 spec.resourceClaims.0.resourceClaimTemplateName"]),
        ([{"name": "gpu", "resourceClaimName": "shared"}], ["B010 spec.resourceClaims.0.resourceClaimName @key"]),
        ([{**COUNTED, "selectors": []}], ["B010 spec.resourceClaims.0.selectors @key"]),
        ([{**COUNTED, "allocationMode": "All"}], ["B010 spec.resourceClaims.0.allocationMode @key"]),
    ],
    ids=[
        "neither",
        "without-name",
        "both",
        "count-of-a-template",
        "name-twice",
        "none",
        "too-many",
        "dot-in-name",
        "device-class",
        "template",
        "shared-claim",
        "selectors",
        "all-devices",
    ],
)
def test_whatever_else_is_written_is_refused(claims: list[Value], problems: list[str]) -> None:
    assert told(*claims) == problems
