"""Who must approve a change, and why: policies look at the dates that it adds, changes or removes."""

import contextlib
import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from berth import cli
from berth.checks.ceilings import pool_steps
from berth.checks.policychecks import PolicyPool, PolicySubject, count_together, judge, policy_cases
from berth.core.jsonvalues import parse_instant
from berth.dates.expansion import Occurrence
from berth.schema.policies import ConditionsSpec, PolicySpec
from berth.schema.reservation import Reservation
from berth.schema.values import ResourceClass
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.built import built
from tests.cases import tabled
from tests.cli import clouds
from tests.diff.conftest import NOW, Pair, results, ruled
from tests.saying import read, reservation, resource_class, site

LARGE = 'when: {seatsAbove: 20}, require: {approvalBy: "@uni/platform"}'
SOON = "when: {noticeBelow: 48h}, require: refuse"
ALWAYS = "require: warn"


def more_seats(pair: Pair) -> None:
    pair.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 30")


def test_a_required_approval_is_in_the_first_line_with_its_reason_below(pair: Pair) -> None:
    ruled(pair, LARGE, "when: {leadAbove: 20}, require: warn")
    more_seats(pair)
    code, out, _ = pair.diff("--exit-code")

    assert code == 4
    first = out.splitlines()[0].split("; ")
    assert (first[0], first[-1]) == ("needs approval by @uni/platform", "2 warnings")
    assert out.split("\n\n")[1] == (
        "Policies\n"
        "! course: needs approval by @uni/platform, policy p0: 30 seats, above 20\n"
        "! course: policy p1: lead 30 min, above 20"
    )
    comment = pair.diff("-o", "markdown").out
    assert comment.startswith("### Berth: needs approval by @\u200buni/platform; ")
    assert "- course: needs approval by @\u200buni/platform, policy p0: 30 seats, above 20\n" in comment
    notices = pair.diff("-o", "github").out.splitlines()
    assert [line.partition("title=")[2][:4] for line in notices if "policy" in line] == ["B231", "B232"]


HEADER = "metadata: {name: course}\nspec:\n"
LABELED = "metadata: {name: course, labels: {kind: exam}}\nspec:\n"
OWNED = f"{HEADER}  owner: {{name: Physics, contact: ada@example.org}}\n"


@tabled("diff")
def test_a_reservation_that_leaves_a_policy_counts_as_removed(
    reach: str, file: str, before: str, after: str, pair: Pair
) -> None:
    """The first date is open, the next opens in 3 weeks."""
    original = {LABELED: HEADER, OWNED: HEADER}.get(before, before)
    pair.edit(file, original, before)
    pair.merge()
    ruled(pair, f"{reach}, {SOON}", f"{reach}, {LARGE}")
    pair.edit(file, before, after)

    for at, policies in (("2026-02-02T09:00:00Z", ["p0"]), ("2026-02-03", []), ("2026-02-23", ["p0"])):
        answer = pair.diff("-o", "json", at=at)
        about_course = [policy for policy, name, _ in results(answer) if name in {"course", "kurs"}]
        assert [policy for policy in about_course if policy == "p0"] == policies
        assert answer.code == len(policies)


def test_a_class_whose_namespaces_leave_a_policy_is_judged_by_it(pair: Pair) -> None:
    sessions = "spec:\n  sessions: {source: jupyterhub, namespaces: [exams]}\n  cluster: prod"
    pair.edit("classes.yaml", "spec:\n  cluster: prod", sessions)
    pair.merge()
    ruled(
        pair,
        "match: {kinds: [ResourceClass], namespaces: [exams]}, require: refuse",
        f"match: {{namespaces: [exams]}}, {SOON}",
    )
    pair.edit("classes.yaml", "[exams]", "[labs]")
    answer = pair.diff("-o", "json")

    policies = json.loads(answer.out)["policies"]
    assert [item["document"] for item in policies] == [None, "ResourceClass small"]
    assert results(answer)[0] == ["p1", "course", "refuse"]
    assert answer.code == 1


