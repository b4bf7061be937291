"""Which sessions fit a claim, and which claim comes first."""

import pytest
from berth.core.sessions import UNKNOWN_TEMPLATE, Claim, Match, Session, fits, ranked

SESSION = Session("uid", "renku", 100, {"course": "ds", "year": "2026"}, {"tutor": "ada"}, "T1")


def claim(match: Match, opens: int = 50) -> Claim:
    return Claim("course/1", opens, 120, 200, 25, match)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        pytest.param(Match(), True, id="nothing-narrows"),
        pytest.param(Match(namespaces=("hub", "renku")), True, id="namespace"),
        pytest.param(Match(namespaces=("hub",)), False, id="other-namespace"),
        pytest.param(Match(labels=(("course", "ds"), ("year", "2026"))), True, id="all-labels"),
        pytest.param(Match(labels=(("course", "ds"), ("year", "2027"))), False, id="one-label-differs"),
        pytest.param(Match(labels=(("team", ""),)), False, id="no-label-is-not-an-empty-one"),
        pytest.param(Match(annotations=(("tutor", "ada"),)), True, id="annotation"),
        pytest.param(Match(annotations=(("course", "ds"),)), False, id="a-label-is-no-annotation"),
        pytest.param(Match(template="T1"), True, id="template"),
        pytest.param(Match(template="T2"), False, id="other-template"),
        pytest.param(Match(namespaces=("renku",), template="T2"), False, id="all-must-hold"),
    ],
)
def test_what_narrows_must_hold(match: Match, expected: bool) -> None:
    assert expected is fits(SESSION, claim(match))


@pytest.mark.parametrize(("template", "expected"), [("", False), (UNKNOWN_TEMPLATE, True)])
def test_without_a_template_none_fits_and_where_nobody_can_tell_the_class_decides(
    template: str, expected: bool
) -> None:
    assert expected is fits(SESSION._replace(template=template), claim(Match(template="T1")))


@pytest.mark.parametrize(("opens", "expected"), [(99, True), (100, True), (101, False)])
def test_earlier_ones_may_be_ignored(opens: int, expected: bool) -> None:
    assert expected is fits(SESSION, claim(Match(ignores_earlier=True), opens))
    assert fits(SESSION, claim(Match(), opens))


def test_the_more_specific_comes_first_then_who_ends_first_starts_first_then_by_id() -> None:
    order = [
        Claim("z", 0, 9, 9, 1, Match(template="T")),
        Claim("y", 0, 9, 9, 1, Match(labels=(("a", "1"),), annotations=(("b", "2"),))),
        Claim("x", 0, 9, 9, 1, Match(labels=(("a", "1"),), namespaces=("n",))),
        Claim("w", 0, 9, 9, 1, Match(annotations=(("b", "2"),))),
        Claim("v", 0, 9, 9, 1, Match(namespaces=("n",))),
        Claim("u", 0, 9, 5, 1, Match()),
        Claim("t", 0, 3, 7, 1, Match()),
        Claim("b", 0, 4, 7, 1, Match()),
        Claim("c", 9, 4, 7, 1, Match(ignores_earlier=True)),
    ]

    assert tuple(order) == ranked(reversed(order))
