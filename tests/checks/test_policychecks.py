"""Policies: which reservations they are about, and that they hold exactly where their conditions do."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest
from berth.checks.basenames import class_namespaces
from berth.checks.ceilings import pool_steps
from berth.checks.policychecks import (
    PolicyCase,
    PolicyPool,
    PolicySubject,
    PoolCost,
    SharedSubject,
    cases_of_reservation,
    check_policies,
    judge,
    policy_cases,
    policy_subject,
    selected_pools,
    shared_result,
)
from berth.core.jsonvalues import parse_instant
from berth.dates.expansion import Occurrence
from berth.dates.recurrence import expand
from berth.schema.policies import ConditionsSpec, MatchSpec, PolicySpec
from berth.schema.reservation import Reservation
from berth.schema.values import ResourceClass, Site
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.built import built
from tests.cases import tabled
from tests.checks.heldnumbers import API, QUOTA, WEB, holding
from tests.checks.heldnumbers import EVERY as EVERY_KIND
from tests.saying import Value, finding, lines, read, reservation, resource_class, site, valid, weekly

SEATS = {
    "seats": [
        {"resourceClass": "small", "placeholderCount": 20},
        {"resourceClass": "huge", "placeholderCount": 5},
    ]
}
CLUSTERS = {"small": "prod", "huge": "lab"}
OWNER = {"name": "Physics", "contact": "@uni/physics"}
NOW = parse_instant("2026-02-10T12:00:00Z")
EVERY = built(PolicySpec, {"name": "large", "require": "refuse"})


def declared(**spec: Any) -> Reservation:
    found = valid(reservation(**spec), site(), resource_class(), resource_class("huge"))
    return found.reservations[0]


def both(**spec: Any) -> Reservation:
    return declared(**{"resourceClass": None, "provisioning": {**SEATS, "leadTimeMinutes": 40}, **spec})


def subject(
    found: Reservation,
    clusters: Mapping[str, str] = CLUSTERS,
    known: Mapping[str, ResourceClass] | None = None,
    windows: Sequence[Occurrence] = (),
) -> PolicySubject:
    """The reservation with these classes; `known` are their declarations."""
    known = read(resource_class(), resource_class("huge")).classes if known is None else known
    pools = {
        name: PolicyPool(known[name], cluster, pool_steps(found, known[name], windows))
        for name, cluster in clusters.items()
    }
    return PolicySubject(found, windows, pools)


def labeled() -> Reservation:
    document = reservation(resourceClass=None, provisioning=SEATS, owner=OWNER)
    document["metadata"]["labels"] = {"kind": "exam", "term": "spring"}
    return read(document, site(), resource_class(), resource_class("huge")).reservations[0]


@tabled("checks")
def test_match_and_unless_select_the_same_pools(match: dict[str, Any], classes: str) -> None:
    declared_site = read(site(policies=[{"name": "a", "match": match, "require": "warn"}])).site
    assert declared_site is not None
    (policy,) = declared_site.policies
    every, found = {*CLUSTERS}, {*classes.split()}

    assert selected_pools(policy, subject(labeled())).keys() == found
    but = EVERY.model_copy(update={"unless": policy.match})
    assert selected_pools(but, subject(labeled())).keys() == every - found


def test_a_reservation_without_an_owner_matches_no_pattern() -> None:
    policy = EVERY.model_copy(update={"match": built(MatchSpec, {"owners": ["*"]})})

    assert selected_pools(policy, subject(both())) == {}


@pytest.mark.parametrize(
    ("patterns", "is_about", "is_left_out"),
    [([], True, True), (["exam-*"], True, False), (["*"], True, True)],
    ids=["any", "some", "all"],
)
def test_a_namespace_policy_applies_to_classes_with_namespace_labels(
    patterns: list[str], is_about: bool, is_left_out: bool
) -> None:
    """Any namespace can get the label: only what leaves out all of them leaves these out."""
    sessions = {"source": "pods", "namespaces": {"matchLabels": {"home": "yes"}}}
    found = read(reservation(), resource_class(sessions=sessions), site())
    (course,), known = found.reservations, found.classes
    match = built(MatchSpec, {"namespaces": patterns, "kinds": ["ResourceClass"]})
    changed = SharedSubject("ResourceClass", "small", course.origin, class_namespaces(known["small"]))
    seats = subject(course, {"small": "prod"}, known)
    about, but = (EVERY.model_copy(update={key: match}) for key in ("match", "unless"))
    every = EVERY.model_copy(update={"match": built(MatchSpec, {"kinds": ["ResourceClass"]})})

    assert (shared_result(about, changed) is not None) == is_about
    assert (shared_result(every.model_copy(update={"unless": match}), changed) is None) == is_left_out
    match = match.model_copy(update={"kinds": ()})
    about, but = (EVERY.model_copy(update={key: match}) for key in ("match", "unless"))
    assert bool(selected_pools(about, seats)) == is_about
    assert (not selected_pools(but, seats)) == is_left_out


@tabled("checks")
def test_narrowed_namespaces_of_a_reservation_avoid_no_policy(namespaces: object, narrowed: str) -> None:
    """The seats are taken by any session of the class, whatever the reservation says of its own."""
    resource = resource_class(sessions={"source": "pods", "namespaces": namespaces})
    found = valid(reservation(sessions={"namespaces": [narrowed]}), resource, site())
    about, but = (
        EVERY.model_copy(update={key: built(MatchSpec, {"namespaces": [pattern]})})
        for key, pattern in (("match", "user-*"), ("unless", "exam-*"))
    )

    for policy in (about, but):
        assert selected_pools(policy, subject(found.reservations[0], {"small": "prod"}, found.classes))


@tabled("checks")
def test_owners_of_slots_avoid_no_namespace_policy(
    owner: Value, about: str, is_about: bool, is_left_out: bool
) -> None:
    """The class has its sessions in exam-a, and pods of these owners may take the slots."""
    resource = resource_class(sessions={"source": "pods", "namespaces": ["exam-a"]})
    slots = reservation(backend={"type": "koordinator", "owners": [owner]})
    found = read(slots, resource, site({"name": "prod", "koordinator": {}}))
    policy, but = (
        EVERY.model_copy(update={key: built(MatchSpec, {"namespaces": [pattern]})})
        for key, pattern in (("match", about), ("unless", "exam-*"))
    )

    for each, is_selected in ((policy, is_about), (but, not is_left_out)):
        selected = selected_pools(each, subject(found.reservations[0], {"small": "prod"}, found.classes))
        assert bool(selected) == is_selected


@tabled("checks")
def test_a_class_without_sessions_is_excluded_by_no_namespace(spec: dict[str, Any]) -> None:
    found = read(reservation(**spec), resource_class(), site({"name": "prod", "koordinator": {}}))
    but = EVERY.model_copy(update={"unless": built(MatchSpec, {"namespaces": ["exam-*"]})})

    assert selected_pools(but, subject(found.reservations[0], {"small": "prod"}, found.classes))


def test_a_class_is_excluded_only_if_all_its_namespaces_are() -> None:
    resource = resource_class(sessions={"source": "pods", "namespaces": ["exam-a", "lab"]})
    found = read(reservation(), resource, site())
    patterns = {"some": ["exam-*"], "all": ["exam-*", "lab"]}
    selected = {
        key: [
            *selected_pools(
                EVERY.model_copy(update={"unless": built(MatchSpec, {"namespaces": each})}),
                subject(found.reservations[0], {"small": "prod"}, found.classes),
            )
        ]
        for key, each in patterns.items()
    }

    assert selected == {"some": ["small"], "all": []}


def pools_of(*classes: str) -> frozenset[tuple[str, str]]:
    return frozenset(("course", name) for name in classes)


def case(match: MatchSpec = EVERY.match, **spec: Any) -> PolicyCase | None:
    found = both(**spec)
    new = subject(found, windows=expand(found, {}).occurrences)
    return next(policy_cases(None, new, [(EVERY.model_copy(update={"match": match}), None)], NOW), None)


def test_simultaneous_entries_add_up_for_a_policy() -> None:
    morning = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
    plain = case(recurrence=weekly(morning))
    split = case(
        recurrence=weekly(morning, {**morning, "startTime": "10:00"}, {**morning, "startTime": "12:00"})
    )

    assert plain is not None
    assert split is not None
    assert split.seats == 3 * plain.seats


def test_existing_and_new_dates_add_up_for_a_policy() -> None:
    morning = {"dayOfWeek": 1, "startTime": "09:00", "endTime": "13:00"}
    found = both(recurrence=weekly(morning, {**morning, "startTime": "10:00"}))
    dates = expand(found, {}).occurrences
    first = [date for date in dates if date.start % 86_400 == dates[0].start % 86_400]
    old, new = (subject(found, windows=each) for each in (first, dates))
    (added,) = policy_cases(old, new, [(EVERY, None)], NOW)
    (alone,) = policy_cases(None, old, [(EVERY, None)], NOW)

    assert added.seats == 2 * alone.seats


def test_hours_are_the_future_hours_of_all_seats() -> None:
    """Two hours remain of the window that is open, and 4 hours of each of the two to come."""
    when = weekly({"dayOfWeek": 2, "startTime": "10:00", "endTime": "14:00"})
    lead: dict[str, Any] = {"provisioning": {**SEATS, "leadTimeMinutes": 0}}
    weeks, huge = (
        case(recurrence=when, **lead),
        case(built(MatchSpec, {"classes": ["huge"]}), recurrence=when, **lead),
    )

    assert weeks is not None
    assert huge is not None
    assert (weeks.seat_seconds, huge.seat_seconds) == ((25 * 10 * 3600,), (5 * 10 * 3600,))


quick = settings(max_examples=200)
numbers = st.none() | st.integers(0, 4)
amounts = st.none() | st.integers(0, 4).map(Decimal)
costs = st.none() | st.builds(PoolCost, st.integers(0, 4).map(Decimal), st.booleans())


@quick
@given(
    st.builds(
        lambda seats, hours, cost, notice, lead: built(
            ConditionsSpec,
            {
                "seatsAbove": seats,
                "hoursAbove": hours,
                "costAbove": cost,
                "noticeBelow": notice,
                "leadAbove": lead,
            },
        ),
        *(numbers, numbers, amounts, numbers, numbers),
    ),
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 4),
        st.sampled_from([0, 3600, 3601, 4 * 3600, math.inf]),
        st.integers(0, 4),
    ),
    st.tuples(costs, costs),
)
def test_a_policy_applies_exactly_if_all_its_conditions_hold(
    when: ConditionsSpec, measures: tuple[int, int, float, int], cost: tuple[PoolCost | None, ...]
) -> None:
    """With the cost between what is known and, where a price is missing, any amount above it."""
    pools = {("course", name): one for name, one in zip(("small", "huge"), cost, strict=True) if one}
    policy = EVERY.model_copy(update={"when": when})
    seats, lead, seconds, notice = measures
    found = PolicyCase(policy, both(), pools_of("small", "huge"), seats, lead, (seconds,), notice)
    result = judge(found, pools)

    least = sum((pool.amount for pool in pools.values()), Decimal(0))
    is_certain = len(pools) == 2 and not any(pool.is_partial for pool in pools.values())
    others = (
        (when.seats_above is None or seats > when.seats_above)
        and (when.lead_above is None or lead > when.lead_above)
        and (when.hours_above is None or seconds > 3600 * when.hours_above)
        and (when.notice_below is None or notice < when.notice_below)
    )
    costs_too_much = when.cost_above is None or (bool(pools) and least > when.cost_above)
    if others and costs_too_much:
        assert result is not None
        assert not result.lacks_cost
        assert len(result.reasons) == sum(condition is not None for _, condition in when)
    elif others and not is_certain:
        assert result is not None
        assert result.lacks_cost
    else:
        assert result is None


def problems(
    policy: dict[str, Any],
    *,
    now: int = NOW,
    known: dict[Any, PoolCost] | None = None,
    slots: dict[str, Any] | None = None,
    **spec: Any,
) -> list[str]:
    small = resource_class(reservation=slots)
    found = valid(reservation(**spec), site(policies=[{"name": "a", **policy}]), small)
    assert found.site is not None
    declared_site: Site = found.site
    (one,) = found.reservations
    seats = policy_subject(one, expand(one, {}).occurrences, found, declared_site)
    cases = cases_of_reservation(declared_site, seats, now)
    return lines(check_policies(declared_site, [*cases], known or {}))


@pytest.mark.parametrize(
    ("require", "code"), [("refuse", "B230"), ("warn", "B231"), ({"approvalBy": "platform"}, "B232")]
)
def test_the_field_require_decides_the_code_of_the_finding(require: object, code: str) -> None:
    policy = {"when": {"seatsAbove": 24}, "require": require}

    assert problems(policy) == [finding(f"{code} spec.provisioning", "policy a", 25, 24)]
    assert problems({**policy, "when": {"seatsAbove": 25}}) == []


def test_only_future_windows_count_for_a_policy() -> None:
    policy = {"require": "refuse"}
    last = parse_instant("2026-02-23T13:00:00Z")  # the end of the last window

    assert [len(problems(policy, now=now)) for now in (last - 1, last)] == [1, 0]
    assert problems(policy, suspend=True) == []


HELD_TARGETS: list[dict[str, Any]] = [
    {"match": {"targets": ["NodePool/*"]}},
    {"match": {"targets": ["*"]}},
    {"match": {"backends": ["value"]}, "unless": {"targets": ["HorizontalPodAutoscaler/*"]}},
    {"match": {"names": ["course"]}},
]
CORES = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": "gpu", "path": "spec.limits.cpu"}


def held_problems(document: Value, policy: dict[str, Any], now: int = NOW, *others: Value) -> list[str]:
    """What one policy says of a reservation that holds a number, beside others."""
    policies = [{"name": "a", "require": "refuse", **policy}]
    classes = resource_class(), resource_class("tiny", requests={"cpu": "1m"})
    there = site({"name": "prod", "held": [*EVERY_KIND]}, policies=policies)
    found = valid(document, *others, there, *classes)
    assert found.site is not None
    number = next(each for each in found.reservations if each.name == document["metadata"]["name"])
    held = policy_subject(number, expand(number, {}).occurrences, found, found.site)
    return lines(check_policies(found.site, [*cases_of_reservation(found.site, held, now)], {}))


@pytest.mark.parametrize("policy", HELD_TARGETS, ids=["kind", "any", "all-others", "name"])
@pytest.mark.parametrize("is_suspended", [False, True], ids=["over", "suspended"])
def test_a_policy_refuses_a_target_even_without_dates(policy: dict[str, Any], is_suspended: bool) -> None:
    now = NOW if is_suspended else parse_instant("2030-01-01T00:00:00Z")
    number = holding(target=CORES, spec={"suspend": is_suspended})

    assert held_problems(number, policy, now) == ["B230 spec.provisioning"]
    assert held_problems(number, {**policy, "when": {"seatsAbove": 0}}, now) == []
    assert held_problems(reservation(suspend=True), {"match": policy["match"]}) == []


@pytest.mark.parametrize("name", ["small", "tiny"])
@pytest.mark.parametrize(
    ("target", "options", "pattern"),
    [
        pytest.param(API, {"otherwise": 3}, "HorizontalPodAutoscaler/shop/*", id="replicas"),
        pytest.param(WEB, {"otherwise": 3}, "*/shop/*", id="scale"),
        pytest.param(CORES, {"otherwise": 3}, "NodePool/*", id="cores"),
        *[
            pytest.param(
                QUOTA, {"unit": unit, "otherwise": f"3{unit}"}, "ClusterQueue/batch", id=f"memory-in-{unit}"
            )
            for unit in ("Ki", "Mi", "Gi")
        ],
    ],
)
def test_a_policy_with_targets_limits_a_number_of_any_class_and_unit(
    name: str, target: Value, options: dict[str, Any], pattern: str
) -> None:
    number = holding(target=target, spec={"resourceClass": name}, **options)
    policy = {"match": {"targets": [pattern]}, "when": {"seatsAbove": 24}}

    assert held_problems(number, policy) == [finding("B230 spec.provisioning", "policy a", 25, 24)]
    assert held_problems(number, {**policy, "when": {"seatsAbove": 25}}) == []


@tabled("checks")
def test_numbers_split_among_reservations_add_up_for_a_policy(
    combine: str, spec: dict[str, Any], is_added: bool
) -> None:
    """Their counts are added in the cluster, each of which is below what the policy allows."""
    provisioning = {"placeholderCount": 25}
    one, other = (
        holding(name, otherwise=3, combine=combine, spec={"provisioning": provisioning, **more})
        for name, more in (("course", {}), ("more", spec))
    )
    policy = {"match": {"targets": ["*/shop/*"]}, "when": {"seatsAbove": 49}}

    found = held_problems(one, policy, NOW, other)

    assert found == ([finding("B230 spec.provisioning", "policy a", 50, 49)] if is_added else [])
    assert held_problems(one, policy, NOW, holding("more", WEB, otherwise=3, spec=spec)) == []


def minutes_of(since: str, until: str, lead: int) -> Value:
    return {
        "recurrence": {
            "type": "dates",
            "timeZone": "UTC",
            "dates": ["2026-02-16"],
            "schedule": [{"startTime": since, "endTime": until}],
        },
        "provisioning": {"placeholderCount": 30, "leadTimeMinutes": lead},
    }


@pytest.mark.parametrize(
    ("later", "is_added"),
    [
        pytest.param(minutes_of("11:00", "12:00", 30), True, id="next"),
        pytest.param(minutes_of("11:15", "12:00", 30), True, id="soon"),
        pytest.param(minutes_of("18:00", "18:01", 600), True, id="long-lead"),
        pytest.param(minutes_of("11:30", "12:00", 30), False, id="after"),
    ],
)
@pytest.mark.parametrize("is_earlier_judged", [True, False], ids=["earlier", "later"])
def test_leads_of_other_reservations_add_to_a_window(
    later: Value, is_added: bool, is_earlier_judged: bool
) -> None:
    """Each reservation holds its own count during its lead: in the cluster only one's own leads share."""
    one = holding("course", otherwise=3, combine="sum", spec=minutes_of("09:00", "11:00", 0))
    other = holding("more", otherwise=3, combine="sum", spec=later)
    policy = {"match": {"targets": ["*/shop/*"]}, "when": {"seatsAbove": 59}}
    judged = (one, other) if is_earlier_judged else (other, one)

    found = held_problems(judged[0], policy, NOW, *judged[1:])

    assert found == ([finding("B230 spec.provisioning", "policy a", 60, 59)] if is_added else [])


