"""What `validate` refuses of clouds; observed.md says which of it Karpenter's definitions refuse, too."""

from typing import Any

import pytest
from berth.checks import cloudchecks
from berth.findings import ERROR, severity
from berth.schema.declared import Declared

from tests.cases import tabled
from tests.checks.backendproblems import project_of
from tests.checks.clouds import KARPENTER
from tests.clouddocuments import cloud
from tests.saying import Value, read, resource_class, site
from tests.schema.definitions import refusals

_MACHINES = {"instanceType": "m5.xlarge", "zone": "us-east-1a", "count": 1}
SPEC: dict[str, Any] = {
    "nodeClass": {
        "role": "KarpenterNodeRole-prod",
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "prod"}}],
        "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "prod"}}],
        "amiSelectorTerms": [{"alias": "al2023@v20260107"}],
    },
    "reservations": [{"id": "cr-0123456789abcdef0", **_MACHINES}],
    "capacityTypes": ["reserved", "on-demand"],
    "requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.xlarge"]}],
}
ANY = {"key": "a", "operator": "Exists"}


def known(spec: Value) -> Declared:
    return read(site(KARPENTER), resource_class(cloudCapacity=["refused"]), cloud("refused", **spec))


def codes(change: Value) -> set[str]:
    """Codes of errors in a good spec with these keys; reservations and requirements are completed."""
    spec = {**SPEC, **change, "nodeClass": {**SPEC["nodeClass"], **change.get("nodeClass", {})}}
    spec["reservations"] = [{**_MACHINES, **one} for one in spec["reservations"]]
    spec["requirements"] = [*SPEC["requirements"], *change.get("requirements", ())]
    declared = known(spec)
    assert declared.site is not None
    found = [*declared.problems, *cloudchecks.check_clouds(project_of(declared))]
    return {problem.code for problem in found if severity(problem.code) == ERROR and problem.file == "c.yaml"}


def test_the_unchanged_capacity_is_valid() -> None:
    assert codes({}) == set()
    assert refusals(known(SPEC).clouds["refused"]) == []


@tabled("schema")
def test_validate_refuses_values_that_karpenter_refuses(change: Value, code: str) -> None:
    assert codes(change) == {code}


@tabled("schema")
def test_validate_refuses_values_that_karpenter_accepts_but_never_uses(change: Value, code: str) -> None:
    assert codes(change) == {code}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"labels": {f"a{number}": "" for number in range(101)}}, "B012", id="labels"),
        pytest.param(
            {"disruption": {"budgets": [{"nodes": str(i)} for i in range(51)]}}, "B151", id="budgets"
        ),
        pytest.param({"reservations": [{"id": f"cr-{i:02}"} for i in range(31)]}, "B012", id="reservations"),
        pytest.param({"requirements": [ANY] * 90}, "B012", id="requirements"),
    ],
)
def test_too_many_items_are_refused(change: Value, code: str) -> None:
    assert codes(change) == {code}
