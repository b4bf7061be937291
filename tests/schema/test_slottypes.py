"""What Koordinator's scheduler cannot read is told, and nothing that it can."""

import copy
from typing import Any

import pytest
from berth.backends.koordinator.slottypes import why_unread

from tests.cases import tabled

REQUESTS = {"requests": {"memory": "4Gi", "cpu": ".5"}, "limits": {"x": "1e3"}}
GOOD: dict[str, Any] = {
    "spec": {
        "ttl": "4h32m0s",
        "expires": "2026-02-02T12:00:00Z",
        "owners": [{"labelSelector": {"matchLabels": {"size": "small"}}}],
        "template": {
            "metadata": {"namespace": "hub", "labels": {"a": "b"}, "annotations": {}},
            "spec": {
                "schedulerName": "koord-scheduler",
                "nodeSelector": {"pool": "gpu"},
                "priority": 9000,
                "overhead": {"cpu": "10m"},
                "initContainers": [{"resources": {"requests": {"cpu": 1}}}],
                "containers": [{"resources": REQUESTS}],
            },
        },
    }
}


def _key(said: str) -> str | int:
    return int(said) if said.isdigit() else said


def changed(path: str, value: object) -> dict[str, Any]:
    tree = copy.deepcopy(GOOD)
    *keys, last = path.split(".")
    inner: Any = tree
    for key in keys:
        inner = inner[_key(key)]
    inner[_key(last)] = value
    return tree


@pytest.mark.parametrize("ttl", ["0", "0s", "1.5h", ".5m", "-1h", "+2h3m4s5ms6us7µs8ns", "24h", None])
def test_go_durations_are_readable(ttl: str | None) -> None:
    assert why_unread(changed("spec.ttl", ttl)) == ""


@pytest.mark.parametrize(
    "ttl", ["1d", "7d", "1w", "", "3600", "h", "1 h", "1h 2m", "1H", "\u0661h", "2562048h"]
)
def test_other_durations_are_unreadable(ttl: str) -> None:
    assert why_unread(changed("spec.ttl", ttl)) == f'ttl "{ttl}" is not a duration'


@pytest.mark.parametrize("expires", ["2026-02-02T12:00:00.5+01:00", "2024-02-29T00:00:00Z", None])
def test_go_instants_are_readable(expires: str | None) -> None:
    assert why_unread(changed("spec.expires", expires)) == ""


@pytest.mark.parametrize(
    "expires",
    ["2026-02-02t12:00:00z", "2026-02-30T12:00:00Z", "2026-02-02T12:00:60Z", "2026-02-02 12:00:00Z"],
)
def test_other_instants_are_unreadable(expires: str) -> None:
    assert why_unread(changed("spec.expires", expires)) == f'expires "{expires}" is not an instant'


@tabled("schema")
def test_a_wrong_type_in_a_template_is_unreadable(path: str, value: object, told: str) -> None:
    assert why_unread(changed(path, value)) == told


def test_omitted_fields_are_readable() -> None:
    assert why_unread(GOOD) == why_unread({}) == why_unread({"spec": {"template": None}}) == ""
    assert why_unread({"spec": {"template": {"spec": {"containers": [{}]}}}}) == ""
    nulls = {"metadata": {"labels": {"a": None}}, "spec": {"overhead": {"cpu": None}, "containers": None}}
    assert why_unread({"spec": {"template": nulls, "ttl": None}}) == ""
