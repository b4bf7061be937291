"""`ResourceClass`: the shape of a seat, and how its sessions are recognised."""

from typing import Any

import pytest
from berth.schema.values import ResourceClass

from tests.built import class_sessions
from tests.cases import table, tabled
from tests.saying import resource_class, site, told, valid


def made(**spec: Any) -> ResourceClass:
    declared = valid(site(), resource_class(**spec))
    return declared.classes["small"]


def test_requests_and_limits_are_completed_as_in_kubernetes() -> None:
    complete = made(requests={"cpu": 4, "nvidia.com/gpu": 1}, limits={"memory": "33Gi"})

    assert complete.requests == {"cpu": "4", "nvidia.com/gpu": "1", "memory": "33Gi"}
    assert complete.limits == {"memory": "33Gi", "nvidia.com/gpu": "1"}


@tabled("schema")
def test_a_seat_includes_the_overhead_of_its_runtime_class(
    spec: dict[str, Any], requests: object, limits: object
) -> None:
    found = made(**spec, overhead={"cpu": "250m", "memory": "160Mi"})

    assert found.requests == requests
    assert found.limits == limits
    assert found.overhead == {"cpu": "250m", "memory": "160Mi"}


@tabled("schema")
def test_an_invalid_overhead_is_refused(overhead: dict[str, str], expected: str) -> None:
    (problem,) = told(site(), resource_class(overhead=overhead))

    assert expected in problem


def test_sessions_may_be_in_the_namespaces_with_a_label() -> None:
    sessions = made(sessions={"source": "pods", "namespaces": {"matchLabels": {"a": "b", "c": ""}}}).sessions

    assert sessions is not None
    assert (sessions.namespace_names, sessions.namespace_labels) == ((), {"a": "b", "c": ""})
    named = class_sessions("pods", ("a", "b"))
    assert (named.namespace_names, named.namespace_labels) == (("a", "b"), {})


@pytest.mark.parametrize(("spec", "problems"), table("resource class"))
def test_faults_of_a_class_are_reported(spec: dict[str, Any], problems: list[str]) -> None:
    assert [f"a.yaml {problem}" for problem in problems] == told(resource_class(**spec), site())
