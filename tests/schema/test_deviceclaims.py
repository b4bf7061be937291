"""`resourceClaims` of a class: what is understood, and that everything else is refused."""

import pytest

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


@pytest.mark.parametrize(
    ("claims", "problems"),
    [
        ([{"name": "gpu"}], [f"B011 {FIRST}"]),
        ([{"deviceClassName": "a"}], [f"B011 {FIRST}"]),
        ([{**COUNTED, **NAMED}], [f"B016 {FIRST}.deviceClassName @key"]),
        ([{**NAMED, "count": 2}], [f"B016 {FIRST}.count @key"]),
        ([COUNTED, {**NAMED, "name": "gpu"}], ["B016 spec.resourceClaims.1.name"]),
        ([{**COUNTED, "count": 0}], [f"B012 {FIRST}.count"]),
        ([{**COUNTED, "count": 33}], [f"B012 {FIRST}.count"]),
        ([{**COUNTED, "name": "a.b"}], [f"B019 {FIRST}.name"]),
        ([{**COUNTED, "deviceClassName": "GPU"}], [f"B019 {FIRST}.deviceClassName"]),
        (
            [{**NAMED, "resourceClaimTemplateName": "a_b"}],
            [f"B019 {FIRST}.resourceClaimTemplateName"],
        ),
        (
            [{"name": "gpu", "resourceClaimName": "shared"}],
            [f"B010 {FIRST}.resourceClaimName @key"],
        ),
        ([{**COUNTED, "selectors": []}], [f"B010 {FIRST}.selectors @key"]),
        ([{**COUNTED, "allocationMode": "All"}], [f"B010 {FIRST}.allocationMode @key"]),
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
