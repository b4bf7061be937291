"""Options that are good by themselves, and what they mean together and beside the rest of the site."""

from typing import Any

import pytest

from tests.cases import table
from tests.saying import site, told

HOME: dict[str, Any] = {"url": "https://git.example.org/capacity.git", "revision": "main"}


@pytest.mark.parametrize(("spec", "problems"), table("options of engines together"))
def test_conflicting_options_are_reported(spec: dict[str, Any], problems: list[str]) -> None:
    assert told(site(**spec)) == sorted(
        problem if problem.startswith("a.yaml") else f"a.yaml {problem}" for problem in problems
    )