def test_leads_of_the_same_reservation_are_not_added() -> None:
    both = minutes_of("09:00", "11:00", 30)
    both["recurrence"]["schedule"].append({"startTime": "11:00", "endTime": "12:00"})
    one, other = (holding(name, otherwise=3, combine="sum", spec=both) for name in ("course", "more"))
    policy = {"match": {"targets": ["*/shop/*"]}, "when": {"seatsAbove": 60}}

    assert held_problems(one, policy, NOW, other) == []


def test_the_condition_notice_below_applies_only_to_changes() -> None:
    assert problems({"when": {"noticeBelow": "999d"}, "require": "refuse"}) == []


def test_standing_seats_count_until_they_expire() -> None:
    spec: dict[str, Any] = {
        "recurrence": None,
        "provisioning": {"placeholderCount": 25},
        "backend": {"type": "koordinator", "standing": True},
    }
    policy = {"when": {"seatsAbove": 24}, "require": "refuse"}
    end = parse_instant("2026-03-01T00:00:00Z")
    slots = {"spec": {"expires": "2026-03-01T00:00:00Z"}}

    assert [len(problems(policy, now=now, slots=slots, **spec)) for now in (NOW, end - 1, end)] == [1, 1, 0]


def test_an_unknown_cost_is_reported_once_at_the_policy() -> None:
    policy = {"when": {"costAbove": 10}, "require": "refuse"}
    key, at_policy = ("course", "small"), ["B233 spec.policies.0.when.costAbove"]

    assert problems(policy) == at_policy
    assert problems(policy, known={key: PoolCost(Decimal(10), is_partial=True)}) == at_policy
    assert problems(policy, known={key: PoolCost(Decimal(10))}) == []
    assert problems(policy, known={key: PoolCost(Decimal("10.01"), is_partial=True)}) == [
        finding("B230 spec.provisioning", "at least 10.01")
    ]
