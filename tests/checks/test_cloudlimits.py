"""Limits of a capacity against the seats that have no other place."""

from pathlib import Path

import pytest
import yaml

from tests.checks.clouds import KARPENTER
from tests.clouddocuments import cloud
from tests.saying import Value, finding, reservation, resource_class, run, site

HALF: Value = {"requests": {"cpu": "500m", "memory": "4Gi"}}


def told(tmp_path: Path, *documents: Value, limits: Value, **found: object) -> list[str]:
    """Errors of the whole line: 25 seats of half a core each, and what is given besides."""
    own = resource_class(**{"cloudCapacity": ["gpu"], **HALF, **found})
    whole = [site(KARPENTER), own, cloud(limits=limits), reservation(), *documents]
    files = {f"{i}.yaml": yaml.safe_dump(document) for i, document in enumerate(whole)}
    return [one for one in run(tmp_path, files) if "error" in one]


@pytest.mark.parametrize(
    "limits",
    [{"cpu": "12500m"}, {"cpu": "1k", "memory": "100Gi"}, {"nvidia.com/gpu": "0"}, {"pods": "25"}],
    ids=["just-enough", "more", "what-no-seat-asks-for", "pods"],
)
def test_seats_that_fit(limits: Value, tmp_path: Path) -> None:
    assert told(tmp_path, limits=limits) == []


@pytest.mark.parametrize(
    ("resource", "limit", "amount"),
    [("cpu", "12", "12.5"), ("memory", "99Gi", "100Gi"), ("pods", "24", "25"), ("nvidia.com/gpu", "0", "25")],
    ids=["cpu", "memory", "pods", "devices"],
)
def test_seats_that_do_not_fit(resource: str, limit: str, amount: str, tmp_path: Path) -> None:
    requests = {**HALF["requests"], "nvidia.com/gpu": "1"}

    (one,) = told(tmp_path, limits={resource: limit}, requests=requests)

    assert one == (finding("3.yaml:6:3 error[B174] spec.provisioning", "gpu", amount, resource, limit))


def test_seats_of_all_reservations_and_classes_add_up(tmp_path: Path) -> None:
    other = reservation("lab", resourceClass="other")
    one = resource_class("other", cloudCapacity=["gpu"])

    assert told(tmp_path / "a", other, one, limits={"cpu": "37500m"}) == []
    (problem,) = told(tmp_path / "b", other, one, limits={"cpu": "37"})
    assert problem == finding("4.yaml:6:3 error[B174] spec.provisioning", "37.5", "lab 25, course 12.5")


def test_seats_that_have_another_place_are_not_judged(tmp_path: Path) -> None:
    assert told(tmp_path, cloud("more"), limits={"cpu": "1"}, cloudCapacity=["gpu", "more"]) == []


def test_nodes_are_no_seats(tmp_path: Path) -> None:
    gate = {
        **KARPENTER,
        "engine": {"type": "flux", "sourceName": "fleet"},
        "karpenter": {"gates": {"StaticCapacity": True}},
        "ceilings": [{"seats": {"small": 1}}],
    }
    nodes = reservation(backend={"type": "nodePool"}, provisioning={"nodeCount": 3})
    whole = [site(gate), resource_class(cloudCapacity=["gpu"]), cloud(limits={"cpu": "1"}), nodes]

    told = run(tmp_path, {f"{i}.yaml": yaml.safe_dump(one) for i, one in enumerate(whole)})

    assert told == []