def test_a_date_with_another_class_does_not_affect_other_dates(pair: Pair) -> None:
    """The course has 25 seats on its other dates."""
    pair.edit("course.yaml", "  resourceClass: small\n", "")
    seats = "seats: [{resourceClass: small, placeholderCount: 25}]"
    pair.edit("course.yaml", "placeholderCount: 25", seats)
    pair.merge()
    ruled(pair, LARGE, ALWAYS)
    own = "seats: [{resourceClass: bench, placeholderCount: 5}]"
    extra = f'    extra: [{{date: 2026-02-26, startTime: "09:00", endTime: "10:00", {own}}}]\n'
    pair.edit("course.yaml", "    except:", f"{extra}    except:")

    assert results(pair.diff("-o", "json", at="2026-02-01")) == [["p1", "course", "warn"]]


@pytest.mark.parametrize("most", [24, 25])
def test_diff_and_validate_agree_about_a_new_reservation(pair: Pair, most: int) -> None:
    ruled(pair, f"when: {{seatsAbove: {most}}}, require: refuse", "when: {leadAbove: 30}, require: warn")
    (pair.was / "reservations/course.yaml").unlink()
    applied = {
        result[0] for result in results(pair.diff("-o", "json", at="2026-01-01")) if result[1] == "course"
    }

    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = cli.run(["-C", str(pair.now), "validate", "-o", "json", "--now", "2026-01-01"])
    items = [
        load for load in json.loads(out.getvalue())["items"] if load["file"] == "reservations/course.yaml"
    ]
    assert {"B230": "p0", "B231": "p1"}.keys() >= {item["code"] for item in items}
    assert applied == {{"B230": "p0", "B231": "p1"}[item["code"]] for item in items}
    assert code == len(applied & {"p0"})


def test_policies_use_the_given_instant_and_not_the_clock(pair: Pair) -> None:
    ruled(pair, SOON, LARGE)
    more_seats(pair)

    assert pair.diff("-o", "json") == pair.diff("-o", "json")
    assert results(pair.diff("-o", "json", at="2026-01-01")) == [["p1", "course", "@uni/platform"]]


@pytest.mark.parametrize(("most", "policies"), [("18", ["p0"]), ("18.33", []), ("1000", [])])
def test_the_cost_of_a_policy_is_that_of_the_plan(cloudy: Pair, most: str, policies: list[str]) -> None:
    """Of 2026-02: 18.33 USD, of which the night has a part."""
    ruled(
        cloudy, f"when: {{costAbove: {most}}}, match: {{names: [course]}}, require: refuse", text=clouds.SITE
    )
    cloudy.edit("course.yaml", "placeholderCount: 25", "placeholderCount: 50")
    answer = cloudy.diff("-o", "json", at="2026-01-01")

    assert [result[0] for result in results(answer)] == policies
    assert answer.code == (1 if policies else 0)


# Dates by chance: a policy fires exactly if what differs fits its conditions.

quick = settings(max_examples=200)
HOUR = 3600
MIDNIGHT = parse_instant(NOW)
seats = st.sampled_from([(("small", 1),), (("small", 2), ("huge", 1)), (("huge", 2),), (("huge", 3),)])
dates = st.dictionaries(st.integers(-3, 6), st.tuples(st.integers(0, 2), seats), max_size=4)
conditions = st.builds(
    lambda most, hours, lead: built(
        ConditionsSpec,
        {
            "seatsAbove": most,
            "noticeBelow": None if hours is None else hours * HOUR,
            "leadAbove": None if lead is None else 60 * lead,
        },
    ),
    st.none() | st.integers(0, 3),
    st.none() | st.integers(0, 4),
    st.none() | st.integers(0, 2),
)


def declared() -> tuple[Reservation, Mapping[str, ResourceClass]]:
    found = read(reservation(), site(), resource_class(), resource_class("huge"))
    return found.reservations[0], found.classes


COURSE, CLASSES = declared()


