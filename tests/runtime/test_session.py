"""Which sessions fit a claim, and which claim comes first."""

import pytest
from berth.core.sessions import (
    UNKNOWN_TEMPLATE,
    Claim,
    Contest,
    LabelRequirement,
    Match,
    Pairs,
    Recognition,
    Session,
    fits,
    may_overlap,
    ranked,
    winning_class,
)

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


ANYWHERE = Recognition("custom", ("renku", "lab"), (), None, "amalthea.dev", "v1", "amaltheasessions")
HERE = ANYWHERE._replace(namespaces=("renku",))
LARGE = ANYWHERE._replace(selector=(LabelRequirement("size", "In", ("l",)),))
OPEN = Claim("x", 0, 1, 9, 5, Match())
COURSE = OPEN._replace(match=Match(labels=(("course", "ml"),)))
OTHER_COURSE = OPEN._replace(match=Match(labels=(("course", "ds"),)))


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        pytest.param({"a": (ANYWHERE, OPEN), "b": (ANYWHERE, OPEN)}, "a", id="by-name"),
        pytest.param({"a": (ANYWHERE, OPEN), "b": (HERE, OPEN)}, "b", id="fewer-namespaces"),
        pytest.param({"a": (HERE, OPEN), "b": (LARGE, OPEN)}, "b", id="more-labels-of-the-class"),
        pytest.param({"a": (HERE, OPEN), "b": (ANYWHERE, COURSE)}, "b", id="more-labels-of-the-course"),
        pytest.param({"a": (LARGE, OTHER_COURSE), "b": (ANYWHERE, OPEN)}, "b", id="only-claims-that-fit"),
        pytest.param({"a": (LARGE, None), "b": (ANYWHERE, OPEN)}, "b", id="only-open-claims"),
        pytest.param({"a": (LARGE, None), "b": (ANYWHERE, None)}, None, id="nobody"),
    ],
)
def test_of_the_classes_that_recognize_a_session_the_most_specific_wins(
    classes: dict[str, tuple[Recognition, Claim | None]], expected: str | None
) -> None:
    session = Session("s", "renku", 5, {"course": "ml"}, classes=tuple(classes))
    recognitions = {name: one for name, (one, _) in classes.items()}
    claims = {name: (claim,) for name, (_, claim) in classes.items() if claim}

    for order in (1, -1):
        turned = session._replace(classes=session.classes[::order])
        assert winning_class(turned, recognitions, claims) == expected
        assert [name for name in classes if Contest(name, recognitions, claims).is_won(turned)] == (
            [expected] if expected else []
        )


HOMES: Pairs = (("home", "yes"),)
BY_LABEL = ANYWHERE._replace(namespaces=(), namespace_labels=HOMES)
LABELED: dict[Pairs, set[str]] = {HOMES: {"renku"}, (("team", "x"),): {"lab"}}


@pytest.mark.parametrize(
    ("namespace", "winner"), [("renku", "named"), ("lab", "labeled"), ("elsewhere", None)]
)
def test_a_class_that_names_the_namespace_comes_before_one_that_knows_it_by_labels(
    namespace: str, winner: str | None
) -> None:
    """It cannot know who has which labels, so it does not matter what the other requires."""
    recognitions = {"named": HERE, "labeled": BY_LABEL._replace(selector=LARGE.selector)}
    session = Session("s", namespace, 5, classes=(*recognitions,))
    labeled = {HOMES: {"renku", "lab"}}
    claims = dict.fromkeys(recognitions, (OPEN,))

    won = [one for one in recognitions if Contest(one, recognitions, claims, labeled).is_won(session)]
    assert won == ([winner] if winner else [])


def test_more_labels_of_namespaces_come_first() -> None:
    narrower = BY_LABEL._replace(namespace_labels=(*HOMES, ("team", "x")))

    assert narrower.rank("z") < BY_LABEL.rank("a")
    assert ANYWHERE.rank("z") < narrower.rank("a")


@pytest.mark.parametrize(("namespace", "expected"), [("renku", True), ("lab", False), ("", False)])
def test_nobody_else_recognizes_it_and_yet_it_counts_only_where_the_namespace_has_the_labels(
    namespace: str, expected: bool
) -> None:
    contest = Contest("a", {"a": BY_LABEL}, {"a": (OPEN,)}, LABELED)

    assert contest.is_won(Session("s", namespace, 5, classes=("a",))) is expected


def test_only_sessions_that_several_classes_recognize_are_contested() -> None:
    assert Contest("a").is_won(Session("s", "renku", 5))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (ANYWHERE, HERE, True),
        (ANYWHERE, HERE._replace(version="v2"), True),
        (HERE, Recognition("renku", ("renku",), (), 5), True),
        (HERE, HERE._replace(namespaces=("lab",)), False),
        (HERE, Recognition("pods", ("renku",)), False),
        (Recognition("pods", ("hub",)), Recognition("jupyterhub", ("hub",)), True),
        (Recognition("renku", ("renku",), (), 5), Recognition("renku", ("renku",), (), 6), False),
        (HERE._replace(annotations=(("a", "1"),)), HERE._replace(annotations=(("a", "2"),)), False),
        (HERE._replace(annotations=(("a", "1"),)), HERE._replace(annotations=(("b", "2"),)), True),
        (BY_LABEL, HERE, True),
        (BY_LABEL, BY_LABEL._replace(namespace_labels=(("team", "x"),)), True),
        (BY_LABEL, BY_LABEL._replace(namespace_labels=(("home", "no"),)), False),
        (BY_LABEL, Recognition("pods", (), namespace_labels=HOMES), False),
        (HERE._replace(namespaces=()), HERE, False),
    ],
)
def test_classes_overlap_where_kind_namespace_and_annotations_allow_it(
    one: Recognition, other: Recognition, expected: bool
) -> None:
    assert may_overlap(one, other) is may_overlap(other, one) is expected
