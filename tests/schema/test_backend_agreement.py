"""What the fields of a backend may not say, and what they may not say together: both sides of each rule."""

from typing import Any

from berth.backends.backendspec import BackendSpec

from tests.cases import tabled
from tests.saying import reservation, resource_class, said, site, told
from tests.schema.backends import backend

PLAIN: dict[str, Any] = {"backend": {"type": "koordinator"}, "provisioning": {"placeholderCount": 1}}


@tabled("schema")
def test_faults_of_a_backend_are_reported(written: dict[str, Any], problems: list[str]) -> None:
    assert said(BackendSpec, {"type": "koordinator", **written}) == problems


@tabled("schema")
def test_valid_combinations_of_backend_fields_are_accepted(good: dict[str, Any]) -> None:
    assert said(BackendSpec, backend(**good)) == []


def test_fields_of_a_class_are_refused_in_a_reservation() -> None:
    keys = ("expires", "labels", "priority", "reservation", "spec", "template", "ttl")

    for where in ("backend", "provisioning"):
        values: dict[str, Any] = {where: {**PLAIN[where], **dict.fromkeys(keys, "x")}}
        faulty = reservation(**values)
        assert [line for line in told(faulty, site(), resource_class()) if "B010" in line] == [
            f"a.yaml B010 spec.{where}.{key} @key" for key in keys
        ]
    assert told(reservation(reservation={"spec": {}}), site(), resource_class()) == [
        "a.yaml B010 spec.reservation @key"
    ]
