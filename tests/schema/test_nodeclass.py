"""`nodeClass`: an EC2NodeClass is passed on as it is, and what Berth reads of it is checked."""

import pytest
from berth.schema.nodeclass import NodeClass

from tests.cases import table
from tests.clouddocuments import GOOD
from tests.saying import Value, ask, said
from tests.schema.nodeclasses import WHOLE, plain

TERMS = "capacityReservationSelectorTerms"


@pytest.mark.parametrize("value", [GOOD, WHOLE], ids=["little", "every-key"])
def test_a_valid_node_class_is_kept_as_it_is(value: Value) -> None:
    made, problems = ask(NodeClass, dict(reversed(value.items())))

    assert problems == []
    assert plain(made.dump()) == value
    assert list(made.dump()) == list(value)


@pytest.mark.parametrize(("change", "problems"), table("node class"))
def test_faults_of_a_node_class_are_reported(change: Value, problems: list[str]) -> None:
    assert said(NodeClass, {**GOOD, **change}) == problems
