"""What `validate` refuses of clouds."""

import pytest
from berth.checks import cloudchecks
from berth.findings import ERROR, severity

from tests.checks.clouds import KARPENTER
from tests.saying import read, resource_class, site
from tests.schema.cloudrefusals import BY_BOTH, ONLY_BY_US, SPEC, Document, Refused, spec, unchecked
from tests.schema.clouds import cloud
from tests.schema.definitions import refusals


def codes(said: Document) -> set[str]:
    """Of errors."""
    known = read(site(KARPENTER), resource_class(cloudCapacity=["refused"]), cloud("refused", **said))
    assert known.site is not None
    found = [*known.problems, *cloudchecks.check_clouds(known, known.site)]
    return {problem.code for problem in found if severity(problem.code) == ERROR and problem.file == "c.yaml"}


def test_what_they_are_changes_of_is_good() -> None:
    assert codes(SPEC) == set()
    assert refusals(unchecked(SPEC)) == []


@pytest.mark.parametrize("one", [*BY_BOTH, *ONLY_BY_US], ids=lambda one: one.name)
def test_we_refuse_it_for_one_reason(one: Refused) -> None:
    assert codes(spec(one.change)) == {one.code}


@pytest.mark.parametrize("one", ONLY_BY_US, ids=lambda one: one.name)
def test_the_definitions_take_it(one: Refused) -> None:
    """But for their rules in CEL."""
    assert refusals(unchecked(spec(one.change))) == []
