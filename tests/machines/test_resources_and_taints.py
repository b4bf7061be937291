"""Amounts and taints."""

import pytest
from berth.machines.instancetypes import allocatable, parse_resources
from berth.machines.nodelabels import Taint, Toleration, untolerated


def test_amounts_are_parsed_in_billionths_and_sorted_by_name() -> None:
    assert parse_resources({"memory": "1Ki", "cpu": "500m"}) == (
        ("cpu", 500_000_000),
        ("memory", 1024 * 10**9),
    )


def test_an_invalid_quantity_raises_an_error() -> None:
    with pytest.raises(ValueError, match=r"^no quantity: cpu='much'$"):
        parse_resources({"cpu": "much"})


def test_huge_pages_are_taken_out_of_memory() -> None:
    capacity = parse_resources({"memory": "8Gi", "hugepages-2Mi": "2Gi", "hugepages-1Gi": "1Gi"})
    left = allocatable(capacity, parse_resources({"memory": "1Gi"}))

    assert left == dict(parse_resources({"memory": "4Gi", "hugepages-2Mi": "2Gi", "hugepages-1Gi": "1Gi"}))
    assert allocatable(parse_resources({"memory": "1Gi", "hugepages-2Mi": "2Gi"}), ())["memory"] == 0


@pytest.mark.parametrize(
    ("toleration", "taint", "borne"),
    [
        (Toleration("sla", "Gt", "900"), Taint("sla", "950"), True),
        (Toleration("sla", "Gt", "900"), Taint("sla", "900"), False),
        (Toleration("sla", "Lt", "900"), Taint("sla", "899"), True),
        (Toleration("sla", "Lt", "900"), Taint("sla", "high"), False),
        (Toleration("sla", "", "x"), Taint("sla", "x"), True),
        (Toleration("sla", "Exists", "", "NoExecute"), Taint("sla", "x", "NoSchedule"), False),
        (Toleration("other", "Exists"), Taint("sla"), False),
    ],
)
def test_tolerations_match_taints_by_key_operator_value_and_effect(
    toleration: Toleration, taint: Taint, borne: bool
) -> None:
    assert untolerated((taint,), (toleration,)) == (None if borne else taint)


def test_the_first_untolerated_taint_is_returned() -> None:
    taints = (Taint("a"), Taint("b"), Taint("c"))

    assert untolerated(taints, (Toleration("a", "Exists"), Toleration("c", "Exists"))) == Taint("b")
