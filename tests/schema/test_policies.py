"""`policies` of a Site: what they say, and what is wrong with them."""

from typing import Any, get_args

import pytest
from berth.backends.backendregistry import HOLDERS, BackendType
from berth.schema.declared import KINDS
from berth.schema.policies import REFUSE, WARN, Kind, PolicySpec

from tests.saying import read, said, site, told

REFUSED: dict[str, Any] = {"name": "large", "require": "refuse"}


def made(**policy: object) -> PolicySpec:
    declared = read(site(policies=[{**REFUSED, **policy}]))
    assert declared.problems == []
    assert declared.site is not None
    (found,) = declared.site.policies
    return found


def test_whatever_is_left_out_restricts_nothing() -> None:
    found = made()
    assert (found.match.is_blank, found.unless, found.when.is_blank) == (True, None, True)
    assert (found.effect, found.approver) == (REFUSE, "")
    assert made(match={}, when={}) == found
    assert made(require="warn").effect == WARN


@pytest.mark.parametrize(
    ("policy", "problems"),
    [
        ({"require": "approve"}, ["B014 spec.policies.0.require"]),
        ({"require": {}}, ["B011 spec.policies.0.require"]),
        ({"require": {"approvalBy": ""}}, ["B012 spec.policies.0.require.approvalBy"]),
        ({"require": None}, ["B011 spec.policies.0"]),
        ({"when": {"seatsAbove": -1}}, ["B012 spec.policies.0.when.seatsAbove"]),
        ({"when": {"seatAbove": 1}}, ["B010 spec.policies.0.when.seatAbove @key"]),
        ({"when": {"noticeBelow": 48}}, ["B018 spec.policies.0.when.noticeBelow"]),
        ({"when": {"noticeBelow": "2 days"}}, ["B018 spec.policies.0.when.noticeBelow"]),
        ({"when": {"costAbove": "cheap"}}, ["B013 spec.policies.0.when.costAbove"]),
        ({"unless": {}}, ["B011 spec.policies.0.unless"]),
        ({"unless": {"names": [5]}}, ["B013 spec.policies.0.unless.names.0"]),
        ({"match": {"classes": ["Small"]}}, ["B019 spec.policies.0.match.classes.0"]),
        ({"match": {"targets": ["*"], "backends": ["placeholder"]}},
         ["B016 spec.policies.0.match.backends @key"]),
        ({"unless": {"targets": ["*"], "backends": ["nodePool"]}},
         ["B016 spec.policies.0.unless.backends @key"]),
        ({"match": {"targets": ["*"], "backends": ["placeholder", "value"]}}, []),
    ],
)  # fmt: skip
def test_what_is_told_of_a_policy(policy: dict[str, Any], problems: list[str]) -> None:
    assert told(site(policies=[{**REFUSED, **policy}])) == [f"a.yaml {problem}" for problem in problems]


def test_two_of_one_name_are_an_error() -> None:
    assert told(site(policies=[REFUSED, REFUSED])) == ["a.yaml B060 spec.policies.1.name"]


def test_a_policy_knows_every_kind_and_every_backend() -> None:
    assert {*get_args(Kind)} == {*KINDS}
    assert {*get_args(BackendType)} == {*HOLDERS}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"match": {"kinds": ["Site"], "owners": ["a"]}}, ["B016 match.owners @key"]),
        ({"match": {"kinds": ["Site"]}, "when": {"seatsAbove": 5}}, ["B016 when @key"]),
        ({"match": {"kinds": ["Site"], "names": ["a"], "namespaces": ["kube-*"]}}, []),
        ({"match": {"kinds": ["CapacityReservation"]}, "when": {"seatsAbove": 5}}, []),
        ({"match": {"kinds": ["Deployment"]}}, ["B014 match.kinds.0"]),
        ({"match": {"backends": ["nodepool"]}}, ["B014 match.backends.0"]),
    ],
)
def test_what_only_reservations_have_is_refused_beside_other_kinds(
    more: dict[str, Any], expected: list[str]
) -> None:
    assert said(PolicySpec, {"name": "a", "require": "refuse", **more}) == expected
