"""Requests and limits: what the API server takes, and how it completes them."""

import pytest
from berth.schema.basemodel import Model
from berth.schema.cloudmachines import InstanceTypeSpec, NodeShapeSpec
from berth.schema.pod import completed
from berth.schema.resourceclass import ResourceClassSpec
from berth.schema.site import ClusterSpec
from berth.schema.siteparts import CeilingSpec, JobResources, RuntimeSpec
from berth.schema.types import Amount

from tests.saying import Value, ask, finding, said

BOTH = JobResources


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (0, "0"), (0.5, "0.5"), (2.0, "2"), (1e3, "1000"), (1e-9, "0.000000001"), ("4Gi", "4Gi")],
)
def test_an_amount_may_be_a_plain_number_as_in_kubernetes(value: object, text: str) -> None:
    assert ask(Amount, value) == (text, [])


def test_an_amount_that_is_none_is_told() -> None:
    assert said(Amount, -1) == ["B022"]
    assert said(Amount, True) == ["B022"]
    assert said(Amount, float("inf")) == ["B022"]
    assert said(Amount, 1e20) == ["B013"]


SOUND = {
    "nothing": {},
    "requests-alone": {"requests": {"cpu": "1", "memory": "4Gi"}},
    "limits-alone": {"limits": {"cpu": "1"}},
    "more-than-asked-for": {"requests": {"cpu": "1"}, "limits": {"cpu": "1001m"}},
    "as-much": {"requests": {"memory": "1Gi"}, "limits": {"memory": "1024Mi"}},
    "devices": {"requests": {"nvidia.com/gpu": "2000m"}, "limits": {"nvidia.com/gpu": 2}},
    "most-devices": {"requests": {"nvidia.com/gpu": "1P"}},
    "huge-pages": {"requests": {"hugepages-2Mi": "6Mi", "cpu": 1}},
    "huge-pages-beside-a-limit": {"limits": {"hugepages-2Mi": "0", "memory": "1Gi"}},
}


@pytest.mark.parametrize("value", SOUND.values(), ids=SOUND)
def test_what_the_api_server_takes(value: Value) -> None:
    assert said(BOTH, value) == []


REFUSED = {
    "limit-below": ({"requests": {"cpu": "1"}, "limits": {"cpu": "999m"}}, ["B016 limits.cpu"]),
    "half-a-device": (
        {"requests": {"nvidia.com/gpu": 0.5}, "limits": {"amd.com/gpu": "1.0001"}},
        ["B016 limits.amd.com/gpu", "B016 requests.nvidia.com/gpu"],
    ),
    "another-limit": (
        {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}},
        ["B016 limits.nvidia.com/gpu"],
    ),
    "too-many-devices": (
        {"requests": {"nvidia.com/gpu": "1000000000000001"}},
        ["B016 requests.nvidia.com/gpu"],
    ),
    "part-of-a-page": (
        {"requests": {"hugepages-2Mi": "3Mi", "memory": "1Gi"}},
        ["B016 requests.hugepages-2Mi"],
    ),
    "pages-alone": (
        {"requests": {"hugepages-2Mi": "4Mi"}, "limits": {"ephemeral-storage": "1Gi"}},
        ["B016 requests.hugepages-2Mi"],
    ),
    "all-at-once": (
        {"requests": {"cpu": "2", "memory": "x", "gpu": 1}, "limits": {"cpu": "y", "memory": "1Gi"}},
        ["B022 limits.cpu", "B022 requests.gpu @key", "B022 requests.memory"],
    ),
}


@pytest.mark.parametrize(("value", "problems"), REFUSED.values(), ids=REFUSED)
def test_what_the_api_server_refuses(value: Value, problems: list[str]) -> None:
    assert problems == said(BOTH, value)


def test_a_limit_is_a_request_too_and_devices_have_both() -> None:
    requests = (("cpu", "1"), ("nvidia.com/gpu", "1"))
    limits = (("memory", "2Gi"), ("hugepages-2Mi", "4Mi"))

    assert completed(dict(requests), dict(limits)) == (
        {"cpu": "1", "nvidia.com/gpu": "1", "memory": "2Gi", "hugepages-2Mi": "4Mi"},
        {"memory": "2Gi", "hugepages-2Mi": "4Mi", "nvidia.com/gpu": "1"},
    )


UNLIKELY = {
    "bytes-without-unit": ({"requests": {"memory": 4096}}, [finding("B241 requests.memory", '"4096Mi"')]),
    "a-few-bytes": ({"limits": {"memory": 4}}, [finding("B241 limits.memory", '"4Gi"')]),
    "bytes-of-either": (
        {"requests": {"memory": "64"}},
        [finding("B241 requests.memory", '"64Gi" or "64Mi"')],
    ),
    "many-bytes": ({"requests": {"memory": 524288}}, [finding("B241 requests.memory", '"524288Ki"')]),
    "kibibytes": ({"requests": {"memory": "512Ki"}}, [finding("B241 requests.memory", '"512Mi"')]),
    "with-an-exponent": (
        {"requests": {"memory": "4e3"}},
        [finding("B241 requests.memory", '"512Mi" or "4Gi"')],
    ),
    "thousandths-of-bytes": (
        {"requests": {"memory": "4096m"}, "limits": {"ephemeral-storage": "10m"}},
        [
            finding("B022 limits.ephemeral-storage", '"10Gi"'),
            finding("B022 requests.memory", "4.096 bytes", '"4096Mi"'),
        ],
    ),
    "thousandths-of-cores-as-cores": ({"requests": {"cpu": 500}}, [finding("B241 requests.cpu", '"500m"')]),
    "so-many-cores-for-this-memory": (
        {"requests": {"cpu": "250", "memory": "2Gi"}},
        [finding("B241 requests.cpu", '"250m"')],
    ),
    "more-cores-than-there-are": (
        {"requests": {"cpu": "1"}, "limits": {"cpu": "4000", "memory": "16Ti"}},
        [finding("B241 limits.cpu", '"4000m"')],
    ),
    "parts-of-a-thousandth": ({"requests": {"cpu": "1u"}}, ["B241 requests.cpu"]),
    "more-memory-than-there-is": (
        {"requests": {"memory": "40960Gi", "ephemeral-storage": "2048Ti"}, "limits": {"memory": "1Ei"}},
        [
            finding("B241 limits.memory", '"1Pi"'),
            "B241 requests.ephemeral-storage",
            finding("B241 requests.memory", '"40960Mi"'),
        ],
    ),
    "much-memory-for-one-core": (
        {"requests": {"cpu": "1", "memory": "2048Gi"}},
        [finding("B241 requests.memory", '"2048Mi"')],
    ),
}


@pytest.mark.parametrize(("value", "problems"), UNLIKELY.values(), ids=UNLIKELY)
def test_an_amount_that_nobody_means_is_told_with_the_one_that_is_meant(
    value: Value, problems: list[str]
) -> None:
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
def test_what_machines_and_pods_have_is_no_mistake(amounts: Value) -> None:
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
def test_every_place_with_amounts_of_pods_or_nodes_is_asked(
    model: type[Model], value: Value, problems: list[str]
) -> None:
    assert said(model, value) == problems
