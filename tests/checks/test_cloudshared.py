"""Machines that two clusters select alike, by their id or without one."""

from tests.cases import tabled
from tests.checks.clouds import KARPENTER, MACHINE, of_documents
from tests.clouddocuments import cloud
from tests.saying import Value, finding, resource_class, site

TWO = ({**KARPENTER, "name": "one"}, {**KARPENTER, "name": "two"})
TAGS: Value = {"tags": {"course": "ml", "year": "*"}}


def told(first: Value, second: Value, *, cluster: str = "two") -> list[str]:
    """Of one entry each, in two capacities."""
    classes = [
        resource_class("a", cluster="one", cloudCapacity=["gpu"]),
        resource_class("b", cluster=cluster, cloudCapacity=["more"]),
    ]
    one = cloud(cluster="one", reservations=[{**MACHINE, **first}])
    return of_documents(
        site(*TWO), *classes, one, cloud("more", cluster=cluster, reservations=[{**MACHINE, **second}])
    )


def test_clusters_that_share_a_reservation_do_not_see_each_other() -> None:
    assert told({"id": "cr-0a"}, {"id": "cr-0b"}) == []
    assert told({"id": "cr-0a"}, {"id": "cr-0a"}) == [finding("B180 spec.reservations.0.id", "cr-0a")]


def test_clusters_that_select_the_same_machines_are_reported() -> None:
    second: Value = {"tags": {"year": "*", "course": "ml"}, "count": 9}

    assert told(TAGS, second) == [finding("B180 spec.reservations.0", "with year=*, course=ml")]
    assert told(TAGS, second, cluster="one") == []


@tabled("checks")
def test_clusters_that_select_different_machines_have_no_finding(second: Value) -> None:
    assert told(TAGS, second) == []
