"""`policies` of a Site: what they say, and what is wrong with them."""

from typing import Any, get_args

from berth.backends.backendregistry import HOLDERS, BackendType
from berth.schema.declared import KINDS
from berth.schema.policies import REFUSE, WARN, Kind, PolicySpec

from tests.cases import tabled
from tests.saying import said, site, told, valid

REFUSED: dict[str, Any] = {"name": "large", "require": "refuse"}


def made(**policy: object) -> PolicySpec:
    declared = valid(site(policies=[{**REFUSED, **policy}]))
    assert declared.site is not None
    (found,) = declared.site.policies
    return found


def test_omitted_fields_of_a_policy_restrict_nothing() -> None:
    found = made()
    assert (found.match.is_blank, found.unless, found.when.is_blank) == (True, None, True)
    assert (found.effect, found.approver) == (REFUSE, "")
    assert made(match={}, when={}) == found
    assert made(require="warn").effect == WARN


@tabled("schema")
def test_faults_of_a_policy_are_reported(policy: dict[str, Any], problems: list[str]) -> None:
    assert told(site(policies=[{**REFUSED, **policy}])) == [f"a.yaml {problem}" for problem in problems]


def test_two_policies_of_the_same_name_are_an_error() -> None:
    assert told(site(policies=[REFUSED, REFUSED])) == ["a.yaml B060 spec.policies.1.name"]


def test_a_policy_accepts_every_kind_and_every_backend() -> None:
    assert {*get_args(Kind)} == {*KINDS}
    assert {*get_args(BackendType)} == {*HOLDERS}


@tabled("schema")
def test_conditions_of_reservations_are_refused_for_other_kinds(
    more: dict[str, Any], expected: list[str]
) -> None:
    assert said(PolicySpec, {"name": "a", "require": "refuse", **more}) == expected
