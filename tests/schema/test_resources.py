"""Requests and limits: what the API server takes, and how it completes them."""

import pytest
from berth.schema.basemodel import Model
from berth.schema.cloudcapacity import InstanceTypeSpec, NodeShapeSpec
from berth.schema.pod import completed
from berth.schema.resourceclass import ResourceClassSpec
from berth.schema.site import CeilingSpec, ClusterSpec, JobResources, RuntimeSpec
from berth.schema.types import Amount

from tests.cases import table, tabled
from tests.saying import Value, ask, said

BOTH = JobResources


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (0, "0"), (0.5, "0.5"), (2.0, "2"), (1e3, "1000"), (1e-9, "0.000000001"), ("4Gi", "4Gi")],
)
def test_an_amount_may_be_a_plain_number_as_in_kubernetes(value: object, text: str) -> None:
    assert ask(Amount, value) == (text, [])


def test_an_invalid_amount_is_reported() -> None:
    assert said(Amount, -1) == ["B022"]
    assert said(Amount, True) == ["B022"]
    assert said(Amount, float("inf")) == ["B022"]
    assert said(Amount, 1e20) == ["B013"]


@tabled("schema")
def test_resources_that_the_api_server_accepts_have_no_finding(value: Value) -> None:
    assert said(BOTH, value) == []


@pytest.mark.parametrize(("value", "problems"), table("resources"))
def test_resources_that_the_api_server_refuses_are_reported(value: Value, problems: list[str]) -> None:
    assert problems == said(BOTH, value)


def test_a_limit_is_also_a_request_and_a_device_has_both() -> None:
    requests = (("cpu", "1"), ("nvidia.com/gpu", "1"))
    limits = (("memory", "2Gi"), ("hugepages-2Mi", "4Mi"))

    assert completed(dict(requests), dict(limits)) == (
        {"cpu": "1", "nvidia.com/gpu": "1", "memory": "2Gi", "hugepages-2Mi": "4Mi"},
        {"memory": "2Gi", "hugepages-2Mi": "4Mi", "nvidia.com/gpu": "1"},
    )


@pytest.mark.parametrize(("value", "problems"), table("unlikely amounts"))
def test_an_unlikely_amount_is_reported_with_a_suggestion(value: Value, problems: list[str]) -> None:
    assert said(BOTH, value) == problems


LIKELY = {
    "an-instance-with-most-cores": {"cpu": "1920", "memory": "32Ti"},
    "one-with-little-memory": {"cpu": "192", "memory": "384Gi"},
    "one-with-much-memory": {"cpu": "448", "memory": "24Ti"},
    "what-kubernetes-writes-itself": {"cpu": "40500m", "memory": "1181116006400m"},
    "a-waiting-container": {"cpu": "1m", "memory": "4Mi"},
    "none-of-one": {"cpu": "0", "memory": "4Gi"},
    "no-memory-at-all": {"cpu": "99"},
}


@pytest.mark.parametrize("amounts", LIKELY.values(), ids=LIKELY)
def test_amounts_of_real_machines_and_pods_have_no_finding(amounts: Value) -> None:
    assert said(BOTH, {"requests": amounts, "limits": amounts}) == []


def test_a_faulty_amount_is_not_compared() -> None:
    assert said(BOTH, {"requests": {"cpu": "192", "memory": "384GB"}}) == ["B022 requests.memory"]


CORES = {"cpu": "500", "memory": "2Gi"}
LITTLE = {"memory": "4096"}


@pytest.mark.parametrize(
    ("model", "value", "problems"),
    [
        (ResourceClassSpec, {"requests": CORES}, ["B241 requests.cpu"]),
        (ResourceClassSpec, {"requests": {"cpu": "1"}, "overhead": CORES}, ["B241 overhead.cpu"]),
        (ResourceClassSpec, {"requests": {"cpu": "1"}, "overhead": LITTLE}, ["B241 overhead.memory"]),
        (RuntimeSpec, {"resources": {"limits": CORES}}, ["B241 resources.limits.cpu"]),
        (CeilingSpec, {"requests": CORES}, []),  # of many seats
        (CeilingSpec, {"requests": LITTLE}, ["B241 requests.memory"]),
        (ClusterSpec, {"name": "prod", "largestNode": CORES}, ["B241 largestNode.cpu"]),
        (ClusterSpec, {"name": "prod", "largestNode": {"cpu": "500"}}, []),
        (NodeShapeSpec, {"name": "node", "allocatable": CORES}, ["B241 allocatable.cpu"]),
        (InstanceTypeSpec, {"name": "m5.large", **CORES}, ["B241 cpu"]),
        (InstanceTypeSpec, {"name": "m5.large", "cpu": "192"}, []),  # memory is that of the table
        (InstanceTypeSpec, {"name": "m5.large", "allocatable": LITTLE}, ["B241 allocatable.memory"]),
    ],
)
def test_amounts_are_checked_in_every_field_of_pods_and_nodes(
    model: type[Model], value: Value, problems: list[str]
) -> None:
    assert said(model, value) == problems
