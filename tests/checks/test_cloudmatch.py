"""Requirements of a capacity that no machine meets: types and operating systems."""

from tests.cases import tabled
from tests.checks.clouds import of_cloud
from tests.saying import Value, finding

ARM: Value = {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}
WINDOWS: Value = {"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}


def types(*names: str) -> Value:
    return {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": list(names)}


@tabled("checks")
def test_requirements_that_exclude_each_other_are_reported(requirements: list[Value], why: str) -> None:
    assert of_cloud(requirements=requirements) == [finding("B162 spec.requirements", *why.split(" / "))]


def test_one_matching_instance_type_is_sufficient() -> None:
    assert of_cloud(requirements=[ARM, types("m5.large", "m7g.large")]) == []
