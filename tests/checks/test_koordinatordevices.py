"""Devices that Koordinator's plugin DeviceShare takes together, and those with which a seat stays pending."""

import pytest
from berth.checks import koordinatordevices

from tests.checks.backendproblems import problems_of_first, project_of
from tests.saying import Value, finding, lines, read, reservation, resource_class, site, valid

CORE, MEMORY, RATIO, SHARED = (
    f"koordinator.sh/{name}" for name in ("gpu-core", "gpu-memory", "gpu-memory-ratio", "gpu.shared")
)
NPU, NPU_CPU, DVPP = (f"huawei.com/npu-{name}" for name in ("core", "cpu", "dvpp"))


def told(**requests: object) -> list[str]:
    declared = valid(site(), resource_class(requests={"cpu": "1", **requests}))
    return lines(koordinatordevices.check_device_requests(project_of(declared)))


PLACED: list[dict[str, object]] = [
    {"nvidia.com/gpu": 2},
    {"nvidia.com/gpu": 1, "amd.com/gpu": 1},  # nothing of Koordinator's
    {"koordinator.sh/gpu": 50},
    {"koordinator.sh/gpu": 200},
    {MEMORY: "8Gi"},
    {RATIO: 50},
    {CORE: 50, RATIO: 30},
    {CORE: 100, MEMORY: "16Gi"},
    {CORE: 300, RATIO: 300},
    {SHARED: 2, MEMORY: "8Gi"},
    {SHARED: 2, CORE: 100, RATIO: 60},
    {SHARED: 3, CORE: 150, MEMORY: "8Gi"},
    {SHARED: 1, NPU: 4, NPU_CPU: 4, MEMORY: "8Gi"},
    {SHARED: 1, NPU: 4, NPU_CPU: 4, DVPP: 100, MEMORY: "8Gi"},
    {NPU: 50, RATIO: 50},
    {"koordinator.sh/rdma": 100, "nvidia.com/gpu": 1},
    {CORE: 0, "nvidia.com/gpu": 1},  # nothing is requested of it
]


@pytest.mark.parametrize("requests", PLACED, ids=map(str, PLACED))
def test_requests_that_koordinator_places_have_no_finding(requests: dict[str, object]) -> None:
    assert told(**requests) == []


NEVER = {
    "core alone": ({CORE: 50}, [finding(f"B118 spec.requests.{CORE} @key", "memory", RATIO)]),
    "beside whole ones": (
        {CORE: 50, "nvidia.com/gpu": 1},
        [finding(f"B118 spec.requests.{CORE} @key", "nvidia.com/gpu")],
    ),
    "between two": (
        {CORE: 150, RATIO: 100},
        [finding(f"B118 spec.requests.{CORE} @key", "150", "Write 100 or 200")],
    ),
    "between two of memory": ({RATIO: 250}, [f"B118 spec.requests.{RATIO} @key"]),
    "between two of the whole": ({"koordinator.sh/gpu": 110}, ["B118 spec.requests.koordinator.sh/gpu @key"]),
    "rdma": ({"koordinator.sh/rdma": 101}, ["B118 spec.requests.koordinator.sh/rdma @key"]),
    "both memories": ({MEMORY: "1Gi", RATIO: 10}, [f"B118 spec.requests.{MEMORY} @key"]),
    "shared alone": ({SHARED: 1}, [f"B118 spec.requests.{SHARED} @key"]),
    "uneven parts": ({SHARED: 2, CORE: 75, RATIO: 50}, [f"B118 spec.requests.{CORE} @key"]),
    "parts above a device": ({SHARED: 2, CORE: 100, RATIO: 202}, [f"B118 spec.requests.{RATIO} @key"]),
    "two shared NPUs": (
        {SHARED: 2, NPU: 4, NPU_CPU: 4, MEMORY: "8Gi"},
        [f"B118 spec.requests.{SHARED} @key"],
    ),
}


@pytest.mark.parametrize(("requests", "problems"), NEVER.values(), ids=NEVER)
def test_requests_that_koordinator_never_places_are_reported(
    requests: dict[str, object], problems: list[str]
) -> None:
    assert problems == told(**requests)


BORROWED = {"kubernetes.io/batch-cpu": 500, "kubernetes.io/batch-memory": "1Gi"}


@pytest.mark.parametrize("tier", ["batch", "mid"])
def test_limits_of_batch_and_mid_resources_may_exceed_their_requests(tier: str) -> None:
    """As in the API server, for which everything of kubernetes.io is its own."""
    name = f"kubernetes.io/{tier}-cpu"
    declared = valid(site(), resource_class(requests={name: 500}, limits={name: 1000}))

    assert declared.classes["small"].limits == {name: "1000"}
    assert read(resource_class(requests={"kubernetes.io/gpu": 1})).problems != []


def test_placeholders_that_request_batch_resources_are_reported() -> None:
    """The webhook wants class BE for it, and refuses BE with the priority of a placeholder."""

    def of_backend(backend: Value) -> list[str]:
        documents = (site({"name": "prod", "koordinator": {}}), resource_class(requests=BORROWED))
        declared = read(*documents, reservation(backend=backend))
        return lines(problems_of_first(declared))

    assert [one for one in of_backend({"type": "placeholder"}) if one.startswith("B118")] == [
        finding("B118 spec.requests.kubernetes.io/batch-cpu @key", "prod"),
        "B118 spec.requests.kubernetes.io/batch-memory @key",
    ]
    assert not [one for one in of_backend({"type": "koordinator"}) if one.startswith("B118")]
