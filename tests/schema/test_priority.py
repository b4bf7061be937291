"""The priority of placeholders: low enough to give way, high enough that an autoscaler cares."""

import pytest

from tests.cases import table
from tests.saying import site, told

PRIORITIES = "Write a whole number from -10 to -1."
IGNORED = "many autoscalers ignore such pods. " + PRIORITIES.replace(
    ".", ", unless you know that yours does not."
)


@pytest.mark.parametrize(("spec", "problems"), table("priority"))
def test_a_priority_must_be_from_minus_10_to_minus_1(spec: dict[str, object], problems: list[str]) -> None:
    assert [f"a.yaml {problem}" for problem in problems] == told(site(**spec))