def subject(days: dict[int, Any]) -> PolicySubject:
    """Each date is 2 hours long, from 3 hours times its number on."""
    windows = [
        Occurrence(
            "course",
            f"course/{number}",
            (start := MIDNIGHT + number * 3 * HOUR) - lead * HOUR,
            start,
            start + 2 * HOUR,
            held,
            "UTC",
            (),
            "",
        )
        for number, (lead, held) in sorted(days.items())
    ]
    pools = {
        name: PolicyPool(found, "prod", pool_steps(COURSE, found, windows)) for name, found in CLASSES.items()
    }
    return PolicySubject(COURSE, windows, pools)


def open_in(days: dict[int, Any], hour: int, name: str) -> int:
    """The seats of a class: a date in its lead has what is needed at its start, where no other is open."""
    counts = [
        dict(held).get(name, 0)
        for number, (lead, held) in days.items()
        if 3 * number - lead <= hour < 3 * number + 2
    ]
    return max(counts, default=0)


@quick
@given(dates, dates, conditions, st.sampled_from([("small", "huge"), ("small",), ("huge",)]))
def test_a_policy_applies_exactly_if_new_or_larger_windows_meet_its_conditions(
    before: dict[int, Any], after: dict[int, Any], when: ConditionsSpec, classes: tuple[str, ...]
) -> None:
    """Hour by hour. A policy about the notice looks at whatever differs, on both sides."""
    policy = built(
        PolicySpec, {"name": "p", "match": {"classes": classes}, "when": when, "require": "refuse"}
    )
    found = policy_cases(subject(before), subject(after), [(policy, None)], MIDNIGHT)
    fired = [case for case in found if judge(case, {})]

    is_notice = when.notice_below is not None
    levels = {
        hour: [tuple(open_in(days, hour, name) for name in classes) for days in (before, after)]
        for hour in range(24)
    }
    hours = {
        hour: max(map(sum, sides)) if is_notice else sum(sides[1])
        for hour, sides in levels.items()
        if (sides[0] != sides[1] if is_notice else any(map(int.__lt__, *sides)))
    }
    windows = [
        (3 * number - lead, lead)
        for days in ((before, after) if is_notice else (after,))
        for number, (lead, held) in days.items()
        if any(name in classes for name, _ in held)
        and any(3 * number - lead <= hour < 3 * number + 2 for hour in hours)
    ]
    expected = bool(hours) and (
        (when.seats_above is None or max(hours.values()) > when.seats_above)
        and (when.lead_above is None or max(lead for _, lead in windows) * 60 > when.lead_above)
        and (when.notice_below is None or max(min(windows)[0], 0) * HOUR < when.notice_below)
    )
    assert bool(fired) is expected


@quick
@given(st.lists(st.tuples(dates, dates), min_size=1, max_size=4), st.booleans(), st.integers(0, 5))
def test_open_seats_of_a_change_add_up_hour_by_hour(
    sides: list[tuple[dict[int, Any], dict[int, Any]]], is_notice: bool, most: int
) -> None:
    """Of each reservation, and those of the others that are new or larger in the same hour."""
    when = {"seatsAbove": most} | ({"noticeBelow": 999 * HOUR} if is_notice else {})
    policy = built(PolicySpec, {"name": "p", "when": when, "require": "refuse"})
    subjects = [[named_subject(f"c{number}", days) for days in side] for number, side in enumerate(sides)]
    cases = [
        case for before, after in subjects for case in policy_cases(before, after, [(policy, None)], MIDNIGHT)
    ]
    fired = {case.reservation.name for case in count_together(cases) if judge(case, {})}

    levels = [
        [[tuple(open_in(days, hour, name) for name in CLASSES) for days in side] for side in sides]
        for hour in range(24)
    ]
    expected = set()
    for counts in levels:
        larger = [
            number
            for number, (was, becomes) in enumerate(counts)
            if (was != becomes if is_notice else any(map(int.__lt__, was, becomes)))
        ]
        totals = [sum(sum(counts[number][side]) for number in larger) for side in (0, 1)]
        if max(totals if is_notice else totals[1:]) > most:
            expected |= {f"c{number}" for number in larger}
    assert fired == expected


def named_subject(name: str, days: dict[int, Any]) -> PolicySubject:
    return subject(days)._replace(reservation=COURSE._replace(name=name))
