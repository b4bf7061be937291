"""Requests and limits: what the API server takes, and how it completes them."""

import pytest
from berth.schema.pod import completed
from berth.schema.siteparts import JobResources
from berth.schema.types import Amount

from tests.saying import Value, ask, said

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
    "part-of-a-page": ({"requests": {"hugepages-2Mi": "3Mi", "memory": 1}}, ["B016 requests.hugepages-2Mi"]),
    "pages-alone": (
        {"requests": {"hugepages-2Mi": "4Mi"}, "limits": {"ephemeral-storage": "1Gi"}},
        ["B016 requests.hugepages-2Mi"],
    ),
    "all-at-once": (
        {"requests": {"cpu": "2", "memory": "x", "gpu": 1}, "limits": {"cpu": "1", "memory": "1Gi"}},
        ["B016 limits.cpu", "B022 requests.gpu @key", "B022 requests.memory"],
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
