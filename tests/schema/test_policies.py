"""`policies` of a Site: what they say, and what is wrong with them."""

from decimal import Decimal
from typing import Any

import pytest
from berth.schema.values import APPROVAL, REFUSE, WARN, Policy, PolicyConditions, PolicyMatch

from tests.saying import read, site, told

REFUSED: dict[str, Any] = {"name": "large", "require": "refuse"}


def made(**policy: object) -> Policy:
    declared = read(site(policies=[{**REFUSED, **policy}]))
    assert declared.problems == []
    assert declared.site is not None
    (found,) = declared.site.policies
    return found


def test_whatever_is_left_out_restricts_nothing() -> None:
    assert made() == Policy("large", PolicyMatch(), None, PolicyConditions(), REFUSE, "")
    assert made(match={}, when={}) == made()
    assert made(require="warn") == made()._replace(effect=WARN)


def test_every_field_can_be_written() -> None:
    match = {
        "names": ["exam-*"],
        "owners": ["*@example.org"],
        "labels": {"kind": "exam"},
        "classes": ["small"],
        "clusters": ["prod"],
    }
    found = made(
        match=match,
        unless={"names": ["exam-1"]},
        when={"seatsAbove": 100, "costAbove": 499.5, "noticeBelow": "7d", "leadAbove": 60},
        require={"approvalBy": "@uni/platform"},
    )

    assert found == Policy(
        "large",
        PolicyMatch(("exam-*",), ("*@example.org",), (("kind", "exam"),), ("small",), ("prod",)),
        PolicyMatch(("exam-1",)),
        PolicyConditions(100, Decimal("499.5"), 7 * 86_400, 60),
        APPROVAL,
        "@uni/platform",
    )


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
    ],
)
def test_what_is_told_of_a_policy(policy: dict[str, Any], problems: list[str]) -> None:
    assert told(site(policies=[{**REFUSED, **policy}])) == [f"a.yaml {one}" for one in problems]


def test_two_of_one_name_are_an_error() -> None:
    assert told(site(policies=[REFUSED, REFUSED])) == ["a.yaml B060 spec.policies.1.name"]
