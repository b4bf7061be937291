"""What a CloudCapacity says of its NodePools: as their CRD has it, and no more than Karpenter can use."""

import pytest
from berth.schema.cloudcapacity import CloudSpec
from berth.schema.cloudgrammar import schedule
from berth.schema.documentproblems import Refusal

from tests.cases import table
from tests.clouddocuments import GOOD
from tests.saying import Value, said

TOLD: dict[str, tuple[Value, list[str]]] = {
    "too-many": ({"requirements": [{"key": "a", "operator": "Exists"}] * 91}, ["B012 requirements"]),
}


@pytest.mark.parametrize(
    ("spec", "problems"),
    table("node pools", TOLD),
)
def test_faults_of_node_pools_are_reported(spec: Value, problems: list[str]) -> None:
    assert said(CloudSpec, {"nodeClass": GOOD, **spec}) == problems


READ = "0 8 * * mon-fri|5/20 * * * *|0 0 29 FEB ?|@weekly|0 0 1,15 */2 *|0 0 * * 0-6/2|* * * * *|0 0 1 * 1"
SIX_FIELDS = "* * * * * *|0 0 8 * * 1"
OF_OTHERS = "0 0 L * *|0 0 15W * *|0 0 * * fri#1|H 8 * * *|@Daily|@reboot|TZ=UTC 0 8 * * *|0 0 * * monday"
SUNDAYS = "0 0 * * 7|0 0 * * 07|0 0 * * 5-7|0 0 * * 1,7/2"
BACKWARD = "0 0 * * fri-mon|0 22-2 * * *|0 0 28-3 * *|0 0 * 7-feb *|50-10/5 * * * *"
WRONG = "0 8 * *|*/0 * * * *|60 * * * *|0 0 32 * *|0 0 * 0 *|0 0 * * jan||0 0 +1 * *"


@pytest.mark.parametrize("text", READ.split("|"))
def test_schedules_that_karpenter_reads_are_accepted(text: str) -> None:
    assert schedule(text) == text


@pytest.mark.parametrize("text", "|".join((SIX_FIELDS, OF_OTHERS, SUNDAYS, BACKWARD, WRONG)).split("|"))
def test_schedules_that_karpenter_does_not_read_are_refused(text: str) -> None:
    """As ParseStandard of robfig/cron v3.0.1, also what croniter takes."""
    with pytest.raises(Refusal):
        schedule(text)
