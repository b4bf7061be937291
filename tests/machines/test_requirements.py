"""Sets of label values, against a world of few values where every set can be written down."""

from itertools import product

import pytest
from berth.machines.nodelabels import ZONE, Requirement, Requirements, requirement

from tests.cases import tabled

WORLD = ("", "a", "b", "1", "5", "9", "-3", "05", "5x")
ALL = [
    requirement("k", "In", ("a", "5")),
    requirement("k", "In", ("b",)),
    requirement("k", "In", ("1", "5", "9")),
    requirement("k", "In", ()),
    requirement("k", "NotIn", ("a", "5")),
    requirement("k", "NotIn", ("9", "b")),
    requirement("k", "Exists"),
    requirement("k", "DoesNotExist"),
    requirement("k", "Gt", ("1",)),
    requirement("k", "Gte", ("5",)),
    requirement("k", "Lt", ("9",)),
    requirement("k", "Lte", ("1",)),
    requirement("k", "Gt", ("8",)),
]


def values(one: Requirement) -> set[str]:
    return {value for value in WORLD if one.allows(value)}


def test_the_intersection_of_requirements_is_that_of_their_value_sets() -> None:
    for one, other in product(ALL, ALL):
        assert values(one.intersection(other)) == values(one) & values(other)
        assert one.intersection(other) == other.intersection(one)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (requirement("k", "Gt", ("5",)), {"9"}),
        (requirement("k", "Gte", ("5",)), {"5", "05", "9"}),
        (requirement("k", "Lt", ("5",)), {"1", "-3"}),
        (requirement("k", "Lte", ("5",)), {"1", "-3", "5", "05"}),
        (requirement("k", "NotIn", ("a", "b", "5x", "")), {"1", "5", "9", "-3", "05"}),
        (requirement("k", "DoesNotExist"), set()),
        (requirement("k", "Exists"), set(WORLD)),
    ],
    ids=["gt", "gte", "lt", "lte", "not-in", "does-not-exist", "exists"],
)
def test_each_operator_allows_the_expected_values(one: Requirement, expected: set[str]) -> None:
    assert values(one) == expected


def test_bounds_without_a_number_between_them_become_does_not_exist() -> None:
    bounded = requirement("k", "Gt", ("1",)).intersection(requirement("k", "Lt", ("9",)))

    assert (str(bounded), bounded.operator) == ("k Exists >=2 <=8", "Exists")
    assert (
        requirement("k", "Gt", ("9",)).intersection(requirement("k", "Lt", ("9",))).operator == "DoesNotExist"
    )


def test_deprecated_label_names_are_read_as_the_current_ones() -> None:
    assert requirement("failure-domain.beta.kubernetes.io/zone", "In", ("z",)).key == ZONE


CUSTOM, KNOWN = "example.org/team", ZONE


@tabled("machines")
def test_custom_labels_must_be_defined_before_a_pod_may_require_them(
    has: list[list[str]], wanted: list[str], message: str | None
) -> None:
    mine = Requirements(requirement(CUSTOM, op, vals) for op, *vals in has)
    asks = Requirements([requirement(CUSTOM, wanted[0], wanted[1:])])
    clash = mine.conflict(asks, frozenset({KNOWN}))

    assert (None if clash is None else str(clash)) == message


def test_labels_of_instance_types_need_not_be_known() -> None:
    asks = Requirements([requirement(KNOWN, "In", ("zone-1",))])

    assert Requirements().conflict(asks, frozenset({KNOWN})) is None
    assert Requirements().conflict(asks) is not None


def test_requirements_of_one_label_are_intersected_in_any_order() -> None:
    one, two = requirement("k", "In", ("a", "b")), requirement("k", "NotIn", ("b",))
    both = Requirements([one, two])

    assert both.by_key == Requirements([two, one]).by_key == {"k": requirement("k", "In", ("a",))}
